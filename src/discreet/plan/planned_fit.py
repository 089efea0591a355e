"""What a plan may fit: a listed estimator by its name, or Python code, which runs in a sandbox and nowhere else.

Promise
    [planned_fit.1] Nothing that a plan says is run where the plan is read, priced or forecast: a name chooses one of
          the classes below, its settings are plain numbers and truths that the class is listed with, and code is passed
          on as a text.
    [planned_fit.2] Code runs on people's rows in the sandbox alone ([aggregate.3], [sandbox.1]), on a public number of
          blocks, each of which takes a public time. What leaves is what the aggregator makes of the blocks' numbers.
Why
    [planned_fit.1] The name and its settings are read by `ast`, and looked up; what is not there is refused.
    [planned_fit.2] The estimator is a `SourceFit`, which is refused outside a sandbox; `blocks` and what is returned
    must be given, so nothing is tried out and no number of people is needed to choose them.
"""

import ast
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import numpy as np

from discreet.asking import Question
from discreet.errors import BadInput, meant, short

ENTRY: Final = "estimate"  # the function that code defines
LONGEST: Final = 20_000  # characters of code
MEMORY: Final = 1 << 29  # bytes that a block of code may have
SECONDS: Final = 0.2  # that a block of code takes, unless options.timeout says otherwise
OPENING: Final = 10.0  # seconds until a sandbox has loaded its libraries
LARGEST: Final = 10_000  # of a setting, and of blocks: more would keep whoever prices the plan busy, or its worker
LINEAR: Final = "sklearn.linear_model"
LISTED: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {  # by name: where it is, and which settings it takes
    "LinearRegression": (LINEAR, ("fit_intercept", "positive")),
    "Ridge": (LINEAR, ("alpha", "fit_intercept", "positive")),
    "Lasso": (LINEAR, ("alpha", "fit_intercept", "positive", "max_iter")),
    "ElasticNet": (LINEAR, ("alpha", "l1_ratio", "fit_intercept", "positive", "max_iter")),
    "BayesianRidge": (LINEAR, ("fit_intercept",)),
    "HuberRegressor": (LINEAR, ("epsilon", "alpha", "fit_intercept", "max_iter")),
    "QuantileRegressor": (LINEAR, ("quantile", "alpha", "fit_intercept")),
    "LogisticRegression": (LINEAR, ("C", "fit_intercept", "max_iter")),
    "PoissonRegressor": (LINEAR, ("alpha", "fit_intercept", "max_iter")),
    "GammaRegressor": (LINEAR, ("alpha", "fit_intercept", "max_iter")),
    "LinearSVR": ("sklearn.svm", ("C", "epsilon", "fit_intercept", "max_iter")),
    "LinearSVC": ("sklearn.svm", ("C", "fit_intercept", "max_iter")),
    "LinearDiscriminantAnalysis": ("sklearn.discriminant_analysis", ()),
    "OLS": ("statsmodels.api", ()),
    "RLM": ("statsmodels.api", ()),
    "QuantReg": ("statsmodels.api", ()),
    "Probit": ("statsmodels.api", ()),
}
SIMULATED: Final = (  # those that are quick on the many made-up rows of a forecast, and take any outcome
    *("LinearRegression", "Ridge", "Lasso", "ElasticNet", "BayesianRidge", "HuberRegressor", "LogisticRegression"),
)
SLOWER: Final = ("blocks", "bias_correction", "labels")  # options of `fit` that make it many fits: nothing is simulated
OPTIONS: Final = (  # of `fit`, that a plan may give
    *("blocks", "aggregator", "bias_correction", "names", "labels", "attributes", "categories", "unbiased"),
    *("estimate_bias", "smallest", "scales", "confidence", "timeout"),
)
MODELS: Final = "statsmodels.api"


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the settings in `Ridge(alpha=2.0)`; BadInput for all that is not on the list. [planned_fit.1]

    >>> parsed("Ridge(alpha=2.0)"), parsed("sklearn.linear_model.Ridge")
    (('Ridge', {'alpha': 2.0}), ('Ridge', {}))
    """
    found = re.fullmatch(r"\s*(?:([a-z_.]+)\.)?([A-Za-z]+)\s*(\(.*\))?\s*", text[:1_000], re.DOTALL)
    home, name, given = found.groups() if found is not None else (None, text[:60], None)
    if found is None or name not in LISTED or home not in (None, LISTED[name][0]):
        near = meant(name, LISTED)
        raise BadInput(
            f"the estimator is {short(text)}; {near}{'A' if near else 'a'} plan takes {', '.join(LISTED)}, with "
            "settings in brackets: Ridge(alpha=2.0)"
        )
    allowed, settings = LISTED[name][1], {}
    try:
        call = ast.parse(f"f{given or '()'}", mode="eval").body
        plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args and "#" not in text
        if not isinstance(call, ast.Call) or not plain:  # what is read is all that is there
            raise ValueError
        for one in call.keywords:
            if one.arg in settings:
                raise ValueError
            settings[str(one.arg)] = ast.literal_eval(one.value)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise BadInput(f"the settings of {name} are not plain values by name; write {name}(...=1.0)") from None
    for setting, value in settings.items():
        if setting not in allowed:
            takes = f"a plan may set {', '.join(allowed)}" if allowed else "a plan sets nothing of it"
            raise BadInput(f"{name} has the setting {setting!r}; {takes}")
        if not isinstance(value, int | float) or not abs(value) <= LARGEST:
            raise BadInput(f"{name} has {setting}={short(value)}; give a number up to {LARGEST:,}, or True or False")
    return name, settings


def foreseen(estimator: str | None, code: str | None, options: Mapping[str, Any]) -> bool:
    """Whether a forecast may be simulated: code is run nowhere but in the sandbox, and some fits take long.

    Those are fits of some estimators, and of any where a plan chooses how many they are: 3,000 blocks took minutes.
    """
    if code is not None or estimator is None:
        return code is None
    return parsed(estimator)[0] in SIMULATED and not set(options) & set(SLOWER)


def named_estimator(text: str) -> Any:
    """The estimator that a plan names."""
    name, settings = parsed(text)
    try:
        made = getattr(import_module(LISTED[name][0]), name)
        return made if LISTED[name][0] == MODELS else made(**settings)
    except ImportError:
        library = LISTED[name][0].partition(".")[0].replace("sklearn", "scikit-learn")
        raise BadInput(f"{name} needs {library}, which is not installed here") from None


def check_fit(estimator: str | None, code: str | None, options: Mapping[str, Any]) -> None:
    """What a plan says of a fit; BadInput for what it may not say. [planned_fit.1], [planned_fit.2]"""
    if (estimator is None) == (code is None):
        raise BadInput('fit needs one of estimator = "Ridge(alpha=1.0)" and code = a text of Python')
    other = [name for name in options if name not in OPTIONS]
    if other:
        raise BadInput(f"a plan cannot give fit the option {other[0]!r}; it can give {', '.join(OPTIONS)}")
    blocks = options.get("blocks")
    if isinstance(blocks, int) and blocks > LARGEST:
        raise BadInput(f"blocks is {short(blocks)}; a plan may ask for {LARGEST:,}")
    for name in ("aggregator", "bias_correction"):
        if not isinstance(options.get(name, ""), str):
            raise BadInput(f"{name} is {short(options[name])}; give a word")
    read = options.get("attributes", [])
    if not all(isinstance(one, str) and re.fullmatch(r"[a-z][A-Za-z0-9_]*_", one) for one in _listed(read)):
        raise BadInput(f"attributes is {short(read)}; name what is learned, such as ['coef_', 'intercept_']")
    if estimator is not None:
        parsed(estimator)
    if code is not None:
        _check_code(code, options)


def _check_code(code: str, options: Mapping[str, Any]) -> None:
    blocks = options.get("blocks")
    if len(code) > LONGEST:
        raise BadInput(f"the code has {len(code):,} characters; it may have {LONGEST:,}")
    unseen = next((one for one in code if not one.isprintable() and one not in "\n\t"), None)
    if unseen is not None:  # it may change how the text reads, and a steward decides on what is read
        raise BadInput(f"the code holds the character {unseen!a}, which is not seen; write it as an escape")
    if re.search(rf"^def {ENTRY}\(", code, re.MULTILINE) is None:
        raise BadInput(f"the code defines no function {ENTRY}; write def {ENTRY}(X, y): or, without an outcome, (X)")
    if not isinstance(blocks, int) or isinstance(blocks, bool) or blocks < 2:
        raise BadInput("code needs a public number of blocks, options = { blocks = 100, names = [...] }")
    if "names" not in options and "labels" not in options:
        raise BadInput(f'code needs names of what `{ENTRY}` returns, names = ["slope"], or labels = [...] for a vote')


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def fit_of(estimator: str | None, code: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `fit` that a plan has words of its own for."""
    if code is not None:
        from discreet.subsample.estimators import SourceFit

        return {"estimator": SourceFit(code, ENTRY), "trust": "sandbox", "sandbox": box(options)}  # [planned_fit.2]
    return {} if estimator is None else {"estimator": named_estimator(estimator)}


def box(options: Mapping[str, Any]) -> Any:
    """The limits of each block of code: public."""
    from discreet.sandbox.sandbox import Sandbox

    return Sandbox(seconds=options.get("timeout", SECONDS), memory=MEMORY)


def returns_as_declared(question: Question) -> bool:
    """Whether code returns what is declared, on rows made up of declared types, in a sandbox: no row is read."""
    from discreet.subsample.aggregate import SubsampleAggregate
    from discreet.subsample.run_block import tried
    from discreet.tables.arranging import arranged, empty_columns

    asked, mechanism = question.wanted, question.price.mechanism
    whose = None if question.people.person is None else np.empty(0)
    schema = arranged(question.statistic, asked, empty_columns(asked), question.arguments, whose)
    assert isinstance(mechanism, SubsampleAggregate)  # blocks are declared
    return tried(mechanism.box, mechanism.fit, mechanism.shape, schema)


def seconds_of_code(options: Mapping[str, Any]) -> float:
    """How long code takes, whatever it does and whatever the rows are: a public number. [sandbox.2]"""
    limits = box(options)
    return OPENING + float(options["blocks"] * (limits.seconds + limits.tidy))
