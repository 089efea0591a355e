"""Other people's code on private rows: every attack that we know of, against a sandbox of an ordinary user."""

import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.sandbox import hostile
from tests.sandbox.hostile import ATTACKS, HEAD, TOOLS

import discreet
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.sandbox import sandbox
from discreet.sandbox.jail import ALLOWED, BIND, NEWNS, PRIVATE, REC, call, filters, libc, mount
from discreet.sandbox.sandbox import Keeper, NoSandbox, Program, Sandbox
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_table import BlockTable
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.estimators import FunctionFit, SourceFit, adapted
from discreet.subsample.partition import Blocks, partition
from discreet.subsample.returned import Shape
from discreet.subsample.run_block import BlockCells, _message, block_row, opened, packed

NUMBER = Shape("number", ("value",))
BOX = Sandbox(seconds=0.25, memory=1 << 30, modules=TOOLS)
PATIENT = Sandbox(seconds=2.0, memory=1 << 30)
NEUTRAL = SourceFit(HEAD + "def f(x, y):\n    return 0.0\n", "f")


@lru_cache
def sandboxed() -> str:
    """Why there is no sandbox here; nothing if there is."""
    try:
        with opened(BOX, NEUTRAL):
            return ""
    except NoSandbox as error:
        return str(error)


needs_sandbox = pytest.mark.skipif(bool(sandboxed()), reason=sandboxed() or "there is a sandbox")


def blocks(victim: bool) -> Blocks:
    """Two blocks of four rows; the victim, if there, is in the first."""
    x = np.ones((8, 2))
    x[0, 0] = 666.0 if victim else 1.0
    return Blocks(BlockTable(x, np.zeros(8)), np.array([0, 2, 4, 6, 8]))


@pytest.fixture(scope="module")
def cells() -> Iterator[BlockCells]:
    with opened(BOX, NEUTRAL) as found:
        yield found


def rows_of(cells: BlockCells, fit: SourceFit, shape: Shape, some: Blocks, correct: Any = None) -> Any:
    """Rows of another estimator by the same keepers."""
    return replace(cells, estimator=packed(fit)).rows(shape, some, correct)


def unhurried(work: Callable[[Sandbox], Any], box: Sandbox = PATIENT, needed: slice = slice(None)) -> Any:
    """Rows, made again with more time while one that is needed is missing: a busy machine may be late, and a block
    that is spoilt is so every time."""
    for times in (1, 4, 16, 64):
        rows = work(replace(box, seconds=times * box.seconds))
        if not np.isnan(rows[needed]).any():
            break
    return rows


@needs_sandbox
@pytest.mark.claim("sandbox.1")
@pytest.mark.claim("run_block.3")
@pytest.mark.parametrize("name", list(ATTACKS))
def test_an_attack_is_contained(name: str, cells: BlockCells, capfd: pytest.CaptureFixture[str]) -> None:
    Path("/tmp/mark-5717").unlink(missing_ok=True)

    def attacked(box: Sandbox) -> Any:
        fit, some = SourceFit(HEAD + ATTACKS[name], "f"), blocks(victim=True)
        if box == BOX:
            return rows_of(cells, fit, NUMBER, some)
        with opened(box, NEUTRAL) as slower:
            return rows_of(slower, fit, NUMBER, some)

    rows = unhurried(attacked, BOX, slice(1, None))
    assert rows[1, 0] == 0.0, "the other block knows, or was spoilt"
    assert rows[0, 0] == 0.0 or np.isnan(rows[0, 0]), "the attack found what it wanted"
    if np.isnan(rows[0, 0]):
        assert rows[:1].tobytes() == np.full((1, 1), np.nan).tobytes()  # no payload
    assert cells.cells.keepers[0].alive
    assert cells.cells.keepers[0].process.poll() is None
    assert not Path("/tmp/mark-5717").exists()
    shown = capfd.readouterr()
    assert shown.out == shown.err == ""


def test_there_are_at_least_twenty_nine() -> None:
    assert len(ATTACKS) >= 29


