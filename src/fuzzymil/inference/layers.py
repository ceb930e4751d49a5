"""The six layers of MI-ANFIS, one function each in the paper's order, and `forward`, which runs them.

============  ===================================  =============  ==============================
paper         here                                 shape          equation
============  ===================================  =============  ==============================
x_(p,i,j)     ``x``                                (i, d)         (1) Bag
mu_A(k,j)     `layer1`, log-memberships            (i, r, d)      (6) gmf
r_(k,i)       `layer2`, log-truths                 (i, r)         (7) layer2MI-ANFIS
S_alpha       `aggregation.softmax`                (b, r)         (8) smax
w_k           `layer3`, log firing strengths       (b, r)         (9) layer3MI-ANFIS
wbar_k        `layer4`, normalized strengths       (b, r)         (10) layer4MI-ANFIS
f_k           `layer5`, rule outputs               (b, r, k)      (11), (12) layer5MI-ANFIS
O_p           `layer6`, output                     (b, k)         (13) layer6MI-ANFIS
c, sigma      ``Params.sets["gaussian"]``          2 x (r, d)     (6) gmf
b^k           ``Params.coefs``, constant first     (r, k, 1 + d)  (12); (r, k, 1) if zero order
============  ===================================  =============  ==============================

Equations are numbered as in the paper; the name after the number is its LaTeX label.

Axes: b bags, i instances (of all bags, packed), r rules, d features, k outputs. Everything up to the firing strengths
is kept as logarithms, because in 166 dimensions the product of memberships underflows.

The paper's own rules, Gaussian sets joined by the product, do not run `layer1` and `layer2` one after the other:
`layers_1_and_2` computes both at once, in `engines.jax_gaussians`.

Beyond the paper, a premise may consist of quantified parts (`fuzzymil.inference.premises`): then Layers 1 and 2 have an
axis p of parts in place of r, and Layer 3 joins the instances part by part. Additive rules (``normalize=False``) leave
out Layer 4, and `layer6` adds ``Params.default``.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from fuzzymil._utils.arrays import namespace
from fuzzymil.inference._numerics import stop_gradient
from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.inference.conclusions import Conclusions, conclude
from fuzzymil.inference.engines import engine_of
from fuzzymil.inference.membership import family
from fuzzymil.inference.norms import T_NORMS
from fuzzymil.inference.premises import (
    MissingDegrees,
    Parts,
    Premises,
    first_sets,
    log_degrees_of_parts,
    log_firing_of_parts,
    log_truth_of_parts,
    log_truth_of_premises,
    missing_degrees,
)
from fuzzymil.inference.segments import Each, Grouping

if TYPE_CHECKING:
    import jax

Numbers = Any  # an array: of JAX inside compiled code, of NumPy outside


class Params(NamedTuple):
    """The numbers of a rule base: a pytree that training changes."""

    sets: dict[str, tuple[Numbers, ...]]  # per family its parameters, (r, d) each; more rows if premises need them
    coefs: Numbers  # (r, k, 1) or (r, k, 1 + d), constant first
    alpha: Numbers  # of Layer 3, () or (r,)
    conclusion_alpha: Numbers  # of Layer 5, ()
    default: Numbers = 0.0  # (k,): added to the output of additive rules; of others, the output where no rule fires
    missing_values: Numbers = None  # (t, d): what a missing value stands for; see `fuzzymil.inference.premises`


Masks = dict[str, Numbers]
"""For each family, 1 or 0 per term (r, d): whether the term uses it. A term that no family claims is don't-care."""


@dataclasses.dataclass(frozen=True)
class Operators:
    """The choices that are not numbers; hashable, because each combination is compiled to its own program."""

    t_norm: str = "product"
    aggregation: str = "softmax"
    conclusion_aggregation: str = "softmax"
    normalize: bool = True
    update_rule: str = "exact"
    s_norm: str = "algebraic"
    premises: Premises | None = None  # None: conjunctions, one row of sets per rule
    weights: tuple[float, ...] | None = None  # of the rules; None: all 1
    parts: Parts | None = None  # None: no premise is quantified
    conclusions: Conclusions | None = None  # None: rules conclude numbers; else see `forward_to_sets`


class Layers(NamedTuple):
    """The results of the layers in one pass."""

    log_truth: jax.Array  # (i, p)
    log_degrees: jax.Array  # (b, p)
    log_firing: jax.Array  # (b, r)
    strengths: jax.Array  # (b, r)
    rule_outputs: jax.Array  # (b, r, k)
    output: jax.Array  # (b, k)


