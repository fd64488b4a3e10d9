"""A wheel brings the demo, from the one place where it lies."""

import subprocess
import sys
from pathlib import Path

import pytest

from lab.config.demo import PARTS
from tests.conftest import ROOT


def test_a_build_holds_the_demo_and_the_repository_holds_it_once(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="a build needs setuptools")
    build = [
        "-q",
        "build",
        "--build-base",
        str(tmp_path / "build"),
        "egg_info",
        "-e",
        str(tmp_path),
    ]
    subprocess.run([sys.executable, "setup.py", *build], cwd=ROOT, check=True, capture_output=True)
    demo = tmp_path / "build" / "lib" / "lab" / "demo"
    lying = [
        file
        for part in PARTS
        for file in ([ROOT / part] if (ROOT / part).is_file() else (ROOT / part).rglob("*"))
        if file.is_file()
    ]
    assert len(lying) > 40
    for file in lying:
        assert (demo / file.relative_to(ROOT)).read_bytes() == file.read_bytes()
    assert not (ROOT / "lab" / "demo").exists()
