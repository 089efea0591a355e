"""Evidence: audits for our mechanisms and for yours, and the worlds to run them in."""

from discreet.audit.check import Verdict, check
from discreet.audit.coverage import Coverage, coverage
from discreet.audit.distinguish import Distinguished, distinguish
from discreet.audit.meter import drawn
from discreet.audit.replay import replay
from discreet.audit.replicate import Replicated, replicate
from discreet.audit.shame import NameAndShame
from discreet.audit.worlds import Pair, labels, numbers, truths

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
