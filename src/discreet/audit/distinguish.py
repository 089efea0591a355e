"""A lower bound on epsilon from outputs alone, and the whole audit of one mechanism in one call.

Run the mechanism on two neighbouring tables. On a training half look for the event that tells them apart best; on the
test half bound its two probabilities by Clopper-Pearson. If P(E | x) >= p and P(E | y) <= q then any epsilon that holds
at `delta` is at least ln((p - delta) / q). The claim is wrong if this bound lies above the promised epsilon.

Beside it, what a release does in many runs: how often its interval holds the truth, how often two samples have one
answer. That is for data that may be looked at, such as simulated data: it says nothing about privacy, and
is not private itself. Do not run it on halves of a private table and publish the result.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings

import numpy as np
import numpy.typing as npt

from discreet.accounting.compose import implies
from discreet.audit.replay import ADDRESS, FATES, answers, exceeds, itemised, replayed
from discreet.audit.worlds import Pair, hostile, lasting, numbers
from discreet.errors import BadInput, DiscreetError, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.intervals import check_confidence
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Mechanism
from discreet.privacy.release import Release
from discreet.privacy.values import plain

CHANCE = 1e-7  # that a true coverage is called wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How often the interval held the truth, with exact bounds that fail once in ten million."""

    hits: int
    runs: int
    confidence: float
    low: float
    high: float

    @property
    def share(self) -> float:
        """The observed coverage."""
        return self.hits / self.runs

    @property
    def holds(self) -> bool:
        """False only if the true coverage is below the stated confidence, up to CHANCE."""
        return self.high >= self.confidence

    def __str__(self) -> str:
        return f"{self.hits} of {self.runs} intervals hold the truth ({self.share:.4f}, stated {self.confidence:g})"


def coverage(
    draw: Callable[[int], tuple[Release[Any], Any]], *, runs: int, confidence: float = 0.95, chance: float = CHANCE
) -> Coverage:
    """Run `draw(i)`, a release and the truth it is about, and count the intervals that hold all of the truth."""
    confidence = check_confidence(confidence)
    if runs < 1:
        raise BadInput(f"runs is {runs}; at least one is needed")
    hits = 0
    for run in range(runs):
        release, truth = draw(run)
        interval = release.interval(confidence)
        hits += bool(np.all((np.asarray(interval.low) <= truth) & (truth <= np.asarray(interval.high))))
    low, high = proportion_bounds(hits, runs, chance)
    return Coverage(hits=hits, runs=runs, confidence=confidence, low=low, high=high)


def proportion_bounds(hits: int, runs: int, chance: float) -> tuple[float, float]:
    """Clopper-Pearson: the true share is below `low`, or above `high`, with probability at most `chance` each."""
    from scipy.special import betaincinv

    low = 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, chance))
    high = 1.0 if hits == runs else float(betaincinv(hits + 1, runs - hits, 1 - chance))
    return low, high


@dataclass(frozen=True, slots=True)
class Replicated:
    """How often two runs agreed, with exact bounds that fail once in ten million."""

    same: int
    runs: int
    low: float
    high: float

    @property
    def rho(self) -> float:
        """The observed share of pairs that differ."""
        return 1 - self.same / self.runs

    def refutes(self, rho: float) -> bool:
        """True if the procedure cannot be rho-replicable, up to a chance of one in ten million."""
        return self.high < 1 - rho

    def __str__(self) -> str:
        differ = f"{1 - self.high:.4f} to {1 - self.low:.4f}"
        return f"{self.same} of {self.runs} pairs agree; they differ with probability {differ}"


def replicate(
    procedure: Callable[[Any, float], Any],
    sample: Callable[[int], Any],
    *,
    runs: int,
    seed: int = 0,
    chance: float = CHANCE,
) -> Replicated:
    """Run `procedure(rows, offset)` on fresh samples 2 i and 2 i + 1 with one shared offset, `runs` times.

    The answers are compared exactly; a release that was refused counts as its refusal.

    >>> from discreet import audit
    >>> audit.replicate(lambda rows, offset: round(sum(rows) / len(rows)), lambda i: [0.0, 0.1 * (i % 3)], runs=20).same
    20
    """
    if not isinstance(runs, int) or runs < 1:
        raise BadInput(f"runs is {runs!r}; at least one is needed")
    offsets = np.random.default_rng(seed).random(runs)  # noqa: TID251  public coins, not noise
    same = 0
    for run, offset in enumerate(offsets.tolist()):
        first, second = (_answer(procedure(sample(2 * run + side), offset)) for side in (0, 1))
        same += bool(np.array_equal(first, second))
    low, high = proportion_bounds(same, runs, chance)
    return Replicated(same, runs, low, high)


