"""Whatever people fit, as a function from a block to one answer: scikit-learn, statsmodels, lifelines, plain functions.

An adapter is a small value with one method, `answer(x, y)`, that fits anew on the rows it is given and returns what was
asked for. It keeps nothing between calls: objects are copied before they are fitted. Preprocessing in a pipeline is
part of the fit and sees its block alone.
"""

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Final, Protocol

import numpy as np

from discreet.errors import BadInput
from discreet.subsample.block_fits import jackknifed, least_squares
from discreet.subsample.foreign import check_language

COEFFICIENTS: Final = ("coef_", "intercept_")
CENTRES: Final = "clusters have no order that blocks share", "discreet.kmeans finds centres of all people at once"
AXES: Final = (
    "components have no sign that blocks share",
    "the eigenvectors of a release of discreet.covariance are free",
)
UNITS: Final = "hidden units have no order that blocks share", "give a function that returns predictions at public rows"
UNALIGNED: Final = {  # by scikit-learn's packages: why the mean of what blocks learn is nonsense, and what to do
    "cluster": CENTRES,
    "mixture": CENTRES,
    "decomposition": AXES,
    "cross_decomposition": AXES,
    "manifold": AXES,
    "neural_network": UNITS,
}
ALIGNED: Final = {  # the same in every block
    *("explained_variance_", "explained_variance_ratio_", "noise_variance_", "singular_values_", "mean_"),
    *("inertia_", "loss_", "lower_bound_"),
}
BY_ROW: Final = {"weights", "freq_weights", "var_weights", "sample_weight", "offset", "exposure", "status", "entry"}
NOT_OPTIONS: Final = {"self", "args", "kwargs", "endog", "exog", "X", "y", "data", "formula"}
CURVES: Final = ("survival_function_", "cumulative_hazard_", "cumulative_density_")  # of lifelines, at given times


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
    attributes: tuple[str, ...] = COEFFICIENTS
    options: Mapping[str, Any] = field(default_factory=dict)
    unbiased: ClassVar = False

    @property
    def name(self) -> str:
        """The class."""
        return type(self.last).__name__

    @property
    def last(self) -> Any:
        """The estimator, or the last step of a pipeline."""
        return _last(self.estimator)

    @property
    def least_squares(self) -> bool:
        """On raw columns, as they are: then the jackknife has a closed form."""
        plain = type(self.estimator).__name__ == "LinearRegression" and not self.options
        return plain and not self.estimator.positive

    def answer(self, x: Any, y: Any) -> Any:
        """Clone, fit, and read the attributes off."""
        return self._read(x, self._fitted(x, y))

    def jackknifed(self, x: Any, y: Any, people: Any) -> Any:
        """Of least squares, with the jackknife's correction."""
        fitted = self._fitted(x, y)
        rows, outcome = np.asarray(_table(x), dtype=np.float64), np.asarray(y, dtype=np.float64)
        if outcome.ndim != 1:
            raise ArithmeticError("several outcomes")
        found = jackknifed(rows, outcome, people, fitted.fit_intercept)
        fitted.coef_, fitted.intercept_ = (found[:-1], found[-1]) if fitted.fit_intercept else (found, 0.0)
        return self._read(x, fitted)

    def _fitted(self, x: Any, y: Any) -> Any:
        from sklearn.base import clone

        fitted = clone(self.estimator)
        fitted.fit(*_given(_table(x), y), **self.options)
        last = _last(fitted)
        if type(last).__name__ == "LinearRegression" and getattr(last, "rank_", np.inf) < last.n_features_in_:
            raise ArithmeticError("a coefficient is not identified")  # and not 0, as the pseudo-inverse says
        return fitted

    def _read(self, x: Any, fitted: Any) -> Any:
        last = _last(fitted)
        absent = [name for name in self.attributes if not hasattr(last, name)]
        if absent:  # found out on made-up rows; in a block it is one failure of many
            learned = [name for name in dir(last) if name.endswith("_") and not name.startswith("_")]
            raise BadInput(
                f"{self.name} has no {' and no '.join(absent)}; name what to read, attributes=[...]: a fitted one has "
                f"{', '.join(learned)}"
            )
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
    unbiased: ClassVar = False

    @property
    def home(self) -> Any:
        """The class or function."""
        inner = self.model.func if isinstance(self.model, partial) else self.model
        return getattr(inner, "__self__", inner)  # statsmodels' formula functions are methods of the class

    @property
    def name(self) -> str:
        """Of the class or function."""
        return str(getattr(self.home, "__name__", type(self.home).__name__))

    @property
    def building(self) -> dict[str, Any]:
        """The options that the model is built with; the others go to its fit."""
        taken = _parameters(self.home)
        return {name: value for name, value in self.options.items() if name in taken}

    @property
    def least_squares(self) -> bool:
        """Whether the jackknife has a closed form."""
        return self.name == "OLS"

    def answer(self, x: Any, y: Any) -> Any:
        """Build the model on the block, fit it, and read its parameters."""
        return self._fitted(x, y)[1].params

    def jackknifed(self, x: Any, y: Any, people: Any) -> Any:
        """Of least squares, with the jackknife's correction."""
        model, fitted = self._fitted(x, y)
        found = jackknifed(np.asarray(model.exog), np.asarray(model.endog), people, intercept=False)
        return 0 * fitted.params + found  # as it names them

    def _fitted(self, x: Any, y: Any) -> Any:
        if self.formula is not None:
            build = self.model.from_formula if hasattr(self.model, "from_formula") else self.model
            model = build(self.formula, data=x, **self.building)
        else:
            model = self.model(y, x, **self.building)
        quiet = {"disp": 0} if "disp" in inspect.signature(model.fit).parameters else {}
        fitted = model.fit(**(quiet | {name: self.options[name] for name in self.options if name not in self.building}))
        if getattr(fitted, "mle_retvals", None) and not fitted.mle_retvals.get("converged", True):
            raise ArithmeticError("not converged")
        design = np.asarray(getattr(model, "exog", np.empty((0, 0))), dtype=np.float64)
        if design.ndim == 2 and len(design) and np.linalg.matrix_rank(design) < design.shape[1]:
            raise ArithmeticError("a coefficient is not identified")  # and not as the pseudo-inverse has it
        return model, fitted