@pytest.mark.parametrize(
    "name",
    ["file in /tmp", "global variables", "mutable defaults", "patched library", "environment", "import hooks"],
)
def test_attacks_work_where_they_are_not_contained(name: str) -> None:
    """The same code in one trusted process: if the attacks did nothing there, the test above would show nothing."""
    program = (
        f"import numpy as np\nscope = {{}}\nexec({HEAD + ATTACKS[name]!r}, scope)\n"
        "rows = np.ones((4, 2)); rows[0, 0] = 666\n"
        "scope['f'](rows, None); print(scope['f'](np.ones((4, 2)), None))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd="/tmp")
    Path("/tmp/mark-5717").unlink(missing_ok=True)
    assert done.stdout.strip() == "1.0"


@needs_sandbox
@pytest.mark.claim("sandbox.2")
def test_every_block_takes_the_same_time(cells: BlockCells) -> None:
    """By the keeper's own order of events: "done" never comes before the time is over, however early the child ends."""
    keeper = cells.cells.keepers[0]
    for source in ("def f(x, y):\n    return 0.0\n", "import os\ndef f(x, y):\n    os._exit(0)\n"):
        fit = SourceFit(source, "f")
        began = time.monotonic()
        keeper.begin(_message(packed(fit), NUMBER, blocks(victim=False), 0, None))
        assert select.select([keeper.control], [], [], 20)[0]
        assert time.monotonic() - began >= BOX.seconds * 0.99
        keeper.end(8)
        assert time.monotonic() - began >= (BOX.seconds + BOX.tidy) * 0.99


@needs_sandbox
def test_nothing_is_left_behind(cells: BlockCells) -> None:
    before = {entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    for name in ("fork bomb", "child left behind", "threads left behind"):
        rows_of(cells, SourceFit(HEAD + ATTACKS[name], "f"), NUMBER, blocks(victim=True))
    mine = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name not in before:
            try:
                status = (entry / "status").read_text()
            except OSError:
                continue
            if f"PPid:\t{cells.cells.keepers[0].process.pid}\n" in status:
                mine.add(entry.name)
    assert not mine


@needs_sandbox
@pytest.mark.claim("sandbox.1")
def test_same_rows_as_without_a_sandbox() -> None:
    generator = np.random.default_rng(0)
    table = BlockTable(generator.normal(size=(60, 2)), generator.normal(size=60))
    some = Blocks(table, np.array([0, 10, 20, 30, 40, 50, 60]))
    fit = SourceFit("import numpy\ndef f(x, y):\n    return numpy.linalg.lstsq(x, y, rcond=None)[0]\n", "f")
    shape = Shape("array", ("0", "1"), (2,))

    def seen_in(box: Sandbox) -> Any:
        with opened(box, NEUTRAL) as cells:
            return rows_of(cells, fit, shape, some, "half")

    seen = unhurried(seen_in)
    for number in range(3):
        start, middle, stop = some.bounds(number)
        alone = block_row(fit, shape, table.part(start, stop), middle - start, number=number, correct="half")
        assert seen[number].tobytes() == alone.tobytes()


@needs_sandbox
@pytest.mark.claim("sandbox.1")
def test_a_keeper_has_no_page_of_a_file(cells: BlockCells) -> None:
    """Nothing that a cell inherits is in the kernel's cache of files, whose state all processes share."""
    try:
        lines = Path(f"/proc/{cells.cells.keepers[0].process.pid}/maps").read_text().splitlines()
    except PermissionError:
        pytest.skip("another user's process cannot be looked at")
    assert len(lines) > 50
    assert [line for line in lines if line.split()[4] != "0"] == []


@needs_sandbox
@pytest.mark.claim("sandbox.1")
def test_what_an_estimator_loads_is_found_in_a_rehearsal() -> None:
    """No cell can read a library; what is imported late, by the estimator or by what it calls, is there all the
    same."""
    source = (
        "import colorsys\n"
        "def f(x, y):\n"
        "    from scipy import stats\n"
        "    import tabnanny, statistics\n"
        "    return float(stats.norm.cdf(0.0)) + statistics.mean(x['a']) * 0 + colorsys.rgb_to_yiq(0, 0, 0)[0]\n"
    )
    rows = pd.DataFrame({"a": np.arange(8.0), "b": ["x", "y"] * 4})
    some = Blocks(BlockTable(rows, np.zeros(8)), np.array([0, 2, 4, 6, 8]))

    def rehearsed(box: Sandbox) -> Any:
        with opened(box, SourceFit(source, "f"), some.table) as cells:
            return cells.rows(NUMBER, some, None)

    assert unhurried(rehearsed)[:, 0].tolist() == [0.5, 0.5]
    late = SourceFit("def f(x, y):\n    import colorsys\n    return 0.0\n", "f")
    with opened(PATIENT, NEUTRAL) as cells:  # not rehearsed, and no file to load it from
        assert np.isnan(rows_of(cells, late, NUMBER, blocks(victim=False))).all()


@needs_sandbox
@pytest.mark.parametrize("end", ["import os; os._exit(1)", "raise KeyboardInterrupt"])
def test_a_rehearsal_that_fails_is_none(end: str) -> None:
    """It has no say in whether there is a sandbox."""
    fit = SourceFit(f"def f(x, y):\n    if len(x) > 4: {end}\n    return 0.0\n", "f")

    def asked(box: Sandbox) -> Any:
        with opened(box, fit) as cells:
            return cells.rows(NUMBER, blocks(victim=False), None)

    assert unhurried(asked)[:, 0].tolist() == [0.0, 0.0]


@pytest.mark.claim("run_block.3")
@pytest.mark.parametrize("kind", ["string[pyarrow]", "string[python]", "object", "category"])
def test_a_block_is_sent_alone(kind: str) -> None:
    """A slice of a column may be packed with the whole column, as Arrow's own are; pandas' must not."""
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    texts = [f"<person {k}>" for k in range(40)]
    dtype: Any = pd.CategoricalDtype(texts) if kind == "category" else kind
    table = BlockTable(pd.DataFrame({"a": pd.Series(texts, dtype=dtype), "b": np.arange(40.0) + 0.1}))
    some = partition(table, 4, Neighbours.REPLACE, Seeded(0))
    sent = _message(b"", NUMBER, some, 1, None)
    start, _, stop = some.bounds(1)
    own = set(some.table.part(start, stop).x["b"])
    for place in range(40):
        number = float(place) + 0.1
        assert (np.float64(number).tobytes() in sent) == (number in own)
        if kind != "category":  # categories are public
            assert (f"<person {place}>".encode() in sent) == (number in own)


@needs_sandbox
def test_a_keeper_that_dies_is_replaced_and_costs_one_block() -> None:
    def asked(box: Sandbox) -> Any:
        with opened(box, NEUTRAL) as cells:
            keeper = cells.cells.keepers[0]
            keeper.process.kill()
            keeper.process.wait()
            return cells.rows(NUMBER, blocks(victim=False), None)

    rows = unhurried(asked, needed=slice(1, None))
    assert np.isnan(rows[0, 0])
    assert rows[1, 0] == 0.0


@needs_sandbox
def test_a_release_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "estimator.py"
    path.write_text("def middle(x):\n    return sorted(x)[len(x) // 2]\n")
    for seconds in (1.0, 8.0, 64.0):  # a busy machine may be late
        mechanism = SubsampleAggregate(
            adapted(f"{path}:middle"), NUMBER, BlockMean(8, 1, 40.0), trust="sandbox", sandbox=Sandbox(seconds=seconds)
        )
        release = mechanism.release([float(k % 100) for k in range(800)], Seeded(1))
        if 20 < release.value < 80:
            break
    assert 20 < release.value < 80
    assert "sandbox" in release.provenance.parameters["trust"]
    assert "sandboxed processes" in release.provenance.parameters["path"]


ORDINARY = """
import importlib.util, os, sys
from dataclasses import replace
import numpy as np
spec = importlib.util.spec_from_file_location("hostile", sys.argv[1])
hostile = importlib.util.module_from_spec(spec); spec.loader.exec_module(hostile)
from discreet.subsample.estimators import SourceFit
from discreet.subsample.partition import Blocks
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample.run_block import opened, packed
from discreet.subsample.returned import Shape
from discreet.subsample.block_table import BlockTable
x = np.ones((8, 2)); x[0, 0] = 666.0
some = Blocks(BlockTable(x, np.zeros(8)), np.array([0, 2, 4, 6, 8]))
bad = []
left = sys.argv[2:]
for seconds in (0.25, 1.0, 4.0, 16.0):  # a busy machine may be late
    late = []
    with opened(Sandbox(seconds=seconds, memory=1 << 30, modules=hostile.TOOLS), SourceFit(hostile.HEAD, "f")) as cells:
        for name in left:
            other = replace(cells, estimator=packed(SourceFit(hostile.HEAD + hostile.ATTACKS[name], "f")))
            rows = other.rows(Shape("number", ("v",)), some, None)
            if rows[1, 0] != rows[1, 0]: late.append(name)
            elif rows[1, 0] != 0.0 or rows[0, 0] > 0: bad.append(name)
    left = late
    if not left: break
bad += left
print(os.getuid() != 0, bad)
"""


def _become_ordinary() -> None:
    """In a child before it runs: if we are root, open the way to Python for others, in a private view, and be
    nobody."""
    if os.geteuid() != 0:
        return
    call("mounts", libc.unshare(NEWNS))
    mount("private", "none", "/", flags=REC | PRIVATE)
    home, needed = "/root", os.path.realpath(sys.base_prefix)
    if needed.startswith(f"{home}/"):
        held = os.open(needed, os.O_PATH)
        mount("home", "tmpfs", home, flags=0, kind="tmpfs", data=b"mode=755")
        os.makedirs(needed)
        mount("python", f"/proc/self/fd/{held}", needed, flags=BIND)
        os.close(held)
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)


@needs_sandbox
@pytest.mark.claim("sandbox.1")
def test_as_an_ordinary_user(tmp_path: Path) -> None:
    """The same sandbox when nobody starts it: no step of it needs root."""
    names = list(ATTACKS)
    done = subprocess.run(
        [sys.executable, "-c", ORDINARY, str(Path(hostile.__file__)), *names],
        check=False,
        preexec_fn=_become_ordinary,
        capture_output=True,
        text=True,
        cwd="/",
        env={"PYTHONPATH": str(Path(discreet.__file__).parents[1]), "PATH": os.environ["PATH"]},
    )
    assert done.stdout.strip() == "True []", done.stderr[-2000:]


@pytest.mark.claim("sandbox.3")
@pytest.mark.parametrize(
    ("step", "instead", "word"),
    [
        ('enter(asked["libraries"])', "call('user namespaces (unshare)', -1)", "user namespaces"),
        ('enter(asked["libraries"])', "raise Missing('a filter of system calls (seccomp)')", "seccomp"),
        ('enter(asked["libraries"])', "raise SystemExit", "starts"),
        ('enter(asked["libraries"])', "time.sleep(100)", "a process of its own"),
        ('os.uname().machine != "x86_64"', "True", "x86-64"),
        ("room(bare=True)", "call('an empty root (pivot_root)', -1)", "an empty root"),
        ('b"1000"', 'b"no number"', "Invalid argument"),
        ("FILTER, wrapped, 0, 0)", "FILTER, 0, 0, 0)", "seccomp"),
        ("settle(maps)", "'executable memory'", "executable memory"),
        ("shared(maps)", "True", "without shared memory"),
    ],
)
def test_what_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, step: str, instead: str, word: str
) -> None:
    """A copy of the package in which one step fails: there is no half of a sandbox."""
    if sandboxed() and not step.startswith(("enter", "os.uname")):
        pytest.skip("there is no sandbox here at all")
    package = Path(discreet.__file__).parent
    copy = shutil.copytree(package, tmp_path / "discreet", ignore=shutil.ignore_patterns("__pycache__"))
    program = copy / "sandbox" / "jail.py"
    source = program.read_text()
    assert step in source
    program.write_text(source.replace(step, instead))
    monkeypatch.setattr(sandbox, "__file__", str(copy / "sandbox" / "sandbox.py"))
    monkeypatch.setattr(sandbox, "START", 2.0 if "sleep" in instead else sandbox.START)
    with pytest.raises(NoSandbox, match=word):
        Keeper(BOX, Program("discreet.subsample.run_block")).restart()


