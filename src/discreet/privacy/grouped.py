"""One answer for each group of people, all for the price of one.

Promise
    [grouped.1] If every person is in at most one group, and each group's answer is (epsilon, delta) when one person is
          added to it or removed, then all answers together are (epsilon, delta) when one person is added or removed.

Why
    [grouped.1] The person's group changes by one person, every other is the same: the joint distribution is a product
    of distributions that are equal in all factors but one.

Source
    McSherry 2009 (parallel composition).
"""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from discreet.errors import BadInput, Refused, printable
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.intervals import check_confidence
from discreet.privacy.release import Release, card, columns_of, json_text
from discreet.privacy.safe_text import clean
from discreet.privacy.shown import Shown
from discreet.privacy.value_arrays import frame
from discreet.privacy.values import label, plain


@dataclass(frozen=True, slots=True)
class Groups(Mapping[Any, Release[Any]]):
    """The releases by group; `by` is the column that says who is in which."""

    by: str
    guarantee: Guarantee  # of all answers together [grouped.1]
    _: KW_ONLY
    releases: tuple[tuple[Any, Release[Any]], ...]
    name: str
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: Any) -> Release[Any]:
        for known, release in self.releases:
            if known == key and type(known) is type(key):
                return release
        raise BadInput(f"there is no group {key!r}; there are {', '.join(repr(known) for known, _ in self.releases)}")

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    @property
    def refusal(self) -> str | None:
        """Why there is no answer at all, if there is none."""
        if not self.releases:
            return f"no group by {self.by} is large enough to be shown"
        refused = [release.refusal for _, release in self.releases]
        return refused[0] if all(refused) else None

    @property
    def publishable(self) -> bool:
        """Whether all of the noise was secret."""
        return all(release.provenance.publishable for _, release in self.releases)

    def signed(self, receipt: str) -> "Groups":
        """The same, with the ledger's receipt on each."""
        marked = tuple((key, release.signed(receipt)) for key, release in self.releases)
        return Groups(self.by, self.guarantee, releases=marked, name=self.name, notes=self.notes)

    def to_dict(self, confidence: float | None = None) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "by": self.by,
            "guarantee": plain(self.guarantee) | {"sentence": str(self.guarantee)},
            "notes": list(self.notes),
            "groups": [{"key": plain(key), "release": release.to_dict(confidence)} for key, release in self.releases],
        }

    def to_json(self, confidence: float | None = None, *, indent: int | None = 2) -> str:
        """As JSON."""
        return json_text(self.to_dict(confidence), indent)

    def shown(self, confidence: float | None = None) -> list[tuple[Any, Shown]]:
        """What there is to show of each group."""
        return [(key, release.shown(confidence)) for key, release in self.releases]

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Every number of every group with its interval and the parts of its error, as a pandas data frame."""
        rows = [((key,), shown) for key, shown in self.shown(check_confidence(confidence))]
        return frame(columns_of(rows, (self.by,)))

    def describe(self) -> str:
        """In plain words."""
        return "; ".join(f"{label(key)}: {shown.value or 'refused'}" for key, shown in self.shown()) + "."

    def plot(self, confidence: float = 0.95, *, ax: Any = None) -> Any:
        """Draw one number for each group, with its interval (needs the extra `plot`); returns the axes."""
        from discreet.privacy.picture import draw_groups

        if self.refusal is not None:
            raise Refused(self.refusal)
        promise = [f"  {self.guarantee}", *(["  not for publication: seeded noise"] if not self.publishable else [])]
        return draw_groups(self.name, self.shown(check_confidence(confidence)), promise, ax)

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        return card(str(self).splitlines())

    def __str__(self) -> str:
        lines = [f"{self.name}:"]
        for key, release in self.releases:
            answer, *rest = str(release).splitlines()
            shown = answer.removeprefix(f"{clean(release.name)}: ")
            bar = [line.strip() for line in rest if " interval " in line]
            lines.append(f"  {clean(str(key))}: {shown}" + (f" ({bar[0]})" if bar else ""))
        return printable("\n".join([*lines, f"  {self.guarantee}", *(f"  note: {note}" for note in self.notes)]))
