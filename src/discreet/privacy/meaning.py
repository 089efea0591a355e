"""What epsilon and delta mean: what anyone can learn about a person, as odds, as a guess, as an attack; in plain words.

Promise
    (epsilon, delta) says that P(E) <= e^eps P'(E) + delta for every event E and neighbours with the distributions P and
    P'.
    [meaning.1] A guess about one person that had probability p before has at most b = p e^eps / (1 - p + p e^eps) after
         a pure-epsilon answer, for someone who knows everybody else's data. With delta it may have more, by at most p
         (1 - b) delta on average over the answers.
    [meaning.2] What anyone concludes, about anything, with this person's data and without it differs by a factor of at
         most e^{2 eps}, whatever they knew before and however the people's data depend on each other. With delta the
         one may exceed e^{2 eps} times the other, by at most (1 + e^eps) delta on average over the answers, whatever
         event is looked at after each answer.
    [meaning.3] A test that accuses falsely with probability a accuses rightly with at most min(e^eps a + delta,
         1 - e^-eps (1 - delta - a)).
    [meaning.4] Under mu-GDP, with at most Phi(Phi^-1(a) + mu).
    [meaning.5] Under rho-zCDP, with at most `power_zcdp`.
    [meaning.6] Between two values that are equally likely beforehand, nobody guesses right with more than
         (e^eps + delta) / (e^eps + 1).
    [meaning.7] The loss L = ln(P / P') exceeds t > epsilon with probability at most delta / (1 - e^{eps - t}): 2 delta
         for t = epsilon + ln 2, and delta as t grows. It may exceed epsilon with probability near e^eps / (1 + e^eps),
         however small delta is.
    [meaning.9] Whether all of n people say yes or all say no, each as likely, nobody guesses right with more than
         [meaning.6] of a group of n, or of 2 n where people are added and removed.
    [meaning.8] The loss of Gaussian noise whose mean moves by mu deviations exceeds t with probability Phi(mu / 2 - t /
    mu).

Why
    [meaning.1] Posterior odds are prior odds times the ratio of two likelihoods, each an average over the values of one
    person, P for those of the guess and P' for the others; averages keep (epsilon, delta). Pure, the ratio is at most
    e^eps. With delta the posterior q exceeds b on average by the sum over answers of (p P - b (p P + (1 - p) P'))+,
    which is p (1 - b) (P - e^eps P')+, and the sum of (P - e^eps P')+ is at most delta. [meaning.2] J(d, a) = p(d)
    P_d(a) and J'(d, a) = p(d) P'_d(a), with the person's entry replaced everywhere, keep (epsilon, delta), and so do
    their sums J(a) and J'(a) over d. Conclusions are J(d, a) / J(a) and J'(d, a) / J'(a): pure, both parts move by at
    most e^eps. Else, with r = J(a) / J'(a), the first exceeds e^{2 eps} times the second, on average, by the sum of (J
    - e^{2 eps} r J')+. That is at most (J - e^eps J')+ where r >= e^-eps, and (J - e^eps J')+ + (e^eps - e^{2 eps} r)
    J' elsewhere, where the last part sums to e^eps (J'(a) - e^eps J(a))+ over d: in all delta + e^eps delta. The second
    exceeds e^{2 eps} times the first by the sum of (r J' - e^{2 eps} J)+, at most e^eps (J' - e^eps J)+ where r <=
    e^eps, and (r - e^eps) J' more elsewhere: e^eps delta + delta. The event may be any set of d, for each a another.
    [meaning.3] P(E) <= e^eps P'(E) + delta for the accusing event E, and with tables exchanged for its complement.
    [meaning.4] Neyman and Pearson. [meaning.5] The accusation is post-processing, so the Renyi divergences between two
    coins, of the power and of the level, are at most a rho both ways for every order a > 1; the largest power that
    satisfies this at some chosen orders is an upper bound, not always reached. [meaning.6] Half of 1 plus the largest
    difference P(E) - P'(E), which [meaning.3] limits to (e^eps - 1 + 2 delta) / (e^eps + 1). [meaning.7] E = {L > t}
    has P'(E) <= e^-t P(E), so P(E) <= e^{eps - t} P(E) + delta. It is reached by a distribution that has the loss t
    there; with t near epsilon, by randomised response. [meaning.8] L is normal with mean mu^2 / 2 and deviation mu.
    [meaning.9] The two tables are n replacements apart, each of which is one removal and one addition.

Source
    The lecture's Theorem 3.7 [meaning.2]; Wasserman and Zhou 2010, Kairouz, Oh and Viswanath 2015 [meaning.3]; Dong,
    Roth and Su 2022
    [meaning.4]; Kasiviswanathan and Smith 2014 for [meaning.1], [meaning.2], [meaning.7] with other constants; Balle
    and Wang 2018 [meaning.8].
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

from discreet.errors import BadInput
from discreet.privacy.exact import Number, bisect, is_number, show
from discreet.privacy.guarantee import Guarantee, Neighbours, plural
from discreet.privacy.loss import safe_exp

ORDERS: Final = tuple(1 + 2.0**k for k in range(-10, 11))  # [meaning.5]


def posterior(prior: float, epsilon: Number) -> float:
    """The highest probability of a guess about one person after a pure-epsilon answer. [meaning.1]

    >>> round(posterior(0.5, 1), 3), round(posterior(0.01, 1), 4)
    (0.731, 0.0267)
    """
    return Guarantee(epsilon).worst_odds(prior)  # [meaning.1]


def excess(prior: float, epsilon: Number, delta: Number) -> float:
    """How much higher than `posterior` a guess may be, on average over the answers: p (1 - b) delta. [meaning.1]

    >>> round(excess(0.5, 1, 1e-6), 10)
    1.345e-07
    """
    return prior * (1 - posterior(prior, epsilon)) * _probability(delta, "delta")  # [meaning.1]


def posterior_with_and_without(epsilon: Number) -> float:
    """The largest factor between what is concluded with a person's data and without it: e^{2 epsilon}. [meaning.2]

    >>> round(posterior_with_and_without(1), 2)
    7.39
    """
    return safe_exp(2 * _size(epsilon, "epsilon"))  # [meaning.2]


def excess_with_and_without(epsilon: Number, delta: Number) -> float:
    """How far beyond that factor they may differ, on average over the answers: (1 + e^epsilon) delta. [meaning.2]

    >>> round(excess_with_and_without(1, 1e-6), 8)
    3.72e-06
    """
    d = _probability(delta, "delta")
    return min(1.0, d * (1 + safe_exp(_size(epsilon, "epsilon")))) if d else 0.0  # [meaning.2]


def loss_beyond(loss: Number, *, epsilon: Number, delta: Number) -> float:
    """The most that the probability of a privacy loss above `loss` may be, under (epsilon, delta). [meaning.7]

    >>> round(loss_beyond(1 + math.log(2), epsilon=1, delta=1e-6), 9), loss_beyond(1, epsilon=1, delta=1e-6)
    (2e-06, 1.0)
    """
    d, over = _probability(delta, "delta"), _size(loss, "the loss") - _size(epsilon, "epsilon")
    if over <= 0:
        return 1.0 if d or over else 0.0
    return min(1.0, d / -math.expm1(-over))  # [meaning.7]


def loss_beyond_gaussian(loss: Number, mu: Number) -> float:
    """The probability of a privacy loss above `loss`, of Gaussian noise whose mean moves by mu deviations. [meaning.8]

    >>> round(loss_beyond_gaussian(1, 0.2367), 6)  # (1, 1e-6) is what this noise promises: delta is not this chance
    2e-05
    """
    size = _size(mu, "mu")
    return _tail(_size(loss, "the loss") / size - size / 2) if size else 0.0  # [meaning.8]


def guess(epsilon: Number, delta: Number = 0.0) -> float:
    """How often the best guess between two equally likely values can be right: (e^eps + delta)/(e^eps + 1). [meaning.6]

    >>> round(guess(1), 3)
    0.731
    """
    small = math.exp(-_size(epsilon, "epsilon"))
    return (1 + _probability(delta, "delta") * small) / (1 + small)  # [meaning.6]


def power(level: float, *, epsilon: Number, delta: Number = 0.0) -> float:
    """The highest power of a test of one person's data at this level, under (epsilon, delta). [meaning.3]

    >>> round(power(0.05, epsilon=1), 4)
    0.1359
    """
    a, d, eps = _probability(level, "the level"), _probability(delta, "delta"), _size(epsilon, "epsilon")
    rise = safe_exp(eps) * a + d if a else d
    return min(1.0, rise, 1 - math.exp(-eps) * max(0.0, 1 - d - a))  # [meaning.3]


def power_gdp(level: float, mu: Number) -> float:
    """The highest power of a test of one person's data at this level, under mu-GDP. [meaning.4]

    >>> round(power_gdp(0.05, 1), 4)
    0.2595
    """
    a, size, normal = _probability(level, "the level"), _size(mu, "mu"), NormalDist()
    return normal.cdf(normal.inv_cdf(a) + size) if 0 < a < 1 else a  # [meaning.4]


def power_zcdp(level: float, rho: Number) -> float:
    """A bound on the power of a test of one person's data at this level, under rho-zCDP. [meaning.5]

    >>> power_gdp(0.05, 0.2) < power_zcdp(0.05, 0.02) < 0.12
    True
    """
    a, rate = _probability(level, "the level"), _size(rho, "rho")
    if a in (0.0, 1.0):
        return a

    def excluded(b: float) -> bool:
        return any(_divergence(*pair, order) > order * rate for order in ORDERS for pair in ((b, a), (a, b)))

    return bisect(excluded, a, 1.0)[1]  # [meaning.5]


USEFUL: Final = 0.95  # an answer that tells less of all-yes and all-no tells next to nothing


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Meaning:
    """A guarantee in numbers that people can use; `sentences` puts them into words."""

    guarantee: Guarantee
    group: int
    prior: float
    factor: float
    posterior: float
    posterior_excess: float
    with_and_without: float
    with_and_without_excess: float
    guess: float
    power_at_5_percent: float
    power_at_1_percent: float
    double_chance: float
    gaussian_chance: float | None
    people: int | None = None
    somebody_chance: float | None = None
    all_or_none: float | None = None  # the chance to guess right whether all people say yes or all say no

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Plain words, one statement each."""
        promise, unit = self.guarantee, self.guarantee.unit
        replaced, alone = promise.neighbours is Neighbours.REPLACE, self.group == 1
        who = f"one {unit}" if alone else f"a group of {self.group} {plural(unit)}"
        they = f"that {unit}" if alone else "that group"
        about = f"about {who}" if replaced else f"about whether {who} is in the data"
        change = "had other data" if replaced else "had not been in the data"
        if promise.delta:
            first = (
                f"Any set of answers has at most {_times(self.factor)} the chance that it would have if {they} "
                f"{change}, plus {show(promise.delta)}."
            )
            more = f"; an answer may tell more, but on average that adds at most {self.posterior_excess:.3g}"
            apart = f"; what goes beyond that is at most {self.with_and_without_excess:.3g} on average"
        else:
            first, more, apart = (
                f"No answer becomes more than {_times(self.factor)} as likely as if {they} {change}.",
                "",
                "",
            )
        said = [
            f"Epsilon is {show(promise.epsilon)}{f', delta {show(promise.delta)}' if promise.delta else ''} for {who}.",
            first,
            (
                f"For someone who knows all the others' data, a guess {about} that had a chance of "
                f"{_percent(self.prior)} has at most {_percent(self.posterior)} after the answer{more}."
            ),
            (
                f"What anyone concludes from the answer, about anything, with {they} in the data and without, "
                f"differs by a factor of at most {_factor(self.with_and_without)}{apart}."
            ),
            (
                f"Told that one of two possibilities {about} is true, each as likely, the best attack is right at "
                f"most {_percent(self.guess)} of the time. Tossing a coin is right 50% of the time."
            ),
            (
                f"An attack that raises 5% false alarms finds at most {_percent(self.power_at_5_percent)} of those it "
                f"is after; one that raises 1% false alarms, at most {_percent(self.power_at_1_percent)}."
            ),
        ]
        if not replaced:
            said.append(f"For what the data of {they} says, not only whether it is there, epsilon counts twice.")
        if promise.delta:
            of_noise = self.gaussian_chance
            noise = f"; with Gaussian noise of just this promise it is {of_noise:.3g}" if of_noise else ""
            said.append(
                f"Answers that tell all about {they} have a chance of at most {show(promise.delta)}; those that are "
                f"more than {_times(2 * self.factor)} as likely as otherwise, of at most {self.double_chance:.3g}."
            )
            said.append(
                f"Delta is not the chance of answers that are more than {_times(self.factor)} as likely: that may be "
                f"larger{noise}."
            )
        if self.somebody_chance:
            least = (
                f"; give a delta of at most {show(1 / (10 * (self.people or 1)))}" if self.somebody_chance > 0.1 else ""
            )
            said.append(
                f"That the answer tells all about one or another of {self.people:,} people has a chance of at most "
                f"{_percent(self.somebody_chance)}{least}."
            )
        if self.all_or_none is not None and self.all_or_none < USEFUL:
            said.append(
                f"With {self.people:,} people this epsilon cannot tell all-yes from all-no: the best guess from the "
                f"answer is right at most {_percent(self.all_or_none)} of the time. Epsilon must be much larger than "
                f"{show(1 / (self.people or 1))}."
            )
        if self.guess > 0.98 or promise.delta > 0.01:
            said.append("This is next to no promise. 0.1 to 1 protects people well, 3 is the most commonly defended.")
        return tuple(said)


