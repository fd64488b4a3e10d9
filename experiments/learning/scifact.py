"""SciFact's training claims as a set in BEIR's form, without those whose text is a test claim's.

python experiments/learning/scifact.py ../shared runs/scifact-train

`lab mine` refuses a run that asks a sealed question in any case: two training claims are test
claims word for word. A claim is judged by the abstracts that it cites, as BEIR judges the tests.
"""

import csv
import json
import sys
from pathlib import Path

from lab.learning.sealed import digest_of


def training_set(shared: Path, folder: Path) -> tuple[int, int]:
    """Write `queries.jsonl` and `qrels/test.tsv`; how many claims stay and go."""
    test = shared / "bench" / "beir" / "scifact" / "queries.jsonl"
    lines = test.read_text("utf-8").splitlines()
    sealed = {digest_of(json.loads(line)["text"]) for line in lines}
    claims: dict[str, str] = {}
    cited: dict[str, list[str]] = {}
    with (shared / "data" / "scifact" / "claims_train.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            claims[row["id"]] = row["claim"]
            cited[row["id"]] = row["cited_doc_ids"].strip("[]").replace(",", " ").split()
    open_ones = {name: text for name, text in claims.items() if digest_of(text) not in sealed}
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    queries = [json.dumps({"_id": name, "text": text}) for name, text in open_ones.items()]
    (folder / "queries.jsonl").write_text("\n".join(queries) + "\n", "utf-8")
    rows = [f"{name}\t{doc_id}\t1" for name in open_ones for doc_id in dict.fromkeys(cited[name])]
    (folder / "qrels" / "test.tsv").write_text(
        "\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n", "utf-8"
    )
    return len(open_ones), len(claims) - len(open_ones)


if __name__ == "__main__":
    stay, go = training_set(*map(Path, sys.argv[1:]))
    print(f"{stay} training claims, and {go} left out that are test claims word for word")
