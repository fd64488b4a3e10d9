"""`lab run --profile`: where the time and the memory went, and how long a question takes."""

from rich.console import Group, RenderableType
from rich.text import Text

from lab.report.screens.fitted import Column, FittedTable
from lab.runs.run import Run

LATENCY = ("query_p50_ms", "query_p95_ms", "query_batch_ms")


def profile_screen(run: Run) -> RenderableType:
    """Stages with seconds and memory, what was computed and what came from the cache, indexes, and
    latencies by system."""
    manifest, profile = run.manifest, run.manifest["profile"]
    stages = FittedTable([Column("stage", "name"), *map(Column, ("seconds", "peak MB so far"))])
    for stage, seconds in sorted(manifest["seconds"].items(), key=lambda item: -item[1]):
        stages.add(stage, f"{seconds:.2f}", f"{profile['peak_mb'][stage]:.0f}")
    indexes = FittedTable([Column("index", "name"), Column("MB")])
    for name, size in profile["index_bytes"].items():
        indexes.add(name, f"{size / 1e6:.1f}")
    figures = ("p50", "p95", "in a batch")
    latencies = FittedTable([Column("system", "name"), *map(Column, figures)])
    for _, row in run.tables.systems.dropna(subset=LATENCY[0]).iterrows():
        latencies.add(str(row["system"]), *(f"{row[column]:.2f}" for column in LATENCY))
    counts = "; ".join(f"{what}: {count}" for what, count in manifest["counts"].items())
    title = Text("\nmilliseconds a question, retrieval alone", "bold")
    return Group(Text("\nprofile", "bold"), stages, Text(f"{counts}\n"), indexes, title, latencies)
