"""discreet: private answers about people, with error bars.

    >>> import discreet
    >>> discreet.count([True, True, False], epsilon=1.0).guarantee.epsilon
    1.0

Names are loaded when they are first used, so that `import discreet` costs next to nothing. Statistics are declared in
their own modules (privacy/declaration.py); here are the other names.
"""

from importlib import import_module
from typing import Any

from discreet.errors import BadInput, DiscreetError, NeedsBounds, NotAnswered, OverBudget, Refused
from discreet.version import __version__

_HOME = {
    "Budget": "discreet.accounting.filter",
    "Family": "discreet.statistics.family",
    "Forecast": "discreet.forecasts.forecast",
    "Guarantee": "discreet.privacy.guarantee",
    "Need": "discreet.forecasts.required",
    "Neighbours": "discreet.privacy.guarantee",
    "Profile": "discreet.plan.profile_card",
    "Release": "discreet.privacy.release",
    "Seeded": "discreet.noise.randomness",
    "Session": "discreet.session",
    "connect": "discreet.service.connect",
    "describe": "discreet.plan.profile",
    "explain": "discreet.privacy.meaning",
    "forecast": "discreet.forecasts.forecast",
    "open": "discreet.session",
    "people": "discreet.tables.joined_people",
    "power": "discreet.forecasts.forecast",
    "required": "discreet.forecasts.required",
}
_MODULES = ("audit", "datasets", "engines", "friendly", "lectures", "sklearn")
_ERRORS = ("BadInput", "DiscreetError", "NeedsBounds", "NotAnswered", "OverBudget", "Refused")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        found: Any = getattr(import_module(_HOME[name]), name)
    elif name in _MODULES:
        found = import_module(f"discreet.{name}")
    elif name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    else:
        from discreet.privacy.declaration import homes

        if name == "__all__":
            return sorted([*_ERRORS, *_HOME, *_MODULES, "__version__", *homes()])
        if name not in homes():
            from discreet.errors import meant

            near = meant(name, __getattr__("__all__")).strip()
            raise AttributeError(f"module 'discreet' has no attribute {name!r}" + (f"; {near}" if near else ""))
        from discreet.api import function

        found = function(name)
    globals()[name] = found  # found here the next time
    return found


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))
