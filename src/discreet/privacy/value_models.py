"""Values that are models: coefficients, clusters, densities and distributions.

Everything here is computed from what was released: there are no residuals, no labels of the rows, and no data.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.exact import show
from discreet.privacy.value_arrays import FEW, Described, Floats, Matrix, listed, matching, place_of

Link = Literal["identity", "logit", "log"]
POINTS: Final = 201  # of a curve that is drawn


@dataclass(frozen=True, slots=True, eq=False)
class Coefficients(Described):
    """The coefficients of a model. As an array it is `coef`; `intercept` is 0.0 where the model has none.

    >>> line = Coefficients(np.array([2.0]), 1.0, ("age",))
    >>> line.predict([[3.0]]).tolist()
    [7.0]
    """

    coef: Any
    intercept: float
    names: tuple[str, ...]
    link: Link = "identity"

    def __post_init__(self) -> None:
        matching(self.names, self.coef)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.coef, dtype=dtype)

    def __len__(self) -> int:
        return len(self.coef)

    def __iter__(self) -> Iterator[float]:
        return iter(self.coef.tolist())

    def __getitem__(self, place: int | str) -> float:
        """By position or by name."""
        return float(self.coef[place_of(self.names, place)])

    def _entries(self) -> list[tuple[str, Any]]:
        return [("intercept", float(self.intercept)), *zip(self.names, self.coef.tolist(), strict=True)]

    def with_numbers(self, numbers: Any) -> "Coefficients":
        """The same with other numbers, the intercept first: the ends of an interval."""
        return replace(self, coef=np.asarray(numbers[1:], dtype=float), intercept=float(numbers[0]))

    def linear(self, X: Any) -> Floats:  # noqa: N803  as scikit-learn calls it
        """The linear part for each row."""
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.coef):
            raise BadInput(f"X has shape {rows.shape}; it needs rows of {len(self.coef)} columns: {self.names}")
        return np.asarray(rows @ self.coef + self.intercept, dtype=float)

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """The expected outcome of each row: a number, a chance (logit) or a rate (log)."""
        linear = self.linear(X)
        match self.link:
            case "identity":
                return linear
            case "logit":
                from scipy.special import expit

                return np.asarray(expit(linear), dtype=float)
            case "log":
                return np.exp(linear)

    def summary(self) -> str:
        """Each coefficient on a line; `release.summary()` has their errors, too."""
        wide = max(map(len, self.labels))
        return "\n".join(f"{name.ljust(wide)}  {show(number):>12}" for name, number in self._entries())

    def __str__(self) -> str:
        terms = [f"{name} {show(value)}" for name, value in self._entries()[1 : FEW + 1]]
        return f"{listed(terms, len(self))}{', ' if terms else ''}intercept {show(self.intercept)}"


@dataclass(frozen=True, slots=True, eq=False)
class Clusters(Described):
    """k centres in the order of their first coordinates, with noisy `sizes`.

    `noise` is the standard deviation of the last noise on each coordinate of each centre; `loss`, if it was asked for,
    the noisy sum of squared distances to the nearest centre. As an array it is `centres`.

    >>> found = Clusters(np.array([[0.0, 0.0], [9.0, 9.0]]), np.array([70.0, 30.0]), np.array([0.1, 0.2]))
    >>> found.predict([[1.0, 2.0], [8.0, 8.0]]).tolist()
    [0, 1]
    """

    centres: Any
    sizes: Any
    noise: Any
    loss: float | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if np.ndim(self.centres) != 2:
            raise BadInput("centres need coordinates that are as many for each")
        for each in (self.sizes, self.noise):
            matching(self.centres, each)
        matching(self.names or self.centres.T, self.centres.T)

    @classmethod
    def sorted(cls, centres: Floats, sizes: Floats, noise: Floats, loss: float | None = None) -> "Clusters":
        """In the order of what was released."""
        order = np.lexsort(centres.T[::-1])
        return cls(centres[order], np.rint(np.maximum(sizes[order], 0.0)), noise[order], loss)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.centres, dtype=dtype)

    def __len__(self) -> int:
        return len(self.centres)

    @property
    def columns(self) -> list[str]:
        """What the coordinates are called."""
        return list(self.names) or [f"column {place + 1}" for place in range(self.centres.shape[1])]

    def _entries(self) -> list[tuple[str, Any]]:
        names = [f"centre {place}, {name}" for place in range(1, len(self) + 1) for name in self.columns]
        return list(zip(names, self.centres.ravel().tolist(), strict=True))

    def _unnamed(self) -> int:
        return -1 if self.names else self.centres.shape[1]

    @property
    def rest(self) -> list[tuple[str, Any]]:
        """The sizes and the noise of the centres."""
        sizes = [(f"size of {place}", size) for place, size in enumerate(self.sizes.tolist(), 1)]
        return sizes + [(f"noise (sd) of {place}", size) for place, size in enumerate(self.noise.tolist(), 1)]

    def predict(self, X: Any) -> "np.ndarray[Any, np.dtype[np.int64]]":  # noqa: N803  as scikit-learn calls it
        """The nearest released centre of each row: no further cost. -1 for a row with a missing entry."""
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != self.centres.shape[1]:
            raise BadInput(f"X has shape {rows.shape}; it needs rows of {self.centres.shape[1]} columns")
        labels = np.full(len(rows), -1, dtype=np.int64)
        step = max(1, (1 << 20) // max(1, self.centres.size))
        for start in range(0, len(rows), step):
            with np.errstate(all="ignore"):
                apart = ((rows[start : start + step, None] - self.centres[None]) ** 2).sum(axis=2)
            known = ~np.isnan(apart).any(axis=1)
            labels[start : start + step][known] = np.argmin(apart[known], axis=1)
        return labels

    def table(self) -> dict[str, Any]:
        """A row for each centre."""
        columns: dict[str, Any] = dict(zip(self.columns, self.centres.T.tolist(), strict=True))
        return columns | {"size, noisy": self.sizes.tolist(), "noise in its place (sd)": self.noise.tolist()}

    def describe(self) -> str:
        """How many centres, and how large they are."""
        sizes = listed([f"{size:,.0f}" for size in self.sizes[:FEW].tolist()], len(self))
        return f"{len(self)} centres, with about {sizes} of the rows around them."

    def __str__(self) -> str:
        shown = [f"({listed([show(x) for x in row[:4]], len(row))})" for row in self.centres[:FEW]]
        return f"{len(self)} centres, {listed(shown, len(self))}"


@dataclass(frozen=True, slots=True, eq=False)
class Density(Described):
    """A density on `edges` with `heights` between them; called with a number or an array it says how high it is.

    `below` and `above` are the shares of people beyond the ends. `fine` are the ends of narrow cells and `reached` the
    share of people up to each of them: what `cdf` and `quantile` read. As an array it is its heights.
    """

    edges: Any
    heights: Any
    below: float
    above: float
    fine: Any
    reached: Any

    def __post_init__(self) -> None:
        matching(self.edges[1:], self.heights)
        matching(self.fine, self.reached)
        if not len(self.heights) or not (np.diff(self.edges) > 0).all():
            raise BadInput("the edges of a density must grow")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.heights, dtype=dtype)

    def _entries(self) -> list[tuple[str, Any]]:
        bins = itertools.pairwise(f"{edge:,.6g}" for edge in self.edges.tolist())
        return [(f"{one} to {other}", high) for (one, other), high in zip(bins, self.heights.tolist(), strict=True)]

    @property
    def rest(self) -> list[tuple[str, Any]]:
        """The shares beyond the ends."""
        return [("below", self.below), ("above", self.above)]

    def __call__(self, t: Any) -> Any:
        """The height at t: that of its bin, 0 beyond the ends."""
        places = np.asarray(t, dtype=float)
        found = np.searchsorted(self.edges, places, side="right") - 1
        found = np.where(places == self.edges[-1], len(self.heights) - 1, found)
        inside = (found >= 0) & (found < len(self.heights))
        high = np.where(inside, self.heights[np.clip(found, 0, len(self.heights) - 1)], 0.0)
        return float(high) if places.ndim == 0 else high

    def polygon(self, t: Any) -> Any:
        """The frequency polygon at t: straight lines between the bins' middles. Closer to a smooth density.

        The first and the last line go on to the ends, or to 0; beyond the ends it is 0.
        """
        places = np.asarray(t, dtype=float)
        high = np.interp(places, *self.corners, left=0.0, right=0.0)
        return float(high) if places.ndim == 0 else high

    @property
    def corners(self) -> tuple[Floats, Floats]:
        """Where the polygon's lines meet: places and heights."""
        middles = (self.edges[:-1] + self.edges[1:]) / 2
        if len(middles) == 1:
            return self.edges, np.repeat(self.heights, 2)
        part = (self.edges[[0, -1]] - middles[[0, -1]]) / np.diff(middles)[[0, -1]]  # of the way to the next middle
        first, last = np.maximum(self.heights[[0, -1]] + part * np.diff(self.heights)[[0, -1]], 0.0)
        places = np.concatenate([self.edges[:1], middles, self.edges[-1:]])
        return places, np.concatenate([[first], self.heights, [last]])

    def cdf(self, t: Any) -> Any:
        """The share of people up to t. What lies beyond the ends is counted at the ends."""
        places = np.asarray(t, dtype=float)
        share = np.interp(places, self.fine, self.reached, left=0.0, right=1.0)
        return float(share) if places.ndim == 0 else share

    def quantile(self, q: Any) -> Any:
        """The least t with at least a share q of people up to it, within the ends."""
        shares = np.asarray(q, dtype=float)
        if not ((shares > 0) & (shares < 1)).all():
            raise BadInput(f"q is {q!r}; give shares between 0 and 1, for example 0.5")
        after = np.clip(np.searchsorted(self.reached, shares, side="left"), 0, len(self.fine) - 1)
        before = np.maximum(after - 1, 0)
        rise = self.reached[after] - self.reached[before]
        part = np.where(rise > 0, (shares - self.reached[before]) / np.where(rise > 0, rise, 1.0), 1.0)
        found = self.fine[before] + np.clip(part, 0.0, 1.0) * (self.fine[after] - self.fine[before])
        return float(found) if shares.ndim == 0 else found

    def table(self) -> dict[str, Any]:
        """A row for each bin."""
        return {"low": self.edges[:-1], "high": self.edges[1:], "height": self.heights}

    def __str__(self) -> str:
        top = int(np.argmax(self.heights))
        return (
            f"{len(self.heights)} bins from {show(self.edges[0])} to {show(self.edges[-1])}, "
            f"highest ({show(self.heights[top])}) between {show(self.edges[top])} and {show(self.edges[top + 1])}"
        )


