"""What pyproject.toml cannot say: the demo's documents, questions and experiment go into the
package from where they lie, so that the repository holds them once."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
DEMO = ("corpora/devices", "diagnostic_sets/devices", "experiments/quickstart.toml")


class BuildWithDemo(build_py):
    """`lab/demo` holds what `lab init --demo` writes; a source tree has it at its root instead."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for name in DEMO:
            source, target = ROOT / name, Path(self.build_lib) / "lab" / "demo" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copyfile(source, target)


setup(cmdclass={"build_py": BuildWithDemo})
