"""How the people of a survey were drawn: weights, clusters, and the strata that these are in.

Promise
    [survey_design.1] The cluster of a record is a function of its own entries and of the public list. [survey.1]
    [survey_design.2] From independent clusters, two or more in each stratum, `variance` gives no less than the variance
          of their sum on average; exactly that if the clusters of a stratum have one distribution.
Why
    [survey_design.1] Entries are looked up in the public list by how they are written.
    [survey_design.2] Of k independent sums the squares about their mean have on average (1 - 1 / k) of the sum of their
    variances, plus the squares of how far their means are apart.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.declaration import category, number
from discreet.privacy.intervals import Interval
from discreet.stages.clip import Floats
from discreet.stages.normal_laplace import student_factor
from discreet.tables.entries import key
from discreet.tables.entries import number as number_of
from discreet.tables.matrix import in_one, matrix

MOST: Final = 5_000  # clusters
SURVEY: Final = {
    "weights": number(optional=True, streams=True),
    "clusters": category(optional=True, streams=True),
    "strata": category(optional=True, streams=True),
}
Steps = npt.NDArray[np.int64]


def survey_rows(columns: Mapping[str, Any]) -> Any:
    """The one column; or values and weights side by side, with cluster and stratum where there are clusters."""
    if len(columns) == 1:
        return next(iter(columns.values()))
    x = np.asarray(columns["x"])
    weights = columns.get("weights", np.ones(len(x)))
    if "clusters" not in columns:
        return np.column_stack([x, weights])
    strata = columns.get("strata", np.zeros(len(x)))
    rows = np.empty((len(x), 4), dtype=object)
    for place, column in enumerate((x, weights, columns["clusters"], strata)):
        rows[:, place] = column
    return rows


def listed(rows: Any) -> npt.NDArray[Any]:
    """Rows as an array; of a list each one by itself, as values and weights ([matrix.1])."""
    return rows if isinstance(rows, np.ndarray) and rows.ndim == 2 else in_one(matrix(rows, 2))


def floats(column: npt.NDArray[Any]) -> Floats:
    """Each entry by itself."""
    if column.dtype.kind == "f":
        return column.astype(np.float64, copy=False)
    return np.array([number_of(entry) for entry in column], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Design:
    """The public clusters, each with the number of its stratum."""

    places: Mapping[tuple[Hashable, Hashable], int]
    strata: tuple[int, ...]

    @classmethod
    def of(cls, given: object, stratified: bool) -> "Design":
        """Of a list of clusters, or of one for each stratum."""
        example = "{'north': [1, 2], 'south': [1, 2]}" if stratified else "['school 1', 'school 2']"
        right = isinstance(given, Mapping) if stratified else isinstance(given, list | tuple | range)
        listed: Any = given if stratified else {0: given}
        if not right or not all(isinstance(one, list | tuple | range) and len(one) > 1 for one in listed.values()):
            raise BadInput(
                f"design is {repr(given)[:60]}; list the public clusters, two or more"
                f"{' in each stratum' if stratified else ''}, as in {example}"
            )
        pairs = [(_written(stratum), _written(one)) for stratum, clusters in listed.items() for one in clusters]
        if len(set(pairs)) < len(pairs) or len(pairs) > MOST or any(None in pair for pair in pairs):
            raise BadInput(
                f"design lists {len(pairs)} clusters; list each once, at most {MOST}, and none that is missing"
            )
        strata = [place for place, clusters in enumerate(listed.values()) for _ in clusters]
        return cls({pair: place for place, pair in enumerate(pairs)}, tuple(strata))

    def cluster(self, rows: npt.NDArray[Any]) -> Steps:
        """The number of each record's cluster; -1 for one that is not listed. [survey_design.1]"""
        return self.numbers(rows[:, 2], rows[:, 3])

    def numbers(self, clusters: Any, strata: Any = None) -> Steps:
        """The same of two columns. [survey_design.1]"""
        both = zip(clusters, [0] * len(clusters) if strata is None else strata, strict=True)
        found = [self.places.get((_written(stratum), _written(one)), -1) for one, stratum in both]
        return np.array(found, dtype=np.int64)

    def variance(self, totals: Floats) -> float:
        """Of a sum over clusters, from each one's own. [survey_design.2]"""
        strata, found = np.array(self.strata), 0.0
        for stratum in range(max(self.strata) + 1):
            mine = totals[strata == stratum]
            found += len(mine) / (len(mine) - 1) * float(((mine - mine.mean()) ** 2).sum())
        return found

    @property
    def freedom(self) -> int:
        """Clusters less strata."""
        return len(self.strata) - max(self.strata) - 1


def declared_design(clusters: object, strata: object, design: object) -> Design | None:
    """The design that is declared; None where there are no clusters."""
    if (clusters is None) != (design is None):
        raise BadInput("clusters= needs design=, the public list of clusters, and design= needs clusters=; give both")
    if strata is not None and clusters is None:
        raise BadInput("strata= are of clusters=; give these too, or leave strata out: the interval is wider without")
    return None if design is None else Design.of(design, strata is not None)


def _written(entry: Any) -> Hashable:
    """As it is written: 5 and "5" are one."""
    found = key(entry)
    return str(found) if isinstance(found, int) else found


@dataclass(frozen=True, slots=True)
class DesignSpread:
    """The error of an estimate whose variance is that between noisy sums of clusters: it has the noise in it."""

    estimate: float
    error: float
    privacy: float
    _: KW_ONLY
    freedom: int
    low: float
    high: float
    about: str

    @property
    def sampling(self) -> float:
        """Standard deviation from sampling clusters: what is left without the noise."""
        return math.sqrt(max(self.error**2 - self.privacy**2, 0.0))

    def interval(self, confidence: float) -> Interval:
        """Student's t. [survey_design.2]"""
        from scipy.special import ndtri

        width = -float(ndtri((1 - confidence) / 2)) * student_factor(self.freedom, confidence)
        width *= max(self.error, self.privacy)
        ends = (min(max(self.estimate + sign * width, self.low), self.high) for sign in (-1, 1))
        return Interval(*ends, confidence=confidence, about=self.about, population=True)
