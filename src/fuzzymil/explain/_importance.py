"""Importance: how much worse a model answers without what a feature says, or without a rule.

A feature's values are shuffled over the instances of all bags, so that they say nothing about a bag, or about the
instance's other values; if all instances of a bag share one value, it is shuffled over the bags instead. A rule is
switched off. The importance is the drop in the score on the same bags.
"""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from fuzzymil._utils import html
from fuzzymil._utils.arrays import Array, data_frame
from fuzzymil._utils.drawings import bar
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Bags
from fuzzymil.explain.coverage import used_features
from fuzzymil.explain.words import in_short
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import infer_output

_SHOWN = 20  # features or rules in text
_COLUMNS = 100  # characters of a line of text
_WIDTH = 60  # characters of a rule in text


@dataclasses.dataclass(frozen=True)
class FeatureImportance:
    """How much the score drops without what a feature says, with the standard deviation over shuffles and bags.

    The ``drop`` is a mean over shuffles: the score minus the score with the feature's values shuffled. A feature that
    no rule uses (not ``used``) has a drop of 0.
    """

    name: str
    drop: float
    std: float
    used: bool


@dataclasses.dataclass(frozen=True)
class RuleImportance:
    """How much the score drops without a rule, with the standard deviation over bags.

    The rule is named, its premise is the ``text``; ``member`` and ``rule`` are the positions of the rule base among the
    members, and of the rule in it.
    """

    name: str
    text: str
    drop: float
    std: float
    member: int
    rule: int


