"""What a release plan may say: names, types and ranges, checked before anything is opened."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from discreet.errors import BadInput
from discreet.privacy.declaration import declared

BESIDE: Final = ("epsilon", "delta", "where", "groupby", "keys", "neighbours", "unit", "missing", "rng")
MOST: Final = 500  # releases in a plan
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(max_length=10_000)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Chance = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]
Scalar = str | bool | int | float


def plannable(name: str) -> str:
    """The name of a statistic that a plan can hold: one without code, about one table."""
    try:
        statistic = declared(name)
    except BadInput as error:
        raise ValueError(str(error)) from None
    if statistic.code:
        raise ValueError(f"{name} runs code, and a plan holds none; ask for it in Python, in a session")
    if statistic.samples:
        raise ValueError(
            f"{name} compares groups whose members are public, and a plan is about one table, where they are not; ask "
            "for the mean with groupby, or for independence_test"
        )
    return name


class Section(BaseModel):
    """A part of a plan: nothing is guessed, nothing unknown is passed over."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Data(Section):
    """[data]: the table, whose rows it holds, and what a missing entry stands for."""

    source: Name = Field(description="a file, glob or folder, from the plan's folder; or a database's address")
    table: Name | None = Field(None, description="the table of a database")
    person: Name | None = Field(None, description="the column that says whose row it is")
    unit: Name | None = Field(None, description="what a row, or a person, is called: patient, say")
    neighbours: Literal["add_or_remove", "replace"] = Field(
        "add_or_remove", description="what is hidden; under replace the number of people is public"
    )
    rows: Annotated[int, Field(ge=1)] | None = Field(
        None, description="about how many people there are, if that is known to the public: for forecasts"
    )
    types: dict[Name, Literal["number", "integer", "boolean", "category", "text", "date", "percent", "thousands"]] = (
        Field({}, description="by column, what it holds, or how its numbers are written; else as the file declares")
    )
    missing: dict[Name, Scalar] = Field({}, description='by column: "drop", "keep", or a public value that stands in')
    per_person: dict[Name, Literal["first", "last", "mean", "sum", "count", "min", "max", "any", "all"]] = Field(
        {}, description="by column, what is made of a person's several rows"
    )
    max_rows: Annotated[int, Field(ge=1)] | None = Field(
        None, description="how many rows of a person sum and count read at most"
    )


class Population(Section):
    """[population]: whose budget is spent, and the ledger that keeps it."""

    name: Name
    ledger: Name = Field(description="a file, from the plan's folder; or a PostgreSQL address")
    epsilon: Positive | None = Field(None, description="the whole budget, needed when the population is new")
    delta: Chance = 0.0
    accounting: Literal["epsilon", "zcdp", "gdp"] = Field("epsilon", description="what the budget is counted in")
    analyst: Name | None = Field(None, description="whose part of the budget is spent as well")
    key: Name | None = Field(None, description="the file of the key, if it is not beside the ledger")
    anchor: Name | None = Field(None, description="the file of the anchor, if it is not beside the ledger")


class Spend(Section):
    """[spend]: what this plan may cost, all its releases together."""

    epsilon: Positive
    delta: Chance = 0.0


class PlannedRelease(Section):
    """[[release]]: one question. Its price is a share of the plan's epsilon, an epsilon, or what an accuracy takes."""

    id: Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    statistic: Annotated[str, AfterValidator(plannable)]
    columns: Name | list[Name] | None = Field(None, description="the column or columns that it is about")
    formula: Name | None = Field(None, description="of a regression: bmi ~ age + C(sex)")
    outcome: Name | None = Field(None, description="of a regression without a formula: the column that is explained")
    weights: Name | None = Field(None, description="of a regression: the column of weights")
    offset: Name | None = Field(None, description="of a regression: the column that is a known part of the outcome")
    where: Text | None = Field(None, description="which rows it is about: age >= 18 and sex == 'F'")
    groupby: Name | None = Field(None, description="one answer for each group, for the price of one")
    keys: list[Scalar] | None = Field(None, description="the groups; without them they are found, which needs delta")
    share: Positive | None = Field(None, description="of what the fixed prices leave; 1 if no price is given")
    epsilon: Positive | None = Field(None, description="a fixed price")
    accuracy: Positive | None = Field(None, description="half the width of the 95% interval that is wanted")
    delta: Chance | None = Field(None, description="else those that need one share half of the plan's")
    rows: Annotated[int, Field(ge=1)] | None = Field(
        None, description="about how many people it is about, if not all: for forecasts"
    )
    scale: Positive | None = Field(None, description="a public guess of the standard deviation, for forecasts")
    title: Text | None = Field(None, description="the question, in your words")
    options: dict[Name, Any] = Field({}, description="the statistic's own options")

    @model_validator(mode="after")
    def one_price(self) -> "PlannedRelease":
        """Exactly one way to say what it costs."""
        priced = [name for name in ("share", "epsilon", "accuracy") if getattr(self, name) is not None]
        if len(priced) > 1:
            raise ValueError(f"{' and '.join(priced)} are given; give one of share, epsilon and accuracy")
        return self

    @model_validator(mode="after")
    def own_options(self) -> "PlannedRelease":
        """The options are the statistic's own; what the entry itself says is not said again in them."""
        statistic = declared(self.statistic)
        twice = sorted({*BESIDE, *statistic.columns} & set(self.options))
        if twice:
            raise ValueError(f"options hold {', '.join(twice)}; write them in the release itself, not in its options")
        own = options_of(self.statistic)
        unknown = [name for name in self.options if name not in own]
        if unknown:
            has = f"it has {', '.join(own)}" if own else "it has none"
            raise ValueError(f"{self.statistic} has no option {', '.join(map(repr, unknown))}; {has}")
        return self

    def placed(self) -> dict[str, Any]:
        """The columns, by the parameters of the declaration; BadInput for what does not fit."""
        statistic = declared(self.statistic)
        beside = {name: getattr(self, name) for name in ("weights", "offset") if getattr(self, name) is not None}
        strange = [name for name in beside if name not in statistic.columns]
        if strange:
            raise BadInput(f"{self.statistic} takes no {strange[0]}; leave it out")
        return self._main() | beside

    def _main(self) -> dict[str, Any]:
        """Those without weights and offset."""
        statistic = declared(self.statistic)
        first, *more = statistic.columns
        if self.formula is not None:
            if statistic.formula is None:
                raise BadInput(f"{self.statistic} takes no formula; name its columns")
            if self.columns is not None or self.outcome is not None:
                raise BadInput("a formula names its own columns; leave columns and outcome out")
            return {first: self.formula}
        given: dict[str, Any] = {} if self.columns is None else {first: self.columns}
        single = more and all(statistic.reads(name, self.options).width == "one" for name in statistic.columns)
        if single and isinstance(self.columns, list):
            if len(self.columns) > len(statistic.columns):
                raise BadInput(
                    f"{self.statistic} is about {len(statistic.columns)} columns; {len(self.columns)} are given"
                )
            given = dict(zip(statistic.columns, self.columns, strict=False))
        if self.outcome is not None:
            if not more or more[0] in given:
                raise BadInput(f"{self.statistic} takes no outcome beside its columns; leave it out")
            given[more[0]] = self.outcome
        if first not in given and not statistic.reads(first, self.options).optional:
            raise BadInput(f"{self.statistic} needs columns{' or a formula' if statistic.formula else ''}; name them")
        return given


def options_of(name: str) -> tuple[str, ...]:
    """The options of a statistic that stand in `options`."""
    return tuple(option for option in declared(name).options if option not in BESIDE)


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
