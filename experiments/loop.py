"""A real model in the loop, offline: contexts -> answers -> judge -> verdict.

python experiments/loop.py serve MODEL [--port 8123]     MODEL is a folder, or a .gguf file
python experiments/loop.py answer PROMPTS --url URL --model M --out answers.jsonl

`lab contexts RUN --out PROMPTS` writes what `answer` sends; `lab judge` and `lab answers` read what
came back. Small models answer and judge badly: their scores are no quality of anything.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Annotated, Any

import typer

from lab.answers.judges.chat import Chat
from lab.corpus.lines import read_records
from lab.errors import AnswersError, counted
from lab.report.screens.console import say
from lab.storage.cache import Cache, default_cache_path

PATH = "/v1/chat/completions"
# Tokens that one reply may have, whatever is asked for: small models do not end by themselves.
LONGEST = 160


class CausalModel:
    """A causal language model of transformers, which always says its likeliest word."""

    def __init__(self, place: Path) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        packed = place.suffix == ".gguf"
        folder = str(place.parent if packed else place)
        more = {"gguf_file": place.name} if packed else {}
        self.tokenizer = AutoTokenizer.from_pretrained(folder, **more)
        self.model = AutoModelForCausalLM.from_pretrained(folder, **more).eval()

    def complete(self, messages: list[dict[str, str]], most: int) -> dict[str, Any]:
        """A chat completion with the tokens it took."""
        import torch

        room = int(self.model.config.max_position_embeddings) - LONGEST
        ids = self.tokenizer(self._prompt(messages), return_tensors="pt")["input_ids"][:, -room:]
        with torch.inference_mode():
            whole = self.model.generate(
                ids, max_new_tokens=min(most, LONGEST), do_sample=False, pad_token_id=0
            )
        reply = whole[0, ids.shape[1] :]
        text = self.tokenizer.decode(reply, skip_special_tokens=True)
        return {
            "choices": [{"message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": ids.shape[1], "completion_tokens": len(reply)},
        }

    def _prompt(self, messages: list[dict[str, str]]) -> str:
        if self.tokenizer.chat_template:
            said = self.tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
            return str(said)
        return "\n".join(message["content"] for message in messages)


def server_of(model: CausalModel, port: int = 0) -> HTTPServer:
    """A server on loopback that asks the model; port 0 takes a free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = self.path == PATH
            record = model.complete(body["messages"], body["max_tokens"]) if found else {}
            content = json.dumps(record).encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    return HTTPServer(("127.0.0.1", port), Handler)


@contextmanager
def serving(model: CausalModel) -> Iterator[str]:
    """The address of a server that ends with the block."""
    server = server_of(model)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def serve(
    model: Annotated[Path, typer.Argument(help="Model folder, or .gguf file.")],
    port: Annotated[int, typer.Option(help="Port on loopback.")] = 8123,
) -> None:
    """Serve a causal model on loopback until Ctrl-C."""
    server = server_of(CausalModel(model), port)
    say(f"serving {model} on http://127.0.0.1:{server.server_port}/v1")
    server.serve_forever()


def answer(
    prompts: Annotated[Path, typer.Argument(help="What lab contexts wrote.")],
    url: Annotated[str, typer.Option(help="OpenAI-compatible address.")],
    model: Annotated[str, typer.Option(help="Model, as the server names it.")],
    out: Annotated[Path, typer.Option(help="answers.jsonl to add to.")],
) -> None:
    """Ask a model every prompt and add its answers to a file; every reply is kept."""
    problems: list[str] = []
    records = [record for _, record in read_records(prompts, problems, AnswersError)]
    if problems:
        raise AnswersError(problems)
    chat = Chat(url, model, Cache(default_cache_path()))
    lines = []
    for record in records:
        reply = chat.ask([{"role": "user", "content": record.pop("prompt")}])
        lines.append({**record, "answer": reply.text.strip(), "generator": model})
    with out.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    say(f"written: {counted(len(lines), 'answer')} in {out}")


if __name__ == "__main__":
    app = typer.Typer()
    app.command()(serve)
    app.command()(answer)
    app()
