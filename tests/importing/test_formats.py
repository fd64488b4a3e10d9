"""Every format that `lab import` reads, from the smallest file that shows what is particular about
it."""

import gzip
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection
from lab.importing.formats.decode import decode
from lab.importing.formats.names import array_text
from lab.importing.formats.read import read_collection
from lab.retrieval.trec_run import read_run


def write(folder: Path, **files: str | bytes) -> Path:
    """Files by name, `__` standing for a dot."""
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def texts(collection: Collection) -> dict[str, str]:
    return {placed.document.doc_id: placed.document.text for placed in collection.documents}


def judged(collection: Collection) -> list[tuple[str, str | None, int]]:
    return [(j.query_id, j.doc_id, j.grade) for j in collection.judgements]


def test_smart_joins_title_and_text_unless_the_text_begins_with_the_title(tmp_path: Path) -> None:
    documents = (
        ".I 1\n.T\nWing flow\n.A\nDoe, J.\n.W\nWing flow\nis measured.\n.I "
        "2\n.T\nHeat\n.W\nA slab.\n"
    )
    source = write(
        tmp_path,
        all=documents,
        all__qry=".I 001\r\n.W\r\nwhat flow ?\r\n",
        rel="1 2 1 \n1 1 4\n1 1 -1",
    )
    read = read_collection(source, documents="all")
    assert texts(read) == {"1": "Wing flow\nis measured.", "2": "Heat A slab."}
    assert read.documents[0].document.metadata == {"author": "Doe, J."}
    assert [(q.query_id, q.text) for q in read.questions] == [("001", "what flow ?")]
    assert judged(read) == [("1", "2", 4), ("1", "1", 1), ("1", "1", 0)], (
        "1 is the best code and 4 the least"
    )
    assert [finding.rule for finding in read.findings] == ["reversed codes"]


def test_smart_relation_file_with_two_zero_columns_names_relevant_pairs(tmp_path: Path) -> None:
    source = write(tmp_path, docs__all=".I 1\n.T\nA\n", q__query=".I 1\n.W\na\n", rel="01 1  0 0\n")
    assert judged(read_collection(source)) == [("01", "1", 1)]


def test_trec_documents_topics_and_qrels(tmp_path: Path) -> None:
    documents = (
        "<DOC>\n<DOCNO> FT-1 </DOCNO>\n<HEADLINE>Ships</HEADLINE>\n<TEXT>\n<P>A &amp; "
        "B</P>\n</TEXT>\n</DOC>\n"
        "<doc><docno>2</docno>bare text</doc>"
    )
    topics = (
        "<top>\n<num> Number: 301 \n<title> International crime\n<desc> "
        "Description:\nlong\n</top>\n"
        "<top><num>302</num><desc>only this</desc></top>"
    )
    source = write(
        tmp_path,
        docs__trec=documents,
        topics=topics,
        qrels="# comment\n301 0 FT-1 1\n302\t0\t2\t0\r\n\r\n",
    )
    read = read_collection(source)
    assert texts(read) == {"FT-1": "Ships A & B", "2": "bare text"}
    assert [(q.query_id, q.text) for q in read.questions] == [
        ("301", "International crime"),
        ("302", "only this"),
    ]
    assert judged(read) == [("301", "FT-1", 1), ("302", "2", 0)]
    assert [j.place.rpartition(":")[2] for j in read.judgements] == ["2", "3"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 Q0 d1 1 0.5", "5 columns"),
        ("q1 Q0 d1 1 0.5 tag more", "7 columns"),
        ("q1 Q0 d1 1 high tag", "score is 'high'"),
        ("q1 Q0 d1 1 nan tag", "score is 'nan'"),
    ],
)
def test_b29_a_bad_run_line_is_named_with_its_number(
    tmp_path: Path, line: str, problem: str
) -> None:
    run = write(tmp_path, run=f"q1 Q0 d0 1 0.9 tag\n\n{line}\n") / "run"
    with pytest.raises(CorpusError, match=rf"run:3: {problem}"):
        read_run(run)


def test_b29_blank_lines_tabs_and_ids_with_blanks_in_tabbed_runs_are_read(tmp_path: Path) -> None:
    run = write(tmp_path, run="q 1\tQ0\tdoc one\t1\t1.0\ttag\nq1 Q0 d1 1 0.5 tag\n\n") / "run"
    assert [(line.query_id, line.doc_id, line.score) for line in read_run(run)] == [
        ("q 1", "doc one", 1.0),
        ("q1", "d1", 0.5),
    ]


