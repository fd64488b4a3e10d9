"""Data sets by their ir_datasets id (extra `ir-datasets`; downloads them at first use)."""

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Judgement, Question, joined

PREFIX = "ir_datasets:"


def read(name: str, into: Collection) -> None:
    """Documents, queries and qrels of one data set, `ir_datasets:cranfield` for example."""
    try:
        import ir_datasets
    except ImportError:
        raise CorpusError(
            f"{name}: needs the extra 'ir-datasets'; pip install "
            "'retrieval-diagnostics-lab[ir-datasets]'"
        ) from None
    name = name.removeprefix(PREFIX)
    try:
        data = ir_datasets.load(name)
        for document in data.docs_iter():
            title = str(getattr(document, "title", "") or "")
            text = str(getattr(document, "text", "") or document.default_text())
            into.budget.take(len(title) + len(text), name)
            into.add_document(
                f"{name}: document {document.doc_id}", document.doc_id, joined(title, text), title
            )
        for query in data.queries_iter():
            text = str(getattr(query, "text", "") or query.default_text())
            into.questions.append(Question(f"{name}: query {query.query_id}", query.query_id, text))
        for qrel in data.qrels_iter():
            place = f"{name}: qrel {qrel.query_id} {qrel.doc_id}"
            into.judgements.append(
                Judgement(place, qrel.query_id, qrel.doc_id, int(qrel.relevance))
            )
    except (KeyError, AttributeError, OSError, RuntimeError) as fault:
        raise CorpusError(
            f"{name}: ir_datasets cannot give it ({type(fault).__name__}: {fault})"
        ) from None
