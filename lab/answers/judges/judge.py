"""Judge: scores of answers by a rubric from a model, each with what it was asked and what it said;
what cannot be scored is listed with its reason, never given a score."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from lab.answers.case import Case
from lab.answers.judges.chat import Chat, ChatError, Message, Reply
from lab.answers.judges.claims import Claimed, claimed, claims_of
from lab.answers.judges.judgement import VERSION
from lab.answers.judges.prompts import ALL, audit_messages, judge_messages
from lab.answers.judges.reply import (
    ReplyError,
    Verdict,
    quotes_missing,
    read_audit,
    read_verdict,
)
from lab.answers.judges.rubric import Rubric
from lab.answers.wording import word_count
from lab.errors import counted
from lab.storage.interrupt import Interrupted
from lab.storage.progress import Progress

# Characters that one call may hold; a longer case is unscored.
LONGEST = 400_000
# Why an answer has no score; the counts of the manifest go by these.
NO_CONTEXT, NO_ANSWER, SELF = "no context", "no answer", "the judge wrote it itself"
TOO_LONG, BROKEN, NOT_QUOTED, NO_QUOTE = (
    "too long",
    "broken reply",
    "quote not in the context",
    "no quote",
)
REASONS = (NO_CONTEXT, NO_ANSWER, SELF, TOO_LONG, BROKEN, NOT_QUOTED, NO_QUOTE)


@dataclass(frozen=True, slots=True)
class Audit:
    """What a second model said of the scores: per criterion whether it agrees, and why; `agrees` is
    None where its reply was no audit."""

    model: str
    agrees: dict[str, bool] | None
    reason: str
    output: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one answer. `unscored` is empty for a scored one, else the reason, of
    `REASONS`, and `detail` says more. `scores` is after the `steps_off` for length, `verdict` as
    the judge gave it."""

    case: Case
    messages: Sequence[Message]
    reply: Reply | None
    verdict: Verdict | None
    scores: dict[str, float]
    steps_off: int = 0
    unscored: str = ""
    detail: str = ""
    audit: Audit | None = None
    claimed: Claimed | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """A model with a rubric; `auditor` is a second model that checks its scores; `claims` are those
    extracted before, by (query_id, system), None where claims are not asked for."""

    chat: Chat
    rubric: Rubric
    auditor: Chat | None = None
    claims: dict[tuple[str, str], tuple[str, ...]] | None = None

    @property
    def name(self) -> str:
        """Model and version, `model#1a2b3c4d`: another rubric, prompt or seed is another judge."""
        asked = json.dumps([self.rubric.model_dump(mode="json"), ALL, self.chat.seed])
        return f"{self.chat.model}{VERSION}{hashlib.sha256(asked.encode()).hexdigest()[:8]}"

    def judge(self, cases: Sequence[Case], progress: Progress) -> list[Judged]:
        """Judge every case in turn. Raises ChatError when a server gives up, and Interrupted: every
        reply until then is kept, so that the same call goes on where this one ended."""
        advance = progress.stage("judge", len(cases))
        judged: list[Judged] = []
        try:
            for case in cases:
                judged.append(self._case(case))
                advance(1)
        except ChatError as fault:
            raise ChatError([*fault.problems, _kept(judged, cases)]) from None
        except KeyboardInterrupt:
            raise Interrupted(_kept(judged, cases)) from None
        return judged

    def _case(self, case: Case) -> Judged:
        messages = judge_messages(case, self.rubric)
        why = self._unjudgeable(case, messages)
        if why:
            return Judged(case, messages, None, None, {}, unscored=why)
        reply = self.chat.ask(messages)
        verdict, why, detail = self._verdict(reply, case)
        steps = self._steps_off(case)
        scores = self._less(verdict, steps) if verdict is not None and not why else {}
        return Judged(
            case=case,
            messages=messages,
            reply=reply,
            verdict=verdict,
            scores=scores,
            steps_off=steps,
            unscored=why,
            detail=detail,
            audit=self._audit(case, verdict) if verdict is not None and not why else None,
            claimed=self._claimed(case),
        )

    def _unjudgeable(self, case: Case, messages: Sequence[Message]) -> str:
        if not case.answer.strip():
            return NO_ANSWER
        if not any(context.strip() for context in case.contexts or ()):
            return NO_CONTEXT
        if case.generator == self.chat.model:
            return SELF
        return TOO_LONG if sum(len(m["content"]) for m in messages) > LONGEST else ""

    def _verdict(self, reply: Reply, case: Case) -> tuple[Verdict | None, str, str]:
        """The verdict, and why its scores are void."""
        try:
            verdict = read_verdict(reply.text, self.rubric)
        except ReplyError as fault:
            return None, BROKEN, str(fault)
        if not verdict.quotes:
            return verdict, NO_QUOTE, ""
        missing = quotes_missing(verdict.quotes, case.contexts or ())
        return verdict, NOT_QUOTED if missing else "", missing[0][:200] if missing else ""

    def _steps_off(self, case: Case) -> int:
        length = self.rubric.length
        return length.steps_off(word_count(case.answer)) if length else 0

    def _less(self, verdict: Verdict, steps: int) -> dict[str, float]:
        """Scores less the steps for length, by the criteria that length is taken off, no lower than
        the scale."""
        losing = self.rubric.length.criteria if self.rubric.length else ()
        return {
            criterion.name: max(
                float(criterion.scale[0]),
                verdict.scores[criterion.name] - steps * (criterion.name in losing),
            )
            for criterion in self.rubric.criterion
        }

    def _audit(self, case: Case, verdict: Verdict) -> Audit | None:
        if self.auditor is None:
            return None
        messages = audit_messages(case, self.rubric, verdict.quotes, verdict.scores, verdict.reason)
        reply = self.auditor.ask(messages)
        try:
            agrees, reason = read_audit(reply.text, self.rubric)
        except ReplyError as fault:
            return Audit(self.auditor.model, None, str(fault), reply.text)
        return Audit(self.auditor.model, agrees, reason, reply.text)

    def _claimed(self, case: Case) -> Claimed | None:
        if self.claims is None:
            return None
        known = self.claims.get((case.query_id, case.system))
        claims = claims_of(self.chat, case) if known is None else known
        return claimed(self.chat, case, claims)


def _kept(judged: Sequence[Judged], cases: Sequence[Case]) -> str:
    return (
        f"{len(judged)} of {counted(len(cases), 'answer')} are judged and kept in the cache; the "
        "same command goes on from there"
    )
