"""Linear, logistic and Poisson regression, by name, and which method, by public numbers alone."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.models.coefficients import in_blocks
from discreet.models.descent import Descent, picked
from discreet.models.design import Design
from discreet.models.features import (
    BESIDE,
    LOGISTIC,
    REGRESSION,
    Features,
    features_and_outcome,
)
from discreet.models.formula import formula_columns
from discreet.models.least_squares import LeastSquares, declared_bounds
from discreet.models.model_arguments import (
    by_cluster,
    check_method,
    columns_beside,
    features_of,
    formulated,
    generalised,
    public_terms,
    survey_design,
    truth_bounds,
)
from discreet.models.objective import ObjectivePerturbation
from discreet.models.sgd import StochasticDescent
from discreet.privacy.declaration import Columns, Public, statistic
from discreet.privacy.exact import Number
from discreet.privacy.intervals import check_confidence
from discreet.privacy.mechanism import Mechanism
from discreet.privacy.values import Coefficients
from discreet.subsample.estimators import LineFit
from discreet.worlds.shapes import regression

Method = Literal["auto", "objective", "descent", "friendly"]
MOMENTS: Final = "method 'moments': one noisy sum of squares has the least error here"


@statistic(
    REGRESSION,
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
    weights: Columns | None = None,
    offset: Columns | None = None,
    clusters: Columns | None = None,
    strata: Columns | None = None,
    method: Literal["auto", "moments", "friendly", "sgd"] = "auto",
    ridge: float | None = None,
    intercept: bool = True,
    names: Sequence[str] | None = None,
    bounds: Any = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    blocks: int | Literal["auto"] = "auto",
    design: Any = None,
) -> Mechanism[Coefficients]:
    """Linear regression: coefficients, each with an interval that has the privacy noise in it. No bounds needed.

    `X` is an array or a frame of numbers and `y` the outcome; or X is a formula, "y ~ age + C(sex)", and y the frame
    (pandas, polars, Arrow or a dictionary of columns). `levels` lists the categories of a C(...), the one to compare
    with first; those not listed are found, at a tenth of the budget each. `bounds` are public bounds by name of column,
    (0, 1) for rare truth values say. `weights` is a column of survey or precision weights: any numbers above 0, of any
    scale; rows without one do not count. `offset` is a column that is taken off the outcome. `clusters`, and `strata`
    of them, say how a survey drew people, and `design` lists them: the public clusters, or those of each stratum. The
    intervals are then for people drawn in these clusters. `ridge` is as
    scikit-learn's alpha; None adds only what the noise asks for. `method` "moments" is a noisy sum of squares,
    "friendly" fits on blocks of people, "sgd" is descent on the squares, for columns in units of about 1 and with no
    interval; "auto" is "moments". For people with several rows open a session with person=, or use `fit`.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11] for k in range(5000)])
    >>> y = x @ [2.0, -1.0] + np.arange(5000) % 13
    >>> r = discreet.linear_regression(x, y, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> bool(abs(r.value.coef - [2, -1]).max() < 0.2), r.value.names
    (True, ('x0', 'x1'))
    """
    check_method(method, ("auto", "moments", "friendly", "sgd"))
    if blocks != "auto" and method != "friendly":
        raise BadInput(f"blocks is {blocks!r}, which goes with method 'friendly'; leave it out")
    if not isinstance(intercept, bool):
        raise BadInput(f"intercept is {intercept!r}; give True or False")

    beside = columns_beside(offset, weights, method, ("auto", "moments"))
    drawn = survey_design(clusters, strata, design, method, ("auto", "moments"))

    def make(columns: Design, constant: bool, share: Number, rest: Number) -> LeastSquares:
        return LeastSquares(
            share,
            rest,
            names=columns.names,
            intercept=constant,
            ridge=ridge,
            bounds=columns.bounds,
            clusters=drawn,
            notes=(MOMENTS,) if method == "auto" else (),
            **(public_terms(people) | dict.fromkeys(beside, True)),
        )

    if X.formula is not None:
        if method not in ("auto", "moments"):
            raise BadInput("a formula goes with method 'moments'; for others give X and y")
        LeastSquares(epsilon, delta, names=("x",), ridge=ridge, neighbours=people.neighbours)  # or it is refused here
        plain = names is None and intercept
        asked: dict[str, Any] = {"levels": levels, "bounds": bounds, "epsilon": epsilon, "delta": delta}
        asked |= {"clusters": drawn}
        return formulated(people, X, make, plain=plain, beside=beside, **asked)
    X, outcome = features_of(X, y, names, levels)  # noqa: N806
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
        )
    pairs = truth_bounds((*X.kinds, outcome.kinds[0]), declared_bounds(bounds, X.names, outcome.name))
    if method == "sgd":
        if ridge is not None:
            raise BadInput("ridge goes with method 'moments'; leave it out")
        if people.size is None:
            raise BadInput(
                "method 'sgd' needs the number of people, which is private here; give neighbours='replace' and "
                "missing='keep', or use discreet.sgd with size=, a public guess"
            )
        known, features = public_terms(people), Features(X.names, intercept, None if bounds is None else pairs[:-1])
        known["people"] = known.pop("size")
        return StochasticDescent(features, "squared", epsilon=epsilon, delta=delta, **known)
    return by_cluster(make(Design(np.empty((0, 0)), X.names, pairs), intercept, epsilon, delta), drawn)


def _rows(columns: Mapping[str, Any]) -> Any:
    """Rows with the outcome last; labels stay as they are until they are coded."""
    y = columns.get("y")
    return columns if y is not None and np.asarray(y).dtype.kind == "O" else features_and_outcome(columns)


@statistic(
    LOGISTIC,
    rows=_rows,
    formula=formula_columns,
    wants_delta=lambda _, columns: any(columns.get(name) is not None for name in (*BESIDE, "clusters")),
    world=partial(regression, link="logistic"),
)
def logistic_regression(
    people: Public,
    X: Columns,  # noqa: N803  as scikit-learn calls it
    y: Columns | None = None,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    weights: Columns | None = None,
    offset: Columns | None = None,
    clusters: Columns | None = None,
    strata: Columns | None = None,
    method: Method = "auto",
    ridge: float | None = None,
    intercept: bool = True,
    bounds: Any = None,
    norm: float | None = None,
    classes: Sequence[Any] | None = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    names: Sequence[str] | None = None,
    confidence: float | None = 0.95,
    design: Any = None,
) -> Mechanism[Coefficients]:
    """Logistic regression: the coefficients of log odds, with intervals where there are people enough. No bounds
    needed.

    `X` is an array or a frame of numbers and `y` the outcome: 1 for yes and 0 for no, or the second and the first of
    two public `classes`; rows with any other outcome do not count. Or X is a formula, "ill ~ age + C(sex)", and y the
    frame; C(ill) takes two public levels, that of no first. Rows at levels that are not listed do not count. Public
    `bounds` (a pair for all features, one for each, or a dictionary by name) or a public largest `norm` of a row save
    what finding scales costs. `weights`, `clusters` and `strata` are as in `linear_regression`; `offset` is a column
    that is added to the log odds; all need delta > 0. `method` "objective" is pure (a minimum tilted by chance, with a
    `ridge`), "descent" needs delta > 0, "friendly" fits on blocks of people; "auto" says in a note which it took, and
    why. With a delta "auto" answers with a ridge where people are too few for coefficients without one, and the first
    line says so. confidence=None saves the budget of intervals.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11] for k in range(20000)])
    >>> y = x[:, 0] + np.arange(20000) % 5 > 5
    >>> r = discreet.logistic_regression(x, y, epsilon=1.0, rng=discreet.Seeded(1))
    >>> bool(r.value.coef[0] > 0.5), r.value.names
    (True, ('x0', 'x1'))
    """
    check_method(method, ("auto", "objective", "descent", "friendly"))
    if confidence is not None:
        check_confidence(confidence)
    if ridge is not None and method != "objective":
        raise BadInput("ridge goes with method 'objective'; leave it out")
    beside = columns_beside(offset, weights, method, ("auto", "descent"))
    drawn = survey_design(clusters, strata, design, method, ("auto", "descent"))
    if (beside or drawn) and not delta:
        named = " and ".join([*beside, *(["clusters"] if drawn else [])])
        raise BadInput(f"delta is 0, and {named} need delta > 0, for example delta=1e-6")
    terms = public_terms(people) | dict.fromkeys(beside, True) | ({} if drawn is None else {"clusters": drawn})

    def make(features: Features, share: Number, rest: Number) -> Mechanism[Coefficients]:
        if method == "objective":
            return ObjectivePerturbation(features, share, ridge=ridge, confidence=confidence, **public_terms(people))
        if method == "descent":
            return Descent(features, share, rest, family="logistic", **terms)
        return picked(features, share, rest, confidence=confidence, **terms)

    asked: dict[str, Any] = {"method": method, "intercept": intercept, "bounds": bounds, "norm": norm}
    asked |= {"levels": levels, "names": names, "classes": classes, "beside": beside, "clusters": drawn}
    return generalised(people, X, y, make, "logistic", epsilon=epsilon, delta=delta, **asked)


@statistic(
    REGRESSION,
    rows=features_and_outcome,
    formula=formula_columns,
    world=partial(regression, link="poisson"),
)
def poisson_regression(
    people: Public,
    X: Columns,  # noqa: N803
    y: Columns | None = None,
    *,
    epsilon: Number,
    delta: Number,
    weights: Columns | None = None,
    offset: Columns | None = None,
    clusters: Columns | None = None,
    strata: Columns | None = None,
    method: Literal["auto", "descent", "friendly"] = "auto",
    largest: int | None = None,
    intercept: bool = True,
    bounds: Any = None,
    norm: float | None = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    names: Sequence[str] | None = None,
    design: Any = None,
) -> Mechanism[Coefficients]:
    """Poisson regression: the coefficients of the log of a rate, with intervals. No bounds needed; delta > 0.

    As `logistic_regression`; `y` are counts, and `largest` a public number that hardly any exceeds, if there is one.
    For rates give the logarithm of the exposure as `offset`.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7] for k in range(30000)])
    >>> y = x[:, 0] // 2 + np.arange(30000) % 3
    >>> r = discreet.poisson_regression(x, y, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> bool(0.1 < r.value.coef[0] < 0.4)
    True
    """
    check_method(method, ("auto", "descent", "friendly"), "; a Poisson loss has no largest slope")
    note = ("method 'descent': the only one for counts that uses all people at once",) if method == "auto" else ()
    beside = columns_beside(offset, weights, method, ("auto", "descent"))
    drawn = survey_design(clusters, strata, design, method, ("auto", "descent"))
    terms = public_terms(people) | dict.fromkeys(beside, True) | ({} if drawn is None else {"clusters": drawn})

    def make(features: Features, share: Number, rest: Number) -> Mechanism[Coefficients]:
        return Descent(features, share, rest, family="poisson", largest=largest, notes=note, **terms)

    asked: dict[str, Any] = {"method": method, "intercept": intercept, "bounds": bounds, "norm": norm}
    asked |= {"levels": levels, "names": names, "beside": beside, "clusters": drawn}
    return generalised(people, X, y, make, "poisson", epsilon=epsilon, delta=delta, **asked)
