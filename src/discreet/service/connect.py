"""`discreet.connect`: the verbs of a session, asked of a server that holds the data.

A question is a request there: it is priced, approved by a steward or a rule, charged, and its answer leaves at a tick.
The same question again is the same request, so a cell of a notebook can be run again until its answer is there.
"""

import time
from collections.abc import Sequence
from typing import Any, Final

from discreet.errors import BadInput, DiscreetError, OverBudget, Refused
from discreet.faces import Asking
from discreet.plan.plan_file import FIT
from discreet.plan.planned_fit import ENTRY
from discreet.privacy.declaration import declared
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.release import Groups, Release
from discreet.report.record import Report
from discreet.service.asked_plan import as_toml

PAUSE: Final = 2.0  # seconds between looks
SERVERS: Final = ("missing", "per_person", "max_rows")
BESIDE: Final = ("where", "groupby", "keys", "weights", "offset", "clusters", "strata", "delta")


class RemoteSession(Asking):
    """A table on a server. Each statistic of `discreet` is a method that takes columns by name, as in a Session.

    What is made of missing entries and of several rows of a person is the server's decision. `wait` is for how many
    seconds a question waits for its answer; then it raises, and asking the same again later costs nothing more.
    """

    def __init__(self, client: Any, table: str, wait: float) -> None:
        self._client, self.table, self.wait = client, table, wait

    def ask(
        self, statistic: str, *columns: Any, title: str | None = None, request: str | None = None, **options: Any
    ) -> Release[Any] | Groups:
        """The answer, once it is approved and has left the server; DiscreetError if it waits for longer than `wait`."""
        if request is not None:
            raise BadInput("the server names requests itself; leave request out: the same question is answered once")
        text = plan_text(statistic, columns, options, title)
        sent = self._call("POST", "/api/v1/requests", json={"table": self.table, "plan": text})
        until = time.monotonic() + self.wait
        while True:
            found = self._call("GET", f"/api/v1/requests/{sent['id']}")
            match found["state"]:
                case "done":
                    return _answer(found["report"], options.get("groupby"))
                case "declined":
                    raise Refused(f"the steward {found['decided_by']} declined this: {found['reason']}")
                case "offered":
                    raise Refused(
                        f"the steward {found['decided_by']} gives you the stored answer to a similar question, "
                        f"{found['reason']!r}, instead; it is the report of request {sent['id']}. Nothing was spent"
                    )
                case "failed" | "withdrawn":
                    raise DiscreetError(
                        found["said"] or "this request was withdrawn; give it another title to ask anew"
                    )
            if time.monotonic() >= until:
                raise DiscreetError(_waits(found))
            time.sleep(min(PAUSE, max(0.0, until - time.monotonic())))

    def price(self, statistic: str, *columns: Any, title: str | None = None, **options: Any) -> dict[str, Any]:
        """What a question would cost, how accurate it would be, and what that means; nothing is spent."""
        body = {"table": self.table, "plan": plan_text(statistic, columns, options, title)}
        return dict(self._call("POST", "/api/v1/plans/price", json=body))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        found = self._call("GET", f"/api/v1/tables/{self.table}")
        return tuple(column["name"] for column in found["columns"])

    @property
    def balance(self) -> dict[str, Any]:
        """What is left to you of the budget."""
        return dict(self._call("GET", f"/api/v1/tables/{self.table}/balance"))

    def requests(self) -> list[dict[str, Any]]:
        """Your requests, and what became of them."""
        return list(self._call("GET", "/api/v1/requests"))

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def __enter__(self) -> "RemoteSession":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteSession({self.table!r} at {self._client.base_url})"

    def _call(self, method: str, path: str, **given: Any) -> Any:
        return _called(self._client, method, path, **given)


def connect(url: str, token: str, table: str | None = None, *, wait: float = 120.0) -> RemoteSession:
    """A table on a `discreet serve`, with the verbs of a session.

    `token` is made on the account page of the service. `table` may be left out where the server has one only. `wait` is
    for how many seconds a question waits for its answer.

    >>> import discreet
    >>> hospital = discreet.connect("https://data.hospital.example", "discreet_...")  # doctest: +SKIP
    >>> hospital.mean("bmi", epsilon=0.1)  # doctest: +SKIP
    """
    try:
        import httpx
    except ModuleNotFoundError:
        raise BadInput("connect needs one more package: pip install 'discreet[web]'") from None
    client = httpx.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=60.0)
    try:
        names = [found["name"] for found in _called(client, "GET", "/api/v1/tables")]
        if table is None and len(names) != 1:
            raise BadInput(f"the server has several tables; give table=, one of {', '.join(names)}")
        if table is not None and table not in names:
            raise BadInput(f"the server has no table {table!r}; it has {', '.join(names)}")
    except BaseException:
        client.close()
        raise
    return RemoteSession(client, table or names[0], wait)


