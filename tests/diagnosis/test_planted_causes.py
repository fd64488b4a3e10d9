"""A planted corpus for every cause, with at least three questions each: the cause is assigned and
verified for all."""

import numpy as np
import pytest

from lab.chunking.units import words
from lab.relevance.query import Evidence
from tests.diagnosis.planted import RERANKER, Concepts, evidence, misses, run

THINGS = ("pump", "valve", "motor")
FILLER = {f"filler-{i}": f"note {i} about weather and roads in town number {i}" for i in range(8)}


def assert_cause(found: dict, cause: str, expected: int = 3) -> None:
    assert {query_id: miss.cause for query_id, miss in found.items()} == dict.fromkeys(found, cause)
    assert len(found) == expected
    assert all(miss.verified for miss in found.values()), found


def test_not_in_corpus() -> None:
    documents = FILLER | {"a": "short text about pumps"}
    questions = {
        "a span": ("pump", Evidence("lost.md", 0, 10)),
        "another": ("pump", Evidence("lost too.md", 100, 120)),
        "its end": ("pumps", Evidence("lost.md", 17, 60)),
    }
    assert_cause(misses(run(documents, questions, 5)), "not_in_corpus")


def test_split() -> None:
    # 100 characters a chunk: the boundary parts the sentence, the question's words stand in its
    # first half only.
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        quote = f"the {thing} leaks because the gasket of its inlet side hardened over the winter"
        documents[thing] = ("x " * 100)[: 100 - len(quote) // 2] + quote + " and so on" * 10
        questions[thing] = (f"{thing} leaks", evidence(documents, thing, quote))
    result = run(documents, questions, 3, chunk_strategy="fixed", chunk_size=100)
    found = misses(result)
    assert_cause(found, "split")
    assert {miss.cut.offset for miss in found.values()} == {100}
    assert all(
        miss.cut.before and miss.cut.after and miss.needed == 2 and miss.ranks.part == 1
        for miss in found.values()
    )


def test_diluted() -> None:
    # The chunk speaks of pumps and much else; half as long around the evidence it would be the
    # nearest.
    encoder, documents, questions = (
        Concepts((*(f"{thing} {thing}s" for thing in THINGS), "other")),
        dict(FILLER),
        {},
    )
    for thing in THINGS:
        documents |= {f"{thing} {i}": f"{thing} {'other ' * 4}{i}" for i in range(2)}
        quote = f"{thing} with {thing} and {thing}"
        documents[thing] = "other " * 10 + quote + " other" * 10
        questions[thing] = (f"{thing}s", evidence(documents, thing, quote))
    found = misses(run(documents, questions, 1, encoder, mode="dense"))
    assert_cause(found, "diluted")
    assert {miss.remedy for miss in found.values()} == {"a chunk 0.5 times as long"}


def beside(lead: str, quote: str) -> str:
    """Three chunks of 100 characters: `lead` in the second half of the first, `quote` in the middle
    of the second."""
    return ("x " * 25 + lead).ljust(100) + quote.center(100) + " and so on" * 10


CHUNKS = {"chunk_strategy": "fixed", "chunk_size": 100}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("recall@1", "detached"), ("recall@150tok", "detached"), ("recall@30tok", "")],
)
def test_detached_from_what_is_found(metric: str, expected: str) -> None:
    # The question's words stand in the chunk before the evidence, but not so near that a chunk as
    # long around it has them.
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        documents[thing] = beside(f"{thing} care", "it wants oil each week")
        questions[thing] = (f"{thing} care", evidence(documents, thing, "it wants oil"))
    found = misses(run(documents, questions, 1, metrics=(metric,), **CHUNKS))
    if expected:
        assert_cause(found, "detached")
        assert {miss.remedy for miss in found.values()} == {"deliver window(1)"}
        assert all(miss.needed == 1 for miss in found.values())
    else:
        # A window is longer than the budget.
        assert not any("window" in text for miss in found.values() for text in miss.recovered_by)


def test_a_hit_beside_the_evidence_but_in_another_document_is_no_neighbour() -> None:
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        documents[f"{thing} a"] = f"{thing} care"
        documents[f"{thing} b"] = "it wants oil each week"
        questions[thing] = (f"{thing} care", evidence(documents, f"{thing} b", "oil each week"))
    found = misses(run(documents, questions, 1, **CHUNKS))
    assert {miss.cause for miss in found.values()} == {"lexical_gap"}
    assert not any(miss.verified or miss.recovered_by for miss in found.values())


