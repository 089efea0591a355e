"""The algorithms of the lectures, under their own names, and what was printed and does not hold."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.lectures.errata import ERRATA, Erratum, erratum
    from discreet.lectures.finite import (
        additive_privacy,
        global_sensitivity,
        local_sensitivity,
        name_and_shame,
        posterior,
        pure_privacy,
        randomised_response,
        smooth_sensitivity,
    )
    from discreet.lectures.friendly_filter import basic_filter, is_friendly
    from discreet.lectures.mechanisms import (
        exponential_mechanism,
        gaussian_mechanism,
        laplace_mechanism,
        report_noisy_max,
    )
    from discreet.lectures.replicability import offset_of, replicable, width_for

__all__ = [
    "ERRATA",
    "Erratum",
    "additive_privacy",
    "basic_filter",
    "erratum",
    "exponential_mechanism",
    "gaussian_mechanism",
    "global_sensitivity",
    "is_friendly",
    "laplace_mechanism",
    "local_sensitivity",
    "name_and_shame",
    "offset_of",
    "posterior",
    "pure_privacy",
    "randomised_response",
    "replicable",
    "report_noisy_max",
    "smooth_sensitivity",
    "width_for",
]
_HOME = {
    **dict.fromkeys(("basic_filter", "is_friendly"), "friendly_filter"),
    **dict.fromkeys(
        (
            "additive_privacy",
            "global_sensitivity",
            "local_sensitivity",
            "name_and_shame",
            "posterior",
            "pure_privacy",
            "randomised_response",
            "smooth_sensitivity",
        ),
        "finite",
    ),
    **dict.fromkeys(("ERRATA", "Erratum", "erratum"), "errata"),
    **dict.fromkeys(
        ("exponential_mechanism", "gaussian_mechanism", "laplace_mechanism", "report_noisy_max"), "mechanisms"
    ),
    **dict.fromkeys(("offset_of", "replicable", "width_for"), "replicability"),
}


def __getattr__(name: str) -> Any:
    """Loaded when first used: statistics import a part of this package."""
    if name in _HOME:
        return getattr(import_module(f"discreet.lectures.{_HOME[name]}"), name)
    raise AttributeError(f"module 'discreet.lectures' has no attribute {name!r}")
