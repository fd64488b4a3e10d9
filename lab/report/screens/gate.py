"""A gate's outcome for people (terminal, Markdown) and for continuous integration (JUnit XML,
JSON)."""

import json
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

from rich.table import Table
from rich.text import Text

from lab.errors import RunError
from lab.runs.gate import Gate

MARKS = {"pass": "\u2713", "fail": "\u2717", "weak": "?", "waived": "!"}
WORDS = {"pass": "pass", "fail": "fail", "weak": "evidence too weak", "waived": "waived"}


def gate_screen(gate: Gate) -> Table:
    """One row a rule, the decision beneath."""
    table = Table(
        box=None,
        pad_edge=False,
        header_style="bold",
        caption=decision(gate),
        caption_justify="left",
    )
    for name in ("rule", "", "finding"):
        table.add_column(name)
    for outcome in gate.outcomes:
        table.add_row(
            Text(outcome.rule),
            f"{MARKS[outcome.status]} {WORDS[outcome.status]}",
            Text(outcome.finding),
        )
    return table


def decision(gate: Gate) -> str:
    """Passed or not, in one line."""
    counts = {
        word: sum(outcome.status == status for outcome in gate.outcomes)
        for status, word in WORDS.items()
    }
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"{'passed' if gate.passed else 'NOT passed'}: {told}"


def gate_markdown(gate: Gate) -> str:
    """A summary for a pull request."""
    lines = [
        f"### Retrieval gate: {decision(gate)}",
        "",
        f"run `{_cell(str(gate.run.path))}` ({_cell(gate.run.system)}), baseline "
        f"`{_cell(str(gate.baseline.path))}` "
        f"({_cell(gate.baseline.system)})",
        "",
        "| | rule | finding |",
        "|---|---|---|",
    ]
    lines += [
        f"| {MARKS[o.status]} {WORDS[o.status]} | {_cell(o.rule)} | {_cell(o.finding)} |"
        for o in gate.outcomes
    ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Names come from rules and data: neither may end a cell or start markup."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
    return " ".join(escaped.split())


def gate_junit(gate: Gate) -> str:
    """JUnit XML: a test case a rule; weak evidence is a failure of its own type, a waived rule is
    skipped."""
    failed = sum(outcome.status in ("fail", "weak") for outcome in gate.outcomes)
    skipped = sum(outcome.status == "waived" for outcome in gate.outcomes)
    counts = {
        "tests": str(len(gate.outcomes)),
        "failures": str(failed),
        "errors": "0",
        "skipped": str(skipped),
    }
    suite = ElementTree.Element("testsuite", {"name": "lab gate", **counts})
    for outcome in gate.outcomes:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": "lab.gate", "name": _printable(outcome.rule)}
        )
        told = _printable(outcome.finding)
        if outcome.status in ("fail", "weak"):
            ElementTree.SubElement(
                case, "failure", {"type": WORDS[outcome.status], "message": told}
            ).text = told
        elif outcome.status == "waived":
            ElementTree.SubElement(case, "skipped", {"message": told})
        else:
            ElementTree.SubElement(case, "system-out").text = told
    root = ElementTree.Element("testsuites", counts)
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _printable(text: str) -> str:
    """Without the control characters that XML 1.0 cannot hold."""
    return "".join(character for character in text if character >= " " or character in "\t\n")


def gate_json(gate: Gate) -> str:
    """The same for other machines."""
    return json.dumps(
        {"passed": gate.passed, "outcomes": [asdict(outcome) for outcome in gate.outcomes]},
        ensure_ascii=False,
    )


def write_text(path: Path, text: str) -> None:
    """Write a file for another program; raises RunError when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as fault:
        raise RunError(f"{path}: cannot be written ({fault.strerror})") from None
