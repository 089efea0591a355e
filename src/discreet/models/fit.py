"""Any estimator, by name, on blocks of people; a known regression of few people, of all of them at once.

Blocks need people: n epsilon of about 23,000 for three numbers of which nothing is known, and 3,000 for an interval
for their mean over samples of 8 people. Least squares, logistic and Poisson regression have mechanisms of their own,
which answer from less than that on, and are never asked on such small samples. Where people are too few for
blocks, or blocks are predicted to make intervals more than 2.5 times as wide, these are taken instead, by public
numbers or by the noisy number of people that was bought ([counted_people.2]); the note of the release says so. They
hold what they say they hold: the coefficients of the whole population, nobody's influence above a limit that the first
line names. A penalty that vanishes as people grow (scikit-learn's C of at least 1) is left out.
"""

import inspect
import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from discreet.engines.local import Local
from discreet.errors import BadInput
from discreet.models.descent import Descent, picked
from discreet.models.features import Features
from discreet.models.least_squares import LeastSquares
from discreet.models.model_arguments import truth_bounds
from discreet.noise.distributions import stream
from discreet.privacy.declaration import Columns, Public, Reads, statistic
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Mechanism, Wrapped
from discreet.privacy.release import Release
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample.aggregate import SubsampleAggregate, Trust, check_seconds
from discreet.subsample.batched import Batched, batched
from discreet.subsample.block_table import BlockTable, table_of
from discreet.subsample.counted_people import CountedPeople
from discreet.subsample.estimators import Fit, SklearnFit, adapted
from discreet.subsample.fit_request import Instead, Whole, planned
from discreet.subsample.returned import Shape, ShapedSpread
from discreet.tables.entries import numbers_of
from discreet.tables.streams import Engine
from discreet.worlds.assumptions import MANY, ONE, About, World, flat
from discreet.worlds.shapes import EFFECTS, AssumedTable, outcome

MILD: Final = 1.0  # a penalty of the slopes beside the losses of all people
TOLD: Final = 500  # people times epsilon who tell a column apart: of fewer, its scale may be that of nobody
CASES: Final = 100  # the same of a logistic model, whose outcome has a scale
UNDECLARED: Final = (
    "or declare that the outcome is 0 or 1, which needs fewer people: y.astype('boolean') of pandas, "
    "discreet.open(..., types={...: 'boolean'}), or discreet.sklearn.PrivateEstimator(..., classes=[0, 1])"
)
AT_ONCE: Final = "people are few for blocks: this is the regression of all of them at once, by a mechanism of its own"
LARGE: Final = 200_000  # made-up rows on which an estimator's value for the population is taken
BLOCKS: Final = 500_000  # made-up rows of a forecast: blocks of people do not scale


def _world(about: About) -> World:
    """Any estimator; its value on very many made-up rows stands for the population's."""
    estimator = about.given.get("estimator")
    if estimator is None:
        raise BadInput("no estimator is given; forecast('fit', estimator=..., rows=..., epsilon=...) needs one")
    if about.given.get("confidence", 1.0) is None:
        about.take("confidence", None)
    link, truth = about.take("outcome", _outcome(estimator)), about.take("truth", None)
    if link not in (None, "linear", "logistic", "poisson"):
        raise BadInput(f"outcome is {link!r}; give None, 'linear', 'logistic' or 'poisson'")
    features = AssumedTable.of(about, columns=1)
    wide, effect = features.columns > 1 or link is not None, EFFECTS.get(str(link), 0.0)
    if link is not None:
        about.say(f"a {link} model holds, all coefficients {effect:g}")
    base = adapted(estimator, attributes=about.given.get("attributes"), options=about.given.get("options"))

    def made(g: Any, n: int) -> dict[str, Any]:
        x = features.draw(g, n)
        if link is None:
            return {"X": x if wide else x[:, 0]}
        return {"X": x, "y": outcome(g, effect * x.sum(axis=1), link)}

    def plain(X: Any, y: Any = None) -> Any:  # noqa: N803
        return flat(base.answer(X, y))

    found = plain(**made(stream(1), LARGE)) if truth is None else flat(truth)
    one = len(found) == 1
    return World(make=made, truth=found, plain=plain, measure=ONE if one else MANY, parts=one, runs=24, most=BLOCKS)


