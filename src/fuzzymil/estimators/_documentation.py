"""Docstrings of the settings that several estimators share, written once."""

from __future__ import annotations

import dataclasses
import re

__all__ = ["documented"]

_COMMON = """n_rules : int
        Number of rules. Rules that are not needed end up with low conclusions or strengths.
    order : {0, 1}
        0: a rule concludes a constant; 1: a linear function of the features, joined over the bag.
    membership : {"gaussian", "bell", "sigmoid", "triangular", "trapezoidal"}
        Family of the fuzzy sets.
    t_norm : {"product", "min", "lukasiewicz", "hamacher", "einstein"}
        Joins the conditions of a rule.
    normalize : bool
        Divide firing strengths by their sum (Layer 4).
    max_terms : int, optional
        Most conditions a rule may have; other features become don't-care. With the default ``init`` short
        rules are searched for and trained (at most ``n_rules``, fewer when no more is to be found); with
        another ``init`` long rules are trained and shortened step by step, by what each condition is worth.
    init : {"auto", "kmeans", "fcm", "random", "grid", "search"}, RuleBase, array or (array, array)
        Where rules start ("auto": "search" with ``max_terms``, else "kmeans"): a partition of the instances; a
        search for short rules; given rules, an expert's say; or centers, or centers and widths, of shape
        (n_rules, n_features) in the user's units. Given rules bring their operators, default and limits
        (``clip`` is not used); their terms keep their names, a term that several rules use moves for all of
        them, and don't-care variables stay out. Given rules or centers bring their own number, whatever
        ``n_rules`` says.
    init_width : float, optional
        First width of the sets, in standard deviations of each feature (in the feature's units if
        ``standardize=False``). Default: grows with the square root of the number of features.
    init_outputs : {"informed", "ones"}
        First conclusions: what the bags that fire a rule say on average, or 1 (the paper).
    frozen : sequence of str
        What training leaves as it is in rules given as ``init``: ``"rule 2"`` (its conclusion and terms),
        ``"hue.dark"`` (a term), ``"hue"`` (all terms of a variable), ``"sky"`` (all conclusions on an output).
    optimizer : {"adam", "sgd"} or optax.GradientTransformation
        "sgd" is the paper's plain gradient descent. An optax transformation brings its own learning rate.
    learning_rate : float
        Step of the optimizer, on standardized features.
    batch_size : int, optional
        Bags a step; 1 is on-line learning, None all bags at once.
    max_epochs : int
        Passes over the bags.
    tol : float
        Stop when no parameter moved by more than this over an epoch (0: never).
    update_rule : {"exact", "paper"}
        "paper" uses the premise gradients as printed, which leave out how a rule's strength lowers those of
        the other rules; it is no function's gradient.
    width_scale : {"log", "direct"}
        Whether the optimizer moves the logarithm of a width or the width itself (the paper).
    rule_keep_prob : float, "auto" or None
        Rule Dropout: probability that a rule takes part in a training step, drawn for each bag. "auto"
        keeps rules with probability 0.7 where there are more numbers to learn than bags, else, and for
        rules given as ``init``, always.
    rule_dropout : {"renormalize", "paper"}
        "paper": a dropped rule's output is 0, and outputs are scaled at test time. "renormalize":
        the kept rules share the strength, at least one is kept, and nothing is scaled.
    early_stopping : bool
        Set bags aside, stop when their loss has not improved for ``n_iter_no_change`` epochs, keep the best epoch.
    validation_fraction : float
        Share of the training bags set aside.
    n_iter_no_change : int
        Epochs that early stopping waits for a better validation loss.
    n_init : int
        Starts trained at once, of which the one with the least training (or validation) loss is kept.
    n_estimators : int
        Rule bases that are trained at once and averaged; 1 keeps the model readable.
    standardize : bool
        Learn on standardized features; rules are always given in the user's units.
    clip : float or None
        Values further than so many standard deviations from a feature's mean, or outside what was seen
        in training, count as the nearest end of that range, in training and in prediction.
    missing : {"error", "ignore"}
        What to do with NaN: refuse, or let a missing value fit every set.
    precision : {"single", "double"}
        Arithmetic of training. Prediction is always in double precision.
    warm_start : bool
        Go on from the present rules when `fit` is called again.
    checkpoint : folder or None
        Where training is kept every few seconds and on Ctrl-C. The same fit, begun again after it was stopped or
        killed, goes on from there and ends with the same numbers; once finished it clears its files away.
    distributed : bool
        Train together with the other processes that have joined (`fuzzymil.training.distributed.join`), each on its share
        of the bags; all end up with the same rules.
    callbacks : list of callables, optional
        Called after each epoch with a `fuzzymil.training.trainer.Progress`; one that returns True ends training.
    verbose : bool
        Show a progress bar.
    random_state : int, RandomState or None"""

_POOLING = """alpha : float
        Sharpness of the softmax over a bag's instances (Layer 3): 0 the mean, ``inf`` the greatest.
    consequent_alpha : float
        The same for the instances' linear responses (Layer 5, ``order=1``).
    learn_alpha : bool
        Train both alphas too.
    aggregation : {"softmax", "softmax_relative", "softmax_log", "max", "min", "algebraic", "bounded", "lse", "power"}
        Joins the instances of a bag.
    combine : {"softmax", "mean", "max", "min"}
        Joins the instances' linear responses."""

_CLASSIFICATION = """init_bags : {"balanced", "positive", "all"}
        Whose instances are partitioned: of each class in turn, with its share of the rules; of the
        positive bags (as the paper does; with more than two classes this means "balanced"); or of all.
    loss : {"squared_error", "cross_entropy", "hinge"}
        See `fuzzymil.training.losses` for what each makes of labels, decisions and probabilities.
    class_weight : dict, "balanced" or None
        Weight of each class's bags: given, in inverse proportion to their number, or equal."""

_FITTED = """rules_ : RuleBase
        The learned rules, in the user's units; of the best member when there are several.
    members_ : list of RuleBase
        All members, best first. Predictions average their outputs.
    initial_rules_ : RuleBase
        Where ``rules_`` started.
    history_ : dict of arrays
        ``loss``, ``rmse``, ``change`` (greatest parameter change) and, with early stopping,
        ``validation_loss``, an entry for each epoch of the last call to ``fit`` or ``partial_fit``. A
        regressor's are on standardized targets.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only when the bags had feature names."""


def documented(kind: type) -> type:
    """Fill the placeholders in a dataclass's docstring, and tell the default of every setting."""
    parts = {
        "{common}": _COMMON,
        "{pooling}": _POOLING,
        "{classification}": _CLASSIFICATION,
        "{fitted}": _FITTED,
    }
    for placeholder, text in parts.items():
        kind.__doc__ = (kind.__doc__ or "").replace(placeholder, text)
    for field in dataclasses.fields(kind):
        entry = re.compile(rf"^(    {field.name} : .*)$", re.MULTILINE)
        kind.__doc__ = entry.sub(rf"\1, default {field.default!r}", kind.__doc__ or "", count=1)
    return kind
