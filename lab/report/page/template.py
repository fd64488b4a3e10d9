"""The templates of `html/`: everything put into them is escaped, but for the lab's own style,
script and figures."""

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lab.config.rows import is_absent
from lab.errors import counted
from lab.report.glossary import Glossary

if TYPE_CHECKING:
    from jinja2 import Template


def template(name: str) -> "Template":
    """A template with the filters of the report."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "number": _number,
        "signed": _signed,
        "p_value": _p,
        "baseline_words": _baseline_words,
        "parts": Glossary().parts,
        "counted": counted,
    }
    return environment.from_string(html_file(name))


def html_file(name: str) -> str:
    """A file of `html/` as text."""
    return (files("lab.report.page") / "html" / name).read_text("utf-8")


def trusted(text: str) -> Any:
    """Text of the lab itself, not of a document: it is put into the page as it is."""
    from markupsafe import Markup

    return Markup(text)


def _number(value: float) -> str:
    return "–" if is_absent(value) else f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _p(value: float) -> str:
    return "1" if not value < 1 else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _baseline_words(label: str) -> str:
    return (
        "the best BM25 system without a reranker"
        if "bm25" in label
        else "the first system of the grid"
    )
