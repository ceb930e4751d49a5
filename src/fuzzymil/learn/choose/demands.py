"""What people demand of chosen rules: signs of features, and rules that must be among them.

A *sign* says that the outputs never fall, or never rise, as the values of a feature grow. Candidates that could not
keep it are left out, and those that can, but only with conclusions of one sign, keep that sign.

A *given rule* is always in, with its premise as it was written and a conclusion that is fitted together with those of
the chosen rules. Its premise may be any tree of `fuzzymil.rules.premise`, so the rule base evaluates it, and among
candidates it is a number.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name, listed
from fuzzymil.bags import Bags, Column, Columns
from fuzzymil.inference.membership import MembershipFunction, Missing
from fuzzymil.inference.movable import Pullback
from fuzzymil.learn.choose.candidates import IGNORED, Candidates, MissingValues, MovableConditions, Part, Premise
from fuzzymil.rules import RuleBase
from fuzzymil.rules.premise import ANYTHING, Quantified, conditions, is_quantified, negations
from fuzzymil.rules.rule import MISSING, Rule, Variable

GIVEN = "given"
"""Instead of a quantifier, for a part that stands for the given rule with its number."""


def is_given(premise: Premise) -> bool:
    """Return whether a premise stands for a given rule."""
    return any(part.quantifier == GIVEN for part in premise)


@dataclasses.dataclass(frozen=True)
class Demands:
    """What is demanded, on some bags.

    Attributes
    ----------
    signs : mapping of int to {-1, 1}
        By the position of a feature: 1 if no output may fall as its values grow, -1 if none may rise.
    rules : RuleBase or None
        The given rules.
    firing : array of shape (b, g)
        How true the premises of the given rules are in each bag.
    """

    signs: Mapping[int, int] = dataclasses.field(default_factory=dict)
    rules: RuleBase | None = None
    firing: Array | None = None

    @property
    def n_given(self) -> int:
        """Number of given rules."""
        return 0 if self.rules is None else self.rules.n_rules

    def on(self, bags: Bags) -> Demands:
        """Return the same with the truth of the given premises in some bags."""
        if self.rules is None:
            return self
        firing = self.rules.infer(Bags(bags.instances, bags.offsets)).firing
        return dataclasses.replace(self, firing=np.asarray(firing, float))

    def only(self, rows: Array) -> Demands:
        """Return the same on some of the bags."""
        return self if self.firing is None else dataclasses.replace(self, firing=self.firing[rows])

    def sign(self, premise: Premise) -> int | None:
        """Return the sign that the conclusions of a premise must have, 0 for any; None: it breaks a demand."""
        if self.rules is not None and is_given(premise):
            return self._sign(_slopes(self.rules, premise[0].number or 0))
        return self._sign(
            (each.feature, -_side(each.sets[0]) if each.negated else _side(each.sets[0]))
            for part in premise
            for each in part.conditions
            if each.sets != (Missing(),)
        )

    def _sign(self, slopes: Iterable[tuple[int, int]]) -> int | None:
        needed = {self.signs[feature] * slope for feature, slope in slopes if feature in self.signs}
        return None if len(needed) > 1 or 0 in needed else needed.pop() if needed else 0

    def offer(self, candidates: Candidates, favor: Array) -> tuple[Candidates, Array, Array | None]:
        """Return the candidates that may be chosen, the given rules first; by what the gain of each counts; signs."""
        if not self.signs and self.rules is None:
            return candidates, favor, None
        premises = [(Part(GIVEN, n, ()),) for n in range(self.n_given)]
        kept, signs = np.arange(len(favor)), None
        if self.signs:
            own = [self.sign(candidates.premise(n)) for n in range(len(favor))]
            kept = np.flatnonzero([sign is not None for sign in own])
            signs = np.array([*map(self.sign, premises), *(own[n] for n in kept)], float)
        columns = np.empty((len(premises) + len(kept), len(candidates.columns)), np.float32).T
        if self.firing is not None:
            columns[:, : len(premises)] = self.firing
        columns[:, len(premises) :] = candidates.columns[:, kept]

        def premise(number: int) -> Premise:
            if number < len(premises):
                return premises[number]
            return candidates.premise(int(kept[number - len(premises)]))

        favor = np.concatenate([np.ones(len(premises)), favor[kept]])
        return dataclasses.replace(candidates, columns=columns, premise=premise), favor, signs

    def truths(self, premises: Sequence[Premise], others: Callable[[Sequence[Premise]], Array], n_bags: int) -> Array:
        """Return how true premises are in each bag, (b, r), given what evaluates those that are not given."""
        given = [premise[0].number or 0 for premise in premises if is_given(premise)]  # they come first
        if self.firing is None or not given:
            return others(premises)
        rest = premises[len(given) :]
        return np.hstack([self.firing[:, given], others(rest) if rest else np.empty((n_bags, 0))])

    def movable(self, premises: Sequence[Premise], bags: Bags, missing: MissingValues = IGNORED) -> MovablePremises:
        """Return premises whose sets can be moved; those of given rules stay."""
        given = [premise for premise in premises if is_given(premise)]
        rest = premises[len(given) :]
        return MovablePremises(
            self.truths(given, lambda _: np.empty((bags.n_bags, 0)), bags.n_bags),
            given,
            MovableConditions(rest, bags, missing) if rest else None,
        )


class MovablePremises:
    """Premises of given rules, which stay, and after them others that can be moved."""

    def __init__(self, firing: Array, given: Sequence[Premise], others: MovableConditions | None) -> None:
        self._firing, self._given, self._others = firing, list(given), others
        self.n_moves = 0 if others is None else others.n_moves

    def evaluate(self, moves: Array) -> tuple[Array, Pullback]:
        """Return the truth (b, r) of the premises after a move, and how its derivatives become those of the move."""
        if self._others is None:
            return self._firing, lambda slopes: np.empty(0)
        truth, pullback = self._others.evaluate(moves)
        if not self._given:
            return truth, pullback
        return np.hstack([self._firing, truth]), lambda slopes: pullback(slopes[:, len(self._given) :])

    def moved(self, moves: Array) -> list[Premise]:
        """Return the premises after a move."""
        return self._given + ([] if self._others is None else self._others.moved(moves))


NOTHING_DEMANDED = Demands()


def _side(chosen: MembershipFunction) -> int:
    """Return 1 for a set to which greater values belong more, -1 for the opposite, 0 for any other."""
    return int(getattr(chosen, "side", 0))


def _slopes(rules: RuleBase, number: int) -> list[tuple[int, int]]:
    """Return for each condition of a rule its feature and whether greater values make the premise truer."""
    premise = rules.rules[number].premise
    found = []
    for condition, negated in zip(conditions(premise), negations(premise), strict=True):
        d = rules.feature_names.index(condition.variable)
        chosen = rules.variables[d].terms.get(condition.term, Missing())
        if chosen != Missing():
            turned = (condition.hedges.count("not") + negated) % 2
            found.append((d, -_side(chosen) if turned else _side(chosen)))
    return found


# ---------------------------------------------------------------------- from what a person wrote


def demands_on(
    bags: Bags,
    *,
    signs: Mapping[str, int],
    rules: RuleBase | None,
    outputs: Sequence[str],
    classes: bool,
    missing_values: Array | None,
    max_rules: int | None,
) -> Demands:
    """Return what is demanded by the names of features; raise `ParameterError` if it cannot apply.

    ``outputs``: of the rules to choose. ``missing_values`` (t, d): what missing values stand for.
    """
    if signs and classes and len(outputs) > 1:
        raise ParameterError(
            f"signs are about one score, but there are {len(outputs)} classes, each with its own: leave signs out."
        )
    found = Demands()
    if rules is not None:
        found = Demands({}, _suited(rules, bags, outputs, missing_values))
        if max_rules is not None and max_rules < found.n_given:
            raise ParameterError(f"max_rules={max_rules}, but rules has {found.n_given} that must be in: allow more.")
    places = {}
    for name, sign in signs.items():
        places[bags.names.index(name)] = sign
        if bags.columns is not None and bags.columns[bags.names.index(name)].categories:
            raise ParameterError(f"signs: {name!r} has categories, which have no order: leave it out.")
    found = dataclasses.replace(found, signs=places)
    for number in range(found.n_given):
        if found.sign((Part(GIVEN, number, ()),)) is None and found.rules is not None:
            asked = listed(dict.fromkeys(each.variable for each in found.rules.rules[number].conditions))
            which = _called(found.rules.rules[number], number)
            raise ParameterError(
                f"rules: {which} cannot keep the signs of its variables ({asked}): "
                "under a sign, a set must be open to one side, such as Sigmoid, and all of them to the matching side."
            )
    return found if found.rules is None or found.n_given else dataclasses.replace(found, rules=None)


def _suited(rules: RuleBase, bags: Bags, outputs: Sequence[str], missing_values: Array | None) -> RuleBase | None:
    """Return given rules over the features of bags, additive and with SOME where they have no quantifier."""
    if rules.concludes_sets:
        raise ParameterError("rules conclude sets, but chosen rules conclude numbers: use MIMamdani.")
    if rules.t_norm != "product" or rules.s_norm not in ("", "algebraic"):
        raise ParameterError(
            f"rules are joined by {rules.t_norm} and {rules.s_norm or 'its dual'}, but chosen ones by product and "
            "algebraic: leave the operators out."
        )
    if len(rules.outputs) != len(outputs):
        raise ParameterError(
            f"rules have {len(rules.outputs)} output(s) ({listed(rules.output_names)}), but this data needs "
            f"{len(outputs)} ({listed(outputs)})."
        )
    columns = bags.columns or Columns(map(Column, bags.names))
    known = {variable.name: variable for variable in rules.variables}
    variables = []
    for d, column in enumerate(columns):
        own = known.get(column.name, Variable(column.name))
        terms = {} if column.categories and own.categories != column.categories else own.declared_terms
        values = () if missing_values is None else tuple(missing_values[:, d].tolist())
        variables.append(
            dataclasses.replace(
                own, terms=terms, categories=column.categories, missing_values=values, low=None, high=None
            )
        )
    of = {variable.name: variable for variable in variables}
    kept = []
    for number, rule in enumerate(rules.rules):
        for condition in rule.conditions:
            known_name("feature", condition.variable, bags.names, f"in {_called(rule, number)} of rules")
            if condition.term not in of[condition.variable].terms and condition.term != MISSING:
                known_name(f"category of {condition.variable!r}", condition.term, of[condition.variable].categories)
        if any(len(row) > 1 for row in rule.coefs):
            raise ParameterError(
                f"rules: {_called(rule, number)} concludes a linear function, but only numbers can be fitted."
            )
        if rule.premise != ANYTHING:
            premise = rule.premise if is_quantified(rule.premise) else Quantified("some", rule.premise)
            kept.append(Rule(premise, [[0.0]] * len(outputs), 1.0, rule.label, rule.comment))
    if not kept:
        return None
    named = tuple(map(Variable, outputs))
    return RuleBase(tuple(variables), tuple(kept), named, aggregation="max", normalize=False)


def _called(rule: Rule, number: int) -> str:
    return f"rule {rule.label!r}" if rule.label else f"rule {number + 1}"
