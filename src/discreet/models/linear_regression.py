"""Linear regression, by name: a noisy sum of squares, fits on blocks of people, or descent."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

from discreet.errors import BadInput
from discreet.models.blockwise import in_blocks
from discreet.models.design import Design, Formulated, declared_in
from discreet.models.features import Features, features_and_outcome, named_columns
from discreet.models.formula import Formula, formula_columns
from discreet.models.least_squares import LeastSquares, declared_bounds
from discreet.models.sgd import StochasticDescent
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Mechanism
from discreet.privacy.values import Coefficients
from discreet.subsample.estimators import LineFit
from discreet.worlds.regressions import regression

METHODS: Final = ("auto", "moments", "friendly", "sgd")
MOMENTS: Final = "method 'moments': one row for each person, so one noisy sum of squares has the least error"


@statistic(
    {"X": number("several"), "y": number(optional=True)},
    rows=features_and_outcome,
    formula=formula_columns,
    world=partial(regression, link="linear"),
)
def linear_regression(
    people: Public,
    X: Columns,  # noqa: N803  as scikit-learn calls it
    y: Columns | None = None,
    *,
    epsilon: Number,
    delta: Number,
    method: Literal["auto", "moments", "friendly", "sgd"] = "auto",
    ridge: float | None = None,
    intercept: bool = True,
    names: Sequence[str] | None = None,
    bounds: Any = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    blocks: int | Literal["auto"] = "auto",
) -> Mechanism[Coefficients]:
    """Linear regression: coefficients, each with an interval that has the privacy noise in it. No bounds needed.

    `X` is an array or a frame of numbers and `y` the outcome; or X is a formula, "y ~ age + C(sex)", and y the frame
    (pandas, polars, Arrow or a dictionary of columns). `levels` lists the categories of a C(...), the one to compare
    with first; those not listed are found, at a tenth of the budget each. `bounds` are public bounds by name of column,
    (0, 1) for rare truth values say. `ridge` is as scikit-learn's alpha; None adds only what the noise asks for.
    `method` "moments" is a noisy sum of squares, "friendly" fits on blocks of people, "sgd" is descent on the squares,
    for columns in units of about 1 and with no interval; "auto" is "moments". For people with several rows open a
    session with person=, or use `fit`.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11] for k in range(5000)])
    >>> y = x @ [2.0, -1.0] + np.arange(5000) % 13
    >>> r = discreet.linear_regression(x, y, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> bool(abs(r.value.coef - [2, -1]).max() < 0.2), r.value.names
    (True, ('x0', 'x1'))
    """
    if method not in METHODS:
        raise BadInput(f"method is {method!r}; give one of {', '.join(METHODS)}")
    if blocks != "auto" and method != "friendly":
        raise BadInput(f"blocks is {blocks!r}, which goes with method 'friendly'; leave it out")
    if not isinstance(intercept, bool):
        raise BadInput(f"intercept is {intercept!r}; give True or False")
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit}
    notes = (MOMENTS,) if method == "auto" else ()
    if X.formula is not None:
        if method not in ("auto", "moments"):
            raise BadInput("a formula goes with method 'moments'; for others give X and y")
        if names is not None or not intercept:
            raise BadInput("a formula has its own names, and '- 1' for no intercept; leave names and intercept out")
        LeastSquares(epsilon, delta, names=("x",), ridge=ridge, **terms)  # refuses before anything is drawn

        def make(design: Design, constant: bool, share: Number, rest: Number) -> LeastSquares:
            return LeastSquares(
                share,
                rest,
                names=design.names,
                intercept=constant,
                ridge=ridge,
                bounds=design.bounds,
                notes=notes,
                size=people.size,
                **terms,
            )

        known_levels, known_bounds = declared_in(X, levels, bounds)
        return Formulated(
            Formula.read(X.formula),
            make,
            epsilon=epsilon,
            delta=delta,
            levels=known_levels,
            bounds=known_bounds,
            **terms,
        )
    if levels is not None:
        raise BadInput("levels are for a formula with C(...); columns of X are numbers")
    if y is None:
        raise BadInput("y is missing; give the outcome, or a formula as X")
    X = named_columns(X, names)  # noqa: N806
    if method == "friendly":
        if ridge is not None or bounds is not None:
            raise BadInput("ridge and bounds go with method 'moments'; leave them out")
        returned = [*X.names, *(["intercept"] if intercept else [])]
        return in_blocks(
            LineFit(X.names, intercept),
            X,
            epsilon=epsilon,
            delta=delta,
            people=people,
            named=lambda _: (X.names, "intercept" if intercept else None),
            link="identity",
            name="linear regression",
            blocks=blocks,
            aggregator="friendly",
            names=returned,
            unbiased=True,
        )
    pairs = declared_bounds(bounds, X.names, y.name)
    if method == "sgd":
        return _descent(
            people, Features(X.names, intercept, None if pairs is None else pairs[:-1]), epsilon, delta, ridge
        )
    return LeastSquares(
        epsilon,
        delta,
        names=X.names,
        intercept=intercept,
        ridge=ridge,
        bounds=pairs,
        notes=notes,
        size=people.size,
        **terms,
    )


def _descent(
    people: Public, features: Features, epsilon: Number, delta: Number, ridge: float | None
) -> Mechanism[Coefficients]:
    """Descent on the squares, which needs a public number of people."""
    if ridge is not None:
        raise BadInput("ridge goes with method 'moments'; leave it out")
    if people.size is None:
        raise BadInput(
            "method 'sgd' needs the number of people, which is private here; give neighbours='replace' and "
            "missing='keep', or use discreet.sgd with size=, a public guess"
        )
    return StochasticDescent(
        features,
        "squared",
        epsilon=epsilon,
        delta=delta,
        people=people.size,
        neighbours=people.neighbours,
        unit=people.unit,
    )