class Distribution(Described, Mapping[str, float]):
    """A fitted distribution: its parameters by name (`fit.rate`, `fit["rate"]`), and `distribution()` for the rest.

    `make` makes the scipy distribution of the parameters. One that was read from a file has none, and keeps the curve
    of its density as it was stored.
    """

    __slots__ = ("_curve", "family", "make", "parameters")

    def __init__(
        self,
        family: str,
        parameters: Mapping[str, float],
        make: Callable[..., Any] | None = None,
        *,
        curve: tuple[Floats, Floats] | None = None,
    ) -> None:
        self.family, self.parameters, self.make, self._curve = family, dict(parameters), make, curve
        if curve is not None:
            matching(*curve)

    def distribution(self) -> Any:
        """The frozen scipy.stats distribution: density, quantiles, random numbers."""
        if self.make is None:
            raise BadInput(f"this {self.family} was read from a file; make the distribution from its parameters")
        return self.make(*self.parameters.values())

    def with_parameters(self, numbers: Sequence[float]) -> "Distribution":
        """Another of the same family."""
        return Distribution(self.family, dict(zip(self.parameters, numbers, strict=True)), self.make)

    @property
    def curve(self) -> tuple[Floats, Floats] | None:
        """Places and heights of the density, of whole numbers as steps; None where there is nothing to draw."""
        if self.make is None:
            return self._curve
        try:
            fitted = self.distribution()
            low, high = (float(fitted.ppf(share)) for share in (0.0005, 0.9995))
            if getattr(fitted, "pmf", None) is not None:
                whole = np.arange(low, min(high, low + 10 * POINTS) + 1)
                return np.repeat(np.append(whole - 0.5, whole[-1] + 0.5), 2)[1:-1], np.repeat(fitted.pmf(whole), 2)
            x = np.linspace(low, high, POINTS)
            y = np.asarray(fitted.pdf(x), dtype=float)
            return (x, y) if np.isfinite(y).all() and high > low else None
        except Exception:  # noqa: BLE001  categories have no curve; of one's own families, whatever they raise
            return None

    def _entries(self) -> list[tuple[str, Any]]:
        return list(self.parameters.items())

    def __getitem__(self, name: str) -> float:
        return self.parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in self.__slots__:
            raise AttributeError(name)
        if name in self.parameters:
            return self.parameters[name]
        if name == "probabilities":
            return dict(self.parameters)
        if name == "sd" and "variance" in self.parameters:
            return math.sqrt(self.parameters["variance"])
        derived = {"mean": "mean", "variance": "var", "sd": "std", "median": "median"}
        if name in derived:
            return float(getattr(self.distribution(), derived[name])())
        raise AttributeError(f"a fitted {self.family} has {', '.join(self.parameters)}, and no {name!r}")

    def __reduce__(self) -> Any:
        return partial(Distribution, curve=self._curve), (self.family, self.parameters, self.make)

    def describe(self) -> str:
        """The family and its parameters."""
        return f"A {self.family} distribution: {self}."

    def __str__(self) -> str:
        return listed([f"{name} {show(value)}" for name, value in self._entries()[:FEW]], len(self))

    def __repr__(self) -> str:
        return f"{self.family}({', '.join(f'{name}={show(value)}' for name, value in self.items())})"


