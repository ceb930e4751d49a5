"""The six layers of MI-ANFIS as six pure functions in the paper's order, and `forward`.

============  =============================  ==============  ==========================
paper         here                           shape           equation
============  =============================  ==============  ==========================
x_(p,i,j)     ``x``                          (i, d)          Bag
mu_A(k,j)     ``layer1``, log memberships    (i, r, d)       gmf
r_(k,i)       ``layer2``, log truths         (i, r)          layer2MI-ANFIS
S_alpha, w_k  ``layer3``, log firing         (b, r)          smax, layer3MI-ANFIS
wbar_k        ``layer4``, normalized firing  (b, r)          layer4MI-ANFIS
f_k           ``layer5``, rule outputs       (b, r, k)       layer5MI-ANFIS1
O_p           ``layer6``, output             (b, k)          layer6MI-ANFIS
c, sigma      ``Params.sets["gaussian"]``    2 x (r, d)      gmf
b^k           ``Params.coefs``               (r, k, 1 + d)   constant first; 1 when zero order
============  =============================  ==============  ==========================

Axes: b bags, i instances (of all bags, packed), r rules, d features, k outputs. Everything up to
the firing strengths is kept in logarithms: in 166 dimensions the product of memberships underflows.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from fuzzymil.membership import FAMILIES
from fuzzymil.network import premises
from fuzzymil.network.kernels.gaussian import log_truth_of_gaussians
from fuzzymil.network.norms import AGGREGATIONS, COMBINERS, T_NORMS
from fuzzymil.network.premises import Premises
from fuzzymil.network.segments import Each, Grouping

__all__ = [
    "Layers",
    "Operators",
    "Params",
    "forward",
    "from_truth",
    "layer1",
    "layer2",
    "layer3",
    "layer4",
    "layer5",
    "layer6",
]


Numbers = Any  # an array: JAX's inside compiled code, NumPy's outside


class Params(NamedTuple):
    """The numbers of a rule base: a pytree that training moves."""

    sets: dict[str, tuple[Numbers, ...]]  # for each family its parameters, (r, d) each; more rows if premises need them
    coefs: Numbers  # (r, k, 1) or (r, k, 1 + d), constant first
    alpha: Numbers  # of Layer 3, () or (r,)
    consequent_alpha: Numbers  # of Layer 5, ()


Masks = dict[str, Numbers]
"""For each family the terms (r, d) that use it, 1 or 0; a term that no family claims is don't-care."""


@dataclasses.dataclass(frozen=True)
class Operators:
    """The choices that are not numbers; hashable, so that each makes one compiled program."""

    t_norm: str = "product"
    aggregation: str = "softmax"
    combine: str = "softmax"
    normalize: bool = True
    update_rule: str = "exact"
    s_norm: str = "algebraic"
    premises: Premises | None = None  # None: conjunctions, one row of sets a rule
    weights: tuple[float, ...] | None = None  # of the rules; None: all 1


class Layers(NamedTuple):
    """What each layer computed, for one pass."""

    log_truth: jax.Array  # (i, r)
    log_firing: jax.Array  # (b, r)
    strengths: jax.Array  # (b, r)
    rule_outputs: jax.Array  # (b, r, k)
    output: jax.Array  # (b, k)


def layer1(sets: dict[str, tuple[Numbers, ...]], masks: Masks, x: jax.Array, known: jax.Array | None) -> jax.Array:
    """Log-membership (i, r, d) of each feature in each rule's set; 0 for don't-care and unknown values."""
    log_mu = jnp.zeros((x.shape[0], *next(iter(masks.values())).shape), x.dtype)
    for name, parameters in sets.items():
        # Where the family is not used its parameters are placeholders, so its value is not read.
        log_mu = jnp.where(masks[name] > 0, FAMILIES[name].log_mu(x[:, None, :], *parameters), log_mu)
    return log_mu if known is None else jnp.where(known[:, None, :] > 0, log_mu, 0.0)


