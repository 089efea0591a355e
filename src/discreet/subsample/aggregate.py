"""Subsample and aggregate: fit anything on disjoint blocks of people, and combine the estimates privately.

Releases
    What the aggregator releases of the blocks' estimates, in the estimator's own shape. Nothing else: no block's
    estimate, no error of the estimator, not which or how many blocks gave none (but for a paid noisy number).
Promise
    [aggregate.1] As private for a person as the aggregator is for one estimate: the aggregator's epsilon and delta,
          under REPLACE and under ADD_OR_REMOVE, for all rows of a person if `people` tells whose they are.
    [aggregate.2] The shape of the answer, the number of blocks, the aggregator, the bias correction and every refusal
          before the first draw are decided by parameters, the schema and the public number of people.
    [aggregate.3] trust="own": the promise holds if the estimator keeps nothing between blocks and reads nothing but the
          rows it is given. trust="sandbox": it holds for any code, up to what sandbox/sandbox.py says it does not
          cover.
Why
    [aggregate.1] One person's data change the content of one block: [partition.1], [partition.2], [partition.3]. Its
    row is a function of its content, its number and the estimator alone: [run_block.1], [run_block.2], [batched.1] of
    subsample/batched.py. So the k rows differ in one row between neighbours, and k is public: REPLACE for the
    aggregator, whatever the relation is for people. The shuffle is independent of the data, so averaging over it keeps
    the promise. A block that takes its process down takes others of its task with it; they are run again, each in a new
    process of its own, with the same rows as before, and only those that crash alone have no estimate. (An estimator
    that crashes at random, whatever its rows, keeps something between blocks in the sense of [aggregate.3].)
    [aggregate.2] Nothing else is read: see subsample/block_plan.py and subsample/returned.py.
    [aggregate.3] With own code the blocks of a task share a process. In a sandbox each has its own; raw bytes come
    back: [run_block.3].
Needs
    Enough people: blocks.plan says how many, and refuses otherwise.
Accuracy
    See the aggregators; the interval is for the population if the bias within blocks is small against it. A function of
    several numbers on few people has smaller blocks (`small`), and its interval names the mean of the estimate over
    samples of that size: of 5,000 people at epsilon 1, three numbers of three real tables, .92 to .98 held it (100 runs
    each, estimates of 9 people).
Source
    Nissim, Raskhodnikova and Smith 2007; Smith 2011; Mohan et al. 2012 (GUPT) for fixed slots of time.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.engines.local import Local, hushed, silence
from discreet.errors import BadInput, Refused
from discreet.privacy.exact import is_number
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.intervals import check_confidence
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Mechanism, Randomness, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample.batched import MANY, Fast, batched
from discreet.subsample.block_exchange import FarBlocks, FarTable, blocks_of
from discreet.subsample.block_plan import BlockPlan, compared, expected_width
from discreet.subsample.block_table import BlockTable
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.estimators import Fit, SourceFit
from discreet.subsample.friendly_aggregate import BlockFriends
from discreet.subsample.partition import Blocks, units
from discreet.subsample.remaining_bias import RemainingBias, allowing_for_lost
from discreet.subsample.returned import Shape, ShapedSpread, texts
from discreet.subsample.run_block import Correct, block_row, opened, passing_on_interrupts
from discreet.tables.streams import Engine

PARTS: Final = ("guarantee", "loss", "release", "blocks")  # of an aggregator
LONGEST: Final = 1e6  # seconds: more than a week for one block is a slip
UNREAD: Final = b""  # what comes back of blocks whose rows cannot be had
CHUNKS: Final = 16  # tasks a run: one task a block costs more than the fits
Floats = npt.NDArray[np.float64]
Trust = Literal["own", "sandbox"]


@dataclass(frozen=True, slots=True)
class SubsampleAggregate:
    """Any estimator on `blocks` blocks, its estimates combined by `aggregator`, a mechanism whose rows are estimates.

    >>> from discreet.subsample.coordinatewise import BlockMean
    >>> from discreet.subsample.estimators import FunctionFit
    >>> from discreet.noise.randomness import Seeded
    >>> fit = SubsampleAggregate(FunctionFit(np.median), Shape("number", ("value",)), BlockMean(200, 1, epsilon=2.0))
    >>> 45 < fit.release([float(k % 100) for k in range(20000)], Seeded(1)).value < 55
    True
    """

    fit: Fit
    shape: Shape
    aggregator: Mechanism[Any]
    _: KW_ONLY
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    correct: Correct = None
    engine: Engine | None = None
    trust: Trust = "own"
    sandbox: Sandbox | None = None
    seconds: float | None = None
    vectorised: bool = True
    confidence: float = 0.95
    small: int = 0  # people a block, where these are too few to speak of the bias

    def __post_init__(self) -> None:
        check_aggregator(self.aggregator, self.shape)
        check_seconds(self.seconds)
        check_trust(self.trust, self.sandbox, self.seconds)
        check_engine(self.engine)
        check_confidence(self.confidence)
        if isinstance(self.fit, SourceFit) and self.trust != "sandbox":
            raise BadInput("a function from a file runs in a sandbox; leave trust out, or give trust='sandbox'")
        if self.trust == "sandbox":
            self.box  # noqa: B018  refuses seconds that no sandbox takes

    @property
    def box(self) -> Sandbox:
        """The limits of each block in a sandbox."""
        if self.sandbox is not None:
            return self.sandbox
        return Sandbox() if self.seconds is None else Sandbox(seconds=self.seconds)

    @property
    def blocks(self) -> int:
        """How many blocks: public."""
        return int(self.aggregator.blocks)  # type: ignore[attr-defined]

    @property
    def parts(self) -> int:
        """How many parts a block comes in: quarters, where what is left of the bias is told besides the estimate."""
        return 4 if isinstance(self.aggregator, RemainingBias) else 2

    @property
    def guarantee(self) -> Guarantee:
        """The aggregator's, for people. [aggregate.1]"""
        inner = self.aggregator.guarantee
        return Guarantee(inner.epsilon, inner.delta, self.neighbours, self.unit)  # [aggregate.1]

    @property
    def loss(self) -> Loss:
        """The aggregator's: the rest is free. [aggregate.1]"""
        return self.aggregator.loss

    def plan(self, rows: Any) -> BlockPlan:
        """What will be done with a table of this schema and public size. [aggregate.2]"""
        table = BlockTable.of(rows)
        fast = self._fast(table)
        if self.correct == "firth" and fast is None:
            raise BadInput("bias_correction is 'firth', which this estimator, table or sandbox has no fast path for")
        path = "sandboxed processes" if self.trust == "sandbox" else fast.name if fast else "one fit a block"
        numeric = self.shape.kind in ("number", "array", "named")
        return BlockPlan(
            blocks=self.blocks,
            people=units(table, self.neighbours),
            aggregator=_called(self.aggregator),
            correct=self.correct,
            width=self.shape.width if numeric else 1,
            wider=expected_width(self.aggregator),
            path=path,
            why=compared(self.aggregator),
            reach=self.aggregator.reach if isinstance(self.aggregator, RemainingBias) else None,
            small=self.small,
        )

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many people do not fill the blocks, or so many blocks do not do.
        [aggregate.2]"""
        if size is not None and size < self.blocks:
            raise Refused(f"{size} people do not fill {self.blocks} blocks; ask for fewer blocks")
        if hasattr(self.aggregator, "check"):
            self.aggregator.check(self.blocks)

    def check_machine(self) -> None:
        """NoSandbox where this machine cannot make the sandbox asked for: no row is needed to know it."""
        if self.trust == "sandbox" and isinstance(self.fit, SourceFit):
            _there(replace(self.box, seconds=1.0))  # what a machine can is known without starting anybody's code
        elif self.trust == "sandbox":
            with opened(self.box, self.fit):
                pass

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The combined estimate, or a refusal."""
        table: BlockTable | FarTable = rows if isinstance(rows, FarTable) else BlockTable.of(rows)
        plan = self.plan(table.schema)
        if (refusal := refusal_of(self, plan.people)) is not None:  # [aggregate.2]
            history = Provenance(type(self.aggregator).__name__, {"blocks": self.blocks}, rng.secure)
            return self._signed(Release(self.guarantee, history, refusal=refusal), plan)
        found = self.estimates(table, rng)
        votes = texts(found) if self.shape.kind == "text" else found
        inner = self.aggregator.release(votes, rng)  # [aggregate.1]
        mean = self.aggregator.mean if isinstance(self.aggregator, RemainingBias) else self.aggregator
        if isinstance(mean, BlockMean | BlockFriends):
            inner = allowing_for_lost(inner, mean)
        return self._signed(inner, plan)

    def estimates(self, table: BlockTable | FarTable, rng: Randomness) -> Floats:
        """One row a block, NaN where there is none. Never released: the aggregator's private rows. [aggregate.1]"""
        if self.trust == "own":
            return self._trusted(blocks_of(table, self.blocks, self.neighbours, rng, self.parts))  # [aggregate.1]
        with opened(self.box, self.fit, table.schema) as cells:  # or refused, before anything is drawn
            blocks = blocks_of(table, self.blocks, self.neighbours, rng, self.parts)
            return cells.rows(self.shape, blocks, self.correct)  # [aggregate.3]

    def _trusted(self, blocks: Blocks | FarBlocks) -> Floats:
        if isinstance(blocks, FarBlocks) and blocks.there is not None:
            return self._there(blocks)
        fast = self._fast(blocks.table)
        here = fast is not None and (fast.closed or blocks.count < MANY)  # public: [aggregate.2]
        engine = None if here else self.engine
        if fast is not None and engine is None and isinstance(blocks, Blocks):
            return self._at_once(fast, blocks, 0, blocks.count)

        every = np.arange(blocks.count)
        even = [part.tolist() for part in np.array_split(every, min(CHUNKS, blocks.count))]
        chunks = even if isinstance(blocks, Blocks) else blocks.tasks  # [block_exchange.1]
        return self._collected(blocks, chunks, fast, engine)

    def _there(self, blocks: FarBlocks) -> Floats:
        """The rows of blocks that are on an engine: fitted there, and brought here. [block_exchange.1]"""
        local = self.engine if isinstance(self.engine, Local) else Local()
        sent = replace(self, engine=replace(local, workers=1, progress=False))  # a block may crash: it does so alone
        found = np.concatenate([np.frombuffer(raw) for raw in blocks.each(sent.task_rows)])
        return found.reshape(blocks.count, -1)

    def task_rows(self, blocks: FarBlocks, chunk: list[int]) -> bytes:
        """On a worker: the rows of a task's blocks."""
        fast = self._fast(blocks.table)
        here = fast is not None and (fast.closed or blocks.count < MANY)
        return self._collected(blocks, [chunk], fast, None if here else self.engine)[chunk].tobytes()

    def _collected(
        self, blocks: Blocks | FarBlocks, chunks: list[list[int]], fast: Fast | None, engine: Engine | None
    ) -> Floats:
        """The rows of some chunks of blocks, each once; of others NaN."""

        def work(chunk: Sequence[int]) -> bytes:
            try:
                blocks.within(chunk[0], chunk[-1] + 1)
            except Exception:  # noqa: BLE001  it may tell of the data, and no block is to blame
                return UNREAD
            if fast is not None:
                return self._at_once(fast, blocks, chunk[0], chunk[-1] + 1).tobytes()
            with hushed():
                return b"".join(self._row(blocks, number).tobytes() for number in chunk)

        rows = np.full((blocks.count, self.shape.width * self.parts // 2), np.nan)
        with passing_on_interrupts():
            lost = _collect(engine, rows, chunks, work)
            for number in (number for chunk in lost for number in chunk):
                _collect(engine, rows, [[number]], work)  # [aggregate.1]: each in a process of its own
        return rows

    def _at_once(self, fast: Fast, blocks: Blocks | FarBlocks, first: int, last: int) -> Floats:
        """The rows of some blocks by the fast path; if it fails on all, of each half, so that a block fails alone."""
        near, start, stop = blocks.within(first, last)
        try:
            with silence():
                return fast.rows(near, self.correct, start, stop)
        except Exception:  # noqa: BLE001  [aggregate.1]: what it says is of the data
            if last - first == 1:
                return np.full((1, self.shape.width * self.parts // 2), np.nan)
        middle = (first + last) // 2
        return np.concatenate([self._at_once(fast, blocks, *ends) for ends in ((first, middle), (middle, last))])

    def _row(self, blocks: Blocks | FarBlocks, number: int) -> Floats:
        block, _ = blocks.block(number)  # [aggregate.1]
        cuts = blocks.cuts(number)
        return block_row(self.fit, self.shape, block, cuts, number=number, correct=self.correct, seconds=self.seconds)

    def _fast(self, table: BlockTable) -> Fast | None:
        if self.trust == "sandbox" or not self.vectorised:
            return None
        return batched(self.fit, self.shape, table.x, table.y, self.correct)

    def _signed(self, inner: Release[Any], plan: BlockPlan) -> Release[Any]:
        """The aggregator's release, in the estimator's shape and with the history of both."""
        trust = {
            "own": "own: the estimator was trusted to keep nothing between blocks",
            "sandbox": "sandbox: each block ran in a process of its own",
        }
        shown = dict(inner.provenance.parameters) | {
            "estimator": self.fit.name,
            "neighbours": self.neighbours,
            "people": plan.people,
            "people a block": plan.size,
            "aggregator": plan.aggregator,
            "bias_correction": self.correct,
            "path": plan.path,
            "trust": trust[self.trust],
        }
        crowd = self.box.note if self.trust == "sandbox" else None
        notes = (*inner.provenance.notes, *(f"assumes that {one}" for one in plan.assumptions), *filter(None, [crowd]))
        provenance = replace(inner.provenance, mechanism="SubsampleAggregate", parameters=shown, notes=notes)
        release = replace(inner, guarantee=self.guarantee, provenance=provenance, name=self.fit.name)
        if inner.refusal is not None:
            return release
        shown_at = getattr(self.aggregator, "confidence", self.confidence)
        spread = None if inner.spread is None else ShapedSpread(inner.spread, self.shape.value, shown_at, plan.about)
        return replace(release, answer=self.shape.value(inner.value), spread=spread)


def _collect(
    engine: Engine | None, rows: Floats, chunks: list[list[int]], work: Callable[[Sequence[int]], bytes]
) -> list[list[int]]:
    """Fill in what comes back, every block once; return the chunks that were lost."""
    done = engine.map(work, chunks) if engine is not None else [work(chunk) for chunk in chunks]
    lost = []
    for chunk, raw in zip(chunks, done, strict=True):
        if raw is None:
            lost.append(chunk)
        elif raw == UNREAD:
            raise BadInput("rows that were put aside cannot be read again; ask again when there is room for them")
        else:
            rows[chunk] = np.frombuffer(raw, dtype=np.float64).reshape(len(chunk), -1)
    return lost


def _called(aggregator: Any) -> str:
    aggregator = aggregator.mean if isinstance(aggregator, RemainingBias) else aggregator
    names = {
        "BlockMean": "mean",
        "BlockMedian": "median",
        "BlockFriends": "friendly",
        "Vote": "vote",
        "OpenVote": "vote",
    }
    name = names.get(type(aggregator).__name__, type(aggregator).__name__)
    return "coordinatewise" if name == "mean" and getattr(aggregator, "width", 1) > 1 else name


@lru_cache(maxsize=16)
def _there(box: Sandbox) -> None:
    """NoSandbox where this machine cannot make such a sandbox; where it can, that stays so."""
    with opened(box, SourceFit("def f(x):\n    return 0.0", "f")):
        pass


def check_seconds(seconds: object) -> None:
    """A positive number, or none."""
    if seconds is not None and not (is_number(seconds) and 0 < seconds <= LONGEST):  # type: ignore[operator]
        raise BadInput(f"timeout is {seconds!r}; give how many seconds a block may take, above 0, or None for no limit")


def check_engine(engine: object) -> None:
    """Something that maps and folds."""
    if engine is not None and not all(callable(getattr(engine, name, None)) for name in ("map", "fold")):
        raise BadInput(
            f"engine is {engine!r}; give what has map and fold, for example Local(workers=2), or leave it out"
        )


def check_trust(trust: object, sandbox: object, seconds: object = None) -> None:
    """One of the two, and limits of a sandbox only where there is one."""
    if not (isinstance(trust, str) and trust in ("own", "sandbox")):
        raise BadInput(f"trust is {trust!r}; give 'own' for code that you wrote or read, or 'sandbox'")
    if sandbox is not None and not isinstance(sandbox, Sandbox):
        raise BadInput(f"sandbox is {sandbox!r}; give its limits as Sandbox(seconds=1.0), or leave it out")
    if sandbox is not None and trust == "own":
        raise BadInput("sandbox is given, but trust is 'own', which runs without one; leave one of the two out")
    if sandbox is not None and seconds is not None:
        raise BadInput(f"timeout is {seconds!r}, and a sandbox has its own; give Sandbox(seconds={seconds!r}) alone")


def check_aggregator(aggregator: Any, shape: Shape) -> None:
    """A mechanism whose rows are estimates of this shape, and which hides what one of them is."""
    missing = [name for name in PARTS if not hasattr(aggregator, name)]
    if missing or not callable(aggregator.release):
        raise BadInput(
            f"aggregator is {aggregator!r}, which has no {', '.join(missing) or 'method release'}; give a mechanism "
            "whose rows are estimates, for example BlockMean(400, 1, epsilon=1.0), or the name of one"
        )
    blocks = aggregator.blocks
    if isinstance(blocks, bool) or not isinstance(blocks, int | np.integer) or blocks < 1:
        raise BadInput(f"the aggregator is made for {blocks!r} blocks; it must be a whole number, 1 or more")
    if not aggregator.guarantee.neighbours.size_is_public:
        raise BadInput("the aggregator hides whether one estimate is there; it must hide what one estimate is")
    width = getattr(aggregator, "width", shape.width)
    if shape.kind in ("number", "array", "named") and width != shape.width:
        raise BadInput(
            f"the aggregator is made for {width} numbers, but the estimator returns {shape.width}; make one for those"
        )
    labels = getattr(aggregator, "labels", len(shape.labels))
    if shape.kind == "label" and labels != len(shape.labels):
        raise BadInput(f"the aggregator is made for {labels} labels, but {len(shape.labels)} are listed; list as many")