def layer1(
    sets: dict[str, tuple[Numbers, ...]],
    masks: Masks,
    x: jax.Array,
    known: jax.Array | None,
    missing: MissingDegrees | None = None,
) -> jax.Array:
    """Equation (6): log-memberships (i, r, d) of each feature in each rule's set.

    They are 0 (a membership of 1) for don't-care terms, and for unknown values that ``missing`` says nothing about.
    """
    xp = namespace(x)
    log_mu = xp.zeros_like(x, shape=(x.shape[0], *next(iter(masks.values())).shape))
    for name, parameters in sets.items():
        # Where a family is not used its parameters are placeholders, so its value must not be read.
        log_mu = xp.where(masks[name] > 0, family(name).log_mu(x[:, None, :], *parameters), log_mu)
    if known is None:
        return log_mu
    return xp.where(known[:, None, :] > 0, log_mu, 0.0 if missing is None else missing.log_mu)


def layer2(log_mu: jax.Array, t_norm: str) -> jax.Array:
    """Equation (7): log-truths (i, r) of each rule's premise for each instance."""
    return T_NORMS[t_norm](log_mu)


def layers_1_and_2(
    params: Params,
    masks: Masks,
    operators: Operators,
    x: jax.Array,
    known: jax.Array | None,
    squares: jax.Array | None = None,
) -> jax.Array:
    """Equations (6) and (7): log-truths (i, r), by the fastest of four ways.

    - Gaussian sets joined by the product, the paper's rules: both layers at once, as a quadratic form
      (`fuzzymil.inference.engines.jax_gaussians`), without the memberships (i, r, d) in between.
    - Other families or T-norms: `layer1`, then `layer2`; many rows in NumPy set by set, since rules share sets.
    - Premises with OR, NOT or hedges: `layer1`, then `fuzzymil.inference.premises.log_truth_of_premises`.
    - Quantified premises: log-truths (i, p) by `fuzzymil.inference.premises.log_truth_of_parts`, group by group.

    They agree where several apply, in value and gradient.
    """
    missing = None if known is None else missing_degrees(params.sets, masks, params.missing_values)
    if operators.parts is not None:
        norms = operators.t_norm, operators.s_norm
        return log_truth_of_parts(operators.parts, params.sets, masks, *norms, x, known, squares, missing)
    if operators.premises is None and operators.t_norm == "product" and params.sets.keys() == {"gaussian"}:
        centers, widths = params.sets["gaussian"]
        inverse = masks["gaussian"] / widths
        found: jax.Array = engine_of(x).log_truth_of_gaussians(x, known, centers, inverse, squares)
        return found if missing is None or known is None else found + _einsum("id,rd->ir", 1.0 - known, missing.log_mu)

    shared_sets = getattr(engine_of(x), "log_truth_of_conjunctions", None)
    if shared_sets is not None and operators.premises is None and missing is None:
        shared: jax.Array | None = shared_sets(params.sets, masks, operators.t_norm, x, known)
        if shared is not None:
            return shared

    def one_after_the_other(x: jax.Array, known: jax.Array | None) -> jax.Array:
        log_mu = layer1(params.sets, masks, x, known, missing)
        if operators.premises is None:
            return layer2(log_mu, operators.t_norm)
        return log_truth_of_premises(operators.premises, log_mu, known, operators.t_norm, operators.s_norm, missing)

    n_sets = math.prod(next(iter(masks.values())).shape)
    chunked: jax.Array = engine_of(x).in_chunks(one_after_the_other, n_sets, x, known)
    return chunked


def layer3(log_truth: jax.Array, grouping: Grouping, aggregation: str, alpha: jax.Array) -> jax.Array:
    """Equation (9): log firing strengths (b, r), each rule's truths joined over the instances of a bag."""
    if isinstance(grouping, Each):  # a single truth, however it is joined, is itself
        return log_truth
    return AGGREGATIONS[aggregation](log_truth, grouping, alpha)


