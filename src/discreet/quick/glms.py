"""Logistic and Poisson regression, and stochastic descent, by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.models.blockwise import NamedSpread, coefficients_of
from discreet.models.descent import LINKS, Descent
from discreet.models.design import Design, Formulated
from discreet.models.features import Features
from discreet.models.formula import Formula
from discreet.models.link import Name
from discreet.models.objective import ObjectivePerturbation
from discreet.models.pick import picked
from discreet.models.sgd import StochasticDescent
from discreet.privacy.exact import Number
from discreet.privacy.intervals import check_confidence
from discreet.privacy.mechanism import Mechanism, Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.values import Coefficients
from discreet.quick.asked import ask, named, relation_of
from discreet.quick.models import _columns
from discreet.subsample.block_table import BlockTable
from discreet.subsample.fit_request import planned
from discreet.tables.entries import column, key, numbers

Method = Literal["auto", "objective", "descent", "friendly"]
METHODS = ("auto", "objective", "descent", "friendly")


def logistic_regression(
    X: Any,  # noqa: N803  as scikit-learn calls it
    y: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    method: Method = "auto",
    ridge: float | None = None,
    intercept: bool = True,
    bounds: Any = None,
    norm: float | None = None,
    classes: Sequence[Any] | None = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    names: Sequence[str] | None = None,
    confidence: float | None = 0.95,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Coefficients]:
    """Logistic regression: the coefficients of log odds, with intervals where there are people enough. No bounds
    needed.

    `X` is an array or a frame of numbers and `y` the outcome, yes where it is a number above 0 or the second of the
    public `classes`; or X is a formula, "ill ~ age + C(sex)", and y the frame. Public `bounds` (a pair for all
    features, one for each, or a dictionary by name) or a public largest `norm` of a row save what finding scales costs.
    `method` "objective" is pure (a minimum tilted by chance, with a `ridge`), "descent" needs delta > 0, "friendly"
    fits on blocks of people; "auto" says in a note which it took, and why. confidence=None saves the budget of
    intervals.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11] for k in range(20000)])
    >>> y = x[:, 0] + np.arange(20000) % 5 > 5
    >>> r = discreet.logistic_regression(x, y, epsilon=1.0, rng=discreet.Seeded(1))
    >>> bool(r.value.coef[0] > 0.5), r.value.names
    (True, ('x0', 'x1'))
    """
    if method not in METHODS:
        raise BadInput(f"method is {method!r}; give one of {', '.join(METHODS)}")
    if confidence is not None:
        check_confidence(confidence)
    if ridge is not None and method != "objective":
        raise BadInput("ridge goes with method 'objective'; leave it out")

    def made(features: Features, size: int | None, eps: Number, rest: Number) -> Mechanism[Coefficients]:
        relation, name = relation_of(neighbours), named(unit)
        if method == "objective":
            return ObjectivePerturbation(features, eps, ridge, confidence, relation, name, size)
        if method == "descent":
            return Descent(features, eps, rest, "logistic", None, relation, name, size)
        return picked(features, eps, rest, confidence=confidence, neighbours=relation, unit=name, size=size)

    return _released(
        X,
        y,
        made,
        epsilon=epsilon,
        delta=delta,
        family="logistic",
        method=method,
        intercept=intercept,
        bounds=bounds,
        norm=norm,
        classes=classes,
        levels=levels,
        names=names,
        neighbours=neighbours,
        unit=unit,
        rng=rng,
    )


def poisson_regression(
    X: Any,  # noqa: N803
    y: Any,
    *,
    epsilon: Number,
    delta: Number,
    method: Literal["auto", "descent", "friendly"] = "auto",
    largest: int | None = None,
    intercept: bool = True,
    bounds: Any = None,
    norm: float | None = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    names: Sequence[str] | None = None,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Coefficients]:
    """Poisson regression: the coefficients of the log of a rate, with intervals. No bounds needed; delta > 0.

    As `logistic_regression`; `y` are counts, and `largest` a public number that hardly any exceeds, if there is one.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7] for k in range(30000)])
    >>> y = x[:, 0] // 2 + np.arange(30000) % 3
    >>> r = discreet.poisson_regression(x, y, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> bool(0.1 < r.value.coef[0] < 0.4)
    True
    """
    if method not in ("auto", "descent", "friendly"):
        raise BadInput(
            f"method is {method!r}; give 'auto', 'descent' or 'friendly'; a Poisson loss has no largest slope"
        )

    def made(features: Features, size: int | None, eps: Number, rest: Number) -> Mechanism[Coefficients]:
        note = ("method 'descent': the only one for counts that uses all people at once",) if method == "auto" else ()
        return Descent(features, eps, rest, "poisson", largest, relation_of(neighbours), named(unit), size, note)

    return _released(
        X,
        y,
        made,
        epsilon=epsilon,
        delta=delta,
        family="poisson",
        method=method,
        intercept=intercept,
        bounds=bounds,
        norm=norm,
        classes=None,
        levels=levels,
        names=names,
        neighbours=neighbours,
        unit=unit,
        rng=rng,
    )


def sgd(
    loss: str | Callable[..., Any],
    X: Any,  # noqa: N803
    y: Any,
    *,
    epsilon: Number,
    delta: Number,
    steps: int = 40,
    rate: float = 1.0,
    clip: float | None = None,
    learning: float | None = None,
    people: int | None = None,
    parameters: int | None = None,
    intercept: bool = True,
    bounds: Any = None,
    norm: float | None = None,
    names: Sequence[str] | None = None,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Any]:
    """Stochastic gradient descent on a loss, each person's gradient clipped, with noise at every step.

    `loss` is "squared", "huber", "logistic" or "poisson" (features in units of about 1, or with public `bounds`),
    or a function gradients(w, X, y) of one row that returns its `parameters` derivatives; it sees one row at a time
    and may remember nothing of others, and if it raises, that counts as 0. With rate < 1 each step sees a secret
    sample in which each person is with that chance: give neighbours="add_or_remove", and `people`, a public guess
    of how many there are. There is no interval.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7 - 3.0] for k in range(4000)])
    >>> r = discreet.sgd("squared", x, 2 * x[:, 0], epsilon=2.0, delta=1e-6, clip=6.0, rng=discreet.Seeded(1))
    >>> bool(1.5 < r.value.coef[0] < 2.5)
    True
    """
    rows, called = _columns(X, names)
    outcome = numbers(y)
    if len(outcome) != len(rows):
        raise BadInput("y has another length than X; they must be the same")
    relation = relation_of(neighbours)
    if people is None and relation.size_is_public:
        people = len(rows)
    mechanism = StochasticDescent(
        Features(called, intercept, bounds, norm),
        loss,
        epsilon,
        delta,
        steps,
        rate,
        clip,
        learning,
        people,
        parameters,
        relation,
        named(unit),
    )
    return ask(mechanism, np.column_stack([rows, outcome]), rng)


def _released(
    x: Any,
    y: Any,
    made: Callable[[Features, int | None, Number, Number], Mechanism[Coefficients]],
    *,
    epsilon: Number,
    delta: Number,
    family: Name,
    method: str,
    intercept: bool,
    bounds: Any,
    norm: float | None,
    classes: Sequence[Any] | None,
    levels: Mapping[str, Sequence[Any]] | None,
    names: Sequence[str] | None,
    neighbours: Neighbours | str,
    unit: str,
    rng: Randomness | None,
) -> Release[Coefficients]:
    """From arrays, or from a formula and a frame."""
    relation = relation_of(neighbours)
    if isinstance(x, str):
        if method == "friendly" or names is not None or not intercept or norm is not None or classes is not None:
            raise BadInput(
                "a formula has its own names, and '- 1' for no intercept; give bounds and levels by name only"
            )
        by_name = bounds or {}
        if not isinstance(by_name, Mapping):
            raise BadInput(f"bounds are {bounds!r}; with a formula give a dictionary by name of column")

        def make(design: Design, constant: bool, eps: Number, rest: Number) -> Mechanism[Coefficients]:
            size = len(design.rows) if relation.size_is_public else None
            return made(Features(design.names, constant, design.bounds[:-1]), size, eps, rest)

        formula = Formula.read(x)
        return ask(Formulated(formula, make, epsilon, delta, levels or {}, by_name, relation, named(unit)), y, rng)
    if levels is not None:
        raise BadInput("levels are for a formula with C(...); columns of X are numbers")
    rows, called = _columns(x, names)
    if isinstance(bounds, Mapping):
        unknown = [name for name in bounds if name not in called]
        if unknown:
            raise BadInput(f"bounds are given for {unknown}, which are no columns; those are {', '.join(called)}")
        bounds = tuple(bounds.get(name) for name in called)
    outcome = numbers(y) if classes is None else _codes(y, classes)
    if len(outcome) != len(rows):
        raise BadInput("y has another length than X; they must be the same")
    features = Features(called, intercept, bounds, norm)
    if method == "friendly":
        return _in_blocks(
            rows,
            outcome,
            features,
            family=family,
            epsilon=epsilon,
            delta=delta,
            neighbours=relation,
            unit=unit,
            rng=rng,
        )
    mechanism = made(features, len(rows) if relation.size_is_public and len(rows) else None, epsilon, delta)
    return ask(mechanism, np.column_stack([rows, outcome]), rng)


def _codes(y: Any, classes: Sequence[Any]) -> Any:
    """Labels as 0 and 1 in the order of the public classes; anything else is missing, and its row does not count."""
    if (
        isinstance(classes, str)
        or not isinstance(classes, Sequence | np.ndarray)
        or len(classes) != 2
        or key(classes[0]) == key(classes[1])
    ):
        raise BadInput(f"classes are {classes!r}; give the two public labels, that of 'no' first")
    places = {key(label): float(code) for code, label in enumerate(classes)}
    return np.array([places.get(key(entry), np.nan) for entry in column(y)], dtype=np.float64)


def _in_blocks(
    rows: Any,
    outcome: Any,
    features: Features,
    *,
    family: Name,
    epsilon: Number,
    delta: Number,
    neighbours: Neighbours,
    unit: str,
    rng: Randomness | None,
) -> Release[Coefficients]:
    """Fits on blocks of people, the estimates combined by their friends."""
    from sklearn.linear_model import LogisticRegression, PoissonRegressor

    if not features.intercept or features.bounds is not None or features.norm is not None:
        raise BadInput("method 'friendly' fits with an intercept and uses no bounds; leave them out")
    model = LogisticRegression(C=np.inf) if family == "logistic" else PoissonRegressor(alpha=0)
    yes = np.where(np.isnan(outcome), np.nan, outcome > 0) if family == "logistic" else outcome
    table = BlockTable.of(rows, yes)
    mechanism = planned(
        model,
        table,
        epsilon=epsilon,
        delta=delta,
        aggregator="friendly",
        neighbours=neighbours,
        unit=named(unit),
    )
    release = ask(mechanism, table, rng)
    release = replace(release, name=f"{family} regression")
    if release.refusal is not None:
        return release
    shown = tuple(name for name in release.value if name != "intercept_")  # coef_[0], coef_[1], ...
    form = shown, "intercept_", LINKS[family]
    answer = coefficients_of(release.value, *form, features.names)
    spread = None if release.spread is None else NamedSpread(release.spread, *form, features.names)
    return replace(release, answer=answer, spread=spread)
