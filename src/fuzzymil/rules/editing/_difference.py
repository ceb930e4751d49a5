"""What distinguishes two rule bases: rules added, removed and changed, and old and new numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, described
from fuzzymil.bags import Bags
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.rules.activations import infer, seen_bags
from fuzzymil.rules.conclusion import SETTINGS
from fuzzymil.rules.language import printer, source
from fuzzymil.rules.premise import premise_key
from fuzzymil.rules.rule import Rule, Variable

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

_OPERATORS = (
    *("t_norm", "s_norm", "aggregation", "alpha", "conclusion_aggregation", "conclusion_alpha"),
    *("normalize", "limited", "unit"),
)


class Changed(NamedTuple):
    """One thing that differs: where it is, what it is, and its old and new value (None: there is none)."""

    where: str
    what: str
    old: Any
    new: Any


class Match(NamedTuple):
    """An old and a new rule, by number, that correspond to each other; None: there is none."""

    old: int | None
    new: int | None


class RuleChange(NamedTuple):
    """An old and a new rule that correspond to each other: numbers, name, texts, and what differs beside their sets."""

    old: int | None
    new: int | None
    name: str
    old_text: str | None
    new_text: str | None
    changes: tuple[Changed, ...]


class SetChange(NamedTuple):
    """A term whose set differs; None: there is none. The variable is the new one, if there is one."""

    variable: Variable
    term: str
    old: MembershipFunction | None
    new: MembershipFunction | None


class Flip(NamedTuple):
    """A bag that the new rules decide differently."""

    bag: Any
    old: str
    new: str
    old_output: tuple[float, ...]
    new_output: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Difference:
    """The differences of two rule bases; ``str`` returns them as text, and it is false if there are none.

    `fuzzymil.plots.DifferenceDisplay` draws them.

    Attributes
    ----------
    old, new : RuleBase
    matches : tuple of Match
        The rules that correspond to each other, in the order of the new ones; removed rules come last.
    changes : tuple of Changed
        Of rules, then terms, then operators and defaults.
    """

    old: Any
    new: Any
    matches: tuple[Match, ...]
    changes: tuple[Changed, ...]

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, digits: int = 4) -> str:
        """Return one line per change.

        Parameters
        ----------
        digits : int
            Significant digits of numbers; more are shown where two numbers would look the same.
        """
        return "\n".join(_line(change, digits) for change in self.changes) or "The rules are the same."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""

        def plain(value: Any) -> Any:
            if isinstance(value, MembershipFunction):
                return {"family": value.name, "parameters": list(value.parameters)}
            return list(value) if isinstance(value, tuple) else value

        changes = [change._asdict() | {"old": plain(change.old), "new": plain(change.new)} for change in self.changes]
        return {"matches": [match._asdict() for match in self.matches], "changes": changes}

    @property
    def rules(self) -> tuple[RuleChange, ...]:
        """All rules, in the order of ``matches``, each with what differs.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> old = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
        >>> [(rule.name, rule.changes) for rule in old.diff(old.edit(conclusions={2: 0.4})).rules]
        [('Rule 1', ()), ('Rule 2', (Changed(where='Rule 2', what='y', old=1.0, new=0.4),))]
        """
        texts = [source.statements(rules) for rules in (self.old, self.new)]
        found = []
        for old, new in self.matches:
            name = self.old.name_of((old or 1) - 1) if new is None else self.new.name_of(new - 1)
            own = () if old is None or new is None else tuple(_of_rule(self.old, self.new, old - 1, new - 1))
            before, after = (
                None if number is None else known[number - 1] for number, known in zip((old, new), texts, strict=True)
            )
            found.append(RuleChange(old, new, name, before, after, own))
        return tuple(found)

    @property
    def sets(self) -> tuple[SetChange, ...]:
        """The terms whose sets differ.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> old = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
        >>> (change,) = old.diff(old.edit(sets={"hue.low": {"center": 0.2}})).sets
        >>> change.variable.name, change.term, change.new
        ('hue', 'low', Gaussian(center=0.2, width=0.3))
        """
        return tuple(_changed_sets(self.old, self.new))

    def flips(self, bags: Any, threshold: float | None = None) -> tuple[Flip, ...]:
        """Return the bags that the two decide differently.

        Parameters
        ----------
        bags : Bags, or anything `as_bags` accepts
        threshold : float, optional
            Of a single output, what separates *high* from *low*. Default: 0.5, and 0 if rules add up; if they
            conclude sets, the middle of the output's range. Of several outputs, the greatest one decides.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> old = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
        >>> [flip.bag for flip in old.diff(old.edit(conclusions={2: 0.4})).flips([[[0.0]], [[1.0]]])]
        [1]
        """
        seen: Bags = seen_bags(self.new, bags)
        outputs = [infer(rules, seen).output for rules in (self.old, self.new)]
        both = zip((self.old, self.new), outputs, strict=True)
        old, new = (_decisions(rules, output, threshold) for rules, output in both)
        return tuple(
            Flip(seen.ids[b : b + 1].tolist()[0], old[b], new[b], *(tuple(output[b].tolist()) for output in outputs))
            for b in range(seen.n_bags)
            if old[b] != new[b]
        )


def diff(base: RuleBase, other: RuleBase) -> Difference:
    """Return what distinguishes other rules from these: rules added, removed and changed, old and new numbers.

    Rules correspond to each other if they have the same label, else if their premises are equal, else if they have
    the same number.

    Parameters
    ----------
    other : RuleBase
        The new rules.

    Returns
    -------
    Difference

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> print(rules.diff(rules.edit(sets={"hue.low": {"center": 0.1}}, conclusions={2: 0.9}, drop=1)))
    Rule 1: y = 1 -> 0.9
    - Rule 1: IF hue is low THEN y = 0
    hue.low: Gaussian(0, 0.3) -> Gaussian(0.1, 0.3)
    """
    if type(other) is not type(base):
        raise ParameterError(f"diff compares with another RuleBase, got {described(other)}.")
    matches = tuple(_matched(base, other))
    changes = (*_of_rules(base, other, matches), *_of_terms(base, other), *_of_rest(base, other))
    return Difference(base, other, matches, changes)


# ---------------------------------------------------------------------- correspondence


def _matched(old: RuleBase, new: RuleBase) -> list[Match]:
    """Pair each new rule with an old one, by label, premise or number."""
    left, partner = dict(enumerate(old.rules)), dict[int, int]()
    same: list[Callable[[int, Rule, int, Rule], bool]] = [
        lambda _, a, __, b: bool(a.label) and a.label == b.label,
        lambda i, a, j, b: i == j and premise_key(a.premise) == premise_key(b.premise),
        lambda _, a, __, b: premise_key(a.premise) == premise_key(b.premise),
        lambda i, a, j, b: i == j and not (a.label and b.label),
    ]
    for alike in same:
        for j, rule in enumerate(new.rules):
            found = next((i for i, before in left.items() if j not in partner and alike(i, before, j, rule)), None)
            if found is not None:
                partner[j] = found
                del left[found]
    pairs = [Match(partner[j] + 1 if j in partner else None, j + 1) for j in range(new.n_rules)]
    return [*pairs, *(Match(i + 1, None) for i in left)]


# ---------------------------------------------------------------------- changes


def _of_rules(old: RuleBase, new: RuleBase, matches: tuple[Match, ...]) -> Iterator[Changed]:
    for before, after in matches:
        if before is not None and after is not None:
            yield from _of_rule(old, new, before - 1, after - 1)
        elif before is not None:
            yield Changed(old.name_of(before - 1), "rule", source.statements(old)[before - 1], None)
        elif after is not None:
            yield Changed(new.name_of(after - 1), "rule", None, source.statements(new)[after - 1])


def _conclusions(rules: RuleBase, r: int) -> dict[str, dict[str, Any]]:
    """Return what a rule concludes about each output: its constant, under an empty name, and its slopes; or a term."""
    rule = rules.rules[r]
    if rule.terms:
        return {name: {"": " ".join((*said.hedges, said.term))} for name, said in rule.terms.items()}
    return {
        output: {"": row[0], **dict(zip(rules.feature_names, row[1:], strict=False))}
        for output, row in zip(rules.output_names, rule.coefs, strict=True)
    }


def _of_rule(old: RuleBase, new: RuleBase, i: int, j: int) -> Iterator[Changed]:
    before, after = old.rules[i], new.rules[j]
    where = new.name_of(j)
    if before.label != after.label and (before.label or after.label):
        yield Changed(where, "label", before.label or None, after.label or None)
    if premise_key(before.premise) != premise_key(after.premise):
        yield Changed(where, "premise", *(printer.premise_text(rule.premise) for rule in (before, after)))
    said = [_conclusions(old, i), _conclusions(new, j)]
    for output in dict.fromkeys((*old.output_names, *new.output_names)):
        rows = [conclusions.get(output) for conclusions in said]
        for name in dict.fromkeys(name for row in rows if row is not None for name in row):
            values = [None if row is None else row.get(name, 0.0) for row in rows]
            if values[0] != values[1]:
                yield Changed(where, f"slope of {name} in {output}" if name else output, *values)
    if before.weight != after.weight:
        yield Changed(where, "weight", before.weight, after.weight)


def _changed_sets(old: RuleBase, new: RuleBase) -> Iterator[SetChange]:
    variables = {each.name: each for rules in (old, new) for each in rules.all_variables}
    sets = ({(v.name, term): s for v in rules.all_variables for term, s in v.terms.items()} for rules in (old, new))
    for (name, term), before, after in _different(*sets):
        yield SetChange(variables[name], term, before, after)


def _of_terms(old: RuleBase, new: RuleBase) -> Iterator[Changed]:
    for change in _changed_sets(old, new):
        yield Changed(f"{change.variable.name}.{change.term}", "set", change.old, change.new)
    for name, *ends in _different(*({v.name: (v.low, v.high) for v in rules.all_variables} for rules in (old, new))):
        yield Changed(name, "range" if None not in ends else "variable", *ends)


def _of_rest(old: RuleBase, new: RuleBase) -> Iterator[Changed]:
    for output, *values in _different(*(dict(zip(r.output_names, r.default, strict=True)) for r in (old, new))):
        yield Changed("default", output, *values)
    for name, *values in _different(_operators(old), _operators(new)):
        yield Changed("operators", name, *values)


def _operators(rules: RuleBase) -> dict[str, Any]:
    own = {} if rules.defuzzification is None else {name: getattr(rules.defuzzification, name) for name in SETTINGS}
    return {name: getattr(rules, name) for name in _OPERATORS} | own


def _different(old: Mapping[Any, Any], new: Mapping[Any, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Iterate over what differs: its key, and its old and new value (None: there is none)."""
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)