@dataclasses.dataclass(frozen=True, repr=False)
class Importance:
    """How much features and rules matter for the score on some bags; ``print`` it.

    Attributes
    ----------
    score_name, score : str, float
        What is measured: ``"accuracy"``, ``"R²"``, or the name of a scorer; and the model's own score.
    features, rules : tuples of FeatureImportance and RuleImportance
        The most important first; the rules are those of all members.
    n_bags : int
    n_repeats : int
        Number of shuffles. Each also draws as many bags with replacement, from each class its own number; the standard
        deviations are those of the drops on these samples, so they tell how much other bags like these would change
        the result.
    n_training : int or None
        How many of the bags the model was trained on, as far as it remembers its training bags; None if it does not.
    n_folds : int
        Number of cross-validation folds over which features are averaged, each with a model of its own; 0 for one
        model. The standard deviations are then those over folds, and there are no rules.

    Examples
    --------
    >>> from fuzzymil import RuleClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=3)
    >>> found = RuleClassifier(random_state=0).fit(bags[::2]).importance(bags[1::2])
    >>> sorted(feature.name for feature in found.features), [rule.name for rule in found.rules]
    (['x1', 'x2'], ['Rule 2', 'Rule 1'])
    >>> print(found.basis)
    Measured on 75 bags that the model was not trained on.
    """

    score_name: str
    score: float
    features: tuple[FeatureImportance, ...]
    rules: tuple[RuleImportance, ...]
    n_bags: int
    n_repeats: int
    n_training: int | None
    n_folds: int = 0

    @property
    def basis(self) -> str:
        """On which bags it was measured, in words: those of training tell less."""
        bags = "1 bag" if self.n_bags == 1 else f"{self.n_bags:,} bags"
        if self.n_folds:
            return (
                f"Measured by {self.n_folds}-fold cross-validation on {bags}: each model on bags that it was not "
                "trained on."
            )
        if self.n_training is None:
            return f"Measured on {bags}. If the model was trained on them, new bags may give another order."
        if self.n_training == 0:
            return f"Measured on {bags} that the model was not trained on."
        which = "the training bags" if self.n_training >= self.n_bags else f"{self.n_training:,} of the training bags"
        return (
            f"Measured on {bags}, {'which are' if self.n_training >= self.n_bags else 'among them'} {which}: this "
            "shows what the model relies on, not what helps on new bags."
        )

    @property
    def _headline(self) -> str:
        score = f"{self.score_name[:1].upper()}{self.score_name[1:]} {self.score:.3f}."
        return f"{score} {self.basis}" + (" Pass bags that were held out." if self.n_training else "")

    def __repr__(self) -> str:
        used = sum(each.used for each in self.features)
        return f"Importance({self.score_name} {self.score:.3f}, {used} features in use, {len(self.rules)} rules)"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, max_rows: int = _SHOWN) -> str:
        """Return tables of at most ``max_rows`` features, and as many rules, as text."""
        used = [(each.name, each) for each in self.features if each.used]
        features = _table("feature", used, max_rows, self.score_name)
        if unused := len(self.features) - len(used):
            features.append(f"{unused} feature{'s' if unused > 1 else ''} that no rule uses: 0")
        rules = [(f"{each.name}: {_short(each.text)}", each) for each in self.rules]
        blocks = [textwrap.wrap(self._headline, _COLUMNS), features, _table("rule", rules, max_rows, self.score_name)]
        blocks.append(textwrap.wrap(self.meaning, _COLUMNS))
        return "\n\n".join("\n".join(lines) for lines in blocks if lines)

    @property
    def meaning(self) -> str:
        """What the numbers mean, in words."""
        spread = f"{self.n_folds} folds" if self.n_folds else self.repeats
        return (
            f"Drop: how much the {self.score_name} falls if the values of the feature are shuffled over all bags"
            f"{', or without the rule' if self.rules else ''} (mean ± standard deviation over {spread}). A drop near 0 "
            f"means that the model does as well without: features that say the same stand in for each other."
            f"{self.above_one}"
        )

    @property
    def above_one(self) -> str:
        """Why drops in R² may be greater than 1; empty if none is."""
        drops = [*(each.drop for each in self.features), *(each.drop for each in self.rules)]
        if self.score_name != "R²" or max(drops, default=0.0) <= 1:
            return ""
        return (
            " A drop in R² can be greater than 1: R² is negative for predictions that are worse than the mean of the "
            "labels, and without a rule or feature they may be far off."
        )

    @property
    def repeats(self) -> str:
        """How often values are shuffled and bags drawn."""
        return f"{self.n_repeats} repeat{'s' if self.n_repeats > 1 else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON."""
        return dataclasses.asdict(self) | {"basis": self.basis}

    def to_frame(self, what: Literal["features", "rules"] = "features", library: str = "pandas") -> Any:
        """Return a data frame of features or rules.

        Parameters
        ----------
        what : {"features", "rules"}
        library : {"pandas", "polars"}
            Which must be installed.

        Examples
        --------
        >>> one = FeatureImportance("pages", 0.12, 0.03, True)
        >>> print(Importance("accuracy", 0.9, (one,), (), 40, 10, 0).to_frame().to_string(index=False))
         name  drop  std  used
        pages  0.12 0.03  True
        """
        if what not in ("features", "rules"):
            raise ParameterError(f"what must be 'features' or 'rules', got {what!r}.")
        kind = FeatureImportance if what == "features" else RuleImportance
        names = [field.name for field in dataclasses.fields(kind)]
        rows = self.features if what == "features" else self.rules
        return data_frame(library, {name: [getattr(each, name) for each in rows] for name in names})

    def _repr_html_(self) -> str:
        used = [each for each in self.features if each.used][:_SHOWN]
        drops = [0.0, *(each.drop for each in used), *(each.drop for each in self.rules[:_SHOWN])]

        def cells(each: FeatureImportance | RuleImportance) -> list[Any]:
            drawn = bar(each.drop, min(drops), max(drops)).svg
            return [drawn, html.number(each.drop), f"± {html.number(each.std)}"]

        heads = ["", "drop", "spread"]
        tables = [html.table("Features", ["feature", *heads], [[each.name, *cells(each)] for each in used])]
        if self.rules:
            rows = [[each.name, _short(each.text), *cells(each)] for each in self.rules[:_SHOWN]]
            tables.append(html.table("Rules", ["rule", "if", *heads], rows, n_words=2))
        return html.fragment(html.line(self._headline), *tables, html.line(self.meaning, soft=True))

    @classmethod
    def over_folds(cls, parts: Sequence[Importance]) -> Importance:
        """Return the mean over cross-validation folds, whose models have different rules, one part per fold."""
        features = []
        for name in dict.fromkeys(each.name for part in parts for each in part.features):
            found = [each for part in parts for each in part.features if each.name == name]
            drops = [each.drop for each in found]
            spread = float(np.std(drops, ddof=1)) if len(parts) > 1 else found[0].std
            features.append(FeatureImportance(name, float(np.mean(drops)), spread, any(each.used for each in found)))
        return cls(
            score_name=parts[0].score_name,
            score=float(np.mean([part.score for part in parts])),
            features=by_drop(features),
            rules=(),
            n_bags=sum(part.n_bags for part in parts),
            n_repeats=parts[0].n_repeats,
            n_training=0,
            n_folds=len(parts),
        )


def by_drop(features: Sequence[FeatureImportance]) -> tuple[FeatureImportance, ...]:
    """Return features, the most important first and those that no rule uses last."""
    return tuple(sorted(features, key=lambda each: (not each.used, -each.drop)))


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 4].rstrip()} ..."


def _table(
    what: str, rows: Sequence[tuple[str, FeatureImportance | RuleImportance]], most: int, score: str
) -> list[str]:
    if not rows:
        return []
    wide = max(len(what), *(len(name) for name, _ in rows[:most]))
    lines = [f"{what:{wide}}  drop in {score}"]
    lines += [f"{name:{wide}}  {each.drop:+.3f} ± {each.std:.3f}" for name, each in rows[:most]]
    more = len(rows) - most
    return lines + ([f"{more} more {what}{'s' if more > 1 else ''}"] if more > 0 else [])


# ---------------------------------------------------------------------- measuring


Score = Callable[[Array, Array], float]
"""Scores the output (n_bags, n_outputs) for the bags at some positions (n,), which may repeat."""


