"""Sets given by a formula."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership._arithmetic import Arithmetic
from fuzzymil.inference.membership._base import Location, MembershipFunction, Text, Width

if TYPE_CHECKING:
    import jax


@dataclass(frozen=True)
class Formula(MembershipFunction, name="formula"):
    """A set given by arithmetic over ``x``; `Arithmetic` lists what a formula may contain.

    Where the formula is below 0 the membership is 0, and where it is above 1 it is 1. Training shifts and stretches
    the set: ``shift`` and ``scale`` mean that ``x`` in the formula is ``(x - shift) / scale``.

    As a term of an output that is an average or a sum, a formula is a number instead, computed from the features
    and outputs that it names: ``Formula("2 * depth + sin(angle)")``; see `fuzzymil.rules.RuleBase`.

    Examples
    --------
    >>> Formula("1 - abs(x)")([-2, 0, 0.25]).tolist()
    [0.0, 1.0, 0.75]
    >>> Formula("1 - abs(x)", shift=10, scale=4)([9, 10]).tolist()
    [0.75, 1.0]
    """

    text: Text
    shift: Location = 0.0
    scale: Width = 1.0

    _formula: ClassVar[Arithmetic | None] = None

    def _check(self) -> None:
        super()._check()
        Arithmetic(self.text)  # raises an error if it is not a formula

    @property
    def names(self) -> tuple[str, ...]:
        """The variables in the formula, only ``x`` in that of a set."""
        return Arithmetic(self.text).names

    def check_set(self) -> None:
        """Raise `ParameterError` if the formula has variables other than ``x``."""
        others = [name for name in self.names if name != "x"]
        if others:
            raise ParameterError(f"Formula: the variable of a set is called x, found {others[0]!r} in {self.text!r}.")

    def number(self, variables: Mapping[str, Any]) -> Any:
        """Return the number that the formula means for these values of its variables, arrays or numbers.

        Examples
        --------
        >>> float(Formula("2 * depth + 1").number({"depth": 1.5}))
        4.0
        """
        return Arithmetic(self.text).value(variables)

    @classmethod
    def takes(cls, count: int) -> bool:
        """Return whether the constructor takes this number of arguments: the text alone, or with shift and scale."""
        return count in (1, 3)

    @property
    def kind(self) -> str:
        """The name with the text."""
        return f"{self.name}:{self.text}"

    @classmethod
    @functools.cache
    def of_kind(cls, detail: str) -> type[MembershipFunction]:
        """Return the class of the sets with this text."""
        formula = Arithmetic(detail)

        class Written(Formula):
            @staticmethod
            def log_mu(x: jax.Array, *parameters: jax.Array) -> jax.Array:
                return _log_mu(formula, x, *parameters)

        return Written

    @property
    def arguments(self) -> tuple[float | str, ...]:
        """The text, and shift and scale if the set is moved."""
        moved = self.shift != 0 or self.scale != 1
        return (self.text, self.shift, self.scale) if moved else (self.text,)

    def with_parameters(self, *parameters: float) -> MembershipFunction:
        """Return the same formula, shifted and stretched."""
        return Formula(self.text, *parameters)

    def log_mu(self, x: jax.Array, *parameters: jax.Array) -> jax.Array:  # type: ignore[override]
        """Return the logarithm of the membership; ``-inf`` where it is exactly zero."""
        self.check_set()
        return _log_mu(Arithmetic(self.text), x, *parameters)

    @classmethod
    def peak(cls, *parameters: Any) -> Any:
        """Return where x is 0 in the formula: a formula does not say where it peaks."""
        return parameters[0]


def _log_mu(formula: Arithmetic, x: jax.Array, shift: jax.Array, scale: jax.Array) -> jax.Array:
    xp = namespace(x)
    z = (x - shift) / scale
    log_mu = formula.log_value({"x": z}) + 0.0 * z  # of the full shape, even if the formula is a number
    return xp.minimum(log_mu, 0.0)
