"""How many blocks, and what to expect of them: decided by public numbers, said in words before anything is spent.

The rule: enough blocks for the aggregator to find the estimates (twice the least number if that leaves blocks of the
size that the estimator needs), and at least (50 n / epsilon^2)^(1/3), where bias within blocks and noise between them
balance. What halves leave of a bias shrinks like 1 / m^2 in blocks of m: where they are to correct it, no more than
n^(3/4) / 6 if that is enough for the aggregator.

A smooth estimate of one number whose bias the jackknife takes down to B sigma / m^2, as one parameter of a known
distribution by maximum likelihood, has n^(3/4) / 6 blocks: B / 36 standard errors of the bias are left (B is 1 for an
exponential scale, 8 for a gamma shape), and the noise vanishes beside the sampling error as n grows. So intervals
become as narrow as those of maximum likelihood without privacy.

Regressions are smooth: corrected, their bias is B sigma / m^2 or so, and with noise c s / (k epsilon) on the mean of k
estimates of scale s = sigma / sqrt(m) the error is least at k = (c^2 n^3 / (4 B^2 epsilon^2))^(1/5). B is taken as 80
for the jackknife of least squares, which is biased wherever the linear model is not exactly true, and as 160 for
halves. Simulations of smooth cases have 8 and 16; but where outcomes have long tails, estimates on small blocks are
skewed, and what the aggregator tapers of them is a bias too. An estimator that is declared to have no bias takes more:
one number 7 sqrt(n) / epsilon, where the noise balances what small blocks lose, several as many as are predicted to
have the least error.

Where people are too few for so many, there are fewer blocks; and for a function of several numbers of which nothing is
known smaller ones then, of 5 people for each 2 numbers or more. Nothing is said about its bias with either: the
interval is for the mean of the estimate on samples of so many people, and says so.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal

from discreet.errors import BadInput
from discreet.privacy.exact import Number, show
from discreet.statistics.open_histogram import OpenHistogram
from discreet.subsample.coordinatewise import BlockMean, least_blocks
from discreet.subsample.friendly_aggregate import BlockFriends, least_friends
from discreet.subsample.remaining_bias import RemainingBias
from discreet.subsample.run_block import Correct

Aggregator = Literal["mean", "coordinatewise", "median", "vote", "friendly"]
HALVES: Final = 50  # people in a block from which on halves are large enough to correct with
ROWS_A_NUMBER: Final = 10  # people in a block for each number that is estimated, by default
FEWER: Final = 4  # the same for an estimator without bias
LEAST: Final = Fraction(5, 2)  # the same where people are few: the answer is for the estimate on so small samples
QUARTERS: Final = 40  # the same where quarters of a block tell what is left of the bias
BALANCE: Final = {"squares": 0.13, "smooth": 0.1}  # (4 B^2)^(-1/5)
Rate = Literal[
    "unbiased", "squares", "jackknifed", "smooth", "unknown"
]  # how the bias of an estimator shrinks with its block
ADJUSTED: Final = 5  # the same with Firth's correction
HALVES_A_NUMBER: Final = 16  # people in a block for each number, below which halves are worse than no correction
RANKS: Final = 200.0  # blocks times epsilon for a rank interval
VOTES: Final = 40.0  # blocks times epsilon for a vote
NORMAL: Final = 20  # people in a block, where there are enough: estimates from fewer have heavier tails than a normal's
LEFT: Final = 6  # times n^(1/4) people a block leave less than a third of an error of a bias that is corrected
ROOMY: Final = 1.5  # times the least for a friendly mean, whose noise falls fast there
COMFORT: Final = 1.27  # times the least: 200 / epsilon for the mean of one number


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """What will be done. `print` it, or read its fields."""

    blocks: int
    people: int | None
    aggregator: str
    correct: Correct
    width: int
    wider: float | None
    path: str
    why: str = ""
    reach: float | None = None  # of what is left of the bias, where that is released
    small: int = 0  # people a block, where these are too few to speak of the bias

    @property
    def size(self) -> int | None:
        """People in a block, where that is public."""
        return None if self.people is None else self.people // self.blocks

    @property
    def about(self) -> str:
        """What the interval is for, where that is not the population's own quantity."""
        words = f"the mean of the estimate over samples of about {self.small} people, those far from the others cut"
        return words if self.small else ""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the interval rests on."""
        if self.aggregator == "vote":
            return ()
        if self.aggregator in ("ScoreSum", "VoteCount"):
            return ("the base test is valid on blocks of this size",)
        left = {
            None: "is",
            "half": "that is left after comparing with half blocks is",
            "jackknife": "that the jackknife leaves is",
            "firth": "that Firth's correction leaves is",
        }
        bias = f"the bias of the estimator on a block {left[self.correct]} less than a quarter of the interval's width"
        if self.small:
            return ("blocks are samples of one population",)
        if self.reach is not None:
            rate = "1 / m" if self.reach <= 1 else "1 / sqrt(m)"
            bias = f"the bias that is left on blocks of m people, which was estimated, shrinks at least like {rate}"
        return bias, "blocks are samples of one population"

    def __str__(self) -> str:
        size = "of unknown size" if self.size is None else f"of {self.size} or {self.size + 1} people"
        lines = [f"{self.blocks} blocks {size}, each giving {self.width} number{'s' if self.width > 1 else ''}"]
        lines.append(f"estimates from {self.path}; combined by {self.aggregator}{self.why and f': {self.why}'}")
        if self.correct:
            lines.append(f"bias is corrected within blocks ({self.correct})")
        if self.small:
            lines.append(f"people are few: the interval is for {self.about}, not for the estimate on all of them")
        if self.wider is not None:
            lines.append(f"expected interval: {show(round(self.wider, 2))} times as wide as without noise")
        return "\n".join(lines + [f"assumes that {one}" for one in self.assumptions])


def auto_blocks(
    people: int,
    width: int,
    epsilon: Number,
    delta: Number,
    *,
    aggregator: str,
    smallest: int,
    rate: Rate,
    scales: tuple[float, ...] | None = None,
    halves: bool = False,
    few: bool = False,
) -> int:
    """The number of blocks, or a refusal that says what is needed; `halves` are to correct a bias. Of `few` people as
    many as are enough for an answer."""
    unbiased = rate == "unbiased"
    friendly = aggregator == "friendly"
    if friendly:
        BlockFriends(1, width, epsilon=epsilon, delta=delta, scales=scales)  # what it refuses is refused first
        found = least_friends(width, epsilon, delta, scales is None)
        if found is None:
            raise BadInput(BlockFriends(1, width, epsilon=epsilon, delta=delta, scales=scales).too_few)
        least = found
    else:
        usual = aggregator == "mean" and not few  # as many as pure stages need: less noise
        needed = math.ceil((1 if few else COMFORT) * needed_blocks(width, epsilon, delta, aggregator))
        least = usual_blocks(width, epsilon) if usual else needed
    most = people // smallest
    if most < least:
        raise BadInput(
            f"{people} people in blocks of at least {smallest} make {most} blocks; {aggregator} of {width} number"
            f"{'s' if width > 1 else ''} at epsilon {show(epsilon)} needs {least}: bring {least * smallest} people, "
            "ask for a larger epsilon, return fewer numbers, or declare smaller blocks (smallest=)"
        )
    if few:
        return min(most, math.ceil(ROOMY * least))
    between = min(most, math.ceil(ROOMY * least)) if friendly else least
    wanted = 2 * least if most >= 2 * least else between
    if aggregator in ("mean", "friendly") and (rate in BALANCE or (unbiased and width > 1)):
        kind: BlockMean | BlockFriends = BlockMean(least, width, epsilon, delta)
        if friendly:
            kind = BlockFriends(least, width, epsilon=epsilon, delta=delta, scales=scales)
        if unbiased:
            return _quietest(people, least, most, kind)
        return _balanced(people, least, most, kind, BALANCE[rate])
    if rate == "jackknifed" and aggregator == "mean":
        return min(most, max(math.ceil(ROOMY * least), math.ceil(math.pow(people, 0.75) / LEFT)))
    if halves:
        wanted = min(wanted, max(least, math.ceil(people**0.75 / LEFT)))
    size = float(epsilon)
    balance = 7 * math.sqrt(people / width) / size if unbiased else (50 * people / size**2) ** (1 / 3)
    return min(most, max(wanted, math.ceil(balance)))


def _balanced(people: int, least: int, most: int, mechanism: BlockMean | BlockFriends, rate: float) -> int:
    """The number of blocks at which noise and what is left of the bias are least together; c of the noise is found."""
    least, size = min(most, math.ceil(ROOMY * least)), float(mechanism.epsilon)
    blocks = float(min(most, 2 * least))
    for _ in range(4):
        tried = replace(mechanism, blocks=round(blocks))
        noise = max(tried.relative_error**2 - 1, 1e-9) if tried.feasible else 1.0
        constant = size * math.sqrt(blocks * noise)
        blocks = min(most, max(least, rate * (constant / size) ** 0.4 * people**0.6))
    return round(blocks)


def _quietest(people: int, least: int, most: int, mechanism: BlockMean | BlockFriends) -> int:
    """The number of blocks at which noise and what small blocks lose of an unbiased estimator are least together."""
    most = max(least, min(most, people // NORMAL))
    tried: set[int] = {least, most, *(round(least * float(most / least) ** (k / 8)) for k in range(1, 8))}
    return min(sorted(tried), key=lambda blocks: predicted_error(replace(mechanism, blocks=blocks), people))


def predicted_error(mechanism: BlockMean | BlockFriends, people: int | None) -> float:
    """How much wider than without noise and without blocks: a least squares estimate loses m / (m - p - 1)."""
    if not mechanism.feasible:
        return math.inf
    size, width = math.inf if people is None else people / mechanism.blocks, mechanism.width
    lost = 1 + (width + 1) / (size - width - 1) if size > width + 2 else float(width + 3)
    return mechanism.relative_error * math.sqrt(lost)


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


def usual_blocks(width: int, epsilon: Number) -> int:
    """The fewest blocks for means of numbers, but where people are few."""
    return math.ceil(COMFORT * least_blocks(width, epsilon))


def smallest_block(width: int, rate: Rate, declared: int | None, adjusted: bool = False) -> int:
    """How many people a block needs: declared, or so many for each number."""
    if declared is None:
        least = NORMAL if rate == "squares" else 2
        return max(least, (FEWER if rate == "unbiased" else ADJUSTED if adjusted else ROWS_A_NUMBER) * width)
    if not isinstance(declared, int) or isinstance(declared, bool) or declared < 1:
        raise BadInput(f"smallest is {declared!r}; give the number of people that a block needs, 1 or more")
    return declared


def small_block(width: int, rate: Rate, declared: int | None) -> int:
    """How few people a block may have where people are few; 0 if it may not have fewer than others."""
    return math.ceil(LEAST * width) if rate == "unknown" and width > 1 and declared is None else 0


def roomy(smallest: int) -> int:
    """How many people a block should have, for one in forty to have fewer than it needs: hashed blocks vary in size."""
    return smallest + math.ceil(2 * math.sqrt(smallest))


def chosen_correction(
    correct: object, *, size: int | None, rate: Rate, numeric: bool, width: int = 1, likelihood: bool = False
) -> Correct:
    """The bias correction asked for; by default the jackknife of least squares, Firth's where it is known, or halves if
    they are large enough."""
    if correct == "auto":
        if rate == "unbiased" or not numeric:
            return None
        if rate == "squares":
            return "jackknife"
        if likelihood:
            return "firth"
        return "half" if size is not None and size >= max(HALVES, HALVES_A_NUMBER * width) else None
    if correct not in ("half", "jackknife", "firth", None):
        raise BadInput(f"bias_correction is {correct!r}; give 'half', 'jackknife', 'firth', None or 'auto'")
    if correct is not None and not numeric:
        raise BadInput(f"bias_correction is {correct!r}, but labels have no bias to correct; give bias_correction=None")
    if correct == "firth" and not likelihood:
        raise BadInput(
            "bias_correction is 'firth', which is for logistic and Poisson regression without a penalty, on arrays of "
            "numbers, outside a sandbox; give 'half', 'jackknife' or None"
        )
    return correct


def expected_width(mechanism: object) -> float | None:
    """How much wider than without noise, where there is a formula."""
    known = isinstance(mechanism, BlockMean | BlockFriends | RemainingBias)
    return mechanism.relative_error if known else None  # type: ignore[attr-defined]


def compared(mechanism: object) -> str:
    """Why several numbers are combined in this way and not in the other: public numbers."""
    return _compared(mechanism) if isinstance(mechanism, BlockMean | BlockFriends) else ""


@lru_cache(maxsize=64)
def _compared(mechanism: BlockMean | BlockFriends) -> str:
    other: BlockMean | BlockFriends
    match mechanism:
        case BlockFriends(blocks, width, epsilon=epsilon, delta=delta) if width > 1:
            other = BlockMean(blocks, width, epsilon, delta)
            how, ours, theirs = "coordinatewise", mechanism.relative_error, other.relative_error
        case BlockMean(blocks, width, epsilon, delta) if width > 1 and delta:
            try:
                other = BlockFriends(blocks, width, epsilon=epsilon, delta=delta)
            except BadInput:
                return ""
            how, ours, theirs = "friendly", mechanism.relative_error, other.relative_error
        case _:
            return ""
    if not other.feasible:
        return f"{how} would need more blocks"
    return f"intervals {ours:.2f} times as wide as without noise, {how} {theirs:.2f} times"