def strengths_of(
    params: Params,
    operators: Operators,
    log_truth: jax.Array,
    grouping: Grouping,
    log_degrees: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Return the log-degrees (b, p) of the parts and the log firing strengths (b, r) of the rules, with their weights.

    Empty bags, which only pad, have strength 1: the gradient of a softmax of zeros would be NaN. ``log_degrees``: of
    quantified parts, if they have been computed without their truths.
    """
    if operators.parts is None:
        log_degrees = log_firing = layer3(log_truth, grouping, operators.aggregation, params.alpha)
    else:
        if log_degrees is None:
            settings = operators.aggregation, params.alpha
            log_degrees = log_degrees_of_parts(operators.parts, log_truth, grouping, *settings)
        log_firing = log_firing_of_parts(operators.parts, log_degrees, operators.t_norm, operators.s_norm)
    xp = namespace(log_firing)
    if operators.weights is not None:
        log_firing = log_firing + xp.log(engine_of(log_firing).numbers(operators.weights, log_firing))
    if isinstance(grouping, Each):  # no bag is empty
        return log_degrees, log_firing
    empty = (grouping.sizes() == 0)[:, None]
    return log_degrees, xp.where(empty, 0.0, log_firing)


def layer4(log_firing: jax.Array, operators: Operators) -> jax.Array:
    """Equation (10): strengths (b, r) that sum to one over the rules; all zero where every rule is exactly zero."""
    xp = namespace(log_firing)
    if not operators.normalize:
        return xp.exp(log_firing)
    strengths: jax.Array = engine_of(log_firing).shares(log_firing)
    if operators.update_rule == "paper":
        # The printed gradients, (23) and (41), ignore that a rule's strength lowers those of the others: the value is
        # the softmax, the derivative only the diagonal d wbar_k / d log w_k = wbar_k (1 - wbar_k).
        value = stop_gradient(strengths)
        moved = xp.where(xp.isneginf(log_firing), 0.0, log_firing)
        strengths = value * (1.0 + (1.0 - value) * (moved - stop_gradient(moved)))
    return strengths


def layer5(
    coefs: jax.Array,
    x: jax.Array,
    grouping: Grouping,
    conclusion_aggregation: str,
    alpha: jax.Array,
    missing: jax.Array | None = None,
) -> jax.Array:
    """Equations (11) and (12): rule outputs (b, r, k), the instances' linear responses joined over the bag.

    The paper weights them here; `layer6` does so instead. ``missing`` (i, r, k) is what unknown features add to the
    responses.
    """
    constant = coefs[..., 0]
    if coefs.shape[-1] == 1:  # zero order: every operator returns the constant
        return namespace(x).broadcast_to(constant, (grouping.sizes().shape[0], *constant.shape))
    z = constant + _einsum("id,rkd->irk", x, coefs[..., 1:])
    return COMBINERS[conclusion_aggregation](z if missing is None else z + missing, grouping, alpha)


def layer6(strengths: jax.Array, rule_outputs: jax.Array, default: Numbers | None = None) -> jax.Array:
    """Equation (13): output (b, k), the sum of the rule outputs weighted by the strengths.

    Additive rules add it to their ``default`` (k,).
    """
    total = _einsum("br,brk->bk", strengths, rule_outputs)
    return total if default is None else default + total


def _einsum(subscripts: str, a: jax.Array, b: jax.Array) -> jax.Array:
    found: jax.Array = engine_of(a).einsum(subscripts, a, b)
    return found


def forward(
    params: Params,
    masks: Masks,
    operators: Operators,
    x: jax.Array,
    grouping: Grouping,
    *,
    known: jax.Array | None = None,
    keep: jax.Array | None = None,
    renormalize: bool = False,
    squares: jax.Array | None = None,
    log_truth: jax.Array | None = None,
    log_degrees: jax.Array | None = None,
) -> Layers:
    """Run the six layers on instances ``x`` (i, d), finite everywhere.

    ``known`` (i, d) is 1 where a value is known, 0 where it is missing. A missing value has the mean membership of
    ``params.missing_values``, or 1 without these. In a first-order conclusion it is replaced by their mean; without
    these by the most typical value of the rule's set, or, if the rule has no set for it, by the value in ``x``.

    Rule Dropout: ``keep`` (b, r) is 1 for the rules that take part, per bag. The outputs of the others are silenced
    after Layer 4, as in the paper; with ``renormalize``, they are dropped before it, so that the rest share their
    strength.

    ``squares`` (i, d): see `fuzzymil.inference.engines.jax_gaussians.squares_of`. ``log_truth`` (i, p): the result of
    `layers_1_and_2`, if it has been computed already. ``log_degrees`` (b, p): of quantified parts, if they have been
    computed without it; then ``log_truth`` may be anything.

    Examples
    --------
    One bag of two instances and one feature; two rules, near 0 conclude 0, near 1 conclude 1:

    >>> import numpy as np
    >>> from fuzzymil.inference.segments import OneBag
    >>> sets = {"gaussian": (np.array([[0.0], [1.0]]), np.array([[0.5], [0.5]]))}
    >>> params = Params(sets, coefs=np.array([[[0.0]], [[1.0]]]), alpha=np.ones(()), conclusion_alpha=np.ones(()))
    >>> bag = OneBag(np.ones(2, bool))
    >>> layers = forward(params, {"gaussian": np.ones((2, 1))}, Operators(), np.array([[0.2], [0.9]]), bag)
    >>> [values.shape for values in layers]
    [(2, 2), (1, 2), (1, 2), (1, 2), (1, 2, 1), (1, 1)]
    >>> layers.output.round(2).item()
    0.52
    """
    if log_truth is None:
        log_truth = layers_1_and_2(params, masks, operators, x, known, squares)

    log_degrees, log_firing = strengths_of(params, operators, log_truth, grouping, log_degrees)
    if keep is not None and renormalize:
        xp = namespace(log_firing)
        log_firing = xp.where(keep > 0, log_firing, -xp.inf)

    strengths = layer4(log_firing, operators)

    missing = None
    if known is not None and params.coefs.shape[-1] > 1:
        missing = _response_of_missing(params, masks, operators, x, 1.0 - known)
    outputs = layer5(params.coefs, x, grouping, operators.conclusion_aggregation, params.conclusion_alpha, missing)
    if keep is not None and not renormalize:
        outputs = outputs * keep[:, :, None]

    output = layer6(strengths, outputs, None if operators.normalize else params.default)
    return Layers(log_truth, log_degrees, log_firing, strengths, outputs, output)


def _response_of_missing(
    params: Params, masks: Masks, operators: Operators, x: jax.Array, unknown: jax.Array
) -> jax.Array:
    """Return the change of the responses (i, r, k) when unknown values are replaced by the rules' typical ones."""
    xp = namespace(x)
    slopes = params.coefs[..., 1:]
    has_set = functools.reduce(xp.maximum, masks.values())
    typical = xp.zeros_like(has_set)
    for name, parameters in params.sets.items():
        typical = xp.where(masks[name] > 0, family(name).peak(*parameters), typical)
    if operators.parts is not None:
        has_set, typical = first_sets(operators.parts, has_set, typical)
    has_set, typical = has_set[: len(slopes)], typical[: len(slopes)]  # further rows repeat a rule's variables
    if params.missing_values is not None:
        there = ~xp.isnan(params.missing_values)
        count = there.sum(axis=0)
        mean = xp.where(there, params.missing_values, 0.0).sum(axis=0) / xp.where(count > 0, count, 1)
        has_set, typical = xp.where(count > 0, 1.0, has_set), xp.where(count > 0, mean, typical)
    product = functools.partial(_einsum, "id,rkd->irk")
    return product(unknown, slopes * typical[:, None, :]) - product(unknown * x, slopes * has_set[:, None, :])


def forward_to_sets(
    params: Params,
    masks: Masks,
    operators: Operators,
    x: jax.Array,
    grouping: Grouping,
    *,
    known: jax.Array | None = None,
    squares: jax.Array | None = None,
) -> jax.Array:
    """Return the output (b, k) of rules that conclude fuzzy sets, in place of Layers 4 to 6; see `forward`.

    The sets of the outputs are further rows of the arrays in ``params.sets``, before those of the premises, and further
    columns, so that training treats all sets alike. Where no rule concludes anything, the output is ``params.default``.
    """
    conclusions = operators.conclusions
    assert conclusions is not None
    own = slice(conclusions.n_terms, None), slice(conclusions.n_features)
    families = conclusions.families or tuple(params.sets)[:1]  # one must be there, even if no rule has a condition
    sets = {name: tuple(values[own] for values in params.sets[name]) for name in families}
    values = None if params.missing_values is None else params.missing_values[:, own[1]]
    premises, kinds = params._replace(sets=sets, missing_values=values), {name: masks[name][own] for name in families}
    plain = dataclasses.replace(operators, conclusions=None)
    log_truth = layers_1_and_2(premises, kinds, plain, x, known, squares)
    _, log_firing = strengths_of(premises, plain, log_truth, grouping)
    pairs = zip(conclusions.outputs, params.default, strict=True)
    found = [conclude(params.sets, concluded, log_firing, default) for concluded, default in pairs]
    return namespace(log_firing).stack(found, axis=1)
