"""The conditions of a rule at its witness: to which degree each holds, and which one decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.explain.parts import ConditionExplanation
from fuzzymil.network.layers import Masks, Params, layer1
from fuzzymil.network.norms import S_NORMS, T_NORMS, complement
from fuzzymil.network.premises import HEDGES, Place
from fuzzymil.rules import RuleBase, premise
from fuzzymil.rules.premise import And, Expression, Is, Not, Quantified


def conditions_at(
    base: RuleBase, params: Params, masks: Masks, given: Array, seen: Array
) -> list[tuple[ConditionExplanation, ...]]:
    """Return the conditions of each rule at its witness.

    Parameters
    ----------
    base : RuleBase
    params, masks
        The rule base, compiled.
    given, seen : arrays of shape (n_rules, n_features)
        One witness per rule: as in the data, and clipped to the ranges of the rules.
    """
    places = _places(base)
    log_mu = _log_memberships(params, masks, seen, places)
    return [_conditions(base, rule.premise, places[r], log_mu, given[r], seen[r]) for r, rule in enumerate(base.rules)]


def _places(base: RuleBase) -> list[tuple[Place, ...]]:
    """Return, for each rule, the places of its conditions' sets in the arrays of `RuleBase.compile`."""
    column = {name: d for d, name in enumerate(base.feature_names)}
    plain = [
        tuple((r, column[condition.variable]) for condition in premise.conditions(rule.premise))
        for r, rule in enumerate(base.rules)
    ]
    for group in base.arrangement.premises or ():
        for r, places in zip(group.rules, group.places, strict=True):
            plain[r] = places or plain[r]  # plain conjunctions are not listed in the group
    return plain


@jax.jit
def _rowwise_layer1(sets: Any, masks: Masks, x: jax.Array) -> jax.Array:
    """Run Layer 1 with one instance per row of sets; return log-memberships (rows, d)."""

    def of_row(sets: Any, masks: Masks, x: jax.Array) -> jax.Array:
        sets, masks = jax.tree.map(lambda values: values[None], (sets, masks))
        return layer1(sets, masks, x[None], None)[0, 0]

    return jax.vmap(of_row)(sets, masks, x)


def _log_memberships(params: Params, masks: Masks, x: Array, places: list[tuple[Place, ...]]) -> Array:
    """Return the log-memberships (rows, d) of each rule's witness, ``x`` (r, d), in the rule's sets."""
    owner = np.zeros(len(next(iter(masks.values()))), int)
    owner[: len(x)] = np.arange(len(x))
    for r, where in enumerate(places):
        owner[[row for row, _ in where]] = r
    with jax.enable_x64():
        return np.asarray(_rowwise_layer1(params.sets, masks, x[owner]))


def _conditions(
    base: RuleBase, asked: Expression, places: tuple[Place, ...], log_mu: Array, given: Array, seen: Array
) -> tuple[ConditionExplanation, ...]:
    """Return the conditions of one rule at its witness, ``given`` (d,), which the rules see as ``seen`` (d,)."""
    negated = list(premise.negations(asked))
    known = ~np.isnan(seen)
    degrees = [
        # As in `premises.log_truth`, an unknown value counts in favor of the rule.
        _hedged(float(log_mu[place]), condition.hedges) if known[place[1]] else -np.inf if negative else 0.0
        for condition, place, negative in zip(premise.conditions(asked), places, negated, strict=True)
    ]
    support = [_complement(degree) if negative else degree for degree, negative in zip(degrees, negated, strict=True)]
    if premise.plain_conditions(asked) is not None:
        limiting = int(np.argmin(support)) if support else None
    else:
        _, limiting = _limiting(asked, enumerate(degrees), base)
    return tuple(
        ConditionExplanation(
            variable=condition.variable,
            term=condition.term,
            hedges=condition.hedges,
            unit=base.variables[d].unit,
            value=float(given[d]) if known[d] else None,
            counted_as=float(seen[d]) if known[d] else None,
            log_membership=degrees[n],
            negated=negated[n],
            log_support=support[n],
            limiting=n == limiting and support[n] < 0,
        )
        for n, (condition, (_, d)) in enumerate(zip(premise.conditions(asked), places, strict=True))
    )


def _limiting(asked: Expression, degrees: Iterator[tuple[int, float]], base: RuleBase) -> tuple[float, int | None]:
    """Return the log-truth of a premise and the number of the condition that decides it.

    This is the least true part of an AND and the truest part of an OR, also inside a NOT (De Morgan's laws).
    """
    if isinstance(asked, Is):
        number, degree = next(degrees)
        return degree, number
    if isinstance(asked, Not):
        degree, decides = _limiting(asked.part, degrees, base)
        return _complement(degree), decides
    if isinstance(asked, Quantified):
        return _limiting(asked.part, degrees, base)
    parts = [_limiting(part, degrees, base) for part in asked.parts]
    if not parts:
        return 0.0, None
    join, pick = (T_NORMS[base.t_norm], min) if isinstance(asked, And) else (S_NORMS[base.s_norm], max)
    with jax.enable_x64():
        joined = float(join(jnp.asarray([degree for degree, _ in parts])))
    return joined, pick(parts, key=lambda part: part[0])[1]


def _hedged(log_mu: float, hedges: tuple[str, ...]) -> float:
    if not hedges:
        return log_mu
    with jax.enable_x64():
        value = jnp.float64(log_mu)
        for hedge in reversed(hedges):
            value = HEDGES[hedge](value)
        return float(value)


def _complement(log_mu: float) -> float:
    with jax.enable_x64():
        return float(complement(jnp.float64(log_mu)))
