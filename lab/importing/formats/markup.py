"""SGML as TREC's collections have it: tags of any name among text in which `<` may be less than."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

NAME = r"[A-Za-z][A-Za-z0-9_.:-]*"
VALUE = r"(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s<>\"'=]+)"
ALONE = "nowrap|compact|noshade|checked|selected|disabled|ismap|multiple|noresize"
# A name with attributes that have values, or none: `pH < 6.5 was held; at > 41` is no tag.
TAG = re.compile(
    rf"<(?P<end>/?)(?P<name>{NAME})"
    rf"(?:\s{{1,9}}(?:{NAME}\s{{0,9}}=\s{{0,9}}{VALUE}|(?:{ALONE})\b))*\s{{0,9}}/?>"
    r"|<!--(?:(?!-->).){0,2000}-->|<!(?:DOCTYPE|ENTITY|ELEMENT)\b[^<>]{0,500}>",
    re.IGNORECASE | re.DOTALL,
)
ENDS = re.compile(rf"</({NAME})\s*>")
# Entities that end as they should, so that `R&D` and `a &lt b` stay as written.
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
# Names that TREC's collections use in their own sense.
COLLECTION = {"&hyph;": "-", "&blank;": " "}
# Elements that part no words.
INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code dfn em font i ins kbd mark nobr q s samp small span "
    "strike strong sub sup tt u var".split()
)
# Elements of HTML that stand in such files without an end tag.
HTML = INLINE | frozenset(
    "address blockquote body br caption center col dd del div dl dt form h1 h2 h3 h4 h5 h6 head hr "
    "html img input li link meta ol option p pre script select style table tbody td textarea tfoot "
    "th thead title tr ul".split()
)


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag: its name in lower case, whether it is an end tag, and where it stands."""

    name: str
    ends: bool
    start: int
    end: int


class Markup:
    """The text of one file. A name counts as a tag where HTML knows it, where the file ends it
    somewhere, or where `known` says so: `x<y>z` has none."""

    def __init__(self, text: str, known: frozenset[str]) -> None:
        self.text = text
        self._names = HTML | known | {match[1].lower() for match in ENDS.finditer(text)}

    def tags(self, start: int = 0, end: int | None = None) -> Iterator[Tag]:
        """The tags of a stretch, in order; comments and declarations with an empty name."""
        for match in TAG.finditer(self.text, start, len(self.text) if end is None else end):
            name = (match["name"] or "").lower()
            if not name or name in self._names:
                yield Tag(name, bool(match["end"]), *match.span())

    def plain(self, start: int, end: int) -> str:
        """A stretch without its tags: a line break stands for those between two words that they
        part."""
        parts, before = [], start
        for tag in self.tags(start, end):
            parts.append(self.text[before : tag.start])
            neighbours = self.text[tag.start - 1 : tag.start] + self.text[tag.end : tag.end + 1]
            if tag.name and tag.name not in INLINE and not any(map(str.isspace, neighbours)):
                parts.append("\n")
            before = tag.end
        text = "".join([*parts, self.text[before:end]])
        return ENTITY.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    return COLLECTION.get(match[0].lower(), html.unescape(match[0]))
