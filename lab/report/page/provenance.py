"""Where a report comes from: what was held constant, what was read, how the numbers were made, and
on which machine."""

from lab.config.rows import settings_of
from lab.config.settings import SETTINGS
from lab.errors import counted
from lab.evaluation.metrics import GAINS, parse_metric
from lab.evaluation.verdict import chosen_among
from lab.runs.run import Run

Rows = list[tuple[str, object]]


def held_settings(run: Run) -> Rows:
    """Every setting that has one value in all systems that have it, with that value."""
    rows = [settings_of(row) for row in run.tables.systems.to_dict("records")]
    held: Rows = []
    for name, setting in SETTINGS.items():
        values = {setting.label(row[name]) for row in rows if row[name] is not None}
        if len(values) == 1:
            held.append((name, values.pop()))
    return held


def inputs(run: Run) -> Rows:
    """The documents and questions."""
    manifest = run.manifest
    corpus, questions = manifest["corpus"], manifest["questions"]
    return [
        (
            "documents",
            f"{corpus['documents']:,} ({corpus['characters']:,} characters) "
            f"{corpus['path'] or 'given in Python'}",
        ),
        ("corpus fingerprint", corpus["fingerprint"][:16]),
        (
            "questions",
            f"{len(run.query_ids):,} scored, {len(questions['unscored']):,} not, "
            f"{counted(questions['pieces'], 'piece')} of evidence",
        ),
        ("sets", ", ".join(questions["paths"]) or "given in Python"),
        ("set fingerprint", questions["fingerprint"][:16]),
        *(
            (
                f"chunks {fact['label']}",
                f"{counted(fact['chunks'], 'chunk')}, mean {fact['mean_characters']:g} characters",
            )
            for fact in manifest["chunkings"]
        ),
    ]


def method(run: Run) -> Rows:
    """How scores, intervals and tests were made."""
    manifest, found = run.manifest, run.manifest["conclusions"]
    honest = found["honest"]
    judged = {
        "evidence": "pieces of evidence; a piece counts once "
        f"{manifest['measure']['hold']:.0%} of it is in the chunks so far",
        "document": "documents, each at its best chunk's rank",
    }[manifest["unit"]]
    gains = [
        f"{metric}: {GAINS[name]}"
        for metric in manifest["measure"]["metrics"]
        if (name := parse_metric(metric).name) in GAINS
    ]
    return [
        ("judged", judged),
        ("chosen by", found["select_by"]),
        ("nDCG", "; ".join(gains) or "not measured"),
        (
            "intervals",
            f"95%, BCa bootstrap, {found['resamples']:,} resamples of {found['units']} "
            f"{found['unit']}s",
        ),
        (
            "p",
            f"against the best system, paired sign flips ({found['flips']:,}), "
            f"{chosen_among(len(run.systems))}; lowered where skew speaks against a difference, "
            "and never below the chance that losses were missed",
        ),
        (
            "honest estimate",
            f"nested cross-validation, {honest['folds']} folds grouped by {honest['grouped_by']}",
        ),
        *(
            [("phases", ", ".join(f"{one:g}" for one in manifest["phases"]))]
            if manifest["phases"]
            else []
        ),
        ("seed", manifest["measure"]["seed"]),
    ]


def machine(run: Run) -> Rows:
    """When and with what it ran, as far as the run says."""
    manifest = run.manifest
    seconds = manifest.get("seconds", {})
    versions = manifest.get("versions", {})
    return [
        ("finished", manifest.get("finished", "not written yet")),
        *((name, value) for name, value in manifest.get("environment", {}).items() if value),
        ("seconds", ", ".join(f"{stage} {value:g}" for stage, value in seconds.items())),
        *((name, version) for name, version in versions.items() if version),
    ]