def _decisions(rules: RuleBase, output: Array, threshold: float | None) -> list[str]:
    if output.shape[1] > 1:
        return [rules.output_names[k] for k in np.argmax(output, axis=1)]
    border = border_of(rules) if threshold is None else threshold
    return ["high" if value > border else "low" for value in output[:, 0]]


def border_of(rules: RuleBase) -> float:
    """Return what separates high from low values of a single output, if nothing else is said.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> border_of(RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1]))
    0.5
    """
    if rules.concludes_sets:
        low, high = rules.outputs[0].low, rules.outputs[0].high
        return 0.5 if low is None or high is None else float(low + high) / 2
    return 0.5 if rules.normalize else 0.0


# ---------------------------------------------------------------------- text


def _line(change: Changed, digits: int) -> str:
    if change.what == "rule":
        return f"- {change.where}: {change.old}" if change.new is None else f"+ {change.where}: {change.new}"
    where = change.where if change.what in ("set", "range", "variable") else f"{change.where}: {change.what}"
    number = isinstance(change.new if change.old is None else change.old, float)
    sign = " =" if number and change.where != "operators" and change.what != "weight" else ":"
    old, new = shown(change.old, change.new, digits)
    if change.old is None or change.new is None:
        return f"{'+' if change.old is None else '-'} {where}{sign} {new if change.old is None else old}"
    return f"{where}{sign} {old} -> {new}"


def shown(old: RuleBase, new: RuleBase, digits: int) -> tuple[str, str]:
    """Return two values as text, with as many more digits as tell them apart.

    Examples
    --------
    >>> shown(0.5, 0.75, 4), shown(1.0, 1.00001, 4)
    (('0.5', '0.75'), ('1', '1.00001'))
    """
    for precision in (digits, 6, 9, None):
        texts = _text(old, precision), _text(new, precision)
        if texts[0] != texts[1]:
            break
    return texts


def _text(value: Any, digits: int | None) -> str:
    if isinstance(value, MembershipFunction):
        return printer.format_set(value, digits)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return printer.format_number(value, digits)
    if isinstance(value, tuple):  # the alphas of rules, or a range
        return f"({', '.join(_text(part, digits) for part in value)})"
    return "unknown" if value is None else str(value)
