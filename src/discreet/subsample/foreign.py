"""Estimators that are written in another language are refused before anything is spent.

A function of R that is handed over by reticulate or rpy2 runs in the R process alone, one call at a time. Blocks run in
processes of their own, where it fails: of 200 blocks about 4 were answered, and epsilon was spent all the same.
"""

import functools
from collections.abc import Iterator
from typing import Any, Final

from discreet.errors import BadInput

BRIDGES: Final = {"rpytools": "reticulate", "rpycall": "reticulate", "rpy2": "rpy2"}
DEEPEST: Final = 4  # functions within functions


def check_language(estimator: Any) -> None:
    """That an estimator can run in another process than this one."""
    bridge = next((found for each in _within(estimator, DEEPEST) if (found := _bridge(each))), None)
    if bridge is not None:
        raise BadInput(
            f"the estimator is a function of R, through {bridge}: blocks of people run in processes of their own, "
            "where there is no R. Nothing is spent. Ask for the statistic by its name (mean, linear_regression, "
            "logistic_regression, fit with a scikit-learn model), or write the function in Python, in a file"
        )


def _bridge(thing: Any) -> str | None:
    for owner in (thing, type(thing)):
        module = getattr(owner, "__module__", None)
        root = module.partition(".")[0] if isinstance(module, str) else ""
        if root in BRIDGES:
            return BRIDGES[root]
    return None


def _within(thing: Any, depth: int) -> Iterator[Any]:
    """The function and those that it calls, as far as they can be seen from outside."""
    yield thing
    if depth == 0:
        return
    inner = [thing.func, *thing.args, *thing.keywords.values()] if isinstance(thing, functools.partial) else []
    inner += [getattr(thing, name, None) for name in ("__wrapped__", "__func__", "__self__")]
    for cell in getattr(thing, "__closure__", None) or ():
        try:
            inner.append(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    call = type(thing).__dict__.get("__call__")
    inner += [call] if hasattr(call, "__closure__") else []
    for each in inner:
        if callable(each) or _bridge(each):
            yield from _within(each, depth - 1)