@pytest.mark.claim("sandbox.3")
def test_without_a_sandbox_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.audit.replay import Recorder

    def absent(self: Any) -> None:
        raise NoSandbox("it lacks everything")

    monkeypatch.setattr(Keeper, "restart", absent)
    recorder = Recorder(Seeded(0))
    mechanism = SubsampleAggregate(NEUTRAL, NUMBER, BlockMean(8, 1, 40.0), trust="sandbox")
    with pytest.raises(NoSandbox):
        mechanism.release(np.ones((80, 2)), recorder)
    assert recorder.log == []


@pytest.mark.claim("sandbox.3")
@pytest.mark.claim("session.1")
@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
@pytest.mark.parametrize("person", [None, "who"])
def test_without_a_sandbox_nothing_is_charged(
    relation: str, person: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether this machine has one is known before the charge."""

    def absent(self: Any) -> None:
        raise NoSandbox("it lacks everything")

    monkeypatch.setattr(Keeper, "restart", absent)
    (tmp_path / "f.py").write_text("def f(x):\n    return 0.5\n")
    place, rows = f"{tmp_path / 'f.py'}:f", {"a": np.arange(4000.0), "who": np.arange(4000)}
    with discreet.open(
        rows, person, budget=discreet.Budget(100.0), ledger=tmp_path / "l", neighbours=relation, rng=Seeded(0)
    ) as private:
        for told in (False, True):
            with pytest.raises(NoSandbox):
                private.fit(place, "a", epsilon=40.0, blocks=100, names="number", missing="keep", estimate_bias=told)
        with pytest.raises(NoSandbox):
            private.custom_test(place, "a", epsilon=10.0, blocks=100, missing="keep")
        people = private.people
        with pytest.raises(NoSandbox):
            private.run(
                SubsampleAggregate(
                    NEUTRAL,
                    NUMBER,
                    BlockMean(8, 1, 40.0),
                    neighbours=people.neighbours,
                    unit=people.unit,
                    trust="sandbox",
                ),
                "a",
            )
        assert float(private.balance.left.epsilon) == 100.0


def test_files_never_run_outside() -> None:
    with pytest.raises(BadInput, match="sandbox"):
        SubsampleAggregate(NEUTRAL, NUMBER, BlockMean(8, 1, 40.0))


def test_the_list_of_system_calls_is_short_and_the_program_whole() -> None:
    assert not {"socket", "shmget", "ptrace", "kill", "execve", "fork", "keyctl", "ioctl", "flock"} & set(ALLOWED)
    assert len(set(ALLOWED.values())) == len(ALLOWED)
    program = filters()
    assert len(program) % 8 == 0
    steps = [program[place : place + 8] for place in range(0, len(program), 8)]
    for place, step in enumerate(steps):
        yes, no = step[2], step[3]
        assert place + 1 + max(yes, no) < len(steps) or step[0] in (0x06, 0x20)


def test_what_cannot_be_sent_is_refused_in_words() -> None:
    lock: Any = __import__("threading").Lock()
    with pytest.raises(BadInput, match=r"file\.py:function"):
        packed(FunctionFit(lambda x: lock))
    with pytest.raises(BadInput, match="seconds"):
        Sandbox(seconds=0)
