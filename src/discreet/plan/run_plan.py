"""Run a plan: one charge for all of it, then every answer, stored and shown together.

Promise
    [run_plan.1] The plan is charged once, before a row is read, at what its composition costs; nothing is shown before
          all of it is stored. The same plan again gives the stored answers, at no cost, and a plan that was edited
          pays for its new questions alone.
Why
    [run_plan.1] [pricing.1] and [store.1], [store.2]. If the run is cut short, budget is spent and nothing
    was seen; the same plan then computes anew at no cost, and only what is stored is ever shown. A run that fails by
    itself after a draw has failed for good ([session.3]). What is stored is found by its question
    ([stored_answers.1]); what is charged is the composition of the others. After the table changed the same plan still
    has the answers of then: another date (`as_of`) asks anew.
"""

import hashlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, Final

from discreet.accounting.filter import Budget, Currency, Filter
from discreet.asking import Question
from discreet.errors import DiscreetError
from discreet.ledger.account import Receipt
from discreet.ledger.ledger_text import written
from discreet.plan.bound_plan import Bound
from discreet.plan.plan_file import PlannedRelease
from discreet.plan.pricing import Priced
from discreet.plan.stored_answers import Kept
from discreet.plan.stored_answers import paid as paid_before
from discreet.privacy.exact import exact, show
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate
from discreet.privacy.meaning import explain
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Groups, Release, versions
from discreet.privacy.values import plain
from discreet.session import Session, paid
from discreet.version import __version__

FORMAT: Final = "discreet report 2"
CALLING: Final = ("Pure", "No bounds", "delta")  # what a description says to those who call the function
Watch = Callable[[str], None]


def run_plan(bound: Bound, *, rng: Randomness | None = None, watch: Watch = lambda _: None) -> dict[str, Any]:
    """Charge, read, answer and store: the dossier of all answers. `watch` is told the title of each as it begins."""
    with bound.session(rng) as private:
        if bound.kept and not bound.priced.new:
            return _dossier(bound, private, private.balance, None, [])  # [stored_answers.1]
        for question in bound.priced.new:
            question.check()
        before, spent = private.balance, bound.priced.together
        counted = before.total.currency
        loss = Approximate(spent.epsilon, spent.delta) if counted is Currency.EPSILON else bound.priced.loss
        receipt = private.ledger.charge(
            private.population,
            loss,
            _note(bound),
            request=bound.request,
            analyst=private.analyst,
            source=private.table.identity,
        )  # [run_plan.1]
        if receipt.answer is not None:
            return stored(receipt.answer)
        answers = []
        with private.once(receipt) as noise:
            for question in bound.priced.new:
                watch(question.title)
                answers.append(_answered(question, private, noise, receipt))
            made = paid(lambda: json.dumps(_dossier(bound, private, before, receipt, answers), allow_nan=False))
        return stored(private.ledger.store(receipt, made))


def _answered(question: Question, session: Session, rng: Randomness, receipt: Receipt) -> Release[Any] | Groups:
    return paid(lambda: question.answer(session.table, rng).signed(str(receipt)))


def _dossier(
    bound: Bound, private: Session, before: Filter, receipt: Receipt | None, answers: Sequence[Release[Any] | Groups]
) -> dict[str, Any]:
    """The report of new answers, and of those that were stored before."""
    kept, new = bound.kept, iter(answers)
    entries = [
        _entry(bound, place, next(new)) if place not in kept else _kept_entry(bound, place)
        for place in range(len(bound.digests))
    ]
    cost, off = paid_before(kept)
    together = bound.priced.together
    spent = Budget(cost + (exact(together.epsilon) if receipt else 0), off + (exact(together.delta) if receipt else 0))
    made = dossier(
        title=bound.plan.title,
        description=bound.plan.description,
        data=about(private, bound.plan.data.unit_plural) | ({} if bound.as_of is None else {"as_of": bound.as_of}),
        entries=entries,
        spent=spent,
        balance=(before, private.balance),
        composition=composition(bound.priced),
        methods=methods(bound.priced.questions, [mechanisms(entry) for entry in entries]),
        answers=answers,
        receipt=receipt,
        plan=bound.digest,
    )
    if private.analyst is not None:
        made["budget"] |= _whole(private)
    return with_kept(made, kept) if kept else made


def _whole(private: Session) -> dict[str, Any]:
    """Whose part of the budget it is, and the population's, of which it is a part."""
    whole = private.ledger.balance(private.population)
    told = plain(whole.budget) | {"population": private.population, "left": _amount(whole.left)}
    return {"analyst": private.analyst, "whole": told}


