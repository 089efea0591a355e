"""A normal distribution fitted to rows in R^d: mean and covariance, and how far off it can be in total variation.

Releases
    The stages of statistics/covariance_stages.py under its model, half of what they do not need for the mean: a frame
    in which rows look standard normal, a centre in that frame (rows are friends if they are near in Mahalanobis
    distance), the mean, and the covariance about it.
Promise
    [normal_table.1] (epsilon, delta) under REPLACE and under ADD_OR_REMOVE, by the losses of the stages.
    [normal_table.2] Refusals read public numbers and earlier answers only.
    [normal_table.3] For normal rows the interval of each entry of mean and covariance holds the population's with its
          confidence, to first order.
    [normal_table.4] With the confidence asked for, the distribution released is within `total_variation` of the
          population's, if that is normal, to first order.
Why
    [normal_table.1] [covariance_stages.1] and [covariance_stages.2].
    [normal_table.2] As [covariance.2]; and no centre is a refusal here, decided by a released number.
    [normal_table.3] As [covariance.3]; the mean of bent rows answers to a shift by the slope a1 (statistics/whiten.py),
    and its noise is known in the frame.
    [normal_table.4] The proof is with `total_variation` in statistics/covariance.py.
Needs
    About as many rows as a covariance; up to a third of them may be anywhere, and count as errors.
Accuracy
    Noise of standard deviation 2 R / (n mu a1), under ADD_OR_REMOVE half of it, on each coordinate of the mean in the
    frame, R about sqrt(d) to sqrt(d) + 1: at n = 5,000, d = 5, epsilon = 1 the mean's error is 1.35, the covariance's
    1.6 times the sample's under REPLACE, 1.1 and 1.3 times under ADD_OR_REMOVE.
Source
    Biswas, Dong, Kamath and Ullman 2020; Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022 for the centre.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Mechanism, Randomness, promised
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import MultivariateNormal
from discreet.statistics.covariance import NormalVectorSpread, check_stages, checked_size
from discreet.statistics.covariance_stages import MomentBudget
from discreet.statistics.normal import Gaussian1D
from discreet.tables.matrix import in_one, matrix
from discreet.worlds.assumptions import NO_FLOOR, About, World
from discreet.worlds.floors import RATES
from discreet.worlds.shapes import AssumedTable

MEAN: Final = Fraction(3, 10)  # the share of the mean
NOTE: Final = "the fit rests on a normal model; rows far from the others count as errors"


@dataclass(frozen=True, slots=True)
class MultivariateGaussian:
    """A normal distribution: `value.mean` and `value.covariance`.

    `dimension` is the number of columns, `size` the number of rows where it is public (neighbours REPLACE): with both
    the loss lists every draw.

    >>> from discreet.noise.randomness import Seeded
    >>> import numpy as np
    >>> rows = np.array([[k % 7, k % 11 + k % 7] for k in range(5000)])
    >>> release = MultivariateGaussian(epsilon=2.0, delta=1e-6).release(rows, Seeded(1))
    >>> bool(abs(release.value.mean - rows.mean(axis=0)).max() < 0.4)
    True
    """

    epsilon: Number
    delta: Number
    _: KW_ONLY
    dimension: int | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_stages(
            self.epsilon,
            self.delta,
            dimension=self.dimension,
            neighbours=self.neighbours,
            size=self.size,
            what="a normal distribution",
        )

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Every draw; before rows and columns are known, what they amount to."""
        return self.budget.loss(self.size, self.dimension)  # [normal_table.1]

    @property
    def budget(self) -> MomentBudget:
        """For all stages."""
        return MomentBudget(self.epsilon, self.delta, model=True, mean=MEAN, neighbours=self.neighbours)

    def check(self, size: int | None) -> None:
        """Refuse too few rows, where their number is public and that of columns was declared. [normal_table.2]"""
        if size:
            check_budget(self.epsilon, self.delta, size)
        if size is not None and self.dimension is not None:
            self.budget.check(size, self.dimension)

    def release(self, rows: Any, rng: Randomness) -> Release[MultivariateNormal]:
        """The distribution, or a refusal."""
        table = matrix(rows, self.dimension, declared="dimension")
        size = checked_size(table, self.size, self.epsilon, self.delta, self.neighbours)
        shown = {"neighbours": self.neighbours, "rows": size, "columns": table.width}
        blank: Release[MultivariateNormal] = Release(
            self.guarantee,
            Provenance("MultivariateGaussian", shown, rng.secure, notes=(NOTE,)),
            name="normal distribution",
        )
        found = self.budget.fit(in_one(table), rng)  # [normal_table.1]
        if isinstance(found, str):  # [normal_table.2]
            return replace(blank, refusal=found)
        if found.shift is None:  # [normal_table.2]
            return replace(blank, refusal="too many rows lie far from the others for one normal distribution")
        spread = NormalVectorSpread.of(found)  # [normal_table.3]
        far = spread.total_variation(0.95)  # [normal_table.4]
        note = f"with confidence 95% within total variation {show(far)} of the population, if that is normal"
        provenance = replace(blank.provenance, notes=(NOTE, note))
        return replace(blank, answer=spread.value, spread=spread, provenance=provenance)


