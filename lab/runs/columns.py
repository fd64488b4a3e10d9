"""What every table of a run folder holds, column by column: said once, for the code that writes
them, for their types in Parquet, and for the README that lies beside them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SPAN = {"doc_id": "text", "start": "int", "end": "int"}


@dataclass(frozen=True, slots=True)
class Table:
    """`row` says what a row is, `columns` what each column holds, and `lists` the type of those
    that hold lists or records: the type of a member, or of its fields by name."""

    row: str
    columns: Mapping[str, str]
    lists: Mapping[str, str | Mapping[str, str]]


TABLES: dict[str, Table] = {
    "systems": Table(
        "a system",
        {
            "system": "its full name",
            "(settings)": "the settings under the names of Grid, null where one plays no part; "
            "`Grid(**row)` of a row makes that system again",
            "family": "the hybrid family on whose curves its first stage lies (see curves)",
            "(metric), (metric)_low, (metric)_high": "mean over questions, and phases of the cuts "
            "if there are several, and the ends of its 95% interval",
            "phases": "at how many phases of its cuts it was run",
            "context_tokens": "mean tokens that the reader gets, at the selecting metric's cut-off",
            "p_best": "how often the system leads when questions are drawn again",
            "picked": "how often cross-validation chose it",
            "p": "against the best system, corrected for the choice; 1 for the best itself; null, "
            "as all that comes of comparing, for a system that is not comparable",
            "least_p": "the least that p could have been",
            "verdict": "against the best system: same, undecided, cannot be settled, worse; or not "
            "comparable, because it failed on too many questions",
            "cost_rank": "its place when systems are ordered by what they cost, from 1",
            "pareto": "whether no system beats it in quality and in cost",
            "recommended": "the one that is recommended",
            "hurt, helped": "questions on which it loses, and gains, much against the baseline",
            "georisk": "its mean and its risk together, by the selecting metric",
            "unjudged_decides": "whether what was never judged decides between it and the best; "
            "only for sets judged per document",
            "unanswerable_auc, unanswerable_rejected": "how well its last stage tells questions "
            "without an answer; only where there are some",
            "vector_bytes": "bytes of a chunk's vector, 0 without one; only where some system "
            "stores fewer than float32 vectors of all dimensions",
            "query_p50_ms, query_p95_ms, query_batch_ms": "milliseconds a question; only after "
            "`--profile`",
        },
        {},
    ),
    "scores": Table(
        "a system, scored question and metric",
        {
            "system, query_id, metric": "whose score it is",
            "value": "the score; null where a question has none",
        },
        {},
    ),
    "phases": Table(
        "a system that was run at several phases, phase, scored question and metric; no rows "
        "without `phases` in `[measure]`",
        {
            "system, phase, query_id, metric": "whose score it is, and at which phase of its cuts; "
            "the first phase of a system is that of its rankings, causes and curves",
            "value": "the score there, of which `scores` has the mean; null where there is none",
        },
        {},
    ),
    "rankings": Table(
        "a system, question and chunk: the first ten hits, and every chunk that holds evidence",
        {
            "system, query_id, doc_id": "whose hit it is",
            "start, end": "the chunk, half-open, in characters of the document",
            "shown_start, shown_end": "what is delivered for it",
            "rank": "from 1, in the final ranking; null where it is not in it",
            "evidence": "whether it holds any of the question's evidence",
            "relevant": "whether precision counts it",
            "bm25_rank, bm25_score, dense_rank, dense_score, fused_rank, fused_score": "rank and "
            "score at that stage; null where the stage does not hold the chunk",
            "bm25_part, dense_part": "what fusion weighs, the legs' normalised scores: the fused "
            "score at any alpha between 0 and 1 is (1 - alpha) * bm25_part + alpha * dense_part",
            "rerank_score": "the reranker's; null where it was not asked",
        },
        {},
    ),
    "evidence": Table(
        "a system and piece of evidence",
        {
            "system, query_id": "whose piece it is",
            "piece": "numbers the pieces of a question from 1",
            "doc_id, start, end": "where it lies (of alternatives the first); no start and end for "
            "a whole document",
            "grade": "1 to 3 for spans, the set's own for documents",
            "complete": "the rank at which it is complete; null for never",
            "reachable": "how many pieces of its question any ranking could hold within the "
            "cut-off",
        },
        {},
    ),
    "questions": Table(
        "a question, scored or not",
        {
            "query_id, text, kind": "as asked",
            "variants": "its other wordings",
            "filter": "which documents may answer it, as JSON; null for all",
            "tags": "a record, `questions['tags'].str['lang']`; null for tags it has not",
            "doc_id": "the main document of its evidence; null without evidence",
            "evidence": "its evidence, a list of records",
            "evidence_fingerprint": "the same for the same evidence",
            "answer, answer_type, claims": "what a right answer is",
            "date": "when it was asked",
            "history": "the conversation that led to it, a list of records",
            "unscored": "why it is not scored; null where it is",
        },
        {
            "variants": "text",
            "evidence": SPAN | {"grade": "int", "role": "text", "group": "text", "order": "int"},
            "claims": {"text": "text", "evidence": "ints", "vital": "bool"},
            "history": {"role": "text", "text": "text"},
        },
    ),
    "causes": Table(
        "a system and missed piece: what lost it, and the proof",
        {
            "system, query_id, piece, kind": "which piece",
            "cause, stage": "what it is put down to, and the stage that lost it",
            "verified": "whether re-running with only that stage changed brings it back",
            "remedy": "the smallest such change, else the smallest of any kind, else advice",
            "recovered_by": "all changes that bring it back, smallest first",
            "k": "the cut-off that the cause is relative to",
            "spans_needed": "the least number of spans that hold it; null if none do",
            "bm25_rank, dense_rank, first_stage_rank, reranked_rank, final_rank": "its rank after "
            "each stage; null where the stage does not have it whole",
            "part_rank": "the final rank of its first part",
            "cut_at, cut_before, cut_after": "the boundary that parts it, and the text either side",
            "unmatched": "terms of the question that match nothing of it, each with the reason",
            "unread_start, unread_end": "the text that the encoder did not read",
            "outranked_by": "what stands ahead within k, and what it is to the evidence",
            "alpha_low, alpha_high": "the closed intervals of alpha, parallel lists, in which it "
            "is within k before any reranker; empty if at none, null where no curve is drawn",
            "filtered_by": "the conditions of the question's filter that leave it out",
        },
        {
            "recovered_by": "text",
            "unmatched": {"term": "text", "reason": "text"},
            "outranked_by": SPAN | {"relation": "text"},
            "alpha_low": "float",
            "alpha_high": "float",
            "filtered_by": "text",
        },
    ),
    "curves": Table(
        "a step of a piece's exact alpha curve, before any reranker; the steps of one piece tile "
        "[0, 1], and the points 0 and 1 are steps of their own",
        {
            "family": "systems that differ in alpha alone, called by their name without it",
            "query_id, piece": "which piece",
            "low, high": "from which alpha to which",
            "complete": "the rank at which the piece is complete there; null beyond the cap",
        },
        {},
    ),
    "alphas": Table(
        "a hybrid family, metric and slice of the questions",
        {
            "family, metric, slice, questions": "of what; `all` are all questions",
            "low, high, value": "the best plateau of alpha, and the mean there",
            "near_low, near_high": "where the mean is about as good",
            "at_common, regret": "the mean at the best alpha of all questions, and what that costs",
            "oracle": "the mean if every question had its own best alpha",
            "robust, fragile, hopeless": "questions complete at most alphas, at some, at none",
        },
        {},
    ),
    "means": Table(
        "a step of the mean of such a slice over alpha",
        {"family, metric, slice": "of what", "low, high, value": "from, to, and the mean"},
        {},
    ),
    "separation": Table(
        "a system and stage, where there are questions without an answer",
        {
            "system, stage, answerable, unanswerable": "of what, and how many questions of each",
            "auc, low, high": "the chance that a question with an answer has the higher best "
            "score, and its 95% interval",
            "threshold, rejected": "the limit that keeps 95% of those with an answer, and the "
            "share of the others below it",
        },
        {},
    ),
    "thresholds": Table(
        "a system that reranks and a threshold, where there are questions without an answer",
        {
            "system, threshold": "of what; null for none",
            "kept": "the share of questions with an answer that have any hit left",
            "precision@3, recall@5": "theirs",
            "recall@5_refusing": "if it refused the same questions and cut nothing else",
            "refused": "the share of questions without an answer that have no hit left",
        },
        {},
    ),
    "calls": Table(
        "a search of a foreign system that searches several times for a question",
        {
            "system, query_id, call": "which search, from 1",
            "asked": "in what words",
            "hits, new_hits": "what it returned, and what of that no earlier one had",
            "completed": "pieces of evidence that it was the first to complete",
            "coverage": "the share of the evidence that all searches so far have returned",
            "added": "whether it raised that share",
        },
        {},
    ),
    "weighing": Table(
        "a hybrid family and question, where alpha goes by question",
        {
            "family, query_id": "of what, before any reranker",
            "words, identifiers, ..., scq": "what is known of it before fusion: its predictors",
            "alpha_common, alpha_(rule)": "its alpha, chosen and trained on other documents",
            "at_(alpha)": "the selecting metric at alpha 0, at 1, at these and at its own best",
        },
        {},
    ),
    "weights": Table(
        "a hybrid family and rule for alpha by question",
        {
            "family, rule": "of what",
            "folds": "into how many folds, by document, the questions were parted",
            "picked": "JSON: in which share of the folds each candidate was chosen",
            "weights": "JSON: the rule as learned from all questions, for use",
        },
        {},
    ),
}


def schema(name: str, frame: "pd.DataFrame") -> "pa.Schema":
    """The Parquet types of a table: those of lists and records as they are said here, whatever the
    rows hold; the others as pandas has them."""
    import pyarrow as pa

    inferred = pa.Schema.from_pandas(frame, preserve_index=False)
    lists = TABLES[name].lists
    fields = [
        pa.field(field.name, pa.list_(_arrow(lists[field.name]))) if field.name in lists else field
        for field in inferred
    ]
    return pa.schema(fields, metadata=inferred.metadata)


def _arrow(kind: str | Mapping[str, str]) -> Any:
    import pyarrow as pa

    if not isinstance(kind, str):
        return pa.struct([(name, _arrow(of)) for name, of in kind.items()])
    plain = {"text": pa.string(), "int": pa.int32(), "float": pa.float64(), "bool": pa.bool_()}
    return pa.list_(pa.int32()) if kind == "ints" else plain[kind]


def with_lists(name: str, frame: "pd.DataFrame") -> "pd.DataFrame":
    """A table as it was written: pandas reads lists as arrays, which do not compare."""
    for column in TABLES[name].lists:
        if column in frame:
            frame[column] = [None if value is None else _plain(value) for value in frame[column]]
    return frame


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_plain(item) for item in value] if isinstance(value, list) else value
