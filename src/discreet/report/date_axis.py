"""A scale of dates: its round places are years, months or days."""

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from discreet.report.sentences import ROOM, Axis

STEPS: Final = [("D", 1), ("D", 2), ("D", 5), ("D", 10), ("D", 20), ("M", 1), ("M", 3), ("M", 6)]
YEARS: Final = [("Y", times * 10**power) for power in range(4) for times in (1, 2, 5)]


class DateAxis(Axis):
    """Numbers are days since 1970."""

    def ticks(self, most: int = 5) -> list[tuple[float, str]]:
        """Round dates with their words: fewer of them if the words are long, so that a telephone has room.

        >>> DateAxis(17_900.0, 18_000.0).ticks()
        [(17928.0, '2019-02'), (17956.0, '2019-03'), (17987.0, '2019-04')]
        """
        for unit, step in (*STEPS, *YEARS):
            if (self.high - self.low) / (step * {"D": 1, "M": 28, "Y": 365}[unit]) > 4 * most:
                continue
            found = list(self._marked(unit, step))
            if 0 < len(found) <= most and sum(len(said) + 2 for _, said in found) <= ROOM:
                return found
        return []

    def _marked(self, unit: Any, step: int) -> Iterator[tuple[float, str]]:
        first, last = (int(np.datetime64(math.floor(end), "D").astype(f"M8[{unit}]").astype(int)) for end in self._ends)
        shift = 1970 if unit == "Y" else 0  # round years are those of the calendar
        for place in range(-(-(first + shift) // step) * step, last + shift + 1, step):
            date = np.datetime64(place - shift, unit)
            day = float(date.astype("M8[D]").astype(int))
            if self.low <= day <= self.high:
                yield day, str(date)

    @property
    def _ends(self) -> tuple[float, float]:
        return max(self.low, -719_162.0), min(self.high, 2_932_896.0)  # years 1 to 9999