def layer2(log_mu: jax.Array, t_norm: str) -> jax.Array:
    """Log-truth (i, r) of each rule's premise for each instance."""
    return T_NORMS[t_norm](log_mu)


def layer3(log_truth: jax.Array, grouping: Grouping, aggregation: str, alpha: jax.Array) -> jax.Array:
    """Log firing strength (b, r) of each rule for each bag: its truths joined over the instances."""
    if isinstance(grouping, Each):  # one truth, however joined, is itself
        return log_truth
    return AGGREGATIONS[aggregation](log_truth, grouping, alpha)


def layer4(log_firing: jax.Array, operators: Operators) -> jax.Array:
    """Strengths (b, r) that sum to one over the rules; all zero where every rule is truly zero."""
    if not operators.normalize:
        return jnp.exp(log_firing)
    fires = ~jnp.isneginf(log_firing).all(axis=-1, keepdims=True)
    strengths = jax.nn.softmax(jnp.where(fires, log_firing, 0.0), axis=-1)
    if operators.update_rule == "paper":
        # The printed gradients leave out how a rule's strength lowers those of the others: the value
        # is the softmax, the derivative d wbar_k / d log w_k = wbar_k (1 - wbar_k) on the diagonal only.
        held = jax.lax.stop_gradient(strengths)
        moved = jnp.where(jnp.isneginf(log_firing), 0.0, log_firing)
        strengths = held * (1.0 + (1.0 - held) * (moved - jax.lax.stop_gradient(moved)))
    return jnp.where(fires, strengths, 0.0)


def layer5(
    coefs: jax.Array, x: jax.Array, grouping: Grouping, combine: str, alpha: jax.Array, missing: jax.Array | None = None
) -> jax.Array:
    """Rule outputs (b, r, k): the instances' linear responses, joined over the bag.

    ``missing`` (i, r, k) is what unknown features add to the responses.
    """
    constant = coefs[..., 0]
    if coefs.shape[-1] == 1:  # zero order: every operator returns the constant
        return jnp.broadcast_to(constant, (grouping.sizes().shape[0], *constant.shape))
    z = constant + jnp.einsum("id,rkd->irk", x, coefs[..., 1:], precision="highest")
    return COMBINERS[combine](z if missing is None else z + missing, grouping, alpha)


def layer6(strengths: jax.Array, rule_outputs: jax.Array) -> jax.Array:
    """Output (b, k): the rule outputs weighted by the strengths."""
    return jnp.einsum("br,brk->bk", strengths, rule_outputs, precision="highest")


# ---------------------------------------------------------------------- together

# Most values of an array (instances, sets of a rule, features): 64 MB in 32 bit, several of which are in use at once.
_GREATEST_ARRAY = 1 << 24