def test_beir_and_mteb_folders_are_tables(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    pq.write_table(
        pa.table({"_id": ["a b", "c"], "title": ["T", ""], "text": ["one", "two"]}),
        tmp_path / "corpus/x.parquet",
    )
    write(tmp_path, queries__jsonl='{"_id": "q1", "text": "which ?"}\n')
    write(tmp_path / "qrels", test__jsonl='{"query-id": "q1", "corpus-id": "a b", "score": 1.0}\n')
    read = read_collection(tmp_path)
    assert texts(read) == {"a b": "T one", "c": "two"}
    assert judged(read) == [("q1", "a b", 1)]


def test_named_columns_override_the_known_ones_and_the_rest_is_metadata(tmp_path: Path) -> None:
    source = (
        write(tmp_path, notes__csv='key,body,year\n7,"line one\nline two",2020\n8,next,2021\n')
        / "notes.csv"
    )
    read = read_collection(source, documents=str(source), columns={"doc_id": "key", "text": "body"})
    assert texts(read) == {"7": "line one\nline two", "8": "next"}
    assert read.documents[1].place.endswith(":4"), (
        "a cell with a line break takes two lines of the file"
    )
    assert read.documents[1].document.metadata == {"year": "2021"}
    with pytest.raises(CorpusError, match="column 'key=body'; expected NOUN=NAME"):
        read_collection(source, columns={"key": "body"})


def test_every_bad_row_of_a_table_is_reported(tmp_path: Path) -> None:
    source = write(tmp_path, corpus__csv="doc_id,text\n1,a,b\n2\n3,fine\n") / "corpus.csv"
    with pytest.raises(CorpusError) as fault:
        read_collection(source)
    assert [problem.partition(": ")[0].rpartition(":")[2] for problem in fault.value.problems] == [
        "2",
        "3",
    ]


def test_array_text_is_read_literal_by_literal() -> None:
    assert (
        array_text("""['First one.'\n "It's quoted." 'a \\'b\\'']""")
        == "First one. It's quoted. a 'b'"
    )


def test_squad_articles_are_documents_and_offsets_move_with_their_paragraph(tmp_path: Path) -> None:
    answers = [{"text": "two", "answer_start": 0}, {"text": "gone", "answer_start": -1}]
    paragraphs = [
        {"context": "one one", "qas": []},
        {"context": "two", "qas": [{"id": "q", "question": "which?", "answers": answers}]},
    ]
    source = (
        write(tmp_path, dev__json=json.dumps({"data": [{"title": "A", "paragraphs": paragraphs}]}))
        / "dev.json"
    )
    read = read_collection(source)
    assert texts(read) == {"A": "one one\n\ntwo"}
    assert [(j.quote, j.start) for j in read.judgements] == [("two", 9), ("gone", None)]
    assert [finding.rule for finding in read.findings] == ["negative offset"]


def test_chroma_reads_its_corpora_and_ragas_its_contexts(tmp_path: Path) -> None:
    references = json.dumps([{"content": "beta", "start_index": 6, "end_index": 10}]).replace(
        '"', '""'
    )
    chroma = write(
        tmp_path / "c", questions__csv=f'question,references,corpus_id\nwhat?,"{references}",doc\n'
    )
    write(chroma / "corpora", doc__md="alpha beta")
    read = read_collection(chroma)
    assert texts(read) == {"doc": "alpha beta"}
    assert [(j.doc_id, j.quote, j.start) for j in read.judgements] == [("doc", "beta", 6)]
    row = {
        "user_input": "which?",
        "reference": "beta",
        "retrieved_contexts": ["alpha beta", "gamma"],
    }
    ragas = read_collection(write(tmp_path / "r", eval__jsonl=json.dumps(row)))
    assert sorted(texts(ragas).values()) == ["alpha beta", "gamma"]
    assert [(j.query_id, j.quote) for j in ragas.judgements] == [("q0001", "beta")]


def test_html_keeps_the_main_text_and_no_script(tmp_path: Path) -> None:
    page = (
        "<html><head><title> The  page </title><script>var x = "
        "'<p>no</p>'</script></head><body><nav>menu</nav>"
        "<main><h2>Head</h2><p>One &amp; two<br>three<ul><li>item</ul><pre>a\n  "
        "b</pre></main><footer>foot</footer></body>"
    )
    read = read_collection(write(tmp_path, page__html=page))
    assert texts(read) == {"page.html": "## Head\n\nOne & two\nthree\n\n- item\n\na\n  b"}
    assert read.documents[0].document.title == "The page"


def test_word_files_give_paragraphs_headings_and_tables(tmp_path: Path) -> None:
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

    def paragraph(text: str, style: str = "") -> str:
        style = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{style}<w:r><w:t>{text}</w:t></w:r></w:p>"

    row = f"<w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr>"
    body = paragraph("Title", "Heading1") + paragraph("text") + f"<w:tbl>{row}</w:tbl>"
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr(
            "word/document.xml", f"<w:document {w}><w:body>{body}</w:body></w:document>"
        )
    assert texts(read_collection(tmp_path)) == {"a.docx": "# Title\n\ntext\n\na\tb"}
    (tmp_path / "b.docx").write_bytes(b"no zip")
    with pytest.raises(CorpusError, match=r"b\.docx: not a Word file"):
        read_collection(tmp_path)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "水泵漏水，请检查密封圈。阀门噪声过大，电机过热停机。" * 4),
        ("utf-16", "naïve"),
        ("cp1252", "Die Größe der Übertragung ist für ältere Geräte möglich. " * 8),
    ],
)
def test_another_encoding_is_guessed_only_when_utf8_fails_and_said(
    tmp_path: Path, encoding: str, text: str
) -> None:
    path, into = tmp_path / "a.txt", Collection()
    path.write_bytes(text.encode(encoding))
    assert decode(path, into) == text
    assert [finding.rule for finding in into.findings] == ["encoding"]
    path.write_bytes(text.encode("utf-8-sig"))
    assert decode(path, quiet := Collection()) == text
    assert not quiet.findings


