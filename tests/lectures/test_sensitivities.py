"""Sensitivities of the median and of any statistic, counted out."""

import math
import statistics
from itertools import product

import pytest

from discreet.errors import BadInput
from discreet.lectures import global_sensitivity, local_sensitivity, smooth_sensitivity


def test_sensitivities_of_the_median() -> None:
    domain = range(4)
    assert global_sensitivity(statistics.median, domain, 3) == 3
    for rows in product(domain, repeat=3):
        local = local_sensitivity(statistics.median, rows, domain)
        ordered = sorted(rows)
        assert local == max(ordered[1] - ordered[0], ordered[2] - ordered[1])
        smooth = smooth_sensitivity(statistics.median, rows, domain, 0.7)
        assert local <= smooth <= 3
        for place, value in product(range(3), domain):  # what makes it safe: neighbours differ by e^pace at most
            other = (*rows[:place], value, *rows[place + 1 :])
            assert smooth <= math.exp(0.7) * smooth_sensitivity(statistics.median, other, domain, 0.7) + 1e-12


@pytest.mark.parametrize("size", [1, 2, 3])
def test_closed_forms_are_what_counting_out_finds(size: int) -> None:
    """Of the lower median, on every table of so many rows with four places."""
    domain = range(4)
    assert global_sensitivity("median", domain, size) == global_sensitivity(statistics.median_low, domain, size)
    for rows in product(domain, repeat=size):
        assert local_sensitivity("median", rows, domain) == local_sensitivity(statistics.median_low, rows, domain)
        counted = smooth_sensitivity(statistics.median_low, rows, domain, 0.4)
        assert smooth_sensitivity("median", rows, domain, 0.4) == pytest.approx(counted)


def test_averages_and_estimates() -> None:
    """The average of n bits moves by 1 / n; a maximum likelihood estimate may move by anything."""
    for size in (2, 3, 5):
        assert global_sensitivity(lambda t: sum(t) / len(t), (0, 1), size) == pytest.approx(1 / size)

    def odds(table: tuple[int, ...]) -> float:
        """Of yes against no: the likelihood has no finite maximum where all say yes."""
        return sum(table) / max(1e-9, len(table) - sum(table))

    assert local_sensitivity(odds, (1, 1, 0), (0, 1)) > 1e8
    assert local_sensitivity(odds, (1, 0, 0, 0, 0), (0, 1)) < 1


def test_arguments() -> None:
    with pytest.raises(BadInput, match="from 1 to 12"):
        global_sensitivity(sum, (0, 1), 40)
    with pytest.raises(BadInput, match="above 0"):
        smooth_sensitivity(sum, (0, 1), (0, 1), 0)
    with pytest.raises(BadInput, match="or 'median'"):
        local_sensitivity("mean", (0, 1), (0, 1))  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="outside of the domain"):
        local_sensitivity("median", (0, 9), (0, 1))
