"""What a judge has scored, on the terminal."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.errors import counted


def judged_screen(record: Mapping[str, Any], out: Path) -> RenderableType:
    """The manifest of a judge's folder: means, what has no score and why, and the cost."""
    lines = [f"{record['scored']} of {counted(record['answers'], 'answer')} scored"]
    lines += [f"  {name}: {mean:.3f}" for name, mean in record["means"].items() if mean is not None]
    lines += [f"  unscored, {reason}: {count}" for reason, count in record["unscored"].items()]
    claims, audit = record["claims"], record["audit"]
    if claims is not None and claims["claims_per_answer"] is not None:
        per_answer, words = claims["claims_per_answer"], claims["words_per_claim"]
        lines.append(f"{per_answer:.1f} claims an answer, {words:.1f} words a claim")
        if claims["faithfulness"] is not None:
            lines.append(f"  faithfulness: {claims['faithfulness']:.3f}")
    if claims is not None:
        lines += [f"  without faithfulness, {why}: {n}" for why, n in claims["unscored"].items()]
    if audit is not None:
        lines.append(f"{audit['model']} checked {counted(audit['audited'], 'answer')}")
        lines += [f"  disagrees on {name}: {n}" for name, n in audit["disagrees"].items() if n]
        if audit["broken"]:
            lines.append(f"  {counted(audit['broken'], 'reply')} of it was no audit")
    for cost in record["cost"]:
        lines.append(
            f"{cost['model']}: {counted(cost['calls'], 'call')}, {cost['calls_now']} of them now; "
            f"{cost['prompt_tokens']:,} tokens asked, {cost['reply_tokens']:,} replied"
        )
        if cost["uncounted"]:
            lines.append(f"  tokens of {counted(cost['uncounted'], 'call')} are not known")
    lines.append(f"written: {out}")
    return Group(Text(record["judge"], "bold"), *map(Text, lines))
