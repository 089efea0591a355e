import inspect
import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.noise.distribution_checks import Script, chi_square
from tests.noise.test_tilted_minimum import rows

from discreet.errors import BadInput
from discreet.noise.additive import Blur, SampledSum, slack
from discreet.noise.choose import Choose, NoisyMax
from discreet.noise.choose_float import ChooseFloat, Staircase
from discreet.noise.randomness import Door, Request, Secure, Seeded, SeededSource, Shuffle, Uniform
from discreet.noise.smooth_noise import SmoothNoise
from discreet.noise.threshold import FirstAbove, Sift
from discreet.noise.tilted_minimum import Minimum
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, Sampled
from discreet.privacy.mechanism import Randomness


class Listening(Door):
    """An auditor in the door."""

    def __init__(self, seed: int) -> None:
        super().__init__(SeededSource(seed))
        self.requests: list[Request] = []

    def draw(self, request: Request) -> Any:
        self.requests.append(request)
        return super().draw(request)


STAIRS = Staircase([1.0, 2.0], 1)
FREE = Approximate(0, 0)
LOGISTIC, NOISE = rows(0, 2, 30), Gaussian(1, slack(1, 2**30))
CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any], type, Any]] = {
    "blur": (([1, 2],), {"sensitivity": 1, "cost": Laplace(1)}, Blur, Approximate(1, 0)),
    "choose": (([1, 2],), {"sensitivity": 1, "cost": Choice(1)}, Choose, Choice(1)),
    "noisy_max": (([1, 2],), {"sensitivity": 1, "cost": Approximate(1, 0)}, NoisyMax, Approximate(1, 0)),
    "first_above": (([1, 2], 2), {"sensitivity": 1, "cost": Approximate(1, 0)}, FirstAbove, Approximate(1, 0)),
    "choose_float": ((STAIRS,), {"sensitivity": 1, "cost": Choice(1)}, ChooseFloat, Choice(1)),
    "sift": (({3: 1},), {"sensitivity": 1, "cost": Laplace(1), "above": 2, "bins": 9}, Sift, Approximate(1, 0)),
    "smooth": (
        (3, 4),
        {
            "unit": 2,
            "top": 8,
            "distribution": "student",
            "pace": Fraction(1, 8),
            "divisor": Fraction(2, 5),
            "cost": Approximate(1, 0),
        },
        SmoothNoise,
        Approximate(1, 0),
    ),
    "minimum": (
        (LOGISTIC,),
        {"steepness": 2, "curvature": 0.25, "ridge": 2, "cost": Approximate(1, 0)},
        Minimum,
        Approximate(1, 0),
    ),
    "sampled_sum": (
        (3, lambda mask: [int(mask.sum()) << 30]),
        {"sensitivity": 2**30, "cost": NOISE, "rate": 0.5},
        SampledSum,
        Sampled(NOISE, Fraction(1, 2)),
    ),
    "permutation": ((5,), {}, Shuffle, FREE),
    "below": ((5,), {}, Uniform, FREE),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_way_to_ask_passes_through_draw(name: str) -> None:
    arguments, named, kind, loss = CALLS[name]
    door = Listening(4)
    answer = getattr(door, name)(*arguments, **named)
    assert [type(request) for request in door.requests] == [kind]
    assert door.requests[0].loss == loss
    assert repr(answer) == repr(getattr(Seeded(4), name)(*arguments, **named))
    assert door.requests[0].objection(door.requests[0]) is None
    assert np.shape(getattr(Secure(), name)(*arguments, **named)) == np.shape(answer)


def test_no_way_to_ask_is_forgotten() -> None:
    public = {name for name, _ in inspect.getmembers(Door, inspect.isfunction) if not name.startswith("_")}
    assert public == {*CALLS, "draw"}
    promised = {name for name, _ in inspect.getmembers(Randomness, inspect.isfunction) if not name.startswith("_")}
    assert promised <= public
    rng: Randomness = Seeded(1)  # the door keeps the protocol, says the type checker
    assert rng.secure is False


def test_a_parts_dealer_sees_unknown_bins_and_gaussian_noise() -> None:
    door = Listening(1)
    door.sift({"a": 30}, sensitivity=2, cost=Laplace(1), above=14, delta=1e-3)
    off = slack(1, 2**30)
    door.blur(5, sensitivity=2**30, cost=Gaussian(1, off))
    assert [request.loss for request in door.requests] == [Approximate(1, 1e-3), Gaussian(1, off)]


def test_answers_are_plain() -> None:
    door = Seeded(3)
    assert type(door.blur(5, sensitivity=1, cost=Laplace(1))) is int
    assert type(door.choose([1, 2], sensitivity=1, cost=Choice(1))) is int
    assert type(door.choose_float(STAIRS, sensitivity=1, cost=Choice(1))) is float
    assert door.permutation(4).dtype == np.int64
    assert type(door.below(10)) is int


def test_a_secure_door_says_so() -> None:
    assert Secure().secure is True
    assert Seeded(0).secure is False
    assert repr(Secure()) == "Secure()"


def test_permutations_are_uniform() -> None:
    door = Seeded(10)
    for size in (0, 1, 2, 50):
        assert sorted(door.permutation(size).tolist()) == list(range(size))
    drawn = Counter(tuple(door.permutation(3).tolist()) for _ in range(3000))
    assert chi_square([drawn[order] for order in itertools.permutations(range(3))], [1 / 6] * 6) > 1e-6


def test_equal_words_are_drawn_again() -> None:
    class Words(Script):
        def __init__(self, *rounds: list[int]) -> None:
            super().__init__(Fraction(0))
            self.rounds = list(rounds)

        def words(self, count: int) -> Any:
            return np.array(self.rounds.pop(0), dtype=np.uint64)

    source = Words([7, 7, 1], [2**64 - 1, 0, 2**63])
    assert Shuffle(3).answer(source).tolist() == [1, 2, 0]
    assert source.rounds == []


def test_public_draws_are_uniform_and_need_a_bound() -> None:
    door = Seeded(7)
    drawn = Counter(door.below(5) for _ in range(3000))
    assert chi_square([drawn[i] for i in range(5)], [0.2] * 5) > 1e-6
    for bound in (0, -3):
        with pytest.raises(BadInput):
            door.below(bound)


def test_objections_to_free_draws() -> None:
    assert Shuffle(3).objection(Shuffle(3)) is None
    assert "size" in str(Shuffle(3).objection(Shuffle(4)))
    assert Uniform(3).objection(Uniform(3)) is None
    assert "range" in str(Uniform(3).objection(Uniform(4)))
