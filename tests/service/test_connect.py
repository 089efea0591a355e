"""`discreet.connect`: the verbs of a session, on a server."""

import threading

import pytest
from tests.service.conftest import World, plan

import discreet
from discreet.errors import BadInput, DiscreetError, OverBudget, Refused
from discreet.service.asked_plan import understood
from discreet.service.connect import RemoteSession, plan_text


def connected(world: World, wait: float = 0.0) -> RemoteSession:
    world.client()
    token = world.token("ann", "ask")["authorization"].split()[1]
    return discreet.connect(world.address, token, wait=wait)


def test_a_question_waits_for_the_steward_and_then_has_its_answer(world: World) -> None:
    with connected(world) as remote:
        assert remote.columns[:3] == ("age", "weight", "sex")
        assert remote.balance["left"] == pytest.approx(1.0)
        assert remote.price("mean", "age", epsilon=0.2)["spend"]["epsilon"] == pytest.approx(0.2)
        with pytest.raises(DiscreetError, match="waits for a data steward"):
            remote.mean("age", epsilon=0.2)
        which = remote.requests()[0]["id"]
        world.answered(which)
        release = remote.mean("age", epsilon=0.2)
        assert isinstance(release, discreet.Release)
        assert 30 < release.value < 60
        low, high = release.interval()
        assert low < release.value < high
        assert remote.mean("age", epsilon=0.2).value == release.value, "the same answer, for nothing"
        assert remote.balance["spent"] == pytest.approx(0.2)
        with pytest.raises(DiscreetError, match="waits"):
            remote.mean("age", epsilon=0.1, groupby="sex", keys=["F", "M"])
        world.answered(remote.requests()[0]["id"])
        assert set(remote.mean("age", epsilon=0.1, groupby="sex", keys=["F", "M"])) == {"F", "M"}


def test_a_fit_is_sent_by_name_or_as_code(world: World) -> None:
    text = plan_text("fit", ["Ridge(alpha=2.0)", ["age"], "weight"], {"epsilon": 0.5, "delta": 1e-7})
    asked = understood(text, world.source, "ann", world.desk.folder).bound.plan.release[0]
    assert (asked.estimator, asked.columns, asked.outcome, asked.code) == ("Ridge(alpha=2.0)", ["age"], "weight", None)
    code = "def estimate(X, y):\n    return [1.0]\n"
    options = {"epsilon": 0.9, "estimator": code, "names": ["m"], "blocks": 200}
    asked = understood(
        plan_text("fit", ["age", "weight"], options), world.source, "ann", world.desk.folder
    ).bound.plan.release[0]
    assert (asked.code, asked.columns, asked.outcome) == (code, "age", "weight")
    with pytest.raises(BadInput, match="by its name"):
        plan_text("fit", [len, "age"], {"epsilon": 0.5})


def test_what_the_server_refuses_is_raised_in_its_words(world: World) -> None:
    with connected(world) as remote:
        with pytest.raises(OverBudget, match="left"):
            remote.mean("age", epsilon=2.0)
        with pytest.raises(BadInput, match="column"):
            remote.mean("nothing", epsilon=0.1)
        with pytest.raises(BadInput, match="epsilon is missing"):
            remote.ask("mean", "age")
        with pytest.raises(BadInput, match="declared on the server"):
            remote.mean("age", epsilon=0.1, missing=0.0)
        with pytest.raises(DiscreetError, match="waits"):
            remote.count(epsilon=0.1)
        world.desk.decline(remote.requests()[0]["id"], world.person("sue"), "not now")
        with pytest.raises(DiscreetError, match="waits"):
            remote.count(epsilon=0.1)  # asked anew
    with pytest.raises(BadInput, match="token"):
        discreet.connect(world.address, "discreet_wrong")
    with pytest.raises(BadInput, match="no table"):
        discreet.connect(world.address, world.token("ann", "ask")["authorization"].split()[1], "others")
    with pytest.raises(DiscreetError, match="cannot be reached"):
        discreet.connect("http://127.0.0.1:9", "x")


def test_a_question_that_is_declined_while_it_waits(world: World) -> None:
    def decline() -> None:
        while not (waiting := world.desk.requests.listed({"state": "submitted"})):
            pass
        world.desk.decline(waiting[0].id, world.person("sue"), "not this one")

    other = threading.Thread(target=decline)
    with connected(world, wait=60.0) as remote:
        other.start()
        with pytest.raises(Refused, match="not this one"):
            remote.mean("weight", epsilon=0.1)
        other.join()


@pytest.mark.parametrize(
    ("statistic", "columns", "options"),
    [
        ("count", [], {}),
        ("quantile", ["age"], {"q": 0.9, "bounds": (0, 120)}),
        ("histogram", ["sex"], {"categories": ["F", "M"]}),
        ("correlation", [["age", "weight"]], {}),
        ("linear_regression", ["weight ~ age"], {"delta": 1e-8}),
        ("proportion", ["age >= 65"], {}),
    ],
)
def test_verbs_become_plans(world: World, statistic: str, columns: list[object], options: dict[str, object]) -> None:
    text = plan_text(statistic, columns, options | {"epsilon": 0.1})
    asked = understood(text, world.source, "ann", world.desk.folder)
    assert asked.bound.plan.release[0].statistic == statistic
    assert float(asked.bound.priced.together.epsilon) <= 0.1 + 1e-9


