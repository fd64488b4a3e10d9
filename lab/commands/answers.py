"""Commands about answers: `lab contexts` writes what generators are given, `lab answers` measures
what came back, `lab judge-check` says whether a judge can be trusted."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lab.commands.options import AsJson, CorpusPath, SetPaths, SystemName
from lab.errors import counted

# Exit code when the input is right and the finding is negative.
NEGATIVE_FINDING = 1
MOST = 10

Depth = Annotated[
    int, typer.Option("-k", min=1, max=MOST, help="Passages handed to the generator.")
]


def contexts(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    out: Annotated[Path, typer.Option(help="File to write, one question a line.")],
    mode: Annotated[
        str,
        typer.Option(help="chain, gold, gold+noise(n), reordered(front|back|sides) or none."),
    ] = "chain",
    system: SystemName = None,
    k: Depth = 5,
    seed: Annotated[int, typer.Option(help="How gold+noise is shuffled.")] = 0,
    corpus: CorpusPath = None,
    questions: SetPaths = None,
) -> None:
    """Write prompts for any generator: what a system delivered, or the gold evidence, as JSON
    lines."""
    from lab.answers.contexts import prompts
    from lab.errors import AnswersError
    from lab.report.screens.console import say
    from lab.runs.run import read_run

    opened = read_run(run, corpus, questions)
    name = opened.tables.named(system or opened.recommended)
    lines = [
        {
            "query_id": prompt.query_id,
            "system": prompt.system,
            "question": prompt.question,
            "contexts": [asdict(context) for context in prompt.contexts],
            "prompt": prompt.prompt,
        }
        for prompt in prompts(opened, name, mode, k, seed)
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    try:
        out.write_text(text, "utf-8")
    except OSError as fault:
        raise AnswersError(f"{out}: cannot be written ({fault.strerror})") from None
    say(f"written: {counted(len(lines), 'prompt')} in {out}")


def answers(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    answers: Annotated[Path, typer.Option(help="answers.jsonl: query_id, system, answer ...")],
    k: Depth = 5,
    into: Annotated[
        bool,
        typer.Option(
            "--into", help="Keep the tables in the run folder, for lab compare --answers."
        ),
    ] = False,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Measure of your own, file.py:name; may be repeated."),
    ] = None,
    allow_commands: Annotated[
        bool, typer.Option("--allow-commands", help="Run the Python that --metric names.")
    ] = False,
    corpus: CorpusPath = None,
    questions: SetPaths = None,
    as_json: AsJson = False,
) -> None:
    """Measure answers: what of the evidence reached them, where their sentences come from, and what
    is lost to retrieval and to generation."""
    from lab.answers.answer import read_answers
    from lab.answers.measured import check_answers, losses_by_system, means, measure_answers
    from lab.answers.own import load_measures
    from lab.answers.table import answer_tables, write_answers
    from lab.config.own_metrics import refuse_python
    from lab.report.screens.answers import answers_screen
    from lab.report.screens.console import TextConsole, say_json
    from lab.runs.run import read_run

    if not allow_commands:
        refuse_python(metric or ())
    own = load_measures(metric or ())
    opened = read_run(run, corpus, questions)
    read = read_answers(answers, opened.queries, opened.corpus)
    check_answers(opened, read)
    rows = measure_answers(opened, read, k, own)
    lost = losses_by_system(opened, rows)
    if into:
        write_answers(run, answer_tables(opened, read, rows, lost, k))
    if as_json:
        say_json(
            {
                "answers": [asdict(row) for row in rows],
                "means": means(rows),
                "losses": {name: [asdict(row) for row in of] for name, of in lost.items()},
            }
        )
    else:
        TextConsole().print(answers_screen(means(rows), lost))


def judge_check(
    scores: Annotated[Path, typer.Argument(help="Judgements, one JSON object a line.")],
    human: Annotated[
        Path | None, typer.Option(help="People's scores of some of the same answers.")
    ] = None,
    before: Annotated[
        Path | None, typer.Option(help="The same cases judged by an earlier prompt or model.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a judge can be trusted: both orders, length, family, confidence, agreement with
    people; with --before whether its new version judges alike (exit code 1 if not)."""
    from lab.answers.judges.check import check_judges, regressions
    from lab.answers.judges.judgement import read_judgements
    from lab.report.screens.answers import judges_screen, regressions_screen
    from lab.report.screens.console import TextConsole, say_json

    judged, preferences = read_judgements(scores)
    if before is not None:
        moved = regressions(read_judgements(before)[0], judged)
        if as_json:
            say_json({name: asdict(row) for name, row in moved.items()})
        else:
            TextConsole().print(regressions_screen(moved))
        if any(row.faults for row in moved.values()):
            raise typer.Exit(NEGATIVE_FINDING)
        return
    people = read_judgements(human)[0] if human is not None else ()
    checked = check_judges(judged, preferences, people)
    if as_json:
        say_json(_record(checked))
    else:
        TextConsole().print(judges_screen(checked))


def _record(checked: object) -> object:
    """Values as JSON has them: arrays as lists, absent figures as null."""
    import math

    if hasattr(checked, "__dataclass_fields__"):
        return {name: _record(getattr(checked, name)) for name in checked.__dataclass_fields__}
    if hasattr(checked, "tolist"):
        return checked.tolist()
    if isinstance(checked, float) and math.isnan(checked):
        return None
    return [_record(each) for each in checked] if isinstance(checked, tuple | list) else checked
