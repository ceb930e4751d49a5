"""Diagnosis: rules, conditions, terms and bags that deserve attention."""

from __future__ import annotations

import dataclasses
import itertools
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from fuzzymil._utils import html
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil._utils.text import quantity
from fuzzymil.bags import Bags
from fuzzymil.inference.activations import Activations
from fuzzymil.rules.activations import SetActivations, infer, seen_bags
from fuzzymil.rules.editing.comparison import Asked, conditions_on, rule_similarities, shares
from fuzzymil.rules.language import printer

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

_APART = 0.05  # part of the variance over bags in which the truths of two rules may differ, to call them duplicates
_WORTH_REMOVING = 0.05  # part of a rule's conditions: two less of a hundred make it no easier to read


class Finding(NamedTuple):
    """One finding: its kind, the rules (numbers as printed) or bags (ids) concerned, and what to do about it."""

    kind: str
    rules: tuple[int, ...]
    message: str
    advice: str
    bags: tuple[Any, ...] = ()


@dataclasses.dataclass(frozen=True)
class Diagnosis(Sequence[Finding]):
    """A sequence of findings; ``str`` returns a table."""

    findings: tuple[Finding, ...]
    n_rules: int
    n_bags: int

    @overload
    def __getitem__(self, key: int) -> Finding: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Finding, ...]: ...
    def __getitem__(self, key: int | slice) -> Finding | tuple[Finding, ...]:
        return self.findings[key]

    def __len__(self) -> int:
        return len(self.findings)

    def of(self, kind: str) -> tuple[Finding, ...]:
        """Return the findings of one kind, for example ``"duplicate"``."""
        return tuple(finding for finding in self.findings if finding.kind == kind)

    def __str__(self) -> str:
        rules, bags = quantity(self.n_rules, "rule"), quantity(self.n_bags, "bag")
        title = f"{quantity(len(self), 'finding')} about {rules} on {bags}"
        if not self.findings:
            return f"{title}."
        width = max(len(finding.kind) for finding in self.findings)
        lines = [f"{title}:"]
        for kind, _, message, advice, _ in self.findings:
            lines += textwrap.wrap(
                f"{kind:{width}}  {message} {advice}", 110, subsequent_indent=" " * (width + 2), break_long_words=False
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        title = str(self).split("\n", 1)[0]
        rows = [[each.kind, each.message, each.advice] for each in self.findings]
        heads = ["finding", "details", "advice"]
        return html.fragment(html.line(title), *([html.table("", heads, rows, n_words=3)] if rows else []))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        found = [each._asdict() | {"rules": list(each.rules), "bags": list(each.bags)} for each in self.findings]
        return {"n_rules": self.n_rules, "n_bags": self.n_bags, "findings": found}


@dataclasses.dataclass(frozen=True)
class _Case:
    """Rules, the bags, and the thresholds of findings."""

    base: RuleBase
    seen: Bags
    found: Activations
    weight: Array  # (n_bags, n_rules) part of the answers that each rule determines
    uncovered: Array  # (n_bags,)
    asked: tuple[Asked, ...]
    limits: dict[str, float]


def diagnose(
    base: RuleBase,
    bags: Any,
    *,
    min_share: float = 0.01,
    dominant: float = 0.5,
    nearly_all: float = 0.95,
    similarity: float = 0.8,
    agreement: float = 0.25,
    extreme: float = 3.0,
    always: float = 0.95,
    never: float = 0.05,
    coverage: float = 1e-6,
) -> Diagnosis:
    """Find rules, conditions, terms and bags that deserve attention.

    Parameters
    ----------
    bags : Bags, or anything `as_bags` accepts
    min_share : float
        "never fires": a rule whose share of the strength (Layer 4) is below this on every bag. "never matters": an
        additive rule that never adds this part of the outputs' range.
    dominant, nearly_all : float
        "always fires": a rule whose share is above ``dominant`` on at least the fraction ``nearly_all`` of the bags;
        of additive rules, one that adds the same to every bag, up to ``min_share`` of the outputs' range.
    similarity, agreement : float
        Two rules are similar if their sets are this similar (see `simplify`): a "duplicate" if their conclusions
        differ by at most ``agreement`` (of the outputs' range on the bags), otherwise a "contradiction". Similar
        additive rules are duplicates if they are also true in the same bags: what they conclude adds up. Rules that
        conclude sets contradict each other if these are different terms of an output.
    extreme : float
        "extreme conclusion": this many times the range of all outputs and other conclusions away from them.
    always, never : float
        "always true": conditions of a rule that all instances satisfy to at least ``always``, even together. (A
        prototype has a condition on every feature: each may be wide, but all of them are not.) "never true":
        conditions whose membership is at most ``never`` on all instances.
    coverage : float
        "uncovered bags": no rule fires (Layer 3) with at least this strength. With many features, strengths are
        small. Not for additive rules, whose answer is then their default. Of rules that conclude sets: the joined set
        is empty.

    Returns
    -------
    Diagnosis
        Findings with their kind, rules, message and advice. Further kinds are "unused terms", "unused variable" and, of
        rules that conclude sets, "unused output".

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0], [1.01]], [[0.3], [0.3], [0.3]], [0, 1, 0.9])
    >>> print(rules.diagnose([[[0.0]], [[0.4], [1.0]]]))
    1 finding about 3 rules on 2 bags:
    duplicate  Rules 2 and 3 have nearly the same premise (similarity 0.97) and the same conclusion. Merge them:
               edit(merge=[(2, 3)]).
    """
    limits = {
        "min_share": min_share,
        "dominant": dominant,
        "nearly_all": nearly_all,
        "similarity": similarity,
        "agreement": agreement,
        "extreme": extreme,
        "always": always,
        "never": never,
        "coverage": coverage,
    }
    for name, value in limits.items():
        high = np.inf if name == "extreme" else 1.0
        if not 0 <= value <= high:
            raise ParameterError(f"{name} must be a number from 0 to {high:g}, got {value!r}.")
    seen = seen_bags(base, bags)
    found = infer(base, seen)
    weight, silent = found.normalized, np.asarray(found.strongest < coverage)
    if isinstance(found, SetActivations):
        # An output that no rule concludes is a finding of its own.
        said = [k for k, name in enumerate(base.output_names) if any(name in rule.terms for rule in base.rules)]
        weight = np.mean([found.shares(k) for k in said], axis=0)
        silent = np.asarray(found.uncovered_outputs[:, said].any(axis=1))
    case = _Case(base, seen, found, weight, silent, tuple(conditions_on(base, seen)), limits)
    return Diagnosis(tuple(finding for check in _CHECKS for finding in check(case)), base.n_rules, seen.n_bags)


# ---------------------------------------------------------------------- rules


def _idle(case: _Case) -> Iterator[Finding]:
    if case.base.n_rules == 1:  # it cannot be dropped
        return
    limit = case.limits["min_share"]
    for number, greatest in enumerate(shares(case.found, normalize=case.base.normalize).max(axis=0), start=1):
        most, least = f"{100 * greatest:.3g}%", f"(below {100 * limit:.3g}%)"
        if greatest < limit and not case.base.normalize:
            message = f"Rule {number} adds at most {most} of the outputs' range {least}."
            yield Finding("never matters", (number,), message, f"Drop it: edit(drop={number}).")
        elif greatest < limit:
            message = f"The share of rule {number} is at most {most} {least}."
            advice = f"Drop it, edit(drop={number}), or move its sets to where the data is."
            yield Finding("never fires", (number,), message, advice)


def _dominant(case: _Case) -> Iterator[Finding]:
    if case.base.n_rules == 1 or not case.base.normalize:
        return
    limit = case.limits["dominant"]
    for number, part in enumerate((case.weight > limit).mean(axis=0), start=1):
        if part >= case.limits["nearly_all"] and case.base.rules[number - 1].antecedent:  # "IF anything" is meant to
            yield Finding(
                "always fires",
                (number,),
                f"The share of rule {number} is above {100 * limit:.3g}% on {100 * part:.3g}% of the bags: "
                "the other rules hardly matter.",
                f"Narrow its sets, or lower its weight, edit(weights={{{number}: 0.5}}).",
            )


def _constant(case: _Case) -> Iterator[Finding]:
    """Find additive rules that add nearly the same to every bag, which is what the default is for."""
    if case.base.n_rules == 1 or case.base.normalize:
        return
    added = case.found.normalized[:, :, None] * case.found.rule_outputs
    spread = np.ptp(case.found.output, axis=0)
    allowed = case.limits["min_share"] * np.where(spread > 0, spread, 1.0)
    for r, rule in enumerate(case.base.rules):
        own = added[:, r]
        if rule.antecedent and (np.ptp(own, axis=0) < allowed).all() and (np.abs(own).max(axis=0) >= allowed).any():
            both = zip(case.base.output_names, own.mean(axis=0), strict=True)
            adds = listed(f"{value:.4g} to {name}" for name, value in both)
            message = f"Rule {r + 1} adds nearly the same to every bag ({adds})."
            advice = f"Drop it and add this to the default: edit(drop={r + 1}, default=...)."
            yield Finding("always fires", (r + 1,), message, advice)


def _twins(case: _Case) -> Iterator[Finding]:
    base, outputs = case.base, case.found.rule_outputs
    spread = np.ptp(case.found.output, axis=0)
    scale = np.where(spread > 0, spread, 1.0)  # 1 if an output is constant
    similarity = rule_similarities(base)
    for first, second in itertools.combinations(range(base.n_rules), 2):
        alike = float(similarity[first, second])
        if alike < case.limits["similarity"] or not (base.normalize or _act_alike(case, first, second)):
            continue
        pair = (first + 1, second + 1)
        premises = "the same premise" if alike == 1 else f"nearly the same premise (similarity {alike:.2f})"
        asks, merge = f"Rules {pair[0]} and {pair[1]} have {premises}", f"edit(merge=[{pair}])."
        apart = float((np.abs(outputs[:, first] - outputs[:, second]) / scale).max())
        said, other = base.rules[first].terms, base.rules[second].terms
        if not base.normalize:  # contributions add up, so nothing contradicts
            yield Finding("duplicate", pair, f"{asks}.", f"Add them up: {merge}")
        elif said == other if said else apart <= case.limits["agreement"]:
            yield Finding("duplicate", pair, f"{asks} and the same conclusion.", f"Merge them: {merge}")
        elif differ := [name for name in said if name in other and said[name] != other[name]]:
            message = f"{asks}, but conclude different terms of {listed(differ)}."
            advice = f"Distinguish them by another condition, or drop one: edit(drop={pair[1]})."
            yield Finding("contradiction", pair, message, advice)
        elif not said:
            message = f"{asks}, but their conclusions differ by {100 * apart:.3g}% of the outputs' range."
            advice = f"Distinguish them by another condition, or merge them: {merge}"
            yield Finding("contradiction", pair, message, advice)


def _act_alike(case: _Case, first: int, second: int) -> bool:
    """Return whether two rules are true in the same bags, up to a constant that the default can take over.

    Wide sets on many features are all similar, but the premises they make up need not be.
    """
    one, two = case.found.firing[:, first], case.found.firing[:, second]
    spread = float(one.var() + two.var())
    return spread == 0 or float((one - two).var()) <= _APART * spread


def _extreme(case: _Case) -> Iterator[Finding]:
    if case.base.concludes_sets or case.base.n_rules < 3:  # a set is within the range of its output
        return
    output, said = case.found.output, case.found.rule_outputs
    for r, (k, name) in itertools.product(range(case.base.n_rules), enumerate(case.base.output_names)):
        others = np.concatenate([output[:, None, k], np.delete(said[:, :, k], r, axis=1)], axis=1)
        low, high = float(others.min()), float(others.max())
        if not case.base.normalize:  # a rule may add as much as lies between two outputs, up or down
            low, high = min(low, -float(np.ptp(output[:, k]))), max(high, float(np.ptp(output[:, k])))
        away = np.maximum(low - said[:, r, k], said[:, r, k] - high)
        if away.max() > case.limits["extreme"] * (high - low) > 0:
            yield Finding(
                "extreme conclusion",
                (r + 1,),
                f"Rule {r + 1} concludes {name} = {said[away.argmax(), r, k]:.4g}; the outputs and the other rules "
                f"range from {low:.4g} to {high:.4g}.",
                f"Correct it if it is a mistake, edit(conclusions={{{r + 1}: ...}}), or train fewer rules.",
            )


# ---------------------------------------------------------------------- conditions and terms


def _always_true(case: _Case) -> Iterator[Finding]:
    limit = case.limits["always"]
    for number, wide in _by_rule([asked for asked in case.asked if asked.least >= limit]):
        asked = wide if case.base.t_norm == "min" else _always_true_together(wide, limit)
        if len(asked) < _WORTH_REMOVING * len(case.base.rules[number - 1].conditions):
            continue
        names = [each.condition.variable for each in asked]
        step = f"edit(without={{{number}: {names}}})" if len(names) < 4 else "simplify(bags)"
        message = f"Rule {number} has conditions that all instances satisfy to {limit:g} or more: {_texts(asked)}."
        yield Finding("always true", (number,), message, f"Remove them: {step}.")


def _always_true_together(wide: Sequence[Asked], limit: float) -> list[Asked]:
    """Return the conditions that hold best, as many as hold together: they lack at most the sum of what each lacks."""
    lacking = np.array([1 - asked.least for asked in wide])
    best = np.argsort(lacking, kind="stable")
    kept = best[: max(1, int((lacking[best].cumsum() <= 1 - limit).sum()))]
    return [wide[place] for place in sorted(kept)]


def _never_true(case: _Case) -> Iterator[Finding]:
    limit = case.limits["never"]
    for number, asked in _by_rule([asked for asked in case.asked if asked.greatest <= limit]):
        message = f"Rule {number} has conditions that no instance satisfies to more than {limit:g}: {_texts(asked)}."
        yield Finding("never true", (number,), message, "Move these sets to where the data is, or drop the rule.")


def _by_rule(asked: Sequence[Asked]) -> Iterator[tuple[int, list[Asked]]]:
    for number in sorted({each.rule for each in asked}):
        yield number, [each for each in asked if each.rule == number]


def _texts(asked: Sequence[Asked]) -> str:
    return listed(printer.premise_text(each.condition) for each in asked)


def _unused_terms(case: _Case) -> Iterator[Finding]:
    used = set(case.base.arrangement.terms.values())
    used |= {(said.variable, said.term) for rule in case.base.rules for said in rule.terms.values()}
    own = {
        variable.name: [term for term in variable.terms if (variable.name, term) not in used]
        for variable in case.base.all_variables
        if not variable.categories  # which a column has, whether rules ask for them or not
    }
    unused = [f"{listed(terms)} of {name}" for name, terms in own.items() if terms]
    if unused:
        message = f"No rule uses these terms: {'; '.join(unused)}."
        yield Finding("unused terms", (), message, "Remove them: edit(drop_unused_terms=True).")


def _unused_variables(case: _Case) -> Iterator[Finding]:
    slopes = (case.base.coefs[:, :, 1:] != 0).any(axis=(0, 1))
    used = {name for name, _ in case.base.arrangement.terms.values()}
    used |= {name for name, counts in zip(case.base.feature_names, slopes, strict=False) if counts}
    unused = [name for name in case.base.feature_names if name not in used]
    if unused:
        advice = f"That is fine: bags to predict need not have {'it' if len(unused) == 1 else 'them'}."
        yield Finding("unused variable", (), f"No rule uses {listed(unused)}.", advice)


def _unused_outputs(case: _Case) -> Iterator[Finding]:
    said = {name for rule in case.base.rules for name in rule.terms}
    silent = [name for name in case.base.output_names if said and name not in said]
    if silent:
        message = f"No rule concludes {listed(silent)}: the answer is always the default."
        yield Finding("unused output", (), message, "Add a rule for it.")


# ---------------------------------------------------------------------- bags


def _uncovered(case: _Case) -> Iterator[Finding]:
    ids = tuple(case.seen.ids[case.uncovered].tolist())
    if not ids or not case.base.normalize:  # where no additive rule fires, the default is the answer
        return
    what = "concludes anything" if case.base.concludes_sets else f"fires with {case.limits['coverage']:g} or more"
    message = f"No rule {what} on {len(ids)} of {case.seen.n_bags} bags: {listed(ids)}."
    yield Finding("uncovered bags", (), message, "Add a rule for them or widen sets; their outputs are guesses.", ids)


_CHECKS = (
    *(_idle, _dominant, _constant, _twins, _extreme),
    *(_always_true, _never_true, _unused_terms, _unused_variables, _unused_outputs, _uncovered),
)
