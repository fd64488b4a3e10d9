"""`lab judge`: answers scored by a model by a rubric."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.options import AsJson, CorpusPath, SetPaths


def judge(
    answers: Annotated[
        Path,
        typer.Argument(
            help="answers.jsonl; without --run every line needs its question and contexts."
        ),
    ],
    url: Annotated[
        str, typer.Option(help="OpenAI-compatible address, like http://localhost:8000/v1.")
    ],
    model: Annotated[str, typer.Option(help="Model that judges, as the server names it.")],
    out: Annotated[Path, typer.Option(help="Folder for the scores.")],
    rubric: Annotated[
        Path | None, typer.Option(help="Criteria (TOML); the rubric that ships by default.")
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Run folder with the questions, right answers and contexts."),
    ] = None,
    k: Annotated[
        int, typer.Option("-k", min=1, max=10, help="Passages that the generator was handed.")
    ] = 5,
    claims: Annotated[
        Path | None,
        typer.Option(
            help="File that claims are kept in: read if it is there, else extracted and written; "
            "adds faithfulness."
        ),
    ] = None,
    audit: Annotated[
        str | None,
        typer.Option(help="Second model that checks every score against its quotes."),
    ] = None,
    audit_url: Annotated[
        str | None, typer.Option(help="Address of the second model; --url by default.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed that the server is given.")] = 0,
    timeout: Annotated[float, typer.Option(min=1, max=3600, help="Seconds a call.")] = 120.0,
    corpus: CorpusPath = None,
    questions: SetPaths = None,
    as_json: AsJson = False,
) -> None:
    """Let a model score answers by a rubric, quotes first. A key is read from LAB_JUDGE_KEY. Every
    reply is kept, so that a stopped command goes on where it ended."""
    from lab.answers.judges.cases import file_cases, run_cases
    from lab.answers.judges.chat import Chat
    from lab.answers.judges.claims import read_claims_file
    from lab.answers.judges.judge import Judge
    from lab.answers.judges.judged_folder import check_place, write_claims, write_judged
    from lab.answers.judges.rubric import read_rubric
    from lab.errors import ConfigError
    from lab.report.screens.console import TextConsole, say_json
    from lab.report.screens.judged import judged_screen
    from lab.report.screens.progress import TerminalProgress
    from lab.runs.run import read_run
    from lab.storage.cache import Cache, default_cache_path

    if audit == model:
        raise ConfigError(f"--audit {audit}: is the judge itself; expected another model")
    criteria = read_rubric(rubric)
    known = read_claims_file(claims) if claims is not None else None
    check_place(out)
    cases = (
        file_cases(answers)
        if run is None
        else run_cases(answers, read_run(run, corpus, questions), k)
    )
    with TerminalProgress(TextConsole(stderr=True)) as progress:
        cache = Cache(default_cache_path(), progress.note)
        judge = Judge(
            Chat(url, model, cache, seed, timeout),
            criteria,
            Chat(audit_url or url, audit, cache, seed, timeout) if audit is not None else None,
            known,
        )
        judged = judge.judge(cases, progress)
    if claims is not None:
        write_claims(claims, judged)
    record = write_judged(out, judge, judged)
    if as_json:
        say_json(record)
    else:
        TextConsole().print(judged_screen(record, out))
