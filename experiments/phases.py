"""How much of what a chunk size does is where its cuts fell, on public sets and the project's own.

python experiments/phases.py [FOLDER]    # FOLDER: the ready public sets, ../shared/bench/spans
"""

import sys
from pathlib import Path

import lab

# Sizes in characters; a Chinese character says about as much as four English ones.
LATIN, CHINESE = (200, 400, 1024), (50, 100, 256)
QUARTERS = (0.0, 0.25, 0.5, 0.75)
METRIC = "recall@5"
PUBLIC = {
    "chroma": LATIN,
    "xquad-en": LATIN,
    "xquad-zh": CHINESE,
    "cmrc2018": CHINESE,
    "policyqa": LATIN,
}
ALIGNED = {"chroma": 1024, "xquad-en": 400, "xquad-zh": 100, "devices": 400}
OWN = {"devices": LATIN, "software": LATIN, "contracts": LATIN, "handbook-zh": CHINESE}


def sets(public: Path) -> dict[str, tuple[Path, Path, tuple[int, ...]]]:
    """Name -> documents, questions and sizes of every set that is there."""
    found = {
        name: (public / name / "documents.jsonl", public / name / "queries.jsonl", sizes)
        for name, sizes in PUBLIC.items()
    }
    found |= {
        name: (Path("corpora", name), Path("diagnostic_sets", name), sizes)
        for name, sizes in OWN.items()
    }
    return {name: of for name, of in found.items() if of[0].exists()}


def swept(documents: Path, questions: Path, grid: lab.Grid, phases: int) -> lab.Run:
    measure = lab.Measure(metrics=(METRIC, "ndcg@10"), phases=phases)
    return lab.sweep(documents, questions, grid, measure, progress=False)


def alignments(name: str, documents: Path, questions: Path, size: int) -> str:
    """A row of the first table: one size at four places of its first cut, 0 among them."""
    grid = lab.Grid(mode="bm25", chunk_size=size, phase=QUARTERS)
    table = swept(documents, questions, grid, 1).table()
    ranges = [f"{table[of].min():.3f} to {table[of].max():.3f}" for of in (METRIC, "ndcg@10")]
    return f"| {name} | fixed {size} | {' | '.join(ranges)} |"


def effects(name: str, documents: Path, questions: Path, sizes: tuple[int, ...]) -> list[str]:
    """Rows of the second table: every change of the chunks, at four seeded phases."""
    grid = lab.Grid(mode="bm25", chunk_strategy=("fixed", "structure"), chunk_size=sizes)
    return [
        f"| {name} | {row.before} -> {row.after} | {row.difference:+.3f} | {row.lowest:+.3f} to "
        f"{row.highest:+.3f} | {row.spread:.3f} | {row.share:.0%} |"
        for row in swept(documents, questions, grid, 4).phase_effects(METRIC).itertuples()
    ]


def main(public: Path) -> None:
    there = sets(public)
    print("| set | chunks | recall@5 at four alignments | ndcg@10 |\n|---|---|---|---|")
    for name, size in ALIGNED.items():
        if name in there:
            print(alignments(name, *there[name][:2], size), flush=True)
    print("\n| set | change | difference | at single phases | moved by | share that is luck |")
    print("|---|---|---|---|---|---|")
    for name, (documents, questions, sizes) in there.items():
        print(*effects(name, documents, questions, sizes), sep="\n", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/bench/spans"))
