"""What engines share of an exchange: parts are cut into segments, and a bucket is made of one segment of each part.

What is kept of a bucket goes from worker to worker as a pickle, and is never read by the driver.
"""

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from discreet.engines.retried import Done, persistent

Segments = list[bytes | None]  # None of a part that failed


@dataclass(frozen=True, slots=True)
class Bucket:
    """What was made of a bucket, as a part: an engine folds buckets as it folds the parts that they came from."""

    number: int
    raw: bytes

    def read(self) -> Iterator[Any]:
        """The one thing that was made; it raises if making it failed."""
        done: Done | None = pickle.loads(self.raw)  # noqa: S301  made by our own kernel
        if done is None:
            raise ValueError("no bucket")
        yield done.found


def segments_of(cut: Callable[[Any], list[bytes]], buckets: int, part: Any) -> Segments:
    """On a worker: the segments of a part."""
    done = persistent(cut, part)
    return [None] * buckets if done is None else list(done.found)


def made_of(make: Callable[[list[bytes]], Any], segments: Segments) -> bytes:
    """On a worker: what is kept of a bucket, as bytes."""
    return pickle.dumps(persistent(partial(_of_all, make), segments), protocol=5)


def _of_all(make: Callable[[list[bytes]], Any], segments: Segments) -> Any:
    whole = [one for one in segments if one is not None]
    if len(whole) < len(segments):
        raise ValueError("a part failed")
    return make(whole)
