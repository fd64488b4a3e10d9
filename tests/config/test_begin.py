"""lab init: a file for documents at hand that reads as it stands, says every default, and
overwrites nothing."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lab.config.fitting as fitting_module
from lab.cli import app
from lab.config.begin import begin
from lab.config.demo import PARTS, write_demo
from lab.config.experiment import read_experiment
from lab.config.fitting import MULTILINGUAL, fitting
from lab.config.measure import Measure
from lab.config.settings import SETTINGS, TABLES
from lab.corpus.document import Corpus, Document
from lab.corpus.read import read_corpus
from lab.errors import ConfigError
from lab.retrieval.config import DEFAULT_MODEL
from lab.retrieval.encoder import SentenceEncoder
from tests.conftest import ROOT

CORPORA = ("contracts", "devices", "handbook-zh", "software")
COMMENTED = re.compile(r"^# (?=\w+ = |\[\w+\]$)", re.M)


def begun(name: str, folder: Path) -> Path:
    sets = [ROOT / "diagnostic_sets" / name]
    return begin(ROOT / "corpora" / name, sets, folder / f"{name}.toml").file


@pytest.mark.parametrize("name", CORPORA)
def test_a_comment_states_the_default(name: str, tmp_path: Path) -> None:
    file = begun(name, tmp_path)
    text = file.read_text("utf-8")
    without_own = text.partition("# A system of your own")[0]
    assert len(COMMENTED.findall(without_own)) > 20
    # Blocks of [features] with a weight of 0 count as none.
    (tmp_path / "said.toml").write_text(COMMENTED.sub("", without_own), "utf-8")
    short, said = read_experiment(file), read_experiment(tmp_path / "said.toml")
    assert said.measure == short.measure
    assert [c.name for c in said.grid.systems()[0]] == [c.name for c in short.grid.systems()[0]]
    assert said.grid.systems()[0] == short.grid.systems()[0]
    assert len(short.grid.systems()[0]) > 10


def test_every_setting_stands_in_it(tmp_path: Path) -> None:
    text = begun("devices", tmp_path).read_text("utf-8")
    for table, keys in TABLES.items():
        body = text.partition(f"[{table}]\n")[2].partition("\n[")[0]
        for key in keys:
            assert re.search(rf"^(# )?{key}( =|: not set)", body, re.M), (table, key)
    measure = text.partition("[measure]\n")[2]
    assert all(re.search(rf"^(# )?{key} =", measure, re.M) for key in Measure.model_fields)
    assert "[[retriever]]" in text
    assert set(SETTINGS) - {name for keys in TABLES.values() for name in keys.values()} == {
        "features"
    }


@pytest.mark.parametrize("name", CORPORA)
def test_sizes_fit_the_paragraphs_and_the_model(name: str) -> None:
    corpus = read_corpus(ROOT / "corpora" / name)
    fits = fitting(corpus)
    assert fits.sizes
    assert fits.sizes[0] <= max(100, fits.paragraph)
    assert fits.sizes[-1] <= fits.room
    if fits.model == DEFAULT_MODEL:
        encoder = SentenceEncoder(fits.model)
        texts = [document.text[: fits.sizes[-1]] for document in corpus]
        over = sum(len(encoder.offsets(text)) > encoder.max_tokens for text in texts)
        assert over <= len(texts) / 4


GERMAN = (
    "Die Pumpe verliert Öl an der Dichtung. Der Ring ist zu tauschen, bevor die Anlage wieder "
    "in Betrieb genommen wird. Das Ventil öffnet bei neun Bar."
)
ENGLISH = (
    "The pump loses oil at the seal. The ring has to be replaced before the machine is taken "
    "into use again. The valve opens at nine bar, and it must not be adjusted."
)


@pytest.mark.parametrize(
    ("text", "model"),
    [
        (ENGLISH, DEFAULT_MODEL),
        (GERMAN, MULTILINGUAL),
        ("泵在密封处漏油。机器重新启动之前必须更换密封圈。", MULTILINGUAL),
        ("Насос теряет масло у уплотнения. Кольцо надо заменить.", MULTILINGUAL),
        ("1234 5678", MULTILINGUAL),
    ],
)
def test_the_model_reads_the_language(text: str, model: str) -> None:
    assert fitting(Corpus([Document("a", f"{text}\n\n" * 40)])).model == model


def test_short_documents_stay_whole_and_sections_are_used_where_there_are_any() -> None:
    short = fitting(Corpus(Document(str(n), "The pump is off.") for n in range(20)))
    assert (short.strategies, short.sizes) == (("document",), ())
    flat = fitting(Corpus([Document("a", ENGLISH * 30)]))
    assert flat.strategies == ("fixed", "sentences")
    parted = fitting(Corpus([Document("a", f"# Pump\n\n{ENGLISH * 9}\n\n# Seal\n\n{ENGLISH * 9}")]))
    assert parted.strategies == ("fixed", "structure")


def test_without_the_models_bm25_is_begun_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting_module, "find_spec", lambda name: None)
    experiment = read_experiment(begun("devices", tmp_path))
    assert {config.mode for config in experiment.grid.systems()[0]} == {"bm25"}
    assert "retrieval-diagnostics-lab[models]" in (tmp_path / "devices.toml").read_text("utf-8")


def test_nothing_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "devices.toml").write_text("mine")
    with pytest.raises(ConfigError, match="nothing is overwritten"):
        begin(ROOT / "corpora" / "devices", [], None)
    assert (tmp_path / "devices.toml").read_text() == "mine"
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "quickstart.toml").write_text("mine")
    with pytest.raises(ConfigError, match=r"quickstart\.toml: is there already"):
        write_demo(tmp_path)
    assert not (tmp_path / "corpora").exists()


def test_questions_beside_the_documents_are_used_else_mined_ones_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pumps").mkdir()
    for name in ("error-codes-sensors", "cx5-manual", "faq"):
        document = ROOT / "corpora" / "devices" / "documents" / f"{name}.md"
        (tmp_path / "pumps" / document.name).write_bytes(document.read_bytes())
    printed = CliRunner().invoke(app, ["init", "pumps"], catch_exceptions=False).output
    assert "lab probe pumps" in printed
    done = CliRunner().invoke(app, ["probe", "pumps"], catch_exceptions=False)
    assert done.exit_code == 0
    experiment = read_experiment(tmp_path / "pumps.toml")
    assert experiment.diagnostic_sets == (Path("diagnostic_sets/pumps-mined"),)
    sets = '{"query_id": "q", "text": "oil?", "evidence": [{"doc_id": "faq.md"}]}\n'
    (tmp_path / "pumps" / "queries.jsonl").write_text(sets)
    printed = CliRunner().invoke(app, ["init", "pumps", "--out", "again.toml"]).output
    assert "next: lab check again.toml" in printed
    assert read_experiment(tmp_path / "again.toml").diagnostic_sets == (Path("pumps"),)


def test_the_demo_is_what_the_project_brings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(app, ["init", "--demo"], catch_exceptions=False).output
    assert "next: lab run experiments/quickstart.toml" in printed
    written = {file.relative_to(tmp_path) for file in tmp_path.rglob("*") if file.is_file()}
    lying = {
        file.relative_to(ROOT)
        for part in PARTS
        for file in ([ROOT / part] if (ROOT / part).is_file() else (ROOT / part).rglob("*"))
        if file.is_file()
    }
    assert written == lying
    assert all((tmp_path / file).read_bytes() == (ROOT / file).read_bytes() for file in written)
    assert len(read_experiment(tmp_path / "experiments" / "quickstart.toml").grid.systems()[0]) > 9
    with pytest.raises(ConfigError, match="brings its own documents"):
        CliRunner().invoke(app, ["init", "--demo", "x", "y"], catch_exceptions=False)
