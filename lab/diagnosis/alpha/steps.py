"""The arithmetic of exact alpha curves, compiled: the loops over one question's candidates.

A chunk's fused score is the line `bm25 + alpha * (dense - bm25)`. Two of them change places where
they cross; but scores are compared rounded to 6 decimals, so within 1e-6 of a crossing it is the
roundings that decide, one after another.
"""

import numpy as np
from numba import njit

from lab.arrays import NEVER
from lab.retrieval.ranking import DECIMALS

UNIT = 10.0**-DECIMALS
# Lines closer than this may round to the same score; the slack covers float noise.
NEAR = UNIT * (1 + 1e-6)
# Roundings that are followed inside one near-tie; lines that run side by side for longer are
# compared at its middle.
FOLLOWED = 4000
_SCALE = 10.0**DECIMALS
_LOWEST = np.iinfo(np.int64).min


# `lines` are the arrays of `lab.diagnosis.alpha.curve.Lines`, `judged` counted from 0 to `things`;
# `held` says how judged things hold the pieces (see there).


@njit(cache=True)
def contenders(lines, things, depth, cap):  # type: ignore[no-untyped-def]
    """The candidates that can be among the first `cap` at some alpha: others have `cap` judged
    things ahead of them at both ends, hence everywhere, and change no rank up to `cap`."""
    _, judged, bm25, dense, bm25_rank, dense_rank = lines
    count = len(judged)
    kept = np.ones(count, np.bool_)
    if things < count and count > depth:
        return kept  # the fused list is cut by chunks, so every chunk counts
    seen = np.full(things, -1)
    for line in range(count):
        ahead = 0
        for other in range(count):
            if (
                _before(bm25_rank[other], bm25_rank[line])
                and _before(dense_rank[other], dense_rank[line])
                and bm25[other] > bm25[line] + NEAR
                and dense[other] > dense[line] + NEAR
                and seen[judged[other]] != line
            ):
                seen[judged[other]] = line
                ahead += 1
        kept[line] = ahead < cap
    return kept


@njit
def _before(rank, other):  # type: ignore[no-untyped-def]
    """Whether a rank in a leg is before another one, 0 being no rank."""
    return rank > 0 and (other == 0 or rank < other)


@njit(cache=True, error_model="numpy")
def near_ties(lines, wanted):  # type: ignore[no-untyped-def]
    """Where the order of a candidate with evidence (`wanted` of the judged things) and another may
    change: both candidates, and both ends within [0, 1]."""
    _, judged, bm25, dense, _, _ = lines
    first, second, lows, highs = [0], [0], [0.0], [0.0]
    for i in range(len(judged)):
        for j in range(len(judged) if wanted[judged[i]] else 0):
            apart = bm25[j] - bm25[i]
            turn = (dense[j] - dense[i]) - apart
            if abs(turn) < 1e-15 and 0 < abs(apart) <= NEAR:
                # Parallel lines never change order; nearly equal ones may, where rounding parts
                # them.
                low, high = 0.0, 1.0
            elif turn == 0:
                continue
            else:
                start, end = (-NEAR - apart) / turn, (NEAR - apart) / turn
                low, high = min(start, end), max(start, end)
            if high > 0 and low < 1:
                first.append(i)
                second.append(j)
                lows.append(max(low, 0.0))
                highs.append(min(high, 1.0))
    return np.array(first[1:]), np.array(second[1:]), np.array(lows[1:]), np.array(highs[1:])


@njit(cache=True)
def roundings(lines, first, second, lows, highs, staked):  # type: ignore[no-untyped-def]
    """Inside the near-ties that are `staked`: where either rounded score changes."""
    _, _, bm25, dense, _, _ = lines
    changes = [0.0]
    for tie in range(len(lows)):
        if not staked[tie]:
            continue
        low, high = lows[tie], highs[tie]
        for line in (first[tie], second[tie]):
            slope = dense[line] - bm25[line]
            if slope == 0 or abs(slope) * (high - low) / UNIT > FOLLOWED:
                continue
            start, end = (bm25[line] + low * slope) / UNIT, (bm25[line] + high * slope) / UNIT
            half = np.floor(min(start, end)) + 0.5
            for _ in range(int(np.ceil(max(start, end)) - np.floor(min(start, end))) + 1):
                at = (half * UNIT - bm25[line]) / slope
                if low < at < high:
                    changes.append(at)
                half += 1
    return np.array(changes[1:])


@njit(cache=True)
def completion(lines, wanted, held, alphas, depth):  # type: ignore[no-untyped-def]
    """Pieces x alphas: completion ranks by the rule of the ranking itself (6 decimals, then the
    smaller chunk)."""
    chunk, judged, bm25, dense, bm25_rank, dense_rank = lines
    things = len(wanted)
    span, part_first, weight, holder_first, need, piece_first = held
    pieces, width = len(piece_first) - 1, chunk.max() + 1 if len(chunk) else 1
    complete = np.full((pieces, len(alphas)), NEVER)
    keys, best, rank = (
        np.empty(len(chunk), np.int64),
        np.empty(things, np.int64),
        np.full(things, NEVER),
    )
    for at in range(len(alphas)):
        alpha = alphas[at]
        best[:] = _LOWEST
        for line in range(len(chunk)):
            if 0 < alpha < 1:
                # Rounded score and chunk in one whole number: a larger key is a better place.
                score = alpha * dense[line] + (1 - alpha) * bm25[line]
                keys[line] = np.int64(np.rint(score * _SCALE)) * width + (width - 1 - chunk[line])
            else:
                # A leg of weight 0 brings nothing, and the other one keeps its own order.
                leg_rank = bm25_rank[line] if alpha <= 0 else dense_rank[line]
                keys[line] = -leg_rank if leg_rank > 0 else _LOWEST
            best[judged[line]] = max(best[judged[line]], keys[line])
        for thing in range(things):
            if not wanted[thing]:
                continue
            # A judged thing stands at its best chunk; it is nowhere if no leg brings it or `depth`
            # chunks stand before it.
            mine, chunks, place = best[thing], 0, 1
            for key in keys:
                chunks += key > mine
            for other in best:
                place += other > mine
            rank[thing] = place if mine != _LOWEST and chunks < depth else NEVER
        for piece in range(pieces):
            for holder in range(piece_first[piece], piece_first[piece + 1]):
                parts = range(holder_first[holder], holder_first[holder + 1])
                complete[piece, at] = min(
                    complete[piece, at], _held(span, part_first, weight, parts, need[holder], rank)
                )
    return complete


@njit
def _held(span, part_first, weight, parts, need, rank):  # type: ignore[no-untyped-def]
    """The rank at which the parts that are seen weigh `need` together; NEVER if all of them do
    not."""
    reached = 0
    while True:
        # The next rank at which a part is seen.
        after, more = NEVER, 0
        for part in parts:
            seen = NEVER
            for place in range(part_first[part], part_first[part + 1]):
                seen = min(seen, rank[span[place]])
            if reached < seen < after:
                after = seen
        if after == NEVER:
            return NEVER
        for part in parts:
            for place in range(part_first[part], part_first[part + 1]):
                if rank[span[place]] <= after:
                    more += weight[part]
                    break
        if more >= need:
            return after
        reached = after
