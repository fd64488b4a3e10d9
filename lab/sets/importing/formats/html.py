"""HTML pages to text: the main text is kept, navigation, scripts and styles are not; offsets count
in the result."""

import re
from html.parser import HTMLParser
from pathlib import Path

from lab.sets.importing.formats.collection import Collection
from lab.sets.importing.formats.decode import decode

SKIPPED = frozenset(
    "script style noscript template nav header footer aside form svg iframe head button "
    "select".split()
)
BLOCKS = frozenset(
    "p div section article main ul ol li table tr h1 h2 h3 h4 h5 h6 pre blockquote br hr dl dt dd "
    "figure figcaption".split()
)
VOID = frozenset("br hr img input meta link area base col embed source track wbr".split())
MAIN = frozenset(("main", "article"))


class _Text(HTMLParser):
    """Collects the text of a page, and of its main or article elements apart."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.everything: list[str] = []
        self.main: list[str] = []
        self._open: list[str] = []
        self._skipped = self._in_main = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS:
            self._put(
                "\n\n" if tag in ("p", "table", "pre", "blockquote") or tag[:1] == "h" else "\n"
            )
        if re.fullmatch("h[1-6]", tag):
            self._put("#" * int(tag[1]) + " ")
        if tag == "li":
            self._put("- ")
        if tag in VOID:
            return
        self._open.append(tag)
        self._skipped += tag in SKIPPED
        self._in_main += tag in MAIN

    def handle_endtag(self, tag: str) -> None:
        # A forgotten end tag is closed with its parent, as browsers do; one that closes nothing is
        # ignored.
        if tag not in self._open:
            return
        while True:
            closed = self._open.pop()
            self._skipped -= closed in SKIPPED
            self._in_main -= closed in MAIN
            if closed in BLOCKS:
                self._put("\n")
            if closed in ("td", "th"):
                self._put("\t")
            if closed == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "title":
            self.title += data
        else:
            self._put(data if "pre" in self._open else self._flowing(data))

    def _flowing(self, data: str) -> str:
        """White space folded to one blank, and to none at the beginning of a line."""
        folded = re.sub(r"\s+", " ", data)
        return (
            folded.lstrip() if not self.everything or self.everything[-1].endswith("\n") else folded
        )

    def _put(self, text: str) -> None:
        if not self._skipped:
            self.everything.append(text)
            if self._in_main:
                self.main.append(text)


def read(path: Path, into: Collection) -> None:
    """One page as one document: its `<main>` or `<article>` where it has one with text, else the
    body without the frame."""
    page = _Text()
    page.feed(decode(path, into))
    page.close()
    text = _tidy(page.main) or _tidy(page.everything)
    if not text:
        into.note(
            str(path),
            "suspicious",
            "empty page",
            "no text is left without markup; is it drawn by a script?",
        )
    into.add_document(str(path), into.name_of(path), text, " ".join(page.title.split()))


def _tidy(parts: list[str]) -> str:
    text = re.sub(r"[ \t]+\n", "\n", "".join(parts))
    return re.sub(r"\n{3,}", "\n\n", text).strip()
