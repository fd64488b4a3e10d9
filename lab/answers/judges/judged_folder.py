"""What a judge leaves: a folder with its scores, what has none and why, claims, and a manifest."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.answers.judges.chat import Reply
from lab.answers.judges.judge import Judge, Judged
from lab.answers.wording import word_count
from lab.errors import AnswersError
from lab.storage.folder import obstacle, replacing
from lab.versions import LAB, version_of

SCORES, MANIFEST = "judgements.jsonl", "judge.json"
FAITHFULNESS = "faithfulness"


def check_place(path: Path) -> None:
    """Raise AnswersError unless a judge's folder can be written at `path`, where nothing or an
    earlier judge's folder lies."""
    if path.exists() and not (path / MANIFEST).is_file():
        raise AnswersError(f"{path}: is there and holds no judgements; expected a new folder")
    blocked = obstacle(path)
    if blocked:
        raise AnswersError(f"{path}: cannot be written ({blocked})")


def write_judged(path: Path, judge: Judge, judged: Sequence[Judged]) -> dict[str, Any]:
    """Write the folder and return its manifest. `judgements.jsonl` is what `lab judge-check`
    reads."""
    record = manifest(judge, judged)
    lines = [line for each in judged for line in _lines(judge, each)]
    try:
        with replacing(path) as folder:
            _write(folder / SCORES, lines)
            text = json.dumps(record, ensure_ascii=False, indent=1)
            (folder / MANIFEST).write_text(text + "\n", "utf-8")
    except OSError as fault:
        raise AnswersError(f"{path}: cannot be written ({fault.strerror or fault})") from None
    return record


def write_claims(path: Path, judged: Sequence[Judged]) -> None:
    """Keep the claims of every answer, for this judge's next version and for other judges."""
    lines = [
        {"query_id": j.case.query_id, "system": j.case.system, "claims": list(j.claimed.claims)}
        for j in judged
        if j.claimed is not None and (j.claimed.claims or j.claimed.unscored == "no claims")
    ]
    try:
        fresh = path.with_name(path.name + ".writing")
        _write(fresh, lines)
        fresh.replace(path)
    except OSError as fault:
        raise AnswersError(f"{path}: cannot be written ({fault.strerror or fault})") from None


def manifest(judge: Judge, judged: Sequence[Judged]) -> dict[str, Any]:
    """The judge's name, everything its version hangs on, what was scored, and what it cost."""
    names = [criterion.name for criterion in judge.rubric.criterion]
    scored = [each for each in judged if each.scores]
    claimed = [each.claimed for each in judged if each.claimed is not None]
    audits = [each.audit for each in judged if each.audit is not None]
    why = Counter(each.unscored for each in judged if each.unscored)
    return {
        "lab": version_of(LAB),
        "judge": judge.name,
        "model": judge.chat.model,
        "url": judge.chat.url,
        "seed": judge.chat.seed,
        "temperature": 0,
        "rubric": judge.rubric.model_dump(mode="json"),
        "answers": len(judged),
        "scored": len(scored),
        "unscored": dict(sorted(why.items())),
        "means": {name: _mean([each.scores[name] for each in scored]) for name in names},
        "claims": _claims(claimed) if judge.claims is not None else None,
        "audit": None
        if judge.auditor is None
        else {
            "model": judge.auditor.model,
            "url": judge.auditor.url,
            "audited": sum(audit.agrees is not None for audit in audits),
            "broken": sum(audit.agrees is None for audit in audits),
            "disagrees": {
                name: sum(not audit.agrees[name] for audit in audits if audit.agrees)
                for name in names
            },
        },
        "cost": [
            _cost(chat.model, chat.replies)
            for chat in (judge.chat, judge.auditor)
            if chat is not None
        ],
    }


def _claims(claimed: Sequence[Any]) -> dict[str, Any]:
    """Granularity: how many claims an answer falls into, and how long they are."""
    counts = [len(each.claims) for each in claimed if each.claims]
    words = [word_count(claim) for each in claimed for claim in each.claims]
    scores = [each.faithfulness for each in claimed if each.faithfulness is not None]
    why = Counter(each.unscored for each in claimed if each.unscored)
    return {
        "answers": len(counts),
        "claims_per_answer": _mean(counts),
        "words_per_claim": _mean(words),
        FAITHFULNESS: _mean(scores),
        "unscored": dict(sorted(why.items())),
    }


def _cost(model: str, replies: Sequence[Reply]) -> dict[str, Any]:
    """Tokens of all calls, and of those that were made now and not kept from before; a server that
    does not count leaves `uncounted` calls."""
    now = [reply for reply in replies if not reply.kept]
    return {
        "model": model,
        "calls": len(replies),
        "prompt_tokens": sum(reply.prompt_tokens or 0 for reply in replies),
        "reply_tokens": sum(reply.reply_tokens or 0 for reply in replies),
        "uncounted": sum(reply.prompt_tokens is None for reply in replies),
    } | {
        "calls_now": len(now),
        "tokens_now": sum((r.prompt_tokens or 0) + (r.reply_tokens or 0) for r in now),
    }


def _lines(judge: Judge, judged: Judged) -> list[dict[str, Any]]:
    case = judged.case
    item = {"query_id": case.query_id, "system": case.system, "judge": judge.name}
    kept = {
        "model": judge.chat.model,
        "generator": case.generator,
        "words": word_count(case.answer),
        "input": "\n\n".join(message["content"] for message in judged.messages),
        "output": judged.reply.text if judged.reply else None,
    }
    if judged.verdict is not None:
        kept["quotes"] = list(judged.verdict.quotes)
        kept["reason"] = judged.verdict.reason
    lines: list[dict[str, Any]] = []
    if judged.unscored:
        why = f"{judged.unscored}: {judged.detail}" if judged.detail else judged.unscored
        lines.append({**item, "unscored": why, **kept})
    elif judged.verdict is not None:
        for name, score in judged.scores.items():
            line = {**item, "criterion": name, "score": score}
            line |= {"confidence": judged.verdict.confidence, "given": judged.verdict.scores[name]}
            line |= {"steps_off": judged.verdict.scores[name] - score, **kept}
            if judged.audit is not None:
                line["audit"] = _audit_line(judged, name)
            lines.append(line)
    return [*lines, *_claimed_line(item, judged)]


def _audit_line(judged: Judged, name: str) -> dict[str, Any] | None:
    audit = judged.audit
    if audit is None:
        return None
    agrees = audit.agrees[name] if audit.agrees is not None else None
    return {
        "model": audit.model,
        "agrees": agrees,
        "reason": audit.reason,
        "output": audit.output,
    }


def _claimed_line(item: dict[str, Any], judged: Judged) -> list[dict[str, Any]]:
    claimed = judged.claimed
    if claimed is None:
        return []
    line = {**item, "criterion": FAITHFULNESS}
    if claimed.unscored:
        return [{**line, "unscored": claimed.unscored}]
    pairs = zip(claimed.claims, claimed.verdicts, strict=True)
    output = [{"claim": claim, "supported": verdict} for claim, verdict in pairs]
    return [{**line, "score": claimed.faithfulness, "output": output}]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _write(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, "utf-8")
