"""Stochastic gradient descent: noisy sums of clipped gradients over secret samples, for any loss with a gradient.

Releases
    At each step the noisy sum, over a Poisson sample of the people, of gradients clipped to a public length; from them
    the parameters of every step. What is returned is their average over the last half.
Promise
    [sgd.1] (epsilon, delta). With rate = 1 under both relations; with a smaller rate under ADD_OR_REMOVE, and REPLACE
          is refused when it is asked for. `loss` lists every step.
    [sgd.2] Steps, rate, clip, learning rate and what sums are divided by are public; a step is taken whether the sample
          holds anybody or not.
Why
    [sgd.1] A person's clipped gradient is at most `gradient_sensitivity` steps long, [gradients.1]: the sum
    moves by as much under ADD_OR_REMOVE, and by twice as much under REPLACE. Then [additive.3], and
    adaptive composition: parameters of a step are what was released before. `strength` returns a mu at which
    `implies` itself said that all steps keep the guarantee ([compose.2]).
    [sgd.2] Under ADD_OR_REMOVE the number of people is declared by the caller, as a guess, and is never counted.
Needs
    Features in units of about 1, or declared bounds; delta > 0.
Accuracy
    Noise of (1 or 2) clip / (mu n rate) on each entry of a mean gradient; sqrt(steps) times that for one pass of all.
Source
    Abadi et al. 2016; Bassily, Smith and Thakurta 2014; Polyak and Juditsky 1992 for the average.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import STRONGEST, Allocation, Share
from discreet.accounting.compose import implies
from discreet.errors import BadInput
from discreet.models.features import Features, Scaling, named_columns, prepared
from discreet.models.gradients import LOSSES, AnyGradients, Gradients, ModelGradients, gradient_sensitivity
from discreet.noise.additive import rounded_rate, slack
from discreet.privacy.declaration import Columns, Public, number, stacked, statistic
from discreet.privacy.exact import Number, bisect, exact, is_number
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.privacy.loss import Gaussian, Loss, Sampled, compose
from discreet.privacy.mechanism import Mechanism, Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Coefficients, Link
from discreet.stages.clip import Floats
from discreet.stages.declared import agree
from discreet.tables.matrix import in_one, matrix
from discreet.worlds.assumptions import About, World
from discreet.worlds.shapes import regression

LINKS: Final[dict[str, Link]] = {"logistic": "logit", "poisson": "log"}
MOST_STEPS: Final = 100_000
NO_INTERVAL: Final = "no interval: the error of stopped, clipped descent is not known"


@dataclass(frozen=True, slots=True)
class StochasticDescent:
    """Parameters that make a loss small. Rows are features followed by the outcome.

    `descends` is a named loss ("squared", "huber", "logistic", "poisson") or a function gradients(w, X, y) of one row
    with `parameters` numbers. `people` is what sums are divided by, times the rate: the number of rows where it is
    public, a public guess where it is not.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = np.array([[k % 7 - 3.0, (k % 7) + (k % 5) > 5] for k in range(4000)])
    >>> model = StochasticDescent(Features(("x",)), "logistic", epsilon=2.0, delta=1e-6, steps=40, people=4000)
    >>> bool(0.3 < model.release(rows, Seeded(1)).value["x"] < 2)
    True
    """

    features: Features
    descends: str | Callable[[Floats, Any, Any], Any]
    _: KW_ONLY
    epsilon: Number
    delta: Number
    steps: int = 40
    rate: float = 1.0
    clip: float | None = None
    learning: float | None = None
    people: int | None = None
    parameters: int | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        if not (isinstance(self.people, int) and not isinstance(self.people, bool) and self.people > 0):
            raise BadInput(f"people is {self.people!r}; give the number of people, or where that is private, a guess")
        check_budget(self.epsilon, self.delta, self.people)
        if not self.delta:
            raise BadInput("delta is 0; descent adds Gaussian noise and needs delta > 0, for example delta=1e-6")
        if callable(self.descends) == (self.parameters is None):
            raise BadInput(f"give one of {LOSSES}, or a function of one row together with its number of parameters=")
        if self.parameters is not None and not (
            isinstance(self.parameters, int) and not isinstance(self.parameters, bool) and 1 <= self.parameters <= 10**6
        ):
            raise BadInput(f"parameters is {self.parameters!r}; give a whole number from 1 to 10^6")
        if not callable(self.descends) and self.descends not in LOSSES:
            raise BadInput(f"loss is {self.descends!r}; give one of {LOSSES}, or a function")
        if not isinstance(self.steps, int) or isinstance(self.steps, bool) or not 1 <= self.steps <= MOST_STEPS:
            raise BadInput(f"steps is {self.steps!r}; give a whole number from 1 to {MOST_STEPS}")
        if not is_number(self.rate) or not 1e-6 <= self.rate <= 1:
            raise BadInput(f"rate is {self.rate!r}; give the chance of a person to be in a sample, 1e-6 to 1")
        if self.rate < 1 and self.neighbours is not Neighbours.ADD_OR_REMOVE:  # [sgd.1]
            raise BadInput(
                "a Poisson sample hides whether a person is there, not that one is replaced; give "
                "neighbours='add_or_remove', or rate=1"
            )
        for name in ("clip", "learning"):
            value = getattr(self, name)
            if value is not None and not (is_number(value) and 1e-9 <= value <= 1e9):
                raise BadInput(f"{name} is {value!r}; give a number from 1e-9 to 1e9, or None")
        self.cost  # noqa: B018  too small a budget is refused here

    guarantee = promised

    @property
    def cost(self) -> Gaussian:
        """Of one step, on its sample. [sgd.1]"""
        moved = gradient_sensitivity(self.size, self.neighbours)
        return strength(self.guarantee, rounded_rate(self.rate), self.steps, self.size, moved)

    @property
    def loss(self) -> Loss:
        """Every step. [sgd.1]"""
        return _steps(self.cost, rounded_rate(self.rate), self.steps)

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return self.features.size if self.parameters is None else int(self.parameters)

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The average of the last half of all parameters."""
        table = in_one(matrix(rows, len(self.features.names) + 1, declared="features and outcome"))
        if self.neighbours.size_is_public:
            agree(len(table), self.people)
        scaling = self.features.scaling()
        if scaling is None:  # as they come
            columns = len(self.features.names)
            scaling = Scaling(np.zeros(columns), np.ones(columns), self.features.intercept)
        people = self._gradients(table, scaling)
        w = np.zeros(people.size)
        cost, rate = self.cost, rounded_rate(self.rate)
        moved = gradient_sensitivity(people.size, self.neighbours)
        divide = rate * int(self.people or 1)  # [sgd.2]
        pace, total, kept = self.pace, np.zeros(people.size), 0
        for step in range(self.steps):
            here = w
            noisy = rng.sampled_sum(
                people.people,
                lambda chosen, at=here: people.total(at, chosen),
                sensitivity=moved,
                cost=cost,
                rate=rate,
            )  # [sgd.1]
            w = np.clip(w - pace / divide * self.longest / 2**26 * np.asarray(noisy, dtype=np.float64), -1e100, 1e100)
            if step >= self.steps // 2:
                total, kept = total + w, kept + 1
        return self._released(total / kept, scaling, rng)

    @property
    def longest(self) -> float:
        """The clip: as given, or the root of the number of parameters, about the length of a row of features."""
        return math.sqrt(self.size) if self.clip is None else float(self.clip)

    @property
    def pace(self) -> float:
        """The learning rate: as given, or 4 / size of a logistic loss, 1 / size of others."""
        if self.learning is not None:
            return float(self.learning)
        return (4.0 if self.descends == "logistic" else 1.0) / self.size

    def _gradients(self, table: Floats, scaling: Scaling) -> Gradients:
        if callable(self.descends):
            return AnyGradients(
                gradients=self.descends, X=table[:, :-1], y=table[:, -1], size=self.size, clip=self.longest
            )
        return ModelGradients.of(prepared(table, scaling), self.descends, self.longest)  # type: ignore[arg-type]

    def _released(self, w: Floats, scaling: Scaling, rng: Randomness) -> Release[Any]:
        shown = {
            "loss": "a function" if callable(self.descends) else self.descends,
            "steps": self.steps,
            "rate": self.rate,
            "clip": self.longest,
            "neighbours": self.neighbours,
        }
        value: Any = w
        if not callable(self.descends):
            slopes, constant = scaling.back(w)
            value = Coefficients(slopes, constant, self.features.names, LINKS.get(self.descends, "identity"))
        provenance = Provenance("StochasticDescent", shown, rng.secure, notes=(NO_INTERVAL,))
        return Release(self.guarantee, provenance, value, name="descent")