@dataclass(frozen=True, slots=True, eq=False)
class MultivariateNormal(Described):
    """A normal distribution of several columns: a mean and a covariance."""

    mean: Any
    covariance: Any
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if np.shape(self.covariance) != (len(self.mean), len(self.mean)):
            raise BadInput(
                f"the covariance has shape {np.shape(self.covariance)}, and the mean {len(self.mean)} numbers"
            )
        matching(self.names or self.mean, self.mean)

    @property
    def columns(self) -> list[str]:
        """What the columns are called."""
        return list(self.names) or [f"column {place + 1}" for place in range(len(self.mean))]

    def _entries(self) -> list[tuple[str, Any]]:
        means = [(f"mean of {name}", mean) for name, mean in zip(self.columns, self.mean.tolist(), strict=True)]
        pairs = Matrix(self.covariance, tuple(self.columns))
        return means + list(zip(pairs.labels, pairs.numbers, strict=True))

    def _unnamed(self) -> int:
        return -1 if self.names else len(self.mean)

    @property
    def correlation(self) -> Floats:
        """The covariance of columns of variance 1."""
        size = np.sqrt(np.diag(self.covariance))
        return np.asarray(self.covariance / np.outer(size, size))

    def __str__(self) -> str:
        mean, variances = (
            np.array2string(part, precision=4, threshold=6) for part in (self.mean, np.diag(self.covariance))
        )
        return f"mean {mean}, variances {variances}"
