"""Query side: filters search only what passes, variants are fused by reciprocal rank, synonyms
close lexical gaps; and every loss stays accounted for."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab
from lab.arrays import NONE
from lab.chunking.config import ChunkConfig
from lab.config.config import Config
from lab.config.distinct import reduced
from lab.config.experiment import read_experiment
from lab.corpus.document import Corpus, Document
from lab.corpus.filter import Filter
from lab.pipeline.indexes import Indexes
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages
from lab.relevance.query import Evidence, Query
from lab.retrieval.config import BM25Config, DenseConfig, FusionConfig, RerankConfig
from lab.retrieval.ranking import Ranking
from lab.retrieval.variants import fuse_wordings
from lab.runs.folder import write_run
from lab.runs.run import read_run
from lab.storage.cache import Cache
from lab.sweeping.distractors import distractors, source_of
from lab.sweeping.measured import Measured
from tests.conftest import ROOT
from tests.given import GivenEncoder, GivenReranker, measured, ranking_of, run_of

MODEL = "all-MiniLM-L6-v2"
IN_MEMORY = Path(":memory:")
WORDS = "pump seal valve leak motor fuse bolt torque pipe flow".split()


def document(doc_id: str, text: str, **metadata: Any) -> Document:
    return Document(doc_id, text, "", metadata)


def sweep(documents: list[Document], queries: list[Query], **grid: Any) -> Measured:
    encoder, rerankers = grid.pop("encoder", None) or GivenEncoder(), grid.pop("rerankers", None)
    measure = lab.Measure(metrics=(grid.pop("metric", "recall@1"), "ndcg@10"))
    grid = {"chunk_strategy": "document", "mode": "bm25", **grid}
    models = {"encoders": {MODEL: encoder}, "rerankers": rerankers or {}}
    return measured(
        Corpus(documents), queries, lab.Grid(**grid), measure, cache=IN_MEMORY, **models
    )


def stages(documents: list[Document], queries: list[Query], size: int = 0) -> Stages:
    chunk = ChunkConfig(size=size) if size else ChunkConfig(strategy="document")
    resources = Resources(Cache(None), encoders={MODEL: GivenEncoder()})
    return Stages(Indexes(Corpus(documents), chunk, resources), Questions.of(queries))


def hits(stage: Stages, ranking: Ranking, query: int = 0) -> list[str]:
    return [stage.chunking[chunk].chunk_id for chunk in ranking.hits(query)]


# --- variants


def test_reciprocal_ranks_on_paper() -> None:
    own = ranking_of([{4: 3.0, 7: 2.0, 9: 1.0}, {1: 0.5}], 10)
    others = ranking_of([{7: 9.0, 5: 8.0}, {7: 1.0, 4: 0.5}], 10)
    fused = fuse_wordings(own, others, np.array([0, 0]), 10)
    expected = {7: 1 / 62 + 1 / 61 + 1 / 61, 4: 1 / 61 + 1 / 62, 5: 1 / 62, 9: 1 / 63}
    assert fused.hits(0).tolist() == [7, 4, 5, 9]
    assert fused.scores[0, :4] == pytest.approx(list(expected.values()), abs=1e-15)
    assert fused.hits(1).tolist() == [1]
    assert fused.scores[1, 0] == 0.5  # without variants nothing is changed
    assert fuse_wordings(own, others, np.array([0, 0]), 2).hits(0).tolist() == [7, 4]


rankings = st.lists(st.permutations(range(12)), min_size=1, max_size=4)


@given(rankings, st.randoms())
def test_the_order_of_variants_does_not_matter_and_repeating_a_wording_changes_no_order(
    rows: list[list[int]], draw: Any
) -> None:
    own, *others = [{chunk: float(-place) for place, chunk in enumerate(row)} for row in rows]
    shuffled = draw.sample(others, len(others))
    fused, again = (
        fuse_wordings(ranking_of([own], 12), ranking_of(o, 12), np.zeros(len(o), int), 12)
        for o in (others, shuffled)
    )
    assert fused.chunks.tolist() == again.chunks.tolist()
    assert fused.scores.tolist() == again.scores.tolist()
    same = fuse_wordings(ranking_of([own], 12), ranking_of([own] * 3, 12), np.zeros(3, int), 12)
    assert same.chunks.tolist() == ranking_of([own], 12).chunks.tolist()


@pytest.mark.parametrize("mode", ["bm25", "dense", "hybrid"])
def test_variants_of_identical_text_change_no_order_and_no_score_of_a_metric(mode: str) -> None:
    documents = [document(f"d{i}", " ".join(WORDS[i : i + 3])) for i in range(8)]
    queries = [
        Query(f"q{i}", WORDS[i], evidence=(Evidence(f"d{i}"),), variants=(WORDS[i],) * 2)
        for i in range(4)
    ]
    result = sweep(documents, queries, mode=mode, variants=(False, True))
    assert result.values[0].tolist() == result.values[1].tolist()
    assert result.complete[0].tolist() == result.complete[1].tolist()


def test_a_variant_finds_what_the_question_does_not_and_the_reranker_reads_the_question() -> None:
    documents = [
        document("a", "the pump drips"),
        document("b", "why why"),
        document("c", "nothing"),
    ]
    queries = [Query("q", "why leak", evidence=(Evidence("a"),), variants=("pump drips",))]
    reranker = GivenReranker({"the pump drips": 1.0})
    result = sweep(
        documents,
        queries,
        variants=(False, True),
        rerank_depth=(0, 5),
        rerank_model="words",
        rerankers={"words": reranker},
    )
    assert result.systems == (
        "document bm25",
        "document bm25 rerank=words@5",
        "document bm25 variants",
        "document bm25 rerank=words@5 variants",
    )
    assert result.values[:, 0, 0].tolist() == [
        0,
        0,
        1,
        1,
    ]  # at rank 1 both score 1 / 61, and a is before b
    assert {question for question, _ in reranker.scored} == {"why leak"}
    table = run_of(result).causes()
    assert table["cause"].tolist() == ["lexical_gap", "lexical_gap"]
    assert table["recovered_by"].tolist() == [["variants on"]] * 2
    assert table["verified"].all()


def test_switches_that_no_question_uses_stand_once_and_are_told() -> None:
    documents, queries = (
        [document("a", "pump", year=1)],
        [Query("q", "pump", evidence=(Evidence("a"),))],
    )
    result = sweep(documents, queries, variants=(False, True), filter=True)
    assert result.systems == ("document bm25",)
    assert [
        note.split(":")[0] for note in result.account.notes if "makes no difference" in note
    ] == [
        "retrieve.variants makes no difference",
        "retrieve.filter makes no difference",
    ]


def test_the_columns_of_the_table_and_the_round_trip() -> None:
    config = Config(bm25=BM25Config(synonyms="a/b.txt"), variants=True, filter=True)
    assert Config.from_toml(config.to_toml()) == config
    assert Config.from_toml(Config().to_toml()) == Config()
    assert config.name == "fixed-400 bm25 b.txt variants filter"
    settings_of = config.settings()
    assert (settings_of["synonyms"], settings_of["variants"], settings_of["filter"]) == (
        "a/b.txt",
        True,
        True,
    )
    with pytest.raises(lab.LabError, match=r"retrieve\.variants is 'yes'"):
        lab.Grid(variants="yes")


# --- filters

filters = st.fixed_dictionaries({"year": st.fixed_dictionaries({"gte": st.integers(2018, 2024)})})
texts = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=3, max_size=9
)


@settings(max_examples=40, deadline=None)
@given(
    texts,
    st.lists(st.integers(2018, 2024), min_size=9, max_size=9),
    filters,
    st.sampled_from(["exact", "hnsw", "ivf"]),
    st.sampled_from([("text",), ("text", "title")]),
)
def test_a_filter_is_searching_what_passes(
    found: list[str], years: list[int], plain: Any, index: str, views: tuple[str, ...]
) -> None:
    """Dense: ranking and scores are those of a corpus of the passing documents, whatever the index.
    Candidates: the same chunks. BM25: the order is the unfiltered one without what does not pass,
    for its statistics stay those of all documents."""
    documents = [
        Document(f"d{i}", text, WORDS[i] if i % 3 else "", {"year": year})
        for i, (text, year) in enumerate(zip(found, years, strict=False))
    ]
    passing = [d for d in documents if d.metadata["year"] >= plain["year"]["gte"]]
    query = Query("q", "pump leak fuse", filter=Filter.of(plain))
    bm25_config, dense_config = BM25Config(views=views), DenseConfig(index=index, views=views)
    config = Config(
        bm25=bm25_config, dense=dense_config, fusion=FusionConfig(), filter=True, depth=3
    )
    whole = stages(documents, [query], 20)
    view = whole.asked_by(config)
    dense, bm25 = view.dense_leg(dense_config, 3), view.bm25_leg(bm25_config, 3)
    every = hits(whole, whole.bm25_leg(bm25_config, 1000))
    kept = {d.doc_id for d in passing}
    assert hits(view, bm25) == [chunk for chunk in every if chunk.rpartition(":")[0] in kept][:3]
    if not passing:
        assert not hits(view, dense)
        assert not hits(view, view.first_stage(config))
        return
    alone = stages(passing, [query], 20)
    titled = any(d.title for d in passing)  # a view that no document has is refused
    expected = alone.dense_leg(DenseConfig(views=views if titled else ("text",)), 3)
    assert hits(view, dense) == hits(alone, expected)
    assert (
        dense.scores[dense.chunks != NONE].tolist()
        == expected.scores[expected.chunks != NONE].tolist()
    )
    candidates = view.candidates(bm25_config, dense_config, 3)
    assert set(hits(view, Ranking(candidates.chunks, candidates.dense))) == set(
        hits(view, dense)
    ) | set(hits(view, bm25))


def test_bm25_statistics_stay_those_of_all_documents() -> None:
    documents = [
        document("a", "pump", lang="en"),
        document("b", "pump", lang="de"),
        document("c", "seal", lang="en"),
    ]
    stage = stages(documents, [Query("q", "pump", filter=Filter.of({"lang": "en"}))])
    filtered = stage.asked_by(Config(filter=True)).bm25_leg(BM25Config(), 10)
    plain = stage.bm25_leg(BM25Config(), 10)
    assert filtered.hits(0).tolist() == [0]
    assert filtered.scores[0, 0] == plain.scores[0, 0]


def test_each_question_has_its_own_filter_and_one_without_searches_all() -> None:
    documents = [document("a", "pump", lang="en"), document("b", "pump", lang="de")]
    queries = [
        Query(f"q{n}", "pump", filter=Filter.of({"lang": one}))
        for n, one in enumerate(("de", "en", "de"))
    ]
    queries.append(Query("q3", "pump"))
    view = stages(documents, queries).asked_by(Config(filter=True))
    assert [view.bm25_leg(BM25Config(), 5).hits(query).tolist() for query in range(4)] == [
        [1],
        [0],
        [1],
        [0, 1],
    ]


LEFT_OUT = [
    document("old", "the pump leaks at the seal", year=2018),
    document("new", "the pump is new", year=2022),
    document("other", "fuse and bolt", year=2023),
]


@pytest.mark.parametrize("reranked", [False, True])
def test_evidence_that_the_filter_leaves_out_is_cut_with_the_condition_and_the_proof(
    reranked: bool,
) -> None:
    recent = Filter.of({"year": {"gte": 2020}})
    queries = [
        Query("q1", "pump leaks seal", evidence=(Evidence("old"),), filter=recent),
        Query("q2", "fuse", evidence=(Evidence("old"),), filter=recent),
        Query("q3", "fuse", evidence=(Evidence("other"),), filter=recent),
    ]
    more: dict[str, Any] = {"rerank_depth": 5, "rerank_model": "words"} if reranked else {}
    scores = {"the pump leaks at the seal": 1.0, "fuse and bolt": 2.0}
    result = sweep(
        LEFT_OUT, queries, filter=True, rerankers={"words": GivenReranker(scores)}, **more
    )
    causes = run_of(result).causes().set_index("query_id")
    assert causes.loc["q1", ["cause", "verified", "remedy"]].tolist() == ["cut", True, "no filter"]
    assert causes.loc["q1", "filtered_by"] == ["old: year >= 2020, but it has 2018"]
    # Without the filter its document is still not found: the filter loses it, but lifting it proves
    # nothing.
    assert causes.loc["q2", ["cause", "verified"]].tolist() == ["cut", False]
    assert "mend the filter" in causes.loc["q2", "remedy"]
    assert set(causes.index) == {"q1", "q2"}
    assert any(
        note.startswith("filtered evidence: the filter of 2 questions")
        for note in result.account.notes
    )


def test_an_alternative_that_passes_is_looked_for_like_any() -> None:
    wanted = Query(
        "q", "pump leaks", evidence=(Evidence("old", group="x"), Evidence("new", group="x"))
    )
    with_filter = Query(
        "q", "pump", evidence=wanted.evidence, filter=Filter.of({"year": {"gt": 2018}})
    )
    assert sweep(LEFT_OUT, [with_filter], filter=True).values[0, 0, 0] == 1


# --- accounts


def mixed_world() -> tuple[list[Document], list[Query]]:
    draw = np.random.default_rng(7)
    documents = [
        document(
            f"d{i:02d}",
            " ".join(draw.choice(WORDS, 40)),
            year=int(draw.integers(2015, 2024)),
            lang="en" if i % 3 else "de",
        )
        for i in range(24)
    ]
    queries = []
    for n in range(24):
        start = int(draw.integers(0, 150))
        text = documents[n].text
        start, end = text.rfind(" ", 0, start) + 1, text.find(" ", start + 25)
        queries.append(
            Query(
                f"q{n:02d}",
                " ".join(draw.choice(WORDS, 3)),
                kind="a" if n % 2 else "b",
                evidence=(Evidence(f"d{n:02d}", start, end if end > 0 else len(text)),)
                if n % 8
                else (),
                variants=tuple(" ".join(draw.choice(WORDS, 2)) for _ in range(n % 3)),
                filter=Filter.of({"year": {"gte": 2018}, "lang": {"ne": "fr"}}) if n % 2 else None,
            )
        )
    return documents, queries


@pytest.fixture(scope="module")
def mixed() -> Measured:
    documents, queries = mixed_world()
    return sweep(
        documents,
        queries,
        chunk_strategy="fixed",
        chunk_size=30,
        mode=("bm25", "dense", "hybrid"),
        alpha=(0.0, 0.3, 1.0),
        depth=7,
        deliver=("chunk", "window(1)"),
        rerank_depth=(0, 4),
        rerank_model="words",
        rerankers={"words": GivenReranker({})},
        variants=(False, True),
        filter=(False, True),
        metric="recall@5",
    )


def test_the_grid_is_whole_and_every_miss_is_accounted_for(mixed: Measured) -> None:
    assert len(mixed.systems) == 3 * 2 * 2 * 2 * 2
    causes = run_of(mixed).causes()
    missed = (mixed.complete > 5).sum(axis=1)
    assert (
        causes.groupby("system", observed=False).size()[list(mixed.systems)].tolist()
        == missed.tolist()
    )
    assert {"cut"} < set(causes["cause"])
    for system in mixed.systems:
        steps = run_of(mixed).waterfall(system)
        for _, of in steps.groupby("kind"):
            assert of["lost"].sum() + of["left"].iloc[-1] == pytest.approx(1, abs=1e-9)


def test_filtered_causes_are_those_of_systems_that_filter(mixed: Measured) -> None:
    causes, systems = run_of(mixed).causes(), run_of(mixed).table().set_index("system")
    cut = causes[causes["filtered_by"].astype(bool)]
    assert len(cut)
    assert systems.loc[cut["system"], "filter"].all()
    assert set(cut["cause"]) == {"cut"}
    documents = {d.doc_id: d.metadata["year"] for d in mixed.plan.corpus}
    left_out = {
        q.query_id
        for q in mixed.plan.pieces.queries
        if q.filter and documents[q.evidence[0].doc_id] < 2018
    }
    filtering = systems.index[systems["filter"].astype(bool)]
    assert {(s, q) for s in filtering for q in left_out} == set(
        zip(cut["system"], cut["query_id"], strict=True)
    )
    # Proved exactly where the same system without filter has the piece.
    complete = dict(zip(mixed.systems, mixed.complete, strict=True))
    place = {q.query_id: n for n, q in enumerate(mixed.plan.pieces.queries)}
    for row in cut.itertuples():
        assert row.verified == (
            complete[
                row.system.removesuffix(" window(1)").replace(" filter", "")
                + (" window(1)" if row.system.endswith("window(1)") else "")
            ][place[row.query_id]]
            <= 5
        )


def test_no_alpha_curve_is_drawn_for_fused_variants_and_the_others_hold(mixed: Measured) -> None:
    names = [family.name for family in mixed.findings.families]
    assert names
    assert not [name for name in names if "variants" in name]
    assert any("filter" in name for name in names)
    causes = run_of(mixed).causes()
    assert causes.loc[causes["system"].str.contains("variants"), "alpha_low"].isna().all()
    # The exact curve of a filtered family agrees with the filtered systems at their alphas.
    for family in mixed.findings.families:
        for alpha in (0.0, 0.3, 1.0):
            config = family.config.model_copy(update={"fusion": FusionConfig(alpha=alpha)})
            own = mixed.complete[mixed.systems.index(reduced(config).name)]
            drawn = np.concatenate([curve.at(np.array([alpha]))[:, 0] for curve in family.curves])
            within = np.minimum(own, drawn) <= family.cap
            assert drawn[within].tolist() == own[within].tolist()


def test_ranks_of_the_stages_belong_together(mixed: Measured) -> None:
    rows = run_of(mixed).tables.rankings
    plain = rows[rows["system"].astype(str) == "fixed-30 bm25 depth=7 variants"]
    # A leg alone is the system: its fused rank is the rank.
    shown = plain[plain["rank"] > 0]
    assert (shown["bm25_rank"] == shown["rank"]).all()
    hybrid = rows[rows["system"].astype(str) == "fixed-30 hybrid alpha=0.3 depth=7 variants"]
    shown = hybrid[hybrid["rank"] > 0]
    assert (shown["fused_rank"] == shown["rank"]).all()


def test_a_graft_under_variants_and_filters_ranks_as_a_system_that_has_it() -> None:
    """A split piece: the whole chunk put in its place ranks as it does where nothing is cut."""
    half = "pump seal valve leak "
    documents = [
        document("d", (half + half.replace("pump", "motor")).strip(), year=2022),
        document("e", "flow " * 8, year=2022),
    ]
    evidence = Evidence("d", 0, len(documents[0].text))
    query = Query(
        "q",
        "pump",
        evidence=(evidence,),
        variants=("seal", "flow pipe"),
        filter=Filter.of({"year": 2022}),
    )
    result = sweep(
        documents, [query], chunk_strategy="fixed", chunk_size=21, variants=True, filter=True
    )
    causes = run_of(result).causes()
    assert causes["cause"].tolist() == ["split"]
    whole = sweep(documents, [query], variants=True, filter=True)
    assert whole.values[0, 0, 0] == 1
    assert causes["verified"].all()


def test_synonyms_close_a_lexical_gap_and_the_terms_tell_them(tmp_path: Path) -> None:
    file, idle = tmp_path / "rules.txt", tmp_path / "idle.txt"
    file.write_text("leak, drip\n", "utf-8")
    idle.write_text("leak, seep\n", "utf-8")
    documents = [document("a", "drip tray"), document("b", "pump")]
    queries = [
        Query("q", "leak", evidence=(Evidence("a"),)),
        Query("p", "pump", evidence=(Evidence("b"),)),
    ]
    result = sweep(documents, queries, synonyms=("", str(file), str(idle)))
    assert result.systems == ("document bm25", "document bm25 rules.txt", "document bm25 idle.txt")
    assert result.values[:, 1, 0].tolist() == [0, 1, 0]
    causes = run_of(result).causes().set_index("system")
    assert causes.loc["document bm25", "remedy"] == "synonyms rules.txt"
    unmatched = [{"term": "leak", "reason": "not in the corpus"}]
    assert causes.loc["document bm25", "unmatched"] == unmatched
    unmatched.append({"term": "seep", "reason": "not in the corpus"})
    assert causes.loc["document bm25 idle.txt", "unmatched"] == unmatched
    assert [note for note in result.account.notes if note.startswith("no lexical hit")] == [
        "no lexical hit: 1 question without a term of the corpus under analyzer 'auto': q",
        "no lexical hit: 1 question without a term of the corpus under analyzer 'auto' with "
        "idle.txt: q",
    ]
    before = result.account.identities[f"synonyms {file}"]
    file.write_text("leak, drip, ooze\n", "utf-8")
    assert (
        sweep(documents, queries, synonyms=str(file)).account.identities[f"synonyms {file}"]
        != before
    )


def test_the_run_folder_tells_of_variants_and_filters(mixed: Measured, tmp_path: Path) -> None:
    run = read_run(write_run(run_of(mixed).tables, tmp_path / "run"))
    questions = run.tables.questions.set_index("query_id")
    assert questions.loc["q01", "filter"] == '{"year": {"gte": 2018}, "lang": {"ne": "fr"}}'
    assert questions.loc["q00", "variants"] == []
    assert pd.isna(questions.loc["q00", "filter"])
    assert questions.loc["q01", "variants"]
    assert run.queries == mixed.plan.queries
    assert set(run.table()["variants"]) == {False, True}
    assert pd.api.types.is_bool_dtype(run.table()["filter"])


def test_questions_without_evidence_are_asked_with_their_filters(mixed: Measured) -> None:
    table = run_of(mixed).separation()
    assert set(table["system"]) == set(mixed.systems)
    by_words = table[table["stage"] == "bm25"].set_index("system")["auc"]
    assert by_words["fixed-30 bm25 depth=7 variants"] == by_words["fixed-30 bm25 depth=7"]


def test_given_nothing_to_fuse_or_filter_a_view_is_the_stage_itself() -> None:
    stage = stages(LEFT_OUT, [Query("q", "pump")])
    assert stage.asked_by(Config()) is stage
    plain, reworded = (
        stage.bm25_leg(BM25Config(), 3),
        stage.asked_by(Config(variants=True)).bm25_leg(BM25Config(), 3),
    )
    assert reworded.chunks.tolist() == plain.chunks.tolist()
    assert (plain.chunks == NONE).any()
    assert RerankConfig().blend == 1


def test_distractors_pass_the_filter_that_the_evidence_passes() -> None:
    query = Query(
        "q", "pump new", evidence=(Evidence("new"),), filter=Filter.of({"year": {"gte": 2020}})
    )
    corpus = Corpus(LEFT_OUT)
    (made,) = distractors([query], source_of(corpus, [query], None), "duplicate", 1, 0)
    assert made.metadata == {"year": 2022, "injected": "duplicate", "query_id": "q"}


def test_the_example_shows_what_each_part_does_and_the_readme_says_so() -> None:
    experiment = read_experiment(ROOT / "experiments" / "query_side.toml")
    corpus = lab.read_corpus(experiment.corpus)
    queries = lab.read_diagnostics(experiment.diagnostic_sets, corpus)
    table = lab.sweep(corpus, queries, experiment.grid, experiment.measure, cache=IN_MEMORY).table()
    readme = (ROOT / "lab" / "README.md").read_text("utf-8")
    told = [line.split()[:6] for line in readme.splitlines()]
    for row in table.to_dict("records"):
        switches = [
            Path(row["synonyms"]).name or "-",
            *("on" if row[name] else "-" for name in ("variants", "filter")),
        ]
        if switches.count("-") > 1:
            assert [
                *switches,
                *(f"{row[metric]:.3f}" for metric in ("recall@1", "precision@3", "ndcg@10")),
            ] in told
