"""ANFIS: the traditional neuro-fuzzy network for plain rows, that is, MI-ANFIS on bags of one instance."""

from __future__ import annotations

import dataclasses
from typing import Any

from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags import Bags
from fuzzymil.estimators.mianfis import Network, NetworkClassifier, NetworkRegressor
from fuzzymil.estimators.options import Operators, Training
from fuzzymil.estimators.persistence import loadable


class _SingleInstance(Network):
    """Rejects bags of several instances, and operators that combine instances."""

    def _check_settings(self) -> None:
        super()._check_settings()
        for name in ("aggregation", "conclusion_aggregation", "conclusion_alpha"):
            if name in self._operators.changed():
                raise ParameterError(f"{name} combines instances, but {type(self).__name__} takes one: leave it out.")

    def _bags_to_learn_from(self, X: Any, *, resumes: bool = False) -> Bags:
        bags = super()._bags_to_learn_from(X, resumes=resumes)
        if bags.n_bags < bags.n_instances:
            kind = type(self).__name__
            raise InputError(
                f"{kind} takes one instance per bag, but bag {bags.ids[bags.sizes.argmax()]!s} has {bags.sizes.max()}: "
                f"use MI{kind}, or NaiveMIL({kind}()) to give every instance the label of its bag."
            )
        return bags


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ANFISClassifier(_SingleInstance, NetworkClassifier):
    """Fuzzy if-then rules that classify plain rows (traditional ANFIS).

    The network has one output for two classes, and one output per class for more.

    Parameters
    ----------
    n_rules : int, default 10
        Number of rules; unneeded ones end up with low firing strengths or conclusions.
    order : {0, 1}, default 0
        Order of the conclusions: 0 for constants, 1 for linear functions of the features.
    init : str, RuleBase, array or (array, array), default "kmeans"
        Where the rules start: from a partition of the instances ("kmeans", "fcm", "random", "grid"), from a search for
        short rules ("search", with ``max_conditions``), or from what is given: rules (also as text), centers, or
        centers and widths of shape (n_rules, n_features) in the units of the data. Given rules keep their operators,
        their default and the names of their terms; a term that several rules share moves for all of them, and features
        without a condition stay so.
    frozen : sequence of str, default ()
        Parts of the rules given as ``init`` that training does not change: ``"rule 2"`` (its conclusion and terms),
        ``"hue.dark"`` (a term), ``"hue"`` (all terms of a variable), ``"sky"`` (all conclusions about an output).
    constraints : Constraints, dict or None, default None
        What training must keep of the rules given as ``init``: bounds of conclusions, the order of terms, their
        overlap, signs of slopes, nearness to the start; see `Constraints`.
    max_conditions : int or None, default None
        Maximum number of conditions in a rule. Longer rules are trained and shortened step by step, least valuable
        conditions first. None: no limit.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes: given by label, inversely proportional to class frequencies, or equal (None).
    pos_label : label or None, default None
        Of two classes, the positive one, which the output of the rules is about. None: the class after which the output
        of rules given as ``init`` is named, otherwise the one that sorts last.
    missing : {"median", "average", "ignore", "error"}, default "median"
        What a missing value (NaN) means. "median": the median of the training instances takes its place. "average": it
        satisfies a condition to the degree that the training instances do on average. "ignore": it satisfies every
        condition. "error": raise an error.
    n_estimators : int, default 1
        Number of rule bases whose outputs are averaged, trained at once. 1 keeps the model readable.
    operators : Operators or None, default None
        Family of the sets, and what combines conditions, instances and rules; see `Operators`.
    training : Training or None, default None
        Epochs, learning rate, optimizer, early stopping, checkpoints and the rest of training; see `Training`.
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
    active_bounds_ : list of Touched
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
    pos_label_ : label or None
        Of two classes, the positive one.

    Examples
    --------
    >>> ANFISClassifier(2, random_state=0).fit([[0.0], [0.1], [1.0], [1.1]], list("aabb")).predict([[0.9]])
    array(['b'], dtype='<U1')
    """

    n_rules: int = dataclasses.field(default=10, kw_only=False)
    order: int = 0
    init: Any = "kmeans"
    frozen: Any = ()
    constraints: Any = None
    max_conditions: int | None = None
    class_weight: Any = None
    pos_label: Any = None
    missing: str = "median"
    n_estimators: int = 1
    operators: Operators | None = None
    training: Training | None = None
    verbose: bool = False
    random_state: Any = None


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ANFISRegressor(_SingleInstance, NetworkRegressor):
    """Fuzzy if-then rules that predict a number for each plain row (traditional ANFIS).

    Targets are standardized internally; the rules conclude in the units of the targets.

    Parameters
    ----------
    n_rules : int, default 10
        Number of rules; unneeded ones end up with low firing strengths or conclusions.
    order : {0, 1}, default 0
        Order of the conclusions: 0 for constants, 1 for linear functions of the features.
    init : str, RuleBase, array or (array, array), default "kmeans"
        Where the rules start: from a partition of the instances ("kmeans", "fcm", "random", "grid"), from a search for
        short rules ("search", with ``max_conditions``), or from what is given: rules (also as text), centers, or
        centers and widths of shape (n_rules, n_features) in the units of the data. Given rules keep their operators,
        their default and the names of their terms; a term that several rules share moves for all of them, and features
        without a condition stay so.
    frozen : sequence of str, default ()
        Parts of the rules given as ``init`` that training does not change: ``"rule 2"`` (its conclusion and terms),
        ``"hue.dark"`` (a term), ``"hue"`` (all terms of a variable), ``"sky"`` (all conclusions about an output).
    constraints : Constraints, dict or None, default None
        What training must keep of the rules given as ``init``: bounds of conclusions, the order of terms, their
        overlap, signs of slopes, nearness to the start; see `Constraints`.
    max_conditions : int or None, default None
        Maximum number of conditions in a rule. Longer rules are trained and shortened step by step, least valuable
        conditions first. None: no limit.
    missing : {"median", "average", "ignore", "error"}, default "median"
        What a missing value (NaN) means. "median": the median of the training instances takes its place. "average": it
        satisfies a condition to the degree that the training instances do on average. "ignore": it satisfies every
        condition. "error": raise an error.
    n_estimators : int, default 1
        Number of rule bases whose outputs are averaged, trained at once. 1 keeps the model readable.
    operators : Operators or None, default None
        Family of the sets, and what combines conditions, instances and rules; see `Operators`.
    training : Training or None, default None
        Epochs, learning rate, optimizer, early stopping, checkpoints and the rest of training; see `Training`.
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
    active_bounds_ : list of Touched
        What training left at a bound of ``constraints``.
    history_ : dict of arrays
        ``loss``, ``rmse``, ``change`` (greatest change of a parameter) and, with early stopping,
        ``validation_loss``, one entry per epoch of the last call to `fit` or `partial_fit`. They
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

    n_rules: int = dataclasses.field(default=10, kw_only=False)
    order: int = 0
    init: Any = "kmeans"
    frozen: Any = ()
    constraints: Any = None
    max_conditions: int | None = None
    missing: str = "median"
    n_estimators: int = 1
    operators: Operators | None = None
    training: Training | None = None
    verbose: bool = False
    random_state: Any = None
