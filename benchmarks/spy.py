"""An estimator for a sandbox that looks beyond the rows it is given: at whatever its callers hold."""

import hashlib
import pickle
import sys
from types import FrameType
from typing import Any


def spy(x: Any) -> float:
    """A number that depends on the rows, and on all of the block that its callers can see."""
    held = [x]
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    while frame is not None:
        block = frame.f_locals.get("block")
        held += [getattr(block, name, None) for name in ("x", "y", "people")]
        frame = frame.f_back
    return int.from_bytes(hashlib.blake2b(pickle.dumps(held), digest_size=6).digest(), "big") / 2**48
