"""Whatever people fit, as a function from a block to one answer: scikit-learn, statsmodels, lifelines, plain functions.

An adapter is a small value with one method, `answer(x, y)`, that fits anew on the rows it is given and returns what was
asked for. It keeps nothing between calls: objects are copied before they are fitted. Preprocessing in a pipeline is
part of the fit and sees its block alone.
"""

import contextlib
import copy
import ctypes
import inspect
import io
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from discreet.errors import BadInput

UNBIASED: Final = ("LinearRegression", "OLS")  # by the exact name of their class: least squares


class Fit(Protocol):
    """An adapter."""

    @property
    def name(self) -> str:
        """For the record."""

    @property
    def unbiased(self) -> bool:
        """Whether fits on small blocks are known to be centred at the same place as on large ones."""

    def answer(self, x: Any, y: Any) -> Any:
        """Fit on these rows; raises whatever it likes."""


@dataclass(frozen=True, slots=True)
class SklearnFit:
    """A scikit-learn estimator or pipeline: the named attributes of the fitted last step."""

    estimator: Any
    attributes: tuple[str, ...] = ("coef_", "intercept_")
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The class."""
        return type(self.last).__name__

    @property
    def last(self) -> Any:
        """The estimator, or the last step of a pipeline."""
        return _last(self.estimator)

    @property
    def unbiased(self) -> bool:
        """Least squares on raw columns."""
        return self.name in UNBIASED and self.last is self.estimator

    def answer(self, x: Any, y: Any) -> Any:
        """Clone, fit, and read the attributes off."""
        from sklearn.base import clone

        fitted = clone(self.estimator)
        fitted.fit(*_given(x, y), **self.options)
        last = _last(fitted)
        if len(self.attributes) == 1:
            return getattr(last, self.attributes[0])
        columns = [str(name) for name in x.columns] if hasattr(x, "columns") else []
        named: dict[str, float] = {}
        for attribute in self.attributes:
            value = np.asarray(getattr(last, attribute), dtype=np.float64)
            places = columns if len(columns) == value.size else [str(place) for place in range(value.size)]
            for place, entry in zip(places, value.ravel(), strict=True):
                named[f"{attribute}[{place}]" if value.ndim and attribute != "intercept_" else attribute] = float(entry)
        return named


@dataclass(frozen=True, slots=True)
class ModelFit:
    """A statsmodels class (or a partial of one), or its formula function: `params`, by name where there are names."""

    model: Any
    formula: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The class or function."""
        inner = self.model.func if isinstance(self.model, partial) else self.model
        inner = getattr(inner, "__self__", inner)  # statsmodels' formula functions are methods of the class
        return str(getattr(inner, "__name__", type(inner).__name__))

    @property
    def unbiased(self) -> bool:
        """Least squares."""
        return self.name in UNBIASED

    def answer(self, x: Any, y: Any) -> Any:
        """Build the model on the block, fit it, and read its parameters."""
        if self.formula is not None:
            build = self.model.from_formula if hasattr(self.model, "from_formula") else self.model
            model = build(self.formula, data=x)
        else:
            model = self.model(y, x)
        quiet = {"disp": 0} if "disp" in inspect.signature(model.fit).parameters else {}
        fitted = model.fit(**(quiet | dict(self.options)))
        if getattr(fitted, "mle_retvals", None) and not fitted.mle_retvals.get("converged", True):
            raise ArithmeticError("not converged")
        return fitted.params


@dataclass(frozen=True, slots=True)
class LifelinesFit:
    """Whatever fits a frame and then has `params_`: lifelines' regressions."""

    fitter: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    unbiased: bool = False

    @property
    def name(self) -> str:
        """The class."""
        return type(self.fitter).__name__

    def answer(self, x: Any, y: Any) -> Any:
        """Copy, fit, and read the parameters."""
        fitter = copy.deepcopy(self.fitter)
        fitter.fit(*_given(x, y), **self.options)
        params = fitter.params_
        if hasattr(params, "index") and hasattr(params.index, "nlevels") and params.index.nlevels > 1:
            return {".".join(map(str, name)): float(value) for name, value in params.items()}
        return params


