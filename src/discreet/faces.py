"""The faces of the declared statistics: functions here, methods of `Asking`. Their types are in faces.pyi.

faces.pyi is made from the declarations by scripts/faces.py, so that editors and type checkers see real signatures.
"""

import inspect
from collections.abc import Callable
from typing import Any, Final

from discreet.api import function
from discreet.privacy.declaration import declared, homes
from discreet.privacy.parameters import documented, untyped

TERMS: Final = ("where", "groupby", "keys", "missing", "per_person", "max_rows", "request")


class _Method:
    """A statistic as a method, which is made when it is first used, and then stands in its own place."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, session: Any, kind: type) -> Any:
        setattr(Asking, self.name, _method(self.name))
        return getattr(kind if session is None else session, self.name)


def _method(name: str) -> Callable[..., Any]:
    statistic = declared(name)

    def asked(session: Any, *columns: Any, **options: Any) -> Any:
        return session.ask(name, *columns, **options)

    own = [one for one in statistic.signature.parameters.values() if one.name not in ("neighbours", "unit", "rng")]
    extra = [term for term in TERMS if term not in statistic.signature.parameters]
    if not statistic.groups:
        extra = [term for term in extra if term not in ("groupby", "keys")]
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    terms = [inspect.Parameter(term, inspect.Parameter.KEYWORD_ONLY, default=None) for term in extra]
    asked.__name__ = asked.__qualname__ = name
    shown = inspect.Signature([first, *own, *terms])
    asked.__signature__ = untyped(shown)  # type: ignore[attr-defined]
    asked.__doc__ = documented(statistic, shown, f">>> {example(name)}  # doctest: +SKIP")
    return asked


def method_doc(name: str) -> str:
    """The docstring of a method: the statistic's own, with an example in a session."""
    statistic = declared(name)
    text, _, _ = inspect.cleandoc(statistic.make.__doc__ or "").partition("\n>>> ")
    return f"{text.rstrip()}\n\nExample: {example(name)}\n"


def example(name: str) -> str:
    """A call of the method that could be typed in a session."""
    statistic = declared(name)
    words = []
    for parameter, one in statistic.signature.parameters.items():
        if parameter in statistic.columns:
            reads = statistic.reads(parameter, {})
            if not (reads.optional and one.default is None):
                words.append(
                    '["age", "bmi"]' if reads.width == "several" else COLUMN.get(parameter, COLUMN[reads.kind])
                )
        elif one.default is inspect.Parameter.empty and parameter not in ("epsilon", "delta"):
            value = statistic.shown.get(parameter, "...")
            words.append(f"{parameter}={value}" if one.kind is inspect.Parameter.KEYWORD_ONLY else value)
    if statistic.formula is not None:
        words = ['"bmi ~ age"']
    words.append("epsilon=0.5")
    needs = statistic.needs_delta({}, dict.fromkeys(statistic.columns))
    return f"session.{name}({', '.join([*words, 'delta=1e-6'] if needs else words)})"


COLUMN: Final = {"y": '"bmi"', "number": '"age"', "any": '"age"', "boolean": '"age >= 65"', "category": '"sex"'}


class Asking:
    """Every statistic that can be asked of a table, as a method that takes columns by name."""


for _name in homes():
    setattr(Asking, _name, _Method(_name))


def __getattr__(name: str) -> Any:
    if name in homes():
        return function(name)
    raise AttributeError(f"module 'discreet.faces' has no attribute {name!r}")
