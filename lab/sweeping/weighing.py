"""Weighing: the alphas of questions, learned while the stages of a chunking are alive."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from lab.arrays import Floats
from lab.config.config import Config
from lab.diagnosis.alpha.families import Families, Family
from lab.diagnosis.alpha.summary import metric_values, values_at
from lab.evaluation.alpha_learning import COMMON, Learned, at, learn
from lab.evaluation.alpha_rules import ALPHAS, AlphaRule, Figures
from lab.evaluation.clusters import FEWEST_GROUPS, clustered, main_documents
from lab.evaluation.metrics import parse_metric
from lab.pipeline.alphas import by_rule, figures_of
from lab.pipeline.predictors import predictors, scq
from lab.pipeline.stages import Stages
from lab.relevance.judge import Judge
from lab.retrieval.config import RuleName
from lab.sweeping.plan import Plan

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Weighing:
    """Alpha by question for one hybrid family, before any reranker: `curves` (questions x `ALPHAS`)
    is the selecting metric, `oracle` that at each question's own best alpha; `figures` are what is
    known of the questions before fusion, and `learned` what came of them, by rule and as one alpha
    for all (`common`)."""

    family: str
    query_ids: tuple[str, ...]
    figures: Figures
    curves: Floats
    oracle: Floats
    learned: dict[str, Learned] = field(default_factory=dict)

    def table(self) -> "pd.DataFrame":
        """A row a question (see `lab.runs.columns`)."""
        import pandas as pd

        columns = {"family": self.family, "query_id": self.query_ids, **self.figures}
        columns |= {"at_bm25": self.curves[:, 0], "at_dense": self.curves[:, -1]}
        for name, of in self.learned.items():
            columns |= {f"alpha_{name}": of.alphas, f"at_{name}": at(self.curves, of.alphas)}
        return pd.DataFrame(columns | {"at_oracle": self.oracle})


class Weigher:
    """Built once for the stages that ask some questions, and asked for every system over them;
    what a family needs is learned at its first use."""

    def __init__(self, stages: Stages, families: Families, plan: Plan) -> None:
        self.stages, self.families, self.plan = stages, families, plan
        self._known: dict[str, Weighing] = {}

    @property
    def weighings(self) -> tuple[Weighing, ...]:
        """Those of the systems asked so far."""
        return tuple(self._known.values())

    def with_alphas(self, config: Config, judge: Judge) -> Config:
        """A system with the alpha of every question, where a rule gives it; others as they are.
        Questions of the plan have the alpha that was learned without them; all others, and all
        where the plan has a rule from elsewhere, what the rule says."""
        rule = None if config.fusion is None else config.fusion.rule
        if rule is None:
            return config
        if self.plan.rule is not None:
            return by_rule(config, self.plan.rule)
        family = self.families.of(config, judge)
        assert family is not None  # a system with a rule is a hybrid without variants
        with self.stages.resources.timed("learn alpha"):
            learned = self._learned(family, rule)
        ids = (query.query_id for query in self.plan.pieces.queries)
        known = dict(zip(ids, learned.alphas.tolist(), strict=True))
        return by_rule(config, learned.rule, known)

    def _learned(self, family: Family, rule: RuleName) -> Learned:
        if family.name not in self._known:
            self._known[family.name] = self._weighing(family)
        weighing = self._known[family.name]
        for name in (COMMON, rule):
            if name not in weighing.learned:
                figures = weighing.figures
                if name in ("by_kind", "by_length"):
                    figures = figures_of(self.stages, family.config, rule)
                weighing.learned[name] = learn(
                    None if name == COMMON else rule,
                    {key: column for key, column in figures.items() if key != "scq"},
                    weighing.curves,
                    clustered(main_documents(self.plan.pieces), FEWEST_GROUPS),
                    self.plan.measure.seed,
                )
        return weighing.learned[rule]

    def _weighing(self, family: Family) -> Weighing:
        asked, metric = self.plan.pieces, parse_metric(self.plan.measure.select_by)
        (values,) = metric_values(family.curves, asked, [metric])
        figures = predictors(self.stages, family.config) | {"scq": scq(self.stages, family.config)}
        return Weighing(
            family=family.name,
            query_ids=tuple(query.query_id for query in asked.queries),
            figures=figures,
            curves=values_at(family.curves, values, ALPHAS),
            oracle=np.array([value.max() for value in values]),
        )


def weighing_tables(weighings: Sequence[Weighing]) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """A row a family and question, and a row a family and rule, with the rule for use as JSON."""
    import json

    import pandas as pd

    rows = [
        {
            "family": weighing.family,
            "rule": name,
            "folds": of.folds,
            "picked": json.dumps(of.picked),
            "weights": json.dumps(of.rule.to_json()),
        }
        for weighing in weighings
        for name, of in weighing.learned.items()
        if name != COMMON
    ]
    tables = [weighing.table() for weighing in weighings]
    questions = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=KEYS)
    return questions, pd.DataFrame(rows, columns=["family", "rule", "folds", "picked", "weights"])


KEYS = ["family", "query_id"]


def rule_of(weighings: Sequence[Weighing], family: str | None, config: Config) -> AlphaRule | None:
    """The rule for use of a system of a family; None for one without."""
    name = None if config.fusion is None else config.fusion.rule
    for weighing in weighings:
        if name is not None and weighing.family == family:
            return weighing.learned[name].rule
    return None
