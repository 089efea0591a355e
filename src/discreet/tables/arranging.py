"""The columns of a question as the mechanism of a statistic takes them: an array, a matrix, or columns by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from discreet.privacy.declaration import Statistic
from discreet.tables.streams import Stream, each, ones
from discreet.tables.wanted import Wanted


def empty_columns(asked: Wanted) -> dict[str, Any]:
    """The columns of a question without a row."""
    return {want.name: np.empty(0, dtype=object if want.kind == "category" else float) for want in asked.wants}


def arranged(
    statistic: Statistic, asked: Wanted, columns: Any, arguments: Mapping[str, Any], owners: Any = None
) -> Any:
    """Columns by name, or a stream of them, as the mechanism of a statistic takes them: by name still where an
    estimator's options speak of names."""
    spoken = arguments.get("options")
    said = any(arguments.get(one) is not None for one in ("formula", "categories"))
    said = said or any(about is not None and about.frame for about in asked.facts.values())
    said = said or (isinstance(spoken, Mapping) and any(str(option).endswith("_col") for option in spoken))
    if not asked.references:  # a count of all
        one = columns if isinstance(columns, Stream) else next(iter(columns.values()))
        return ones(len(one)) if isinstance(one, Stream) else np.ones(len(one))
    arrange = Arrange(statistic.rows, asked.references, statistic.blocks and said)
    if statistic.blocks:
        return arrange(columns, {"people": owners, "categories": arguments.get("categories")})
    if not isinstance(columns, Stream):
        return arrange(columns)
    bare = arrange(empty_columns(asked))
    return each(arrange, columns, dict if isinstance(bare, Mapping) else bare.dtype.type)


@dataclass(frozen=True, slots=True)
class Arrange:
    """Sent to workers: what is made of the columns of some rows, each row by itself."""

    rows: Callable[[Mapping[str, Any]], Any]
    references: Mapping[str, Any]
    named: bool

    def __call__(self, columns: Mapping[str, Any], more: Mapping[str, Any] = MappingProxyType({})) -> Any:
        """The columns of each parameter, put together."""
        placed: dict[str, Any] = {}
        for name, reference in self.references.items():
            if isinstance(reference, str):
                placed[name] = columns[reference]
                continue
            several = {column: columns[column] for column in reference}
            by_name = self.named or isinstance(reference, dict)
            by_name = by_name or any(values.dtype.kind == "O" for values in several.values())
            placed[name] = several if by_name else np.column_stack(list(several.values()))
        return self.rows({**placed, **more})