def _steps(cost: Gaussian, rate: float, times: int) -> Loss:
    """So many steps on samples."""
    return compose(*(Sampled(cost, Fraction(rate)) if rate < 1 else cost,) * times)


@lru_cache(maxsize=256)
def strength(guarantee: Guarantee, rate: float, times: int, size: int, moved: Fraction) -> Gaussian:
    """The noise of one step with which all keep the guarantee: nearly the least. [sgd.1]"""

    def costing(mu: Fraction) -> Gaussian:
        return Gaussian(mu, slack(size, math.ceil(moved / mu)))

    most = Fraction(STRONGEST)
    if rate == 1:
        asked = guarantee.epsilon, guarantee.delta
        whole = Allocation.of(*asked, slack=costing(most).slack, draws=times, strongest=STRONGEST * times)
        return whole.split(steps=Share(None, lambda mu: costing(min(most, mu)), times)).part(
            "steps", Gaussian
        )  # [sgd.1]
    low = float(strength(guarantee, 1.0, times, size, moved).mu)  # of all people at every step
    ratio = max(1.0, min(3 / rate, float(STRONGEST) / low))

    def at(share: float) -> Gaussian:
        return costing(exact(low * ratio**share))

    def costs_too_much(share: float) -> bool:
        return not implies(_steps(at(share), rate, times), guarantee)  # [sgd.1]

    steps = math.ceil(math.log2(max(1.0, math.log(ratio) / math.log(1.02))))
    return at(bisect(costs_too_much, 0.0, 1.0, steps)[0])  # [sgd.1]: within 2%


