"""The effect of a feature: how the prediction changes as the feature moves over its range.

A bag has many instances, so there are two answers, and both are given. *All instances*: every instance of a bag has
the value, all other features stay as they are. *One instance*: one instance of the bag, drawn at random, has it. The
two are alike where some instance suffices, and differ where a rule is about all instances or their average.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzzymil._utils import html
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.drawings import bar
from fuzzymil._utils.errors import InputError, ParameterError, known_name, listed
from fuzzymil.bags import Bags
from fuzzymil.explain._explain import Reading
from fuzzymil.explain._importance import mean_output, with_values
from fuzzymil.rules import RuleBase
from fuzzymil.rules.rule import Variable

_MOST_BAGS, _MOST_INSTANCES = 300, 30_000
_LEAST_DRAWS = 200  # instances to change, one at a time
_OUTSIDE = 0.01  # share of the values beyond either end of the range


@dataclasses.dataclass(frozen=True)
class EffectCurve:
    """The effect on the probability of one class, or on one output, with its position among them.

    At each value (n_points,): the mean prediction over the bags if all instances have it, with the quartiles over the
    bags (``low`` and ``high``), and the mean prediction if one instance has it.
    """

    name: str
    place: int
    all_instances: Array
    one_instance: Array
    low: Array
    high: Array

    @property
    def change(self) -> float:
        """The greatest difference between two points of ``all_instances``."""
        return float(np.ptp(self.all_instances))


@dataclasses.dataclass(frozen=True, repr=False)
class Effect:
    """How the prediction changes with a feature.

    Attributes
    ----------
    feature, variable : str, Variable
        Its name, and the variable with its unit, or its categories.
    values : array of shape (n_points,)
        Values of the feature: the middle 98% of its range, or the codes of its categories.
    curves : tuple of EffectCurve
        One for the positive class, one for each of several classes, or one per output.
    classifies : bool
        Whether the curves are probabilities.
    mean : tuple of float
        Mean prediction for the bags as they are, one per curve.
    counts : array of shape (n_bins,)
        Histogram of the instances over the range of ``values``, or their number in each category.
    n_bags : int
        Number of bags that the means are over; of many, some drawn at random.

    Examples
    --------
    >>> from fuzzymil import RuleClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=3)
    >>> model = RuleClassifier(random_state=0).fit(bags)
    >>> found = model.effect(bags, "x1")
    >>> found.curves[0].name, found.values.shape
    ('1', (41,))
    """

    feature: str
    variable: Variable
    values: Array
    curves: tuple[EffectCurve, ...]
    classifies: bool
    mean: tuple[float, ...]
    counts: Array
    n_bags: int

    @property
    def shown(self) -> list[str]:
        """The values as a person writes them."""
        return [self.variable.shown(float(value)) or f"{value:.4g}" for value in self.values]

    def __repr__(self) -> str:
        about = ", ".join(curve.name for curve in self.curves)
        return f"Effect({self.feature!r} on {about}: {len(self.values)} values, {self.n_bags} bags)"

    def _rows(self) -> list[int]:
        """Return the positions of about ten values to write down, all categories among them."""
        n = len(self.values)
        least = n if self.variable.categories else min(n, 11)
        return sorted(set(np.linspace(0, n - 1, least).round().astype(int).tolist()))

    def _repr_html_(self) -> str:
        what = "probability of" if self.classifies else "predicted"
        tables = []
        for curve in self.curves:
            every = np.concatenate([curve.all_instances, curve.one_instance])
            ends = (min(0.0, float(every.min())), 1.0 if self.classifies else max(0.0, float(every.max())))
            rows = [
                [
                    self.shown[n],
                    *(part for side in ("all_instances", "one_instance") for part in _drawn(curve, side, n, ends)),
                ]
                for n in self._rows()
            ]
            heads = [self.variable.title, "", "all instances", "", "one instance"]
            tables.append(html.table(f"{what} {curve.name}", heads, rows))
        mean = ", ".join(html.number(each) for each in self.mean)
        return html.fragment(*tables, html.line(f"Means over {self.n_bags:,} bags; as they are: {mean}.", soft=True))

    def __str__(self) -> str:
        rows = self._rows()
        texts = [self.shown[n] for n in rows]
        wide = max(map(len, [self.feature, *texts]))
        blocks = []
        for curve in self.curves:
            lines = [f"{'probability of' if self.classifies else 'predicted'} {curve.name}"]
            lines.append(f"{self.feature:>{wide}}  {'all instances':>13}  {'one instance':>12}")
            lines += [
                f"{text:>{wide}}  {curve.all_instances[n]:>13.3f}  {curve.one_instance[n]:>12.3f}"
                for text, n in zip(texts, rows, strict=True)
            ]
            blocks.append("\n".join(lines))
        return "\n\n".join(blocks)

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON."""
        return {
            "feature": self.feature,
            "values": self.values.tolist(),
            "shown": self.shown,
            "classifies": self.classifies,
            "mean": list(self.mean),
            "counts": self.counts.tolist(),
            "n_bags": self.n_bags,
            "curves": [
                {"name": curve.name}
                | {name: getattr(curve, name).tolist() for name in ("all_instances", "one_instance", "low", "high")}
                for curve in self.curves
            ],
        }


def _drawn(curve: EffectCurve, side: str, n: int, ends: tuple[float, float]) -> tuple[Any, str]:
    """Return a mean prediction as a bar and as a number."""
    value = float(getattr(curve, side)[n])
    return bar(value, *ends).svg, html.number(value)


