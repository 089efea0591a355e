"""Evidence: audits for our mechanisms and for yours, and the worlds to run them in."""

from discreet.audit.distinguish import (
    Coverage,
    Distinguished,
    Replicated,
    Verdict,
    check,
    coverage,
    distinguish,
    replicate,
)
from discreet.audit.replay import drawn, replay
from discreet.audit.worlds import NameAndShame, Pair, labels, numbers, truths

__all__ = [
    "Coverage",
    "Distinguished",
    "NameAndShame",
    "Pair",
    "Replicated",
    "Verdict",
    "check",
    "coverage",
    "distinguish",
    "drawn",
    "labels",
    "numbers",
    "replay",
    "replicate",
    "truths",
]
