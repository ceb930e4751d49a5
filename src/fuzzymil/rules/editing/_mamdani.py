"""Edits of Mamdani rules: what concerns premises is left to `edit`, and conclusions follow."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from fuzzymil._utils.errors import ParameterError, known_name, listed
from fuzzymil.inference.membership import Arithmetic, Formula, Singleton
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.editing import _edit
from fuzzymil.rules.editing._kinds import K
from fuzzymil.rules.editing._rewrite import without_unused_terms
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import Is
from fuzzymil.rules.rule import Variable


def edit_mamdani(
    rules: K,
    *,
    rename: Mapping[Any, str] | None = None,
    sets: Mapping[Any, Any] | None = None,
    new_terms: Mapping[Any, Any] | None = None,
    without: Mapping[int, str | Iterable[str]] | None = None,
    conclusions: Mapping[int, Any] | None = None,
    weights: Mapping[int, float] | None = None,
    replace: Mapping[int, str] | None = None,
    merge: Iterable[Iterable[int]] = (),
    drop: int | Iterable[int] = (),
    keep: Iterable[int] | None = None,
    add: str | Iterable[str] = (),
    default: float | Mapping[str, float] | None = None,
    drop_unused_terms: bool = False,
) -> K:
    """Return a changed copy of the rules; the arguments are those of `RuleBase.edit`.

    Parameters
    ----------
    rename, sets, new_terms : mapping, optional
        As in `RuleBase.edit`, also for outputs and their terms: ``{"risk.great": Triangular(0.4, 1, 1.6)}``.
    without, weights, drop, keep
        As in `RuleBase.edit`.
    conclusions : mapping, optional
        New conclusions of rules: a term, ``{2: "very great"}``. With several outputs, a mapping from output to term,
        ``{2: {"risk": "great"}}``; None makes the rule say nothing about an output.
    replace, add
        Rules as text over the existing variables and outputs: ``"IF depth is deep THEN risk is small"``.
    merge : sequence of sequences of int
        Groups of rules with the same conclusion. The merged rule has the greatest of their weights.
    default : float or mapping, optional
        Output for bags about which nothing is concluded.
    drop_unused_terms : bool
        Whether to remove terms that no rule uses, of inputs and outputs.

    Returns
    -------
    MamdaniRules

    Examples
    --------
    >>> from fuzzymil.rules import MamdaniRules
    >>> rules = MamdaniRules.parse('''
    ... VARIABLE depth: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
    ... OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    ... IF depth is shallow THEN risk is great
    ... IF depth is deep THEN risk is small
    ... ''')
    >>> mine = rules.edit(rename={"risk": "danger", "danger.small": "none"}, sets={"danger.great": {"left": 0.3}},
    ...                   conclusions={1: "very great"}, weights={2: 0.5}, add="IF anything THEN danger is none")
    >>> print(mine)
    Rule 1: IF depth is shallow THEN danger is very great
    Rule 2: IF depth is deep THEN danger is none WITH 0.5
    Rule 3: IF anything THEN danger is none
    """
    now: Any = _with_variables(rules, rename or {}, sets or {}, new_terms or {})
    premises = _edit.edit(now.premises, without=without, weights=weights)
    said = list(now.conclusions)
    for number, value in (conclusions or {}).items():
        r = _edit.number_of(premises, "conclusions", number) - 1
        said[r] = _concluded(now, r, said[r], value)
    all_rules = list(premises.rules)
    for number, text in (replace or {}).items():
        r = _edit.number_of(premises, "replace", number) - 1
        new = _parsed(now, [text], "replace")
        if new.n_rules != 1:
            raise ParameterError(f"replace: expected one rule for rule {number}, got {new.n_rules}: {text!r:.100}.")
        old = all_rules[r]
        all_rules[r] = dataclasses.replace(
            new.rules[0], label=new.rules[0].label or old.label, comment=new.rules[0].comment or old.comment
        )
        said[r] = new.conclusions[0]
    premises = dataclasses.replace(premises, rules=tuple(all_rules))
    groups = [tuple(_edit.numbers_of(premises, "merge", group)) for group in merge]
    order = _edit.order_of(premises, groups, drop, keep)
    _check_merge(groups, said)
    premises = _with_greatest_weights(_edit.in_order(premises, groups, order), premises, groups, order)
    said = [said[number - 1] for number in order]
    texts = [add] if isinstance(add, str) else list(add)
    if texts:
        new = _parsed(now, texts, "add")
        premises = _edit.with_further(premises, new.rules)
        said += new.conclusions
    now = dataclasses.replace(now, premises=premises, conclusions=tuple(said))
    if default is not None:
        now = _with_default(now, default)
    found: K = _without_unused(now) if drop_unused_terms else now
    return found


def over_mamdani(rules: K, feature_names: Iterable[str]) -> K:
    """Return the same rules over these features, in this order; additional features are don't-care.

    Parameters
    ----------
    feature_names : sequence of str
        All features of the rules must be among them.
    """
    old: Any = rules
    found: K = dataclasses.replace(old, premises=_edit.over(old.premises, feature_names))
    return found


# ---------------------------------------------------------------------- inputs and outputs


def _with_variables(rules: Any, rename: Mapping[Any, str], sets: Mapping[Any, Any], new: Mapping[Any, Any]) -> Any:
    """Rename variables, outputs and terms, and change sets: inputs and outputs are treated alike."""
    if not (rename or sets or new):
        return rules
    both = sorted(set(rules.feature_names) & set(rules.output_names))
    if both:
        raise ParameterError(
            f"{listed(both)} names an input and an output: rename one first, dataclasses.replace(rules, outputs=...)."
        )
    plain = [_without_formulas(rules, k) for k in range(len(rules.outputs))]
    everything: RuleSet = dataclasses.replace(rules.premises, variables=(*rules.variables, *plain), outputs=("",))
    changed = _edit.edit(everything, rename=rename, sets=sets, new_terms=new)
    n_inputs = len(rules.variables)
    outputs = changed.variables[n_inputs:]
    premises = dataclasses.replace(changed, variables=changed.variables[:n_inputs])
    known = {old.name: new.name for old, new in zip(everything.variables, changed.variables, strict=True)}
    outputs = tuple(_with_formulas(new, old, known) for new, old in zip(outputs, rules.outputs, strict=True))
    names = {old.name: output.name for old, output in zip(rules.outputs, outputs, strict=True)}
    terms = {
        (old.name, before): after
        for old, output in zip(rules.outputs, outputs, strict=True)
        for before, after in zip(old.terms, output.terms, strict=False)  # new terms come last
    }

    def renamed(name: str, said: str | Is) -> str | Is:
        if isinstance(said, Is):
            return dataclasses.replace(said, variable=names[name], term=terms[name, said.term])
        return terms[name, said]

    conclusions = [
        {names[name]: renamed(name, said) for name, said in concluded.items()} for concluded in rules.conclusions
    ]
    return dataclasses.replace(rules, premises=premises, outputs=outputs, conclusions=tuple(conclusions))


_COMPUTED = Singleton(math.nextafter(0.0, 1.0))
"""Stands for a number that is computed from other variables, which is no set, while terms are changed."""


def _without_formulas(rules: Any, k: int) -> Variable:
    output: Variable = rules.outputs[k]
    if rules.setting("defuzzify", k) not in ("average", "sum"):
        return output
    terms = {term: _COMPUTED if isinstance(chosen, Formula) else chosen for term, chosen in output.terms.items()}
    return dataclasses.replace(output, terms=terms)


def _with_formulas(output: Variable, before: Variable, names: Mapping[str, str]) -> Variable:
    """Return an output with the formulas that it had before, over renamed variables."""
    terms = dict(output.terms)
    for term, chosen in zip(output.terms, before.terms.values(), strict=False):  # new terms come last
        if terms[term] == _COMPUTED and isinstance(chosen, Formula):
            terms[term] = Formula(Arithmetic(chosen.text).renamed(names).text, *chosen.parameters)
    return dataclasses.replace(output, terms=terms)


def _without_unused(rules: Any) -> Any:
    concluded = {
        (name, said.term if isinstance(said, Is) else said) for each in rules.conclusions for name, said in each.items()
    }
    outputs = [
        dataclasses.replace(o, terms={term: chosen for term, chosen in o.terms.items() if (o.name, term) in concluded})
        for o in rules.outputs
    ]
    return dataclasses.replace(rules, premises=without_unused_terms(rules.premises), outputs=tuple(outputs))


# ---------------------------------------------------------------------- conclusions


def _concluded(rules: Any, r: int, now: Mapping[str, str | Is], value: Any) -> dict[str, str | Is]:
    """Return the conclusion of a rule with some outputs changed."""
    known = rules.output_names
    if not isinstance(value, Mapping):
        if len(known) > 1:
            raise ParameterError(
                f"conclusions: there are several outputs ({listed(known)}), so name the one to change: "
                f"{{{r + 1}: {{{known[0]!r}: {value!r:.60}}}}}."
            )
        value = {known[0]: value}
    found = dict(now)
    for output, said in value.items():
        known_name("output", output, known, "in conclusions")
        if said is None:
            found.pop(output, None)
        elif isinstance(said, str):
            found[output] = _term(rules, output, said)
        else:
            raise ParameterError(
                f"conclusions: {output!r} must be a term such as 'great' or 'very great', got {said!r:.100}."
            )
    if not found:
        raise ParameterError(f"conclusions: rule {r + 1} would say nothing: drop it instead, edit(drop={r + 1}).")
    return found


def _term(rules: Any, output: str, said: str) -> str | Is:
    terms = rules.outputs[rules.output_names.index(output)].terms
    if said in terms:
        return said
    *hedges, term = said.split()
    known_name("term", term, terms, f"of {output!r} in conclusions")
    return Is(output, term, tuple(hedges))


def _check_merge(groups: list[tuple[int, ...]], said: list[Any]) -> None:
    for group in groups:
        for number in group[1:]:
            if dict(said[number - 1]) != dict(said[group[0] - 1]):
                raise ParameterError(
                    f"merge: rules {group[0]} and {number} have different conclusions: give them the same one first, "
                    f"edit(conclusions={{{number}: ...}}), or drop one of them."
                )


def _with_greatest_weights(merged: Any, before: Any, groups: list[tuple[int, ...]], order: list[int]) -> Any:
    """Give merged rules the greatest of their weights: equal sets cover each other."""
    greatest = {group[0]: max(before.rules[number - 1].weight for number in group) for group in groups}
    rules = [
        dataclasses.replace(rule, weight=greatest.get(number, rule.weight))
        for number, rule in zip(order, merged.rules, strict=True)
    ]
    return dataclasses.replace(merged, rules=tuple(rules))


def _parsed(rules: Any, texts: list[str], what: str) -> Any:
    """Parse rules over the existing variables and outputs; they can neither declare others nor choose operators."""
    found = type(rules).parse(texts, rules.variables, rules.outputs, defuzzify=rules.defuzzify)
    for now, before, kind in (
        (found.feature_names, rules.feature_names, "variable"),
        (found.output_names, rules.output_names, "output"),
    ):
        if now != before:
            raise ParameterError(f"{what}: {now[-1]!r} is a new {kind}; the text may only use existing ones.")
    return found


def _with_default(rules: Any, given: Any) -> Any:
    known: tuple[Variable, ...] = rules.outputs
    if not isinstance(given, Mapping):
        if len(known) > 1:
            raise ParameterError(
                f"default: there are several outputs ({listed(rules.output_names)}), so name the ones to change: "
                f"{{{printer.quoted(known[0].name)!r}: {given!r:.60}}}."
            )
        given = {known[0].name: given}
    for output, value in given.items():
        known_name("output", output, rules.output_names, "in default")
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            raise ParameterError(f"default: {output!r} must be a number, got {value!r:.100}.")
    values = zip(rules.output_names, rules.default, strict=True)
    return dataclasses.replace(rules, default=tuple(float(given.get(name, old)) for name, old in values))
