"""The whole audit of one mechanism, in one call."""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings

from discreet.accounting.compose import implies
from discreet.audit.distinguish import distinguish
from discreet.audit.replay import FATES, answers, exceeds, itemised, replayed
from discreet.audit.worlds import Pair, hostile, numbers
from discreet.errors import DiscreetError
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Mechanism

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
    found: list[str] = []
    if not implies(mechanism.loss, mechanism.guarantee):
        found.append(f"the loss {mechanism.loss} does not imply epsilon {mechanism.guarantee.epsilon}")
    spent: dict[tuple[str, ...], Loss] = {}
    for index, pair in enumerate([*pairs, *odd]):
        for fate in FATES:
            run = replayed(mechanism, pair, seed=seed + index, fate=fate)
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