def with_kept(made: dict[str, Any], kept: Mapping[int, Kept]) -> dict[str, Any]:
    """The report, with what is to be said of answers that were stored before: receipts, assumptions, cost."""
    reports = [one.report for one in kept.values()]
    made["assumptions"] = list(
        dict.fromkeys([*made["assumptions"], *(one for old in reports for one in old["assumptions"])])
    )
    receipts = [*(one for old in reports for one in old["reproducibility"]["receipts"])]
    made["reproducibility"]["receipts"] = list(dict.fromkeys([*receipts, *made["reproducibility"]["receipts"]]))
    cost, off = paid_before(kept)
    told = f"{len(kept)} of the answers were stored before, for epsilon {show(cost)}, and cost nothing now. "
    made["budget"]["composition"] = told + (made["budget"]["composition"] if len(kept) < len(made["releases"]) else "")
    if (before := made["budget"]["spent_before"]) is not None:
        before["epsilon"] = max(0.0, before["epsilon"] - float(cost))
        before["delta"] = max(0.0, before["delta"] - float(off))
    if len(kept) == len(made["releases"]):
        made["created"] = max(old["created"] for old in reports)
    return made


def _kept_entry(bound: Bound, place: int) -> dict[str, Any]:
    """A stored entry under the name and the title that the plan gives it now."""
    asked, question = bound.plan.release[place], bound.priced.questions[place]
    return dict(bound.kept[place].entry) | {"id": asked.id, "question": asked.title or question.title}


def stored(text: str) -> dict[str, Any]:
    """The dossier that the ledger keeps."""
    found: dict[str, Any] = json.loads(text)
    if "failed" in found:
        raise DiscreetError(
            "no answers could be made to this plan when it was paid for, and a second draw would cost as much again; "
            "to pay for one, give the plan another title or another date (--as-of)"
        )
    return found


def _note(bound: Bound) -> str:
    """The plan's title, and in the next line the whole plan, or its digest if it is too long for a note."""
    return written(f"plan: {bound.plan.title}", {"plan": bound.plan.model_dump(mode="json", exclude_defaults=True)})


def about(private: Session, units: str | None = None) -> dict[str, Any]:
    """The table, for readers: nothing that was seen in it."""
    return {
        "source": private.table.description,
        "population": private.population,
        "unit": private.people.unit,
        "person": private.people.person,
        "neighbours": private.people.neighbours.value,
        "rows": None,
        **({} if units is None else {"unit_plural": units}),
    }


def dossier(
    *,
    title: str,
    description: str | None,
    data: dict[str, Any],
    entries: list[dict[str, Any]],
    spent: Budget,
    balance: tuple[Filter, Filter] | None,
    composition: str,
    methods: list[dict[str, str]],
    answers: Sequence[Release[Any] | Groups],
    receipt: Receipt | None,
    plan: str | None,
) -> dict[str, Any]:
    """What a report is made of; `balance` is the budget before and after."""
    guarantee = Guarantee(spent.epsilon, spent.delta, Neighbours(data["neighbours"]), data["unit"])
    this = {"epsilon": float(spent.epsilon), "delta": float(spent.delta)}
    budget = this if balance is None else plain(balance[0].budget)
    return {
        "format": FORMAT,
        "title": title,
        "description": description,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": data,
        "budget": {
            **budget,
            "spent_before": None if balance is None else _amount(balance[0].spent),
            "this": this,
            "left": None if balance is None else _amount(balance[1].left),
            "composition": composition,
        },
        "releases": entries,
        "meaning": list(explain(guarantee).sentences),
        "methods": methods,
        "assumptions": _assumptions(answers),
        "reproducibility": {
            "discreet": __version__,
            "packages": dict(versions()),
            "plan_sha256": plan,
            "ledger": None
            if receipt is None
            else {"id": receipt.ledger, "population": receipt.population, "analyst": receipt.analyst},
            "receipts": [] if receipt is None else [str(receipt)],
        },
    }


def composition(priced: Priced) -> str:
    """How the releases add up, in a sentence."""
    together, apart = float(priced.together.epsilon), float(priced.apart)
    count = len(priced.new)
    if count == 1:
        return f"One release, epsilon {show(together)}."
    if together < apart * (1 - 1e-9):
        return (
            f"{count} releases, declared together and composed as one by their privacy loss distributions: epsilon "
            f"{show(together)} at delta {show(priced.together.delta)}; one by one they would add up to {show(apart)}."
        )
    return f"{count} releases, whose epsilons add up to {show(together)}."


def price_list(bound: Bound) -> dict[str, Any]:
    """What a plan costs and how accurate its answers should be, as plain values; nothing is read but its schema."""
    both = zip(bound.plan.release, bound.priced.questions, bound.forecasts, strict=True)
    return {
        "title": bound.plan.title,
        "request": bound.request,
        "spend": {"epsilon": float(bound.priced.together.epsilon), "delta": float(bound.priced.together.delta)},
        "composition": composition(bound.priced),
        "releases": [
            {
                "id": asked.id,
                "question": asked.title or question.title,
                "epsilon": float(question.price.guarantee.epsilon),
                "delta": float(question.price.guarantee.delta),
                "forecast": forecast,
            }
            | ({"stored": True} if place in bound.kept else {})
            for place, (asked, question, forecast) in enumerate(both)
        ],
    }