def test_the_interface_for_programs_tells_the_whole_story(world: World) -> None:
    client = world.client()
    ann, sue, aud = world.token("ann", "ask"), world.token("sue", "decide"), world.token("aud", "audit")
    made = client.post("/api/v1/requests", json={"table": "people", "plan": plan()}, headers=ann)
    assert made.status_code == 201
    which = made.json()["id"]
    waiting = client.get("/api/v1/requests?waiting=true", headers=sue).json()
    assert [one["id"] for one in waiting] == [which]
    approve = client.post(f"/api/v1/requests/{which}/approve", json={"plan": waiting[0]["plan"]}, headers=sue)
    assert approve.json()["state"] == "approved"
    again = client.post(f"/api/v1/requests/{which}/approve", json={"plan": waiting[0]["plan"]}, headers=sue)
    assert again.status_code == 409
    world.work()
    assert client.get(f"/api/v1/requests/{which}", headers=ann).json()["report"] is None
    world.clock.now += 1000.0
    assert client.get(f"/api/v1/requests/{which}", headers=ann).json()["report"]["title"] == "Ages"
    assert client.get(f"/api/v1/requests/{which}/report.csv", headers=ann).text.startswith("id,question")
    assert client.get("/api/v1/ledger/verify", headers=aud).json()["ok"]
    kinds = [one["kind"] for one in client.get("/api/v1/ledger/entries", headers=aud).json()]
    assert kinds[:2] == ["answer", "charge"]
    unknown = client.post("/api/v1/requests", json={"table": "people", "plan": plan(), "data": "x"}, headers=ann)
    assert unknown.status_code == 422
    described = client.get("/api/v1/openapi.json").json()
    assert "/api/v1/requests/{which}/approve" in described["paths"]


def test_a_token_is_issued_by_one_that_is_as_wide_and_lasts_as_long(world: World) -> None:
    client, steward = world.client(), world.person("sue")
    both = {"authorization": f"Bearer {world.desk.accounts.issue(steward, 'both', ['ask', 'decide'], 10.0)}"}
    narrow = world.token("sue", "ask")
    wanted = {"label": "nightly", "scopes": ["ask"], "days": 2.0}
    made = client.post("/api/v1/tokens", headers=both, json=wanted)
    assert made.status_code == 201
    child = {"authorization": f"Bearer {made.json()['token']}"}
    assert client.get("/api/v1/tables", headers=child).status_code == 200
    assert client.get("/api/v1/requests?waiting=true", headers=child).status_code == 403
    known = {one["label"]: one for one in client.get("/api/v1/tokens", headers=both).json()}
    assert known["nightly"]["scopes"] == ["ask"]
    assert known["nightly"]["until"] == world.clock.now + 2 * 86_400
    said = "a token that this one asks for may have: ask;"
    for scopes in (["decide"], ["ask", "decide"], ["audit"], [], ["everything"]):
        done = client.post("/api/v1/tokens", headers=narrow, json=wanted | {"scopes": scopes, "days": 0.5})
        assert done.status_code == 422, scopes
        assert said in done.json()["error"]
    for late in (2.0, 1.01):
        done = client.post("/api/v1/tokens", headers=narrow, json=wanted | {"days": late})
        assert "at most 1 days" in done.json()["error"]
    for days in (0, -1, 367, "x", None):
        assert client.post("/api/v1/tokens", headers=both, json=wanted | {"days": days}).status_code == 422
    assert client.post("/api/v1/tokens", json=wanted).status_code == 401
    world.clock.now += 2 * 86_400 + 1
    assert client.get("/api/v1/tables", headers=child).status_code == 401
    assert client.post("/api/v1/tokens", headers=child, json=wanted).status_code == 401
    assert "nightly" not in str([entry.body for entry in world.desk.ledger.lines()])


def test_every_refusal_to_a_program_is_json_and_described(world: World) -> None:
    client, header = world.client(), world.token("ann", "ask")
    described = client.get("/api/v1/openapi.json").json()["paths"]
    asked = client.post("/api/v1/requests", json={"table": "people", "plan": ""}, headers=header)
    found = {
        "/api/v1/tables": client.get("/api/v1/tables"),
        "/api/v1/ledger/verify": client.get("/api/v1/ledger/verify", headers=header),
        "/api/v1/tables/{name}": client.get("/api/v1/tables/nowhere", headers=header),
        "/api/v1/plans/price": client.post("/api/v1/plans/price", json={}, headers={"origin": "https://evil.example"}),
        "/api/v1/requests": asked,
    }
    assert [answer.status_code for answer in found.values()] == [401, 403, 404, 403, 422]
    for path, answer in found.items():
        assert list(answer.json()) == ["error"]
        for call in described[path].values():
            assert str(answer.status_code) in call["responses"]