def _outcome(estimator: Any) -> str | None:
    """What an estimator is told besides rows: nothing, numbers, or yes and no."""
    if hasattr(estimator, "predict_proba"):
        return "logistic"
    if hasattr(estimator, "fit") and hasattr(estimator, "get_params"):
        needs = inspect.signature(estimator.fit).parameters.get("y")
        return "linear" if needs is not None and needs.default is inspect.Parameter.empty else None
    if callable(estimator) and not inspect.isclass(estimator):
        positional = [
            one
            for one in inspect.signature(estimator).parameters.values()
            if one.default is inspect.Parameter.empty and one.kind is not inspect.Parameter.KEYWORD_ONLY
        ]
        return "linear" if len(positional) == 2 else None
    return "linear" if inspect.isclass(estimator) else None


def of_all_people(
    people: Public,
    X: Columns,  # noqa: N803
    y: Columns | None,
    delta: Number,
    confidence: float,
) -> Instead:
    """For a regression that is known: its own mechanism on all people at once, as `fit` would return it."""

    def known(fit: Fit, shape: Shape) -> Whole | str | None:
        table = people.schema
        found = batched(fit, shape, table.x, table.y, None)
        names, unknown = shape.names[:-1], not isinstance(fit, SklearnFit) or table.people is not None
        if unknown or y is None or not isinstance(found, Batched) or not found.intercept or found.penalty_a_row:
            return None
        kinds = (*X.kinds, *y.kinds)
        if found.family == "logistic":  # else nobody has said which of two labels is yes
            takes = y.kinds == ("boolean",) and found.penalty <= MILD
        else:
            takes = bool(delta) and not found.penalty and y.kinds[0] not in ("text", "category", "date")
        if len(kinds) != len(shape.names):
            return None
        if not takes:
            return UNDECLARED if found.family == "logistic" and found.penalty <= MILD else None
        terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit, "size": people.size}

        def made(epsilon: Number, fewest: int | None) -> Mechanism[Any] | None:
            if fewest is not None and fewest * float(epsilon) < (CASES if found.family == "logistic" else TOLD):
                return None
            bounds = truth_bounds(kinds)
            if found.family == "normal":
                inner: Mechanism[Any] = LeastSquares(epsilon, delta, names=names, bounds=bounds, **terms)
            else:
                known_of = bounds[:-1] if any(bounds[:-1]) else None
                features = Features(names, True, known_of)
                inner = (
                    picked(features, epsilon, delta, confidence=confidence, **terms)
                    if found.family == "logistic"
                    else Descent(features, epsilon, delta, family="poisson", **terms)
                )
            note = f"{AT_ONCE}{', without its penalty' if found.penalty else ''}"
            return Wrapped(inner, before=_side_by_side, after=partial(_as_returned, shape, confidence, note))

        return made

    return known


def _side_by_side(table: BlockTable) -> Any:
    """Features and outcome of each row; an entry that is no number is missing, and raises nothing."""
    return np.column_stack([np.asarray(table.x, dtype=np.float64), numbers_of(table.y)])


def _as_returned(shape: Shape, confidence: float, note: str, release: Release[Any]) -> Release[Any]:
    """Coefficients as the estimator names them."""
    provenance = replace(release.provenance, notes=(*release.provenance.notes, note))
    if release.refusal is not None:  # what it advises is not an option of fit
        said = release.refusal.replace("bounds=", f"bounds= (of {'_'.join(release.name.split())})")
        return replace(release, provenance=provenance, refusal=said)

    def named(value: Any) -> Any:
        return dict(zip(shape.names, [*map(float, value.coef), float(value.intercept)], strict=True))

    spread = None if release.spread is None else ShapedSpread(release.spread, named, confidence)
    return replace(release, answer=named(release.value), spread=spread, provenance=provenance)