@dataclass(frozen=True, slots=True)
class FunctionFit:
    """A plain function of the rows, or of the rows and the outcome."""

    function: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    unbiased: bool = False

    @property
    def name(self) -> str:
        """The function's."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def answer(self, x: Any, y: Any) -> Any:
        """Call it."""
        return self.function(*_given(x, y), **self.options)


@dataclass(frozen=True, slots=True)
class LineFit:
    """Least squares: slopes by name, then the intercept if there is one."""

    names: tuple[str, ...]
    intercept: bool = True
    name: str = "least squares"
    unbiased: bool = True

    def answer(self, x: Any, y: Any) -> Any:
        """Solve for this block; raises where there is no one solution."""
        columns = np.column_stack([x, np.ones(len(x))]) if self.intercept else np.asarray(x, dtype=np.float64)
        found, _, rank, _ = np.linalg.lstsq(columns, np.asarray(y, dtype=np.float64), rcond=None)
        if rank < columns.shape[1]:
            raise ArithmeticError("no one solution")
        return dict(zip((*self.names, *(["intercept"] if self.intercept else [])), found.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class SourceFit:
    """A function in a text of Python, the content of a file say: it is compiled where the block is, never here."""

    source: str
    entry: str
    unbiased: bool = False

    @property
    def name(self) -> str:
        """The function's."""
        return self.entry

    def answer(self, x: Any, y: Any) -> Any:
        """Run the text, then the function."""
        scope: dict[str, Any] = {"__name__": "estimator"}
        exec(compile(self.source, "<estimator>", "exec"), scope)  # noqa: S102  only in a sandbox: see aggregate.py
        return scope[self.entry](*_given(x, y))


def _given(x: Any, y: Any) -> tuple[Any, ...]:
    """What an estimator is called with: an outcome only where there is one."""
    return (x,) if y is None else (x, y)


def _last(estimator: Any) -> Any:
    """The last step of a pipeline, or the estimator itself."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def adapted(
    estimator: Any, *, attributes: Any = None, formula: str | None = None, options: Mapping[str, Any] | None = None
) -> Fit:
    """The adapter for what was handed in; decided by what it is, never by the rows."""
    fit = _adapter(estimator, attributes, formula, dict(options or {}))
    for name, value, takes in (
        ("attributes", attributes, SklearnFit),
        ("formula", formula, ModelFit),
        ("options", options, SklearnFit | ModelFit | LifelinesFit | FunctionFit),
    ):
        if value and not isinstance(fit, takes):
            raise BadInput(
                f"{name} is {value!r}, which {type(fit).__name__} of this estimator does not take; leave it out"
            )
    return fit


def _adapter(estimator: Any, attributes: Any, formula: str | None, given: dict[str, Any]) -> Fit:
    if isinstance(estimator, str):
        return _from_file(estimator)
    if hasattr(estimator, "answer") and hasattr(estimator, "unbiased"):
        return estimator  # type: ignore[no-any-return]
    bare = estimator.func if isinstance(estimator, partial) else estimator
    if hasattr(estimator, "get_params") and hasattr(estimator, "fit") and not inspect.isclass(estimator):
        named = (attributes,) if isinstance(attributes, str) else attributes
        return SklearnFit(estimator, ("coef_", "intercept_") if named is None else tuple(named), given)
    if hasattr(estimator, "endog"):
        raise BadInput("this model was built on data already; give its class, for example sm.OLS, and the rows")
    if formula is not None or (inspect.isclass(bare) and hasattr(bare, "from_formula")):
        return ModelFit(estimator, formula, given)
    if hasattr(estimator, "fit") and not inspect.isclass(estimator):
        return LifelinesFit(estimator, given)
    if callable(estimator):
        return FunctionFit(estimator, given)
    raise BadInput(
        f"{type(estimator).__name__} is no estimator; give a scikit-learn estimator, a statsmodels class, a lifelines "
        "fitter, a function of the rows, or 'file.py:function'"
    )


def _from_file(place: str) -> SourceFit:
    path, _, entry = place.rpartition(":")
    if not path or not entry.isidentifier():
        raise BadInput(f"the estimator is the text {place!r}; give 'file.py:function'")
    try:
        with open(path, encoding="utf-8") as file:
            return SourceFit(file.read(), entry)
    except OSError:
        raise BadInput(f"the file {path!r} cannot be read; give 'file.py:function'") from None


@contextlib.contextmanager
def silence() -> Iterator[list[warnings.WarningMessage]]:
    """Nothing of what happens inside is shown; warnings are handed over, for some of them mean failure."""
    level = logging.root.manager.disable
    logging.disable(sys.maxsize)  # whatever level somebody made up
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(record=True) as seen,
        ):
            warnings.simplefilter("always")
            yield seen
    finally:
        logging.disable(level)


@contextlib.contextmanager
def hushed() -> Iterator[None]:
    """Also what goes past Python's streams to the process's own, by compiled code or os.write, is shown nowhere."""
    try:
        kept = {stream: os.dup(stream) for stream in (1, 2)}
    except OSError:  # there are none to write to
        yield
        return
    try:
        _flush()
        _to_nothing(1, 2)
        yield
    finally:
        _flush()  # what waits in a buffer must not come later
        for stream, copy in kept.items():
            os.dup2(copy, stream)
            os.close(copy)


def _flush() -> None:
    for file in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            file.flush()  # type: ignore[union-attr]
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).fflush(None)  # the buffers of C


def _to_nothing(*streams: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(nothing, stream)
    if nothing not in streams:
        os.close(nothing)
