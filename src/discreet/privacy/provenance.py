"""How a release came about: enough to explain it and to repeat it, nothing that was seen in the data."""

import platform
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any

from discreet.version import __version__


@cache
def versions() -> Mapping[str, str]:
    """The versions of what drew the noise."""
    found = {"discreet": __version__, "python": platform.python_version()}
    for package in ("numpy", "opendp"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return MappingProxyType(found)


@dataclass(frozen=True, slots=True)
class Provenance:
    """The mechanism by name, its public parameters, and whether the noise was secret."""

    mechanism: str
    parameters: Mapping[str, Any]
    secure: bool
    _: KW_ONLY
    notes: tuple[str, ...] = ()
    receipt: str | None = None
    versions: Mapping[str, str] = field(default_factory=versions)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickles, which cannot hold read-only mappings."""
        made = partial(type(self), notes=self.notes, receipt=self.receipt, versions=dict(self.versions))
        return made, (self.mechanism, dict(self.parameters), self.secure)

    @property
    def publishable(self) -> bool:
        """Seeded noise can be subtracted again: such a release is for tests, never for publication."""
        return self.secure
