"""The text of a parsed page: words as a browser parts them, its main part and its frame told
apart."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

# Never text.
SILENT = frozenset("script style noscript template head title annotation rp".split())
# Never text, but something stands there on the page, so that the words beside it are two.
REPLACED = frozenset(
    "img input select button datalist iframe object embed canvas audio video map".split()
)
# The frame of a page. A <header>, <footer> or <aside> inside an article is its content.
NAVIGATION = frozenset(("nav",))
PAGE_FRAME = frozenset(("header", "footer", "aside"))
SECTIONS = frozenset("article main section blockquote details dialog fieldset figure td".split())
ROLES = {"navigation": "nav", "banner": "header", "contentinfo": "footer", "main": "main"}
BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main menu nav "
    "ol option p pre section summary table tbody text tfoot thead tr ul".split()
)
APART = frozenset("p table pre blockquote h1 h2 h3 h4 h5 h6".split())
SPACED = frozenset(("pre", "textarea", "listing", "xmp"))
HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
BEFORE = {"li": "- ", "rt": "(", **HEADINGS}
AFTER = {"td": "\t", "th": "\t", "rt": ")"}


@dataclass
class _Parts:
    """Text as it comes, white space folded where the page does not keep it."""

    parts: list[str] = field(default_factory=list)
    end: str = "\n\n"

    def put(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.end = (self.end + text)[-2:]

    def begin_line(self, breaks: int) -> None:
        """At least so many line breaks after what stands there."""
        standing = len(self.end) - len(self.end.rstrip("\n"))
        self.put("\n" * (breaks - standing))

    def flow(self, text: str) -> None:
        folded = re.sub(r"\s+", " ", text)
        self.put(folded.lstrip(" ") if self.end[-1] in " \n\t" else folded)

    def tidy(self) -> str:
        """Lines without blanks at their ends, at most one empty one between two."""
        lines = (line.rstrip(" \t") for line in "".join(self.parts).split("\n"))
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def page_text(root: Any) -> tuple[str, int]:
    """The text of a page's main part (`<main>` or that role) where it has one with text, else of
    its body, without its frame; and how many words were left out. A page that is all frame is
    text."""
    everything, main, frame = _Parts(), _Parts(), _Parts()
    spaced = sections = framed = inside = 0
    for opens, node, name in _walk(root):
        frames = name in NAVIGATION or (name in PAGE_FRAME and not sections)
        if opens and name:
            framed += frames or framed > 0
            inside += name == "main"
        into = (frame,) if framed else (everything, main) if inside else (everything,)
        for parts in into:
            _mark(parts, node, name, opens, spaced > 0)
        step = 1 if opens else -1
        spaced += step * (name in SPACED)
        sections += step * (name in SECTIONS)
        if not opens:
            framed -= framed > 0
            inside -= name == "main"
    chosen = main.tidy() or everything.tidy()
    if not chosen:
        return frame.tidy(), 0
    total = len(everything.tidy().split()) + len(frame.tidy().split())
    return chosen, total - len(chosen.split())


def _mark(parts: _Parts, node: Any, name: str, opens: bool, spaced: bool) -> None:
    """What an element's begin or end, or a text, puts onto the page."""
    if name == "":
        text = node.text_content or ""
        (parts.put if spaced else parts.flow)(text)
        return
    if name in REPLACED and opens:
        parts.flow(" ")
    if not opens:
        parts.put(AFTER.get(name, ""))
    if name in BLOCKS:
        parts.begin_line(2 if name in APART else 1)
    if name == "br" and opens:
        parts.put("\n")
    if opens:
        parts.put(BEFORE.get(name, ""))


def _walk(root: Any) -> Iterator[tuple[bool, Any, str]]:
    """Begin and end of every element that is shown, by the name of its role, and texts (with an
    empty name), in order and without recursion."""
    node, open_names = root, list[tuple[Any, str | None]]()
    while node is not None:
        name = _name(node)
        down = None
        if name == "":
            yield True, node, ""
        elif name and name not in SILENT:
            yield True, node, name
            down = None if name in REPLACED else node.child
            if down is None:
                yield False, node, name
        if down is not None:
            open_names.append((node, name))
            node = down
            continue
        while node.next is None and open_names:
            node, name = open_names.pop()
            yield False, node, name or ""
        node = node.next if open_names else None


def _name(node: Any) -> str | None:
    """The element's name, or that of its role; empty for a text, None for what is neither."""
    if node.is_text_node:
        return ""
    if not node.is_element_node:
        return None
    name = str(node.tag)
    role = node.attributes.get("role") if name in ("div", "section", "ul", "header") else None
    return ROLES.get(role or "", name)
