"""A question that was named by its statistic and columns, in words for readers."""

import re
from typing import Final

SIGNS: Final = {
    ">=": "is at least",
    "<=": "is at most",
    "==": "is",
    "!=": "is not",
    ">": "is above",
    "<": "is below",
}
SIGN: Final = re.compile(r"""("[^"]*"|'[^']*')|\s*(>=|<=|==|!=|>|<)\s*""")
OPENINGS: Final = {"histogram of ": "how many by ", "proportion of ": "share with ", "count where ": "how many where "}
NAMES: Final = {
    "ecdf of ": "distribution function of ",
    "fit distribution of ": "distribution fitted to ",
    "iqr of ": "interquartile range of ",
    "maximum of ": "high quantile of ",
    "minimum of ": "low quantile of ",
    "top of ": "most frequent entries of ",
}
OF_EACH: Final = re.compile(r" \((?:the \w+ of )?each [^()]*'s [^()]*rows?\)$")


def in_words(asked: str) -> str:
    """A question that was named by its statistic and columns, for readers; one in somebody's own words as it is.

    >>> in_words("mean of bmi where age >= 18"), in_words("proportion of smoker == 'Yes'")
    ('Mean of bmi where age is at least 18', "Share with smoker is 'Yes'")
    """
    said = _opened(asked, NAMES | OPENINGS)
    said = SIGN.sub(lambda found: found[1] or f" {SIGNS[found[2]]} ", said)
    return said[:1].upper() + said[1:]


def named(asked: str) -> str:
    """A question by the name of what was asked, without what was made of each person's rows: a note says that.

    >>> named("iqr of age (the mean of each patient's rows)"), named("mean of age")
    ('interquartile range of age', 'mean of age')
    """
    return OF_EACH.sub("", _opened(asked, NAMES))


def _opened(asked: str, openings: dict[str, str]) -> str:
    return next((new + asked.removeprefix(old) for old, new in openings.items() if asked.startswith(old)), asked)
