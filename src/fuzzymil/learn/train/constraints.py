"""What training must respect in rules that a person wrote: order of terms, overlap, conclusions, signs of slopes."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.rules.rule import Names

__all__ = ["Constraints", "Touched"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Constraints:
    """What training must keep of the rules it starts from.

    Pass one to an estimator as ``constraints=``, together with rules as ``init=``. After every step, what left its
    bounds is moved back to them; a model's ``active_bounds_`` lists what ended at a bound. All numbers are in the units
    of the data. Rules that violate a constraint from the start raise an error.

    Parameters
    ----------
    conclusions : (low, high) or mapping of output to (low, high), optional
        What rules may conclude. Of a linear conclusion, this is its value anywhere in the ranges of the variables (of
        the data, where a variable declares no range). Of additive rules, it is what a rule may add. None: anything.
    ordered : bool
        Whether the terms of a variable keep their order, so that *low* stays below *high*: the peak of each stays
        between the midpoints to its neighbors' starting peaks, and within the range of the variable (of the data, if
        it declares none) unless it starts beyond that. A sigmoid stays open to the same side.
    overlap : float, optional
        The least membership, at most 0.5, at which neighboring terms of a variable cross. Between their peaks, no
        value then has a lower membership in both. It implies ``ordered``. The two edges of a `PiShape`, a
        `TwoSidedGaussian` or two sigmoids stay so far apart that the membership between them is at least the square
        root of it. None: no condition.
    signs : bool, or mapping of variable to {-1, 0, 1}
        The signs of slopes in linear conclusions. True: the slopes that are not zero keep their sign. A mapping
        states the sign for some variables; 0 keeps their slopes at zero.
    stay : float
        Strength of a penalty on the distance from the start: ``stay / 2`` times the sum of the squared changes of all
        free parameters (locations and conclusions on standardized axes, logarithms of widths) is added to the loss.

    Examples
    --------
    >>> from fuzzymil import Constraints, MIANFISClassifier, RuleBase, Training
    >>> rules = RuleBase.parse('''
    ... VARIABLE lactate [mmol/l] FROM 0 TO 10: normal = Gaussian(1, 1), high = Gaussian(4, 1.5)
    ... IF lactate is high THEN dies = 0.9
    ... IF lactate is normal THEN dies = 0.1
    ... ''')
    >>> bags = [[[1.0], [1.2]], [[5.0], [2.0]], [[0.8]], [[6.1]]]
    >>> limits = Constraints(conclusions=(0, 1), ordered=True, overlap=0.2)
    >>> model = MIANFISClassifier(init=rules, constraints=limits, training=Training(learning_rate=0.3))
    >>> model = model.fit(bags, [0, 1, 0, 1])
    >>> for entry in model.active_bounds_:
    ...     print(entry)
    rule 1: dies = 1, at the upper bound of conclusions
    rule 2: dies = 0, at the lower bound of conclusions
    lactate.high: peak = 10, at the upper end of the range
    lactate.normal: peak = 0, at the lower end of the range
    lactate.normal: overlap with high = 0.2, at the least overlap
    """

    conclusions: Any = None
    ordered: bool = False
    overlap: float | None = None
    signs: Any = False
    stay: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.ordered, bool | np.bool_):
            raise ParameterError(f"ordered must be True or False, got {self.ordered!r}.")
        if self.overlap is not None and not (_is_number(self.overlap) and 0 < self.overlap <= 0.5):
            raise ParameterError(f"overlap must be None, or above 0 and at most 0.5, got {self.overlap!r}.")
        if not _is_number(self.stay) or self.stay < 0:
            raise ParameterError(f"stay must be a number of at least 0, got {self.stay!r}.")
        if isinstance(self.conclusions, Mapping):
            found: Any = Names({str(name): _interval(name, pair) for name, pair in self.conclusions.items()})
        else:
            found = None if self.conclusions is None else _interval("conclusions", self.conclusions)
        object.__setattr__(self, "conclusions", found)
        if isinstance(self.signs, Mapping):
            for name, sign in self.signs.items():
                if not _is_number(sign) or sign not in (-1, 0, 1):
                    raise ParameterError(f"signs: {name!r} must have the sign -1, 0 or 1, got {sign!r}.")
            object.__setattr__(self, "signs", Names({str(name): int(sign) for name, sign in self.signs.items()}))
        elif not isinstance(self.signs, bool | np.bool_):
            raise ParameterError(f"signs must be True, False or a mapping {{'depth': 1}}, got {self.signs!r:.100}.")

    @classmethod
    def of(cls, value: object) -> Constraints | None:
        """Return the constraints that a ``constraints=`` parameter means; None if nothing is constrained.

        Examples
        --------
        >>> Constraints.of({"ordered": True}) == Constraints(ordered=True)
        True
        """
        if isinstance(value, Mapping):
            for name in value:
                known_name("constraint", name, [field.name for field in dataclasses.fields(cls)])
            value = cls(**value)
        if value is not None and not isinstance(value, Constraints):
            raise ParameterError(f"constraints must be None, Constraints(...) or a dict of them, got {value!r:.100}.")
        return None if value == Constraints() else value

    def to_dict(self) -> dict[str, Any]:
        """Return the constraints as plain values.

        Examples
        --------
        >>> Constraints.of(Constraints(conclusions={"sky": (0, 1)}).to_dict()).conclusions
        {'sky': (0.0, 1.0)}
        """
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: dict(value) if isinstance(value, Names) else value for name, value in plain.items()}


class Touched(NamedTuple):
    """A parameter that training left at a bound.

    Attributes
    ----------
    where : str
        ``"rule 2"`` or ``"hue.dark"``; of two terms that must overlap, the lower one.
    what : str
        The parameter: ``"peak"``, ``"overlap with light"``, an output, or the ``"slope of hue in sky"``.
    value : float
        In the units of the data.
    bound : str
        The bound that it is at.

    Examples
    --------
    >>> print(Touched("rule 1", "sky", 1.0, "upper bound of conclusions"))
    rule 1: sky = 1, at the upper bound of conclusions
    """

    where: str
    what: str
    value: float
    bound: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what} = {self.value:.4g}, at the {self.bound}"


# ---------------------------------------------------------------------- values


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(float(value))


def _interval(name: object, value: Any) -> tuple[float, float]:
    pair = tuple(value) if isinstance(value, tuple | list | np.ndarray) else ()
    if len(pair) != 2 or not all(isinstance(v, numbers.Real) and not math.isnan(v) for v in pair) or pair[0] > pair[1]:
        raise ParameterError(f"conclusions: expected two numbers (low, high) for {name!r}, got {value!r:.100}.")
    return float(pair[0]), float(pair[1])
