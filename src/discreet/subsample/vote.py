"""A vote of blocks on a label: noisy counts, an exponential choice, or the noisy maximum; unknown labels by stability.

Releases
    Vote: the winning label of a public list; with method="counts" also all noisy counts. OpenVote: the largest of the
    labels that enough blocks agree on, with its noisy count.
Promise
    [vote.1] Vote is pure epsilon if one block's label is replaced by any other or by none.
    [vote.2] OpenVote is (epsilon, delta), labels of no list.
Why
    [vote.1] One vote lowers one count by at most 1 and raises one by at most 1: 2 in L1, 1 for each score. Counts:
    [additive.1] of noise/additive.py with sensitivity 2, for two labels with one count, of the first, and sensitivity
    1: a block that does not vote is given to a label by its number. Choice: [choose.3], noisy maximum: [choose.4],
    sensitivity 1.
    [vote.2] [open_histogram.1]: a block holds one label; none is the label None, which cannot win.
Needs
    A margin of a few 1 / epsilon votes. OpenVote: more blocks than its threshold.
Accuracy
    With two labels and a margin of M votes the wrong one wins with a chance below exp(-epsilon M / 2) / 2 (counts) or
    1 / (1 + exp(epsilon M / 2)) (choice). The share of blocks that vote for the winner is told with counts, in a note.
Source
    Nissim, Raskhodnikova and Smith 2007; Papernot et al. 2017 for votes of blocks; Korolova et al. 2009.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Guarantee, check_budget
from discreet.privacy.loss import Approximate, Choice, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.statistics.open_histogram import OpenHistogram
from discreet.subsample.coordinatewise import SWAP

Method = Literal["counts", "choice", "noisy-max"]


@dataclass(frozen=True, slots=True)
class Vote:
    """The label (by its number) that most of `blocks` blocks vote for; NaN is no vote.

    >>> from discreet.noise.randomness import Seeded
    >>> Vote(100, 2, epsilon=1.0).release([0.0] * 80 + [1.0] * 20, Seeded(1)).value
    0
    """

    blocks: int
    labels: int
    epsilon: Number
    method: Method = "counts"
    neighbours: ClassVar = SWAP
    unit: ClassVar[str] = "vote"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        if self.method not in ("counts", "choice", "noisy-max"):
            raise BadInput(f"method is {self.method!r}; give 'counts', 'choice' or 'noisy-max'")
        if self.labels < 2:
            raise BadInput(f"{self.labels} label; a vote needs two or more")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """A choice, or a few noisy counts."""
        return Choice(self.epsilon) if self.method == "choice" else Approximate(self.epsilon, 0)  # [vote.1]

    def release(self, rows: Any, rng: Randomness) -> Release[int]:
        """The winner."""
        votes = np.asarray(rows, dtype=np.float64).ravel()
        none = ~np.isin(votes, np.arange(self.labels))
        if self.labels == 2:
            votes = np.where(none, np.arange(len(votes)) % 2, votes)  # [vote.1]
            none = np.zeros(len(votes), dtype=bool)
        counts = np.bincount(votes[~none].astype(np.int64), minlength=self.labels)
        shown = {"blocks": self.blocks, "labels": self.labels, "method": self.method}
        blank: Release[int] = Release(self.guarantee, Provenance("Vote", shown, rng.secure), name="label")
        if self.method == "choice":
            return replace(blank, answer=rng.choose(-counts, sensitivity=1, cost=Choice(self.epsilon)))  # [vote.1]
        if self.method == "noisy-max":
            winner = rng.noisy_max(counts, sensitivity=1, cost=Approximate(self.epsilon, 0))  # [vote.1]
            return replace(blank, answer=winner)
        if self.labels == 2:
            first = rng.blur(int(counts[0]), sensitivity=1, cost=Laplace(self.epsilon))  # [vote.1]
            noisy, move = np.array([first, self.blocks - first]), 1
        else:
            noisy, move = rng.blur(counts, sensitivity=2, cost=Laplace(self.epsilon)), 2  # [vote.1]
        winner, within = int(np.argmax(noisy)), LaplaceDistribution(laplace_scale(move, self.epsilon)).radius(0.95)
        votes_seen = int(min(max(noisy[winner], 0), self.blocks))
        note = f"about {votes_seen} of {self.blocks} blocks voted for it (noisy; 95%: within {within})"
        return replace(blank, answer=winner, provenance=replace(blank.provenance, notes=(note,)))


@dataclass(frozen=True, slots=True)
class OpenVote:
    """The text that most of `blocks` blocks agree on; nobody has to list the candidates.

    >>> from discreet.noise.randomness import Seeded
    >>> OpenVote(100, epsilon=1.0, delta=1e-6).release(["yes"] * 90 + [None] * 10, Seeded(1)).value
    'yes'
    """

    blocks: int
    epsilon: Number
    delta: Number

    def __post_init__(self) -> None:
        if self.inner.threshold > self.blocks:
            raise BadInput(
                f"{self.blocks} blocks are fewer than the threshold {self.inner.threshold}: no label could be shown; "
                "ask for more blocks, a larger epsilon or delta, or list the public labels (labels=)"
            )

    @property
    def inner(self) -> OpenHistogram:
        """The histogram of votes."""
        return OpenHistogram(self.epsilon, self.delta, SWAP, "vote")  # [vote.2]

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta), for one block's vote."""
        return self.inner.guarantee

    @property
    def loss(self) -> Loss:
        """As the histogram's."""
        return self.inner.loss  # [vote.2]

    def release(self, rows: Any, rng: Randomness) -> Release[str]:
        """The winner, or a refusal if too few blocks agree on any."""
        seen = self.inner.release(list(rows), rng).value  # [vote.2]
        shown = {"blocks": self.blocks, "threshold": self.inner.threshold}
        blank: Release[str] = Release(self.guarantee, Provenance("OpenVote", shown, rng.secure), name="label")
        found = [(int(count), label) for label, count in zip(seen.bins, seen.counts, strict=True) if label is not None]
        if not found:
            return replace(blank, refusal=f"no label has the votes of about {self.inner.threshold} blocks or more")
        count, label = max(found, key=lambda pair: (pair[0], pair[1]))
        note = f"about {count} of {self.blocks} blocks voted for it (noisy)"
        return replace(blank, answer=str(label), provenance=replace(blank.provenance, notes=(note,)))
