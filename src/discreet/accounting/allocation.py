"""A budget in exact, named parts: what the stages of a mechanism cost, and that together they keep what was asked.

An allocation is a whole and its parts. The whole is an epsilon (where delta is 0), the mu of (epsilon, delta) ("gdp")
or its rho ("zcdp"). A part is a share of what adds up: of epsilon, of mu squared, of rho.

Promise
    [allocation.1] Pure: the parts' epsilons are exact fractions that sum to epsilon, or to less where shares are left.
    [allocation.2] With a delta: all parts together, with the slack of every draw and the event of probability `event`,
          keep (epsilon, delta).
    [allocation.3] Shares that add up to more than 1, and draws with more slack than was kept for them, are refused when
          the parts are made. Both are public numbers.
    [allocation.4] `ceiling` is no less than any parts of the whole together: it is known before the shares are.

Why
    [allocation.1] Fractions; epsilons add up ([currency.5]).
    [allocation.2] "gdp": squares of mu add up ([currency.6]). Gaussian noise of share s has a mu of at most sqrt(s)
    times the whole's. A choice of epsilon e is mu-GDP with mu = 2 g(e / 2), g = Phi^-1 of the logistic function
    ([currency.2]); g is 0 at 0 and concave above it, so mu <= g'(0) e = sqrt(2 pi) e / 4, whose square is (pi / 8) e^2:
    e^2 is at most 8 / pi times s of the whole's square. So all parts are mu-GDP, off an event that is kept from delta
    first, and with a slack of at most `slack` in all, by [allocation.3]; [calibrate.3] gave mu for that slack and what
    is left of delta, at this epsilon or at a smaller one: what holds there holds at this one.
    "zcdp": rho adds up ([currency.6]). Gaussian noise costs mu^2 / 2 and a choice e^2 / 8 ([currency.1]). A slack of
    total variation t, on both tables, adds (1 + e^epsilon) t to delta, which is kept for it: [calibrate.3].
    [allocation.3] As `split` reads: exact sums.
    [allocation.4] Parts of a pure whole: anything of that epsilon. By "gdp": as above.

Source
    Dong, Roth and Su 2022 (squares of mu); Bun and Steinke 2016 (rho); Cesar and Rogers 2021 (choices by rho).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Final, Literal, TypeVar

from discreet.accounting import calibrate
from discreet.errors import BadInput
from discreet.privacy.exact import Number, exact, root_below, show
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, Loss, compose, safe_exp

STRONGEST: Final = 64  # the largest mu: smaller noise would be too few steps wide
CHOICE: Final = Fraction(25464, 10_000)  # just below 8 / pi: epsilon^2 of a choice for a unit of mu^2
Part = Laplace | Gaussian | Choice | Approximate
Of = TypeVar("Of", Laplace, Gaussian, Choice, Approximate)


@dataclass(frozen=True, slots=True)
class Share:
    """What one stage gets: this share of the whole (None: what the others leave), for `times` equal draws.

    `cost` makes the loss of one draw from its epsilon or mu: Choice for a choice; by default Laplace noise, or Gaussian
    noise with the slack that the whole keeps for each draw.
    """

    of: Fraction | None = None
    cost: Callable[[Fraction], Part] | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class Allocation:
    """A whole budget and the parts that were made of it.

    >>> whole = Allocation.of(1.0)
    >>> stages = whole.split(centre=Share(Fraction(1, 5), Choice), mean=Share())
    >>> stages.part("centre", Choice), stages.noise("mean")
    (Choice(epsilon=Fraction(1, 5)), Laplace(epsilon=Fraction(4, 5)))
    """

    unit: Literal["epsilon", "gdp", "zcdp"]
    amount: Fraction  # epsilon, mu or rho
    each: Fraction = Fraction(0)  # the slack of one Gaussian draw
    draws: int = 1
    event: Fraction = Fraction(0)  # the probability of an event at which all may be lost
    parts: Mapping[str, tuple[Part, ...]] = field(default_factory=dict, hash=False)

    @classmethod
    def of(
        cls,
        epsilon: Number,
        delta: Number = 0,
        *,
        slack: Number = 0,
        draws: int = 1,
        event: Number = 0,
        lower: bool = False,
        strongest: Number = STRONGEST,
    ) -> "Allocation":
        """All that (epsilon, delta) allows, by mu where there is a delta. [allocation.1], [allocation.2]

        `slack` is kept for each of so many Gaussian draws, and the share `event` of delta for an event of that
        probability. Slack costs e^epsilon times itself: where that is more than a tenth of delta, mu is that of a
        smaller epsilon with `lower`; without it the slack takes what it takes, and more than delta is refused.
        """
        if not delta:
            return cls("epsilon", exact(epsilon))  # [allocation.1]
        lost, each = exact(delta) * exact(event), exact(slack)
        mu = _mu(exact(epsilon), exact(delta), lost, each * draws, lower)  # [allocation.2]
        return cls("gdp", min(mu, exact(strongest)), each, draws, lost)

    @classmethod
    def concentrated(cls, epsilon: Number, delta: Number, *, slack: Number = 0) -> "Allocation | None":
        """The same by rho; None where the slack would take half of delta. [allocation.2]"""
        room, kept = float(exact(delta)), exact(slack)
        reserve = (1 + safe_exp(float(epsilon))) * float(kept) * (1 + 1e-9) if kept else 0.0
        if reserve * 2 >= room:
            return None
        return cls("zcdp", exact(calibrate.rho(epsilon, room - reserve)), kept)  # [allocation.2]

    @property
    def pure(self) -> bool:
        """Whether noise is Laplace's."""
        return self.unit == "epsilon"

    @property
    def slack(self) -> Fraction:
        """That of all Gaussian draws together."""
        return self.each * self.draws

    @property
    def square(self) -> Fraction:
        """mu squared, of which shares are where there is a delta."""
        return self.amount**2 if self.unit == "gdp" else 2 * self.amount

    @property
    def ceiling(self) -> Loss:
        """What any parts come to at most, however they are shared. [allocation.4]"""
        if self.pure:
            return Approximate(self.amount, 0)  # [allocation.4]
        if self.unit == "zcdp":
            raise BadInput("parts by rho come to no loss that is known before them; list them")
        whole = Gaussian(self.amount, self.slack)
        return compose(whole, Approximate(0, self.event)) if self.event else whole  # [allocation.4]

    @property
    def loss(self) -> Loss:
        """Every draw, and the event. [allocation.2]"""
        whole = compose(*chain(*self.parts.values()))
        return compose(whole, Approximate(0, self.event)) if self.event else whole

    def split(self, **shares: Share | None) -> "Allocation":
        """These parts, in the order in which they run; None where there is no such stage. [allocation.3]"""
        left, rests = Fraction(1), 0
        for share in shares.values():
            if share is not None:
                left, rests = (left, rests + 1) if share.of is None else (left - share.of, rests)
        if left < 0 or rests > 1:
            raise BadInput(f"shares add up to {show(1 - left)} of the budget; give at most 1, and the rest once")
        parts, off = {}, Fraction(0)
        for name, share in shares.items():
            if share is None:
                continue
            draw = self._draw((left if share.of is None else share.of) / share.times, share.cost)
            parts[name] = (draw,) * share.times
            off += share.times * exact(draw.slack) if isinstance(draw, Gaussian) else 0
        if off > self.slack:  # [allocation.3]
            raise BadInput(f"the draws have a slack of {show(off)}, and {show(self.slack)} was kept for it")
        return replace(self, parts=parts)

    def _draw(self, share: Fraction, cost: Callable[[Fraction], Part] | None) -> Part:
        if self.unit == "epsilon":
            return (cost or Laplace)(self.amount * share)  # [allocation.1]
        if cost is Choice:
            rate = CHOICE if self.unit == "gdp" else 4
            return Choice(root_below(self.square * share * rate))  # [allocation.2]
        mu = root_below(self.square * share)  # [allocation.2]
        return Gaussian(mu, self.each) if cost is None else cost(mu)

    def within(self, *names: str) -> "Allocation":
        """What these parts of Gaussian noise have together, to be shared out anew. [allocation.2]"""
        mine = [draw for name in names if name in self.parts for draw in self.parts[name]]
        others = sum(map(len, self.parts.values())) - len(mine)
        square = sum((exact(draw.mu) ** 2 for draw in mine if isinstance(draw, Gaussian)), Fraction(0))
        return Allocation("gdp", root_below(square), self.each, self.draws - others)  # [allocation.2]

    def __contains__(self, name: object) -> bool:
        return name in self.parts

    def __getitem__(self, name: str) -> Part:
        return self.parts[name][0]

    def part(self, name: str, kind: type[Of]) -> Of:
        """One draw of the stage of this name."""
        found = self.parts[name][0]
        assert isinstance(found, kind)
        return found

    def all(self, name: str, kind: type[Of]) -> tuple[Of, ...]:
        """Every draw of the stage of this name: they are equal."""
        return (self.part(name, kind),) * len(self.parts[name])

    def noise(self, name: str) -> Laplace | Gaussian:
        """One draw of noise for the stage of this name."""
        found = self.parts[name][0]
        assert isinstance(found, Laplace | Gaussian)
        return found

    @property
    def shown(self) -> Mapping[str, float]:
        """What each draw costs, for the record: epsilon, or the mu of Gaussian noise."""
        return {
            name if len(draws) == 1 else f"{name}, each of {len(draws)}": float(
                draws[0].mu if isinstance(draws[0], Gaussian) else draws[0].epsilon
            )
            for name, draws in self.parts.items()
        }


