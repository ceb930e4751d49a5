"""What training must respect in rules that a person wrote: order of terms, overlap, conclusions, signs of slopes."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import numbers
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array, namespace
from fuzzymil._utils.errors import ParameterError, did_you_mean, known_name, listed
from fuzzymil.inference.layers import Params
from fuzzymil.inference.membership import MembershipFunction, family
from fuzzymil.inference.premises import Place
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase
from fuzzymil.rules.rule import Names


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
        """Return the constraints that a ``constraints=`` parameter means; None if nothing is constrained."""
        if isinstance(value, Mapping):
            for name in value:
                known_name("constraint", name, [field.name for field in dataclasses.fields(cls)])
            value = cls(**value)
        if value is not None and not isinstance(value, Constraints):
            raise ParameterError(f"constraints must be None, Constraints(...) or a dict of them, got {value!r:.100}.")
        return None if value == Constraints() else value

    def to_dict(self) -> dict[str, Any]:
        """Return the constraints as plain values."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: dict(value) if isinstance(value, Names) else value for name, value in plain.items()}


class ActiveBound(NamedTuple):
    """A parameter that training left at a bound; ``value`` is in the units of the data.

    ``where`` is ``"rule 2"`` or ``"hue.dark"`` (of two terms that must overlap, the lower one), ``what`` is ``"peak"``,
    ``"overlap with light"``, an output, or the ``"slope of hue in sky"``.

    Examples
    --------
    >>> print(ActiveBound("rule 1", "sky", 1.0, "upper bound of conclusions"))
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


FLATTEST = 0.01  # of its starting slope, to which a set that opens to one side may flatten
_LOG_NEAREST, _LOG_FARTHEST = np.log(1e-6), np.log(1e6)  # distances from a peak, in spreads
_HALVINGS = 32
_FAR_APART = 16.0  # spreads: edges that far apart do not touch each other


class Bounds(NamedTuple):
    """What parameters are projected onto after every step.

    Sets have shape (rows, d), as in `Params`. A *place* is a flat index of one of them; the places that follow those
    belong to terms that no rule uses, and the last one to no term at all.
    """

    peaks: Any  # (2, rows, d) lowest and highest
    steepness: dict[str, tuple[Any, ...]]  # like the sets: the flattest signed slope, 0 for other parameters
    levels: Any  # (2, r, k) lowest and highest value of a conclusion within the ranges of the variables
    slopes: Any  # (2, r, k, d or 0) lowest and highest
    middle: Any  # (d or 0,) of the variables' ranges
    half: Any  # (d or 0,) length of the ranges
    neighbors: Neighbors | None = None


class Neighbors(NamedTuple):
    """Terms next to each other, which must overlap."""

    log_level: Any  # () logarithm of the least membership at which they cross
    used: dict[str, Any]  # (rows, d) by family: whether a set of this family is there
    moves: Any  # (places,) 0 for sets that training does not change
    left: Any  # (rows, d) place of the next term to the left
    right: Any  # (rows, d)
    unused: Any  # (3, others) peak of the terms that no rule uses, and their reaches to the left and right


def project(params: Params, bounds: Bounds, snap: float = 0.0) -> Params:
    """Return the parameters within the bounds; those that are within them stay exactly as they are.

    What is nearer to a bound than ``snap``, relative to the spread of the set or the width of the bounds, is put on it.
    """
    sets = {name: _in_order(name, values, bounds, snap) for name, values in params.sets.items()}
    if bounds.neighbors is not None:
        sets = {name: _with_a_top(name, values, bounds.neighbors) for name, values in sets.items()}
        factor = _widening(sets, bounds.neighbors)
        for name, values in sets.items():
            # By a factor, around the peak.
            sets[name] = family(name).moved(family(name).peak(*values) * (1.0 - factor), factor, *values)
    return params._replace(sets=sets, coefs=_within(params.coefs, bounds, snap))


def _clipped(value: Any, low: Any, high: Any, near: Any) -> Any:
    xp = namespace(value)
    value = xp.where(xp.abs(value - low) <= near, low, value)
    return xp.clip(xp.where(xp.abs(value - high) <= near, high, value), low, high)


def _in_order(name: str, values: tuple[Any, ...], bounds: Bounds, snap: float) -> tuple[Any, ...]:
    """Keep the direction in which a set opens, and its peak between those of its neighbors."""
    kind = family(name)
    xp = namespace(values[0])
    kept = tuple(
        xp.where(value * xp.sign(least) < xp.abs(least), least, value)
        for value, least in zip(values, bounds.steepness[name], strict=True)
    )
    peak = kind.peak(*kept)
    target = _clipped(peak, bounds.peaks[0], bounds.peaks[1], snap * kind.spread(*kept))
    return tuple(kind.moved(target - peak, 1.0, *kept))


def _within(coefs: Any, bounds: Bounds, snap: float) -> Any:
    """Keep the signs of slopes, and what a rule concludes anywhere in the ranges of the variables."""
    xp = namespace(coefs)
    low, high = bounds.levels
    slopes = xp.clip(coefs[:, :, 1:], bounds.slopes[0], bounds.slopes[1])
    reach = (xp.abs(slopes) * bounds.half).sum(axis=2)
    most = (high - low) / 2
    slopes = slopes * xp.where(reach > most, most / xp.where(reach > 0, reach, 1.0), 1.0)[:, :, None]
    reach = xp.minimum(reach, most)
    level = coefs[:, :, 0] + (slopes * bounds.middle).sum(axis=2)
    inside = _clipped(level, low + reach, high - reach, snap * xp.where(xp.isfinite(most), most, 0.0))
    constant = xp.where(inside == level, coefs[:, :, 0], inside - (slopes * bounds.middle).sum(axis=2))
    return xp.concatenate([constant[:, :, None], slopes], axis=2)


# ---------------------------------------------------------------------- overlap


def _with_a_top(name: str, values: tuple[Any, ...], near: Neighbors) -> tuple[Any, ...]:
    """Move edges that came too close to each other apart, until the membership between them is `least_top`."""
    moves = near.moves[: near.left.size].reshape(near.left.shape)
    xp = namespace(near.unused)
    kind = family(name)
    if kind.with_edges_apart(0.0, *values) is None:
        return values
    peak, target = kind.peak(*values), least_top(near.log_level)

    def low(distance: Any) -> Any:
        return kind.log_mu(peak, *(kind.with_edges_apart(distance, *values) or values)) < target

    _, enough = _bisected(low, xp.zeros_like(peak), _FAR_APART * kind.spread(*values))
    moved = kind.with_edges_apart(enough, *values) or values
    short = low(xp.zeros_like(peak)) & (moves > 0)
    return tuple(xp.where(short, new, old) for new, old in zip(moved, values, strict=True))


def least_top(log_level: Any) -> Any:
    """Return the least log-membership at the peak of a set that overlaps with others at a level: well above it."""
    return log_level / 2


def _bisected(holds: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """Return the nearest places between which something ceases to hold."""
    xp = namespace(low)

    def halve(_: Any, ends: tuple[Any, Any]) -> tuple[Any, Any]:
        middle = (ends[0] + ends[1]) / 2
        there = holds(middle)
        return xp.where(there, middle, ends[0]), xp.where(there, ends[1], middle)

    if isinstance(low, np.ndarray):
        return functools.reduce(lambda ends, n: halve(n, ends), range(_HALVINGS), (low, high))
    import jax

    return jax.lax.fori_loop(0, _HALVINGS, halve, (low, high))  # as one loop, which compiles faster


def reaches(name: str, values: tuple[Any, ...], log_level: Any) -> tuple[Any, Any, Any]:
    """Return the peak of sets, and how far to its left and right their membership stays at a level."""
    kind = family(name)
    xp = namespace(values[0])
    peak, spread = kind.peak(*values), kind.spread(*values)

    def reach(side: float) -> Any:
        def holds(log_distance: Any) -> Any:
            return kind.log_mu(peak + side * spread * xp.exp(log_distance), *values) >= log_level

        near, far = xp.full_like(peak, _LOG_NEAREST), xp.full_like(peak, _LOG_FARTHEST)
        last, _ = _bisected(holds, near, far)
        return xp.where(~holds(near), 0.0, xp.where(holds(far), xp.inf, spread * xp.exp(last)))

    return peak, reach(-1.0), reach(1.0)


def measure_reaches(sets: dict[str, tuple[Any, ...]], near: Neighbors) -> Any:
    """Return the peaks of all places and their reaches to the left and right, (3, places)."""
    xp = namespace(near.unused)
    known = {name: reaches(name, values, near.log_level) for name, values in sets.items()}
    found = []
    for n, others in enumerate(near.unused):
        by_family = [xp.where(near.used[name], values[n], 0.0) for name, values in known.items()]
        found.append(xp.concatenate([functools.reduce(operator.add, by_family).ravel(), others]))
    return xp.stack(found)


def _widening(sets: dict[str, tuple[Any, ...]], near: Neighbors) -> Any:
    """Return the factors (rows, d) by which sets must widen to overlap with their neighbors.

    Two terms cross at a level or above it if their reaches at that level cover the distance of their peaks. If only
    one of the two moves, it has to cover what the other leaves.
    """
    xp = namespace(near.unused)
    places = measure_reaches(sets, near)
    peak, left, right = (values[: near.left.size].reshape(near.left.shape) for values in places)

    def factor(distance: Any, mine: Any, its: Any, neighbor: Any) -> Any:
        both = near.moves[neighbor] > 0
        needed, present = xp.where(both, distance, distance - its), xp.where(both, mine + its, mine)
        short = (mine + its < distance) & (present > 0)
        return xp.where(short, needed / xp.where(short, present, 1.0), 1.0)

    wider = xp.maximum(
        factor(peak - places[0][near.left], left, places[2][near.left], near.left),
        factor(places[0][near.right] - peak, right, places[1][near.right], near.right),
    )
    moves = near.moves[: near.left.size].reshape(near.left.shape)
    return xp.where(moves > 0, xp.maximum(wider, 1.0), 1.0)


def as_type(values: Any, dtype: Any) -> Array:
    """Return an array with its numbers in another precision; indices stay integers."""
    array: Array = np.asarray(values)
    return array if array.dtype.kind in "iub" else array.astype(dtype)


_AT_BOUND = 1e-4  # relative distance from a bound: single precision, on standardized axes


def bounds_of(rules: RuleBase, start: Params, constraints: Constraints, moves: Array, axes: Scaling) -> Bounds:
    """Return the bounds that constraints mean for training that starts from these rules.

    ``start``: their arrays, in the units of the data. ``moves`` (rows, d): 0 for frozen sets. ``axes``: from the units
    of the data to the axes that the bounds are to be on.
    """
    shape = (rules.arrangement.n_rows, rules.n_features)
    ordered = constraints.ordered or constraints.overlap is not None
    peaks = np.array([np.full(shape, -np.inf), np.full(shape, np.inf)])
    if ordered:
        ranges = _ranges(rules, axes)
        limits = [_intervals(list(v.terms.values()), *ends) for v, ends in zip(rules.variables, ranges, strict=True)]
        for (row, d), (_, term) in rules.arrangement.terms.items():
            place = list(rules.variables[d].terms).index(term)
            peaks[:, row, d] = (limits[d][place] - axes.shift[d]) / axes.scale[d]
    low, high = _levels(rules, constraints)
    linear = start.coefs.shape[2] > 1
    ends = _ranges(rules, axes) if linear else np.zeros((0, 2))
    for variable, end in zip(rules.variables, ends if constraints.conclusions is not None else (), strict=False):
        if np.abs(end).max() == np.finfo(float).max:  # how a scaling writes that there is no limit
            raise ParameterError(
                f"conclusions: linear conclusions are bounded within the ranges of variables, but {variable.name!r} "
                "has none: declare it (VARIABLE ... FROM 0 TO 1)."
            )
    _check_conclusions(rules, start, constraints, low, high, ends)
    offset = 0.0 if not rules.normalize else axes.target_shift
    scaled = (ends - axes.shift[:, None]) / axes.scale[:, None] if linear else ends
    return Bounds(
        peaks=peaks,
        steepness=_steepness(start, axes) if ordered else _steepness(start, axes, factor=0.0),
        levels=(np.array([low, high]) - offset) / axes.target_scale,
        slopes=_slopes(rules, start, constraints),
        middle=scaled.mean(axis=1),
        half=np.diff(scaled, axis=1)[:, 0] / 2,
        neighbors=None if constraints.overlap is None else _neighbors(rules, constraints.overlap, moves, axes),
    )


def _intervals(sets: list[MembershipFunction], low: float, high: float) -> Array:
    """Return the lowest and highest peak of each set, (n, 2): halfway to its neighbors, and within the range."""
    peaks = np.array([_peak(chosen) for chosen in sets])
    distinct = np.unique(peaks)
    inner = (distinct[:-1] + distinct[1:]) / 2
    ends = np.concatenate([np.minimum(distinct[:1], low), inner, np.maximum(distinct[-1:], high)])
    own = np.searchsorted(distinct, peaks)
    return np.column_stack([ends[own], ends[own + 1]])


def _steepness(start: Params, axes: Scaling, factor: float = FLATTEST) -> dict[str, tuple[Array, ...]]:
    found = {}
    for name, values in start.sets.items():
        signed = [kind == "steepness" for kind in family(name)._kinds()]
        signed += [False] * (len(values) - len(signed))  # families with any number of parameters have none
        found[name] = tuple(
            factor * np.asarray(value) * axes.scale if steep else np.zeros(np.shape(value))
            for steep, value in zip(signed, values, strict=True)
        )
    return found


def _levels(rules: RuleBase, constraints: Constraints) -> tuple[Array, Array]:
    """Return the lowest and highest conclusions, (r, k) each."""
    low = np.full((rules.n_rules, len(rules.outputs)), -np.inf)
    high, given = -low, constraints.conclusions
    if given is not None and not isinstance(given, Mapping):
        given = dict.fromkeys(rules.output_names, given)
    for name, ends in (given or {}).items():
        known_name("output", name, rules.output_names, "in conclusions")
        place = rules.output_names.index(name)
        low[:, place], high[:, place] = ends
    return low, high


def _slopes(rules: RuleBase, start: Params, constraints: Constraints) -> Array:
    """Return the lowest and highest slopes, (2, r, k, d or 0); a sign means the same on every axis."""
    slopes = np.asarray(start.coefs, float)[:, :, 1:]
    signs = np.full(slopes.shape, np.nan)
    if isinstance(constraints.signs, Mapping):
        for name, sign in constraints.signs.items():
            known_name("variable", name, rules.feature_names, "in signs")
            if slopes.shape[2]:
                d = rules.feature_names.index(name)
                signs[:, :, d] = sign
                for r, k in np.argwhere((slopes[:, :, d] * sign < 0) | ((sign == 0) & (slopes[:, :, d] != 0))):
                    raise ParameterError(
                        f"signs: {name!r} must have the sign {sign}, but rule {r + 1} starts with the slope "
                        f"{slopes[r, k, d]:g} in {rules.output_names[k]!r}: change the rule, or the constraint."
                    )
    elif constraints.signs:
        signs = np.where(slopes != 0, np.sign(slopes), np.nan)
    return np.array([np.where(signs >= 0, 0.0, -np.inf), np.where(signs <= 0, 0.0, np.inf)])


def _ranges(rules: RuleBase, axes: Scaling) -> Array:
    """Return the ranges of the variables, (d, 2); where one declares none, that of the data."""
    ends = [(v.low, v.high) for v in rules.variables]
    known = zip(ends, axes.ranges, strict=True)
    return np.array([[s if e is None else e for e, s in zip(end, seen, strict=True)] for end, seen in known], float)


def _neighbors(rules: RuleBase, level: float, moves: Array, axes: Scaling) -> Neighbors:
    places = rules.arrangement.terms
    home: dict[tuple[str, str], int] = {}  # the place of each term
    for (row, d), term in places.items():
        home.setdefault(term, row * rules.n_features + d)
    others: list[tuple[float, ...]] = []
    beside: dict[tuple[str, str], list[tuple[str, str] | None]] = {}
    for d, variable in enumerate(rules.variables):
        terms = _by_peak(variable.terms)
        _check_overlap(variable.name, terms, level)
        for name, chosen in terms:
            if (variable.name, name) not in home:
                home[variable.name, name] = moves.size + len(others)
                moved = chosen.moved(-axes.shift[d] / axes.scale[d], 1.0 / axes.scale[d], *chosen.parameters)
                values = reaches(chosen.kind, tuple(np.array([value]) for value in moved), math.log(level))
                others.append(tuple(float(value[0]) for value in values))
        keys = [None, *((variable.name, name) for name, _ in terms), None]
        beside |= {(variable.name, name): [keys[n], keys[n + 2]] for n, (name, _) in enumerate(terms)}
    others.append((0.0, np.inf, np.inf))
    nowhere = moves.size + len(others) - 1
    sides = np.full((2, *moves.shape), nowhere, np.int32)
    for (row, d), term in places.items():
        sides[:, row, d] = [nowhere if neighbor is None else home[neighbor] for neighbor in beside[term]]
    return Neighbors(
        log_level=np.asarray(math.log(level)),
        used={kind: mask > 0 for kind, mask in rules.compile()[1].items()},
        moves=np.concatenate([moves.ravel(), np.zeros(len(others))]),
        left=sides[0],
        right=sides[1],
        unused=np.array(others).T,
    )


def _by_peak(terms: Mapping[str, MembershipFunction]) -> list[tuple[str, MembershipFunction]]:
    return sorted(terms.items(), key=lambda item: _peak(item[1]))


def _peak(chosen: MembershipFunction) -> float:
    return float(chosen.peak(*chosen.parameters))


# ---------------------------------------------------------------------- the start


def _check_conclusions(
    rules: RuleBase, start: Params, constraints: Constraints, low: Array, high: Array, ends: Array
) -> None:
    """Raise if a rule concludes something out of its bounds."""
    coefs = np.asarray(start.coefs, float)
    level = coefs[:, :, 0] + (coefs[:, :, 1:] * ends.mean(axis=1)).sum(axis=2)
    reach = (np.abs(coefs[:, :, 1:]) * np.diff(ends, axis=1)[:, 0] / 2).sum(axis=2)
    for r, k in np.argwhere((level - reach < low) | (level + reach > high)):
        least, most = level[r, k] - reach[r, k], level[r, k] + reach[r, k]
        said = f"{least:g}" if least == most else f"{least:g} to {most:g} in the ranges of the variables"
        raise ParameterError(
            f"conclusions: rule {r + 1} starts with {rules.output_names[k]} = {said}, outside {low[r, k]:g} to "
            f"{high[r, k]:g}: change the rule, or the bounds."
        )


def _check_overlap(name: str, terms: list[tuple[str, MembershipFunction]], level: float) -> None:
    """Raise if neighboring terms of a variable cross below the level."""
    for term, chosen in terms:
        top = float(chosen(_peak(chosen)))
        independent = chosen.with_edges_apart(0.0, *chosen.parameters) is not None
        if independent and top < math.exp(least_top(math.log(level))):
            raise ParameterError(
                f"overlap: the edges of the term {term!r} of {name!r} are so near to each other that the membership "
                f"between them is only {top:.3g}: move them apart, or lower overlap."
            )
    for (a, left), (b, right) in itertools.pairwise(terms):
        peaks = [_peak(left), _peak(right)]
        sides = [reaches(s.kind, tuple(np.array([v]) for v in s.parameters), math.log(level)) for s in (left, right)]
        to_right, to_left = float(sides[0][2][0]), float(sides[1][1][0])
        if peaks[1] - peaks[0] > (to_right + to_left) * (1 + 1e-6):
            x = np.linspace(peaks[0], peaks[1], 2001)
            crossing = float(np.minimum(left(x), right(x)).max())
            raise ParameterError(
                f"overlap: the terms {a!r} and {b!r} of {name!r} start with a crossing at {crossing:.3g}, below "
                f"{level:g}: widen one of them, or lower overlap."
            )
        for term, reach, other in ((a, to_right, b), (b, to_left, a)):
            if reach == 0 and peaks[1] > peaks[0]:
                raise ParameterError(
                    f"overlap: the term {term!r} of {name!r} ends abruptly towards {other!r} and cannot be widened "
                    "there: give it a sloping edge, or leave overlap out."
                )


# ---------------------------------------------------------------------- the end


def active_bounds(rules: RuleBase, frozen: Iterable[str], constraints: Constraints, box: Bounds) -> list[ActiveBound]:
    """Return what ended at a bound; the rules must have the conditions of those that the box was made for."""
    sets, conclusions = _moves(rules, frozen)
    return [
        *_conclusions_at_bounds(rules, box, conclusions[:, :, 0] > 0),
        *_terms_at_bounds(rules, rules.compile()[0], box, constraints, sets.ravel() > 0),
    ]


def _conclusions_at_bounds(rules: RuleBase, bounds: Bounds, moves: Array) -> Iterator[ActiveBound]:
    coefs = rules.coefs
    level = coefs[:, :, 0] + (coefs[:, :, 1:] * bounds.middle).sum(axis=2)
    reach = (np.abs(coefs[:, :, 1:]) * bounds.half).sum(axis=2)
    low, high = bounds.levels
    room = np.where(np.isfinite(high - low), high - low, np.abs(level) + 1.0) * _AT_BOUND
    for r, k in np.argwhere(moves):
        for side, value, bound in (("lower", level - reach, low), ("upper", level + reach, high)):
            if abs(value[r, k] - bound[r, k]) <= room[r, k]:
                yield ActiveBound(
                    f"rule {r + 1}", rules.output_names[k], float(bound[r, k]), f"{side} bound of conclusions"
                )
        for d in np.flatnonzero((coefs[r, k, 1:] == 0) & np.isfinite(bounds.slopes[:, r, k]).any(axis=0)):
            if np.isinf(bounds.slopes[:, r, k, d]).any():
                what = f"slope of {rules.feature_names[d]} in {rules.output_names[k]}"
                yield ActiveBound(f"rule {r + 1}", what, 0.0, "bound of its sign")


def _terms_at_bounds(
    rules: RuleBase, params: Params, bounds: Bounds, constraints: Constraints, moves: Array
) -> Iterator[ActiveBound]:
    near = bounds.neighbors
    places = None if near is None else measure_reaches(params.sets, near)
    seen = set()
    for (row, d), key in rules.arrangement.terms.items():
        if key in seen:
            continue
        seen.add(key)
        flat, variable = row * rules.n_features + d, rules.variables[d]
        chosen = variable.terms[key[1]]
        peak, spread = _peak(chosen), float(chosen.spread(*chosen.parameters))
        order = [term for term, _ in _by_peak(variable.terms)]
        place = order.index(key[1])
        for side, step in enumerate((-1, 1)):
            bound = bounds.peaks[side, row, d]
            if moves[flat] and abs(peak - bound) <= _AT_BOUND * spread:
                inner = 0 <= place + step < len(order)
                end = f"midpoint to {order[place + step]}" if inner else f"{('lower', 'upper')[side]} end of the range"
                yield ActiveBound(".".join(key), "peak", peak, end)
        if near is None or places is None or place + 1 == len(order):
            continue
        other = int(near.right[row, d])
        distance, reach = places[0][other] - places[0][flat], places[2][flat] + places[1][other]
        if (moves[flat] or near.moves[other] > 0) and abs(distance - reach) <= _AT_BOUND * distance:
            level = float(constraints.overlap or 0.0)
            yield ActiveBound(".".join(key), f"overlap with {order[place + 1]}", level, "least overlap")


class Limits(NamedTuple):
    """Constraints on training from rules that a person wrote."""

    owner: Any  # (rows, d), flat index of the first condition that uses the same set: all of them move together
    sets: Any  # (rows, d), 0 for frozen sets
    coefs: Any  # (r, k, 1), 0 for frozen conclusions
    default: Any  # (k,), 0 for a frozen default
    bounds: Bounds | None = None  # on the axes of training
    stay: Any = None  # () strength of the pull to the start, if there is one
    start: Params | None = None  # with bounds or a pull: where training began


def limits_of(
    rules: RuleBase,
    frozen: Iterable[str] = (),
    constraints: Constraints | None = None,
    start: Params | None = None,
    axes: Scaling | None = None,
) -> Limits:
    """Return the limits for training that starts from these rules.

    ``frozen``: as in `MIANFISClassifier`; an output also freezes its default. ``constraints`` need the next two:
    ``start``, where training begins, in the units of the data, and the ``axes`` of training.
    """
    frozen = tuple(frozen)
    places = rules.arrangement.terms
    shape = (rules.arrangement.n_rows, rules.n_features)
    owner: Array = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    first: dict[tuple[str, str], Place] = {}
    for place, term in places.items():
        owner[place] = owner[first.setdefault(term, place)]
    sets, conclusions = _moves(rules, frozen)
    default = np.array([0.0 if output in frozen else 1.0 for output in rules.output_names])
    limits = Limits(owner, sets, conclusions, default)
    if constraints is None or start is None or axes is None:
        return limits
    return limits._replace(
        bounds=bounds_of(rules, start, constraints, sets, axes) if _has_bounds(constraints) else None,
        stay=np.asarray(constraints.stay) if constraints.stay else None,
        start=axes.to_standard_units(start, additive=not rules.normalize),
    )


def box_of(
    rules: RuleBase, frozen: Iterable[str], constraints: Constraints | None, start: Params, axes: Scaling
) -> Bounds | None:
    """Return the bounds of `limits_of` in the units of the data."""
    if constraints is None or not _has_bounds(constraints):
        return None
    return bounds_of(rules, start, constraints, _moves(rules, frozen)[0], axes.plain())


def _has_bounds(constraints: Constraints) -> bool:
    return dataclasses.replace(constraints, stay=0.0) != Constraints()


def _moves(rules: RuleBase, frozen: Iterable[str]) -> tuple[Array, Array]:
    """Return arrays (rows, d) and (r, k, 1) that are 0 for frozen sets and conclusions."""
    held, conclusions = _frozen_parts(rules, frozen)
    sets = np.ones((rules.arrangement.n_rows, rules.n_features))
    known = {variable.name: variable.terms for variable in rules.variables}
    for place, (name, term) in rules.arrangement.terms.items():
        sets[place] = float((name, term) not in held and known[name][term].trainable)
    return sets, conclusions


def restore_frozen(start: RuleBase, trained: RuleBase, frozen: Sequence[str]) -> RuleBase:
    """Return the trained rules with all that is frozen exactly as it was, without rounding errors."""
    held, moves = _frozen_parts(start, frozen)
    variables = [
        dataclasses.replace(v, terms={t: old.terms[t] if (v.name, t) in held else s for t, s in v.terms.items()})
        for v, old in zip(trained.variables, start.variables, strict=True)
    ]
    coefs = np.where(moves > 0, trained.coefs, start.coefs)
    # Rule Dropout as printed scales every conclusion, also a frozen one: that is no rounding error.
    coefs = np.where(np.isclose(coefs, trained.coefs, rtol=1e-4), coefs, trained.coefs)
    rules = [rule.concluding(rows.tolist()) for rule, rows in zip(trained.rules, coefs, strict=True)]
    default = [
        before if output in frozen else after
        for output, before, after in zip(start.output_names, start.default, trained.default, strict=True)
    ]
    return dataclasses.replace(trained, variables=tuple(variables), rules=tuple(rules), default=tuple(default))


def _frozen_parts(rules: RuleBase, frozen: Iterable[str]) -> tuple[set[tuple[str, str]], Array]:
    """Return the frozen terms, and an array (r, k, 1) that is 0 for frozen conclusions."""
    known = {f"rule {r + 1}" for r in range(rules.n_rules)} | set(rules.output_names)
    known |= {f"rule {rule.label}" for rule in rules.rules if rule.label}
    known |= {variable.name for variable in rules.variables}
    known |= {f"{variable.name}.{term}" for variable in rules.variables for term in variable.terms}
    terms: set[tuple[str, str]] = set()
    conclusions = np.ones((rules.n_rules, len(rules.outputs), 1))
    for name in frozen:
        if name not in known:
            raise ParameterError(
                f"frozen: unknown name {name!r}. Use rules ('rule 1'), terms ('variable.term'), variables or outputs: "
                f"{listed(sorted(known))}.{did_you_mean(name, known)}"
            )
        for v in rules.variables:
            terms |= {(v.name, term) for term in v.terms if name in (v.name, f"{v.name}.{term}")}
        for r, rule in enumerate(rules.rules):
            if name in (f"rule {r + 1}", f"rule {rule.label}"):
                conclusions[r] = 0.0
                terms |= {(condition.variable, condition.term) for condition in rule.conditions}
        conclusions[:, [output == name for output in rules.output_names]] = 0.0
    return terms, conclusions