def explain(
    what: Any = None,
    prior: float = 0.01,
    group: int = 1,
    *,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    n: int | None = None,
    neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE,
    unit: str = "person",
) -> Meaning:
    """What a promise means for someone whose secret was guessed with probability `prior`, or for a group.

    The promise is an epsilon (and a delta), a guarantee, a release, or a budget. With `n` people it says what delta
    comes to for all of them, and whether epsilon is too small for so few.

    >>> print(explain(epsilon=1.0).sentences[1])
    No answer becomes more than 2.72 times as likely as if that person had not been in the data.
    """
    given = getattr(what, "guarantee", what)
    if (given is None) == (epsilon is None):
        raise BadInput("say once what to explain: explain(epsilon=1.0), a guarantee, a release or a budget")
    if not isinstance(given, Guarantee):
        size, rest = epsilon, delta
        if is_number(given):
            size = given
        elif given is not None:  # a budget
            size, rest = getattr(given, "epsilon", None), getattr(given, "delta", 0.0)
        if size is None:
            seen = type(what).__name__
            raise BadInput(f"{seen} is not a promise; give an epsilon, a guarantee, a release or a budget")
        given = Guarantee(size, rest, Neighbours(neighbours), unit)
    if n is not None and (not isinstance(n, int) or isinstance(n, bool) or n < 1):
        raise BadInput(f"n is {n!r}; give the number of people, 1 or more")
    whole = given if group == 1 else given.for_group(group)
    epsilon, delta = whole.epsilon, whole.delta
    return Meaning(
        guarantee=whole,
        group=group,
        prior=_probability(prior, "the prior"),
        factor=safe_exp(float(epsilon)),
        posterior=posterior(prior, epsilon),
        posterior_excess=excess(prior, epsilon, delta),
        with_and_without=posterior_with_and_without(epsilon),
        with_and_without_excess=excess_with_and_without(epsilon, delta),
        guess=guess(epsilon, delta),
        power_at_5_percent=power(0.05, epsilon=epsilon, delta=delta),
        power_at_1_percent=power(0.01, epsilon=epsilon, delta=delta),
        double_chance=min(1.0, 2 * float(delta)),  # [meaning.7]
        gaussian_chance=_gaussian_chance(float(epsilon), float(delta)),
        people=n,
        somebody_chance=None if n is None else min(1.0, n * float(given.delta)),  # [meaning.7], added up
        all_or_none=None if n is None else _all_or_none(given, n),
    )