def _several(_: Mapping[str, Any], columns: Mapping[str, Columns | None]) -> bool:
    about = columns.get("x")
    return about is not None and about.several


def _world(about: About) -> World:
    several = "columns" in about.given
    table = AssumedTable.of(about, columns=2 if several else 1, shaped=False)
    place, scale, d = table.entries.location, table.entries.scale, table.columns

    def gap(errors: Any, _truth: Any) -> Any:
        """For small errors by Pinsker's bound; of one column summed."""
        if not several:
            return between_normals(errors[:, 0], scale**2 + errors[:, 1], scale**2)
        shift, matrix = errors[:, :d] / scale, errors[:, d:] / scale**2
        return np.minimum(np.sqrt((shift**2).sum(axis=1) + (matrix**2).sum(axis=1) / 2) / 2, 1.0)

    def numbers(value: Any) -> Any:
        return np.concatenate([np.ravel(value.mean), np.ravel(value.covariance if several else value.variance)])

    return World(
        make=lambda g, n: {"x": table.draw(g, n) if several else table.draw(g, n)[:, 0]},
        truth=np.concatenate([np.full(d, place), (np.eye(d) * scale**2).ravel()]),
        plain=lambda x: np.append(x.mean(axis=0), np.cov(x, rowvar=False, ddof=0)),
        measure="median distance in total variation from the population's distribution"
        + (", by Pinsker's bound for small errors" if several else ""),
        read=numbers,
        gap=gap,
        width=lambda spread, confidence: float(spread.total_variation(confidence)),
        floor_note=RATES["covariance"] if several else NO_FLOOR,
    )


def between_normals(shift: Any, variance: Any, against: float) -> Any:
    """The total variation between N(shift, variance) and N(0, against), summed on a grid."""
    places = np.linspace(-8, 8, 401) * math.sqrt(against)
    wide = np.sqrt(np.maximum(variance, 1e-12 * against))[:, None]
    here = np.exp(-(((places - shift[:, None]) / wide) ** 2) / 2) / wide
    there = np.exp(-(places**2) / against / 2) / math.sqrt(against)
    found = np.abs(here - there).sum(axis=1) * (places[1] - places[0]) / math.sqrt(8 * math.pi)
    return np.minimum(found, 1.0)


@statistic({"x": number("either", streams=True)}, wants_delta=_several, world=_world)
def fit_normal(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    bounds: tuple[float, float] | None = None,
) -> Mechanism[Any]:
    """A normal distribution: `.mean`, `.variance`, and how far off it may be in total variation. No bounds needed.

    Of one column it is pure, whatever delta is allowed. Of the rows of an array, a data frame or an Arrow table it has
    `.covariance`, and needs delta > 0.

    >>> import discreet
    >>> r = discreet.fit_normal([float(k % 80) for k in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 30 < r.value.mean < 50
    True
    """
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit, "size": people.size}
    if not x.several:
        return Gaussian1D(epsilon, bounds=bounds, **terms)
    if bounds is not None:
        raise BadInput(f"bounds are {bounds!r}; those of rows with several columns are not used, leave them out")
    return MultivariateGaussian(epsilon, delta, dimension=len(x.names), **terms)
