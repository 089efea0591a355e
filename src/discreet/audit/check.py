"""The whole audit of one mechanism, in one call."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from discreet.accounting.compose import implies
from discreet.audit.distinguish import distinguish
from discreet.audit.meter import drawn, exceeds
from discreet.audit.replay import FATES, answers, free_draws, replay
from discreet.audit.worlds import Pair, hostile, numbers
from discreet.errors import DiscreetError
from discreet.promise.mechanism import Mechanism

SHOWN = 5


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
    ends = pairs[:1] + pairs[-1:]
    found: list[str] = []
    if not implies(mechanism.loss, mechanism.guarantee):
        found.append(f"the loss {mechanism.loss} does not imply epsilon {mechanism.guarantee.epsilon}")
    fates = FATES if any(free_draws(mechanism, pair) for pair in ends) else FATES[:1]
    for index, pair in enumerate([*pairs, *odd]):
        for fate in fates:
            objections = replay(mechanism, pair, seed=seed + index, fate=fate)
            found += [f"{objection} [{_where(index, len(pairs))}, free draws {fate}]" for objection in objections]
    metered = [_metered(mechanism, pair, seed) for pair in ends]
    found += [over for over in metered if over]
    if not any(answers(mechanism, pair) for pair in pairs):
        found.append("it answers on no table of this world: nothing was audited")
    for pair in ends:
        if runs:
            told = distinguish(mechanism, pair.left, pair.right, runs=runs, seed=seed)
            if told.violated:
                found.append(str(told))
    return Verdict(type(mechanism).__name__, tuple(found), len(pairs) + len(odd))


def _metered(mechanism: Mechanism[Any], pair: Pair, seed: int) -> str | None:
    return exceeds(drawn(mechanism, pair.left, seed=seed), mechanism.loss) if answers(mechanism, pair) else None


def _where(index: int, pairs: int) -> str:
    return f"pair {index}" if index < pairs else f"hostile value {index - pairs}"
