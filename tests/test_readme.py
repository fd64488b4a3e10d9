"""The READMEs tell the truth: their Python runs, their commands run, and what these print stands
in them."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lab.config.experiment import read_experiment
from tests.conftest import ROOT

README = ROOT / "README.md"
CHINESE = ROOT / "README.zh.md"
PAGES = (
    README,
    CHINESE,
    *(
        ROOT / f"{folder}/README.md"
        for folder in ("lab", "diagnostic_sets", "corpora", "experiments", "tests")
    ),
)
TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.M | re.S)
PYTHON = [body for language, body in BLOCKS if language == "python"]
CONSOLE = [body for language, body in BLOCKS if language == "console"]
# Commands whose output is quoted and which need neither public data nor an earlier run.
RUNNABLE = [body for body in CONSOLE if "../shared" not in body and "runs/" not in body]


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("body", PYTHON)
def test_python_blocks_run(body: str, tmp_path: Path) -> None:
    body = body.replace('"runs/', f'"{tmp_path.as_posix()}/')
    exec(compile(body, "README.md", "exec"), {})
    assert [*tmp_path.iterdir()], "the block writes a run"


def test_toml_blocks_parse_and_experiments_are_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    experiments = 0
    for language, body in BLOCKS:
        if language == "toml" and "corpus" in tomllib.loads(body):
            file = tmp_path / "experiment.toml"
            file.write_text(body, "utf-8")
            assert read_experiment(file).grid.systems()[0]
            experiments += 1
    assert experiments


def test_there_are_commands_to_run() -> None:
    assert RUNNABLE


@pytest.mark.parametrize("body", RUNNABLE)
def test_console_blocks_print_what_they_say(body: str) -> None:
    command, _, quoted = body.partition("\n")
    arguments = shlex.split(command.removeprefix("$ "))
    assert arguments[0] == "lab"
    done = subprocess.run(
        [sys.executable, "-c", "from lab.cli import main; main()", *arguments[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    printed = words(done.stdout)
    for line in quoted.splitlines():
        assert words(line) in printed, line


def test_every_command_is_named() -> None:
    from lab.cli import COMMANDS

    for name in COMMANDS:
        assert f"`lab {name}" in TEXT, name


def test_the_first_page_is_short() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 220


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


def headings(page: Path) -> int:
    return sum(line.startswith("#") for line in page.read_text("utf-8").splitlines())


def test_the_chinese_page_has_every_part_and_command_of_the_english() -> None:
    """A block whose output is quoted, and every name of a command or file, stand in both."""
    english, chinese = README.read_text("utf-8"), CHINESE.read_text("utf-8")
    assert headings(CHINESE) >= headings(README) - english.count("\n# ")
    assert re.findall(r"^```(\w*)$", chinese, re.M) == re.findall(r"^```(\w*)$", english, re.M)
    named = set(re.findall(r"`lab [a-z-]+", english)) | set(re.findall(r"\]\(([^)#]+)\)", english))
    lacking = {word for word in named - {"README.zh.md"} if word not in chinese}
    assert not lacking
    console = re.findall(r"^```console\n(.*?)^```$", english, re.M | re.S)
    assert all(body in chinese for body in console)
