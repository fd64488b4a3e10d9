"""README.md of a run folder, which lies beside its tables."""

from lab.runs.columns import TABLES


def readme(title: str) -> str:
    """README.md of a run folder: every table and column."""
    lines = [
        f"# Run: {title}",
        "",
        "`report.html` shows this run and opens from disk. The tables are Parquet, for pandas:",
        "",
        "```python",
        "import lab",
        "",
        'run = lab.read_run(".")          # run.table(), run.causes(), run.explain("question") ...',
        "causes = run.causes()             # or pandas.read_parquet('causes.parquet')",
        "# Misses that come back at some alpha below 0.3:",
        'early = causes.explode(["alpha_low", "alpha_high"]).query("alpha_low < 0.3")',
        "```",
        "",
        "What is absent is null. `manifest.json` says what was run: settings, fingerprints, paths,",
        "versions, seeds, notes, conclusions and timings.",
    ]
    for name, table in TABLES.items():
        lines += ["", f"## {name}.parquet", "", f"A row is {table.row}.", ""]
        lines += ["| column | holds |", "|---|---|"]
        lines += [
            f"| {_cell(columns)} | {_cell(holds)} |" for columns, holds in table.columns.items()
        ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