def in_proportion(parts: Mapping[str, float]) -> dict[str, Share]:
    """Shares that are to each other as these numbers and add up to 1; none where a number is 0.

    >>> in_proportion({"test": 0.1, "mean": 0.3})["mean"].of
    Fraction(3, 4)
    """
    fractions = {name: Fraction(part).limit_denominator(10**9) for name, part in parts.items() if part > 0}
    whole = sum(fractions.values(), Fraction(0))
    return {name: Share(part / whole) for name, part in fractions.items()}


@lru_cache(maxsize=256)
def _mu(epsilon: Fraction, delta: Fraction, lost: Fraction, slack: Fraction, lower: bool) -> Fraction:
    """The mu of (epsilon, delta - lost) with this slack, or of a smaller epsilon. [allocation.2]"""
    place, off = float(epsilon), float(slack)
    if lower:
        tenth = math.ceil(1 - math.log10(delta))
        place = min(place, math.log(10.0**-tenth) - math.log(off))
        if not place > 0:  # noise at an epsilon of 0 is wider than anything that is asked about
            raise BadInput(
                f"delta is {show(delta)}, of which the noise drawn takes {show(slack)} and more at any epsilon; ask "
                "for a larger delta, or for delta=0 where that is allowed"
            )
    return exact(calibrate.gaussian(place, float(delta - lost), off))  # [allocation.2]
