"""Spark, by DataFrame.mapInArrow alone: Spark Connect and serverless clusters have no RDD. Alone speaks to Spark.

Spark sees names of columns and pickled kernels. Filters are applied within a kernel: no literal of theirs stands in a
query plan or an event log. What a kernel raises ends on its worker.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, TypeVar
from weakref import finalize

from discreet.engines.exchanged import ROOM, Bucket, check_room, kept_of, made_of, segments_of
from discreet.engines.messages import received, sent
from discreet.engines.retried import LOST, TRIES, Done, folded, sealed
from discreet.engines.spark_watch import watched
from discreet.errors import BadInput
from discreet.privacy.exact import is_number

R = TypeVar("R")
SCHEMA: Final = "number long, found binary"
SEGMENTS: Final = "bucket long, segment binary"
LONG: Final = 2**26  # bytes of an entry: of a longer one Java, and Arrow, have their limits
JAVA: Final = 17
LIMIT: Final = 600.0
LONGEST: Final = 1e6  # seconds
NONE: Final = (
    "Spark ran no task within {:g} seconds: it has no executor that is free; start some, or give Spark(session, "
    "limit=...) more seconds, then ask again"
)
CLOSED: Final = {  # of a session that is started here
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.log.level": "ERROR",
}
HERE: Final = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


@dataclass(frozen=True, slots=True)
class Spark:
    """A cluster of Spark, by a session of pyspark 4 or newer, of Spark Connect too.

    `limit` is how many seconds may pass in which no task ends: first an empty one, before anything is charged; later
    those that work on parts, which then count as failed and are worked on again, three times in all. Spark itself waits
    for executors for as long as there are none. `room` is how many bytes of prepared rows all executors together keep
    at most until an answer is there.

    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> session = discreet.open(spark.table("visits"), budget=2.0, ledger="visits.ledger")  # doctest: +SKIP
    """

    session: Any
    limit: float = LIMIT
    room: int = ROOM
    ready: list[bool] = field(default_factory=list, repr=False, compare=False)  # one entry, when an executor answered

    def __post_init__(self) -> None:
        check_room(self.room)
        if not (is_number(self.limit) and 0 < self.limit <= LONGEST):
            raise BadInput(
                f"limit is {self.limit!r}; give the seconds to wait for an executor, above 0 and at most {LONGEST:.0f}"
            )
        if not all(callable(getattr(self.session, name, None)) for name in ("range", "createDataFrame")):
            raise BadInput(
                f"the session is of type {type(self.session).__name__}; give a pyspark.sql.SparkSession that is started"
            )
        if int(re.match(r"\d*", str(self.session.version))[0] or 0) < 4:  # type: ignore[index]
            raise BadInput(f"this Spark is version {self.session.version}; 4 or newer is needed")

    @classmethod
    def at(cls, address: str) -> "Spark":
        """A session at a master ("spark://host:7077", "local[2]"), or at a server of Spark Connect ("sc://host")."""
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise BadInput("Spark is not installed; pip install 'discreet[spark]'") from None
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers' Python must be the driver's
        if address.startswith("sc://"):
            builder = SparkSession.builder.remote(address)
        else:
            check_java()
            builder = SparkSession.builder.master(address)
            for name, value in (CLOSED | (HERE if address.startswith("local") else {})).items():
                builder = builder.config(name, value)
        try:
            return cls(builder.getOrCreate())
        except BadInput:
            raise
        except Exception:  # noqa: BLE001  a page of Java
            raise BadInput(f"no Spark answers at {address}; check the address, as in spark://host:7077") from None

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """function(item) of each item, in order; None where that failed."""
        todo = list(items)
        self.wait()
        found = dict(self._run(function, todo, list(range(len(todo)))))
        return [None if done is None else done.found for done in map(found.get, range(len(todo)))]

    def fold(self, kernel: Callable[[Any], R], merge: Callable[[R, R], R], parts: Any) -> R | None:
        """The kernel of every part, merged; of a frame a partition is a part. [retried.1]"""
        self.wait()
        if not isinstance(parts, _Partitions | _Kept):
            todo = list(parts)
            return folded(partial(self._run, kernel, todo), len(todo), merge)
        for _ in range(TRIES):  # its partitions have no names: if one failed, all are worked on again
            found = self._collected(parts.frame, partial(_each, parts.read, partial(sealed, kernel)))
            if found is not None and None not in found.values():
                done = [one.found for one in found.values() if one is not None]
                return reduce(merge, done) if done else None
        raise BadInput(LOST)

    def exchange(
        self, cut: Callable[[Any], list[bytes]], make: Callable[[list[bytes]], Any], parts: Any, buckets: int
    ) -> "_Kept":
        """What `make` makes of the segments of each bucket, which `cut` cuts parts into: kept on the executors.

        Spark brings segments of a bucket together, in any order. An executor that is lost takes what it kept with it;
        Spark makes it again of the same parts.
        """
        self.wait()
        frame, read = self._asked(parts)
        cutting = partial(_cut, read, partial(segments_of, cut, buckets))
        together = frame.mapInArrow(cutting, SEGMENTS).repartition(buckets, "bucket")
        return _Kept.of(together.mapInArrow(partial(_made, partial(made_of, make)), SCHEMA))

    def keep(self, make: Callable[[Any], Any], parts: Any) -> "_Kept | None":
        """What `make` makes of each partition of a frame: kept in the executors' memory alone, as parts. What does not
        fit there, or is lost with an executor, Spark makes again when it is asked for. Files are read by our own
        readers, sooner than Java hands over what it holds: nothing is kept of them."""
        from pyspark import StorageLevel

        if not isinstance(parts, _Partitions | _Kept):
            return None
        frame, read = parts.frame, parts.read
        return _Kept.of(
            frame.mapInArrow(partial(_remade, read, partial(kept_of, make)), SCHEMA), StorageLevel.MEMORY_ONLY
        )

    def drop(self, kept: "_Kept") -> None:
        """Let go of what was kept."""
        _let_go(kept.frame)

    def opened(self, frame: Any) -> "_Frame | None":
        """A data frame of Spark, ready to be read in parts; None for anything else."""
        if not (is_spark(frame) and hasattr(frame, "mapInArrow")):
            return None
        self.wait()  # before anything is charged
        return _Frame(frame, self)

    def wait(self) -> None:
        """Until an executor has run an empty task, once; BadInput if none does within the limit."""
        if self.ready:
            return
        if not watched(self.session, self.limit, partial(_probed, self.session)):
            raise BadInput(NONE.format(self.limit))
        self.ready.append(True)

    def _run(
        self, kernel: Callable[[Any], Any], todo: list[Any], numbers: list[int]
    ) -> Iterator[tuple[int, Done | None]]:
        if not numbers:
            return
        asked, read = self._asked([todo[number] for number in numbers])
        found = self._collected(asked, partial(_each, read, partial(sealed, kernel))) or {}
        for place, number in enumerate(numbers):
            yield number, found.get(place)

    def _collected(self, frame: Any, work: Callable[[Iterator[Any]], Iterator[Any]]) -> dict[int, Done | None] | None:
        """What each part gave, by number, each once; None if Spark gave up, or was given up. [retried.1]"""
        done = watched(self.session, self.limit, lambda: frame.mapInArrow(work, SCHEMA).toArrow())
        if done is None:
            return None
        found: dict[int, Done | None] = {}
        for number, raw in zip(*(done.found.column(place).to_pylist() for place in (0, 1)), strict=True):
            if found.get(number) is None:  # [retried.1]
                found[number] = received(raw)
        return found

    def _asked(self, parts: Any) -> tuple[Any, "Read"]:
        """A frame whose rows or partitions stand for parts, and how a worker reads these."""
        if isinstance(parts, _Partitions | _Kept):
            return parts.frame, parts.read
        items = list(parts)
        return self.session.range(0, len(items), 1, len(items)), partial(_items, items)


def _probed(session: Any) -> None:
    """An empty task; that it fails says that something answers, and the pass itself will say what."""
    with suppress(Exception):  # a page of Java
        session.range(0, 1, 1, 1).count()


def is_spark(frame: Any) -> bool:
    """Whether it is of pyspark, Connect or not."""
    return type(frame).__module__.partition(".")[0] == "pyspark"


def check_java() -> None:
    """Refuse to start Spark without the Java that it needs."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    said = ""
    if program:
        try:
            said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
        except OSError:
            said = ""
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if version is None or int(version[1]) < JAVA:
        seen = "none was found" if version is None else f"the one that was found is Java {version[1]}"
        raise BadInput(
            f"Spark needs Java {JAVA} or newer, and {seen}; install it (on Debian: apt install "
            f"openjdk-{JAVA}-jre-headless) and set JAVA_HOME, or connect to a server by sc://host:15002, for which no "
            "Java is needed here"
        )


