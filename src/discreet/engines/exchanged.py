"""What engines share of what they keep: of an exchange, whose parts are cut into segments, one for each bucket, and
of parts that are prepared once for the many passes of a question.

What is kept goes from worker to worker as a pickle. The driver of a cluster never reads it.
"""

import pickle
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from discreet.engines.retried import Done, persistent
from discreet.errors import BadInput

Segments = list[bytes | None]  # None of a part that failed
ROOM: Final = 2**31  # bytes of prepared rows that an engine keeps at most, unless told otherwise
LINE: Final = 64  # bytes: arrays begin where the processor likes them to


def check_room(room: object) -> None:
    """Refuse what is no number of bytes."""
    if not isinstance(room, int) or isinstance(room, bool) or room < 0:
        raise BadInput(f"room is {room!r}; give the bytes of prepared rows to keep at most, such as 2**31; 0 for none")


@dataclass(frozen=True, slots=True)
class Bucket:
    """What was made of a bucket, as a part: an engine folds buckets as it folds the parts that they came from."""

    number: int
    raw: bytes

    def read(self) -> Iterator[Any]:
        """The one thing that was made; it raises if making it failed."""
        done: Done | None = unpacked(self.raw)
        if done is None:
            raise ValueError("no bucket")
        yield done.found


def segments_of(cut: Callable[[Any], list[bytes]], buckets: int, part: Any) -> Segments:
    """On a worker: the segments of a part."""
    done = persistent(cut, part)
    return [None] * buckets if done is None else list(done.found)


def made_of(make: Callable[[list[bytes]], Any], segments: Segments) -> bytes:
    """On a worker: what is kept of a bucket, as bytes."""
    return packed(persistent(partial(_of_all, make), segments))


def kept_of(make: Callable[[Any], Any], part: Any) -> bytes:
    """On a worker: what is kept of a part, as bytes."""
    return packed(persistent(make, part))


def packed(done: Done | None) -> bytes:
    """A pickle, and the numbers of its arrays after it. Of an array that is read back nothing is copied.

    >>> unpacked(packed(Done([1.5])))
    Done(found=[1.5])
    """
    arrays: list[memoryview] = []

    def beside(array: pickle.PickleBuffer) -> bool:
        try:
            arrays.append(array.raw())
        except BufferError:  # not in one piece
            return True
        return False

    parts: list[Any] = [memoryview(pickle.dumps(done, protocol=5, buffer_callback=beside)), *arrays]
    sizes = [part.nbytes for part in parts]
    head = struct.pack(f"<{len(sizes) + 1}q", len(sizes), *sizes)
    return b"".join(piece for part in (head, *parts) for piece in (part, bytes(-memoryview(part).nbytes % LINE)))


def unpacked(raw: bytes) -> Done | None:
    """What was packed; its arrays cannot be written to."""
    (many,) = struct.unpack_from("<q", raw)
    sizes, place, parts = struct.unpack_from(f"<{many}q", raw, 8), 8 * (many + 1), []
    for size in sizes:
        place += -place % LINE
        parts.append(memoryview(raw)[place : place + size])
        place += size
    found: Done | None = pickle.loads(parts[0], buffers=parts[1:])  # noqa: S301  made by our own kernel
    return found


def _of_all(make: Callable[[list[bytes]], Any], segments: Segments) -> Any:
    whole = [one for one in segments if one is not None]
    if len(whole) < len(segments):
        raise ValueError("a part failed")
    return make(whole)
