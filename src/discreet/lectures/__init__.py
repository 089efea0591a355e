"""The algorithms of the lectures, under their own names, and what was printed and does not hold."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.lectures import lower_bound
    from discreet.lectures.aggregation import friendly_avg, subsample_and_aggregate
    from discreet.lectures.errata import ERRATA, Erratum, erratum
    from discreet.lectures.finite import (
        additive_privacy,
        composed,
        conclusions_apart,
        name_and_shame,
        posterior,
        processed,
        pure_privacy,
        randomised_response,
        total_variation,
    )
    from discreet.lectures.friendly_filter import basic_filter, is_friendly
    from discreet.lectures.lloyd_steps import lloyd, private_lloyd
    from discreet.lectures.mechanisms import (
        exponential_mechanism,
        gaussian_mechanism,
        laplace_mechanism,
        report_noisy_max,
    )
    from discreet.lectures.printed import PRINTED
    from discreet.lectures.replicability import agreement, offset_of, replicable, width_for
    from discreet.lectures.sensitivities import global_sensitivity, local_sensitivity, smooth_sensitivity
    from discreet.lectures.univariate import (
        coarse_mean,
        finite_histogram,
        infinite_histogram,
        naive_mean,
        normals_apart,
        rows_for,
        smooth_median,
        stability_mean,
        two_stage_mean,
    )

_NAMES = {
    "aggregation": ("friendly_avg", "subsample_and_aggregate"),
    "errata": ("ERRATA", "Erratum", "erratum"),
    "finite": (
        "additive_privacy",
        "composed",
        "conclusions_apart",
        "name_and_shame",
        "posterior",
        "processed",
        "pure_privacy",
        "randomised_response",
        "total_variation",
    ),
    "friendly_filter": ("basic_filter", "is_friendly"),
    "lloyd_steps": ("lloyd", "private_lloyd"),
    "mechanisms": ("exponential_mechanism", "gaussian_mechanism", "laplace_mechanism", "report_noisy_max"),
    "printed": ("PRINTED",),
    "replicability": ("agreement", "offset_of", "replicable", "width_for"),
    "sensitivities": ("global_sensitivity", "local_sensitivity", "smooth_sensitivity"),
    "univariate": (
        "coarse_mean",
        "finite_histogram",
        "infinite_histogram",
        "naive_mean",
        "normals_apart",
        "rows_for",
        "smooth_median",
        "stability_mean",
        "two_stage_mean",
    ),
}
_HOME = {name: home for home, names in _NAMES.items() for name in names}

__all__ = [
    "ERRATA",
    "PRINTED",
    "Erratum",
    "additive_privacy",
    "agreement",
    "basic_filter",
    "coarse_mean",
    "composed",
    "conclusions_apart",
    "erratum",
    "exponential_mechanism",
    "finite_histogram",
    "friendly_avg",
    "gaussian_mechanism",
    "global_sensitivity",
    "infinite_histogram",
    "is_friendly",
    "laplace_mechanism",
    "lloyd",
    "local_sensitivity",
    "lower_bound",
    "naive_mean",
    "name_and_shame",
    "normals_apart",
    "offset_of",
    "posterior",
    "private_lloyd",
    "processed",
    "pure_privacy",
    "randomised_response",
    "replicable",
    "report_noisy_max",
    "rows_for",
    "smooth_median",
    "smooth_sensitivity",
    "stability_mean",
    "subsample_and_aggregate",
    "total_variation",
    "two_stage_mean",
    "width_for",
]


def __getattr__(name: str) -> Any:
    """Loaded when first used."""
    if name == "lower_bound":
        return import_module("discreet.lectures.lower_bound")
    if name in _HOME:
        return getattr(import_module(f"discreet.lectures.{_HOME[name]}"), name)
    raise AttributeError(f"module 'discreet.lectures' has no attribute {name!r}")
