"""The set of what is not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.arrays import namespace
from fuzzymil.inference.membership._base import MembershipFunction

if TYPE_CHECKING:
    import jax


@dataclass(frozen=True)
class Missing(MembershipFunction, name="missing"):
    """What is not there: 1 for a missing value, 0 for every number. Training leaves it as it is.

    In rules, ``lactate is missing`` means this set, unless the variable has another term of that name.

    Examples
    --------
    >>> Missing()([0.0, float("nan")]).tolist()
    [0.0, 1.0]
    """

    trainable = False

    @staticmethod
    def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        del parameters
        xp = namespace(x)
        return xp.where(xp.isnan(x), 0.0, -xp.inf)

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        del parameters
        return 0.0  # no number is typical

    @classmethod
    def spread(cls, *parameters: Any) -> Any:
        del parameters
        return 0.0

    @classmethod
    def describes_set(cls, *parameters: Any) -> Any:
        del parameters
        return True
