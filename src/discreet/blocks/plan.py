"""How many blocks, and what to expect of them: decided by public numbers, said in words before anything is spent.

The rule: enough blocks for the aggregator to find the estimates (twice the least number if that leaves blocks of the
size that the estimator needs), and at least (50 n / epsilon^2)^(1/3), where bias within blocks and noise between them
balance. An estimator without bias takes more: 7 sqrt(n / p) / epsilon, where the noise balances what small blocks
lose.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal

from discreet.blocks.centre import BlockMean, least_blocks
from discreet.blocks.run import Correct
from discreet.blocks.vote import OpenVote, Vote
from discreet.errors import BadInput
from discreet.promise.exact import Number, show
from discreet.statistics.open_histogram import OpenHistogram

Aggregator = Literal["mean", "coordinatewise", "median", "vote", "friendly"]
HALVES: Final = 50  # people in a block from which on halves are large enough to correct with
ROWS_A_NUMBER: Final = 10  # people in a block for each number that is estimated, by default
FEWER: Final = 4  # the same for an estimator without bias
RANKS: Final = 200.0  # blocks times epsilon for a rank interval
VOTES: Final = 40.0  # blocks times epsilon for a vote
COMFORT: Final = 1.27  # times the least: 200 / epsilon for the mean of one number


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done. `print` it, or read its fields."""

    blocks: int
    people: int | None
    aggregator: str
    correct: Correct
    width: int
    wider: float | None
    path: str

    @property
    def size(self) -> int | None:
        """People in a block, where that is public."""
        return None if self.people is None else self.people // self.blocks

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the interval rests on."""
        if self.aggregator == "vote":
            return ()
        left = {None: "is", "half": "that is left after comparing with half blocks is", "jackknife": "left is"}
        return (
            f"the bias of the estimator on a block {left[self.correct]} less than a quarter of the interval's width",
            "blocks are samples of one population",
        )

    def __str__(self) -> str:
        size = "of unknown size" if self.size is None else f"of {self.size} or {self.size + 1} people"
        lines = [f"{self.blocks} blocks {size}, each giving {self.width} number{'s' if self.width > 1 else ''}"]
        lines.append(f"estimates from {self.path}; combined by {self.aggregator}")
        if self.correct:
            lines.append(f"bias is corrected within blocks ({self.correct})")
        if self.wider is not None:
            lines.append(f"expected interval: {show(round(self.wider, 2))} times as wide as without noise")
        return "\n".join(lines + [f"assumes that {one}" for one in self.assumptions])


def auto_blocks(
    people: int, width: int, epsilon: Number, delta: Number, *, aggregator: str, smallest: int, unbiased: bool
) -> int:
    """The number of blocks, or a refusal that says what is needed."""
    least = math.ceil(COMFORT * needed_blocks(width, epsilon, delta, aggregator))
    most = people // smallest
    if most < least:
        raise BadInput(
            f"{people} people in blocks of at least {smallest} make {most} blocks; {aggregator} of {width} number"
            f"{'s' if width > 1 else ''} at epsilon {show(epsilon)} needs {least}: bring {least * smallest} people, "
            "ask for a larger epsilon, return fewer numbers, or declare smaller blocks (smallest=)"
        )
    wanted = 2 * least if most >= 2 * least else least
    size = float(epsilon)
    balance = 7 * math.sqrt(people / width) / size if unbiased else (50 * people / size**2) ** (1 / 3)
    return min(most, max(wanted, math.ceil(balance)))


def needed_blocks(width: int, epsilon: Number, delta: Number, aggregator: str) -> int:
    """The fewest blocks for an answer at all."""
    match aggregator:
        case "vote":
            if delta:
                return max(OpenHistogram(epsilon, delta).threshold, math.ceil(VOTES / float(epsilon)))
            return math.ceil(VOTES / float(epsilon))
        case "median":
            return math.ceil(RANKS * width / float(epsilon))
        case _:
            return least_blocks(width, epsilon, delta)


def smallest_block(width: int, unbiased: bool, declared: int | None) -> int:
    """How many people a block needs: declared, or so many for each number."""
    if declared is None:
        return max(2, (FEWER if unbiased else ROWS_A_NUMBER) * width)
    if not isinstance(declared, int) or isinstance(declared, bool) or declared < 1:
        raise BadInput(f"smallest is {declared!r}; give the number of people that a block needs, 1 or more")
    return declared


def chosen_correction(correct: object, *, size: int | None, unbiased: bool, numeric: bool) -> Correct:
    """The bias correction asked for; by default halves, if the blocks are large enough and there is a bias."""
    if correct == "auto":
        return "half" if numeric and not unbiased and size is not None and size >= HALVES else None
    if correct not in ("half", "jackknife", None):
        raise BadInput(f"correct is {correct!r}; give 'half', 'jackknife', None or 'auto'")
    if correct is not None and not numeric:
        raise BadInput(f"correct is {correct!r}, but labels have no bias to correct; give correct=None")
    return correct


def expected_width(mechanism: object) -> float | None:
    """How much wider than without noise, where there is a formula."""
    return mechanism.relative_error if isinstance(mechanism, BlockMean) else None


__all__ = ["OpenVote", "Plan", "Vote", "auto_blocks", "chosen_correction", "expected_width", "smallest_block"]
