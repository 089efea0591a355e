"""A distribution of a known family, by its name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from discreet.errors import BadInput
from discreet.privacy.declaration import Columns, Public, Reads, boolean, category, number, statistic
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.mechanism import After, Mechanism
from discreet.privacy.release import Release
from discreet.statistics.binomials import BinomialFit, MultinomialFit
from discreet.statistics.bins import Categories
from discreet.statistics.family import FAMILIES, Family, Fitted, gaussian
from discreet.statistics.normal import Gaussian1D
from discreet.statistics.normal_laplace import NormalSpread
from discreet.statistics.sufficient import FamilySpread, SufficientStatistics

NAMES = ("bernoulli", "binomial", "multinomial", "gaussian", *FAMILIES)
ALSO = {"normal": "gaussian", "categorical": "multinomial"}


def _kind(family: Any) -> Any:
    lower = family.lower() if isinstance(family, str) else family
    return ALSO.get(lower, lower) if isinstance(lower, str) else lower


def _reads(options: Mapping[str, Any]) -> Reads:
    kind = _kind(options.get("family"))
    return category() if kind == "multinomial" else boolean() if kind == "bernoulli" else number()


@statistic({"x": _reads})
def fit_distribution(
    people: Public,
    family: str | Family,
    x: Columns,
    *,
    epsilon: Number,
    trials: int | None = None,
    categories: Any = None,
) -> Mechanism[Fitted]:
    """A distribution of a known family, with an interval for each of its parameters. No bounds. Pure.

    `family` is "bernoulli" (p), "binomial" (p; `trials` of each record), "multinomial" (probabilities; the public
    `categories`), "poisson" (rate), "exponential" (rate), "gamma" (shape, scale), "beta" (a, b), "gaussian" (mean,
    variance), or a `discreet.Family` of your own. `value` has the parameters by name, and `value.distribution()` is a
    scipy.stats distribution.

    >>> import discreet
    >>> r = discreet.fit_distribution("poisson", [k % 5 for k in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 1.8 < r.value.rate < 2.3
    True
    """
    kind = _kind(family)
    if not isinstance(kind, Family) and not (isinstance(kind, str) and kind in NAMES):
        seen = repr(family) if isinstance(family, str) else f"of type {type(family).__name__}"  # it may be the data
        raise BadInput(f"family is {seen}; give one of {', '.join(NAMES)}, or a discreet.Family of your own")
    if (trials is not None) != (kind == "binomial"):
        raise BadInput(f"trials is {trials!r}; it is needed for 'binomial', for example trials=10, and for no other")
    if (categories is not None) != (kind == "multinomial"):
        raise BadInput("categories are needed for 'multinomial', for example categories=['yes', 'no'], and no other")
    check_budget(epsilon, 0, people.size)
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit}
    match kind:
        case "gaussian":
            return After(Gaussian1D(epsilon, size=people.size, **terms), fitted_normal)
        case "multinomial":
            return MultinomialFit(Categories.of(categories), epsilon, **terms)
        case "bernoulli" | "binomial":
            return BinomialFit(1 if trials is None else trials, epsilon, **terms)
        case _:
            one = kind if isinstance(kind, Family) else FAMILIES[kind]
            return SufficientStatistics(one, epsilon, size=people.size, **terms)


def fitted_normal(release: Release[Any]) -> Release[Fitted]:
    """A released normal distribution as a fitted family: each interval by itself. Post-processing."""
    if release.refusal is not None:
        return release
    spread = release.spread
    assert isinstance(spread, NormalSpread)
    value = Fitted("gaussian", {"mean": spread.value.mean, "variance": spread.value.variance}, gaussian)
    return replace(release, answer=value, spread=FamilySpread(value, (spread.mean, spread.variance)))