TOPICS = Concepts((*THINGS, "oil", "fog"))


def test_detached_from_what_it_speaks_of() -> None:
    # Neither the chunk that names the thing nor the one that speaks of oil is found; a chunk with
    # both is.
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        documents[thing] = beside(thing, "it wants oil each week")
        documents[f"{thing} 0"] = f"{thing} oil fog"
        questions[thing] = (f"{thing} oil", evidence(documents, thing, "it wants oil"))
    found = misses(run(documents, questions, 1, TOPICS, mode="dense", **CHUNKS))
    assert_cause(found, "detached")
    assert {miss.recovered_by for miss in found.values()} == {("a chunk twice as long",)}


@pytest.mark.parametrize(
    ("missed", "has", "cause"), [(100, 400, "detached"), (400, 100, "diluted")]
)
def test_another_chunk_size_of_the_grid_proves_what_no_other_change_does(
    missed: int, has: int, cause: str
) -> None:
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        if missed < has:
            # Two chunks behind what names it: out of reach of a window, and of a chunk twice as
            # long.
            documents[thing] = (
                (f"{thing} oil" + " x" * 100)[:200]
                + "wipe it with a dry cloth".center(100)
                + "x " * 50
            )
            questions[thing] = (f"{thing} oil", evidence(documents, thing, "a dry cloth"))
        else:
            # Half of the chunk is still about fog.
            documents[thing] = f"{thing} oil".ljust(100) + "fog " * 75
            questions[thing] = (f"{thing} oil", evidence(documents, thing, f"{thing} oil"))
    result = run(
        documents,
        questions,
        1,
        TOPICS,
        mode="dense",
        chunk_strategy="fixed",
        chunk_size=(missed, has),
    )
    assert not misses(result, 1)
    assert_cause(misses(result), cause)
    assert {miss.remedy for miss in misses(result).values()} == {f"chunk_size {has}"}


def test_split_off_what_is_found() -> None:
    # Around the evidence alone no chunk has the question's words, which stand far before the cut.
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        quote = "it wants oil at each turn and a dry cloth"
        documents[thing] = f"{thing} care ".ljust(80, "x") + quote + " and so on" * 10
        documents[f"{thing} 0"] = f"{thing} and more"
        questions[thing] = (f"{thing} care", evidence(documents, thing, quote))
    found = misses(run(documents, questions, 1, **CHUNKS))
    assert_cause(found, "split")
    assert {miss.remedy for miss in found.values()} == {"deliver window(1)"}
    assert all(miss.ranks.part == 1 and miss.needed == 2 for miss in found.values())


@pytest.mark.parametrize("behind", [True, False])
def test_split_is_mended_by_moving_the_cut(behind: bool) -> None:
    # The thing is named in one chunk, oil in the other; a chunk around the evidence lacks the name,
    # and no part is found.
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        quote = (
            "it wants each week some oil in its bearing"
            if behind
            else "it wants oil and each week in its bearing"
        )
        lead, last = (thing, "x") if behind else ("x", thing)
        documents[thing] = (lead + " x" * 40)[:80] + quote + " x" * 35 + f" {last}"
        documents[f"{thing} 0"] = f"{thing} oil fog"
        questions[thing] = (f"{thing} oil", evidence(documents, thing, quote))
    found = misses(run(documents, questions, 1, TOPICS, mode="dense", **CHUNKS))
    assert_cause(found, "split")
    assert {miss.remedy for miss in found.values()} == {
        f"the cut moved {'behind' if behind else 'before'} it"
    }


def test_truncated() -> None:
    encoder = Concepts(tuple(f"{thing} {thing}s" for thing in THINGS), max_tokens=8)
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        quote = f"the {thing} must be greased"
        documents[thing] = " ".join(["word"] * 20) + " " + quote
        documents[f"other {thing}"] = "pump valve motor among many" + " extra" * 6
        questions[thing] = (f"{thing}s", evidence(documents, thing, quote))
    found = misses(run(documents, questions, 1, encoder, mode="dense"))
    assert_cause(found, "truncated")
    for thing, miss in found.items():
        assert len(words(documents[thing][: miss.tail.start])) == 8
        assert miss.tail.end == len(documents[thing])


