"""The audited mechanisms of blocks."""

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.subjects.subject import NUMBERS, SPREAD, Subject, edge_pairs
from discreet.blocks.aggregate import SubsampleAggregate
from discreet.blocks.centre import BlockMean
from discreet.blocks.estimator import FunctionFit
from discreet.blocks.friend import BlockFriends
from discreet.blocks.halfway import BlockMedian
from discreet.blocks.probe import Probed
from discreet.blocks.shape import Shape
from discreet.blocks.vote import OpenVote, Vote
from discreet.promise.neighbours import Neighbours

NUMBER, YES_NO, TEXT = Shape("number", ("value",)), Shape("label", ("label",), labels=(0, 1)), Shape("text", ("label",))


def probed(relation: Neighbours) -> Probed:
    """A mean of 10 blocks, and of 20."""
    fit = SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockMean(10, 1, 20.0), relation)
    return Probed(fit, replace(fit, aggregator=BlockMean(20, 1, 20.0)))


def above_one(x: Any) -> int:
    """A vote."""
    return int(x.mean() > 1)


SUBJECTS = {
    "SubsampleAggregate, BlockMean": Subject(
        lambda r: SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockMean(10, 1, 20.0), r),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=10,
    ),
    "SubsampleAggregate, BlockFriends": Subject(
        lambda r: SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockFriends(60, 1, 30.0, 1e-4), r),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=60,
    ),
    "Probed": Subject(probed, NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=20),
    "SubsampleAggregate, BlockMedian": Subject(
        lambda r: SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockMedian(20, 1, 20.0), r),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=20,
    ),
    "SubsampleAggregate, Vote": Subject(
        lambda r: SubsampleAggregate(FunctionFit(above_one), YES_NO, Vote(5, 2, 1.0), r),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 5),
        least=5,
    ),
    "SubsampleAggregate, OpenVote": Subject(
        lambda r: SubsampleAggregate(FunctionFit(lambda x: str(above_one(x))), TEXT, OpenVote(20, 2.0, 1e-4), r),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 20),
        least=20,
    ),
}
