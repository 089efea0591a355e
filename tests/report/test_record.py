import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.made import dossier, entry, grouped, records

from discreet.errors import BadInput
from discreet.privacy.stored import recalled
from discreet.report import Report, from_json, to_json


def whole() -> dict[str, Any]:
    return dossier(entry(records()["mean"]), grouped([{"key": "a", "release": records()["count"]}]))


def test_json_keeps_everything_and_its_order() -> None:
    text = to_json(whole())
    assert from_json(text).model_dump(exclude_unset=True) == json.loads(text)
    assert to_json(from_json(text)) == text
    assert list(json.loads(text)) == list(whole())


def test_half_a_surrogate_can_be_written_and_read() -> None:
    text = to_json(dossier(title="\ud800 é"))
    text.encode()
    assert "é" in text
    assert from_json(text).title == "\ud800 é"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), {1, 2}, object()], ids=range(4))
def test_what_json_lacks_is_refused(number: Any) -> None:
    with pytest.raises(BadInput, match="plain values only"):
        to_json(dossier(reproducibility={"x": number}))


def paths(thing: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [above] if above else []
    inner = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ()
    return found + [path for key, item in inner for path in paths(item, (*above, key))]


FREE = {"options", "reproducibility", "key", "parameters", "versions"}  # whatever JSON holds
NEEDED = [path for path in paths(whole()) if isinstance(path[-1], str) and not FREE & set(path)]


@pytest.mark.parametrize("path", NEEDED, ids=lambda path: ".".join(map(str, path)))
def test_every_missing_or_wrong_part_is_refused_in_our_words(path: tuple[Any, ...]) -> None:
    for wrong in (object, "gone"):
        text = json.loads(to_json(whole()))
        place = text
        for step in path[:-1]:
            place = place[step]
        if wrong == "gone":
            del place[path[-1]]
        else:
            place[path[-1]] = {"x": [[]]} if not isinstance(place[path[-1]], dict) else 7
        if (path[-1] == "forecast" and wrong is object) or (path[-1] == "spread" and wrong == "gone"):
            continue  # a forecast is any object, and an answer may be stored without its errors
        with pytest.raises(BadInput):
            from_json(json.dumps(text))


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", "7", '"x"', "NaN", '{"format": NaN}', "[" * 100_000, "9" * 5000, b"\xff\xfe\x00", "\x00"],
    ids=range(12),
)
def test_what_is_no_report_is_refused(text: Any) -> None:
    with pytest.raises(BadInput):
        from_json(text)


def test_deep_nests_are_refused() -> None:
    deep: Any = 0
    for _ in range(60):
        deep = [deep]
    with pytest.raises(BadInput, match="deeper"):
        Report.of(dossier(reproducibility={"x": deep}))


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(
    st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)), st.sampled_from(NEEDED)
)
def test_anything_in_any_place_is_kept_or_refused(thing: Any, path: tuple[Any, ...]) -> None:
    changed = whole()
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    before = place[path[-1]]
    place[path[-1]] = thing
    try:
        Report.of(changed)
    except BadInput:
        pass
    finally:
        place[path[-1]] = before


@pytest.mark.parametrize("name", sorted(records()))
def test_every_release_comes_back_with_the_same_record(name: str) -> None:
    record = json.loads(json.dumps(records()[name]))
    assert recalled(record).to_dict() == record


def test_nothing_unknown_is_kept() -> None:
    for changed in (dossier(more=1), dossier(entry({**records()["mean"], "more": 1}), grouped([]))):
        with pytest.raises(BadInput, match="more: Extra"):
            Report.of(changed)


def test_seeded_noise_cannot_be_called_publishable() -> None:
    with pytest.raises(BadInput, match="publishable does not agree"):
        Report.of(dossier(entry({**records()["mean"], "publishable": True})))


OLD: dict[str, Any] = {
    "histogram of categories": {"keys": ["a", [0.0, 1.0]], "counts": [3, 4], "other": 0, "threshold": None},
    "density of categories": {"keys": ["a"], "heights": [0.5], "other": 0.5},
    "linear regression": {"coef": [1.0], "intercept": 2.0, "names": ["age"], "link": "identity"},
    "kmeans": {"centres": [[1.0, 2.0]], "sizes": [5.0], "noise": [0.1], "loss": None},
    "gaussian of a table": {"mean": [1.0, 2.0], "covariance": [[1.0, 0.0], [0.0, 1.0]]},
    "family": {"shape": 2.0, "scale": 3.0},
    "covariance": [[1.0, 0.0], [0.0, 1.0]],
    "test_mean": {"statistic": 1.0, "p_value": 0.2},
}


@pytest.mark.parametrize("name", OLD)
def test_reports_of_the_first_format_still_read(name: str) -> None:
    """Values had no kind, and intervals had the form of the value."""
    old = OLD[name]
    record = {**records()[name], "value": old, "spread": None}
    if record["interval"] is not None:
        ends = old if isinstance(old, list) else old.get("counts", old.get("heights", old))
        record["interval"] = {**record["interval"], "low": ends, "high": ends}
    found = Report.of(dossier(entry(record, columns=["a", "b"]), format="discreet report 1"))
    ((_, shown),) = found.releases[0].shown()
    assert shown.numbers
    assert all(row.low == row.value for row in shown.drawn if record["interval"] is not None)