def test_lexical_gap() -> None:
    encoder = Concepts(("pump device", "valve tap", "motor engine"))
    documents, questions = dict(FILLER), {}
    for thing, other in (("pump", "device"), ("valve", "tap"), ("motor", "engine")):
        documents[thing] = f"the {thing} stopped"
        questions[thing] = (f"why did {other} halt", evidence(documents, thing, f"{thing} stopped"))
    found = misses(run(documents, questions, 2, encoder, mode=("bm25", "dense")))
    assert_cause(found, "lexical_gap")
    assert ", ".join(map(str, found["pump"].unmatched)) == (
        "device (not in the corpus), halt (not in the corpus)"
    )


def test_semantic_gap() -> None:
    encoder = Concepts(("pump", "other"))
    documents = FILLER | {f"p{i}": f"pump report {i}" for i in range(6)}
    questions = {}
    for code in ("E-4012", "E-4013", "E-4014"):
        documents[code] = f"the code {code} means stop other other"
        questions[code] = (f"pump {code}", evidence(documents, code, f"code {code} means stop"))
    found = misses(run(documents, questions, 2, encoder, mode=("bm25", "dense"), depth=4), system=1)
    assert_cause(found, "semantic_gap")


def test_both() -> None:
    # Second in both legs, which keep one candidate each; with four each it leads.
    encoder = Concepts(
        tuple(f"{thing} {thing}s" for thing in THINGS) + tuple(f"fog{i}" for i in range(3))
    )
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        documents[f"a {thing}"] = (
            f"{thing}s {thing}s"  # the dense leg's first, without the question's word
        )
        documents[f"b {thing}"] = f"{thing} fog0 fog1 fog2 {thing} fog0 fog1 fog2"  # BM25's first
        documents[f"z {thing}"] = f"{thing} fog0 " + "fog1 fog2 " * 20  # last in both legs
        documents[thing] = f"the {thing} {thing}s runs with oil day and night all year long"
        questions[thing] = (f"{thing} {thing}", evidence(documents, thing, "runs with oil"))
    found = misses(run(documents, questions, 1, encoder, mode="hybrid", depth=1))
    assert_cause(found, "both")


class Scattered(Concepts):
    """A fixed random direction for every text."""

    def encode(self, texts, role, progress):  # type: ignore[no-untyped-def]  # as Concepts
        vectors = np.array(
            [np.random.default_rng(sum(map(ord, t)) * 7919 + len(t)).normal(size=6) for t in texts]
        )
        progress(len(texts))
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_approximate() -> None:
    documents = {f"d{i:03d}": "z" * (i % 20 + 1) + chr(0x4E00 + i) for i in range(400)}
    encoder = Scattered(())
    asked = {f"q{i}": chr(0x5E00 + 13 * i) * 3 for i in range(60)}
    ids = sorted(documents)
    texts = encoder.encode([documents[i] for i in ids], "passage", lambda steps: None)
    vectors = encoder.encode(list(asked.values()), "query", lambda steps: None)
    nearest = [ids[i] for i in (vectors @ texts.T).argmax(axis=1)]
    whole = {doc_id: Evidence(doc_id, 0, len(text)) for doc_id, text in documents.items()}
    questions = {
        q: (text, whole[doc_id]) for (q, text), doc_id in zip(asked.items(), nearest, strict=True)
    }
    found = misses(run(documents, questions, 1, encoder, mode="dense", index="ivf", depth=5))
    assert len(found) >= 3
    assert_cause(found, "approximate", len(found))


def test_outranked() -> None:
    encoder = Concepts(tuple(f"{thing} {thing}s" for thing in THINGS))
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        documents |= {f"{thing} {i}": f"{thing}s {thing}s item{i}" for i in range(3)}
        documents[thing] = f"the {thing} needs oil, unlike pump valve motor"
        questions[thing] = (f"{thing} needs oil", evidence(documents, thing, "needs oil"))
    found = misses(run(documents, questions, 1, encoder, mode="hybrid", alpha=0.9))
    assert_cause(found, "outranked")
    assert all(
        miss.alphas[0][0] == 0 and miss.outranked_by[0].relation == "other document"
        for miss in found.values()
    )