@dataclass(frozen=True, slots=True)
class _Frame:
    """A data frame of Spark."""

    frame: Any
    engine: Spark
    description = "a Spark data frame"

    @property
    def empty(self) -> Any:
        """A table of no rows, with the same columns."""
        from pyspark.sql.pandas.types import to_arrow_schema

        return to_arrow_schema(self.frame.schema).empty_table()

    def size(self) -> int:
        """Counted there."""
        done = watched(self.engine.session, self.engine.limit, self.frame.count)
        if done is None:
            raise BadInput(LOST)
        return int(done.found)

    def parts(self, columns: Iterable[str]) -> "_Partitions":
        """All partitions, of some columns."""
        return _Partitions(self.frame.select(*["`" + name.replace("`", "``") + "`" for name in columns]))


Read = Callable[[Iterator[Any]], Iterator[tuple[int, Any]]]  # the parts of a partition, and their numbers


@dataclass(frozen=True, slots=True)
class _Partitions:
    """The partitions of a frame: they cannot be asked for one by one."""

    frame: Any

    @property
    def read(self) -> Read:
        """A part each."""
        return _partition


@dataclass(frozen=True, slots=True, weakref_slot=True)
class _Kept:
    """Buckets that were made, a row each, as long as somebody has them."""

    frame: Any

    @classmethod
    def of(cls, frame: Any, *level: Any) -> "_Kept":
        """Made when they are first used, and kept then."""
        found = cls(frame.persist(*level))
        finalize(found, _let_go, found.frame).atexit = False
        return found

    @property
    def read(self) -> Read:
        """A part each."""
        return _buckets


