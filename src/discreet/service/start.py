"""`discreet serve`: from a service.toml, or a demonstration in a folder of its own that is removed afterwards."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from discreet.datasets import NHANES_BOUNDS, NHANES_CATEGORIES, NHANES_COLUMNS, NHANES_UNITS
from discreet.errors import BadInput
from discreet.ledger.serving_lock import serving_alone
from discreet.service.asked_plan import as_toml
from discreet.service.crew import Crew
from discreet.service.desk import Desk
from discreet.service.settings import read_settings

Say = Callable[[str], None]
THREE: Final = (("ana", "analyst"), ("stefan", "steward"), ("aude", "auditor"))
LABELS: Final = {
    "age": "Age at the interview, 80 and above as 80",
    "sex": "Sex, as recorded",
    "race_ethnicity": "Race and ethnicity, as reported",
    "education": "Highest school completed, of adults",
    "poverty_ratio": "Family income beside the poverty guideline, above 5 as 5",
    "general_health": "General health, as reported",
    "diabetes": "Told by a doctor to have diabetes",
    "smoked_100_cigarettes": "Has smoked at least 100 cigarettes",
    "bmi": "Body mass index, as measured",
    "systolic_bp": "Systolic blood pressure, as measured",
    "diastolic_bp": "Diastolic blood pressure, as measured",
    "total_cholesterol": "Total cholesterol, as measured",
}
SCALES: Final = {"age": 25.0, "bmi": 8.0, "systolic_bp": 20.0, "diastolic_bp": 13.0, "total_cholesterol": 40.0}


def serve(config: Path, *, port: int | None = None, say: Say, demo: tuple[tuple[str, str], ...] = ()) -> None:
    """Serve until it is stopped; the first administrator's password is printed when there is nobody yet."""
    import uvicorn

    from discreet.service.analyst_pages import statistics_menu
    from discreet.service.web import make_app

    settings = read_settings(config)
    if port is not None:
        settings = settings.model_copy(update={"port": port})
    desk = Desk(settings, config.absolute().parent)
    try:
        if settings.passwords and not desk.people.all():
            password = desk.accounts.enrol("admin", "admin", by=None)
            say(f"The first account: admin, password {password} (shown once; change it after signing in)")
        app = make_app(desk, Crew(desk, config.absolute()))
        app.state.demo = demo
        statistics_menu()  # loads them now, not when somebody waits
        scheme = "http" if settings.host in ("127.0.0.1", "localhost", "::1") else "http, behind your HTTPS proxy"
        with serving_alone(desk.where):
            say(f"Serving on {settings.host}:{settings.port} ({scheme}); stop with Ctrl-C")
            uvicorn.run(
                app,
                host=settings.host,
                port=settings.port,
                log_level="error",  # nothing of what people ask goes into a log
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=500,
                timeout_keep_alive=10,
                h11_max_incomplete_event_size=65_536,
            )
    finally:
        desk.close()


@contextmanager
def demonstration(say: Say, **settings: Any) -> Iterator[Path]:
    """A folder with the NHANES table, a ledger, three people and a rule; gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-serve-"))
    try:
        shutil.copyfile(str(files("discreet.datasets").joinpath("nhanes.parquet")), folder / "nhanes.parquet")
        config = folder / "service.toml"
        config.write_text(demo_toml(**settings), encoding="utf-8")
        desk = Desk(read_settings(config), folder)
        try:
            for name, role in THREE:
                password = desk.accounts.enrol(name, role, by=None)
                say(f"{role:8} {name:7} password {password}")
            source, steward = desk.settings.source[0], desk.people.find("stefan")
            assert steward is not None
            desk.parts.allot(source, "ana", 1.0, 1e-6, by="stefan")
            columns = ["age", "sex", "general_health", "smoked_100_cigarettes"]
            desk.make_rule(source, steward, columns, epsilon=0.1, delta=0.0, days=7, analyst="")
        finally:
            desk.close()
        yield config
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def demo_toml(limit: float = 20.0, tick: float = 5.0, workers: int = 1, port: int = 8321, rows: int = 8366) -> str:
    """The settings of the demonstration; a pattern for one's own."""
    lines = [
        'ledger = "study.ledger"',
        f"port = {port}",
        f"limit = {limit:.1f}           # seconds that an answer may take",
        f"tick = {tick:.1f}             # answers leave every so many seconds",
        f"workers = {workers}",
        "",
        "[[source]]",
        'name = "nhanes"',
        'title = "NHANES 2017-18"',
        'description = "A health survey of the United States: interview and examination, one row a person."',
        f'data = {{ source = "nhanes.parquet", unit = "person", rows = {rows} }}',
        'population = { name = "nhanes 2017-18", epsilon = 2.5, delta = 1e-5 }',
    ]
    for name in NHANES_COLUMNS:
        lines += ["", f"[source.columns.{name}]", f"label = {as_toml(LABELS[name])}"]
        if name in NHANES_CATEGORIES:
            lines.append(f"categories = {as_toml(list(NHANES_CATEGORIES[name]))}")
        if name in NHANES_UNITS:
            low, high = NHANES_BOUNDS[name]
            lines += [f"unit = {as_toml(NHANES_UNITS[name])}", f"low = {low}", f"high = {high}"]
        if name in SCALES:
            lines.append(f"scale = {SCALES[name]}")
    return "\n".join(lines) + "\n"


def run(config: Path | None, *, demo: bool, port: int | None, say: Say) -> None:
    """What the command line calls."""
    if demo == (config is not None):
        raise BadInput("give either --demo or --config with the path of a service.toml")
    if config is not None:
        serve(config, port=port, say=say)
        return
    say("A demonstration on 8,366 real people of the US health survey NHANES 2017-18. Three people may sign in:")
    with demonstration(say) as made:
        serve(made, port=port, say=say, demo=THREE)
