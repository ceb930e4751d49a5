"""Instances and rules in the plane: instances as points, rules as lines around those that satisfy them."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

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
    PLAIN,
    WITNESS,
    Scale,
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
)
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import seen_bags
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import conditions
from fuzzymil.rules.rule import Variable

_LEVEL = float(np.exp(-0.5))  # of a Gaussian set, one width from its center
_N_POINTS = 121
_EDGE = 0.1  # share of the axes that half a label needs
_MANY = 3000  # points are drawn smaller, and as an image in vector files
_LOOKS: tuple[tuple[str, float], ...] = ((".", 14.0), ("+", 34.0), ("^", 18.0), ("x", 22.0), ("v", 18.0), ("D", 10.0))


@dataclasses.dataclass(repr=False)
class SpaceDisplay:
    """Instances by the label of their bag, and rules as lines around the instances that satisfy them.

    Parameters
    ----------
    groups : dict of str to array of shape (n, 2)
        Instances by legend entry.
    axes : pair of str
        Labels of the axes.
    values : array of shape (n,), optional
        Labels of the instances' bags if they are numbers with many values; there is only one group then.
    rules : tuple of RuleOutline
        The rules, or their parts with quantifiers.
    several : bool
        Whether the rules have several outputs.
    bag : array of shape (m, 2), optional
        Instances of the highlighted bag, which is named ``bag_name``.
    witness : int, optional
        Position of the witness of the rule that contributes most.
    even : bool
        Whether both axes have the same scale.
    concepts : array of shape (n_concepts, 2), optional
        Centers of true concepts, all with the same ``radius``.
    note : str
        Remarks for the reader.
    colors, kind_colors : tuples of str
        Of the groups, those of their classes; of the rules of several outputs, by output.
    scales : pair of Scale
        How the values on the axes are written: as numbers, categories or dates.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0, 0.0], [1.0, 1.0]], [[0.3, 0.3], [0.3, 0.3]], [0, 1])
    >>> bags = Bags.from_list([[[0.0, 0.1]], [[0.2, 0.0], [1.0, 0.9]]], labels=["no", "yes"])
    >>> display = SpaceDisplay.from_model(rules, bags, bag=1)
    >>> {name: len(points) for name, points in display.groups.items()}, display.witness
    ({'in a bag labeled no': 1, 'in a bag labeled yes': 2}, 1)
    """

    groups: dict[str, Array]
    axes: tuple[str, str]
    values: Array | None = None
    rules: tuple[RuleOutline, ...] = ()
    several: bool = False
    bag: Array | None = None
    bag_name: str = ""
    witness: int | None = None
    even: bool = False
    concepts: Array | None = None
    radius: float = 0.0
    note: str = ""
    colors: tuple[str, ...] = ()
    kind_colors: tuple[str, ...] = ()
    scales: tuple[Scale, Scale] = (PLAIN, PLAIN)

    @classmethod
    def from_model(
        cls,
        model: Any,
        bags: Any,
        labels: Any = None,
        *,
        bag: Any = None,
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
        bag : id or position, optional
            A bag to highlight.
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
        across, up = _two_features(rules.variables, features)
        plane = _Plane.of(rules.variables, across, up)
        known = given.labels if labels is None else labels
        plain = cls._of_bags(seen, known, plane, order, classes_of(model) if labels is None else [])
        high = border(model, conclusions(rules)[:, 0]) if threshold is None else threshold
        wide, tall = (
            _range(seen.instances[:, d], scale) for d, scale in zip(plane.features, plane.scales, strict=True)
        )
        outlines, note = rule_outlines(rules, across, up, wide, tall, limit=high)
        display = dataclasses.replace(
            plain,
            rules=outlines,
            several=len(rules.outputs) > 1,
            kind_colors=tuple(class_color(k, len(rules.outputs)) for k in range(len(rules.outputs))),
            note="; ".join(filter(None, (plain.note, note))),
        )
        return display if bag is None else display._with_bag(select_bag(seen, bag), plane, rules)

    @classmethod
    def from_bags(
        cls,
        bags: Any,
        labels: Any = None,
        *,
        bag: Any = None,
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
        plane = _Plane.of(variables, *_two_features(variables, features))
        display = cls._of_bags(given, given.labels if labels is None else labels, plane, order)
        return display if bag is None else display._with_bag(select_bag(given, bag), plane)

    @classmethod
    def _of_bags(
        cls, seen: Bags, labels: Any, plane: _Plane, order: Sequence[Any] | None, classes: Sequence[Any] = ()
    ) -> SpaceDisplay:
        points = plane.places(seen)
        known = ~np.isnan(points).any(axis=1)
        note = "" if known.all() else f"{(~known).sum():,} of {len(points):,} instances not shown (missing values)"
        if labels is None:
            return cls({"instance": points[known]}, plane.axes, note=note, scales=plane.scales)
        found = np.asarray(labels)
        if found.shape != (seen.n_bags,):
            raise InputError(f"Expected one label per bag: got {seen.n_bags} bags and labels of shape {found.shape}.")
        owners = np.repeat(found, seen.sizes)
        kinds = sorted(set(found.tolist()), key=lambda kind: (isinstance(kind, str), kind))
        if len(kinds) > len(_LOOKS):
            if found.dtype.kind not in "iuf":
                raise InputError(
                    f"There are {len(kinds)} different labels, but only {len(_LOOKS)} can be distinguished: group them "
                    "and pass labels=..."
                )
            values = owners[known].astype(float)
            return cls({"instance": points[known]}, plane.axes, values, note=note, scales=plane.scales)
        if order is not None:
            if set(order) != set(kinds):
                raise ParameterError(f"order must list the labels {listed(kinds)}, got {listed(order)}.")
            kinds = list(order)
        ranked = list(classes) if set(kinds) <= set(classes) else kinds
        colors = tuple(class_color(ranked.index(kind), len(ranked)) for kind in kinds)
        groups = {f"in a bag labeled {kind}": points[known & (owners == kind)] for kind in kinds}
        return cls(groups, plane.axes, note=note, colors=colors, scales=plane.scales)

    def _with_bag(self, bag: Bags, plane: _Plane, rules: RuleBase | None = None) -> SpaceDisplay:
        found = () if rules is None else explain(rules, bag).rules
        witness = next((rule.witness for rule in found if rule.witness is not None), None)
        return dataclasses.replace(self, bag=plane.places(bag), bag_name=str(bag.ids[0]), witness=witness)

    def with_concepts(self, centers: Array, radius: float) -> SpaceDisplay:
        """Return the display with true concepts: circles around ``centers`` (n_concepts, 2)."""
        return dataclasses.replace(self, concepts=np.asarray(centers), radius=radius, even=True)

    # ------------------------------------------------------------------ drawing

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        figure, ((axis,),) = subplots(1, 1, (6.2, 6.8))
        self._draw_instances(figure, axis)
        low, high = (
            (-0.5, len(scale.categories) - 0.5) if scale.categories else limits
            for scale, limits in zip(self.scales, (axis.get_xlim(), axis.get_ylim()), strict=True)
        )
        if self.concepts is not None:
            x, y = self.concepts.T
            axis.scatter(x, y, 46, marker="s", color="black", label="concept center", zorder=4)
            for center in self.concepts:
                axis.add_patch(Circle(center, self.radius, fill=False, color="black", linewidth=1.4, zorder=4))
        self._draw_bag(axis)
        self._draw_rules(axis)
        if self.even:
            axis.set_aspect("equal")
        # Keep to the data: wide rules reach far beyond them.
        axis.set_xlim(low)
        axis.set_ylim(high)
        axis.set_xlabel(as_written(shorten(self.axes[0], 60)), fontsize=9)
        axis.set_ylabel(as_written(shorten(self.axes[1], 60)), fontsize=9)
        bare(axis)
        self.scales[0].put_on(axis.xaxis)
        self.scales[1].put_on(axis.yaxis, across=False)
        add_title(figure, title)
        handles, labels = axis.get_legend_handles_labels()
        remarks = textwrap.fill(self.note, 90)
        add_legend(figure, handles, labels, title=remarks, ncols=3 if max(map(len, labels)) < 26 else 2)
        return figure

    def _draw_instances(self, figure: Figure, axis: Any) -> None:
        many = sum(map(len, self.groups.values())) > _MANY
        colors = self.colors or (FAINT,) * len(self.groups)
        for (name, points), (marker, size), color in zip(self.groups.items(), _LOOKS, colors, strict=False):
            look: dict[str, Any] = {
                "marker": marker,
                "linewidths": 0.9,
                "rasterized": many,
                "alpha": 0.6 if many else 1,
            }
            if self.values is None:
                # Faint, so that the lines of rules, which have the color of their class, too, stand out.
                look |= {"color": color, "alpha": 0.45 if marker == "." else 0.75}
            else:
                look |= {"c": self.values, "cmap": "cividis"}
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

    def _draw_rules(self, axis: Any) -> None:
        named: set[str] = set()
        for rule in self.rules:
            look = self._look(rule.kind, rule.against)
            draw_outline(axis, rule, look)
            if rule.label not in named:  # contours have no legend entries of their own
                axis.plot([], [], label=rule.label, **look)
            named.add(rule.label)

    def _look(self, kind: int, against: bool) -> dict[str, Any]:
        if self.several and against:
            return {"color": self.kind_colors[kind], "linestyle": (0, (1, 4)), "linewidth": 1.6}
        if self.several:
            dash = distinct(kind + 1)[kind]["linestyle"]
            return {"color": self.kind_colors[kind], "linestyle": dash, "linewidth": 1.8}
        if kind:
            return {"color": HIGH, "linestyle": "-", "linewidth": 2.0}
        return {"color": LOW, "linestyle": "--", "linewidth": 1.3}


def _range(values: Array, scale: Scale) -> tuple[float, float]:
    """Return the range of known values, a little wider, as the axes have it; of categories, room for each."""
    if scale.categories:
        return -0.5, len(scale.categories) - 0.5
    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    room = 0.05 * (high - low) or 0.5
    return low - room, high + room


# ---------------------------------------------------------------------- rules in the plane


@dataclasses.dataclass(frozen=True)
class RuleOutline:
    """A part of a rule in the plane of two features.

    The ``number`` of the rule starts at 1; ``word`` is the part's quantifier. The ``truth`` (n, n) is the degree to
    which an instance with values ``x`` and ``y`` (n,) (rows: ``y``) satisfies the part if its conditions on other
    features hold. The ``kind`` is 0 or 1 for a low or high conclusion or, with several outputs, the position of the one
    that the rule is about, maybe ``against`` it; ``label`` says so.
    """

    number: int
    word: str
    x: Array
    y: Array
    truth: Array
    kind: int
    label: str
    against: bool = False

    @property
    def middle(self) -> tuple[float, float]:
        """A place where the part is satisfied: the middle of where it is nearly as true as anywhere."""
        down, across = np.nonzero(self.truth >= 0.95 * self.truth.max())
        near = np.hypot(down - down.mean(), across - across.mean()).argmin()
        return float(self.x[across[near]]), float(self.y[down[near]])


def rule_outlines(
    rules: RuleBase, across: int, up: int, low: tuple[float, float], high: tuple[float, float], limit: float
) -> tuple[tuple[RuleOutline, ...], str]:
    """Return the parts of the rules in the plane of two features, and notes for the reader.

    Each feature has a range; above the ``limit``, the conclusion for a single output counts as high.
    """
    x, y = np.linspace(*low, _N_POINTS), np.linspace(*high, _N_POINTS)
    rows = np.full((_N_POINTS**2, rules.n_features), np.nan)  # a missing value satisfies every condition
    rows[:, across], rows[:, up] = np.tile(x, _N_POINTS), np.repeat(y, _N_POINTS)
    truth = (
        rules.ignoring_missing_values()
        .infer(Bags(rows, np.arange(len(rows) + 1), feature_names=rules.feature_names))
        .truth
    )
    said = conclusions(rules)
    labels = [f"rule that {does} {rules.output_names[0]}" for does in ("lowers", "raises")]
    if rules.normalize:
        labels = [f"rule with conclusion {sign} {format_number(limit, 3)}" for sign in ("≤", ">")]
    kinds = [(int(high), False, labels[int(high)]) for high in said[:, 0] > limit]
    if len(rules.outputs) > 1:
        kinds = output_of_each_rule(rules)
    shown = {rules.feature_names[across], rules.feature_names[up]}
    found, elsewhere = [], []
    for p, part in enumerate(rules.parts):
        asked = {condition.variable for condition in conditions(part.premise)}
        if asked & shown:
            kind, against, label = kinds[part.rule]
            plane = truth[:, p].reshape(_N_POINTS, _N_POINTS)
            found.append(RuleOutline(part.rule + 1, quantifier_word(part), x, y, plane, kind, label, against))
        if asked - shown or not asked:
            elsewhere.append(part.rule + 1)
    notes = [f"lines: an instance satisfies the rule (or its part) to {_LEVEL:.2f}"]
    drawn = {outline.number for outline in found}
    for text, numbers in (
        ("with other conditions, too", sorted(drawn & set(elsewhere))),
        ("not drawn (no condition on these features)", sorted(set(elsewhere) - drawn)),
    ):
        if numbers:
            notes.append(f"{text}: rule{'s' if len(numbers) > 1 else ''} {listed(numbers)}")
    return tuple(found), "; ".join(notes)


def draw_outline(axis: Any, outline: RuleOutline, look: dict[str, Any]) -> None:
    """Draw the line at which a part is half satisfied, its number and its quantifier."""
    if outline.truth.max() > _LEVEL > outline.truth.min():
        drawn = axis.contour(
            outline.x,
            outline.y,
            outline.truth,
            levels=[_LEVEL],
            colors=look["color"],
            linestyles=[look["linestyle"]],
            linewidths=look["linewidth"],
        )
        drawn.set_zorder(3)
        axis.contourf(outline.x, outline.y, outline.truth, levels=[_LEVEL, 1.1], colors=look["color"], alpha=0.06)
    x, y = outline.middle
    # Inside the axes even if the place is at their edge.
    across = (x - outline.x[0]) / (outline.x[-1] - outline.x[0])
    up = (y - outline.y[0]) / (outline.y[-1] - outline.y[0])
    axis.text(
        x,
        y,
        f"{outline.number} {outline.word}".strip(),
        ha="left" if across < _EDGE else "right" if across > 1 - _EDGE else "center",
        va="bottom" if up < _EDGE / 2 else "top" if up > 1 - _EDGE / 2 else "center",
        fontsize=9,
        fontweight="bold",
        color=look["color"],
        bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
        zorder=7,
        clip_on=True,
    )


# ---------------------------------------------------------------------- planes


class _Plane(NamedTuple):
    """The plane of two features."""

    features: tuple[int, int]
    axes: tuple[str, str]
    scales: tuple[Scale, Scale]

    @classmethod
    def of(cls, variables: Sequence[Variable], across: int, up: int) -> _Plane:
        pair = variables[across], variables[up]
        return cls((across, up), (pair[0].title, pair[1].title), (Scale.of(pair[0]), Scale.of(pair[1])))

    def places(self, bags: Bags) -> Array:
        """Return where instances are drawn (n, 2); those of one category are moved a little apart."""
        values = [bags.instances[:, d] for d in self.features]
        return np.column_stack([spread_out(*pair, bags.instances) for pair in zip(values, self.scales, strict=True)])


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
