"""Regressions by name."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.models.blockwise import line_in_blocks
from discreet.models.design import Design, Formulated, names_of
from discreet.models.formula import Formula
from discreet.models.least_squares import LeastSquares, declared_bounds
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.values import Coefficients
from discreet.quick.asked import ask, named, relation_of
from discreet.tables.entries import numbers
from discreet.tables.matrix import in_one, matrix

METHODS = ("auto", "moments", "friendly", "sgd")
MOMENTS = "method 'moments': one row for each person, so one noisy sum of squares has the least error"
BLOCKS = "method 'friendly': a person may have several rows, which blocks of people keep together"


def linear_regression(
    X: Any,  # noqa: N803  as scikit-learn calls it
    y: Any,
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
    neighbours: Neighbours | str = "replace",
    unit: Any = "row",
    rng: Randomness | None = None,
) -> Release[Coefficients]:
    """Linear regression: coefficients, each with an interval that has the privacy noise in it. No bounds needed.

    `X` is an array or a frame of numbers and `y` the outcome; or X is a formula, "y ~ age + C(sex)", and y the frame
    (pandas, polars, Arrow or a dictionary of columns). `levels` lists the categories of a C(...), the one to compare
    with first; those not listed are found, at a tenth of the budget each. `bounds` are public bounds by name of column,
    (0, 1) for rare truth values say. `ridge` is as scikit-learn's alpha; None adds only what the noise asks for.
    `method` "moments" is a noisy sum of squares, "friendly" fits on blocks of people (and is what `unit` needs if it is
    the column of names, for people with several rows), "sgd" is descent on the squares, for columns in units of about 1
    and with no interval; "auto" says in a note which of the first two it took, and why.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11] for k in range(5000)])
    >>> y = x @ [2.0, -1.0] + np.arange(5000) % 13
    >>> r = discreet.linear_regression(x, y, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> bool(abs(r.value.coef - [2, -1]).max() < 0.2), r.value.names
    (True, ('x0', 'x1'))
    """
    relation = relation_of(neighbours)
    people = _several(unit, y if isinstance(X, str) else X)
    chosen = _chosen(method, people, blocks)
    note = (BLOCKS if people else MOMENTS,) if method == "auto" else ()
    if isinstance(X, str):
        formula = Formula.read(X)
        if chosen != "moments":
            raise BadInput("a formula goes with method 'moments'; for others give X and y")
        if names is not None or not intercept:
            raise BadInput("a formula has its own names, and '- 1' for no intercept; leave names and intercept out")
        LeastSquares(
            epsilon, delta, ("x",), True, ridge, None, relation, named(unit)
        )  # refuses before anything is drawn
        make = partial(_least_squares, ridge=ridge, neighbours=relation, unit=named(unit), notes=note)
        by_name = bounds or {}
        if not isinstance(by_name, Mapping):
            raise BadInput(f"bounds are {bounds!r}; with a formula give a dictionary by name of column")
        return ask(Formulated(formula, make, epsilon, delta, levels or {}, by_name, relation, named(unit)), y, rng)
    if levels is not None:
        raise BadInput("levels are for a formula with C(...); columns of X are numbers")
    rows, called = _columns(X, names)
    outcome = numbers(y)
    if len(outcome) != len(rows):
        raise BadInput("y has another length than X; they must be the same")
    if chosen == "friendly":
        if ridge is not None or bounds is not None:
            raise BadInput("ridge and bounds go with method 'moments'; leave them out")
        return line_in_blocks(
            rows,
            outcome,
            unit if people else None,
            names=called,
            intercept=intercept,
            epsilon=epsilon,
            delta=delta,
            blocks=blocks,
            aggregator="auto" if method == "auto" else "friendly",
            neighbours=relation,
            unit="person" if people else named(unit),
            release_of=partial(ask, rng=rng),
            notes=note,
        )
    pairs = declared_bounds(bounds, called, str(getattr(y, "name", None) or "y"))
    if chosen == "sgd":
        if ridge is not None:
            raise BadInput("ridge goes with method 'moments'; leave it out")
        descend = import_module("discreet.quick.glms").sgd
        asked = {
            "epsilon": epsilon,
            "delta": delta,
            "intercept": intercept,
            "names": called,
            "unit": unit,
            "rng": rng,
        }
        columns = None if pairs is None else pairs[:-1]
        found: Release[Coefficients] = descend("squared", rows, outcome, bounds=columns, neighbours=relation, **asked)
        return found
    mechanism = LeastSquares(epsilon, delta, called, intercept, ridge, pairs, relation, named(unit), None, note)
    return ask(mechanism, np.column_stack([rows, outcome]), rng)


def _several(unit: Any, table: Any) -> bool:
    """Whether `unit` is a column of names, for people with several rows; a text says what a row is, and no more."""
    if unit is None:
        raise BadInput("unit is None; name what a row is, or give the column that says whose row each is")
    if not isinstance(unit, str):
        return True
    framed = isinstance(table, Mapping) or hasattr(table, "column_names") or hasattr(table, "columns")
    if unit != "row" and framed and unit in names_of(table):
        raise BadInput(
            f"unit is {unit!r}, which is a column here, and a text only says what one row is. If people may have "
            "several rows, give X and y without that column, and the column itself as unit; if not, another word"
        )
    return False


def _chosen(method: str, people: bool, blocks: Any) -> str:
    """The method, and what does not go with it."""
    if method not in METHODS:
        raise BadInput(f"method is {method!r}; give one of {', '.join(METHODS)}")
    if people and method not in ("auto", "friendly"):
        raise BadInput("unit is a column of names: people may have several rows, which method 'friendly' protects")
    chosen = ("friendly" if people else "moments") if method == "auto" else method
    if blocks != "auto" and chosen != "friendly":
        raise BadInput(f"blocks is {blocks!r}, which goes with method 'friendly'; leave it out")
    return chosen


def _least_squares(
    design: Design,
    intercept: bool,
    epsilon: Number,
    delta: Number,
    *,
    ridge: float | None,
    neighbours: Neighbours,
    unit: str,
    notes: tuple[str, ...],
) -> LeastSquares:
    """The mechanism for the columns of a formula."""
    return LeastSquares(epsilon, delta, design.names, intercept, ridge, design.bounds, neighbours, unit, None, notes)


def _columns(x: Any, names: Sequence[str] | None) -> tuple[Any, tuple[str, ...]]:
    """The rows as an array, and the names of its columns: as given, as the frame has them, or x0, x1 and so on."""
    width = None if names is None or isinstance(names, str) else len(names)
    rows = in_one(matrix(x, width, declared="names, columns"))
    if names is None:
        framed = hasattr(x, "column_names") or hasattr(x, "columns")
        found = names_of(x) if framed else tuple(f"x{place}" for place in range(rows.shape[1]))
    elif isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise BadInput(f"names is {names!r}; give a text for each column")
    else:
        found = tuple(names)
    if len(set(found)) != len(found):
        raise BadInput("two columns have the same name; give each its own")
    return rows, found
