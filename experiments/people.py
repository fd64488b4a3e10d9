"""Every measure of answers against people's scores: Spearman's correlation with its 95% interval
(percentiles of 2,000 resamples of whole questions).

python experiments/people.py SHARED

SHARED is a folder with data/; prints the tables of experiments/README.md.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.stats import rankdata

from lab.answers.by_type import nugget_scores, sentences_as_claims
from lab.answers.wording import faithfulness_by_words, support_of, token_f1
from lab.arrays import Floats
from lab.cli import run_script

RESAMPLES = 2_000
SIDES = ("model1", "model2")
LABELS = ("correctness", "completeness", "overall")
# What the set itself comes with, beside what is computed here.
THEIRS = ("RougeL", "Bert-Rec", "Bert-KPrec", "rb_agg", "rb_llm", "rl_f")


def spearman(a: Floats, b: Floats) -> float:
    x, y = rankdata(a), rankdata(b)
    x, y = x - x.mean(), y - y.mean()
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def with_interval(a: Floats, b: Floats, question: Sequence[str]) -> tuple[float, float, float]:
    """Whole questions are resampled, for answers to one are alike."""
    names, group = np.unique(np.array(question), return_inverse=True)
    members = [np.flatnonzero(group == number) for number in range(len(names))]
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(RESAMPLES):
        places = np.concatenate([members[n] for n in rng.integers(0, len(names), len(names))])
        drawn.append(spearman(a[places], b[places]))
    low, high = np.quantile(drawn, (0.025, 0.975))
    return spearman(a, b), float(low), float(high)


def coverage(answer: str, right: str) -> float | None:
    """Sentences of the right answer that an answer holds, as nuggets."""
    claims = sentences_as_claims(right)
    supports = [support_of(claim.text, answer) for claim in claims]
    return nugget_scores(supports, [claim.vital for claim in claims]).weighted


def mtrag(shared: Path, with_reference: bool) -> dict[tuple[str, str], tuple[int, Any]]:
    """(measure, what people scored) -> answers and correlation, over answers with a context."""
    file = shared / "data" / "mtrag-human-eval" / "reference_subset_with_human_evaluations.json"
    data = json.loads(file.read_text("utf-8"))
    texts = {document["document_id"]: document["text"] for document in data["documents"]}
    tasks = {task["task_id"]: task for task in data["tasks"]}
    rows = []
    for each in data["evaluations"]:
        contexts = [texts[c["document_id"]] for c in tasks[each["task_id"]]["contexts"]]
        if not contexts or (each["model_id"] == "reference" and not with_reference):
            continue
        right, answer = tasks[each["task_id"]]["targets"][0]["text"], each["model_response"]
        row: dict[str, Any] = {
            "task": each["task_id"],
            "faithful (words)": faithfulness_by_words(answer, contexts),
            "F1": token_f1(answer, right),
            "claims covered": coverage(answer, right),
        }
        for name in THEIRS:
            (row[name],) = (mark["value"] for mark in each["annotations"][name].values())
        for name in ("faithfulness", "appropriateness", "completeness"):
            marks = [float(mark["value"]) for mark in each["annotations"][name].values()]
            row[f"people: {name}"] = sum(marks) / len(marks)
        rows.append(row)
    return correlations(rows, "task")


def ragchecker(shared: Path) -> dict[tuple[str, str], tuple[int, Any]]:
    """Differences of both answers of a pair against people's preference, the mean of two."""
    folder = shared / "data" / "ragchecker-meta"
    labelled: dict[str, list[dict[str, Any]]] = {}
    for record in json.loads((folder / "human_labeled_data.json").read_text("utf-8")):
        labelled.setdefault(str(record["instance_id"]), []).append(record)
    theirs = json.loads((folder / "baseline_ragchecker.json").read_text("utf-8"))
    checker = {str(record["instance_id"]): record for record in theirs}
    rows = []
    for number, records in labelled.items():
        first, second = (records[0][side]["response"] for side in SIDES)
        right = records[0]["gt_answer"]
        row: dict[str, Any] = {"pair": f"{records[0]['dataset']} {records[0]['query_id']}"}
        row["F1"] = token_f1(second, right) - token_f1(first, right)
        both = coverage(second, right), coverage(first, right)
        row["claims covered"] = None if None in both else both[0] - both[1]  # type: ignore[operator]
        for label in LABELS:
            a, b = (checker[number][side]["ragchecker"][f"{label}_label"] for side in SIDES)
            row[f"RAGChecker {label}"] = b - a
            row[f"people: {label}"] = sum(r[f"{label}_label"] for r in records) / len(records)
        rows.append(row)
    return correlations(rows, "pair")


def llmjudge(shared: Path) -> dict[tuple[str, str], tuple[int, Any]]:
    """Judges of passages against NIST's labels; labels off the scale are left out."""
    folder = shared / "data" / "llmjudge"
    people = qrels(folder / "llmjudge_test_qrel_idx.txt")
    results = {}
    for file in sorted((folder / "scores").glob("*.txt")):
        judged = {pair: grade for pair, grade in qrels(file).items() if grade in range(4)}
        shown = [pair for pair in people if pair in judged]
        a, b = (np.array([of[pair] for pair in shown], dtype=float) for of in (judged, people))
        queries = [query for query, _ in shown]
        results[file.stem, "people: relevance"] = len(shown), with_interval(a, b, queries)
    return results


def qrels(file: Path) -> dict[tuple[str, str], int]:
    fields = (line.split() for line in file.read_text("utf-8").splitlines() if line.strip())
    return {(query, passage): int(grade) for query, _, passage, grade in fields}


def correlations(
    rows: Sequence[Mapping[str, Any]], question: str
) -> dict[tuple[str, str], tuple[int, Any]]:
    measures = [key for key in rows[0] if key != question and not key.startswith("people: ")]
    results = {}
    for people in (key for key in rows[0] if key.startswith("people: ")):
        for measure in measures:
            known = [row for row in rows if row[measure] is not None]
            a, b = (np.array([row[key] for row in known], dtype=float) for key in (measure, people))
            names = [row[question] for row in known]
            results[measure, people] = len(known), with_interval(a, b, names)
    return results


def show(name: str, results: Mapping[tuple[str, str], tuple[int, Any]]) -> None:
    people = list(dict.fromkeys(column for _, column in results))
    print(f"\n{name}\n\n| measure | n | {' | '.join(people)} |\n|---|---|{'---|' * len(people)}")
    for measure in dict.fromkeys(row for row, _ in results):
        cells = [results[measure, column] for column in people]
        figures = (f"{mean:.2f} [{low:.2f}, {high:.2f}]" for _, (mean, low, high) in cells)
        print(f"| {measure} | {cells[0][0]:,} | {' | '.join(figures)} |", flush=True)


def main(shared: Annotated[Path, typer.Argument(help="Folder with data/.")]) -> None:
    """Print the tables."""
    show("MTRAG, all answers with a context", mtrag(shared, with_reference=True))
    show("MTRAG, answers of models", mtrag(shared, with_reference=False))
    show("RAGChecker, pairs of answers", ragchecker(shared))
    show("LLMJudge, judges of passages", llmjudge(shared))


if __name__ == "__main__":
    run_script(main)