def _let_go(frame: Any) -> None:
    with suppress(Exception):  # Spark may have stopped
        frame.unpersist()


@dataclass(frozen=True, slots=True)
class _Batches:
    """A partition, where it is."""

    number: int
    batches: Iterator[Any]

    def read(self) -> Iterator[Any]:
        """A batch each."""
        return self.batches


def _each(read: Read, work: Callable[[Any], Done | None], batches: Iterator[Any]) -> Iterator[Any]:
    for number, part in read(batches):
        yield _row(number, sent(work(part)))


def _items(items: list[Any], batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    for batch in batches:
        for place in batch.column(0).to_pylist():
            yield place, items[place]


def _partition(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    from pyspark import TaskContext

    context: Any = TaskContext.get()
    number = context.partitionId()
    yield number, _Batches(number, iter(batches))


def _buckets(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    for number, pieces in groupby(_pairs(batches), itemgetter(0)):
        yield number, Bucket(number, b"".join(raw for _, raw in pieces))


def _cut(read: Read, work: Callable[[Any], list[bytes | None]], batches: Iterator[Any]) -> Iterator[Any]:
    for _, part in read(batches):
        for bucket, segment in enumerate(work(part)):
            yield _row(bucket, segment, ("bucket", "segment"))


def _remade(read: Read, work: Callable[[Any], bytes], batches: Iterator[Any]) -> Iterator[Any]:
    for number, part in read(batches):
        raw = work(part)
        yield from (_row(number, raw[start : start + LONG]) for start in range(0, len(raw), LONG))


def _made(make: Callable[[list[bytes | None]], bytes], batches: Iterator[Any]) -> Iterator[Any]:
    """What is made of each bucket of a partition, which may have several, or none."""
    segments: dict[int, list[bytes | None]] = {}
    for bucket, segment in _pairs(batches):
        segments.setdefault(bucket, []).append(segment)
    for bucket in sorted(segments):
        yield _row(bucket, make(segments.pop(bucket)))


def _pairs(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    for batch in batches:
        for place in range(batch.num_rows):
            yield batch.column(0)[place].as_py(), batch.column(1)[place].as_py()


def _row(number: int, raw: bytes | None, names: tuple[str, str] = ("number", "found")) -> Any:
    import pyarrow as pa  # noqa: TID251  mapInArrow takes and gives Arrow's batches

    return pa.RecordBatch.from_arrays([pa.array([number], pa.int64()), pa.array([raw], pa.binary())], names=list(names))