def _answer(found: Any) -> Any:
    """A release's value; anything else as it is."""
    if not hasattr(found, "refusal"):
        return np.asarray(found)
    try:
        return np.asarray(found.value)
    except Refused as reason:
        return np.asarray(str(reason))


LARGEST = 2**1023  # of what fits in a float
CODES = 60  # a column with more distinct values than this is cut into as many ranges
Columns = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinguished:
    """The bound, with the event that reached it."""

    epsilon: float
    claimed: float
    event: str
    runs: int
    confidence: float

    @property
    def violated(self) -> bool:
        """Whether the outputs refute the claim."""
        return self.epsilon > self.claimed

    def __str__(self) -> str:
        verdict = "REFUTES" if self.violated else "does not refute"
        return f"epsilon is at least {self.epsilon:.4f} ({self.event}); this {verdict} the claimed {self.claimed:.4f}"


def distinguish(
    mechanism: Mechanism[Any],
    x: Any,
    y: Any,
    *,
    runs: int,
    confidence: float = 0.9999,
    seed: int = 0,
    feature: Callable[[Release[Any]], Any] | None = None,
) -> Distinguished:
    """A lower bound on the epsilon of `mechanism` from `runs` releases on each of two neighbours `x` and `y`."""
    if runs < 100:
        raise BadInput(f"runs is {runs}; a bound needs at least 100 on each side")
    rng, read, tables = Seeded(seed), feature or _read, (lasting(x), lasting(y))
    on_x, on_y = ([read(mechanism.release(copy(rows), rng)) for _ in range(runs)] for rows in tables)
    delta, half = float(mechanism.guarantee.delta), runs // 2
    left, right = _as_columns(on_x, on_y, half)
    miss = (1 - confidence) / 4  # two directions, two probabilities each
    best, name = 0.0, "no event tells them apart"
    for here, there, side in ((left, right, "x"), (right, left, "y")):
        score, words = _learnt_score(here[:half], there[:half])
        cut = _best_cut(score(here[:half]), score(there[:half]), delta)
        hits_here, hits_there = (int((score(sample[half:]) >= cut).sum()) for sample in (here, there))
        low, _ = proportion_bounds(hits_here, runs - half, miss)
        _, high = proportion_bounds(hits_there, runs - half, miss)
        if low > delta and math.log((low - delta) / high) > best:
            best, name = math.log((low - delta) / high), f"{words}, likelier on {side}"
    return Distinguished(
        epsilon=best, claimed=float(mechanism.guarantee.epsilon), event=name, runs=runs, confidence=confidence
    )


def _read(release: Release[Any]) -> tuple[Any, ...]:
    """All numbers of an answer and of its error bar; as text if it is not made of numbers."""
    if release.refusal is not None:
        return ("refused",)
    leaves = tuple(_leaves(plain(release.answer))) + tuple(_leaves(plain(release.spread)))
    return leaves or (repr(plain(release.answer)),)


def _leaves(thing: Any) -> Iterator[Any]:
    if isinstance(thing, dict):
        yield from (leaf for value in thing.values() for leaf in _leaves(value))
    elif isinstance(thing, list):
        yield from (leaf for value in thing for leaf in _leaves(value))
    elif isinstance(thing, str):
        yield ADDRESS.sub("", thing)  # where something lies in memory is no part of the answer
    elif thing is not None:
        yield float(min(max(thing, -LARGEST), LARGEST))


def _as_columns(left: list[Any], right: list[Any], half: int) -> tuple[Columns, Columns]:
    """Outputs as rows of small whole numbers, the same code for the same value (or range of values).

    Ranges are cut by the training halves alone, so that the event is fixed before the test halves are looked at.
    """
    rows = [output if isinstance(output, tuple) else (output,) for output in (*left, *right)]
    training = np.r_[:half, len(left) : len(left) + half]
    if len({len(row) for row in rows}) > 1:
        rows = [(repr(row),) for row in rows]
    columns = []
    for column in zip(*rows, strict=True):
        values = np.array(column if not any(isinstance(leaf, str) for leaf in column) else list(map(str, column)))
        _, codes = np.unique(values, return_inverse=True)
        if values.dtype.kind == "f" and len(np.unique(values[training])) > CODES:
            edges = np.unique(np.quantile(values[training], np.linspace(0, 1, CODES + 1)[1:-1]))
            codes = np.searchsorted(edges, values, side="right")
        columns.append(codes)
    table = np.stack(columns, axis=1)
    return table[: len(left)], table[len(left) :]


