"""Multinomial logistic regression without bounds: which of several classes, by maximum likelihood.

Releases
    The stages of models/multinomial_stages.py. Coefficients and all errors are computed from what they release.
Promise
    [multinomial.1] (epsilon, delta) under both relations, by the losses of the stages.
    [multinomial.2] Refusals read public numbers and earlier answers only; no value of the data raises. There are
          coefficients only where each has an interval, and where the noise moves the log odds of two classes for most
          people by less than a half.
    [multinomial.3] The interval of each coefficient holds that of the population's likeliest model with nobody's
          influence above a limit that was released, true or not, with its confidence, to first order.
Why
    [multinomial.1] [multinomial_stages.1]. What is not listed when no size is declared amounts to (epsilon, delta).
    [multinomial.2] [multinomial_stages.2] and [multinomial_stages.3]; too few rows: before any draw where their number
    is public, else by the noisy count.
    [multinomial.3] As [descent.3], with the whole score (Q'(y - p)) x u in place of u (y - p): H^-1 M H^-1 is the
    covariance of a maximum of the likelihood whatever the model. The noise on H is counted as
    that of a Gram matrix is ([class_scores.2]), bent back by Z. Coefficients against the first class are linear in
    those of the contrasts, and so are their errors.
Needs
    models/multinomial_stages.py: 3 classes and 5 features at least 1,500 people at epsilon 1 and delta 1e-6, 5 classes
    and 6 features 3,700; twice that under REPLACE. Rare classes and columns that are nearly sums of others take more.
Accuracy
    docs/how-to-classes.md: errors of 1.2 to 2.3 times those without privacy at 20,000 people and epsilon 1. The order
    of the classes says which is compared with, and changes nothing else but the draws.
Source
    models/multinomial_stages.py; models/least_squares.py for the errors.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.models.coefficients import CoefficientSpread
from discreet.models.column_bins import by_place
from discreet.models.descent import ABOUT, LIMITED, LOUDEST, NOISY
from discreet.models.design_columns import CONSTANT, DesignColumn
from discreet.models.features import Features, named_columns, places_of
from discreet.models.glm_stages import UNEVEN
from discreet.models.least_squares import errors_of
from discreet.models.model_arguments import truth_bounds
from discreet.models.multinomial_stages import ClassStages, find, plan
from discreet.models.newton_stages import least_rows
from discreet.privacy.declaration import Columns, Public, category, number, statistic
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, Wrapped, promised, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.privacy.value_arrays import label
from discreet.privacy.values import ClassCoefficients
from discreet.stages.clip import Floats
from discreet.stages.declared import agree, check_size
from discreet.tables.entries import by_name, key, numbers
from discreet.tables.kept_rows import FLOAT, kept
from discreet.tables.matrix import long_matrix
from discreet.tables.streams import Stream, each
from discreet.worlds.assumptions import MANY, STANDARDISED, About, World
from discreet.worlds.shapes import FEWER, AssumedTable

MOST_CLASSES: Final = 20
WIDEST: Final = 120  # coefficients
STEPS: Final = 25  # of Newton's method, without privacy


@dataclass(frozen=True, slots=True)
class Multinomial:
    """Coefficients of the log odds of each class against the first. Rows are features and the number of the class.

    Classes are numbered from 0 in the order of `classes`; rows with any other number do not count.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = np.array([[k % 7 - 3.0, (k % 7 + k % 5) // 4] for k in range(60000)])
    >>> found = Multinomial(Features(("x",), bounds=(-3, 3)), ("low", "mid", "top"), 2.0, 1e-6).release(rows, Seeded(1))
    >>> bool(0 < found.value["mid", "x"] < found.value["top", "x"])
    True
    """

    features: Features
    classes: tuple[Any, ...]
    epsilon: Number
    delta: Number
    _: KW_ONLY
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_size(self.size, self.neighbours)
        check_budget(self.epsilon, self.delta, self.size)
        if not self.delta:
            raise BadInput(
                "delta is 0; a multinomial regression adds Gaussian noise and needs delta > 0, say delta=1e-6"
            )
        places_of(self.classes, MOST_CLASSES)
        if (many := self.features.size * (len(self.classes) - 1)) > WIDEST:
            raise BadInput(
                f"{len(self.features.names)} columns and {len(self.classes)} classes have {many} coefficients, more "
                f"than {WIDEST}; leave columns out, or join classes"
            )
        self.stages(self.size or (1 if self.neighbours.size_is_public else None))  # epsilon and delta are within reach

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Every draw; before the public number of rows is known, what they amount to."""
        if self.size is None and self.neighbours.size_is_public:
            return Approximate(self.epsilon, self.delta)
        return self.stages(self.size).loss  # [multinomial.1]

    @property
    def columns(self) -> tuple[DesignColumn, ...]:
        """A row's entries: (1, x, class)."""
        declared = zip(self.features.names, self.features.declared(), strict=True)
        given = [DesignColumn(name, None, place) for name, place in declared]
        return (CONSTANT, *given, DesignColumn("the class", None, (0.0, 1.0)))

    def stages(self, size: int | None) -> ClassStages:
        """The costs for a public number of rows, or a private one. [multinomial.2]"""
        width, unknown, classes = len(self.columns), self.features.unknown, len(self.classes)
        costs = plan(self.epsilon, self.delta, size is None, width, unknown, classes=classes)
        return ClassStages(rows=size, width=width, costs=costs, uneven=UNEVEN, classes=classes)

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, where there are too few rows. [multinomial.2]"""
        if size is not None and self.neighbours.size_is_public and not self.stages(size).enough(size):
            needed = least_rows(self.stages)
            to_do = what_to_do(size, self.epsilon, needed, noisy=False, scales=False)
            raise Refused(
                f"there are {size} rows of {len(self.features.names)} columns and {len(self.classes)} classes; their "
                f"regression takes about {needed} at this epsilon and delta; {to_do}. Fewer columns need fewer rows"
            )

    def release(self, rows: Any, rng: Randomness) -> Release[ClassCoefficients]:
        """The coefficients with their intervals, or a refusal."""
        table = long_matrix(rows, len(self.features.names) + 1, declared="features and class")
        size = None
        if self.neighbours.size_is_public:
            size = agree(len(table), self.size)
            if not size:
                raise BadInput("the data are empty (0 rows); a model needs at least 1 row")
            check_budget(self.epsilon, self.delta, size)
        shown = {"neighbours": self.neighbours, "features": len(self.features.names), "classes": len(self.classes)}
        blank: Release[ClassCoefficients] = Release(
            self.guarantee,
            Provenance("Multinomial", shown, rng.secure),
            name=f"multinomial regression, log odds against {label(self.classes[0])!r}",
        )
        if (refusal := refusal_of(self, size)) is not None:
            return replace(blank, refusal=refusal)
        ready = partial(_ready, many=len(self.features.names), classes=len(self.classes))
        wide = FLOAT * (len(self.features.names) + 2)
        found = find(
            kept(each(ready, table), wide), self.columns, self.stages(size), self.classes, rng
        )  # [multinomial.1]
        if isinstance(found, str):  # [multinomial.2]
            return replace(blank, refusal=found)
        apart = math.sqrt(2 / (len(self.classes) - 1))  # the log odds of two classes, in the mean square
        loud = apart * found.score_noise * float(np.linalg.norm(found.inverse))
        if loud > LOUDEST:  # [multinomial.2]
            return replace(blank, refusal=NOISY.format(loud, 1.5 * loud / LOUDEST))
        coef = found.value.reshape(len(self.classes) - 1, self.features.size)
        value = ClassCoefficients(coef[:, 1:], coef[:, 0], self.features.names, self.classes)
        sampling, privacy, bias = errors_of(found)  # [multinomial.3]
        target, limit = LIMITED.format(found.often), (found.way, found.limit)
        return replace(
            blank, answer=value, spread=CoefficientSpread(value, sampling, privacy, ABOUT, bias, target, limit)
        )


def _ready(table: Floats, *, many: int, classes: int) -> Floats:
    """A copy with the constant; the number of a class that is not listed is missing."""
    rows = np.empty((len(table), many + 2), order="F")
    rows[:, 0], rows[:, 1 : many + 1] = 1.0, table[:, :many]
    known = np.isin(table[:, many], np.arange(float(classes)))
    rows[:, many + 1] = np.where(known, table[:, many], np.nan)
    return rows


def _world(about: About) -> World:
    """Classes whose log odds rise by the same slope from class to class."""
    classes = list(about.option("classes", [0, 1, 2]))
    names = about.given.get("names")
    effect = about.number("effect", 0.5, -1e6, 1e6)
    features = AssumedTable.of(about, columns=len(names) if isinstance(names, list | tuple) else 2)
    about.say(f"a multinomial model holds, each class's coefficients {effect:g} above those of the class before")
    coef = effect * np.arange(1.0, len(classes))[:, None] * np.ones(features.columns)

    def made(g: Any, n: int) -> dict[str, Any]:
        x = features.draw(g, n)
        odds = np.column_stack([np.zeros(n), x @ coef.T]) + g.gumbel(size=(n, len(classes)))
        return {"X": x, "y": np.array(classes, dtype=object)[odds.argmax(axis=1)]}

    def plain(X: Any, y: Any) -> Floats:  # noqa: N803
        codes = np.array([classes.index(one) for one in y])
        found = likeliest_coefficients(np.column_stack([np.ones(len(X)), X]), codes, len(classes))
        return np.append(found[:, 1:], found[:, 0])

    truth = np.append(coef, np.zeros(len(coef)))
    return World(make=made, truth=truth, plain=plain, measure=MANY, runs=FEWER, units=STANDARDISED)


def likeliest_coefficients(design: Floats, codes: Any, classes: int) -> Floats:
    """Maximum likelihood without privacy: a row for each class but the first."""
    many, blocks = design.shape[1], classes - 1
    found, hot = np.zeros((blocks, many)), codes[:, None] == np.arange(1, classes)
    for _ in range(STEPS):
        linear = design @ found.T
        top = np.maximum(linear.max(axis=1, keepdims=True), 0)
        powers = np.exp(linear - top)
        chances = powers / (powers.sum(axis=1, keepdims=True) + np.exp(-top))
        bent = np.zeros((blocks, many, blocks, many))
        for a in range(blocks):
            for b in range(blocks):
                slope = chances[:, a] * ((a == b) - chances[:, b])
                bent[a, :, b] = design.T @ (design * slope[:, None])
        score = ((hot - chances).T @ design).ravel()
        step = np.linalg.solve(bent.reshape(found.size, -1) + 1e-9 * np.eye(found.size), score)
        found = found + step.reshape(found.shape) * min(1.0, 2.0 / float(np.abs(linear).max(initial=0.0) + 1.0) + 0.5)
        if np.abs(step).max() < 1e-9 * (1 + np.abs(found).max()):
            break
    return found


def _coded(columns: Any, *, places: Mapping[Any, float], width: int) -> Any:
    """Rows of features and the number of the class; one that is not listed is missing."""
    if isinstance(columns, Stream):
        return each(partial(_coded, places=places, width=width), columns, np.float64)
    *features, labels = by_name(columns, *map(str, range(width))).values()
    codes = np.array([places.get(key(entry), np.nan) for entry in labels], dtype=np.float64)
    return np.column_stack([*map(numbers, features), codes])


@statistic({"X": number("several", streams=True), "y": category(streams=True)}, rows=by_place, world=_world)
def multinomial_regression(
    people: Public,
    X: Columns,  # noqa: N803  as scikit-learn calls it
    y: Columns,
    *,
    epsilon: Number,
    delta: Number,
    classes: Sequence[Any],
    bounds: Any = None,
    names: Sequence[str] | None = None,
) -> Mechanism[ClassCoefficients]:
    """Multinomial logistic regression: coefficients of the log odds of each class against the first, with intervals.
    No bounds needed; delta > 0.

    `X` is an array or a frame of numbers, `classes` are the public labels in `y`, two to twenty, the one to compare
    with first; rows with any other do not count. `bounds` are public bounds: a pair for all columns, one for each, or a
    dictionary by name. The value predicts: `.predict(X)` and `.predict_proba(X)`, which have no interval.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11] for k in range(20000)])
    >>> y = (x[:, 0] + np.arange(20000) % 5) // 4
    >>> r = discreet.multinomial_regression(x, y, epsilon=1.0, delta=1e-6, classes=[0, 1, 2], rng=discreet.Seeded(1))
    >>> bool(0 < r.value[1, "x0"] < r.value[2, "x0"]), r.value.predict([[0, 3], [6, 3]]).tolist()
    (True, [0, 2])
    """
    X = named_columns(X, names)  # noqa: N806
    if isinstance(bounds, Mapping):
        if unknown := [name for name in bounds if name not in X.names]:
            raise BadInput(f"bounds are given for {unknown}, but the columns are {', '.join(X.names)}")
        bounds = tuple(bounds.get(name) for name in X.names)
    if "boolean" in X.kinds and np.shape(bounds) != (2,):
        bounds = truth_bounds(X.kinds, bounds)
    places = places_of(classes, MOST_CLASSES)
    model = Multinomial(
        Features(X.names, True, bounds),
        tuple(classes),
        epsilon,
        delta,
        neighbours=people.neighbours,
        unit=people.unit,
        size=people.size,
    )
    return Wrapped(model, before=partial(_coded, places=places, width=len(X.names) + 1))
