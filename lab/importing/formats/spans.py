"""Tables whose rows quote their evidence: Chroma's chunking set and CUAD's clauses."""

import ast
import json
from pathlib import Path

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Judgement, Question
from lab.importing.formats.decode import decode
from lab.importing.formats.rows import records

OMITTED = "<omitted>"


def read_chroma(path: Path, into: Collection) -> None:
    """Chroma's `questions_df.csv`: question, references (content, start_index, end_index),
    corpus_id = `corpora/ID.md`."""
    problems: list[str] = []
    files = {file.stem: file for file in sorted((path.parent / "corpora").glob("*.md"))}
    for name, file in files.items():
        into.add_document(str(file), name, decode(file, into))
    for number, (place, row) in enumerate(records(path, into), start=1):
        query_id, doc_id = f"q{number:04d}", str(row["corpus_id"])
        try:
            quotes = [
                (str(ref["content"]), int(ref["start_index"]))
                for ref in json.loads(row["references"])
            ]
        except (ValueError, TypeError, KeyError, RecursionError) as fault:
            problems.append(
                f"{place}: references are not a JSON list of content, start_index, end_index "
                f"({fault})"
            )
            continue
        into.questions.append(
            Question(place, query_id, str(row["question"]), tags={"corpus": doc_id})
        )
        into.judgements.extend(
            Judgement(place, query_id, doc_id, 3, quote, start) for quote, start in quotes
        )
    if problems:
        raise CorpusError(problems)


def read_cuad(path: Path, into: Collection) -> None:
    """CUAD's `master_clauses.csv` beside `full_contract_txt/`: a question a contract and clause
    category, its clauses as evidence. Rows whose contract is not there are counted once."""
    files = sorted((path.parent / "full_contract_txt").glob("*.txt"))
    contracts = {_folded(file.stem): file for file in files}
    for file in files:
        into.add_document(str(file), file.name, decode(file, into))
    absent = 0
    for place, row in records(path, into):
        name = str(row["Filename"])
        contract = contracts.get(_folded(name.rpartition(".")[0]))
        if contract is None:
            absent += 1
            continue
        if contract.stem != name.rpartition(".")[0]:
            into.note(place, "mended", "file name", f"'{name}' is the contract {contract.name!r}")
        for category in [key for key in row if f"{key}-Answer" in row or f"{key}- Answer" in row]:
            _clauses(place, contract.name, category, str(row[category] or ""), into)
    if absent:
        into.note(
            str(path),
            "dropped",
            "absent document",
            f"{absent} rows are of contracts that are not in full_contract_txt",
        )


def _clauses(place: str, doc_id: str, category: str, cell: str, into: Collection) -> None:
    try:
        clauses = ast.literal_eval(cell) if cell.strip() else []
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        into.note(
            place,
            "dropped",
            "unreadable clause",
            f"{category}: {cell[:60]!r} is not a list of texts",
        )
        return
    quotes = [
        part.strip() for clause in clauses for part in str(clause).split(OMITTED) if part.strip()
    ]
    if any(OMITTED in str(clause) for clause in clauses):
        into.note(
            place,
            "mended",
            "omitted text",
            f"{category}: a clause is given in parts ({OMITTED}); each part is evidence",
        )
    if not quotes:
        return
    query_id = f"{doc_id}#{category}"
    into.questions.append(
        Question(
            place,
            query_id,
            f"{category}: {doc_id.removesuffix('.txt')}",
            tags={"category": category},
        )
    )
    into.judgements.extend(
        Judgement(place, query_id, doc_id, 3, quote) for quote in dict.fromkeys(quotes)
    )


def _folded(name: str) -> str:
    """CUAD writes one contract's name in two ways: letter case, trailing blanks, `&` and `_`
    differ."""
    return name.strip().lower().replace("&", "_")
