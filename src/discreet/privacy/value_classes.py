"""Values that tell classes apart: counts of each class in the bins of columns, and log odds that are linear in them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.exact import show
from discreet.privacy.value_arrays import FEW, Described, label, listed, matching
from discreet.privacy.value_bins import ColumnBins

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts(Described):
    """How many there are of each of `classes`, and of each class in each bin of each column; and what follows.

    `levels` are, of a column that is `measured`, the numbers where its bins meet, of any other its categories. Each
    column has one bin more, for entries that are missing or not listed. `cells` are first the sizes of the classes,
    then, for each column and each class, those of its bins; `noise` is the standard deviation of each. `predict` and
    `predict_proba` are computed of these at no further cost, and have no interval.

    >>> sizes, by_age, by_sex = [60, 40], [50, 10, 0, 10, 30, 0], [30, 30, 0, 20, 20, 0]
    >>> cells = np.array(sizes + by_age + by_sex)
    >>> found = ClassCounts(("no", "yes"), ("age", "sex"), ((50.0,), ("F", "M")), (True, False), cells, 1.0)
    >>> found["yes", "age"], found.predict([[30, "F"], [70, "M"]]).tolist()
    ({'below 50': 10, '50 or more': 30, 'missing or not listed': 0}, ['no', 'yes'])
    """

    classes: tuple[Any, ...]
    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    measured: tuple[bool, ...]
    cells: Any
    noise: float

    def __post_init__(self) -> None:
        if len(self.cells) != len(self.classes) * (1 + sum(self._widths)):
            raise BadInput("counts by class need a number for each class and each bin of each column")

    @property
    def _widths(self) -> list[int]:
        return self._binned.widths

    @property
    def _binned(self) -> ColumnBins:
        return ColumnBins(self.names, self.levels, self.measured)

    @property
    def sizes(self) -> npt.NDArray[Any]:
        """How many there are of each class."""
        return np.asarray(self.cells)[: len(self.classes)]

    def _tables(self) -> Iterator[npt.NDArray[Any]]:
        """For each column the counts, a row for each class."""
        start = many = len(self.classes)
        for width in self._widths:
            yield np.reshape(self.cells[start : start + many * width], (many, width))
            start += many * width

    def _rows(self) -> Iterator[tuple[str, str, str, Any]]:
        named = [label(one) for one in self.classes]
        for one, size in zip(named, self.sizes.tolist(), strict=True):
            yield one, "", "", size
        for place, table in enumerate(self._tables()):
            for one, row in zip(named, table.tolist(), strict=True):
                named_bins = zip(self._binned.named(place), row, strict=True)
                yield from ((one, self.names[place], bin_, many) for bin_, many in named_bins)

    def _entries(self) -> list[tuple[str, Any]]:
        return [
            (", ".join(filter(None, (one, f"{name} {bin_}".strip()))), many) for one, name, bin_, many in self._rows()
        ]

    @property
    def rest(self) -> list[tuple[str, Any]]:
        """The deviation of the noise on each count."""
        return [("standard deviation of the noise", self.noise)]

    def __getitem__(self, wanted: tuple[Any, str]) -> dict[str, Any]:
        """The counts of a class by the bins of a column."""
        one, name = wanted if isinstance(wanted, tuple) and len(wanted) == 2 else (None, None)
        if one not in self.classes or name not in self.names:
            known = listed([label(each) for each in self.classes[:FEW]], len(self.classes))
            named = listed(self.names[:FEW], len(self.names))
            raise BadInput(f"{wanted!r} is not a class, of {known}, and a column, of {named}")
        place = self.names.index(name)
        row = list(self._tables())[place][self.classes.index(one)]
        return dict(zip(self._binned.named(place), row.tolist(), strict=True))

    def with_cells(self, cells: Any) -> "ClassCounts":
        """Other numbers in the same places: the ends of an interval."""
        return replace(self, cells=np.asarray(cells))

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803  as scikit-learn calls it
        """The chance of each class for each row, were columns independent within classes."""
        columns = self._binned.columns(X)
        sizes, lifted = np.maximum(self.sizes, 0.0), self.noise
        odds = np.log(sizes + lifted + 1.0) + np.zeros((len(columns[0]), 1))
        for place, table in enumerate(self._tables()):
            held = np.maximum(table, 0.0)
            usual = (held.sum(axis=0) + 1.0) / (held.sum() + held.shape[1])
            extra = (lifted + 1.0) * held.shape[1]  # as many of everybody's bins as the noise may hide
            shares = (held + extra * usual) / (held.sum(axis=1, keepdims=True) + extra)
            odds += np.log(shares).T[self._binned.places(columns[place], place)]
        odds -= odds.max(axis=1, keepdims=True)
        chances = np.exp(odds)
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The likeliest class of each row."""
        return likeliest(self.classes, self.predict_proba(X))

    def table(self) -> dict[str, Any]:
        """A row for each count: its class, its column, its bin."""
        rows = list(self._rows())
        return dict(zip(("class", "column", "bin", "count"), map(list, zip(*rows, strict=True)), strict=True))

    def __str__(self) -> str:
        named = zip(self.classes, self.sizes.tolist(), strict=True)
        sizes = listed([f"{label(one)}: {many:,.0f}" for one, many in list(named)[:FEW]], len(self.classes))
        return f"counts of {len(self.classes)} classes ({sizes}) by the bins of {len(self.names)} columns"


