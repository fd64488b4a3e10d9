"""Console: where text goes to a terminal. What documents, questions and names hold is shown, never
obeyed: no markup, no emoji codes, no control characters."""

import json
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from lab.errors import SHAPED, visible

# JSON may hold these as they are; a terminal would obey them.
ESCAPED = {code: f"\\u{code:04x}" for code in SHAPED if code >= 0x7F}


class TextConsole(Console):
    """A console to which all text is text."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        return super().render_str(visible(text, shaped=True), **settings)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        if isinstance(renderable, Text) and (shown := visible(renderable.plain, True)):
            renderable = renderable.copy()
            renderable.plain = shown
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(visible(segment.text, shaped=True), segment.style)


def say(text: str, err: bool = False) -> None:
    """Print text as it is, on lines of its own."""
    print(visible(text, shaped=True), file=sys.stderr if err else sys.stdout, flush=True)


def say_json(record: Any) -> None:
    """Print a record, or JSON that is written already, for machines."""
    text = record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)
    print(text.translate(ESCAPED), flush=True)
