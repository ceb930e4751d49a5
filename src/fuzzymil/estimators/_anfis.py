"""ANFIS: the traditional neuro-fuzzy network for plain rows, that is, MI-ANFIS on bags of one instance."""

from __future__ import annotations

import dataclasses
from typing import Any

from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.estimators._classification import NetworkClassifier
from fuzzymil.estimators._regression import NetworkRegressor
from fuzzymil.estimators.persistence import loadable


class SingleInstance:
    """Rejects bags of several instances."""

    def _bags_to_fit(self, X: Any, *, resumes: bool) -> Bags:
        bags: Bags = super()._bags_to_fit(X, resumes=resumes)  # type: ignore[misc]
        if bags.n_bags < bags.n_instances:
            kind = type(self).__name__
            raise InputError(
                f"{kind} takes one instance per bag, but bag {bags.ids[bags.sizes.argmax()]!s} has {bags.sizes.max()}: "
                f"use MI{kind}, or NaiveMIL({kind}()) to give every instance the label of its bag."
            )
        return bags


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ANFISClassifier(SingleInstance, NetworkClassifier):
    """Fuzzy if-then rules that classify plain rows (traditional ANFIS).

    The network has one output for two classes, and one output per class for more.

    Parameters
    ----------
    n_rules : int or None, default None
        Number of rules; None: 10. Unneeded rules end up with low firing strengths or conclusions.
    order : {0, 1}, default 0
        Order of the conclusions: 0 for constants, 1 for linear functions of the features.
    membership : {"gaussian", "bell", "sigmoid", "triangular", "trapezoidal"}, default "gaussian"
        Family of the fuzzy sets.
    t_norm : {"product", "min", "lukasiewicz", "hamacher", "einstein"}, default "product"
        Combines the conditions of a rule.
    normalize : bool, default True
        Whether to divide firing strengths by their sum (Layer 4).
    max_conditions : int or None, default None
        Maximum number of conditions in a rule; the other features become don't-care. With the default ``init``, short
        rules are searched for and trained (at most ``n_rules``, fewer if no more are found). With another ``init``,
        long rules are trained and shortened step by step, least valuable conditions first. None: no limit.
    init : str, RuleBase, array or (array, array), default "auto"
        How rules are initialized: by a partition of the instances ("kmeans", "fcm", "random", "grid"), by a search for
        short rules ("search"), or as given: rules (also as text), centers, or centers and widths of shape (n_rules,
        n_features) in the units of the data. "auto" means "search" with ``max_conditions`` and "kmeans" without. Given rules
        keep their operators, default and limits (``clip`` is not used) and the names of their terms; a term that
        several rules share moves for all of them, and don't-care variables stay don't-care. Given rules or centers
        determine the number of rules; ``n_rules`` is then ignored.
    init_width : float or None, default None
        Initial width of the fuzzy sets, in standard deviations of each feature (in the feature's units if not
        standardized). None: proportional to the square root of the number of features.
    frozen : sequence of str, default ()
        Parts of the rules given as ``init`` that training does not change: ``"rule 2"`` (its conclusion and terms),
        ``"hue.dark"`` (a term), ``"hue"`` (all terms of a variable), ``"sky"`` (all conclusions about an output).
    constraints : Constraints, dict or None, default None
        What training must keep of the rules given as ``init``: bounds of conclusions, the order of terms, their
        overlap, signs of slopes, nearness to the start; see `Constraints`. None: nothing.
    loss : {"squared_error", "cross_entropy", "hinge"}, default "squared_error"
        Loss function. `fuzzymil.learn.train.losses` defines targets, decision values and probabilities of each.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes: given by label, inversely proportional to class frequencies, or equal (None).
    positive : label or None, default None
        Of two classes, the one that the output of the rules is about: what rules add or conclude speaks for it. None:
        the class after which the output of rules given as ``init`` is named, otherwise the one that sorts last.
    optimizer : str or optax.GradientTransformation, default "adam"
        "adam", or "sgd", the plain gradient descent of the paper. An optax transformation has its own learning rate.
    learning_rate : float, default 0.03
        Learning rate, on standardized features.
    batch_size : int or None, default None
        Number of bags per step: 1 is online learning, None uses all bags at once.
    max_epochs : int, default 150
        Maximum number of passes over the bags.
    rule_keep_prob : float, "auto" or None, default "auto"
        Rule Dropout: probability that a rule takes part in a training step, drawn for each bag. "auto" uses 0.7 where
        there are more parameters than bags, except for rules given as ``init``. None or 1: no dropout.
    validation_fraction : float, default 0.2
        Fraction of the training bags to hold out for early stopping; only used with ``n_iter_no_change``.
    n_iter_no_change : int or None, default None
        Early stopping: hold out ``validation_fraction`` of the bags, stop when their loss has not improved for this
        many epochs, and keep the best epoch. None: no early stopping.
    n_init : int, default 1
        Number of restarts, trained at once. The one with the lowest training (or validation) loss is kept.
    n_estimators : int, default 1
        Number of rule bases whose outputs are averaged, trained at once. 1 keeps the model readable.
    missing : {"median", "average", "ignore", "error"}, default "median"
        What a missing value (NaN) means. "median": the median of the training instances takes its place. "average": it
        satisfies a condition to the degree that the training instances do on average. "ignore": it satisfies every
        condition. "error": raise an error.
    variant : str or Variant, default "standard"
        Details of training in which this library and the paper differ: "standard", "paper" or a `Variant`.
    run : RunOptions or None, default None
        Checkpoints, callbacks and precision; see `RunOptions`.
    warm_start : bool, default False
        Whether `fit` resumes training from the current rules.
    verbose : bool, default False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default None
        Random seed. Pass an int for reproducible results.

    Attributes
    ----------
    rules_ : RuleBase
        The learned rules, in the units of the data; with several members, those of the best.
    members_ : list of RuleBase
        All members, best first. Predictions average their outputs.
    initial_rules_ : RuleBase
        ``rules_`` before training.
    touched_ : list of Touched
        What training left at a bound of ``constraints``.
    history_ : dict of arrays
        ``loss``, ``rmse``, ``change`` (greatest change of a parameter) and, with early stopping,
        ``validation_loss``, one entry per epoch of the last call to `fit` or `partial_fit`.
    n_iter_ : int
        Number of epochs of the last call.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features; only if the bags have names.
    classes_ : array of shape (n_classes,)
        Class labels, sorted.
    positive_ : label or None
        Of two classes, the one that the output of the rules is about.

    Examples
    --------
    >>> ANFISClassifier(2, random_state=0).fit([[0.0], [0.1], [1.0], [1.1]], list("aabb")).predict([[0.9]])
    array(['b'], dtype='<U1')
    """


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ANFISRegressor(SingleInstance, NetworkRegressor):
    """Fuzzy if-then rules that predict a number for each plain row (traditional ANFIS).

    Targets are standardized internally; the rules conclude in the units of the targets.

    Parameters
    ----------
    n_rules : int or None, default None
        Number of rules; None: 10. Unneeded rules end up with low firing strengths or conclusions.
    order : {0, 1}, default 0
        Order of the conclusions: 0 for constants, 1 for linear functions of the features.
    membership : {"gaussian", "bell", "sigmoid", "triangular", "trapezoidal"}, default "gaussian"
        Family of the fuzzy sets.
    t_norm : {"product", "min", "lukasiewicz", "hamacher", "einstein"}, default "product"
        Combines the conditions of a rule.
    normalize : bool, default True
        Whether to divide firing strengths by their sum (Layer 4).
    max_conditions : int or None, default None
        Maximum number of conditions in a rule; the other features become don't-care. With the default ``init``, short
        rules are searched for and trained (at most ``n_rules``, fewer if no more are found). With another ``init``,
        long rules are trained and shortened step by step, least valuable conditions first. None: no limit.
    init : str, RuleBase, array or (array, array), default "auto"
        How rules are initialized: by a partition of the instances ("kmeans", "fcm", "random", "grid"), by a search for
        short rules ("search"), or as given: rules (also as text), centers, or centers and widths of shape (n_rules,
        n_features) in the units of the data. "auto" means "search" with ``max_conditions`` and "kmeans" without. Given rules
        keep their operators, default and limits (``clip`` is not used) and the names of their terms; a term that
        several rules share moves for all of them, and don't-care variables stay don't-care. Given rules or centers
        determine the number of rules; ``n_rules`` is then ignored.
    init_width : float or None, default None
        Initial width of the fuzzy sets, in standard deviations of each feature (in the feature's units if not
        standardized). None: proportional to the square root of the number of features.
    frozen : sequence of str, default ()
        Parts of the rules given as ``init`` that training does not change: ``"rule 2"`` (its conclusion and terms),
        ``"hue.dark"`` (a term), ``"hue"`` (all terms of a variable), ``"sky"`` (all conclusions about an output).
    constraints : Constraints, dict or None, default None
        What training must keep of the rules given as ``init``: bounds of conclusions, the order of terms, their
        overlap, signs of slopes, nearness to the start; see `Constraints`. None: nothing.
    optimizer : str or optax.GradientTransformation, default "adam"
        "adam", or "sgd", the plain gradient descent of the paper. An optax transformation has its own learning rate.
    learning_rate : float, default 0.03
        Learning rate, on standardized features.
    batch_size : int or None, default None
        Number of bags per step: 1 is online learning, None uses all bags at once.
    max_epochs : int, default 150
        Maximum number of passes over the bags.
    rule_keep_prob : float, "auto" or None, default "auto"
        Rule Dropout: probability that a rule takes part in a training step, drawn for each bag. "auto" uses 0.7 where
        there are more parameters than bags, except for rules given as ``init``. None or 1: no dropout.
    validation_fraction : float, default 0.2
        Fraction of the training bags to hold out for early stopping; only used with ``n_iter_no_change``.
    n_iter_no_change : int or None, default None
        Early stopping: hold out ``validation_fraction`` of the bags, stop when their loss has not improved for this
        many epochs, and keep the best epoch. None: no early stopping.
    n_init : int, default 1
        Number of restarts, trained at once. The one with the lowest training (or validation) loss is kept.
    n_estimators : int, default 1
        Number of rule bases whose outputs are averaged, trained at once. 1 keeps the model readable.
    missing : {"median", "average", "ignore", "error"}, default "median"
        What a missing value (NaN) means. "median": the median of the training instances takes its place. "average": it
        satisfies a condition to the degree that the training instances do on average. "ignore": it satisfies every
        condition. "error": raise an error.
    variant : str or Variant, default "standard"
        Details of training in which this library and the paper differ: "standard", "paper" or a `Variant`.
    run : RunOptions or None, default None
        Checkpoints, callbacks and precision; see `RunOptions`.
    warm_start : bool, default False
        Whether `fit` resumes training from the current rules.
    verbose : bool, default False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default None
        Random seed. Pass an int for reproducible results.

    Attributes
    ----------
    rules_ : RuleBase
        The learned rules, in the units of the data; with several members, those of the best.
    members_ : list of RuleBase
        All members, best first. Predictions average their outputs.
    initial_rules_ : RuleBase
        ``rules_`` before training.
    touched_ : list of Touched
        What training left at a bound of ``constraints``.
    history_ : dict of arrays
        ``loss``, ``rmse``, ``change`` (greatest change of a parameter) and, with early stopping,
        ``validation_loss``, one entry per epoch of the last call to `fit` or `partial_fit`. Those of a regressor
        refer to standardized targets.
    n_iter_ : int
        Number of epochs of the last call.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features; only if the bags have names.

    Examples
    --------
    >>> ANFISRegressor(2, random_state=0).fit([[0.0], [0.1], [1.0]], [0.0, 0.1, 1.0]).predict([[0.9]]).shape
    (1,)
    """
