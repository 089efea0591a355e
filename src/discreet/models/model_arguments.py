"""The arguments that regressions share: columns beside features and outcome, formulas, classes, clusters."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.models.coefficients import in_blocks
from discreet.models.descent import LINKS
from discreet.models.design import Design, Formulated, declared_in
from discreet.models.design_effects import in_groups, numbered
from discreet.models.features import Features, coded, features_and_outcome, named_columns, places_of, yes_or_no
from discreet.models.formula import Formula
from discreet.models.score import Name
from discreet.privacy.declaration import Columns, Public
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Mechanism, Wrapped
from discreet.privacy.values import Coefficients
from discreet.statistics.survey_design import Design as SurveyDesign
from discreet.statistics.survey_design import declared_design

Make = Callable[[Features, Number, Number], Mechanism[Coefficients]]


def check_method(method: object, known: tuple[str, ...], why: str = "") -> None:
    """BadInput for another."""
    if method not in known:
        raise BadInput(f"method is {method!r}; give one of {', '.join(known)}{why}")


def columns_beside(
    offset: Columns | None, weights: Columns | None, method: str, known: tuple[str, ...]
) -> dict[str, Columns]:
    """The columns beside features and outcome, in the order of rows."""
    found = {name: one for name, one in (("offset", offset), ("weights", weights)) if one is not None}
    if found and method not in known:
        given = " and ".join(found)
        raise BadInput(f"method is {method!r}, which has no {given}; leave method out, or {given}")
    return found


def survey_design(
    clusters: Columns | None, strata: Columns | None, design: object, method: str, known: tuple[str, ...]
) -> SurveyDesign | None:
    """The declared clusters, in a few groups; None where there are none. [design_effects.1]"""
    found = declared_design(clusters, strata, design)
    if found is not None and method not in known:
        raise BadInput(f"method is {method!r}, which has no clusters; leave method out, or clusters and design")
    return None if found is None else in_groups(found)


def by_cluster(
    mechanism: Mechanism[Coefficients],
    design: SurveyDesign | None,
    rows: Callable[[Mapping[str, Any]], Any] = features_and_outcome,
) -> Mechanism[Coefficients]:
    """The mechanism on rows of columns, where there are clusters. [design_effects.1]"""
    return mechanism if design is None else Wrapped(mechanism, before=partial(numbered, rows=rows, design=design))


def public_terms(people: Public) -> dict[str, Any]:
    """What every mechanism knows of the people."""
    return {"neighbours": people.neighbours, "unit": people.unit, "size": people.size}


def formulated(
    people: Public,
    X: Columns,  # noqa: N803
    make: Callable[[Design, bool, Number, Number], Mechanism[Coefficients]],
    *,
    plain: bool,
    beside: Mapping[str, Columns],
    clusters: SurveyDesign | None,
    categories: bool = False,
    levels: Any,
    bounds: Any,
    **budget: Any,
) -> Formulated:
    """By a formula, where nothing else says what it says itself."""
    if not plain:
        raise BadInput(
            "a formula has its own names, and '- 1' for no intercept; in place of classes write C(ill) ~ age + bmi, "
            "and levels={'ill': ['no', 'yes']}; give bounds and levels by name only"
        )
    formula = Formula.read(X.formula or "")
    if formula.outcome.kind == "category" and not categories:
        raise BadInput(f"the outcome is {formula.outcome}, and this model takes numbers; write {formula.outcome.name}")
    for option, one in beside.items():
        if one.name in formula.categories:
            raise BadInput(f"{option} is {one.name!r}, which the formula takes as C({one.name}); give other numbers")
    known: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit, "beside": tuple(beside)}
    known["clusters"] = clusters
    known["levels"], known["bounds"] = declared_in(X, levels, bounds)
    return Formulated(formula, make, **budget, **known)


def features_of(X: Columns, y: Columns | None, names: Any, levels: Any) -> tuple[Columns, Columns]:  # noqa: N803
    """The features by name, and the outcome."""
    if levels is not None:
        raise BadInput("levels are for a formula with C(...); columns of X are numbers")
    if y is None:
        raise BadInput("y is missing; give the outcome, or a formula as X")
    return named_columns(X, names), y


def truth_bounds(kinds: Sequence[str], bounds: Any = None) -> tuple[Any, ...]:
    """Bounds for each column: as given, and (0, 1) for those that are declared to hold yes and no."""
    given = bounds if isinstance(bounds, Sequence) and len(bounds) == len(kinds) else (None,) * len(kinds)
    return tuple(
        (0.0, 1.0) if pair is None and kind == "boolean" else pair for kind, pair in zip(kinds, given, strict=True)
    )


def generalised(
    people: Public,
    X: Columns,  # noqa: N803
    y: Columns | None,
    make: Make,
    family: Name,
    *,
    method: str,
    intercept: bool,
    bounds: Any,
    norm: float | None,
    levels: Any,
    names: Any,
    beside: Mapping[str, Columns],
    clusters: SurveyDesign | None,
    classes: Sequence[Any] | None = None,
    **budget: Any,
) -> Mechanism[Coefficients]:
    """A logistic or Poisson model by a formula, or by features and an outcome."""
    if X.formula is not None:
        plain = method != "friendly" and names is None and intercept and norm is None and classes is None

        def by_design(design: Design, constant: bool, share: Number, rest: Number) -> Mechanism[Coefficients]:
            return make(Features(design.names, constant, design.bounds[:-1]), share, rest)

        budget |= {"plain": plain, "categories": family == "logistic", "levels": levels, "bounds": bounds}
        return formulated(people, X, by_design, beside=beside, clusters=clusters, **budget)
    X, _ = features_of(X, y, names, levels)  # noqa: N806
    if isinstance(bounds, Mapping):
        unknown = [name for name in bounds if name not in X.names]
        if unknown:
            raise BadInput(f"bounds are given for {unknown}, but the columns are {', '.join(X.names)}")
        bounds = tuple(bounds.get(name) for name in X.names)
    if "boolean" in X.kinds and norm is None and method != "friendly" and np.shape(bounds) != (2,):
        bounds = truth_bounds(X.kinds, bounds)
    features = Features(X.names, intercept, bounds, norm)
    if method == "friendly":
        mechanism = _friendly(people, X, features, family, **budget)
    else:
        mechanism = make(features, budget["epsilon"], budget["delta"])
    if classes is None:
        return by_cluster(mechanism, clusters)
    labels = partial(coded, places=places_of(classes), beside=tuple(beside))
    return Wrapped(mechanism, before=labels) if clusters is None else by_cluster(mechanism, clusters, labels)


def _friendly(
    people: Public,
    X: Columns,  # noqa: N803
    features: Features,
    family: Name,
    **budget: Any,
) -> Mechanism[Coefficients]:
    """Fits on blocks of people, the estimates combined by their friends."""
    from sklearn.linear_model import LogisticRegression, PoissonRegressor

    if not features.intercept or features.bounds is not None or features.norm is not None:
        raise BadInput("method 'friendly' fits with an intercept and uses no bounds; leave them out")
    model = LogisticRegression(C=np.inf) if family == "logistic" else PoissonRegressor(alpha=0)
    return in_blocks(
        model,
        X,
        people=people,
        named=lambda value: (tuple(name for name in value if name != "intercept_"), "intercept_"),
        link=LINKS[family],
        name=f"{family} regression",
        outcome=yes_or_no if family == "logistic" else lambda y: y,
        aggregator="friendly",
        **budget,
    )
