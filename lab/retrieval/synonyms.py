"""Synonyms: rules in the format of Solr and Elasticsearch, applied to the terms of a question,
never to documents."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from lab.corpus.lines import numbered_lines
from lab.errors import ConfigError
from lab.retrieval.analyzer import ANALYZERS, Analyzer

Terms = tuple[str, ...]
Alternatives = tuple[Terms, ...]

# A backslash takes the next character as it is; what is left are arrows, commas and text.
TOKEN = re.compile(r"\\(?P<escaped>.)|(?P<arrow>=>)|(?P<comma>,)|(?P<plain>[^\\,=]+|=|\\)")


@dataclass(frozen=True, slots=True)
class Rule:
    """Any of `left` in a question is searched as all of `right`. Terms are as written and may have
    several words; equivalent terms are both sides of their rule."""

    left: Terms
    right: Terms


@dataclass(frozen=True, slots=True)
class Synonyms:
    """The rules of one file; `identity` is the number of rules and the SHA-256 of the file's
    bytes."""

    rules: tuple[Rule, ...]
    identity: str

    def under(self, analyzer: Analyzer) -> "Expansion":
        """The rules as the analyzer's terms. Rules with the same left side add up; a term without
        terms (a stop word) is left out. The terms of a rule share its right side: a line of n
        equivalent terms takes n places, not n times n."""
        mapping: dict[Terms, list[Alternatives]] = {}
        for rule in self.rules:
            analyzed = (tuple(analyzer(term)) for term in rule.right)
            right = tuple(dict.fromkeys(terms for terms in analyzed if terms))
            lefts = dict.fromkeys(tuple(analyzer(term)) for term in rule.left)
            for left in lefts:
                if left and right:
                    mapping.setdefault(left, []).append(right)
        return Expansion({left: tuple(sides) for left, sides in mapping.items()})


@dataclass(frozen=True, slots=True)
class Expansion:
    """Synonyms under one analyzer: a run of terms -> the runs that are searched for it, those of
    one rule together."""

    mapping: Mapping[Terms, tuple[Alternatives, ...]]

    def __call__(self, terms: Sequence[str]) -> list[str]:
        """The terms that are searched: those of the question, but for runs that a rule replaces,
        then the terms that the rules bring, each once and only where the question has not got it.

        Read from the left, the longest rule wins and its terms are not read again, as Solr's
        SynonymGraphFilter does. A document's score is the sum over these terms like over any
        question's, so it does not matter how many rules bring a term. The words of an alternative
        are terms of their own: no phrase is asked for.
        """
        longest = max(map(len, self.mapping), default=0)
        kept: list[str] = []
        brought: dict[str, None] = {}
        place = 0
        while place < len(terms):
            runs = (
                tuple(terms[place : place + length])
                for length in range(min(longest, len(terms) - place), 0, -1)
            )
            run = next((run for run in runs if run in self.mapping), None)
            if run is None:
                kept.append(terms[place])
                place += 1
                continue
            stays = False
            for alternative in chain.from_iterable(self.mapping[run]):
                if alternative == run:
                    stays = True
                else:
                    brought.update(dict.fromkeys(alternative))
            kept.extend(run if stays else ())
            place += len(run)
        asked = set(kept)
        return kept + [term for term in brought if term not in asked]


def read_synonyms(path: str | Path) -> Synonyms:
    """Read rules, one a line: `a, b, c` are equivalent; `a, b => c, d` searches c and d in place of
    a or b (write a on the right as well to keep it). `#` begins a comment line, a backslash takes
    the next character as it is.

    Raises ConfigError with every line that is no rule.
    """
    path = Path(path)
    problems: list[str] = []
    rules = []
    for number, line in numbered_lines(path, ConfigError):
        if not line.lstrip().startswith("#"):
            rule = _rule(line, f"{path}:{number}", problems)
            rules.extend([rule] if rule else [])
    if not rules and not problems:
        problems.append(
            f"{path}: holds no rule; expected lines like 'car, automobile' or 'car => automobile'"
        )
    if problems:
        raise ConfigError(problems)
    return Synonyms(
        tuple(rules), f"{len(rules)} rules, {hashlib.sha256(path.read_bytes()).hexdigest()}"
    )


def _rule(line: str, place: str, problems: list[str]) -> Rule | None:
    sides = [[""]]
    for token in TOKEN.finditer(line):
        if token["arrow"]:
            sides.append([""])
        elif token["comma"]:
            sides[-1].append("")
        else:
            sides[-1][-1] += token["escaped"] or token["plain"]
    terms = [tuple(term.strip() for term in side) for side in sides]
    before = len(problems)
    if len(terms) > 2:
        problems.append(
            f"{place}: {len(terms) - 1} arrows; expected one '=>' a line, or commas alone"
        )
    elif len(terms) == 1 and len(terms[0]) == 1:
        problems.append(f"{place}: '{line.strip()}' is alone; expected 'a, b' or 'a => b'")
    for term in dict.fromkeys(term for side in terms for term in side):
        if not term:
            problems.append(
                f"{place}: an empty term; expected words on both sides of every comma and arrow"
            )
        elif not ANALYZERS["auto"](term):
            problems.append(
                f"{place}: '{term}' has no letter and no digit, so that nothing can be searched for"
            )
    return Rule(terms[0], terms[-1]) if len(problems) == before else None
