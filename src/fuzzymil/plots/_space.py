"""Instances and rules in the plane: instances as points, rules as lines around those that satisfy them."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_color
from fuzzymil._utils.errors import InputError, ParameterError, listed
from fuzzymil.bags import Bags, as_bags
from fuzzymil.explain import explain, select_bag
from fuzzymil.explain.effects import position
from fuzzymil.plots._rules import (
    border,
    classes_of,
    conclusions,
    leading_features,
    output_of_each_rule,
    quantifier_word,
    rules_of,
)
from fuzzymil.plots.style import (
    FAINT,
    HIGH,
    LOW,
    WITNESS,
    add_colorbar,
    add_legend,
    add_title,
    as_written,
    bare,
    distinct,
    shorten,
    spread_out,
    subplots,
    variables_of,
    write_values,
)
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import bags_of_equal, seen_bags
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import conditions
from fuzzymil.rules.rule import Variable

_LEVEL = float(np.exp(-0.5))  # of a Gaussian set, one width from its center
_N_POINTS = 121
_EDGE = 0.1  # share of the axes that half a label needs
_MANY = 3000  # points are drawn smaller, and as an image in vector files
_POINTS: tuple[tuple[str, float], ...] = ((".", 14.0), ("+", 34.0), ("^", 18.0), ("x", 22.0), ("v", 18.0), ("D", 10.0))


@dataclasses.dataclass(repr=False)
class SpaceDisplay:
    """Instances by the label of their bag, and rules as lines around the instances that satisfy them.

    Parameters
    ----------
    groups : dict of str to array of shape (n, 2)
        Instances by legend entry, in the ``colors`` of their classes.
    features : pair of Variable
    values : array of shape (n,), optional
        Labels of the instances' bags if they are numbers with many values; there is only one group then.
    rules : tuple of RuleOutline
        The rules, or their parts with quantifiers.
    bag : array of shape (m, 2), optional
        Instances of the highlighted bag, which is named ``bag_name``.
    witness : int, optional
        Position of the witness of the rule that contributes most.
    note : str
        Remarks for the reader.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0, 0.0], [1.0, 1.0]], [[0.3, 0.3], [0.3, 0.3]], [0, 1])
    >>> bags = Bags.from_list([[[0.0, 0.1]], [[0.2, 0.0], [1.0, 0.9]]], labels=["no", "yes"])
    >>> display = SpaceDisplay.from_model(rules, bags, bag=1)
    >>> {name: len(points) for name, points in display.groups.items()}, display.witness
    ({'in a bag labeled no': 1, 'in a bag labeled yes': 2}, 1)
    """

    groups: dict[str, Array]
    features: tuple[Variable, Variable]
    values: Array | None = None
    rules: tuple[RuleOutline, ...] = ()
    bag: Array | None = None
    bag_name: str = ""
    witness: int | None = None
    note: str = ""
    colors: tuple[str, ...] = ()

    @property
    def axes(self) -> tuple[str, str]:
        """Labels of the axes."""
        return self.features[0].title, self.features[1].title

    @classmethod
    def from_model(
        cls,
        model: Any,
        bags: Any,
        labels: Any = None,
        *,
        bag: Any = None,
        position: int | None = None,
        features: Sequence[str | int] | None = None,
        order: Sequence[Any] | None = None,
        threshold: float | None = None,
    ) -> SpaceDisplay:
        """Project bags and rules onto the plane.

        The axes are two features: by default, the two that the most influential rules ask for. A line is drawn where an
        instance satisfies a rule, or a part of it, to 0.61, if its conditions on other features hold: that is one width
        around the center of a Gaussian set. Rules without conditions on the two features are not drawn.

        Parameters
        ----------
        model : RuleBase, or fitted model
        bags : Bags, or anything `as_bags` accepts
        labels : array of shape (n_bags,), optional
            Default: the labels of the bags, if any.
        bag : id, optional
            A bag to highlight, by its id.
        position : int, optional
            A bag to highlight, by its position.
        features : pair of str or int, optional
            Names or columns.
        order : sequence of labels, optional
            The first is drawn faintest. Default: sorted.
        threshold : float, optional
            Above which a conclusion counts as high. Default: the threshold of a binary classifier, else the mean of
            the rules' conclusions.
        """
        rules, given = rules_of(model), as_bags(bags)
        seen = seen_bags(rules, given)
        if features is None and rules.n_features > 2:
            features = leading_features(rules)
        plane = _two_features(rules.variables, features)
        known, classes = (given.labels, classes_of(model)) if labels is None else (labels, [])
        display = cls._of_bags(seen, known, rules.variables, plane, order, classes)
        high = border(model, conclusions(rules)[:, 0]) if threshold is None else threshold
        ends = [_range(seen.instances[:, d], variable) for d, variable in zip(plane, display.features, strict=True)]
        outlines, note = _outlines(rules, plane, ends, high)
        display = dataclasses.replace(display, rules=outlines, note="; ".join(filter(None, (display.note, note))))
        if bag is None and position is None:
            return display
        return display._with_bag(select_bag(seen, bag, position), plane, rules)

    @classmethod
    def from_bags(
        cls,
        bags: Any,
        labels: Any = None,
        *,
        bag: Any = None,
        position: int | None = None,
        features: Sequence[str | int] | None = None,
        order: Sequence[Any] | None = None,
    ) -> SpaceDisplay:
        """Project bags onto the plane of two features (by default, the first two), without rules; see `from_model`.

        Examples
        --------
        >>> SpaceDisplay.from_bags([[[0.0, 0.1]], [[0.2, 0.0], [1.0, 0.9]]]).axes
        ('x1', 'x2')
        """
        given = as_bags(bags)
        variables = variables_of(given)
        plane = _two_features(variables, features)
        display = cls._of_bags(given, given.labels if labels is None else labels, variables, plane, order)
        if bag is None and position is None:
            return display
        return display._with_bag(select_bag(given, bag, position), plane)

    @classmethod
    def _of_bags(
        cls,
        seen: Bags,
        labels: Any,
        variables: Sequence[Variable],
        plane: tuple[int, int],
        order: Sequence[Any] | None,
        classes: Sequence[Any] = (),
    ) -> SpaceDisplay:
        features = variables[plane[0]], variables[plane[1]]
        points = _places(seen, plane, features)
        known = ~np.isnan(points).any(axis=1)
        note = "" if known.all() else f"{(~known).sum():,} of {len(points):,} instances not shown (missing values)"
        one = cls({"instance": points[known]}, features, note=note)
        if labels is None:
            return one
        found = np.asarray(labels)
        if found.shape != (seen.n_bags,):
            raise InputError(f"Expected one label per bag: got {seen.n_bags} bags and labels of shape {found.shape}.")
        owners = np.repeat(found, seen.sizes)
        kinds = sorted(set(found.tolist()), key=lambda kind: (isinstance(kind, str), kind))
        if len(kinds) > len(_POINTS):
            if found.dtype.kind not in "iuf":
                raise InputError(
                    f"There are {len(kinds)} different labels, but only {len(_POINTS)} can be distinguished: group "
                    "them and pass labels=..."
                )
            return dataclasses.replace(one, values=owners[known].astype(float))
        if order is not None:
            if set(order) != set(kinds):
                raise ParameterError(f"order must list the labels {listed(kinds)}, got {listed(order)}.")
            kinds = list(order)
        ranked = list(classes) if set(kinds) <= set(classes) else kinds
        colors = tuple(class_color(ranked.index(kind), len(ranked)) for kind in kinds)
        groups = {f"in a bag labeled {kind}": points[known & (owners == kind)] for kind in kinds}
        return dataclasses.replace(one, groups=groups, colors=colors)

    def _with_bag(self, bag: Bags, plane: tuple[int, int], rules: RuleBase | None = None) -> SpaceDisplay:
        found = () if rules is None else explain(rules, bag).rules
        witness = next((rule.witness for rule in found if rule.witness is not None), None)
        points = _places(bag, plane, self.features)
        return dataclasses.replace(self, bag=points, bag_name=str(bag.ids[0]), witness=witness)

    # ------------------------------------------------------------------ drawing

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        figure, ((axis,),) = subplots(1, 1, (6.2, 6.8))
        self._draw_instances(figure, axis)
        limits = [
            (-0.5, len(feature.categories) - 0.5) if feature.categories else ends
            for feature, ends in zip(self.features, (axis.get_xlim(), axis.get_ylim()), strict=True)
        ]
        self._draw_bag(axis)
        looks: dict[str, dict[str, Any]] = {}
        for rule in self.rules:
            rule.draw(axis)
            looks.setdefault(rule.label, rule.look)
        for label, look in looks.items():
            axis.plot([], [], label=label, **look)  # contours have no legend entries of their own
        axis.set(xlim=limits[0], ylim=limits[1])  # those of the data: wide rules reach far beyond them
        axis.set_xlabel(as_written(shorten(self.axes[0], 60)), fontsize=9)
        axis.set_ylabel(as_written(shorten(self.axes[1], 60)), fontsize=9)
        bare(axis)
        write_values(axis.xaxis, self.features[0])
        write_values(axis.yaxis, self.features[1], across=False)
        add_title(figure, title)
        handles, labels = axis.get_legend_handles_labels()
        remarks = textwrap.fill(self.note, 90)
        add_legend(figure, handles, labels, title=remarks, ncols=3 if max(map(len, labels)) < 26 else 2)
        return figure

    def _draw_instances(self, figure: Figure, axis: Any) -> None:
        many = sum(map(len, self.groups.values())) > _MANY
        colors = self.colors or (FAINT,) * len(self.groups)
        for (name, points), (marker, size), color in zip(self.groups.items(), _POINTS, colors, strict=False):
            look: dict[str, Any] = {"marker": marker, "linewidths": 0.9, "rasterized": many}
            if self.values is None:
                # Faint, so that the lines of rules, which have the color of their class, too, stand out.
                look |= {"color": color, "alpha": 0.45 if marker == "." else 0.75}
            else:
                look |= {"c": self.values, "cmap": "cividis", "alpha": 0.6 if many else 1}
            x, y = points.T
            found = axis.scatter(x, y, size / 2 if many else size, label=shorten(name, 44), **look)
            if self.values is not None:
                add_colorbar(figure, found, axis, "label of the bag", location="right", aspect=40, shrink=0.7)

    def _draw_bag(self, axis: Any) -> None:
        if self.bag is None:
            return
        ring: dict[str, Any] = {"facecolors": "none", "edgecolors": "black", "zorder": 6}
        x, y = self.bag.T
        axis.scatter(x, y, 110, linewidths=1.3, label=f"bag {shorten(self.bag_name, 30)}", **ring)
        if self.witness is not None:
            ring["edgecolors"] = WITNESS
            axis.scatter(x[self.witness], y[self.witness], 230, linewidths=2.2, label="witness", **ring)


def _range(values: Array, variable: Variable) -> tuple[float, float]:
    """Return the range of known values, a little wider, as the axes have it; of categories, room for each."""
    if variable.categories:
        return -0.5, len(variable.categories) - 0.5
    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    room = 0.05 * (high - low) or 0.5
    return low - room, high + room


def _places(bags: Bags, plane: tuple[int, int], features: tuple[Variable, Variable]) -> Array:
    """Return where instances are drawn (n, 2); those of one category are moved a little apart."""
    pairs = zip(plane, features, strict=True)
    return np.column_stack([spread_out(bags.instances[:, d], feature, bags.instances) for d, feature in pairs])


def _two_features(variables: Sequence[Variable], chosen: Sequence[str | int] | None) -> tuple[int, int]:
    """Return the positions of the features of the axes; by default, the first two."""
    if len(variables) < 2:
        raise InputError("A plane needs two features, got one: use MembershipDisplay instead.")
    chosen = (0, 1) if chosen is None else chosen
    if isinstance(chosen, str) or len(chosen) != 2:
        raise ParameterError(f"features must be two names or columns, got {chosen!r}.")
    across, up = (position("feature", feature, [variable.name for variable in variables]) for feature in chosen)
    if across == up:
        raise ParameterError(f"features must be different, got {variables[up].name!r} twice.")
    return across, up


# ---------------------------------------------------------------------- rules in the plane


@dataclasses.dataclass(frozen=True)
class RuleOutline:
    """A part of a rule in the plane of two features.

    The ``number`` of the rule starts at 1; ``word`` is the part's quantifier. The ``truth`` (n, n) is the degree to
    which an instance with values ``x`` and ``y`` (n,) (rows: ``y``) satisfies the part if its conditions on other
    features hold. The ``kind`` is 0 or 1 for a low or high conclusion or, with several outputs, the position of the one
    that the rule is about; ``label`` and ``look`` say so.
    """

    number: int
    word: str
    x: Array
    y: Array
    truth: Array
    kind: int
    label: str
    look: dict[str, Any]

    @property
    def middle(self) -> tuple[float, float]:
        """A place where the part is satisfied: the middle of where it is nearly as true as anywhere."""
        down, across = np.nonzero(self.truth >= 0.95 * self.truth.max())
        near = np.hypot(down - down.mean(), across - across.mean()).argmin()
        return float(self.x[across[near]]), float(self.y[down[near]])

    def draw(self, axis: Any) -> None:
        """Draw the line at which the part is half satisfied, its number and its quantifier."""
        color = self.look["color"]
        if self.truth.max() > _LEVEL > self.truth.min():
            line = {"linestyles": [self.look["linestyle"]], "linewidths": self.look["linewidth"]}
            axis.contour(self.x, self.y, self.truth, levels=[_LEVEL], colors=color, zorder=3, **line)
            axis.contourf(self.x, self.y, self.truth, levels=[_LEVEL, 1.1], colors=color, alpha=0.06)
        x, y = self.middle
        # Inside the axes even if the place is at their edge.
        across = (x - self.x[0]) / (self.x[-1] - self.x[0])
        up = (y - self.y[0]) / (self.y[-1] - self.y[0])
        axis.text(
            x,
            y,
            f"{self.number} {self.word}".strip(),
            ha="left" if across < _EDGE else "right" if across > 1 - _EDGE else "center",
            va="bottom" if up < _EDGE / 2 else "top" if up > 1 - _EDGE / 2 else "center",
            fontsize=9,
            fontweight="bold",
            color=color,
            bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
            zorder=7,
            clip_on=True,
        )


def _outlines(
    rules: RuleBase, plane: tuple[int, int], ends: Sequence[tuple[float, float]], limit: float
) -> tuple[tuple[RuleOutline, ...], str]:
    """Return the parts of the rules in the plane of two features with these ranges, and notes for the reader.

    Above the ``limit``, the conclusion for a single output counts as high.
    """
    x, y = (np.linspace(*each, _N_POINTS) for each in ends)
    rows = np.full((_N_POINTS**2, rules.n_features), np.nan)  # a missing value satisfies every condition
    rows[:, plane[0]], rows[:, plane[1]] = np.tile(x, _N_POINTS), np.repeat(y, _N_POINTS)
    truth = rules.ignoring_missing_values().infer(bags_of_equal(rules, rows, 1)).truth
    kinds = _kinds(rules, limit)
    shown = {rules.feature_names[d] for d in plane}
    found, elsewhere = [], set()
    for p, part in enumerate(rules.parts):
        asked = {condition.variable for condition in conditions(part.premise)}
        if asked & shown:
            square = truth[:, p].reshape(_N_POINTS, _N_POINTS)
            found.append(RuleOutline(part.rule + 1, quantifier_word(part), x, y, square, *kinds[part.rule]))
        if asked - shown or not asked:
            elsewhere.add(part.rule + 1)
    notes = [f"lines: an instance satisfies the rule (or its part) to {_LEVEL:.2f}"]
    drawn = {outline.number for outline in found}
    for text, numbers in (
        ("with other conditions, too", sorted(drawn & elsewhere)),
        ("not drawn (no condition on these features)", sorted(elsewhere - drawn)),
    ):
        if numbers:
            notes.append(f"{text}: rule{'s' if len(numbers) > 1 else ''} {listed(numbers)}")
    return tuple(found), "; ".join(notes)


def _kinds(rules: RuleBase, limit: float) -> list[tuple[int, str, dict[str, Any]]]:
    """Return the kind of each rule, what it means, and how its line looks."""
    if len(rules.outputs) > 1:
        kinds = []
        for k, against, label in output_of_each_rule(rules):
            line = ((0, (1, 4)), 1.6) if against else (distinct(k + 1)[k]["linestyle"], 1.8)
            color = class_color(k, len(rules.outputs))
            kinds.append((k, label, {"color": color, "linestyle": line[0], "linewidth": line[1]}))
        return kinds
    labels = [f"rule that {does} {rules.output_names[0]}" for does in ("lowers", "raises")]
    if rules.normalize:
        labels = [f"rule with conclusion {sign} {format_number(limit, 3)}" for sign in ("≤", ">")]
    low = (0, labels[0], {"color": LOW, "linestyle": "--", "linewidth": 1.3})
    high = (1, labels[1], {"color": HIGH, "linestyle": "-", "linewidth": 2.0})
    return [high if said > limit else low for said in conclusions(rules)[:, 0]]