def _all_or_none(promise: Guarantee, people: int) -> float:
    """The most that anyone can be right in telling all-yes from all-no. [meaning.9]"""
    changes = people if promise.neighbours.size_is_public else 2 * people
    if changes * float(promise.epsilon) > 20 or changes * float(promise.delta) > 1:
        return 1.0
    whole = promise.for_group(changes)
    return guess(whole.epsilon, min(1.0, float(whole.delta)))  # [meaning.9]


def _gaussian_chance(epsilon: float, delta: float) -> float | None:
    """Of a loss above epsilon, for Gaussian noise that promises just (epsilon, delta); None where floats cannot tell.

    That noise has delta = Phi(mu / 2 - eps / mu) - e^eps Phi(-mu / 2 - eps / mu), which rises with mu. [meaning.8]
    """
    if not (1e-3 <= epsilon <= 50 and 1e-12 <= delta <= 0.1):
        return None

    def reached(mu: float) -> bool:
        return loss_beyond_gaussian(epsilon, mu) - math.exp(epsilon) * _tail(epsilon / mu + mu / 2) >= delta

    return loss_beyond_gaussian(epsilon, bisect(reached, 0.0, 20.0, steps=80)[1])


def _tail(x: float) -> float:
    """The chance that a standard normal variable exceeds x."""
    return math.erfc(x / math.sqrt(2)) / 2


def _divergence(p: float, q: float, order: float) -> float:
    """The Renyi divergence between coins of probability p and q, q not 0; infinite if p can show what q cannot."""
    if q == 1:
        return 0.0 if p == 1 else math.inf
    terms = [order * math.log(x) + (1 - order) * math.log(y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0]
    top = max(terms)
    return (top + math.log(sum(math.exp(term - top) for term in terms))) / (order - 1)


def _probability(number: Number, what: str) -> float:
    if not is_number(number) or not 0 <= number <= 1:
        raise BadInput(f"{what} is {number!r}; give a probability in [0, 1]")
    return float(number)


def _size(number: Number, what: str) -> float:
    if not is_number(number) or number < 0:
        raise BadInput(f"{what} is {number!r}; give a finite number, 0 or more")
    return float(number)


def _percent(chance: float) -> str:
    return "more than 99.9%" if 0.999 < chance < 1 else f"{100 * chance:.3g}%"


def _factor(factor: float) -> str:
    return f"{factor:.3g}" if factor < 1e15 else "an astronomical number"


def _times(factor: float) -> str:
    return f"{_factor(factor)} {'times' if factor < 1e15 else 'of times'}"