def test_packed_files_and_two_columns_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv.gz").write_bytes(gzip.compress(b"1\twhat is it\n"))
    read = read_collection(
        write(tmp_path, all__docs="D-1\tsome text\n", rel__qrel="1\t0\tD-1\t2\n")
    )
    assert texts(read) == {"D-1": "some text"}
    assert [(q.query_id, q.text) for q in read.questions] == [("1", "what is it")]
    (tmp_path / "topics.tsv.gz").write_bytes(b"not packed")
    with pytest.raises(CorpusError, match="topics"):
        read_collection(tmp_path, questions="topics.tsv.gz")


def test_the_lab_s_own_questions_are_not_imported_without_their_evidence(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        documents__jsonl='{"doc_id": "d", "text": "t"}',
        queries__jsonl='{"query_id": "q", "text": "t", "evidence": []}',
    )
    with pytest.raises(
        CorpusError, match=r"queries\.jsonl:1: the questions have the lab's own form already"
    ):
        read_collection(source)


def test_several_files_for_one_role_are_listed_not_guessed(tmp_path: Path) -> None:
    source = write(tmp_path, docs__docs="1\ta\n", a__qrels="1 0 1 1\n", b__qrels="1 0 1 1\n")
    with pytest.raises(
        CorpusError,
        match=r"2 files hold judgements: a\.qrels, b\.qrels; name one with --judgements",
    ):
        read_collection(source)
    assert len(read_collection(source, judgements="b.qrels").judgements) == 1


def test_a_file_in_no_known_format_is_said(tmp_path: Path) -> None:
    read = read_collection(write(tmp_path, docs__docs="1\ta\n", odd__dat=b"\x00\x01"))
    assert [(f.rule, Path(f.place).name) for f in read.findings] == [("unknown format", "odd.dat")]


def test_ir_datasets_ids_are_read_through_its_own_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    ir_datasets = pytest.importorskip(
        "ir_datasets", reason="the extra 'ir-datasets' is not installed"
    )
    from ir_datasets.formats import GenericDoc, GenericQuery, TrecQrel

    class Small:
        docs_iter = staticmethod(lambda: iter([GenericDoc("d1", "text")]))
        queries_iter = staticmethod(lambda: iter([GenericQuery("q1", "what")]))
        qrels_iter = staticmethod(lambda: iter([TrecQrel("q1", "d1", 2, "0")]))

    monkeypatch.setattr(ir_datasets, "load", lambda name: Small)
    read = read_collection("ir_datasets:small")
    assert (texts(read), judged(read), read.questions[0].text) == (
        {"d1": "text"},
        [("q1", "d1", 2)],
        "what",
    )
