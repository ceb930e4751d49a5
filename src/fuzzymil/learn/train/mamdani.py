"""Training of rules that conclude sets: the sets of their inputs and outputs move together, by gradient descent.

The rules become one rule base over inputs and outputs, so that the driver, the optimizer and all constraints are those
of other rules. Only what follows the firing strengths differs: `fuzzymil.inference.layers.forward_to_sets` defuzzifies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil._utils.runtime import require_jax
from fuzzymil.bags import Bags
from fuzzymil.inference.conclusions import DIFFERENTIABLE, ConcludedOutput, ConcludedTerm, Conclusions
from fuzzymil.inference.layers import Masks, Operators, Params
from fuzzymil.inference.segments import pack
from fuzzymil.learn.train.constraints import (
    ActiveBound,
    Bounds,
    Constraints,
    Limits,
    active_bounds,
    box_of,
    limits_of,
    project,
    restore_frozen,
)
from fuzzymil.learn.train.progress import Progress
from fuzzymil.learn.train.scaling import Measures, Scaling
from fuzzymil.rules import RuleBase
from fuzzymil.rules.rule import Rule, Variable

_AT_BOUND = 1e-4  # relative distance from a bound, as for other rules
_PATIENCE = 50  # epochs without a lower loss


class Trained(NamedTuple):
    """The result of `train`."""

    rules: RuleBase
    history: dict[str, Array]  # loss and others, by epoch
    active_bounds: list[ActiveBound]
    diverged: bool
    interrupted: bool


def joint_rules(rules: RuleBase) -> RuleBase:
    """Return the rule base over inputs and outputs that stands for rules that conclude sets in training.

    Its first rules ask for the concluded terms, one each, so that the arrays have a place for their sets.
    """
    for output in rules.outputs:
        if output.name in rules.feature_names:
            raise ParameterError(
                f"{output.name!r} is both an input and an output: rename one of them to train these rules, "
                f"rules.edit(rename={{...}})."
            )
    said = [
        {output.name: term} for output in rules.outputs for term, by in rules.rules_by_term(output.name).items() if by
    ]
    alpha = (*(0.0 for _ in said), *rules.alpha) if isinstance(rules.alpha, tuple) else rules.alpha
    return dataclasses.replace(
        rules,
        variables=rules.all_variables,
        rules=(*(Rule(asked, [[0.0]]) for asked in said), *(rule.concluding([[0.0]]) for rule in rules.rules)),
        outputs=(Variable(rules.output_names[0]),),
        alpha=alpha,
        default=(0.0,),
        defuzzification=None,
    )


def compiled(rules: RuleBase, joint: RuleBase, axes: Scaling | None = None) -> tuple[Params, Masks, Operators]:
    """Return the arrays of rules that conclude sets, with the axes of inputs and outputs scaled."""
    own, own_masks, operators = rules.compile()
    params, masks, _ = joint.compile()
    n_inputs, n_terms = rules.n_features, joint.n_rules - rules.n_rules
    n = joint.n_features
    axes = Scaling(np.zeros(n), np.ones(n), np.zeros((n, 2)), np.ones(n, bool)) if axes is None else axes
    shift, scale = axes.shift[n_inputs:], axes.scale[n_inputs:]
    place = {term: place for place, term in joint.arrangement.terms.items() if place[0] < n_terms}
    outputs = []
    for k, output in enumerate(rules.outputs):
        terms = []
        for term, by in rules.rules_by_term(k).items():
            if by:
                hedges = [rules.rules[r].terms[output.name].hedges for r in by]
                where = place[output.name, term]
                terms.append(ConcludedTerm(output.terms[term].kind, where, tuple(zip(by, hedges, strict=True))))
        low, high = ((float(end or 0.0) - shift[k]) / scale[k] for end in (output.low, output.high))
        names = ("resolution", "sampling", "implication", "accumulation", "defuzzify")
        outputs.append(ConcludedOutput(tuple(terms), low, high, *(rules.setting(name, k) for name in names)))
    families = tuple(name for name, mask in own_masks.items() if mask.any())
    conclusions = Conclusions(n_terms, n_inputs, families, tuple(outputs))
    default = (np.array(rules.default) - shift) / scale
    return (
        axes.to_standard_units(params)._replace(default=default, alpha=own.alpha),
        masks,
        dataclasses.replace(operators, conclusions=conclusions),
    )


def check_trainable(rules: RuleBase) -> None:
    """Raise `ParameterError` if the answers of rules do not follow small changes of their sets."""
    for k, output in enumerate(rules.outputs):
        method, sampling = rules.setting("defuzzify", k), rules.setting("sampling", k)
        if method not in DIFFERENTIABLE:
            raise ParameterError(
                f"Training needs defuzzify='centroid' or 'bisector', whose answers follow small changes of the sets; "
                f"got {method!r} for {output.name!r}. Change it, or keep the rules as they are (max_epochs=0)."
            )
        if (method, sampling) == ("bisector", "points"):
            raise ParameterError(
                f"Training cannot follow the bisector of {output.name!r} at points, which jumps between them: use "
                "sampling='cells' or defuzzify='centroid'."
            )
        if rules.setting("hold", k):
            raise ParameterError(f"Training treats bags one by one: set hold=False for {output.name!r}.")
    if rules.defuzzification is not None and rules.defuzzification.activation != "general":
        raise ParameterError(
            "Training needs activation='general', in which all rules take part; got "
            f"{rules.defuzzification.activation!r}."
        )


def train(
    rules: RuleBase,
    bags: Bags,
    targets: Array,
    weights: Array | None = None,
    *,
    frozen: Iterable[str] = (),
    constraints: Constraints | None = None,
    learning_rate: float = 0.05,
    max_epochs: int = 200,
    seed: int = 0,
    title: str | None = None,
    callbacks: tuple[Callable[[Progress], Any], ...] = (),
) -> Trained:
    """Move the sets of inputs and outputs so that the outputs come near the targets; see `MIMamdani`.

    ``bags`` have the features of the rules, in their order. Shapes: ``targets`` (n_bags, n_outputs), in the units of
    the outputs, ``weights`` (n_bags,). The squared error is divided by the squared range of the output. ``title``: of a
    progress bar. ``callbacks``: called after each epoch with a `Progress`; training stops when one returns True.
    """
    check_trainable(rules)
    require_jax("Training rules that conclude sets")
    from fuzzymil.learn.train._loop import Group, Plan
    from fuzzymil.learn.train.trainer import train_groups

    joint = joint_rules(rules)
    names = _names(rules, frozen)
    of_inputs = Scaling.fit(Measures.of_bags(bags), standardize=True, clip=None).limited_as(rules)
    axes = _axes(rules, of_inputs)
    start, masks, operators = compiled(rules, joint, axes)
    constraints = Constraints() if constraints is None else constraints
    limits, box = _limits(rules, joint, names, constraints, axes)
    shares = np.ones((1, bags.n_bags)) if weights is None else np.asarray(weights, float)[None]
    low, span = axes.shift[-len(rules.outputs) :], axes.scale[-len(rules.outputs) :]
    group = Group(
        starts=[start],
        masks=[masks],
        bags=pack(bags.instances, bags.offsets, np.float32, -of_inputs.shift / of_inputs.scale, of_inputs.apply),
        targets=(np.asarray(targets, float) - low) / span,
        weights=shares,
        held_out=None if constraints.stay else shares,
        seeds=[seed],
        limits=limits,
    )
    (result,) = train_groups(
        [group],
        # The least loss counts, since a step may push a set over an edge; but it leaves out a pull to the start.
        Plan(operators, validate=not constraints.stay),
        learning_rate=learning_rate,
        max_epochs=max_epochs,
        n_iter_no_change=_PATIENCE,
        progress=title,
        callbacks=callbacks,
    )
    params = axes.to_original_units(result.params[0]._replace(default=0.0))
    params = project(params, box, snap=1e-6)  # without the rounding errors of single precision
    fixed = [f"{v.name}.{term}" for v in joint.variables for term, chosen in v.terms.items() if not chosen.trainable]
    moved = restore_frozen(joint, joint.with_numbers(params), (*names, *fixed))
    n_inputs = rules.n_features
    return Trained(
        rules=dataclasses.replace(rules, variables=moved.variables[:n_inputs], outputs=moved.variables[n_inputs:]),
        history={name: values for name, values in result.history[0].items() if name != "validation_loss"},
        active_bounds=_active_bounds(rules, moved, names, constraints, box),
        diverged=bool(result.diverged[0]),
        interrupted=result.interrupted,
    )


def _axes(rules: RuleBase, of_inputs: Scaling) -> Scaling:
    """Return the axes of training: inputs standardized, outputs from 0 to 1."""
    ends = np.array([[output.low, output.high] for output in rules.outputs], float)
    return Scaling(
        shift=np.concatenate([of_inputs.shift, ends[:, 0]]),
        scale=np.concatenate([of_inputs.scale, ends[:, 1] - ends[:, 0]]),
        ranges=np.concatenate([of_inputs.ranges, ends]),
        varies=np.concatenate([of_inputs.varies, np.ones(len(ends), bool)]),
    )


def _names(rules: RuleBase, frozen: Iterable[str]) -> tuple[str, ...]:
    """Return the names of frozen variables and terms, those of frozen rules spelled out."""
    found: list[str] = []
    terms = {name for each in rules.all_variables for name in (each.name, *(f"{each.name}.{t}" for t in each.terms))}
    for name in frozen:
        by = [r for r, rule in enumerate(rules.rules) if name in (f"rule {r + 1}", f"rule {rule.label}")]
        if not by and name.startswith("rule ") and name not in terms:
            known_name("rule", name, [f"rule {r + 1}" for r in range(rules.n_rules)], "in frozen")
        found += [] if by else [name]
        for r in by:
            found += [f"{asked.variable}.{asked.term}" for asked in rules.rules[r].conditions]
            found += [f"{output}.{said.term}" for output, said in rules.rules[r].terms.items()]
    return tuple(found)


# ---------------------------------------------------------------------- constraints


def _limits(
    rules: RuleBase, joint: RuleBase, frozen: tuple[str, ...], constraints: Constraints, axes: Scaling
) -> tuple[Limits, Bounds]:
    """Return what training must respect, on its axes and in the units of the data.

    The peaks of the outputs' terms always stay within bounds: a set beyond the range of its output concludes nothing.
    """
    if constraints.signs:
        raise ParameterError(
            "signs is about slopes of linear conclusions, which rules that conclude sets do not have: leave it out."
        )
    ends = _ends(rules, constraints)
    start = joint.compile()[0]
    others = dataclasses.replace(constraints, conclusions=(-np.inf, np.inf))
    limits = limits_of(joint, frozen, others, start, axes)
    box = box_of(joint, frozen, others, start, axes)
    assert limits.bounds is not None
    assert box is not None
    for (row, d), (name, term) in joint.arrangement.terms.items():
        if name not in ends:
            continue
        chosen = joint.variables[d].terms[term]
        peak = float(chosen.peak(*chosen.parameters))
        low, high = min(ends[name][0], peak), max(ends[name][1], peak)  # a term may start beyond the range
        for bounds, shift, scale in ((limits.bounds, axes.shift[d], axes.scale[d]), (box, 0.0, 1.0)):
            bounds.peaks[0, row, d] = max(bounds.peaks[0, row, d], (low - shift) / scale)
            bounds.peaks[1, row, d] = min(bounds.peaks[1, row, d], (high - shift) / scale)
    return limits, box


def _ends(rules: RuleBase, constraints: Constraints) -> dict[str, tuple[float, float]]:
    """Return the bounds on the peaks of each output's terms: those of conclusions, otherwise its range."""
    found = {output.name: (float(output.low or 0.0), float(output.high or 0.0)) for output in rules.outputs}
    given = constraints.conclusions
    if not isinstance(given, Mapping):
        given = {} if given is None else dict.fromkeys(found, given)
    for name, (low, high) in given.items():
        known_name("output", name, found, "in conclusions")
        for term, chosen in rules.outputs[rules.place_of(name)].terms.items():
            peak = float(chosen.peak(*chosen.parameters))
            if not low <= peak <= high:
                raise ParameterError(
                    f"conclusions: the term {term!r} of {name!r} starts with its peak at {peak:g}, outside {low:g} to "
                    f"{high:g}: change the term, or the bounds."
                )
    return found | dict(given)


def _active_bounds(
    rules: RuleBase, moved: RuleBase, frozen: tuple[str, ...], constraints: Constraints, box: Bounds
) -> list[ActiveBound]:
    """Return what ended at a bound."""
    given, outputs = constraints.conclusions, {output.name: output for output in rules.outputs}
    found = []
    for entry in active_bounds(moved, frozen, dataclasses.replace(constraints, conclusions=None), box):
        output = outputs.get(entry.where.partition(".")[0])
        if output is not None and entry.what == "peak":
            own = given.get(output.name) if isinstance(given, Mapping) else given
            places = {"range": (output.low, output.high), "conclusions": (-np.inf, np.inf) if own is None else own}
            room = float(output.high or 0.0) - float(output.low or 0.0)
            for what, ends in places.items():
                for side, end in zip(("lower", "upper"), ends, strict=True):
                    if end is not None and abs(entry.value - end) <= _AT_BOUND * room:
                        word = f"{side} end of the range" if what == "range" else f"{side} bound of conclusions"
                        entry = entry._replace(bound=word)
        found.append(entry)
    return found
