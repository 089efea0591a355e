"""The same service with its ledger, its people and its queue in PostgreSQL."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.service.conftest import Clock, enrol, plan, settings_for

from discreet.service.desk import Desk
from discreet.service.jobs import work_off


def test_requests_are_kept_and_claimed_once_in_postgresql(tmp_path: Path, server: Any) -> None:
    key = tmp_path / "the.key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    clock = Clock()
    desk = Desk(settings_for(tmp_path, ledger=server(), key="the.key"), tmp_path, clock)
    enrol(desk)
    ann, sue = desk.people.find("ann"), desk.people.find("sue")
    assert ann is not None
    assert sue is not None
    source = desk.settings.source[0]
    made = [
        desk.submit(plan(title=str(place), statistic="count", columns="", more=f'where = "age > {place}"'), source, ann)
        for place in range(4)
    ]
    for request in made:
        desk.approve(request.id, sue)
    together = threading.Barrier(8)

    def claim(_: int) -> str | None:
        together.wait()
        found = desk.requests.claim("w", clock())
        return None if found is None else found.id

    with ThreadPoolExecutor(8) as pool:
        claimed = [one for one in pool.map(claim, range(8)) if one is not None]
    assert len(set(claimed)) == len(claimed), "each is taken by one worker"
    desk.requests.again()
    while (request_ := desk.requests.claim("w", clock())) is not None:
        work_off(desk, request_)
    clock.now += 1000.0
    ended = [desk.requests.find(request.id) for request in made]
    assert [one.state for one in ended if one is not None] == ["done"] * 4
    assert all(desk.report(one) is not None for one in ended if one is not None)
    assert float(desk.ledger.balance("people").spent.cost) == pytest.approx(0.4)
    assert desk.ledger.verify().ok
    desk.close()


def test_one_server_works_on_a_ledger_in_postgresql(server: Any) -> None:
    from discreet.errors import BadInput
    from discreet.ledger.serving_lock import serving_alone

    address = server()
    with serving_alone(address), pytest.raises(BadInput, match="another server"), serving_alone(address):
        pass
    with serving_alone(address):
        pass
