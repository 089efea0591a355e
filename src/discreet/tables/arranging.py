"""The columns of a question as the mechanism of a statistic takes them: an array, a matrix, or columns by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.privacy.declaration import Statistic
from discreet.tables.streams import Stream, ones
from discreet.tables.wanted import Wanted


def empty_columns(asked: Wanted) -> dict[str, Any]:
    """The columns of a question without a row."""
    return {want.name: np.empty(0, dtype=object if want.kind == "category" else float) for want in asked.wants}


def arranged(
    statistic: Statistic, asked: Wanted, columns: Mapping[str, Any], arguments: Mapping[str, Any], owners: Any = None
) -> Any:
    """The columns, as the mechanism of a statistic takes them; by name where an estimator's options speak of names."""
    spoken = arguments.get("options")
    said = any(arguments.get(one) is not None for one in ("formula", "categories"))
    said = said or any(about is not None and about.frame for about in asked.facts.values())
    said = said or (isinstance(spoken, Mapping) and any(str(option).endswith("_col") for option in spoken))
    named = statistic.blocks and said
    if not asked.references:  # a count of all
        (one,) = columns.values()
        return ones(len(one)) if isinstance(one, Stream) else np.ones(len(one))
    placed: dict[str, Any] = {}
    for name, reference in asked.references.items():
        if isinstance(reference, str):
            placed[name] = columns[reference]
            continue
        several = {column: columns[column] for column in reference}
        by_name = named or isinstance(reference, dict) or any(values.dtype.kind == "O" for values in several.values())
        placed[name] = several if by_name else np.column_stack(list(several.values()))
    if statistic.blocks:
        placed |= {"people": owners, "categories": arguments.get("categories")}
    return statistic.rows(placed)
