"""What each diagnostic set separates: Recall@5 by kind for BM25 and dense, fixed and structure
chunks of 400 characters, means over four phases of the cuts; open questions and sealed ones apart.

Semantic and exact_id were written to part lexical from dense retrieval: nothing here ranks one
above the other.

The corpora's READMEs show this table. Run it from the project's root: python
experiments/separation.py [corpus ...] [--bm25]. The Chinese handbook needs a multilingual model for
its dense leg: set LAB_MULTILINGUAL to the folder of multilingual-e5-small.
"""

import os
from pathlib import Path
from typing import Annotated

import typer

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.cli import run_script
from lab.errors import ConfigError
from lab.sets.audit.cuts import chance_of_windows, cut_rates, evidence_spans, parted
from lab.sets.audit.wording import shared_words

MODELS = dict.fromkeys(("contracts", "devices", "software"), "all-MiniLM-L6-v2")
MODELS["handbook-zh"] = os.environ.get("LAB_MULTILINGUAL", "")
SIZES = (200, 400, 800)
SEALED = "sealed"


def separation(name: str, model: str) -> None:
    corpus = lab.read_corpus(f"corpora/{name}")
    for part in ("open", SEALED):
        folder = Path("diagnostic_sets", name, *([SEALED] if part == SEALED else []))
        if not folder.is_dir():
            continue
        queries = lab.read_diagnostics(folder, corpus)
        print(
            f"{name}, {part}: {len(corpus)} documents, {corpus.characters} characters, "
            f"{len(queries)} questions, {os.path.basename(model) or 'no model'}"
        )
        print(_recalls(corpus, queries, model))
        if part == "open":
            print(f"fingerprint {corpus.fingerprint}\n\n{_shared(corpus, queries)}\n")
            print(_cuts(corpus, queries), flush=True)


def _recalls(corpus: lab.Corpus, queries: tuple[lab.Query, ...], model: str) -> str:
    """Recall@5 of every kind and system with its 95% interval, and the boundary gap of BM25: what
    structure chunks gain over fixed ones where no sentence answers alone."""
    grid = {
        "chunk_strategy": ("fixed", "structure"),
        "mode": ("bm25", "dense") if model else "bm25",
    }
    measure = lab.Measure(metrics=("recall@5",), select_by="recall@5", phases=4)
    run = lab.sweep(
        corpus, queries, grid | ({"model": model} if model else {}), measure, progress=False
    )
    lines = []
    for row in run.slices("kind").to_dict("records"):
        system = " ".join(row["system"].replace("-400", "").split()[:2])
        interval = f"[{row['recall@5_low']:.3f}, {row['recall@5_high']:.3f}]"
        lines.append(
            f"{row['kind']:15} {row['questions']:4} {system:15} {row['recall@5']:.3f} {interval}"
        )
    for row in run.phases().itertuples():
        lines.append(f"{row.system}: {row.lowest:.3f} to {row.highest:.3f} at single phases")
    for row in run.phase_effects().itertuples():
        lines.append(
            f"{row.before} -> {row.after}: {row.difference:+.3f}, {row.lowest:+.3f} to "
            f"{row.highest:+.3f}, luck {row.share:.0%}"
        )
    return "\n".join(lines)


def _shared(corpus: lab.Corpus, queries: tuple[lab.Query, ...]) -> str:
    """Mean and highest share of a question's words in its evidence, by kind."""
    shares: dict[str, list[float]] = {}
    for query in queries:
        share = shared_words(query, corpus)
        if share is not None:
            shares.setdefault(query.kind, []).append(share)
    return "\n".join(
        f"{kind:15} shared words {sum(of) / len(of):.3f}, most {max(of):.3f}"
        for kind, of in sorted(shares.items())
    )


def _cuts(corpus: lab.Corpus, queries: tuple[lab.Query, ...]) -> str:
    """Spans that fixed cuts part, observed and expected of evidence chosen blind, by kind."""
    spans, lines = evidence_spans(queries, corpus), []
    for size in SIZES:
        config = ChunkConfig(size=size)
        lengths = (spans.end - spans.start).astype(float)
        chance = chance_of_windows(lengths, float(size), 0.0)
        for rate in cut_rates(config.label, parted(chunk(corpus, config), spans), chance, spans):
            lines.append(
                f"{rate.kind:15} {rate.label}: {rate.cut} of {rate.spans} spans cut, "
                f"{rate.expected:.1f} expected, p {rate.p:.2f}"
            )
    return "\n".join(lines)


def main(
    corpora: Annotated[list[str] | None, typer.Argument()] = None,
    bm25: Annotated[bool, typer.Option("--bm25", help="No dense leg.")] = False,
) -> None:
    """What each diagnostic set separates."""
    unknown = [name for name in corpora or () if name not in MODELS]
    if unknown:
        raise ConfigError(
            f"no corpus '{name}' here; known: {', '.join(MODELS)}" for name in unknown
        )
    for name in corpora or MODELS:
        separation(name, "" if bm25 else MODELS[name])


run_script(main)