def effect(
    members: Sequence[RuleBase],
    bags: Bags,
    feature: str | int,
    *,
    reading: Reading,
    pos_label: Any = None,
    n_points: int = 41,
    rng: np.random.Generator | None = None,
) -> Effect:
    """Compute the effect of a feature; ``model.effect`` calls this.

    Parameters
    ----------
    members : sequence of RuleBase
        Whose outputs are averaged.
    bags : Bags
        With the features of the rules, in their order.
    feature : str or int
        Name or column.
    reading : Reading
        What the output means.
    pos_label : label, optional
        The class whose probability is shown. Default: of two classes, the positive one; otherwise all.
    n_points : int
        Number of values of a number.
    rng : numpy Generator, optional

    Examples
    --------
    >>> rules = RuleBase.parse(
    ...     "VARIABLE x FROM 0 TO 1: high = Sigmoid(0.5, 20)  Default: y = 0  IF SOME x is high THEN y += 2"
    ... )
    >>> found = effect([rules], Bags.from_list([[[0.0], [1.0]], [[0.0], [0.2]]]), "x", reading=Reading(), n_points=3)
    >>> found.curves[0].all_instances.round(2).tolist()
    [0.0, 1.0, 2.0]
    """
    known = members[0].feature_names
    d = position("feature", feature, known)
    if isinstance(n_points, bool) or not isinstance(n_points, int) or n_points < 2:
        raise ParameterError(f"n_points must be an integer of at least 2, got {n_points!r}.")
    rng = np.random.default_rng(0) if rng is None else rng
    bags = _some(bags, rng)
    variable = members[0].variables[d]
    present = bags.instances[:, d]
    present = present[~np.isnan(present)]
    if not len(present):
        raise InputError(f"All values of {known[d]!r} are missing, so its effect is unknown.")
    values, counts = _grid(variable, present, n_points)
    chosen = _lines(reading, members[0].output_names, pos_label)

    def answers(changed: Bags) -> Array:
        output = mean_output(members, changed)
        found = output if reading.classes is None or reading.probability is None else reading.probability(output)
        return np.asarray(found[:, [place for place, _ in chosen]])

    draws = -(-_LEAST_DRAWS // bags.n_bags)
    places = [bags.offsets[:-1] + rng.integers(bags.sizes) for _ in range(draws)]
    whole = np.stack([answers(with_values(bags, d, value)) for value in values])  # (points, bags, lines)
    single = np.array(
        [np.mean([answers(with_values(bags, d, value, rows)) for rows in places], (0, 1)) for value in values]
    )
    low, high = np.quantile(whole, [0.25, 0.75], axis=1)
    curves = [
        EffectCurve(name, place, whole[:, :, n].mean(axis=1), single[:, n], low[:, n], high[:, n])
        for n, (place, name) in enumerate(chosen)
    ]
    return Effect(
        feature=known[d],
        variable=variable,
        values=values,
        curves=tuple(curves),
        classifies=reading.classes is not None,
        mean=tuple(answers(bags).mean(axis=0).tolist()),
        counts=counts,
        n_bags=bags.n_bags,
    )


def _some(bags: Bags, rng: np.random.Generator) -> Bags:
    """Return bags drawn at random, if there are very many or they are very large."""
    if bags.n_bags <= _MOST_BAGS and bags.n_instances <= _MOST_INSTANCES:
        return bags
    order = rng.permutation(bags.n_bags)
    fit = int(np.searchsorted(np.cumsum(bags.sizes[order]), _MOST_INSTANCES, side="right"))
    return bags[np.sort(order[: max(min(fit, _MOST_BAGS), 1)])]


def position(what: str, wanted: Any, known: Sequence[str]) -> int:
    """Return the position of a feature or output, given by name or position."""
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool):
        if not 0 <= wanted < len(known):
            raise ParameterError(f"There is no {what} {wanted}: expected 0 to {len(known) - 1}.")
        return int(wanted)
    known_name(what, wanted, known)
    return list(known).index(str(wanted))


def _grid(variable: Variable, present: Array, n_points: int) -> tuple[Array, Array]:
    """Return the values to try, and a histogram of those that are there."""
    if variable.categories:
        n = len(variable.categories)
        return np.arange(n, dtype=float), np.histogram(present, n, (-0.5, n - 0.5))[0]
    low, high = np.quantile(present, [_OUTSIDE, 1 - _OUTSIDE], method="inverted_cdf")
    if not high > low:
        low, high = float(present.min()), float(present.max())
    if not high > low:
        low, high = low - 0.5, low + 0.5
    return np.linspace(low, high, n_points), np.histogram(present, 30, (low, high))[0]


def _lines(reading: Reading, outputs: Sequence[str], pos_label: Any) -> list[tuple[int, str]]:
    """Return position and name of the classes or outputs to show."""
    if reading.classes is None:
        if pos_label is not None:
            raise ParameterError(
                f"pos_label={pos_label!r:.60} names a class, but this model predicts numbers: omit it."
            )
        return [(k, outputs[k]) for k in range(len(outputs))]
    classes = np.asarray(reading.classes).tolist()
    if pos_label is not None:
        if str(pos_label) not in map(str, classes):
            raise ParameterError(f"pos_label must be one of the classes {listed(classes)}, got {pos_label!r:.60}.")
        place = list(map(str, classes)).index(str(pos_label))
        return [(place, str(classes[place]))]
    return [(1, str(classes[1]))] if len(classes) == 2 else list(enumerate(map(str, classes)))