@statistic(
    {"X": Reads("any", "either"), "y": Reads("any", optional=True)}, rows=table_of, blocks=True, code=True, world=_world
)
def fit(
    people: Public,
    estimator: Any,
    X: Columns,  # noqa: N803  as scikit-learn calls it
    y: Columns | None = None,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    blocks: int | Literal["auto"] = "auto",
    aggregator: Any = "auto",
    bias_correction: str | None = "auto",
    timeout: float | None = None,
    engine: Engine | None = None,
    names: Any = None,
    labels: Any = None,
    attributes: Any = None,
    formula: str | None = None,
    options: Mapping[str, Any] | None = None,
    categories: Mapping[Any, Any] | None = None,
    unbiased: bool | None = None,
    estimate_bias: bool | Literal["auto"] = "auto",
    smallest: int | None = None,
    scales: Any = None,
    confidence: float = 0.95,
    trust: Trust | None = None,
    sandbox: Sandbox | None = None,
    vectorised: bool = True,
) -> Mechanism[Any]:
    """Any estimator, privately: fitted on disjoint blocks of people, the estimates combined, with an interval.

    `estimator` is a scikit-learn estimator or pipeline (`attributes` to read, by default `coef_` and `intercept_`), a
    statsmodels class (with `formula` if X is a frame), a lifelines fitter, a function of the rows (and of y) that
    returns a number, an array, a dictionary or a label, or "file.py:function", which runs in a sandbox. `options` go to
    its fit. `unit` names the column that says whose row it is, or is that column: all rows of a person are protected.
    What is returned is found on made-up rows of the same columns, or declared: `names`, or `labels` for a vote. Blocks
    hold numbers as float64 and texts, declared by their type, as objects; a column of objects is one of numbers.
    `categories` declares the public categories of some columns, {"sex": ["F", "M"]}. Where people are few for blocks,
    scikit-learn's LinearRegression, LogisticRegression (y declared boolean) and PoissonRegressor (alpha=0) are answered
    by `linear_regression` and its like, if `delta` is above 0 and nothing is said of blocks.
    `aggregator` is "mean", "coordinatewise", "friendly" (for several numbers at once; `scales=1` declares that they
    vary alike), "median", "vote" (by noisy counts; "exponential" and "noisy-max" draw the winner alone), or a mechanism
    whose rows are estimates; `bias_correction` the one within blocks, "half", "jackknife", "firth" or None.
    `estimate_bias` spends 3/10 of epsilon on what is left of the bias, and widens the interval by it: by default for
    functions, of which nothing is known, and elsewhere where its price is small; `unbiased=True` says that there is
    none. `confidence` is that of the interval that is shown; `interval(0.9)` of the release gives any other, but for
    the median, whose interval is drawn at this one. `timeout` is how many seconds a block may take, in a sandbox how
    long every block takes. Under neighbours="add_or_remove", where `blocks` are not declared, a twentieth of epsilon
    buys a noisy number of people that chooses them. How it will be done is logged before anything is spent.

    >>> import discreet
    >>> rows = [float(k % 100) for k in range(20000)]
    >>> r = discreet.fit(lambda x: float((x > 75).mean()), rows, epsilon=2.0, rng=discreet.Seeded(1))
    >>> 0.1 < r.value < 0.4
    True
    """
    check_seconds(timeout)
    asked = (blocks, aggregator, bias_correction) if isinstance(aggregator, str) else ()
    plain = asked == ("auto",) * 3 and estimate_bias is not True and trust != "sandbox"
    plain = plain and all(one is None for one in (smallest, scales, unbiased, sandbox, timeout))
    mechanism = planned(
        estimator,
        people.schema,
        epsilon=epsilon,
        delta=delta,
        blocks=blocks,
        aggregator=aggregator,
        engine=Local(limit=None if timeout is None else 1000 * timeout) if engine is None else engine,
        names=names,
        labels=labels,
        attributes=attributes,
        formula=formula,
        options=options,
        correct=bias_correction,
        unbiased=unbiased,
        estimate_bias=estimate_bias,
        smallest=smallest,
        scales=scales,
        confidence=confidence,
        trust=trust,
        sandbox=sandbox,
        seconds=timeout,
        vectorised=vectorised,
        neighbours=people.neighbours,
        unit=people.unit,
        instead=of_all_people(people, X, y, delta, confidence) if plain else None,
    )
    if isinstance(mechanism, SubsampleAggregate | CountedPeople):
        logging.getLogger("discreet").info("%s", mechanism.plan(people.schema))
    return mechanism
