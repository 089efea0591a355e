"""The methods of a report, under the names that its answers have for them."""

import sys
from collections.abc import Iterable
from itertools import takewhile
from typing import Any, Final

from discreet.privacy.release import Release

FINDER: Final = "OpenHistogram"  # finds groups: it answers before those that are shown


def named_methods(methods: list[dict[str, str]], answers: Iterable[Release[Any]]) -> list[dict[str, str]]:
    """Each mechanism that answered once, by the name in its provenance, with what its module says that it releases."""
    known = {method["name"]: method["text"] for method in methods}
    used = dict.fromkeys(answer.provenance.mechanism for answer in answers)
    names = [*used, *(name for name in known if name == FINDER and name not in used)]
    return [{"name": name, "text": known.get(name) or _text(name)} for name in names]


def releases_of(kind: type) -> str:
    """The section "Releases" of a mechanism's module, or what the mechanism says of itself.

    >>> from discreet.statistics.count import Count
    >>> releases_of(Count).endswith(".")
    True
    """
    lines = (sys.modules[kind.__module__].__doc__ or "").splitlines()
    if "Releases" not in lines:
        return (kind.__doc__ or kind.__name__).strip().splitlines()[0]
    section = takewhile(lambda line: not line or line.startswith(" "), lines[lines.index("Releases") + 1 :])
    return " ".join(line.strip() for line in section if line.strip())


def _text(name: str) -> str:
    """What a mechanism says of itself that another one has used; its last word is the name of its class."""
    *_, last = name.split() or [""]
    for module in [module for key, module in sys.modules.items() if key.startswith("discreet.")]:
        kind = getattr(module, last, None)
        if isinstance(kind, type) and kind.__module__ == module.__name__:
            return releases_of(kind)
    return name
