"""Commands about documents and diagnostic sets, before any run: `lab check`, `lab import`, `lab
probe`, `lab agree`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab.commands.options import AsJson
from lab.errors import counted

if TYPE_CHECKING:
    from lab.sets.probe.mined import MinedKind

# Exit code when the input is right and the finding is negative.
NEGATIVE_FINDING = 1


def check(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Experiment file (TOML); documents and then their sets; or a foreign set."
        ),
    ],
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            help="Documents of another corpus that results are shown for as well: are both of one "
            "hand? Nothing else of them is checked; repeat for several."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Audit sets against their documents before anything expensive runs; exit code 1 if a set is
    unfit."""
    from lab.report.screens.audit import check_record, check_screen
    from lab.report.screens.console import TextConsole, say_json
    from lab.sweeping.preflight.check import check as check_paths

    checked = check_paths(paths, beside or ())
    if as_json:
        say_json(check_record(checked))
    else:
        TextConsole().print(check_screen(checked))
    if checked.audit.unfit:
        raise typer.Exit(NEGATIVE_FINDING)


def import_(
    source: Annotated[
        str,
        typer.Argument(
            help="Folder, file or ir_datasets:ID; each file's format is told by its content."
        ),
    ],
    to: Annotated[
        Path,
        typer.Option(
            help="Folder to write: documents.jsonl, queries, judgements and import-report.txt."
        ),
    ],
    documents: Annotated[
        list[str] | None,
        typer.Option(help="A file or folder that holds documents; repeat for several."),
    ] = None,
    questions: Annotated[
        list[str] | None, typer.Option(help="A file that holds questions; repeat for several.")
    ] = None,
    judgements: Annotated[
        list[str] | None, typer.Option(help="A file that holds judgements; repeat for several.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="NOUN=NAME: where a table keeps doc_id, text, question ..."),
    ] = None,
    stage: Annotated[
        list[str] | None,
        typer.Option(help="NAME=KIND: what a stage of a trace is, such as MyRetriever=dense."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Turn a foreign corpus and its questions into the lab's own files; say what was mended,
    dropped or looks suspicious. A trace of OpenInference spans becomes stages.jsonl, a run file
    with stages for the questions of the sets that --questions names."""
    from lab.importing.convert import import_source
    from lab.pipeline.foreign.import_trace import import_trace
    from lab.pipeline.foreign.spans import is_trace
    from lab.report.screens.console import say, say_json
    from lab.report.screens.imported import (
        import_json,
        import_screen,
        trace_json,
        trace_screen,
    )

    columns = {noun: name for noun, _, name in (pair.partition("=") for pair in column or [])}
    if is_trace(Path(source)):
        sets, name = [Path(path) for path in questions or ()], columns.get("doc_id", "doc_id")
        traced = import_trace(Path(source), to, sets, stage or (), name)
        say_json(trace_json(traced)) if as_json else say(trace_screen(traced))
        return
    done = import_source(
        source, to, documents=documents, questions=questions, judgements=judgements, columns=columns
    )
    if as_json:
        say_json(import_json(done))
    else:
        say(import_screen(done))


def probe(
    corpus: Annotated[Path, typer.Argument(help="Documents.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the sets; diagnostic_sets/<corpus>-mined by default."),
    ] = None,
    count: Annotated[
        int, typer.Option(min=1, help="Most questions of a kind (pairs of boundary probes).")
    ] = 500,
    seed: Annotated[int, typer.Option(help="Which ones, where there are more.")] = 0,
    strategy: Annotated[
        str, typer.Option(help="fixed, sentences or structure: whose cuts are probed.")
    ] = "fixed",
    chunk_size: Annotated[int, typer.Option(min=1, help="Characters a chunk.")] = 400,
    overlap: Annotated[int, typer.Option(min=0, help="Characters that neighbours share.")] = 0,
) -> None:
    """Mine diagnostic sets: identifiers among their near misses, rare words, and evidence that cuts
    part."""
    from lab.chunking.strategies import chunk
    from lab.config.grid import Grid
    from lab.corpus.read import read_corpus
    from lab.errors import CorpusError
    from lab.relevance.read import read_diagnostics
    from lab.report.screens.console import say
    from lab.sets.probe.mine import mine
    from lab.sets.probe.mined import write_sets

    cuts = (
        Grid(chunk_strategy=strategy, chunk_size=chunk_size, overlap=overlap, mode="bm25")
        .systems()[0][0]
        .chunk
    )
    documents, name = read_corpus(corpus), corpus.resolve().name.split(".")[0]
    sets = mine(documents, chunk(documents, cuts), cuts.label, name, count, seed)
    if not any(mined.questions for mined in sets.values()):
        raise CorpusError(f"{corpus}: nothing can be mined; {_reasons(sets)}")
    files = write_sets(sets, documents, out or Path("diagnostic_sets") / f"{name}-mined")
    read_diagnostics(files, documents)
    for file in files:
        say(f"{file}: {counted(len(sets[file.stem].questions), 'question')}, evidence verified")
    for kind, mined in sets.items():
        left_out = _left_out(mined)
        if not mined.questions:
            left_out.insert(0, "all, so no file was written")
        if left_out:
            say(f"{kind}: left out: {'; '.join(left_out)}")


def _left_out(mined: "MinedKind") -> list[str]:
    return [f"{number} {reason}" for reason, number in mined.left_out.items() if number]


def _reasons(sets: "Mapping[str, MinedKind]") -> str:
    """Why no kind has a question: what was left out, or that there was nothing to ask about."""
    return "; ".join(
        f"{kind}: {', '.join(_left_out(mined)) or 'nothing to ask about'}"
        for kind, mined in sets.items()
    )


def agree(
    a: Annotated[Path, typer.Argument(help="One annotator's set or qrels file.")],
    b: Annotated[Path, typer.Argument(help="The other's.")],
    corpus: Annotated[Path | None, typer.Option(help="Documents that the evidence quotes.")] = None,
    as_json: AsJson = False,
) -> None:
    """Cohen's kappa of two annotators' evidence or grades; exit code 1 if the guide is not
    settled."""
    from lab.report.screens.agreement import agreement_record, agreement_screen
    from lab.report.screens.console import TextConsole, say_json
    from lab.sets.agreement import UNSETTLED, agreement
    from lab.sets.annotators import read_annotators

    read = read_annotators(a, b, corpus)
    agreed = agreement(read.a, read.b)
    if as_json:
        say_json(agreement_record(agreed, read))
    else:
        TextConsole().print(agreement_screen(agreed, read))
    if agreed.weighted < UNSETTLED:
        raise typer.Exit(NEGATIVE_FINDING)
