"""Fits through the service: listed estimators by name, and an analyst's own code, in the sandbox alone."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.service.conftest import World, plan, settings_for, world_in

from discreet.errors import BadInput
from discreet.plan.planned_fit import LISTED, SIMULATED, named_estimator, parsed, seconds_of_code
from discreet.sandbox.sandbox import NoSandbox, Sandbox
from discreet.service.asked_plan import to_form, to_text
from discreet.subsample.aggregate import SubsampleAggregate, _there
from discreet.subsample.estimators import SourceFit

MEAN = "def estimate(X, y):\n    return [float(y.mean())]\n"
OPTIONS = "options = { blocks = 60, names = ['m'], timeout = 0.15 }"
TIMES = (0.5, 2.0, 6.0)  # seconds a block: a machine that is too busy for one of them is given the next


def coded(code: str = MEAN, options: str = OPTIONS, epsilon: float = 2.8) -> str:
    """A plan with code."""
    lines = ["title = 'Own'", "[spend]", f"epsilon = {epsilon}", "[[release]]", "id = 'f'", "statistic = 'fit'"]
    return "\n".join([*lines, "columns = ['age']", "outcome = 'weight'", f"code = '''\n{code}'''", options])


def named(estimator: str, epsilon: float = 0.9) -> str:
    """A plan with a listed estimator."""
    text = plan(epsilon=epsilon, title="Line", statistic="fit")
    text = text.replace("[[release]]", "delta = 1e-7\n[[release]]")
    return f'{text}\noutcome = "weight"\nestimator = "{estimator}"'


def no_sandbox() -> str | None:
    try:
        _there(Sandbox(seconds=0.05))
    except NoSandbox as error:
        return str(error)
    return None


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[World]:
    """A service in which answers may take longer."""
    source = settings_for(tmp_path).source[0].model_dump(exclude_none=True)
    source["population"] |= {"name": "many", "epsilon": 400.0}
    del source["population"]["ledger"]
    for made in world_in(tmp_path, limit=120.0, source=[source]):
        part = made.desk.part(made.source, "ann")
        assert part is not None
        made.desk.parts.allot(made.source, "ann", 300.0, 1e-7, by="sam", seen=part.standing)
        yield made


def few(seconds: float) -> str:
    return f"options = {{ blocks = 12, names = ['m'], timeout = {seconds} }}"


def sent(world: World, code: str) -> tuple[str, float]:
    """A request whose code was tried, and the seconds of a block in which that was done."""
    for seconds in TIMES[:-1]:
        with suppress(BadInput):  # on a machine that is too busy to try it in this time
            return world.submit(text=coded(code, few(seconds), epsilon=20.0)), seconds
    return world.submit(text=coded(code, few(TIMES[-1]), epsilon=20.0)), TIMES[-1]


def told(world: World, which: str) -> dict[str, Any]:
    """The one release of a request that is approved and worked on."""
    world.desk.approve(which, world.person("sue"))
    assert world.work() == 1
    world.clock.now += 1000.0
    found = world.desk.requests.find(which)
    assert found is not None
    report = world.desk.report(found)
    assert report is not None, found
    return dict(report["releases"][0])


needs_sandbox = pytest.mark.skipif(bool(no_sandbox()), reason=no_sandbox() or "there is a sandbox")


NOT_LISTED: tuple[str, ...] = ("/etc/passwd:f", "os:getcwd", "os.system('x')", "sklearn.svm.Ridge", "pickle.loads", "")
NOT_LISTED += ("Ridge(alpha=__import__('os').getpid())", "Ridge(2.0)", "Ridge(**{'alpha': 1})", "Ridge(alpha=[1])")
NOT_LISTED += (
    "Ridge(alpha=1e9)",
    "Lasso(max_iter=10**9)",
    "Ridge(solver='auto')",
    "Ridge(alpha=1).fit",
    "Ridge(alpha=1",
)
NOT_LISTED += ("LogisticRegression(n_jobs=8)", "RandomForestRegressor()", "Ridge(" + "(" * 900, "Ridge(alpha='x')")
NOT_LISTED += (
    "Ridge(alpha=1)(alpha=2)",
    "Ridge(alpha=1, alpha=2)",
    "Ridge(alpha=1 #, positive=True\n)",
)  # read otherwise


@pytest.mark.claim("planned_fit.1")
def test_only_listed_estimators_with_plain_settings_are_named(world: World) -> None:
    for text in NOT_LISTED:
        with pytest.raises(BadInput):
            parsed(text)
    for text in ("/etc/passwd:f", "Ridge(alpha=__import__('os').getpid())"):
        page = world.post("ann", "/ask/people/price", view="text", text=named(text))
        assert "Not yet a question" in page.text
        assert "root" not in page.text


@pytest.mark.claim("planned_fit.1")
def test_every_listed_estimator_is_there_and_takes_its_settings() -> None:
    import inspect

    for name, (home, settings) in LISTED.items():
        made = named_estimator(f"{home}.{name}")
        assert set(settings) <= set(inspect.signature(type(made) if home != "statsmodels.api" else made).parameters)


def test_a_listed_estimator_is_asked_like_any_statistic(slow: World) -> None:
    world = slow
    header = world.token("ann", "ask")
    body = {"table": "people", "plan": named("LinearRegression(fit_intercept=True)", epsilon=20.0)}
    told = world.client().post("/api/v1/plans/price", json=body, headers=header).json()
    assert "error" not in told, told
    assert told["columns"] == ["age", "weight"]
    assert told["releases"][0]["forecast"]["half_width"] > 0
    which = world.submit(text=body["plan"])
    world.answered(which)
    found = world.desk.requests.find(which)
    assert found is not None
    report = world.desk.report(found)
    assert report is not None
    assert report["releases"][0]["options"]["estimator"] == "LinearRegression(fit_intercept=True)"
    assert world.desk.ledger.verify().ok
    other = world.desk.price(
        named("LinearRegression(fit_intercept=False)", epsilon=20.0), world.source, world.person("ann")
    )
    assert other.question != found.question, "other settings are another question"


def test_every_listed_estimator_is_priced_or_refused_in_words(slow: World) -> None:
    priced, quick = [], ["LinearRegression"]  # a forecast of any other takes as long again
    for name in [one for one in LISTED if one not in SIMULATED or one in quick]:
        try:
            asked = slow.desk.price(named(name, epsilon=20.0), slow.source, slow.person("ann"))
        except BadInput:
            continue
        priced.append(name)
        assert (asked.bound.forecasts[0] is not None) == (name in SIMULATED), name
    assert set(priced) >= {*quick, "OLS", "QuantileRegressor", "LinearSVR"}


@pytest.mark.claim("planned_fit.2")
@pytest.mark.parametrize(
    ("code", "options", "says"),
    [
        (MEAN, "options = { names = ['m'] }", "public number of blocks"),
        (MEAN, "options = { blocks = 60 }", "code needs names"),
        (MEAN, "options = { blocks = 60, names = ['m'], trust = 'own' }", "cannot give fit the option"),
        (MEAN, "options = { blocks = 60, names = ['m'], sandbox = 1 }", "cannot give fit the option"),
        (MEAN, "options = { blocks = 60, names = ['m'], engine = 'dask://x' }", "cannot give fit the option"),
        (MEAN, "options = { blocks = 60, names = ['m'], estimator = 'os:getcwd' }", "options hold estimator"),
        (MEAN, "options = { blocks = 60, names = ['m'] }\nestimator = 'Ridge'", "needs one of"),
        ("print(1)", OPTIONS, "defines no function estimate"),
        (MEAN + "#" * 20_000, OPTIONS, "20,000"),
        (MEAN + "# \u202e", OPTIONS, "which is not seen"),
        (MEAN + "# \u2066", OPTIONS, "which is not seen"),
        (MEAN, "options = { blocks = 10001, names = ['m'] }", "10,000"),
        (MEAN, "options = { blocks = 600, names = ['m'], timeout = 1.0 }", "whatever the rows are"),
        (MEAN, "options = { blocks = 60, names = ['m'], timeout = 1e9 }", "timeout|seconds"),
    ],
)
def test_code_without_public_limits_is_refused(world: World, code: str, options: str, says: str) -> None:
    world.desk.parts.allot(world.source, "sue", 3.0, 0.0, by="sam")
    with pytest.raises(BadInput, match=says):
        world.desk.price(coded(code, options), world.source, world.person("sue"))


@pytest.mark.claim("planned_fit.1")
def test_no_forecast_is_simulated_of_as_many_fits_as_a_plan_says(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """3,000 blocks took minutes, in which nobody's plan was priced."""
    monkeypatch.setattr("discreet.plan.bound_plan._foreseen", lambda *_: pytest.fail("it was simulated"))
    world.desk.parts.allot(world.source, "sue", 3.0, 1e-7, by="sam")
    for options in ("blocks = 2500", "bias_correction = 'half'", "labels = [0, 1]"):
        text = f"{named('Ridge', epsilon=3.0)}\noptions = {{ {options} }}"
        assert world.desk.price(text, world.source, world.person("sue")).bound.forecasts == (None,)
    with pytest.raises(BadInput, match="10,000"):
        world.desk.price(f"{named('Ridge')}\noptions = {{ blocks = {10**400} }}", world.source, world.person("sue"))


