"""FriendlyCore: find the rows that agree with each other, wherever they are, and answer from those."""

from discreet.friendly.average import Centre
from discreet.friendly.core import Core, Pairwise, Predicate, Within, match_core, match_pairs
from discreet.friendly.find_centre import find_centre
from discreet.friendly.friendly_mean import FriendlyMean
from discreet.friendly.refine import RefinedMean
from discreet.friendly.taper import TaperSum
from discreet.friendly.tuples import TupleCore, TupleWithin, find_tuple
from discreet.friendly.weights import Friendly, Retained, friendly, friendly_weights

__all__ = [
    "Centre",
    "Core",
    "Friendly",
    "FriendlyMean",
    "Pairwise",
    "Predicate",
    "RefinedMean",
    "Retained",
    "TaperSum",
    "TupleCore",
    "TupleWithin",
    "Within",
    "find_centre",
    "find_tuple",
    "friendly",
    "friendly_weights",
    "match_core",
    "match_pairs",
]