def log_truth(
    params: Params,
    masks: Masks,
    operators: Operators,
    x: jax.Array,
    known: jax.Array | None,
    squares: jax.Array | None = None,
) -> jax.Array:
    """Layers 1 and 2: conjunctions of Gaussians under the product take the fast path."""
    if operators.premises is None and operators.t_norm == "product" and params.sets.keys() == {"gaussian"}:
        centers, widths = params.sets["gaussian"]
        return log_truth_of_gaussians(x, known, centers, masks["gaussian"] / widths, squares)

    def of_rows(x: jax.Array, known: jax.Array | None) -> jax.Array:
        log_mu = layer1(params.sets, masks, x, known)
        if operators.premises is None:
            return layer2(log_mu, operators.t_norm)
        return premises.log_truth(operators.premises, log_mu, known, operators.t_norm, operators.s_norm)

    return _some_rows_at_a_time(of_rows, _GREATEST_ARRAY // next(iter(masks.values())).size, x, known)


def _some_rows_at_a_time(
    function: Callable[[jax.Array, jax.Array | None], jax.Array], limit: int, x: jax.Array, known: jax.Array | None
) -> jax.Array:
    """Call ``function`` on at most about ``limit`` rows of its arguments at once.

    What it holds meanwhile is not kept for the gradient but computed again.
    """
    n_rows = 1 << max(limit.bit_length() - 1, 0)  # a power of 2: padded data leave no rest
    whole = len(x) // n_rows * n_rows
    if whole <= n_rows:
        return function(x, known)
    forgetful = jax.checkpoint(function)
    parts = jax.tree.map(lambda values: values[:whole].reshape(-1, n_rows, values.shape[1]), (x, known))
    found: jax.Array = jax.lax.map(lambda part: forgetful(*part), parts).reshape(whole, -1)
    if whole == len(x):
        return found
    return jnp.concatenate([found, forgetful(*jax.tree.map(lambda values: values[whole:], (x, known)))])


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
) -> Layers:
    """Run the six layers.

    Parameters
    ----------
    params, masks, operators
        The rule base in numbers.
    x : array of shape (i, d)
        Instances; finite everywhere.
    grouping : Grouping
    known : array of shape (i, d), optional
        1 where a value is known, 0 where it is missing: its membership is 1 and, in a first-order
        consequent, it stands at the most typical value of the rule's set (at what ``x`` holds in its
        place where the rule has no set for it).
    keep : array of shape (b, r), optional
        Rule Dropout: 1 for the rules that take part, per bag.
    renormalize : bool
        With ``keep``: drop before Layer 4 and share the strength among the kept rules, instead of
        silencing rule outputs after it as the paper does.
    squares : array of shape (i, d), optional
        As of `fuzzymil.network.kernels.gaussian.squares_of`.
    """
    truth = log_truth(params, masks, operators, x, known, squares)
    return from_truth(params, masks, operators, x, grouping, truth, known=known, keep=keep, renormalize=renormalize)


def from_truth(
    params: Params,
    masks: Masks,
    operators: Operators,
    x: jax.Array,
    grouping: Grouping,
    truth: jax.Array,
    *,
    known: jax.Array | None = None,
    keep: jax.Array | None = None,
    renormalize: bool = False,
) -> Layers:
    """Run Layers 3 to 6 on log-truths (i, r); see `forward`."""
    log_firing = layer3(truth, grouping, operators.aggregation, params.alpha)
    if operators.weights is not None:
        log_firing = log_firing + jnp.log(jnp.asarray(operators.weights, log_firing.dtype))
    empty = (grouping.sizes() == 0)[:, None]
    log_firing = jnp.where(empty, 0.0, log_firing)  # padding bags: before the softmax, or gradients are NaN
    if keep is not None and renormalize:
        log_firing = jnp.where(keep > 0, log_firing, -jnp.inf)
    strengths = layer4(log_firing, operators)
    missing = None
    if known is not None and params.coefs.shape[-1] > 1:
        missing = _response_of_missing(params, masks, x, 1.0 - known)
    outputs = layer5(params.coefs, x, grouping, operators.combine, params.consequent_alpha, missing)
    if keep is not None and not renormalize:
        outputs = outputs * keep[:, :, None]
    return Layers(truth, log_firing, strengths, outputs, layer6(strengths, outputs))


def _response_of_missing(params: Params, masks: Masks, x: jax.Array, unknown: jax.Array) -> jax.Array:
    """Return what taking unknown values at the rules' typical ones adds to the responses (i, r, k)."""
    slopes = params.coefs[..., 1:]
    has_set = functools.reduce(jnp.maximum, masks.values())
    typical = jnp.zeros_like(has_set)
    for name, parameters in params.sets.items():
        typical = jnp.where(masks[name] > 0, FAMILIES[name].peak(*parameters), typical)
    has_set, typical = has_set[: len(slopes)], typical[: len(slopes)]  # further rows repeat a rule's variables
    product = functools.partial(jnp.einsum, "id,rkd->irk", precision="highest")
    return product(unknown, slopes * typical[:, None, :]) - product(unknown * x, slopes * has_set[:, None, :])
