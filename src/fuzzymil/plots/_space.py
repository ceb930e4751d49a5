"""Instances and rules in the plane: instances as points, rules as ellipses."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_color
from fuzzymil._utils.errors import InputError, ParameterError, listed
from fuzzymil.bags import Bags, as_bags
from fuzzymil.explain import chosen_bag, explain
from fuzzymil.plots._axes import PLAIN, Scale, spread_out, variables_of
from fuzzymil.plots._ellipses import RuleEllipse, draw_ellipse, in_view, rule_ellipses
from fuzzymil.plots._outlines import RuleOutline, draw_outline, rule_outlines
from fuzzymil.plots._projection import Projection, chosen_features, principal_components, project
from fuzzymil.plots._rules import border, classes_of, conclusions, leading_features, position, rules_of
from fuzzymil.plots.style import (
    FAINT,
    HIGH,
    LOW,
    WITNESS,
    add_colorbar,
    add_legend,
    as_written,
    bare,
    distinct,
    shortened,
)
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import seen_bags
from fuzzymil.rules.rule import Variable

_MANY = 3000  # points are drawn smaller, and as an image in vector files
_LOOKS: tuple[tuple[str, float], ...] = ((".", 14.0), ("+", 34.0), ("^", 18.0), ("x", 22.0), ("v", 18.0), ("D", 10.0))


@dataclasses.dataclass(repr=False)
class SpaceDisplay:
    """Instances by the label of their bag, and rules as ellipses one width around their centers.

    Parameters
    ----------
    groups : dict of str to array of shape (n, 2)
        Instances by legend entry.
    axes : pair of str
        Labels of the axes.
    values : array of shape (n,), optional
        Labels of the instances' bags if they are numbers with many values; there is only one group then.
    rules : tuple of RuleEllipse
        Rules without quantifiers.
    outlines : tuple of RuleOutline
        Parts of rules with quantifiers.
    several : bool
        Whether the rules have several outputs.
    bag : array of shape (m, 2), optional
        Instances of the highlighted bag.
    bag_name : str
    witness : int, optional
        Position of the witness of the rule that contributes most.
    even : bool
        Whether both axes have the same scale.
    concepts : array of shape (n_concepts, 2), optional
        Centers of true concepts.
    radius : float
        Radius of the true concepts.
    note : str
        Remarks for the reader.
    colors : tuple of str
        Of the groups: those of their classes.
    kind_colors : tuple of str
        Of the rules of several outputs, by output.
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
    rules: tuple[RuleEllipse, ...] = ()
    outlines: tuple[RuleOutline, ...] = ()
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

        The axes are two features, if they are chosen, or if there are only two, or only two in the rules' conditions.
        For rules with quantifiers, they are the two features that the most influential rules ask for, and a line is
        drawn where an instance satisfies a part of a rule to one half. Otherwise they are the
        principal components of the standardized instances, and an ellipse is the projection of
        everything within one width of the rule's center: instances that satisfy the rule to 0.61 or more are inside,
        but not all instances inside satisfy the rule. Rules without conditions are not drawn.

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
        asked = {name for rule in rules.rules for name in rule.antecedent}
        quantified = any(part.quantifier is not None for part in rules.parts)
        if features is None and len(asked) == 2:  # no other feature matters
            features = [variable.name for variable in rules.variables if variable.name in asked]
        elif features is None and quantified and rules.n_features > 2:
            features = leading_features(rules)
        projection, axes, even, scales = _view(seen, rules.variables, features)
        known = given.labels if labels is None else labels
        plain = cls._of_bags(
            seen, known, projection, axes, even, order, scales, classes_of(model) if labels is None else []
        )
        high = border(model, conclusions(rules)[:, 0]) if threshold is None else threshold
        ellipses: tuple[RuleEllipse, ...] = ()
        outlines: tuple[RuleOutline, ...] = ()
        if quantified:
            across, up = projection.directions.argmax(axis=1).tolist()
            wide, tall = (_range(seen.instances[:, d], scale) for d, scale in zip((across, up), scales, strict=True))
            outlines, note = rule_outlines(rules, across, up, wide, tall, limit=high)
        else:
            ellipses, note = rule_ellipses(rules, seen, projection, mixed=even, high=high)
        display = dataclasses.replace(
            plain,
            rules=ellipses,
            outlines=outlines,
            several=len(rules.outputs) > 1,
            kind_colors=tuple(class_color(k, len(rules.outputs)) for k in range(len(rules.outputs))),
            note="; ".join(filter(None, (plain.note, note))),
        )
        return display if bag is None else display._with_bag(chosen_bag(seen, bag), projection, rules)

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
        """Project bags onto the plane, without rules; see `from_model`.

        Examples
        --------
        >>> SpaceDisplay.from_bags([[[0.0, 0.1]], [[0.2, 0.0], [1.0, 0.9]]]).axes
        ('x1', 'x2')
        """
        given = as_bags(bags)
        projection, axes, even, scales = _view(given, variables_of(given), features)
        known = given.labels if labels is None else labels
        display = cls._of_bags(given, known, projection, axes, even, order, scales)
        return display if bag is None else display._with_bag(chosen_bag(given, bag), projection)

    @classmethod
    def _of_bags(
        cls,
        seen: Bags,
        labels: Any,
        projection: Projection,
        axes: tuple[str, str],
        even: bool,
        order: Any,
        scales: tuple[Scale, Scale],
        classes: Sequence[Any] = (),
    ) -> SpaceDisplay:
        points = _places(projection, seen, scales)
        known = ~np.isnan(points).any(axis=1)
        note = "" if known.all() else f"{(~known).sum():,} of {len(points):,} instances not shown (missing values)"
        if labels is None:
            return cls({"instance": points[known]}, axes, even=even, note=note, scales=scales)
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
            return cls({"instance": points[known]}, axes, values, even=even, note=note, scales=scales)
        if order is not None:
            if set(order) != set(kinds):
                raise ParameterError(f"order must list the labels {listed(kinds)}, got {listed(order)}.")
            kinds = list(order)
        ranked = list(classes) if set(kinds) <= set(classes) else kinds
        colors = tuple(class_color(ranked.index(kind), len(ranked)) for kind in kinds)
        groups = {f"in a bag labeled {kind}": points[known & (owners == kind)] for kind in kinds}
        return cls(groups, axes, even=even, note=note, colors=colors, scales=scales)

    def _with_bag(self, bag: Bags, projection: Projection, rules: RuleBase | None = None) -> SpaceDisplay:
        found = () if rules is None else explain(rules, bag).rules
        witness = next((rule.witness for rule in found if rule.witness is not None), None)
        places = _places(projection, bag, self.scales)
        return dataclasses.replace(self, bag=places, bag_name=str(bag.ids[0]), witness=witness)

    def with_concepts(self, centers: Array, radius: float) -> SpaceDisplay:
        """Return the display with true concepts: circles around ``centers`` (n_concepts, 2)."""
        return dataclasses.replace(self, concepts=np.asarray(centers), radius=radius, even=True)

    # ------------------------------------------------------------------ drawing

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        figure, axis = plt.subplots(figsize=(6.2, 6.8), layout="constrained")
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
        axis.set_xlabel(as_written(shortened(self.axes[0], 60)), fontsize=9)
        axis.set_ylabel(as_written(shortened(self.axes[1], 60)), fontsize=9)
        bare(axis)
        self.scales[0].put_on(axis.xaxis)
        self.scales[1].put_on(axis.yaxis, across=False)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        handles, labels = axis.get_legend_handles_labels()
        remarks = textwrap.fill(self._remarks(low, high), 90)
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
            found = axis.scatter(x, y, size / 2 if many else size, label=shortened(name, 44), **look)
            if self.values is not None:
                add_colorbar(figure, found, axis, "label of the bag", location="right", aspect=40, shrink=0.7)

    def _draw_bag(self, axis: Any) -> None:
        if self.bag is None:
            return
        ring: dict[str, Any] = {"facecolors": "none", "edgecolors": "black", "zorder": 6}
        x, y = self.bag.T
        axis.scatter(x, y, 110, linewidths=1.3, label=f"bag {shortened(self.bag_name, 30)}", **ring)
        if self.witness is not None:
            ring["edgecolors"] = WITNESS
            axis.scatter(x[self.witness], y[self.witness], 230, linewidths=2.2, label="witness", **ring)

    def _draw_rules(self, axis: Any) -> None:
        low, high = axis.get_xlim(), axis.get_ylim()
        named: set[str] = set()
        for outline in self.outlines:
            look = self._look(outline.kind, outline.against)
            draw_outline(axis, outline, look)
            if outline.label not in named:  # contours have no legend entries of their own
                axis.plot([], [], label=outline.label, **look)
            named.add(outline.label)
        for rule in self.rules:
            look = self._look(rule.kind, rule.against)
            label = None if rule.label in named else rule.label
            if not draw_ellipse(axis, rule, label, look):
                continue
            named.add(rule.label)
            if in_view(rule, low, high):
                middle = (sum(low) / 2, sum(high) / 2)
                axis.text(
                    *np.where(np.isnan(rule.center), middle, rule.center),
                    str(rule.number),
                    ha="center",
                    va="center",
                    fontsize=10,
                    fontweight="bold",
                    color=look["color"],
                    bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
                    zorder=7,
                )

    def _look(self, kind: int, against: bool) -> dict[str, Any]:
        if self.several and against:
            return {"color": self.kind_colors[kind], "linestyle": (0, (1, 4)), "linewidth": 1.6}
        if self.several:
            dash = distinct(kind + 1)[kind]["linestyle"]
            return {"color": self.kind_colors[kind], "linestyle": dash, "linewidth": 1.8}
        if kind:
            return {"color": HIGH, "linestyle": "-", "linewidth": 2.0}
        return {"color": LOW, "linestyle": "--", "linewidth": 1.3}

    def _remarks(self, low: tuple[float, float], high: tuple[float, float]) -> str:
        away = [str(rule.number) for rule in self.rules if not in_view(rule, low, high)]
        outside = f"center outside the figure: rule{'s' if len(away) > 1 else ''} {listed(away)}" if away else ""
        return "; ".join(filter(None, (self.note, outside)))


