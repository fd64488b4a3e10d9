"""HTML pages to text by lexbor, a parser that follows the standard; offsets count in the result."""

import re
from pathlib import Path
from typing import Any

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection
from lab.importing.formats.decode import decoded, read_bytes
from lab.importing.formats.page import page_text

# Elements that only change how text looks. They are taken out before the page is parsed, as are
# comments and scripts: a parser that follows the standard opens those left open again in every
# paragraph, by which a small page can grow to millions of elements.
LOOKS = (
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small|span|"
    "strike|strong|sub|sup|tt|u|var"
)
REDUCED = re.compile(
    # What has no end reaches to the end of the page, as browsers have it.
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<!(?!--|doctype)[^>]*(?:>|\Z)|<\?[^>]*(?:>|\Z)"
    r"|<(?P<code>script|style)\b.*?(?:</(?P=code)[^>]*>?|\Z)"
    # What stands here is no markup, whatever it looks like.
    r"|(?P<kept><(?P<raw>title|textarea|xmp)\b.*?(?:</(?P=raw)|\Z))"
    rf"|</?(?:{LOOKS})(?=[\s/>])(?:=\s*+(?:\"[^\"]*+\"|'[^']*+')|[^<>])*+>",
    re.IGNORECASE | re.DOTALL,
)
OPENING = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*)")
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
# Elements that need no end tag of their own, and so do not nest.
UNNESTED = frozenset(
    "p li dt dd tr td th tbody thead tfoot option br hr img input meta link area base col embed "
    "source track wbr colgroup caption param".split()
)
# What a parser's work grows with, far past any page that a person made: browsers stop at 512.
DEEPEST = 1000
WIDEST = 2000
DECLARED = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)


def read(path: Path, into: Collection) -> None:
    """One page as one document: its `<main>` where it has one with text, else its body, without
    navigation and the page's header and footer, which are told. Raises CorpusError for pages that
    would keep the parser busy longer than their length tells."""
    content = read_bytes(path, into.budget)
    declared = DECLARED.search(content[:4000])
    source = decoded(path, content, into, declared[1].decode("ascii") if declared else "")
    into.read_by("selectolax")
    page = _parsed(path, source)
    text, left = page_text(page.root)
    if left:
        into.note(str(path), "dropped", "page frame", f"beside the page's own text (words: {left})")
    if not text:
        into.note(
            str(path),
            "suspicious",
            "empty page",
            "no text is left without markup; is it drawn by a script?",
        )
    title = page.css_first("title")
    name = "" if title is None else " ".join(title.text().split())
    into.add_document(str(path), into.name_of(path), text, name)


def _parsed(path: Path, source: str) -> Any:
    from selectolax.lexbor import LexborHTMLParser

    reduced = REDUCED.sub(lambda match: match["kept"] or "", source)
    depth = deepest = before = 0
    for match in OPENING.finditer(reduced):
        _check_attributes(path, reduced, before, match.start())
        before = match.end()
        if match[2].lower() not in UNNESTED:
            depth = max(depth - 1, 0) if match[1] else depth + 1
            deepest = max(deepest, depth)
    _check_attributes(path, reduced, before, len(reduced))
    if deepest > DEEPEST:
        raise CorpusError(
            f"{path}: elements are nested {deepest} deep; at most {DEEPEST} are read, where "
            "browsers stop at 512"
        )
    return LexborHTMLParser(reduced)


def _check_attributes(path: Path, source: str, begin: int, end: int) -> None:
    """A parser compares every attribute of an element with those before it."""
    if end - begin > 2 * WIDEST:
        inside = source[begin:end].partition(">")[0]
        count = len(QUOTED.sub("", inside).split())
        if count > WIDEST:
            raise CorpusError(
                f"{path}: an element has {count} attributes; at most {WIDEST} are read"
            )
