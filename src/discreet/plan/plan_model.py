"""What a release plan may say: names, types and ranges, checked before anything is opened."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from discreet.session.columns import VERBS

CODE: Final = ("fit", "test_any")  # they run code, which a plan does not hold
STATISTICS: Final = tuple(name for name in VERBS if name not in CODE)
MOST: Final = 500  # releases in a plan
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(max_length=10_000)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Chance = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]
Scalar = str | bool | int | float


class Section(BaseModel):
    """A part of a plan: nothing is guessed, nothing unknown is passed over."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Data(Section):
    """[data]: the table, whose rows it holds, and what a missing entry stands for."""

    source: Name = Field(description="a file, glob or folder, from the plan's folder; or a database's address")
    table: Name | None = Field(None, description="the table of a database")
    person: Name | None = Field(None, description="the column that says whose row it is")
    unit: Name | None = Field(None, description="what a row, or a person, is called: patient, say")
    neighbours: Literal["add_or_remove", "replace"] = "add_or_remove"
    rows: Annotated[int, Field(ge=1)] | None = Field(
        None, description="about how many people there are, if that is known to the public: for forecasts"
    )
    types: dict[Name, Literal["number", "integer", "boolean", "text", "date"]] = {}
    missing: dict[Name, Scalar] = Field({}, description='by column: "drop", "keep", or a public value that stands in')
    rules: dict[Name, Literal["first", "last", "mean", "sum", "count", "min", "max", "any", "all"]] = {}
    cap: Annotated[int, Field(ge=1)] | None = Field(None, description="most rows of a person that sum and count read")


class Population(Section):
    """[population]: whose budget is spent, and the ledger that keeps it."""

    name: Name
    ledger: Name = Field(description="a file, from the plan's folder; or a PostgreSQL address")
    epsilon: Positive | None = Field(None, description="the whole budget, needed when the population is new")
    delta: Chance = 0.0
    counted: Literal["epsilon", "rho", "mu squared"] = "epsilon"
    analyst: Name | None = None
    key: Name | None = Field(None, description="the file of the key, if it is not beside the ledger")
    anchor: Name | None = None


class Spend(Section):
    """[spend]: what this plan may cost, all its releases together."""

    epsilon: Positive
    delta: Chance = 0.0


class PlannedRelease(Section):
    """[[release]]: one question. Its price is a share of the plan's epsilon, an epsilon, or what an accuracy takes."""

    id: Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    statistic: Literal[STATISTICS]  # type: ignore[valid-type]
    columns: Name | list[Name] | None = None
    formula: Name | None = Field(None, description="of a regression: bmi ~ age + C(sex)")
    outcome: Name | None = Field(None, description="of a regression without a formula")
    where: Text | None = None
    groupby: Name | None = None
    keys: list[Scalar] | None = None
    share: Positive | None = None
    epsilon: Positive | None = None
    accuracy: Positive | None = Field(None, description="half the width of the 95% interval that is wanted")
    delta: Chance | None = None
    rows: Annotated[int, Field(ge=1)] | None = Field(
        None, description="about how many people it is about, if not all: for forecasts"
    )
    scale: Positive | None = Field(None, description="a public guess of the standard deviation, for forecasts")
    title: Text | None = None
    options: dict[Name, Any] = {}

    @model_validator(mode="after")
    def one_price(self) -> "PlannedRelease":
        """Exactly one way to say what it costs; what is written once is not written again."""
        priced = [name for name in ("share", "epsilon", "accuracy") if getattr(self, name) is not None]
        if len(priced) > 1:
            raise ValueError(f"{' and '.join(priced)} are given; give one of share, epsilon and accuracy")
        if self.formula is not None and (self.columns is not None or self.outcome is not None):
            raise ValueError("a formula names its own columns; leave columns and outcome out")
        reserved = {"epsilon", "delta", "where", "groupby", "keys", "neighbours", "unit", "rng", "x", "X", "y", "data"}
        twice = sorted(reserved & set(self.options))
        if twice:
            raise ValueError(f"options hold {', '.join(twice)}; these stand beside options, not in them")
        return self


class Plan(Section):
    """A release plan."""

    title: Name
    description: Text | None = None
    data: Data
    population: Population
    spend: Spend
    release: Annotated[list[PlannedRelease], Field(min_length=1, max_length=MOST)]

    @model_validator(mode="after")
    def own_ids(self) -> "Plan":
        """Each release has a name of its own."""
        seen: set[str] = set()
        for asked in self.release:
            if asked.id.lower() in seen:
                raise ValueError(f"two releases are called {asked.id!r}; give each its own id")
            seen.add(asked.id.lower())
        return self
