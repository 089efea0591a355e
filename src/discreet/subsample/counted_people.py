"""A noisy number of people first, then the mechanism that is made for about so many.

Releases
    A noisy number of people, and what the mechanism made for it releases; or a refusal that tells the number.
Promise
    [counted_people.1] ADD_OR_REMOVE: epsilon and delta in all, known before a row is read. A twentieth of epsilon buys
          the number of people; whatever it is, the mechanism made for it has the rest of epsilon, and delta.
    [counted_people.2] The number of blocks, the aggregator, the bias correction and what is refused follow from the
          noisy number and from what is public.
Why
    [counted_people.1] One person, with however many rows, moves the number of people by 1: [additive.1]; people are
    told apart as in [partition.3]. Given the noisy number, the mechanism is fixed, and what it promises is compared
    with what is left before it is run. Adaptive composition with fixed losses: the sum.
    [counted_people.2] `made` is given a whole number and an epsilon; it knows the schema, but no row. What it raises is
    a function of these, and becomes a refusal. What no number of people would mend is raised before anything is drawn.
Needs
    A function from about how many people there are, and what may be spent, to a mechanism under ADD_OR_REMOVE.
Accuracy
    The noise has a standard deviation of 28 / epsilon people. Plans are made for 3 scales fewer (60 / epsilon), which
    is more than there are once in 40 runs; then blocks are a little smaller than they should be.
Source
    Ours; adaptive composition: Dwork, Rothblum and Vadhan 2010.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from discreet.errors import BadInput, Refused
from discreet.hypotheses.private_sizes import people_needed
from discreet.privacy.exact import Number, exact, show
from discreet.privacy.guarantee import Guarantee, check_budget
from discreet.privacy.loss import Approximate, Laplace
from discreet.privacy.mechanism import Mechanism, Randomness, what_to_do
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.subsample.block_table import BlockTable
from discreet.subsample.partition import people_in

COUNTING: Final = Fraction(1, 20)  # of epsilon, for the number of people
CAUTION: Final = 3  # scales of the noise that are taken off
TRIED: Final = tuple(10**power for power in (6, 5, 4, 7, 8, 9))  # people: with some of these all can be done that can
Made = Callable[[int, Number], Mechanism[Any]]


@dataclass(frozen=True, slots=True)
class CountedPeople:
    """What `made` makes for about so many people and an epsilon, where the number of people is private.

    >>> from discreet.noise.randomness import Seeded
    >>> from discreet.subsample.aggregate import SubsampleAggregate
    >>> from discreet.subsample.coordinatewise import BlockMean
    >>> from discreet.subsample.estimators import FunctionFit
    >>> from discreet.subsample.returned import Shape
    >>> number, hidden = Shape("number", ("value",)), Neighbours.ADD_OR_REMOVE
    >>> def made(people, epsilon):
    ...     blocks = BlockMean(people // 50, 1, epsilon)
    ...     return SubsampleAggregate(FunctionFit(max), number, blocks, neighbours=hidden)
    >>> fit = CountedPeople(made, 2.0)
    >>> 90 < fit.release([float(k % 100) for k in range(20000)], Seeded(1)).value < 105
    True
    """

    made: Made
    epsilon: Number
    delta: Number = 0.0
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, None)
        self._possible()  # [counted_people.2]

    @property
    def guarantee(self) -> Guarantee:
        """The number and the mechanism. [counted_people.1]"""
        return Guarantee(self.epsilon, self.delta, Neighbours.ADD_OR_REMOVE, self.unit)

    @property
    def loss(self) -> Approximate:
        """The number and the mechanism. [counted_people.1]"""
        return Approximate(self.epsilon, self.delta)

    @property
    def counting(self) -> Laplace:
        """What the number of people costs."""
        return Laplace(exact(self.epsilon) * COUNTING)

    @property
    def caution(self) -> int:
        """How many people are taken off the noisy number."""
        return round(CAUTION / float(self.counting.epsilon))

    @property
    def rest(self) -> Fraction:
        """What is left of epsilon."""
        return exact(self.epsilon) * (1 - COUNTING)

    def plan(self, rows: Any) -> str:  # noqa: ARG002  as other mechanisms have it
        """What will be done, in words."""
        return (
            f"the number of people is private: a noisy one, for epsilon {show(self.counting.epsilon)}, decides on the "
            f"number of blocks; the estimates have epsilon {show(self.rest)}"
        )

    def check(self, size: int | None) -> None:
        """Refused, if it is said how many people there are, where about so many would be."""
        if size is not None:
            try:
                self.checked(size)
            except BadInput as reason:
                raise Refused(str(reason)) from None

    def check_machine(self) -> None:
        """NoSandbox where this machine cannot make the sandbox asked for."""
        inner = self._possible()
        if hasattr(inner, "check_machine"):
            inner.check_machine()

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The mechanism's answer, or a refusal."""
        table = BlockTable.of(rows)
        noisy = int(rng.blur(people_in(table), sensitivity=1, cost=self.counting))  # [counted_people.1]
        people = max(1, noisy - self.caution)
        shown = {"people, noisy": noisy, "epsilon of that number": float(self.counting.epsilon)}
        try:
            self.check(people)
        except Refused:  # [counted_people.2]
            needed = people_needed(self.check) + self.caution
            to_do = what_to_do(noisy, self.epsilon, needed, noisy=True, rows="people")
            words = f"about {max(noisy, 0)} people (a noisy number), about {needed} are needed: {to_do}"
            return Release(self.guarantee, Provenance("CountedPeople", shown, rng.secure), refusal=words)
        found = self.checked(people).release(table, rng)  # [counted_people.1]
        history = replace(found.provenance, parameters=dict(found.provenance.parameters) | shown)
        return replace(found, guarantee=self.guarantee, provenance=history)

    def _possible(self) -> Mechanism[Any]:
        """The mechanism for some number of people; what is wrong with all of them is wrong with what was asked for."""
        wrong = []
        for people in TRIED:
            try:
                return self.checked(people)
            except BadInput as reason:
                wrong.append(reason)
        raise wrong[0]

    def checked(self, people: int) -> Mechanism[Any]:
        """The mechanism, if it promises what is left or better. [counted_people.1]"""
        made = self.made(people, self.rest)
        promised = made.guarantee
        if exact(promised.epsilon) > self.rest or exact(promised.delta) > exact(self.delta):
            raise BadInput(f"the mechanism promises '{promised}', but epsilon {show(self.rest)} is left for it")
        if (promised.neighbours, promised.unit) != (Neighbours.ADD_OR_REMOVE, self.unit):
            raise BadInput(f"the mechanism promises '{promised}'; it must hide whether one {self.unit} is there")
        return made