@dataclass(frozen=True, slots=True)
class LifelinesFit:
    """lifelines' regressions and distributions, which have `params_`, and its curves, read at a given `timeline`."""

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
        curve = next((name for name in CURVES if hasattr(fitter, name)), None)
        if curve is not None and not hasattr(fitter, "params_"):
            if "timeline" not in self.options:
                raise BadInput(
                    f"{self.name} needs the public times at which to read its curve: options={{'timeline': [1, 2, 5]}}"
                )
            return {f"{time:g}": float(value) for time, value in getattr(fitter, curve).iloc[:, 0].items()}
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
    unbiased: ClassVar = False
    least_squares: ClassVar = True

    def answer(self, x: Any, y: Any) -> Any:
        """Solve for this block; not finite where there is no one solution."""
        return self._named(least_squares(np.asarray(x, dtype=np.float64), np.asarray(y, np.float64), self.intercept))

    def jackknifed(self, x: Any, y: Any, people: Any) -> Any:
        """With the jackknife's correction."""
        return self._named(jackknifed(np.asarray(x, np.float64), np.asarray(y, np.float64), people, self.intercept))

    def _named(self, found: Any) -> dict[str, float]:
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


def _table(x: Any) -> Any:
    """One column of numbers as a table, as scikit-learn wants it."""
    return x[:, None] if isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "biuf" else x


def _last(estimator: Any) -> Any:
    """The last step of a pipeline, or the estimator itself."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def adapted(
    estimator: Any, *, attributes: Any = None, formula: str | None = None, options: Mapping[str, Any] | None = None
) -> Fit:
    """The adapter for what was handed in; decided by what it is, never by the rows."""
    check_language(estimator)
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
    _check_options(fit, dict(options or {}))
    if isinstance(fit, SklearnFit):
        _check_aligned(fit)
    return fit


def _check_options(fit: Fit, options: Mapping[str, Any]) -> None:
    """Each option is taken by something, by name, and holds nothing that is one entry a row."""
    match fit:
        case SklearnFit():
            taken = _parameters(fit.estimator.fit)
        case ModelFit():
            taken = _parameters(fit.home) | (_parameters(fit.home.fit) if hasattr(fit.home, "fit") else {})
        case LifelinesFit():
            taken = _parameters(fit.fitter.fit)
        case FunctionFit():
            taken = _parameters(fit.function)
        case _:
            taken = {}
    open_ended = isinstance(fit, SklearnFit | FunctionFit) and any(
        one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values()
    )
    for name, value in options.items():
        if name not in taken and not open_ended:
            listed = ", ".join(one for one in taken if one not in NOT_OPTIONS)
            raise BadInput(f"options has {name!r}, which {fit.name} and its fit do not take; they take {listed}")
        if name in BY_ROW and np.ndim(value):
            raise BadInput(
                f"options has {name!r} with an entry for each row, which blocks cannot share out; leave it out"
            )


def _check_aligned(fit: SklearnFit) -> None:
    """What blocks learn must mean the same in each of them."""
    packages = type(fit.last).__module__.split(".")
    reason = UNALIGNED.get(packages[1]) if packages[0] == "sklearn" else None
    if reason is not None and not set(fit.attributes) <= ALIGNED:
        raise BadInput(f"{fit.name} on blocks of people: {reason[0]}, so their mean is none of them; {reason[1]}")


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    """What can be given by name; nothing where that cannot be told."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def _adapter(estimator: Any, attributes: Any, formula: str | None, given: dict[str, Any]) -> Fit:
    if isinstance(estimator, str):
        return _from_file(estimator)
    if hasattr(estimator, "answer") and hasattr(estimator, "unbiased"):
        return estimator  # type: ignore[no-any-return]
    bare = estimator.func if isinstance(estimator, partial) else estimator
    if hasattr(estimator, "get_params") and hasattr(estimator, "fit") and not inspect.isclass(estimator):
        named = (attributes,) if isinstance(attributes, str) else attributes
        return SklearnFit(estimator, COEFFICIENTS if named is None else tuple(named), given)
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