def test_outranked_with_a_reranker_is_run_again_with_it() -> None:
    encoder = Concepts(tuple(f"{thing} {thing}s" for thing in THINGS))
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        documents |= {f"{thing} {i}": f"{thing}s {thing}s item{i}" for i in range(3)}
        documents[thing] = f"the {thing} needs oil, unlike pump valve motor"
        questions[thing] = (f"{thing} needs oil", evidence(documents, thing, "needs oil"))
    # The reranker sees two, and keeps their order.
    settings = {"mode": "hybrid", "alpha": 0.9, "rerank_depth": 2, "rerank_model": RERANKER}
    assert_cause(misses(run(documents, questions, 1, encoder, **settings)), "outranked")

    def behind(question: str, text: str) -> float:
        return 0.0 if f"the {question}" in text else 1.0

    # This one would put it last wherever it stood, so no alpha brings it back.
    found = misses(run(documents, questions, 1, encoder, behind, **settings))
    assert not any("alpha" in text for miss in found.values() for text in miss.recovered_by)


def test_outranked_by_bm25_alone_is_run_again_with_another_formula() -> None:
    # A word again and again counts for much at k1 3; where words count once, the second word of the
    # question decides.
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        documents[f"{thing} 0"] = f"{thing} " * 9 + "item"
        documents[thing] = f"{thing} oil oil and so on"
        questions[thing] = (f"{thing} item oil", evidence(documents, thing, "oil oil"))
    found = misses(run(documents, questions, 1, k1=3.0, b=0.0))
    assert_cause(found, "outranked")
    assert all(any("k1 0.0" in text for text in miss.recovered_by) for miss in found.values())


def test_crowded() -> None:
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        text = f"{thing} {thing} {thing} guide for daily care of every machine in the hall"
        documents |= {f"{thing} copy {i}": f"{text} {i}" for i in range(5)}
        documents[thing] = (
            f"oil the {thing} on Mondays and wipe it with a dry cloth before the first shift "
            "begins to work"
        )
        questions[thing] = (thing, evidence(documents, thing, "on Mondays"))
    found = misses(run(documents, questions, 3))
    assert_cause(found, "crowded")
    assert {miss.ranks.final for miss in found.values()} == {6}


def test_a_token_budget_cuts() -> None:
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        documents[thing] = f"{thing} oil {'and more words ' * 3}"
        documents[f"{thing} 0"] = f"{thing} {thing}"
        questions[thing] = (thing, evidence(documents, thing, "oil"))
    result = run(documents, questions, 1, metrics=("recall@4tok",))
    found = misses(result)
    assert_cause(found, "cut")
    assert {miss.remedy for miss in found.values()} == {"a larger token budget"}


@pytest.mark.parametrize(("threshold", "cause"), [(None, "demoted"), (0.5, "cut")])
def test_the_reranker_demotes_and_its_threshold_cuts(threshold: float | None, cause: str) -> None:
    documents, questions = dict(FILLER), {}
    for thing in THINGS:
        documents[thing] = f"{thing} {thing} oil"
        documents |= {
            f"{thing} {i}": f"{thing} and more words than before, number {i}" for i in range(3)
        }
        questions[thing] = (thing, evidence(documents, thing, "oil"))

    def demoting(question: str, text: str) -> float:
        return 0.4 if "oil" in text else 0.9

    def below(question: str, text: str) -> float:
        return 0.4 if "oil" in text else 0.3

    rule = demoting if cause == "demoted" else below
    found = misses(
        run(
            documents,
            questions,
            2,
            rule=rule,
            rerank_depth=4,
            rerank_model=RERANKER,
            threshold=threshold,
        )
    )
    assert_cause(found, cause)


def test_one_chinese_name_does_not_make_the_other_analyzer_a_chinese_one() -> None:
    documents, questions = FILLER | {"name": "our partner is called 王小明"}, {}
    for thing in THINGS:
        documents[thing] = f"all {thing}s were oiled"
        questions[thing] = (
            f"oiling of the {thing}",
            evidence(documents, thing, f"{thing}s were oiled"),
        )
    assert {miss.remedy for miss in misses(run(documents, questions, 1)).values()} == {
        "analyzer english"
    }
