"""A budget in exact parts: what is handed out is what there was."""

from fractions import Fraction

from discreet.errors import BadInput
from discreet.privacy.exact import Number, exact, is_number
from discreet.privacy.loss import total


def split(number: Number, *shares: Number) -> tuple[Fraction, ...]:
    """`number` in proportion to `shares`, as rationals that sum to it exactly.

    Split an epsilon, a delta, a rho or a mu squared: what adds up. (mu does not; its square does.)

    >>> split(1.0, 0.3, 0.7)
    (Fraction(3, 10), Fraction(7, 10))
    >>> split(0.1, 1, 1, 1)
    (Fraction(1, 30), Fraction(1, 30), Fraction(1, 30))
    """
    if not is_number(number) or number <= 0:
        raise BadInput(f"there is nothing to split: {number!r}; give a finite number above 0")
    if not shares:
        raise BadInput("into no shares nothing can be split; give one or more, for example split(1.0, 0.3, 0.7)")
    for share in shares:
        if not is_number(share) or share <= 0:
            raise BadInput(f"a share is {share!r}; every share must be a finite number above 0")
    whole = total(shares)
    return tuple(exact(number) * exact(share) / whole for share in shares)
