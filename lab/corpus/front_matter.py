"""Front matter: what the head of a Markdown file says of it. Read without a YAML library, for data
must run no code; what it cannot read is taken for text."""

import re
from typing import Any

MARK = re.compile(r"---[ \t]*(?:\r\n|\n|\r)")
LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
FIELD = re.compile(r"(?P<key>[^\W\d][\w .-]{0,80}|'[^']{1,80}'|\"[^\"]{1,80}\")[ \t]*:(?:[ \t]+|$)")
COMMENT = re.compile(r"\s#.*$")
BLOCKS = {"|", "|-", "|+", ">", ">-", ">+"}
WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}

HEADING = re.compile(r" {0,3}#[ \t]+(?P<title>.*?)(?:[ \t]+#+)?[ \t]*")
FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")


def front_matter(text: str) -> tuple[dict[str, Any], int]:
    """The fields of the front matter and the offset behind it; ({}, 0) where the text does not
    begin with any.

    Fields are `key: value` lines between two lines of `---`. Values are text as written, true and
    false, or lists (`[a, b]`, or `- a` lines); indented lines belong to the field above them.
    """
    mark = MARK.match(text)
    if mark is None:
        return {}, 0
    raw: dict[str, tuple[str, list[str]]] = {}
    key, place = "", mark.end()
    while place < len(text):
        match = LINE.match(text, place)
        assert match is not None  # an empty line matches as well
        line, place = match[1].rstrip(), match.end()
        if line in ("---", "..."):
            return (
                ({name: _value(*parts) for name, parts in raw.items()}, place) if raw else ({}, 0)
            )
        field = FIELD.match(line)
        if field:
            key = field["key"].strip("'\"").strip()
            raw[key] = line[field.end() :].strip(), []
        elif key and (line.startswith((" ", "\t", "- ")) or not line):
            raw[key][1].append(line)
        elif line and not line.startswith("#"):
            return {}, 0
    return {}, 0


def _value(first: str, below: list[str]) -> Any:
    lines = [line.strip() for line in below if line.strip()]
    if first in BLOCKS:
        return ("\n" if first.startswith("|") else " ").join(lines)
    if not first and lines and all(line.startswith("- ") for line in lines):
        return [_scalar(line[2:]) for line in lines]
    if lines:
        return "\n".join([*([first] if first else []), *lines])
    if first.startswith("[") and first.endswith("]"):
        return [_scalar(part) for part in first[1:-1].split(",") if part.strip()]
    return _scalar(first)


def _scalar(text: str) -> Any:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    plain = COMMENT.sub("", text).strip()
    return WORDS.get(plain, plain)


def first_heading(text: str) -> str:
    """The text of the first `# ` heading that stands outside fenced code; empty where there is
    none."""
    fence, place = "", 0
    while place < len(text):
        match = LINE.match(text, place)
        assert match is not None
        line, place = match[1], match.end()
        mark = FENCE.match(line)
        if fence:
            closes = mark and mark["fence"].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if closes else fence
        elif mark:
            fence = mark["fence"]
        elif "#" in line[:4] and (heading := HEADING.fullmatch(line)):
            return heading["title"].strip()
    return ""


def blanked(text: str, end: int) -> str:
    """The text with its first characters blank but for line ends, so that offsets stay those of the
    file."""
    head = re.sub(r"[^\r\n]", " ", text[:end])
    return head + text[end:]
