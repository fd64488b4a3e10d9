"""Tables: texts given as lists, open quotes, names given twice, values of other types."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lab.errors import CorpusError
from lab.importing.formats.read import read_collection
from tests.importing.given_files import folder_of, rules, texts

ROW = {"_id": "d1", "title": ["The", "pump"], "text": ["one pump.", "two valve."]}


def refused(folder: Path, **files: str) -> list[str]:
    """What is said of these files (`__` for a dot), by place in them."""
    folder_of(folder, {name.replace("__", "."): content for name, content in files.items()})
    with pytest.raises(CorpusError) as fault:
        read_collection(folder)
    return [problem.removeprefix(f"{folder}/") for problem in fault.value.problems]


def test_a_text_given_as_a_list_keeps_all_its_entries(tmp_path: Path) -> None:
    read = read_collection(folder_of(tmp_path, {"corpus.jsonl": json.dumps(ROW)}))
    assert texts(read) == {"d1": "The pump one pump. two valve."}
    assert rules(read) == ["list of texts", "list of texts"]
    pq.write_table(pa.table({key: [value] for key, value in ROW.items()}), tmp_path / "c.parquet")
    (tmp_path / "corpus.jsonl").unlink()
    assert texts(read_collection(tmp_path)) == {"d1": "The pump one pump. two valve."}


@pytest.mark.parametrize(
    "cell",
    ["['one pump.' 'two valve.']", "['one pump.', 'two valve.']", '["one pump.", "two valve."]'],
)
def test_a_list_that_was_printed_into_a_cell_is_read_too(tmp_path: Path, cell: str) -> None:
    doubled = cell.replace('"', '""')
    folder_of(tmp_path, {"corpus.csv": f'doc_id,text\nd1,"{doubled}"\n'})
    assert texts(read_collection(tmp_path)) == {"d1": "one pump. two valve."}


def test_questions_and_answers_given_as_lists_keep_all_their_entries(tmp_path: Path) -> None:
    row = {"question": ["Which", "pump?"], "answer": ["PX-1", "PX-2"], "doc_id": "d1"}
    files = {"corpus.jsonl": '{"_id": "d1", "text": "x"}', "asked.jsonl": json.dumps(row)}
    asked = read_collection(folder_of(tmp_path, files)).questions
    assert [(q.text, q.answer) for q in asked] == [("Which pump?", "PX-1 PX-2")]


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ('doc_id,text\nd1,"unclosed\nd2,swallowed\nd3,also\n', 2),
        ('doc_id,text\nd0,fine\nd1,"unclosed\nd2,"closed here"\n', 3),
        ('doc_id,text\nd0,"two\nlines"\nd1,"text" after\n', 4),
        ('sep=;\ndoc_id;text\nd1;"unclosed\n', 3),
    ],
)
def test_an_open_quote_is_an_error_with_its_line(tmp_path: Path, table: str, line: int) -> None:
    [problem] = refused(tmp_path, corpus__csv=table)
    assert problem.startswith(f"corpus.csv:{line}: not a table: a quote that begins in this row")


def test_a_quote_that_swallows_rows_and_is_closed_by_the_next_is_suspicious(
    tmp_path: Path,
) -> None:
    table = 'doc_id,text\nd1,"unclosed\nd2,swallowed\nd3,also"\nd4,fine\n'
    read = read_collection(folder_of(tmp_path, {"corpus.csv": table}))
    assert rules(read) == ["rows inside a cell"]
    fine = 'doc_id,text\nd1,"first line\nand, as it goes on, a second"\n'
    assert rules(read_collection(folder_of(tmp_path, {"corpus.csv": fine}))) == []


def test_quotes_in_tabbed_lines_are_text_where_the_lines_say_so(tmp_path: Path) -> None:
    table = 'doc_id\ttext\nd1\t"Stop" he said\nd2\t5" pipe\nd3\t"open\n'
    read = read_collection(folder_of(tmp_path, {"corpus.tsv": table}))
    assert texts(read) == {"d1": '"Stop" he said', "d2": '5" pipe', "d3": '"open'}
    assert rules(read) == ["quotes are text"]


def test_semicolons_and_other_separators_are_told_by_the_header(tmp_path: Path) -> None:
    for header, row in (("doc_id;text", "d1;a, b"), ("doc_id|text", "d1|a, b")):
        read = read_collection(folder_of(tmp_path, {"corpus.csv": f"{header}\n{row}\n"}))
        assert texts(read) == {"d1": "a, b"}


def test_two_columns_and_two_keys_of_one_name_are_errors(tmp_path: Path) -> None:
    assert refused(tmp_path, corpus__csv="doc_id,text,text\nd1,a,b\n") == [
        "corpus.csv:1: column 'text' stands 2 times; rename or remove one"
    ]
    (tmp_path / "corpus.csv").unlink()
    [problem] = refused(tmp_path, corpus__jsonl='{"_id": "d1", "text": "a", "text": "b"}')
    assert problem.startswith("corpus.jsonl:1: not JSON (key 'text' stands twice in one object)")
    (tmp_path / "corpus.jsonl").unlink()
    twice = pa.table([pa.array(["d1"]), pa.array(["a"]), pa.array(["b"])], ["_id", "text", "text"])
    pq.write_table(twice, tmp_path / "c.parquet")
    assert refused(tmp_path) == ["c.parquet: column 'text' stands 2 times; rename or remove one"]


def test_every_cell_of_another_type_is_told_with_its_row(tmp_path: Path) -> None:
    rows = [
        '{"_id": true, "text": "x"}',
        '{"_id": "d2", "text": {"a": 1}}',
        '{"_id": "d3", "text": [["nested"]]}',
        '{"_id": "d4", "text": false}',
        '{"_id": ["d5"], "text": "x"}',
        '{"_id": "d6", "text": "x", "year": Infinity}',
        '{"_id": null, "text": "x"}',
        "[1]",
        '{"_id": ' + "9" * 5000 + ', "text": "x"}',
    ]
    problems = refused(tmp_path, corpus__jsonl="\n".join(rows))
    assert {int(problem.split(":")[1]) for problem in problems} == set(range(1, 10))


def test_nothing_is_nothing_and_numbers_are_as_written(tmp_path: Path) -> None:
    rows = '{"_id": 7, "text": NaN, "size": NaN}\n{"_id": 8.0, "text": 41}\n'
    read = read_collection(folder_of(tmp_path, {"corpus.jsonl": rows}))
    assert texts(read) == {"7": "", "8": "41"}
    assert read.documents[0].document.metadata == {}
    table = pa.table({"_id": ["a", "b"], "text": ["x", "y"], "size": [1.0, float("nan")]})
    (tmp_path / "corpus.jsonl").unlink()
    pq.write_table(table, tmp_path / "c.parquet")
    metadata = [placed.document.metadata for placed in read_collection(tmp_path).documents]
    assert metadata == [{"size": 1.0}, {}]


def test_half_characters_are_mended_wherever_json_names_them(tmp_path: Path) -> None:
    row = '{"_id": "d\\ud800", "text": "bad \\ud83d", "tag\\udc00": ["\\ud801"]}'
    [placed] = (read := read_collection(folder_of(tmp_path, {"c.jsonl": row}))).documents
    document = placed.document
    assert (document.doc_id, document.text, dict(document.metadata)) == (
        "d?",
        "bad ?",
        {"tag?": ["?"]},
    )
    assert rules(read) == ["lone surrogate"]


def test_absent_columns_are_told_once_and_not_a_row_at_a_time(tmp_path: Path) -> None:
    folder_of(tmp_path, {"notes.csv": "name,body\n1,a\n2,b\n"})
    with pytest.raises(CorpusError) as fault:
        read_collection(tmp_path, documents="notes.csv")
    assert [problem.partition("; ")[0].partition(": ")[2] for problem in fault.value.problems] == [
        "no column holds doc_id (name, body)"
    ]


@pytest.mark.parametrize(
    "qrels",
    [
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n",
        "q1\td1\t1\nq2\td2\t2\n",
        "q1 0 d1 1\nq2 0 d2 2\n",
        "q1\t0\td1\t1\r\nq2\t0\td2\t2\r\n\r\n",
        "\ufeffq1 0 d1 1.0\nq2 0 d2 2\n",
    ],
)
@pytest.mark.parametrize("name", ["qrels/test.tsv", "rel.qrels", "qrels.txt"])
def test_b28_judgements_are_read_with_and_without_a_header(
    tmp_path: Path, qrels: str, name: str
) -> None:
    files = {
        "corpus.jsonl": '{"_id": "d1", "text": "x"}\n{"_id": "d2", "text": "y"}\n',
        "queries.jsonl": '{"_id": "q1", "text": "a"}\n{"_id": "q2", "text": "b"}\n',
        name: qrels,
    }
    read = read_collection(folder_of(tmp_path, files))
    assert [(j.query_id, j.doc_id, j.grade) for j in read.judgements] == [
        ("q1", "d1", 1),
        ("q2", "d2", 2),
    ]


@pytest.mark.parametrize("grade", ["high", "inf", "nan", "1.5", "9" * 30, "9" * 5000])
def test_b28_a_grade_that_is_none_is_an_error_with_file_line_and_value(
    tmp_path: Path, grade: str
) -> None:
    [problem] = refused(
        tmp_path,
        corpus__jsonl='{"_id": "d1", "text": "x"}',
        queries__jsonl='{"_id": "q1", "text": "a"}',
        test__tsv=f"query-id\tcorpus-id\tscore\nq1\td1\t{grade}\n",
    )
    assert problem.startswith("test.tsv:2: ")
    assert grade[:60] in problem
    assert len(problem) < 300


def test_smart_judgements_of_cisi_medline_and_adi(tmp_path: Path) -> None:
    documents = "".join(
        f".I {n}\n.T\nTitle {n}\n.A\nDoe\n.W\nabstract {n}\n.X\n{n} 1 {n}\n" for n in range(1, 31)
    )
    questions = ".I 1\n.W\nWhat is it?\n.I 2\n.T\nA title\n.W\nWhat else?\n"
    sets = {
        "cisi": "".join(f"     {q}     {d}\t0\t0.000000\n" for q, d in ((1, 28), (1, 9), (2, 3))),
        "medline": "1 0 13 1\n1 0 14 1\n2 0 15 1\n",
        "medline old": "1 13 0 0\n1 14 0 0\n2 15 0 0\n",
        "adi": "1 17 0 0.000000\n1 22 0 0.000000\n2 23 0 0.000000\n",
    }
    for name, judgements in sets.items():
        folder = folder_of(
            tmp_path / name, {"A.ALL": documents, "A.QRY": questions, "A.REL": judgements}
        )
        read = read_collection(folder)
        assert len(read.documents) == 30
        assert texts(read)["7"] == "Title 7 abstract 7", "cross references are no text"
        assert [(q.query_id, q.text) for q in read.questions] == [
            ("1", "What is it?"),
            ("2", "What else?"),
        ]
        assert [(j.query_id, j.grade) for j in read.judgements] == [("1", 1), ("1", 1), ("2", 1)]
        assert {j.doc_id for j in read.judgements} <= set(texts(read))