def _called(client: Any, method: str, path: str, **given: Any) -> Any:
    import httpx

    try:
        answer = client.request(method, path, **given)
        body = answer.json()
    except httpx.HTTPError as error:
        raise DiscreetError(f"the server {client.base_url} cannot be reached ({type(error).__name__})") from None
    except ValueError:
        raise DiscreetError(f"{client.base_url} does not answer as a discreet service does") from None
    if answer.is_success:
        return body
    says = str(body.get("error", "")) if isinstance(body, dict) else ""
    kind = {409: OverBudget, 422: BadInput, 404: BadInput, 401: BadInput}.get(answer.status_code, DiscreetError)
    raise kind(says or f"the server refuses ({answer.status_code})")


def _answer(dossier: dict[str, Any], by: Any) -> Release[Any] | Groups:
    """The one answer of a report."""
    report = Report.of(dossier)
    entry, this = report.releases[0], report.budget.this
    if entry.release is not None:
        return entry.release.release
    guarantee = Guarantee(this.epsilon, this.delta, Neighbours(report.data.neighbours), report.data.unit)
    single = isinstance(by, str)
    pairs = tuple((key if single else tuple(key), release) for key, release in entry.keyed)
    return Groups(by if single else tuple(by), guarantee, releases=pairs, name=entry.question)


def _waits(found: dict[str, Any]) -> str:
    if found["state"] == "submitted":
        return (
            f"request {found['id']} waits for a data steward. Nothing is spent yet; ask the same again later, and you "
            "get its answer"
        )
    return f"request {found['id']} is approved, and its answer leaves later; ask the same again, at no further cost"


def plan_text(statistic: str, columns: Sequence[Any], options: dict[str, Any], title: str | None = None) -> str:
    """A plan of one question.

    >>> print(plan_text("mean", ["bmi"], {"epsilon": 0.1, "where": "age >= 18"}))
    title = "mean of bmi where age >= 18"
    [spend]
    epsilon = 0.1
    [[release]]
    id = "q1"
    statistic = "mean"
    columns = "bmi"
    where = "age >= 18"
    epsilon = 0.1
    <BLANKLINE>
    """
    one = declared(statistic)
    given = dict(options)
    for name in SERVERS:
        if given.pop(name, None) is not None:
            raise BadInput(f"{name} is declared on the server, for everybody; leave it out")
    epsilon = given.pop("epsilon", None)
    if epsilon is None:
        raise BadInput("epsilon is missing: what the answer may cost, for example epsilon=0.1")
    placed: dict[str, Any] = {}
    if statistic == FIT:
        estimator, *columns = (given.pop("estimator"), *columns) if "estimator" in given else columns or [None]
        placed["code" if f"def {ENTRY}(" in str(estimator) else "estimator"] = estimator
        if not isinstance(estimator, str):
            raise BadInput(
                f"a server fits an estimator by its name, 'Ridge(alpha=1.0)', or a text of Python with {ENTRY}(X, y), "
                "which runs in its sandbox; give one of these first, then the columns"
            )
    names = dict(zip(one.columns, columns, strict=False)) | {
        name: given.pop(name) for name in list(given) if name in one.columns and name not in BESIDE
    }
    first, *more = [value for value in names.values() if value is not None] or [None]
    if isinstance(first, str) and "~" in first and one.formula is not None:
        placed["formula"] = first
    elif first is not None:
        several = statistic != FIT and all(isinstance(value, str) for value in (first, *more))
        placed["columns"] = [first, *more] if more and several else first
        if more and not several:
            placed["outcome"] = more[0]
    placed |= {name: given.pop(name) for name in BESIDE if given.get(name) is not None}
    rest = {name: value for name, value in given.items() if value is not None}
    said = placed.get("formula") or placed.get("columns") or "all"
    about = said if isinstance(said, str) else ", ".join(said)
    words = f"{statistic.replace('_', ' ')} of {about}"
    words += f" where {placed['where']}" if "where" in placed else ""
    spend = ["[spend]", f"epsilon = {as_toml(float(epsilon))}"]
    if "delta" in placed:
        spend.append(f"delta = {as_toml(float(placed['delta']))}")
    placed["epsilon"] = float(epsilon)
    lines = [f"title = {as_toml((title or words)[:200])}", *spend, "[[release]]", 'id = "q1"']
    lines += [f"{name} = {as_toml(_listed(value))}" for name, value in {"statistic": statistic, **placed}.items()]
    lines += [f"options = {as_toml({name: _listed(value) for name, value in rest.items()})}"] if rest else []
    return "\n".join(lines) + "\n"


def _listed(value: Any) -> Any:
    return [_listed(one) for one in value] if isinstance(value, list | tuple) else value
