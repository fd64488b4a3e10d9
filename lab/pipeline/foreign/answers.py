"""A foreign retriever's answers become a system of the sweep: it is asked, and judged like any
other."""

import sys
from collections import Counter

import numpy as np

from lab.config.config import Config
from lab.config.retriever import RETRIES, RetrieverConfig
from lab.config.settings import DEPTH
from lab.errors import ConfigError
from lab.evaluation.scores import SystemRun
from lab.pipeline.foreign.anchoring import Anchored
from lab.pipeline.foreign.finished import GivenRun, RunFile
from lab.pipeline.foreign.retriever import Answers, ask
from lab.pipeline.foreign.sources import Given, source_of
from lab.pipeline.resources import Resources
from lab.pipeline.tokens import count_tokens
from lab.relevance.judge import SpanJudge, judge_for
from lab.relevance.pieces import Pieces
from lab.storage.progress import Progress

# What cannot be taken as given -> how it is told.
MEANINGS = {
    "unknown document": "name documents that are not in the corpus",
    "offsets outside": "have offsets outside their document",
    "text not found": "have a text that is not in the corpus",
    "text in several places": "have a text that stands in several places; the first is taken",
    "whole document": "are whole documents, without offsets or text",
    "repeated": "are repeated and stand at their best rank only",
}


def foreign_config(name: str) -> Config:
    """The row of the table that stands for a foreign system: it has no stage that the lab could
    set."""
    return Config(bm25=None, retriever=name)


def ask_retriever(
    name: str, retriever: Given, pieces: Pieces, progress: Progress
) -> tuple[Answers, str]:
    """Ask one retriever every scored question; also its identity. Raises LabError when it cannot be
    asked at all, or when no question got a valid answer."""
    depth, retries = None, RETRIES
    if isinstance(retriever, RetrieverConfig):
        depth, retries = retriever.depth, retriever.retries
    source = source_of(name, retriever)
    if depth is None:
        depth = sys.maxsize if isinstance(source, RunFile | GivenRun) else DEPTH
    questions = {query.query_id: query.text for query in pieces.queries}
    advance = progress.stage(f"ask {name}", len(questions))
    answers = ask(source, questions, depth, retries, advance)
    if answers.failed and not any(questions[query_id].strip() for query_id in answers.hits):
        query_id, reason = next(iter(answers.failed.items()))
        raise ConfigError(
            f"retriever '{name}': none of {len(answers.failed)} questions got a valid answer; "
            f"the first, '{query_id}': {reason}"
        )
    return answers, source.identity


def foreign_run(
    hits: Anchored, pieces: Pieces, hold: float, model: str | None, resources: Resources
) -> SystemRun:
    """Judge anchored rankings: spans or documents, as the set is judged; context tokens are counted
    as everywhere."""
    judge = judge_for(pieces, hits.spans, hold)
    starts = resources.token_starts(model, hits.spans.corpus)
    if isinstance(judge, SpanJudge):
        tokens = count_tokens(starts, hits.spans)
    else:
        tokens = np.array([len(offsets) for offsets in starts], dtype=np.int64)
    return SystemRun(judge, judge.judge(hits.ranking), tokens)


def account(name: str, answers: Answers, hits: Anchored) -> tuple[str, ...]:
    """What must be known to read a foreign system's row: failed questions, and hits that were not
    what they seem."""
    lines = []
    if answers.failed:
        reasons = Counter(answers.failed.values()).most_common(3)
        shown = ", ".join(list(answers.failed)[:5]) + (", ..." if len(answers.failed) > 5 else "")
        why = "; ".join(f"{reason} ({n})" for reason, n in reasons)
        lines.append(
            f"{name}: {len(answers.failed)} question(s) without an answer count as nothing found: "
            f"{shown}: {why}"
        )
    if answers.incomparable is not None:
        lines.append(
            f"{name}: not comparable, {answers.incomparable}; left out of every choice and test"
        )
    if answers.retried:
        lines.append(f"{name}: {answers.retried} question(s) were asked again")
    lines += [
        f"{name}: {hits.counts[key]} of {hits.counts['hits']} hits {what}"
        for key, what in MEANINGS.items()
        if hits.counts.get(key)
    ]
    return *lines, *_stages_told(name, hits)


def _stages_told(name: str, hits: Anchored) -> list[str]:
    """What must be known of the stages that a system shows."""
    visible, seen = hits.visible, hits.elsewhere
    lines = [
        f"{name}: {seen[key]} of {seen['hits']} hits of its stages {what}"
        for key, what in MEANINGS.items()
        if seen.get(key) and key not in ("whole document", "repeated")
    ]
    for kind in visible.legs:
        growing = len(visible.growing(kind))
        if growing:
            lines.append(
                f"{name}: scores of its {kind} leg grow with the rank in {growing} question(s), as "
                "distances do; no alpha curve is drawn: give scores of which higher is better"
            )
    otherwise = len(visible.fused_otherwise())
    if otherwise:
        lines.append(
            f"{name}: in {otherwise} question(s) its fused order is not that of "
            f"{visible.normalization} at alpha {visible.alpha:g} over the legs that it shows"
        )
    return lines
