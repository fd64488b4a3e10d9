"""From a run to what its answers lose to retrieval, in English and Chinese.

python experiments/answers.py OUT

Runs BM25 over the devices and the Chinese handbook, hands what it delivers and the gold evidence to
an extractive reader (it answers with the sentence that holds most of the question's words, and asks
no model), and measures the answers as `lab answers --into` does. OUT gets both runs with their
answers; `lab compare OUT/devices OUT/devices --answers --system-b gold` and `lab report` read them.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

import lab
from lab.answers.answer import read_answers
from lab.answers.context import Context
from lab.answers.contexts import prompts
from lab.answers.losses import Loss
from lab.answers.measured import losses_by_system, measure_answers
from lab.answers.table import answer_tables, write_answers
from lab.answers.wording import content_words
from lab.chunking.sentences import sentence_spans
from lab.cli import run_script

ROOT = Path(__file__).parent.parent
CORPORA = ("devices", "handbook-zh")
K = 5


def extracted(question: str, contexts: tuple[Context, ...]) -> str:
    """The sentence of the contexts that holds most of the question's words, the first of equals."""
    asked = set(content_words(question))
    sentences = [c.text[a:b].strip() for c in contexts for a, b in sentence_spans(c.text)]
    return max(sentences, key=lambda text: len(asked & set(content_words(text))), default="")


def answered(run: lab.Run) -> Iterator[dict[str, str]]:
    for mode in ("chain", "gold"):
        for prompt in prompts(run, run.recommended, mode, K):
            yield {
                "query_id": prompt.query_id,
                "system": prompt.system,
                "answer": extracted(prompt.question, prompt.contexts),
                "generator": "extractive",
            }


def measured(name: str, out: Path) -> tuple[Loss, ...]:
    """Run, answer, measure and keep one corpus; what its one system loses."""
    corpus, questions = ROOT / "corpora" / name, ROOT / "diagnostic_sets" / name
    grid = lab.Grid(mode="bm25", chunk_size=400)
    run = lab.sweep(corpus, questions, grid, name=name, progress=False)
    run.write(out / name)
    file = out / f"{name}.answers.jsonl"
    lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in answered(run))
    file.write_text("".join(lines), "utf-8")
    answers = read_answers(file, run.queries, run.corpus, run.systems)
    rows = measure_answers(run, answers, K)
    lost = losses_by_system(run, rows)
    write_answers(out / name, answer_tables(run, answers, rows, lost, K))
    return lost[run.recommended]


def main(out: Annotated[Path, typer.Argument(help="Folder for the runs.")]) -> None:
    """Print what the answers of both languages lose."""
    out.mkdir(parents=True, exist_ok=True)
    print("| corpus | questions | n | lost to retrieval | to generation | verdict |")
    print("|---|---|---|---|---|---|")
    for name in CORPORA:
        for row in measured(name, out):
            retrieval = (
                f"{row.retrieval:+.3f} [{row.retrieval_low:+.2f}, {row.retrieval_high:+.2f}]"
            )
            made = f"{row.generation:.3f} [{row.generation_low:.2f}, {row.generation_high:.2f}]"
            cells = (name, row.slice, str(row.questions), retrieval, made, row.verdict)
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    run_script(main)