def importance(
    members: Sequence[RuleBase],
    bags: Bags,
    score: Score,
    *,
    score_name: str = "score",
    groups: Array | None = None,
    n_repeats: int = 20,
    n_training: int | None = None,
    rng: np.random.Generator | None = None,
) -> Importance:
    """Measure how much features and rules matter; ``model.importance`` calls this.

    Parameters
    ----------
    members : sequence of RuleBase
        Whose outputs are averaged.
    bags : Bags
        With the features of the rules, in their order.
    score : callable
        Maps the output (n_bags, n_outputs) and positions of bags to a number; greater is better.
    groups : array of int of shape (n_bags,), optional
        Classes, from each of which as many bags are drawn as it has.
    n_repeats, n_training : int
        See `Importance`.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> bags, truth = Bags.from_list([[[0.0]], [[1.0]], [[0.1]], [[0.9]]]), np.array([0, 1, 0, 1])
    >>> right = lambda output, rows: float(((output[rows, 0] > 0.5) == truth[rows]).mean())
    >>> found = importance([rules], bags, right, rng=np.random.default_rng(0))
    >>> found.score, found.features[0].drop > 0.3, found.rules[0].drop
    (1.0, True, 0.5)
    """
    if isinstance(n_repeats, bool) or not isinstance(n_repeats, int) or n_repeats < 1:
        raise ParameterError(f"n_repeats must be an integer of at least 1, got {n_repeats!r}.")
    rng = np.random.default_rng(0) if rng is None else rng
    everything = np.arange(bags.n_bags)
    draws = [_draw_bags(everything, groups, rng) for _ in range(n_repeats)]
    # All features are shuffled in the same ways, so that their drops differ by what they say and not by chance.
    shuffles = [(rng.permutation(bags.n_instances), rng.permutation(bags.n_bags)) for _ in range(n_repeats)]
    own = mean_output(members, bags)
    whole, on_draws = score(own, everything), np.array([score(own, rows) for rows in draws])

    def spread(drops: Array) -> float:
        return float(drops.std(ddof=1)) if len(drops) > 1 else 0.0

    used = set(used_features(members))
    features = []
    for d, name in enumerate(members[0].feature_names):
        if d not in used:
            features.append(FeatureImportance(name, 0.0, 0.0, used=False))
            continue
        found = [mean_output(members, _shuffle(bags, d, *orders)) for orders in shuffles]
        mean = np.mean([whole - score(output, everything) for output in found])
        varied = on_draws - [score(output, rows) for output, rows in zip(found, draws, strict=True)]
        features.append(FeatureImportance(name, float(mean), spread(varied), used=True))
    rules = []
    for m, base in enumerate(members):
        for r, rule in enumerate(base.rules):
            output = mean_output(_without(members, m, r), bags)
            drop, varied = whole - score(output, everything), on_draws - [score(output, rows) for rows in draws]
            name = base.name_of(r) if len(members) == 1 else f"{base.name_of(r)} of member {m + 1}"
            rules.append(RuleImportance(name, in_short(rule.premise), float(drop), spread(varied), m, r))
    return Importance(
        score_name=score_name,
        score=float(whole),
        features=by_drop(features),
        rules=tuple(sorted(rules, key=lambda each: -each.drop)),
        n_bags=bags.n_bags,
        n_repeats=n_repeats,
        n_training=n_training,
    )


def mean_output(members: Iterable[RuleBase], bags: Bags) -> Array:
    """Return the mean output (n_bags, n_outputs) of rule bases."""
    return np.asarray(np.mean([infer_output(rules, bags) for rules in members], axis=0))


def _draw_bags(everything: Array, groups: Array | None, rng: np.random.Generator) -> Array:
    """Return as many positions as there are, drawn with replacement within each group."""
    if groups is None:
        return np.asarray(rng.choice(everything, len(everything)))
    own = [everything[groups == group] for group in np.unique(groups)]
    return np.concatenate([rng.choice(rows, len(rows)) for rows in own])


def _shuffle(bags: Bags, d: int, of_instances: Array, of_bags: Array) -> Bags:
    """Return bags with a feature's values shuffled over all instances, or over bags if each has a single value."""
    values = bags.instances[:, d]
    first = values[bags.offsets[:-1]]
    repeated = np.repeat(first, bags.sizes)
    if bags.n_instances > bags.n_bags and np.array_equal(values, repeated, equal_nan=True):
        values = np.repeat(first[of_bags], bags.sizes)
    else:
        values = values[of_instances]
    return with_values(bags, d, values)


def with_values(bags: Bags, d: int, values: Any, rows: Any = slice(None)) -> Bags:
    """Return bags with other values of one feature, in all instances or in some rows."""
    instances = np.array(bags.instances, float)
    instances[rows, d] = values
    return Bags(instances, bags.offsets, feature_names=bags.feature_names, columns=bags.columns)


def _without(members: Sequence[RuleBase], m: int, r: int) -> list[RuleBase]:
    """Return the members with a rule switched off: its weight is 0."""
    base = members[m]
    rules = [dataclasses.replace(rule, weight=0.0) if n == r else rule for n, rule in enumerate(base.rules)]
    return [*members[:m], dataclasses.replace(base, rules=tuple(rules)), *members[m + 1 :]]
