"""A steward gives the stored answer to a similar question instead of a new one."""

from dataclasses import replace

import pytest
from tests.service.conftest import World, plan

from discreet.errors import BadInput


@pytest.mark.claim("service_requests.4")
def test_a_stored_answer_is_given_instead_and_costs_nothing(world: World) -> None:
    stored = world.submit("ann", plan(title="All ages"))
    adults = plan(title="Ages of adults", more='where = "age >= 18"')
    asked = world.submit("bob", adults)
    with pytest.raises(BadInput, match="choose another"):  # nobody has answered it yet
        world.desk.offer(asked, stored, world.person("sue"))
    world.desk.approve(stored, world.person("sue"))
    world.work()
    with pytest.raises(BadInput, match="choose another"):  # it is stored, and has not left
        world.desk.offer(asked, stored, world.person("sue"))
    early, found = (world.desk.requests.find(which) for which in (stored, asked))
    assert early is not None
    assert found is not None
    assert world.desk.similar(found) == []  # that it is stored is not seen before it has left
    with pytest.raises(BadInput, match="choose another"):  # nor by another way
        world.desk.requests.offer(asked, early, "sue", population="people", now=world.clock())
    world.clock.now += 1000.0
    assert [one.id for one in world.desk.similar(found)] == [stored]
    assert world.desk.similar(early) == []  # nothing is similar to itself
    before = len(world.desk.ledger.lines(most=100))
    world.desk.offer(asked, stored, world.person("sue"))
    entry = world.desk.ledger.lines(most=100)[0]
    assert (len(world.desk.ledger.lines(most=100)) - before, entry.plain["event"]) == (1, "offer")
    assert entry.plain["stored"] == stored
    found, first = (world.desk.requests.find(which) for which in (asked, stored))
    assert found is not None
    assert first is not None
    assert world.desk.state_of(found)["state"] == "offered"
    assert world.desk.report(found) == world.desk.report(first)
    assert world.desk.report(found) is not None
    assert world.work() == 0
    with pytest.raises(BadInput):  # decided once
        world.desk.offer(asked, stored, world.person("sam"))
    with pytest.raises(BadInput, match="no such report"):  # the first is for publishing, not what stands in for it
        world.desk.publish(asked, world.person("sue"), shown=True)
    # the same question is still open to all, and its answer is its own
    for who in ("bob", "ann"):
        again = world.submit(who, adults)
        assert again != asked
        world.answered(again)
        own = world.desk.requests.find(again)
        assert own is not None
        assert own.answered not in (None, first.answered)


@pytest.mark.claim("service_requests.4")
def test_a_stored_answer_is_a_similar_one_and_not_given_to_oneself(world: World) -> None:
    stored = world.submit("ann", plan(title="Weights", columns="weight"))
    world.answered(stored)
    mine, asked = world.submit("ann"), world.submit("bob", plan(columns="weight", epsilon=0.2))
    with pytest.raises(BadInput, match="choose another"):  # another column
        world.desk.offer(mine, stored, world.person("sue"))
    for name, status in (("bob", 403), ("aud", 403)):
        assert world.post(name, f"/inbox/{asked}/offer", stored=stored).status_code == status
    first = world.desk.requests.find(stored)
    assert first is not None
    with pytest.raises(BadInput, match="of their own"):
        world.desk.requests.offer(asked, first, "bob", population="people", now=world.clock())
    elsewhere = replace(first, source="another")
    with pytest.raises(BadInput, match="choose another"):
        world.desk.requests.offer(asked, elsewhere, "sue", population="people", now=world.clock())
    header = world.token("sue", "decide")
    client = world.client()
    assert client.post(f"/api/v1/requests/{asked}/offer", json={"stored": mine}, headers=header).status_code == 422
    told = client.post(f"/api/v1/requests/{asked}/offer", json={"stored": stored}, headers=header)
    assert told.json()["state"] == "offered"
    page = world.signed_in("bob").get(f"/requests/{asked}").text
    assert "gives you a stored answer instead" in page
    assert "95% confidence" in page