@dataclass(frozen=True, slots=True, eq=False)
class ClassCoefficients(Described):
    """The coefficients of a multinomial logistic model: of the log odds of each class against the first of `classes`.

    `coef` has a row for each class but the first, a column for each name; `intercept` a number for each such class.

    >>> found = ClassCoefficients(np.array([[1.0], [3.0]]), np.array([0.0, -2.0]), ("age",), ("low", "mid", "top"))
    >>> found["top", "age"], found.predict([[-1.0], [0.5], [2.0]]).tolist()
    (3.0, ['low', 'mid', 'top'])
    """

    coef: Any
    intercept: Any
    names: tuple[str, ...]
    classes: tuple[Any, ...]

    def __post_init__(self) -> None:
        matching(self.classes[1:], self.coef)
        matching(self.classes[1:], self.intercept)
        for row in self.coef:
            matching(self.names, row)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.coef, dtype=dtype)

    @property
    def _numbers(self) -> Floats:
        """A row for each class but the first: its intercept, then its coefficients."""
        return np.column_stack([self.intercept, self.coef])

    def _entries(self) -> list[tuple[str, Any]]:
        named = [f"{label(one)}, {name}" for one in self.classes[1:] for name in ("intercept", *self.names)]
        return list(zip(named, self._numbers.ravel().tolist(), strict=True))

    def with_numbers(self, numbers: Any) -> "ClassCoefficients":
        """The same with other numbers, in the order of `numbers`: the ends of an interval."""
        rows = np.reshape(np.asarray(numbers, dtype=float), (len(self.classes) - 1, -1))
        return replace(self, coef=rows[:, 1:], intercept=rows[:, 0])

    def __getitem__(self, wanted: tuple[Any, str]) -> float:
        """The coefficient of a column for a class."""
        one, name = wanted if isinstance(wanted, tuple) and len(wanted) == 2 else (None, None)
        if one not in self.classes[1:] or name not in (*self.names, "intercept"):
            known = listed([label(each) for each in self.classes[1 : FEW + 1]], len(self.classes) - 1)
            named = listed(self.names[:FEW], len(self.names))
            raise BadInput(f"{wanted!r} is not a class beside the first, of {known}, and a column, of {named}")
        return float(self._numbers[self.classes.index(one) - 1, ("intercept", *self.names).index(str(name))])

    def linear(self, X: Any) -> Floats:  # noqa: N803  as scikit-learn calls it
        """The log odds of each class against the first, which has 0, for each row."""
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.names):
            raise BadInput(f"X has shape {rows.shape}; it needs rows of {len(self.names)} columns: {self.names}")
        with np.errstate(all="ignore"):
            return np.column_stack([np.zeros(len(rows)), rows @ np.transpose(self.coef) + self.intercept])

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The chance of each class for each row, in the order of `classes`."""
        odds = self.linear(X)
        with np.errstate(all="ignore"):
            odds -= odds.max(axis=1, keepdims=True)
            chances = np.exp(odds)
            return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The likeliest class of each row."""
        return likeliest(self.classes, self.predict_proba(X))

    def summary(self) -> str:
        """Each coefficient on a line; `release.summary()` has their errors, too."""
        wide = max(map(len, self.labels))
        return "\n".join(f"{name.ljust(wide)}  {show(number):>12}" for name, number in self._entries())

    def table(self) -> dict[str, Any]:
        """A row for each class and coefficient."""
        many = len(self.names) + 1
        classes = [label(one) for one in self.classes[1:] for _ in range(many)]
        names = ["intercept", *self.names] * (len(self.classes) - 1)
        return {"class": classes, "name": names, "value": self.numbers}

    def __str__(self) -> str:
        named = listed([label(one) for one in self.classes[1 : FEW + 1]], len(self.classes) - 1)
        shown = [f"{name} {show(number)}" for name, number in self._entries()[:FEW]]
        return f"log odds of {named} against {label(self.classes[0])}: {listed(shown, len(self.numbers))}"


def likeliest(classes: tuple[Any, ...], chances: Floats) -> npt.NDArray[Any]:
    """The class of the largest chance in each row, of the classes' own type."""
    named = np.empty(len(classes), dtype=object)
    named[:] = classes
    plain = np.asarray(classes)
    named = plain if plain.dtype.kind in "biufU" and plain.tolist() == list(classes) else named
    return np.asarray(named[chances.argmax(axis=1)])