def test_prices_do_not_wait_for_code_that_is_tried(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """And each analyst tries one at a time."""
    began, ended = Event(), Event()

    def slowly(_: object) -> bool:
        began.set()
        return ended.wait(60.0)

    monkeypatch.setattr("discreet.subsample.aggregate._there", lambda _: None)
    monkeypatch.setattr("discreet.service.asked_plan.returns_as_declared", slowly)
    for name in ("ann", "bob"):
        raised(world, name)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(world.submit, "ann", coded())
        assert began.wait(60.0)
        second = pool.submit(world.submit, "bob", coded(MEAN + "# b\n"))
        try:
            assert world.desk.price(plan(), world.source, world.person("bob")) is not None
            assert world.submit("ann", plan(epsilon=0.05)) != ""
            with pytest.raises(BadInput, match="being tried"):
                world.submit("ann", coded(MEAN + "# c\n"))
        finally:
            ended.set()
        assert first.result() != second.result()
    assert world.submit("ann", coded(MEAN + "# c\n")) != ""


def test_what_a_machine_can_is_asked_once_whatever_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or plans with other seconds would each hold up the prices of everybody for as long."""
    asked: list[Sandbox] = []
    monkeypatch.setattr("discreet.subsample.aggregate._there", asked.append)
    for seconds in (0.2, 15.0, 15.1):
        made = SubsampleAggregate.__new__(SubsampleAggregate)
        given = {"trust": "sandbox", "fit": SourceFit(MEAN, "estimate"), "sandbox": Sandbox(seconds)}
        for name, value in given.items():
            object.__setattr__(made, name, value)
        made.check_machine()
    assert len(set(asked)) == 1


def test_code_is_for_fit_and_nothing_else(world: World) -> None:
    for text in (plan(more="code = 'def estimate(X): return 1'"), plan(more="estimator = 'Ridge'")):
        with pytest.raises(BadInput, match="they are for fit"):
            world.submit(text=text)
    with pytest.raises(BadInput, match="custom_test runs code"):
        world.submit(text=plan(statistic="custom_test", more="code = 'def estimate(X): return 1'"))


@pytest.mark.claim("planned_fit.1")
def test_code_is_not_run_where_it_is_priced_or_read(world: World, tmp_path: Path, monkeypatch: Any) -> None:
    """Not even in a sandbox: what a machine can is known without it."""

    def ran(*_: object) -> None:
        raise AssertionError("it was run")

    monkeypatch.setattr(SourceFit, "answer", ran)
    monkeypatch.setattr("discreet.subsample.aggregate._there", lambda _: None)
    monkeypatch.setattr("discreet.subsample.aggregate.opened", ran)
    monkeypatch.setattr("discreet.service.asked_plan.returns_as_declared", lambda _: True)  # in a sandbox, below
    mark = tmp_path / "ran"
    text = coded(f"open({str(mark)!r}, 'w')\n{MEAN}")
    raised(world, "ann")
    which = world.submit(text=text)
    world.signed_in("sue").get(f"/inbox/{which}")
    world.post("ann", "/ask/people/price", view="text", text=text)
    assert not mark.exists()


def raised(world: World, name: str) -> None:
    """A larger part: code of an unknown kind needs many blocks, or a large epsilon."""
    part = world.desk.part(world.source, name)
    assert part is not None
    world.desk.parts.allot(world.source, name, 3.0, 1e-7, by="sam", seen=part.standing)


def test_where_the_kernel_lacks_a_feature_code_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacks(_: object) -> None:
        raise NoSandbox("this kernel has no user namespaces")

    monkeypatch.setattr("discreet.subsample.aggregate._there", lacks)
    raised(world, "ann")
    page = world.post("ann", "/ask/people/price", view="text", text=coded())
    assert "this kernel has no user namespaces" in page.text
    with pytest.raises(NoSandbox):
        world.submit(text=coded())
    assert world.desk.requests.listed({}) == []


def test_a_steward_reads_the_code_and_signs_it_and_no_rule_does(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.subsample.aggregate._there", lambda _: None)
    monkeypatch.setattr("discreet.service.asked_plan.returns_as_declared", lambda _: True)
    raised(world, "ann")
    columns = ["age", "weight"]
    world.desk.make_rule(world.source, world.person("sue"), columns, epsilon=99.0, delta=0.0, days=7, analyst="")
    hostile = MEAN + "# <script>alert(1)</script>\n"
    which = world.submit(text=coded(hostile))
    found = world.desk.requests.find(which)
    assert found is not None
    assert found.state == "submitted", "no rule approves code"
    page = world.signed_in("sue").get(f"/inbox/{which}").text
    assert "return [float(y.mean())]" in page.split("The plan, as text")[0]
    assert "<script>alert" not in page
    other = world.desk.price(coded(MEAN + "# other\n"), world.source, world.person("ann"))
    assert other.bound.digest != found.plan
    assert other.question != found.question
    for limits in (OPTIONS.replace("60", "61"), OPTIONS.replace("0.15", "0.14")):  # blocks and seconds are signed too
        more = world.desk.price(coded(hostile, limits), world.source, world.person("ann"))
        assert more.bound.digest != found.plan
    approved = world.desk.approve(which, world.person("sue"))
    assert approved.entry is not None
    entry = world.desk.ledger.entry(approved.entry)
    assert entry is not None
    assert entry.plain["approves"] == found.plan


def test_the_form_holds_code_as_it_is(world: World) -> None:
    for code in (MEAN, "def estimate(X):\n    return '''x'''\n", 'def estimate(X):\r\n\treturn "\x0b"\n'):
        text = coded(MEAN).replace(f"'''\n{MEAN}'''", _toml(code))
        form = to_form(text, world.source.columns)
        assert form["release"][0]["code"] == code
        assert to_form(to_text(form, world.source.columns), world.source.columns) == form


def _toml(text: str) -> str:
    from discreet.service.asked_plan import as_toml

    return as_toml(text)


@needs_sandbox
@pytest.mark.claim("planned_fit.2")
def test_code_runs_in_the_sandbox_after_approval_and_only_numbers_leave(slow: World, tmp_path: Path) -> None:
    world = slow
    spy = f"import os\ndef estimate(X, y):\n    found = os.path.exists({str(tmp_path / 'people.parquet')!r})\n"
    spy += "    try:\n        open('/etc/passwd')\n        found = True\n    except OSError:\n        pass\n"
    spy += "    print('rows', y)\n    return [1000.0 if found else float(y.mean())]\n"
    which, began = sent(world, spy)
    for seconds in TIMES[TIMES.index(began) :]:
        release = told(world, which)
        assert "code_sha256" in release["options"]
        if release["release"]["refusal"] is None:
            break
        assert "blocks gave an estimate" in release["release"]["refusal"], "the machine is too busy for this time"
        assert seconds < TIMES[-1], "six seconds are enough on any machine"
        later = TIMES[TIMES.index(seconds) + 1]
        which = world.submit(text=coded(spy, few(later), epsilon=20.0))
    assert 50 < release["release"]["value"]["numbers"][0] < 90, "no file was there to be read; the mean is 70"
    assert world.desk.ledger.verify().ok


@needs_sandbox
def test_code_that_fails_says_no_more_than_that(slow: World) -> None:
    """It dies on the rows there are, and not on those it is tried on: no busy machine changes what is said."""
    world = slow
    with pytest.raises(BadInput, match="nothing was sent"):
        world.submit(text=coded("def estimate(X, y):\n    return [1.0, 2.0]\n", few(0.5), epsilon=20.0))
    dies = "import os\ndef estimate(X, y):\n    if y.mean() > 50:\n        os._exit(1)\n    return [float(y.mean())]\n"
    which, _ = sent(world, dies)
    before = world.desk.ledger.balance("many").spent.epsilon
    release = told(world, which)["release"]
    assert "blocks gave an estimate" in release["refusal"]
    assert release["value"] is None
    found = world.desk.requests.find(which)
    assert found is not None
    assert (found.state, world.desk.state_of(found)["said"]) == ("done", None)
    assert world.desk.ledger.balance("many").spent.epsilon - before == 20, "what was charged stays charged"


def test_the_seconds_of_code_are_public() -> None:
    assert seconds_of_code({"blocks": 100, "timeout": 0.5}) == pytest.approx(10.0 + 100 * (0.5 + 0.175))
