"""Alphas of questions by a rule that was learned."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from lab.arrays import Floats
from lab.config.config import Config
from lab.evaluation.alpha_rules import AlphaRule, Figures
from lab.evaluation.slices import length_label
from lab.pipeline.predictors import predictors
from lab.pipeline.stages import Stages
from lab.retrieval.config import AlphaByQuestion, RuleName


def figures_of(stages: Stages, config: Config, rule: RuleName) -> Figures:
    """What a rule reads of the questions of a hybrid system."""
    if rule == "by_kind":
        return {"kind": np.array([query.kind for query in stages.questions.queries], dtype=np.str_)}
    if rule == "by_length":
        labels = [length_label(text) for text in stages.questions.texts]
        return {"length": np.array(labels, dtype=np.str_)}
    return predictors(stages, config)


@dataclass(frozen=True, eq=False)
class AlphaByRule(AlphaByQuestion):
    """The alpha that a rule gives each question; for those in `known`, by their id, the one that
    was learned without them."""

    rule: AlphaRule
    known: Mapping[str, float]

    def __str__(self) -> str:
        return self.rule.name

    def of(self, stages: Stages, config: Config) -> Floats:
        """The alpha of every question that the stages are asked."""
        ids = [query.query_id for query in stages.questions.queries]
        if all(query_id in self.known for query_id in ids):
            return np.array([self.known[query_id] for query_id in ids], dtype=np.float64)
        alphas = self.rule.alphas(figures_of(stages, config, self.rule.name))
        given = zip(ids, alphas.tolist(), strict=True)
        return np.array([self.known.get(query_id, alpha) for query_id, alpha in given])


def by_rule(
    config: Config, rule: AlphaRule, known: Mapping[str, float] = MappingProxyType({})
) -> Config:
    """A system that gives each question its alpha by a rule (see `AlphaByRule`)."""
    assert config.fusion is not None  # only a fusion has a rule
    fusion = config.fusion.model_copy(update={"alpha": AlphaByRule(rule, known)})
    return config.model_copy(update={"fusion": fusion})
