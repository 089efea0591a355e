"""Who is asked: ours, other packages, published methods. Each answers with a number or several, some with an interval.

An answer is (value, interval or None), or None where the question is refused. What each is told beyond the people is
in its name; `discreet` is told nothing.
"""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp

import discreet
from discreet import Seeded
from discreet.errors import Refused

Floats = npt.NDArray[np.float64]
Answer = tuple[Floats, tuple[Floats, Floats] | None] | None
ROOT: Final = Path(__file__).parent.parent.parent
PEERS: Final = Path(os.environ.get("COMPARE_PYTHON", ROOT / ".venv-compare" / "bin" / "python"))
CANDIDATES: Final = 2000  # of OpenDP's quantiles
FAULTS: Final[set[tuple[str, str]]] = set()  # what peers raised, each said once


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked: the people, the budget, and what is known beforehand to those that must be told."""

    people: Any
    epsilon: float
    delta: float = 0.0
    known: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @property
    def rng(self) -> np.random.Generator:
        """For the noise of published methods."""
        return np.random.default_rng([self.seed, 1])


Contender = Callable[[Question], Answer]


def timed(contender: Contender, question: Question) -> tuple[Answer, float]:
    """The answer, and its CPU seconds."""
    if isinstance(contender, Elsewhere):
        return contender.asked(question)
    start = time.process_time()
    answer = contender(question)
    return answer, time.process_time() - start


def flat(value: Any) -> Floats:
    """All numbers of a value, in a row."""
    return np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel()


@dataclass(frozen=True)
class Ours:
    """A statistic of discreet, by name; `given` are the facts that it is told as well."""

    statistic: str
    options: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    numbers: Callable[[Any], Any] = flat

    def __call__(self, question: Question) -> Answer:
        """The value and its 95% interval; refused where there is no value."""
        told = {name: question.known[name] for name in self.given}
        people = question.people if isinstance(question.people, tuple) else (question.people,)
        budget: dict[str, Any] = {"epsilon": question.epsilon, "rng": Seeded(question.seed)}
        if question.delta:
            budget["delta"] = question.delta
        release = getattr(discreet, self.statistic)(*people, **budget, **self.options, **told)
        if release.refusal is not None:
            return None
        try:
            interval = release.interval(0.95)
        except Refused:
            return self.numbers(release.value), None
        return self.numbers(release.value), (self.numbers(interval.low), self.numbers(interval.high))


@dataclass(frozen=True)
class Elsewhere:
    """A peer in an interpreter of its own; `given` are the facts that it is told."""

    name: str
    given: tuple[str, ...] = ()
    columns: tuple[str, ...] = ("x",)
    every: int = 1  # asked in one run of so many, where it is slow

    def asked(self, question: Question) -> tuple[Answer, float]:
        """The answer and the CPU seconds that were counted there."""
        people = question.people if isinstance(question.people, tuple) else (question.people,)
        arguments = dict(zip(self.columns, people, strict=True), epsilon=question.epsilon)
        peers = _interpreter()
        if peers is None or peers.stdin is None or peers.stdout is None:
            return None, 0.0
        pickle.dump((self.name, arguments | {name: question.known[name] for name in self.given}), peers.stdin)
        peers.stdin.flush()
        value, taken, fault = pickle.load(peers.stdout)  # noqa: S301
        if fault and (self.name, fault) not in FAULTS:
            FAULTS.add((self.name, fault))
            print(f"{self.name}: {fault}", file=sys.stderr)
        return (None if value is None else (flat(value), None)), taken

    def __call__(self, question: Question) -> Answer:
        """The answer."""
        return self.asked(question)[0]


@cache
def _interpreter() -> "subprocess.Popen[bytes] | None":
    if not PEERS.exists():
        return None
    script = Path(__file__).parent / "elsewhere.py"
    return subprocess.Popen([PEERS, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


@dataclass(frozen=True)
class Published:
    """A published method, written anew in published.py and its neighbours."""

    method: Callable[[Question], Any]

    def __call__(self, question: Question) -> Answer:
        """The answer, without an interval: they have none."""
        value = self.method(question)
        return None if value is None else (flat(value), None)


@cache
def _clipped(kind: str, size: int, bounds: tuple[float, float], epsilon: float) -> Any:
    dp.enable_features("contrib", "idealized-numerics")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=size)
    clipped = (domain, dp.symmetric_distance()) >> dp.t.then_clamp(bounds)
    summed = clipped >> (dp.t.then_mean() if kind == "mean" else dp.t.then_variance())
    return dp.binary_search_chain(lambda scale: summed >> dp.m.then_laplace(scale), 2, epsilon)


@dataclass(frozen=True)
class OpenDPClipped:
    """OpenDP's mean or variance of clipped numbers, n public: one person is replaced."""

    kind: str

    def __call__(self, question: Question) -> Answer:
        """The answer; what is measured is made once."""
        noisy = _clipped(self.kind, len(question.people), question.known["bounds"], question.epsilon)
        return flat(noisy(question.people)), None


@cache
def _quantile(q: float, bounds: tuple[float, float], epsilon: float) -> Any:
    dp.enable_features("contrib", "idealized-numerics")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    grid = np.linspace(*bounds, CANDIDATES).tolist()
    noise = dp.max_divergence()
    return dp.binary_search_chain(
        lambda scale: space >> dp.m.then_private_quantile(noise, grid, q, scale), 1, epsilon, T=float
    )


def opendp_quantile(question: Question) -> Answer:
    """OpenDP's exponential mechanism on evenly spaced candidates between the bounds."""
    return flat(_quantile(question.known["q"], question.known["bounds"], question.epsilon)(question.people)), None


@cache
def _counts(categories: tuple[int, ...], rest: bool, epsilon: float) -> Any:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=dp.i32)), dp.symmetric_distance()
    counted = space >> dp.t.then_count_by_categories(list(categories), null_category=rest, MO=dp.L1Distance[int])
    return dp.binary_search_chain(lambda scale: counted >> dp.m.then_laplace(scale), 1, epsilon, T=float)


def opendp_counts(question: Question) -> Answer:
    """OpenDP's counts of public categories."""
    return flat(_counts(question.known["categories"], False, question.epsilon)(question.people.tolist())), None


def opendp_share(question: Question) -> Answer:
    """OpenDP's counts of yes and of the rest, which are disjoint: each may have all of epsilon."""
    yes, rest = _counts((1,), True, question.epsilon)(question.people.astype(int).tolist())
    return flat(min(max(yes / max(yes + rest, 1), 0.0), 1.0)), None