def _learnt_score(here: Columns, there: Columns) -> tuple[Callable[[Columns], npt.NDArray[np.float64]], str]:
    """The sum over columns of the log ratio of how often each code was seen: best where the noises are independent."""
    tables = []
    for column in range(here.shape[1]):
        size = int(max(here[:, column].max(), there[:, column].max())) + 1
        times = [np.bincount(sample[:, column], minlength=size) for sample in (here, there)]
        tables.append(np.log((times[0] + 1.0) / (times[1] + 1.0)))

    def score(sample: Columns) -> npt.NDArray[np.float64]:
        picked = [
            np.where(sample[:, i] < len(table), table[np.minimum(sample[:, i], len(table) - 1)], 0.0)
            for i, table in enumerate(tables)
        ]
        return np.asarray(np.sum(picked, axis=0), dtype=np.float64)

    return score, f"a likelihood-ratio set over {here.shape[1]} columns"


def _best_cut(here: npt.NDArray[np.float64], there: npt.NDArray[np.float64], delta: float) -> float:
    """The score from which on the event is, with an allowance for chance, most telling."""
    best, chosen = -math.inf, math.inf
    for cut in np.unique(np.quantile(np.concatenate([here, there]), np.linspace(0, 1, 400))).tolist():
        p, q = float((here >= cut).mean()), float((there >= cut).mean())
        low = p - delta - 4 * math.sqrt(p / len(here))
        high = q + 4 * math.sqrt(q / len(there)) + 8 / len(there)
        if low > 0 and math.log(low / high) > best:
            best, chosen = math.log(low / high), cut
    return chosen


SHOWN = 5
TOLD = 1  # of so many pairs the releases of one are compared in words too, which takes as long as all the rest


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an audit found; it passed if that is nothing."""

    mechanism: str
    findings: tuple[str, ...]
    pairs: int

    @property
    def passed(self) -> bool:
        """True if nothing was found. An audit can refute a promise, never prove it: proofs do that."""
        return not self.findings

    def require(self) -> "Verdict":
        """Itself, or an error that lists the findings."""
        if self.findings:
            raise DiscreetError(str(self))
        return self

    def __str__(self) -> str:
        if self.passed:
            return f"{self.mechanism}: nothing found on {self.pairs} pairs of neighbours"
        more = len(self.findings) - SHOWN
        lines = [f"{self.mechanism}: {len(self.findings)} findings on {self.pairs} pairs of neighbours"]
        lines += [f"  - {finding}" for finding in self.findings[:SHOWN]]
        return "\n".join(lines + ([f"  ... and {more} more"] if more > 0 else []))


def check(
    mechanism: Mechanism[Any],
    world: Iterable[Pair] | None = None,
    *,
    runs: int = 0,
    seed: int = 0,
    hostile_values: bool = True,
) -> Verdict:
    """Audit a mechanism: loss against guarantee, draws against loss, replay on every pair of a world.

    `world` is a list of neighbouring pairs, by default `audit.numbers` of the mechanism's own relation. With `runs`,
    the pairs at both ends of the world are also told apart by their outputs, that many times on each side.

    >>> from discreet import audit
    >>> audit.check(audit.NameAndShame(1e-6)).passed
    False
    """
    relation = mechanism.guarantee.neighbours
    pairs = list(numbers(relation) if world is None else world)
    odd = hostile(relation) if hostile_values else []
    found: list[str] = []
    if not implies(mechanism.loss, mechanism.guarantee):
        found.append(f"the loss {mechanism.loss} does not imply epsilon {mechanism.guarantee.epsilon}")
    spent: dict[tuple[str, ...], Loss] = {}
    for index, pair in enumerate([*pairs, *odd]):
        for fate in FATES:
            run = replayed(mechanism, pair, seed=seed + index, fate=fate, words=index % TOLD == 0)
            found += [f"{objection} [{_where(index, len(pairs))}, free draws {fate}]" for objection in run.objections]
            spent[itemised(run.spent)] = run.spent
            if not run.free:
                break
    found += [over for over in (exceeds(loss, mechanism.loss) for loss in spent.values()) if over]
    answered = next((pair for pair in pairs if answers(mechanism, pair)), None)
    found += (
        _words_kept(mechanism, answered) if answered else ["it answers on no table of this world: nothing was audited"]
    )
    for pair in (pairs[:1] + pairs[-1:]) if runs else []:
        told = distinguish(mechanism, pair.left, pair.right, runs=runs, seed=seed)
        if told.violated:
            found.append(str(told))
    return Verdict(type(mechanism).__name__, tuple(found), len(pairs) + len(odd))


def _words_kept(mechanism: Mechanism[Any], pair: Pair) -> list[str]:
    """What a release says about itself, against what is true of it."""
    with catch_warnings(action="ignore"):  # a replay's concern
        release = mechanism.release(copy(pair.left), Seeded(0))
    found = []
    if release.guarantee != mechanism.guarantee:
        found.append(f"the release says '{release.guarantee}', the mechanism '{mechanism.guarantee}'")
    if release.provenance.publishable:
        found.append("the noise was seeded and the release says that it may be published")
    return found


def _where(index: int, pairs: int) -> str:
    return f"pair {index}" if index < pairs else f"hostile value {index - pairs}"