def _amount(amount: Any) -> dict[str, float] | None:
    if amount.currency is not Currency.EPSILON:
        return None
    return {"epsilon": float(amount.cost), "delta": float(amount.delta)}


def _entry(bound: Bound, place: int, answer: Release[Any] | Groups) -> dict[str, Any]:
    asked, question = bound.plan.release[place], bound.priced.questions[place]
    columns = asked.columns if isinstance(asked.columns, list) else [asked.columns] if asked.columns else []
    entry: dict[str, Any] = {
        "id": asked.id,
        "question": asked.title or question.title,
        "statistic": asked.statistic,
        "columns": columns or _columns_of(question),
        "where": asked.where,
        "by": " and ".join(answer.columns) if isinstance(answer, Groups) else None,
        "options": plain(asked.options) | _fitted(asked),
        "forecast": bound.forecasts[place],
        "digest": bound.digests[place],
    }
    return entry | shown(answer)


def _fitted(asked: PlannedRelease) -> dict[str, str]:
    """What was fitted, for readers: a listed estimator, or the digest of code."""
    if asked.code is not None:
        return {"code_sha256": hashlib.sha256(asked.code.encode()).hexdigest()}
    return {} if asked.estimator is None else {"estimator": asked.estimator}


def _columns_of(question: Question) -> list[str]:
    """The columns of a question, each once; of a count of all, none."""
    return [want.name for want in question.wanted.wants] if question.wanted.references else []


def shown(answer: Release[Any] | Groups) -> dict[str, Any]:
    """An answer's record, under the name that tells whether it is one or one for each group."""
    return {"groups": answer.to_dict()["groups"]} if isinstance(answer, Groups) else {"release": answer.to_dict()}


def _all(answers: Sequence[Release[Any] | Groups]) -> list[Release[Any]]:
    return [one for answer in answers for one in (answer.values() if isinstance(answer, Groups) else [answer])]


def mechanisms(entry: Mapping[str, Any]) -> list[str]:
    """The names in the records of an entry, new or stored: of one release, or of one for each group."""
    groups = entry.get("groups")
    made = [entry["release"]] if groups is None else [group["release"] for group in groups]
    return [one["provenance"]["mechanism"] for one in made]


def methods(questions: Sequence[Question], mechanisms: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Each statistic once, for readers: what it gives, who has published the method, and its names in the records."""
    found: dict[str, tuple[str, dict[str, None], dict[str, None]]] = {}
    for question, names in zip(questions, mechanisms, strict=True):
        price, name = question.price, question.statistic.name
        _, sources, recorded = found.setdefault(name, (_told(question.statistic.make.__doc__ or ""), {}, {}))
        recorded |= dict.fromkeys(names)
        if price.finder is not None:
            recorded[type(price.finder).__name__] = None
        if source := published(type(price.mechanism)):
            sources[f"Method: {source}."] = None
    return [
        {"name": _heading(name), "text": " ".join([told, *sources, f"In the records: {', '.join(recorded)}."])}
        for name, (told, sources, recorded) in found.items()
    ]


def _heading(name: str) -> str:
    return name[:1].upper() + name[1:].replace("_", " ")


def _told(text: str) -> str:
    """The first paragraph of a statistic's description, without what is said to those who call it."""
    first = " ".join(inspect.cleandoc(text).split("\n\n")[0].split())
    kept = [said for said in re.split(r"(?<=[.])\s+", first) if "`." not in said and not said.startswith(CALLING)]
    return " ".join(kept or [first]).replace("`", "")


def published(kind: type) -> str:
    """Who has published a mechanism's method, by the proof in its module; nothing where that names nobody.

    >>> from discreet.statistics.count import Count
    >>> published(Count)
    'Ghosh, Roughgarden and Sundararajan 2009'
    """
    lines = (sys.modules[kind.__module__].__doc__ or "").splitlines()
    if "Source" not in lines:
        return ""
    section = takewhile(lambda line: not line or line.startswith(" "), lines[lines.index("Source") + 1 :])
    found = re.split(r"(?<=[\d)])\.", " ".join(line.strip() for line in section if line.strip()))[0]
    found = found.rstrip(".")
    return found if re.search(r"\d{4}", found) and ".py" not in found and "[" not in found else ""


def _assumptions(answers: Sequence[Release[Any] | Groups]) -> list[str]:
    """What was noted of groups, and what the intervals are about, each once."""
    noted = [note for answer in answers if isinstance(answer, Groups) for note in answer.notes]
    said: dict[str, None] = dict.fromkeys(f"{note[:1].upper()}{note[1:]}." for note in noted)
    for release in _all(answers):
        if release.refusal is None and release.spread is not None:
            try:
                bar = release.interval(float(getattr(release.spread, "confidence", 0.95)))
            except Exception:  # noqa: BLE001, S112  an answer without an interval assumes nothing
                continue
            if bar.population:
                said["Confidence intervals are for a population that the people were drawn from independently."] = None
            else:
                said["Noise intervals are for the numbers in this table; they say nothing of a population."] = None
    return list(said)