def _range(values: Array, scale: Scale) -> tuple[float, float]:
    """Return the range of known values, a little wider, as the axes have it; of categories, room for each."""
    if scale.categories:
        return -0.5, len(scale.categories) - 0.5
    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    room = 0.05 * (high - low) or 0.5
    return low - room, high + room


def _view(
    seen: Bags, variables: Sequence[Variable], features: Sequence[str | int] | None
) -> tuple[Projection, tuple[str, str], bool, tuple[Scale, Scale]]:
    """Return the projection, the labels of its axes, whether they mix features, and how their values are written."""
    if seen.n_features < 2:
        raise InputError("A plane needs two features, got one: use MembershipDisplay instead.")
    if features is None and seen.n_features > 2:
        seen.require_complete("Choose two features=(..., ...), or impute the missing values first.")
        projection, shares = principal_components(seen.instances)
        first, second = (
            f"principal component {place} ({100 * share:.0f}% of the variance)"
            for place, share in enumerate(shares, start=1)
        )
        return projection, (first, second), True, (PLAIN, PLAIN)
    chosen = (0, 1) if features is None else features
    if isinstance(chosen, str) or len(chosen) != 2:
        raise ParameterError(f"features must be two names or columns, got {chosen!r}.")
    across, up = (position("feature", feature, [variable.name for variable in variables]) for feature in chosen)
    if across == up:
        raise ParameterError(f"features must be different, got {variables[up].name!r} twice.")
    names = variables[across].title, variables[up].title
    scales = Scale.of(variables[across]), Scale.of(variables[up])
    return chosen_features(seen.n_features, across, up), names, False, scales


def _places(projection: Projection, bags: Bags, scales: tuple[Scale, Scale]) -> Array:
    """Return where instances are drawn (n, 2); those of one category are moved a little apart."""
    points = project(projection, bags.instances)
    return np.column_stack([spread_out(points[:, n], scale, bags.instances) for n, scale in enumerate(scales)])
