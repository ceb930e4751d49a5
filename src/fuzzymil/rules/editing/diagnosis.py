"""The health of a rule base on bags: rules, terms and bags that somebody should look at."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.bags import Bags
from fuzzymil.network.inference import Activations
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.editing.comparison import Asked, conditions_on, rule_similarities, seen_bags
from fuzzymil.rules.language import printer

__all__ = ["Diagnosis", "Finding", "diagnose"]


class Finding(NamedTuple):
    """Something to look at: what it is, the rules (numbers as printed) or bags (ids) it is about, and what to do."""

    kind: str
    rules: tuple[int, ...]
    message: str
    advice: str
    bags: tuple[Any, ...] = ()


@dataclasses.dataclass(frozen=True)
class Diagnosis(Sequence[Finding]):
    """What was found: a sequence of findings, as a table by ``str``."""

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
        """Return the findings of one kind."""
        return tuple(finding for finding in self.findings if finding.kind == kind)

    def __str__(self) -> str:
        title = f"{len(self)} finding{'' if len(self) == 1 else 's'} about {self.n_rules} rules on {self.n_bags} bags"
        if not self.findings:
            return f"{title}."
        width = max(len(finding.kind) for finding in self.findings)
        lines = [f"{title}:"]
        for kind, _, message, advice, _ in self.findings:
            lines += textwrap.wrap(
                f"{kind:{width}}  {message} {advice}", 110, subsequent_indent=" " * (width + 2), break_long_words=False
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        found = [
            finding._asdict() | {"rules": list(finding.rules), "bags": list(finding.bags)} for finding in self.findings
        ]
        return {"n_rules": self.n_rules, "n_bags": self.n_bags, "findings": found}


@dataclasses.dataclass(frozen=True)
class _Case:
    """A rule base on bags, and where a finding begins."""

    base: RuleBase
    seen: Bags
    found: Activations
    asked: tuple[Asked, ...]
    limits: dict[str, float]


def diagnose(base: RuleBase, bags: Any, **limits: float) -> Diagnosis:
    """Look for what is odd; see `RuleBase.diagnose`."""
    for name, value in limits.items():
        high = np.inf if name == "extreme" else 1.0
        if not 0 <= value <= high:
            raise ParameterError(f"{name} must be a number from 0 to {high:g}, got {value!r}.")
    seen = seen_bags(base, bags)
    case = _Case(base, seen, base.infer(seen), tuple(conditions_on(base, seen)), limits)
    looks = (
        _idle,
        _dominant,
        _twins,
        _extreme,
        _always_true,
        _never_true,
        _unused_terms,
        _unused_variables,
        _uncovered,
    )
    return Diagnosis(tuple(finding for look in looks for finding in look(case)), base.n_rules, seen.n_bags)


# ---------------------------------------------------------------------- rules


def _idle(case: _Case) -> Iterator[Finding]:
    limit = case.limits["min_share"]
    for number, greatest in enumerate(case.found.normalized.max(axis=0), start=1):
        if greatest < limit:
            yield Finding(
                "never fires",
                (number,),
                f"Rule {number} has {_percent(greatest)} of the say at most (less than {_percent(limit)}).",
                f"Drop it, edit(drop={number}), or move its sets to where the data is.",
            )


def _dominant(case: _Case) -> Iterator[Finding]:
    limit, nearly_all = case.limits["dominant"], case.limits["nearly_all"]
    if case.base.n_rules == 1:
        return
    often = (case.found.normalized > limit).mean(axis=0)
    for number, part in enumerate(often, start=1):
        if part >= nearly_all and case.base.rules[number - 1].antecedent:  # "IF anything" is meant to
            yield Finding(
                "always fires",
                (number,),
                f"Rule {number} has more than {_percent(limit)} of the say on {_percent(part)} of the bags: "
                "the other rules hardly matter.",
                f"Narrow its sets, or lower its weight, edit(weights={{{number}: 0.5}}).",
            )


def _twins(case: _Case) -> Iterator[Finding]:
    base, outputs = case.base, case.found.rule_outputs
    scale = _scale(case.found.output)
    similarity = rule_similarities(base)
    for first in range(base.n_rules):
        for second in range(first + 1, base.n_rules):
            alike = float(similarity[first, second])
            if alike < case.limits["similarity"]:
                continue
            apart = float((np.abs(outputs[:, first] - outputs[:, second]) / scale).max())
            pair = (first + 1, second + 1)
            asks = f"Rules {pair[0]} and {pair[1]} ask {'the same' if alike == 1 else f'nearly the same ({alike:.2f})'}"
            if apart <= case.limits["agreement"]:
                yield Finding("duplicate", pair, f"{asks} and conclude the same.", f"Merge them: edit(merge=[{pair}]).")
            else:
                yield Finding(
                    "contradiction",
                    pair,
                    f"{asks}, but their conclusions are {_percent(apart)} of the outputs' range apart.",
                    f"Tell them apart by a further condition, or merge them: edit(merge=[{pair}]).",
                )


def _extreme(case: _Case) -> Iterator[Finding]:
    output, said = case.found.output, case.found.rule_outputs
    for r in range(case.base.n_rules if case.base.n_rules > 2 else 0):
        others = np.concatenate([output[:, None], np.delete(said, r, axis=1)], axis=1)
        for k, name in enumerate(case.base.outputs):
            low, high = float(others[..., k].min()), float(others[..., k].max())
            away = np.maximum(low - said[:, r, k], said[:, r, k] - high)
            if away.max() > case.limits["extreme"] * (high - low) > 0:
                yield Finding(
                    "extreme conclusion",
                    (r + 1,),
                    f"Rule {r + 1} concludes {name} = {said[away.argmax(), r, k]:.4g}; outputs and other rules run "
                    f"from {low:.4g} to {high:.4g}.",
                    f"Correct it if it is a slip, edit(conclusions={{{r + 1}: ...}}), or train fewer rules.",
                )


# ---------------------------------------------------------------------- conditions and terms


def _always_true(case: _Case) -> Iterator[Finding]:
    limit = case.limits["always"]
    for number, asked in _by_rule([asked for asked in case.asked if asked.least >= limit]):
        names = [each.condition.variable for each in asked]
        yield Finding(
            "always true",
            (number,),
            f"Rule {number} asks what all instances fulfil by {limit:g} or more: {_told(asked)}.",
            f"Leave it out: edit(without={{{number}: {names}}})."
            if len(names) < 4
            else "Leave it out: simplify(bags).",
        )


def _never_true(case: _Case) -> Iterator[Finding]:
    limit = case.limits["never"]
    for number, asked in _by_rule([asked for asked in case.asked if asked.greatest <= limit]):
        yield Finding(
            "never true",
            (number,),
            f"Rule {number} asks what no instance fulfils by more than {limit:g}: {_told(asked)}.",
            "Move these sets to where the data is, or drop the rule.",
        )


def _by_rule(asked: Sequence[Asked]) -> Iterator[tuple[int, list[Asked]]]:
    for number in sorted({each.rule for each in asked}):
        yield number, [each for each in asked if each.rule == number]


def _told(asked: Sequence[Asked]) -> str:
    return listed(printer.premise_text(each.condition) for each in asked)


def _unused_terms(case: _Case) -> Iterator[Finding]:
    used = set(case.base.arrangement.terms.values())
    for variable in case.base.variables:
        unused = [term for term in variable.terms if (variable.name, term) not in used]
        if unused:
            yield Finding(
                "unused term",
                (),
                f"No rule asks for these terms of {variable.name}: {listed(unused)}.",
                "Forget them: edit(drop_unused_terms=True).",
            )


def _unused_variables(case: _Case) -> Iterator[Finding]:
    used = {name for name, _ in case.base.arrangement.terms.values()}
    slopes = (case.base.coefs[:, :, 1:] != 0).any(axis=(0, 1))
    if slopes.size:
        used |= {name for name, counts in zip(case.base.feature_names, slopes, strict=True) if counts}
    unused = [name for name in case.base.feature_names if name not in used]
    if unused:
        yield Finding(
            "unused variable", (), f"No rule uses {listed(unused)}.", "Nothing to do, or leave these features out."
        )


# ---------------------------------------------------------------------- bags


def _uncovered(case: _Case) -> Iterator[Finding]:
    limit = case.limits["coverage"]
    ids = tuple(case.seen.ids[case.found.coverage < limit].tolist())
    if ids:
        yield Finding(
            "uncovered bags",
            (),
            f"No rule fires by {limit:g} or more on {len(ids)} of {case.seen.n_bags} bags: {listed(ids)}.",
            "Add a rule for them, or widen sets; what is inferred there is a guess.",
            ids,
        )


# ---------------------------------------------------------------------- helpers


def _scale(output: Array) -> Array:
    """Range of each output on the bags; 1 where it is always the same."""
    spread = np.ptp(output, axis=0)
    return np.where(spread > 0, spread, 1.0)


def _percent(part: float) -> str:
    return f"{100 * part:.3g} %"
