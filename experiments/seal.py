"""Seal a fifth of a set, by documents: the rule says which, nobody chooses.

python experiments/seal.py devices

The documents of a corpus stand in the order of the SHA-256 of their ids. From the first on, every
question with core evidence in them is sealed, until a fifth of the answerable questions is. They
move to diagnostic_sets/<corpus>/sealed/, which a folder of sets does not take in by itself.
Unanswerable questions have no document to go by and stay.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

SHARE = 0.2
SEALED = "sealed"


def sealed_documents(documents: list[str], questions: list[dict[str, Any]]) -> set[str]:
    """The first documents by hash whose questions make up a fifth."""
    answerable = [question for question in questions if question.get("evidence")]
    taken: set[str] = set()
    for doc_id in sorted(documents, key=lambda name: hashlib.sha256(name.encode()).hexdigest()):
        if sum(touches(question, taken) for question in answerable) >= SHARE * len(answerable):
            break
        taken.add(doc_id)
    return taken


def touches(question: dict[str, Any], documents: set[str]) -> bool:
    """Whether core evidence of a question is in any of them."""
    return any(
        item["doc_id"] in documents and item.get("role", "core") == "core"
        for item in question.get("evidence", ())
    )


def read(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """File name -> the questions of every file of a folder."""
    return {
        file.name: [json.loads(line) for line in file.read_text("utf-8").splitlines() if line]
        for file in sorted(folder.glob("*.jsonl"))
    }


def seal(corpus: Path, sets: Path) -> dict[str, tuple[int, int]]:
    """Move the sealed questions of every file; file -> how many stay and how many go. Once more
    changes nothing."""
    documents = [file.name for file in (corpus / "documents").iterdir()]
    opened, closed = read(sets), read(sets / SEALED)
    every = {
        name: sorted(opened.get(name, []) + closed.get(name, []), key=lambda one: one["query_id"])
        for name in sorted({*opened, *closed})
    }
    taken = sealed_documents(documents, [one for of in every.values() for one in of])
    (sets / SEALED).mkdir(exist_ok=True)
    counts = {}
    for name, questions in every.items():
        gone = [question for question in questions if touches(question, taken)]
        stay = [question for question in questions if not touches(question, taken)]
        for folder, part in ((sets, stay), (sets / SEALED, gone)):
            lines = [json.dumps(question, ensure_ascii=False) + "\n" for question in part]
            if lines:
                (folder / name).write_text("".join(lines), "utf-8")
        counts[name] = (len(stay), len(gone))
    return counts


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for file, (stay, go) in seal(Path("corpora", name), Path("diagnostic_sets", name)).items():
            print(f"{name} {file}: {stay} open, {go} sealed")
