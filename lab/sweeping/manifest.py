"""The manifest of a run: what was run, by whom and on what, and what it concludes."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.importing.written import readers_of
from lab.runs.folder import FORMAT
from lab.runs.inputs import questions_fingerprint
from lab.sweeping.conclusions import conclusions
from lab.sweeping.environment import environment
from lab.sweeping.injected import injected
from lab.sweeping.measured import Measured
from lab.versions import LAB, version_of

PACKAGES = (
    LAB,
    "rank-bm25",
    "sentence-transformers",
    "torch",
    "faiss-cpu",
    "ranx",
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
)


def manifest_of(measured: Measured) -> dict[str, Any]:
    """Everything but the tables."""
    plan, account, systems = measured.plan, measured.account, measured.contenders
    chosen = measured.selection
    profile = account.profile and {
        "peak_mb": dict(account.peak_mb),
        "index_bytes": account.profile.indexes,
    }
    return {
        "format": FORMAT,
        "name": plan.name,
        "grid": plan.grid.model_dump(mode="json"),
        "measure": plan.measure.model_dump(mode="json"),
        "phases": list(plan.phases),
        "unit": plan.pieces.unit,
        "causes": asdict(measured.findings.cutoff),
        "best": systems[chosen.best],
        "recommended": systems[chosen.recommended],
        "as_good_as_best": [systems[place] for place in chosen.undecided],
        "conclusions": conclusions(measured),
        "corpus": {
            "documents": len(plan.corpus),
            "characters": plan.corpus.characters,
            "injected": injected(plan.corpus),
            "fingerprint": plan.corpus.fingerprint,
            "path": plan.corpus.source,
            "readers": readers_of(plan.corpus.source),
            "absolute_path": _absolute(plan.corpus.source),
        },
        "questions": _asked(measured),
        "chunkings": [asdict(fact) for fact in account.facts],
        "identities": dict(sorted(account.identities.items())),
        "environment": dict(environment(plan.measure.seed)),
        "versions": {name: version_of(name) for name in PACKAGES},
        "notes": list(account.notes),
        "perhaps_evidence": measured.doubts.record(),
        "counts": dict(sorted(account.counts.items())),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": dict(sorted(account.seconds.items())),
        **({"profile": profile} if profile else {}),
        **({"hosted": dict(account.hosted)} if account.hosted else {}),
    }


def _asked(measured: Measured) -> dict[str, Any]:
    """What the manifest says of the questions; no paths unless all of them were read from files."""
    queries, pieces = measured.plan.queries, measured.plan.pieces
    sources = sorted({query.source or "" for query in queries})
    paths = [] if "" in sources else sources
    return {
        "scored": len(pieces.queries),
        "pieces": len(pieces),
        "unscored": [list(pair) for pair in pieces.unscored],
        "fingerprint": questions_fingerprint(queries),
        "paths": paths,
        "absolute_paths": [_absolute(path) for path in paths],
    }


def _absolute(path: str | None) -> str | None:
    return None if path is None else str(Path(path).absolute())