def _world(about: About) -> World:
    loss = about.option("loss", "logistic")
    links = {"squared": "linear", "huber": "linear", "logistic": "logistic", "poisson": "poisson"}
    if not isinstance(loss, str) or loss not in links:
        raise BadInput(f"loss is {loss!r}; a forecast knows {', '.join(map(repr, links))}")
    inner, size = regression(about, links[loss]), about.take("size", None)
    plain = inner.plain
    assert plain is not None
    return replace(
        inner,
        make=lambda g, n: {**inner.make(g, n), "size": n if size is None else size},
        plain=lambda X, y, **_: plain(X, y),  # noqa: N803
    )


@statistic({"X": number("several"), "y": number()}, rows=stacked, world=_world)
def sgd(
    people: Public,
    loss: str | Callable[..., Any],
    X: Columns,  # noqa: N803
    y: Columns,
    *,
    epsilon: Number,
    delta: Number,
    steps: int = 40,
    rate: float = 1.0,
    clip: float | None = None,
    learning: float | None = None,
    size: int | None = None,
    parameters: int | None = None,
    intercept: bool = True,
    bounds: Any = None,
    norm: float | None = None,
    names: Sequence[str] | None = None,
) -> Mechanism[Any]:
    """Stochastic gradient descent on a loss, each person's gradient clipped, with noise at every step.

    `loss` is "squared", "huber", "logistic" or "poisson" (features in units of about 1, or with public `bounds`),
    or a function gradients(w, X, y) of one row that returns its `parameters` derivatives; it sees one row at a time
    and may remember nothing of others, and if it raises, that counts as 0. With rate < 1 each step sees a secret
    sample in which each person is with that chance: give neighbours="add_or_remove", and `size`, a public guess
    of how many there are. There is no interval.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7 - 3.0] for k in range(4000)])
    >>> r = discreet.sgd(
    ...     "squared", x, 2 * x[:, 0], epsilon=2.0, delta=1e-6, clip=6.0, size=4000, rng=discreet.Seeded(1))
    >>> bool(1.5 < r.value.coef[0] < 2.5)
    True
    """
    if size is None and people.size is None:
        raise BadInput("the number of people is private here; give size=, a public guess of how many there are")
    if size is not None and people.size is not None and size != people.size:
        raise BadInput(f"size is {size!r}, and the table has {people.size} rows; leave size out")
    return StochasticDescent(
        Features(named_columns(X, names).names, intercept, bounds, norm),
        loss,
        epsilon=epsilon,
        delta=delta,
        steps=steps,
        rate=rate,
        clip=clip,
        learning=learning,
        people=people.size if size is None else size,
        parameters=parameters,
        neighbours=people.neighbours,
        unit=people.unit,
    )
