"""A figure as SVG inside a page: it follows the page's theme, its marks speak and lead somewhere,
and every text in it is text."""

import re
from collections.abc import Mapping
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

from lab.report.figures.ink import INKS
from lab.report.figures.panel import Marks, Panel, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {colour: name for name, colour in INKS.items()}
COLOUR = re.compile("|".join(NAMES), re.IGNORECASE)
# Fonts of the same widths on other machines.
FAMILY = re.compile(r"'DejaVu Sans'[^;\"]*")
FAMILIES = "'DejaVu Sans', Verdana, system-ui, sans-serif"
HEAD = re.compile(r'^.*?<svg [^>]*viewBox="([^"]*)"[^>]*>', re.DOTALL)
OPENING = r'<svg viewBox="\1" xmlns="http://www.w3.org/2000/svg" stroke-linejoin="round">'
METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
IDENTIFIER = re.compile(r' id="([^"]*)"')
REFERENCE = re.compile(r"(?:href=\"|url\()#([^\")]+)")
# An element ends where its own indentation comes again.
MARK = re.compile(r'^( *)<g id="(mark-\d+)">(.*?)\n\1</g>', re.DOTALL | re.MULTILINE)
STYLE_ELEMENT = re.compile(r"\s*<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
# A hundredth of a point is far below what a screen or a printer shows.
DIGITS = re.compile(r"(\d\.\d\d)\d+")
LINES = re.compile(r"\n\s*")


def panel_svg(panel: Panel, salt: str) -> str:
    """One panel, drawn for the page."""
    from matplotlib.figure import Figure

    with styled(salt):
        figure = Figure(figsize=(panel.width, panel.height), layout="constrained")
        marks = Marks()
        panel.draw(figure.add_subplot(), marks)
        return svg_of(figure, marks.words)


def svg_of(figure: "Figure", marks: Mapping[str, tuple[str, str]]) -> str:
    """The SVG element of a figure: colours are the page's variables of their names with the
    figure's own as fallback, ids that nothing refers to are gone. `marks` are the words and
    links of `Marks.words`."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    sink = StringIO()
    figure.patch.set_facecolor("none")
    # `Figure.savefig` would draw everything twice.
    canvas: Any = FigureCanvasSVG(figure)
    canvas.print_svg(sink, metadata={"Date": None, "Creator": None})
    text = METADATA.sub("", sink.getvalue())
    text = HEAD.sub(OPENING, text, count=1)
    text = STYLE_ELEMENT.sub("", text, count=1)
    text = MARK.sub(lambda element: _speaking(element, marks), text)
    kept = set(REFERENCE.findall(text))
    text = IDENTIFIER.sub(lambda name: name[0] if name[1] in kept else "", text)
    text = text.replace("xlink:href", "href")
    text = TAG.sub(lambda tag: FAMILY.sub(FAMILIES, DIGITS.sub(r"\1", tag[0])), text)
    text = COLOUR.sub(lambda colour: f"var(--{NAMES[colour[0].lower()]}, {colour[0]})", text)
    return LINES.sub("\n", text).strip()


def _speaking(element: "re.Match[str]", marks: Mapping[str, tuple[str, str]]) -> str:
    words, link = marks[element[2]]
    inside = f"<title>{escape(words)}</title>{element[3]}"
    if not link:
        return f'<g class="mark">{inside}</g>'
    return f'<a class="mark" href="#{escape(link)}">{inside}</a>'
