"""The base class of membership functions, and the registry of families.

The network uses a family without instances: ``log_mu`` takes arrays of parameters of any shape that broadcasts with
``x`` (Layer 1, equation (6)). Training moves *free* parameters, which may be any real number; ``to_free`` and
``from_free`` convert (a width is trained as its logarithm). The annotation of a parameter states its role:

============  ==============================  ============  ==============  =========================
annotation    meaning                         allowed       trained as      on the axis ``a + s * x``
============  ==============================  ============  ==============  =========================
`Location`    a value on the axis             any           itself          ``a + s * value``
`Width`       a distance                      above 0       its logarithm   ``s * value``
`Shape`       a number without a unit         above 0       its logarithm   ``value``
`Steepness`   change per unit; signed         not 0         itself          ``value / s``
`Degree`      a membership                    0 to 1        nothing         ``value``
`Side`        right if positive, else left    not 0         nothing         ``value``
`Text`        a formula                       any           nothing         (see `Formula`)
============  ==============================  ============  ==============  =========================

Training leaves degrees, sides and texts as they are.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.errors import ParameterError, did_you_mean
from fuzzymil._utils.registry import register
from fuzzymil._utils.runtime import in_64_bit
from fuzzymil.inference._numerics import stop_gradient

Parameters = tuple[Any, ...]
"""One array (or number) per parameter of a family, in order."""

Location = Annotated[float, "location"]
Width = Annotated[float, "width"]
Shape = Annotated[float, "shape"]
Steepness = Annotated[float, "steepness"]
Degree = Annotated[float, "degree"]
Side = Annotated[float, "side"]
Text = Annotated[str, "text"]

FAMILIES: dict[str, type[MembershipFunction]] = {}
"""All families by name."""

_ALLOWED: dict[str, tuple[Callable[[float], bool], str]] = {
    "width": (lambda value: value > 0, "be greater than 0"),
    "shape": (lambda value: value > 0, "be greater than 0"),
    "steepness": (lambda value: value != 0, "not be 0 (the set would be flat)"),
    "side": (lambda value: value != 0, "be above 0 (right) or below 0 (left)"),
    "degree": (lambda value: 0 <= value <= 1, "be from 0 to 1"),
}
_TO_FREE: dict[str, Callable[[Any], Any]] = dict.fromkeys(("width", "shape"), lambda v: namespace(v).log(v))
_FROM_FREE: dict[str, Callable[[Any], Any]] = dict.fromkeys(("width", "shape"), lambda v: namespace(v).exp(v))
_FROM_FREE |= dict.fromkeys(("degree", "side"), stop_gradient)
_KINDS: dict[type[MembershipFunction], tuple[str, ...]] = {}  # torch.compile cannot trace functools.cache
_NUMPY = (np.ndarray, np.generic)  # nor a union of types


@dataclasses.dataclass(frozen=True)
class MembershipFunction(ABC):
    """A fuzzy set on the real line: the degree, between 0 and 1, to which a number belongs to it.

    A subclass is a frozen dataclass with a registered name, ``class Gaussian(MembershipFunction, name="gaussian")``.
    Its fields are annotated as `Location`, `Width`, `Shape`, `Steepness`, `Degree`, `Side` or `Text`. It must define
    ``log_mu``, and ``around`` if learned rules may start with its sets; the other methods have defaults that follow
    from the annotations. See `fuzzymil.inference.membership` for an example.

    Attributes
    ----------
    name : str
        The name of the family.
    trainable : bool
        Whether training can move sets of this family. It cannot if their edges are vertical everywhere: then no small
        step changes any membership, and the sets stay frozen.
    vertical : bool
        Whether edges may be vertical, so that a set may have no width.
    """

    name: ClassVar[str]
    trainable: ClassVar[bool] = True
    vertical: ClassVar[bool] = False

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        """Register the class under ``name``; a class without a name is a base of others."""
        super().__init_subclass__()
        if name is not None:
            register(FAMILIES, "Membership family", name, cls)
            cls.name = name

    def __post_init__(self) -> None:
        for field in self._numeric_fields():
            value = getattr(self, field)
            if not isinstance(value, float | int | np.number) or not math.isfinite(value):
                raise ParameterError(f"{type(self).__name__}: {field} must be a finite number, got {value!r}.")
            if type(value) is not float:
                object.__setattr__(self, field, float(value))
        self._check()

    @classmethod
    @functools.cache  # learned rule bases have thousands of sets
    def fields(cls) -> tuple[str, ...]:
        """Return the names of the parameters, in order."""
        return tuple(field.name for field in dataclasses.fields(cls))

    @classmethod
    def _kinds(cls) -> tuple[str, ...]:
        """Return what the annotation of each parameter says it is."""
        if cls not in _KINDS:
            hints = get_type_hints(cls, include_extras=True)
            _KINDS[cls] = tuple(get_args(hints[field])[1] for field in cls.fields())
        return _KINDS[cls]

    @classmethod
    def roles(cls) -> dict[str, str]:
        """Return the role of each parameter, as its annotation states it.

        Examples
        --------
        >>> from fuzzymil.inference.membership import Gaussian
        >>> Gaussian.roles()
        {'center': 'location', 'width': 'width'}
        """
        return dict(zip(cls.fields(), cls._kinds(), strict=True))

    @classmethod
    @functools.cache
    def _numeric_fields(cls) -> tuple[str, ...]:
        """Return the names of the parameters that are numbers."""
        return tuple(field for field, kind in zip(cls.fields(), cls._kinds(), strict=True) if kind != "text")

    @property
    def parameters(self) -> tuple[float, ...]:
        """The numbers that describe the set, in the order of `fields`."""
        return tuple([getattr(self, field) for field in self._numeric_fields()])

    @property
    def arguments(self) -> tuple[float | str, ...]:
        """What the constructor takes: the parameters, and the text of a formula."""
        return tuple(getattr(self, field) for field in self.fields())

    @property
    def kind(self) -> str:
        """The name of the family, plus what parameters do not say; sets of one kind share arrays. See `family`."""
        return self.name

    @classmethod
    def takes(cls, count: int) -> bool:
        """Return whether the constructor takes this number of arguments."""
        return count == len(cls.fields())

    def inverse(self, degree: npt.ArrayLike) -> Any:
        """Return the value at which the membership is ``degree``, for sets that only rise or only fall; else None."""
        return None

    @property
    def side(self) -> int:
        """1 for a set that is open to the right, -1 for one that is open to the left, 0 for a set between two ends."""
        return 0

    @classmethod
    def of_kind(cls, detail: str) -> type[MembershipFunction]:
        """Return the class that computes sets of the kind ``name:detail``."""
        return cls

    def with_parameters(self, *parameters: float) -> MembershipFunction:
        """Return the same kind of set with other numbers."""
        return type(self)(*parameters)

    def __call__(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the degree of membership of ``x``, an array of the same shape."""
        return np.asarray(np.exp(self.log_membership(x)))

    def log_membership(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the logarithm of the degree of membership of ``x``, an array of the same shape.

        Examples
        --------
        >>> from fuzzymil.inference.membership import Gaussian
        >>> Gaussian(0, 1).log_membership([0.0, 100.0]).tolist()
        [-0.0, -5000.0]
        """
        values: list[Any] = [np.asarray(each, np.float64) for each in (x, *self.parameters)]
        with np.errstate(all="ignore"), in_64_bit():
            return np.asarray(self.log_mu(*values), np.float64)

    def __str__(self) -> str:
        values = ", ".join(f"{value:.4g}" if isinstance(value, float) else repr(value) for value in self.arguments)
        return f"{type(self).__name__}({values})"

    def _check(self) -> None:
        """Raise `ParameterError` unless the parameters describe a set."""
        for field, kind in self.roles().items():
            value = getattr(self, field)
            good, expected = _ALLOWED.get(kind, (lambda _: True, ""))
            if not good(value):
                raise ParameterError(f"{type(self).__name__}: {field} must {expected}, got {value!r}.")

    # In what follows, a family names its parameters: ``log_mu(x, center, width)``.

    @staticmethod
    @abstractmethod
    def log_mu(*args: Any, **named: Any) -> Any:
        """Return the logarithm of the membership of ``x``, the first argument; ``-inf`` where it is exactly zero."""

    @staticmethod
    def log_mu_slopes(*args: Any, **named: Any) -> tuple[Any, ...]:
        """Return the derivatives of `log_mu` by each parameter, in NumPy, for sets that rules are chosen from."""
        raise NotImplementedError

    @staticmethod
    def around(center: Any, width: Any) -> Parameters:
        """Return the parameters of a set that peaks at ``center`` and has about the standard deviation ``width``."""
        raise NotImplementedError

    @classmethod
    def learnable(cls) -> bool:
        """Return whether learned rules may start with sets of this family: whether it defines ``around``."""
        return cls.around is not MembershipFunction.around

    @classmethod
    def _numeric_kinds(cls, parameters: Parameters) -> tuple[str, ...]:
        """Return what each of these parameters is."""
        return tuple(kind for kind in cls._kinds() if kind != "text")

    @classmethod
    def to_free(cls, *parameters: Any, **named: Any) -> Parameters:
        """Convert parameters to unconstrained ones."""
        return cls._changed(_TO_FREE, parameters)

    @classmethod
    def from_free(cls, *free: Any, **named: Any) -> Parameters:
        """Convert unconstrained parameters back; the inverse of `to_free`."""
        return cls._changed(_FROM_FREE, free)

    @classmethod
    def moved(cls, shift: Any, scale: Any, *parameters: Any) -> Parameters:
        """Return the parameters of the same set on the axis ``shift + scale * x``, with scale > 0."""
        change = {
            "location": lambda value: shift + scale * value,
            "width": lambda value: scale * value,
            "steepness": lambda value: value / scale,
        }
        return cls._changed(change, parameters)

    @classmethod
    def _changed(cls, change: Mapping[str, Callable[[Any], Any]], parameters: Parameters) -> Parameters:
        """Return the parameters with some kinds of them changed."""
        kinds = cls._numeric_kinds(parameters)
        return tuple(change[k](value) if k in change else value for k, value in zip(kinds, parameters, strict=True))

    @classmethod
    def peak(cls, *parameters: Any, **named: Any) -> Any:
        """Return a most typical value of the set; by default its first location."""
        return parameters[cls._numeric_kinds(parameters).index("location")]

    @classmethod
    def spread(cls, *parameters: Any, **named: Any) -> Any:
        """Return how wide the set is, comparable to a Gaussian's standard deviation; by default its first width."""
        return parameters[cls._numeric_kinds(parameters).index("width")]

    @classmethod
    def with_edges_apart(cls, distance: Any, *parameters: Any, **named: Any) -> Parameters | None:
        """Return the parameters with both edges moved outward by a distance, if training moves edges independently.

        Such edges may pass each other, so that no value belongs fully to the set. None for all other families.
        """
        return None

    @classmethod
    def describes_set(cls, *parameters: Any) -> Any:
        """Return where trained parameters describe a set: where its spread is finite and, unless `vertical`, not 0."""
        spread = cls.spread(*parameters)
        return namespace(spread).isfinite(spread if cls.vertical else 1.0 / spread)


def family(kind: str) -> type[MembershipFunction]:
    """Return the family registered under a name, or the class for a `MembershipFunction.kind`.

    Examples
    --------
    >>> family("bell").fields()
    ('center', 'width', 'slope')
    """
    name, _, detail = kind.partition(":")
    if name not in FAMILIES:
        raise ParameterError(
            f"Unknown membership family {name!r}; choose from {', '.join(FAMILIES)}.{did_you_mean(name, FAMILIES)}"
        )
    return FAMILIES[name].of_kind(detail) if detail else FAMILIES[name]


def learnable_families() -> dict[str, type[MembershipFunction]]:
    """Return the families that learned rules may start with, by name.

    Examples
    --------
    >>> "gaussian" in learnable_families(), "singleton" in learnable_families()
    (True, False)
    """
    return {name: kind for name, kind in FAMILIES.items() if kind.learnable()}


# ---------------------------------------------------------------------- numerics that families share

_LOG_OF_NO_WIDTH = -1e4
"""Free parameter of a vertical edge: finite, as optimizers need, but its exponential and slope are exactly 0."""


def log_width(width: Any) -> Any:
    """Return the free parameter of a width that may be 0."""
    xp = namespace(width)
    vertical = width == 0
    return xp.where(vertical, _LOG_OF_NO_WIDTH, xp.log(xp.where(vertical, 1.0, width)))


def log_or_zero(mu: Any) -> Any:
    """Return the logarithm; -inf with derivative 0 where the membership is exactly zero."""
    xp = namespace(mu)
    if isinstance(mu, _NUMPY):  # without derivatives, in fewer steps
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(mu, 0.0))
    outside = mu <= 0
    return xp.where(outside, -xp.inf, xp.log(xp.where(outside, 1.0, mu)))


def ramp(x: Any, start: Any, end: Any) -> Any:
    """Return the line through 0 at ``start`` and 1 at ``end``; where they are equal, a step that reaches 1 there."""
    xp = namespace(x)
    vertical = start == end
    if isinstance(vertical, _NUMPY) and not vertical.any():
        return (x - start) / (end - start)
    step = xp.where(x < end, 0.0, xp.where(x >= end, 1.0, x))  # lets NaN through
    return xp.where(vertical, step, (x - start) / xp.where(vertical, 1.0, end - start))
