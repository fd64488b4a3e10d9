"""What systems lose: the waterfall from all evidence down to recall, and what changing one setting
rescues and breaks."""

from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import numpy as np

from lab.arrays import Bools
from lab.config.rows import settings_of
from lab.diagnosis.rescue import Rescue, rescues
from lab.diagnosis.waterfall import Step, waterfall
from lab.runs.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

# The kind under which a table lists all questions together.
ALL = "all"


def waterfall_table(tables: Tables, system: str) -> "pd.DataFrame":
    """From 100% down to the recall of a system: a row a cause with the fields of
    `lab.diagnosis.waterfall.Step`, as far as k places can hold it; all questions first, then every
    kind."""
    import pandas as pd

    pieces = _of(tables.evidence, system, ["query_id", "piece", "reachable"])
    missed = _of(tables.causes, system, ["query_id", "piece", "cause", "verified"])
    joined = pieces.merge(missed.astype({"cause": str}), on=["query_id", "piece"], how="left")
    causes = joined["cause"].fillna("").to_numpy(dtype=str)
    verified = joined["verified"].eq(True).to_numpy(dtype=bool)
    kind_of = tables.questions.set_index("query_id")["kind"]
    kinds = joined["query_id"].map(kind_of).to_numpy(dtype=str)
    question = joined["query_id"].astype("category").cat.codes.to_numpy(dtype=np.int64)
    room = joined["reachable"].to_numpy(dtype=np.int64)
    steps: list[Step] = []
    for kind in (ALL, *sorted(set(kinds.tolist()))):
        of_kind = (kinds == kind) | (kind == ALL)
        steps += waterfall(
            kind, question[of_kind], causes[of_kind], verified[of_kind], room[of_kind]
        )
    return pd.DataFrame(map(asdict, steps), columns=[field.name for field in fields(Step)])


def _of(table: "pd.DataFrame", system: str, columns: list[str]) -> "pd.DataFrame":
    return table.loc[table["system"] == system, columns].astype({"query_id": str})


def rescue_table(tables: Tables) -> "pd.DataFrame":
    """Pairs of systems (`a`, `b`) that differ in one setting: questions that going from `before` to
    `after` rescues and breaks, the exact McNemar p, and their net; the largest net first. A
    question fails when a piece of it is missed within k."""
    import pandas as pd

    names = [*(field.name for field in fields(Rescue)), "net"]
    settings = [settings_of(row) for row in tables.systems.to_dict("records")]
    rows = [
        asdict(rescue)
        | {"a": tables.names[rescue.a], "b": tables.names[rescue.b], "net": rescue.net}
        for rescue in rescues(settings, _failed(tables))
        if {rescue.a, rescue.b} <= set(tables.compared.tolist())
    ]
    return pd.DataFrame(rows, columns=names)


def changes_of(pairs: "pd.DataFrame", system: str) -> "pd.DataFrame":
    """A table of rescues seen from one system, whichever of the two a pair names first: every
    `setting` that goes from `before` to `after` and leads to another `system`, with the questions
    `rescued` and `broken`, `net` and `p`; the largest net first, of equals the one that breaks
    fewer."""
    import pandas as pd

    ahead = pairs[pairs["a"] == system].rename(columns={"b": "system"})
    turned = {"a": "system", "before": "after", "after": "before"}
    turned |= {"rescued": "broken", "broken": "rescued"}
    behind = pairs[pairs["b"] == system].rename(columns=turned)
    behind["net"] = -behind["net"]
    columns = ["setting", "before", "after", "system", "rescued", "broken", "net", "p"]
    both = pd.concat([ahead[columns], behind[columns]], ignore_index=True)
    return both.sort_values(["net", "broken"], ascending=[False, True], kind="stable").reset_index(
        drop=True
    )


def _failed(tables: Tables) -> Bools:
    """Systems x questions: whether a piece of the question is missed."""
    questions = {query_id: place for place, query_id in enumerate(tables.query_ids)}
    systems = {system: place for place, system in enumerate(tables.names)}
    failed = np.zeros((len(systems), len(questions)), dtype=bool)
    failed[
        tables.causes["system"].map(systems).to_numpy(dtype=int),
        tables.causes["query_id"].map(questions).to_numpy(dtype=int),
    ] = True
    return failed
