"""MI-ANFIS: a neuro-fuzzy network that learns if-then rules from bags of instances."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

from fuzzymil.estimators._classification import NetworkClassifier
from fuzzymil.estimators._data_diagnosis import DataDiagnosing
from fuzzymil.estimators._regression import NetworkRegressor
from fuzzymil.estimators.persistence import loadable


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class Aggregation:
    """Parameters that combine the instances of a bag."""

    alpha: float = 1.0
    conclusion_alpha: float = 1.0
    aggregation: str = "softmax"
    conclusion_aggregation: str = "softmax"


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MIANFISClassifier(NetworkClassifier, DataDiagnosing, Aggregation):
    """Fuzzy if-then rules that classify bags: chosen from candidates by default, or trained as a network (MI-ANFIS).

    There is one output for two classes, and one output per class for more.

    Parameters
    ----------
    n_rules : int or None, default None
        The most rules that are chosen (None: 50; usually a few suffice), or the number of rules that a network starts
        from (None: 10), of which unneeded ones end up with low firing strengths or conclusions.
    order : {0, 1}, default 0
        Order of the conclusions: 0 for constants, 1 for linear functions of the features, aggregated over the bag.
    membership : {"gaussian", "bell", "sigmoid", "triangular", "trapezoidal"}, default "gaussian"
        Family of the fuzzy sets.
    alpha : float, default 1.0
        Sharpness of the softmax over a bag's instances (Layer 3): 0 is the mean, ``inf`` the maximum.
    conclusion_alpha : float, default 1.0
        The same for the instances' linear responses (Layer 5, ``order=1``).
    t_norm : {"product", "min", "lukasiewicz", "hamacher", "einstein"}, default "product"
        Combines the conditions of a rule.
    aggregation : str, default "softmax"
        Combines the instances of a bag: "softmax", "softmax_relative", "softmax_log", "max", "min", "algebraic",
        "bounded", "lse" or "power".
    conclusion_aggregation : {"softmax", "mean", "max", "min"}, default "softmax"
        Combines the instances' linear responses.
    normalize : bool, default True
        Whether to divide firing strengths by their sum (Layer 4).
    max_conditions : int or None, default None
        Maximum number of conditions in a rule. Chosen rules have at most three anyway, except for those that compare
        instances with a prototype in all features; these are only chosen where they explain more bags, and never with
        a ``max_conditions`` below the number of features. The rules of a network are shortened step by step, least valuable
        conditions first, or start short (``init="search"``). None: no limit.
    init : str, RuleBase, array or (array, array), default "auto"
        Where rules come from. "select" chooses them from many candidates, see Notes. A network is trained from a
        partition of the instances ("kmeans", "fcm", "random", "grid"), from a search for short rules ("search"), or
        from what is given: rules (also as text), centers, or centers and widths of shape (n_rules, n_features) in the
        units of the data. "auto" means "select", unless a parameter is changed that only a network has: then it means
        "search" with ``max_conditions`` and "kmeans" without. Given rules keep their operators, default and limits (``clip``
        is not used) and the names of their terms; a term that several rules share moves for all of them, and don't-care
        variables stay don't-care. Given rules or centers determine the number of rules; ``n_rules`` is then ignored.
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
        Number of rule bases whose outputs are averaged. 1 keeps the model readable. Networks are trained at once;
        members of chosen rules differ in the folds of cross-validation and in the prototypes that are compared.
    missing : {"median", "average", "condition", "ignore", "error"}, default "median"
        What a missing value (NaN) means. "median": the median of the training instances takes its place. "average": it
        satisfies a condition to the degree that the training instances do on average. "ignore": it satisfies every
        condition. "error": raise an error.
        "condition": as "median", and rules may ask whether a value is missing; only for rules that are chosen.
    variant : str or Variant, default "standard"
        Details of training in which this library and the paper differ: "standard", "paper" or a `Variant`.
    run : RunOptions or None, default None
        Checkpoints, callbacks and precision; see `RunOptions`.
    warm_start : bool, default False
        Whether `fit` trains the current rules further, also chosen ones.
    verbose : bool, default False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default None
        Random seed. Pass an int for reproducible results.

    Attributes
    ----------
    rules_ : RuleBase
        The learned rules, in the units of the data; with several members, those of the first.
    members_ : list of RuleBase
        All members; those of a network are sorted, best first. Predictions average their outputs.
    initial_rules_ : RuleBase
        ``rules_`` before training, or before the sets of chosen rules were refined.
    touched_ : list of Touched
        What training left at a bound of ``constraints``.
    history_ : dict of arrays
        ``loss``, ``rmse``, ``change`` (greatest change of a parameter) and, with early stopping,
        ``validation_loss``, one entry per epoch of the last call to `fit` or `partial_fit`. For chosen rules, one
        entry of ``loss``.
    n_iter_ : int
        Number of epochs of the last call; 1 for chosen rules.
    choice_ : dict
        Only for chosen rules: the mean cost on held-out bags of each kind of candidates, and without any rule ("no
        rules"). Empty with fewer than ten bags, or a single bag in one of two classes.
    n_bags_chosen_from_ : int
        Only for chosen rules, and not saved: the number of bags that candidates were compared on. If all bags have more
        than 50,000 instances together, this is a sample in which every class has its share.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features; only if the bags have names.
    classes_ : array of shape (n_classes,)
        Class labels, sorted.
    positive_ : label or None
        Of two classes, the one that the output of the rules is about.

    Notes
    -----
    By default, rules are chosen. Candidates are conditions on single features with a quantifier over the instances
    (SOME, AT LEAST k, ON AVERAGE), the number of instances, conjunctions of up to three conditions on the same
    instance, and prototypes in all features. A path of L1-penalized fits selects few of them; cross-validation on the
    bags given to `fit` decides how strong the penalty is, which kind of candidates is used and how many rules are
    kept, in favor of fewer and shorter rules. Then the sets are refined by gradient. The outputs of the rules add up
    to the logit of the second class, or to one logit per class (``rules_.normalize`` is False).

    What shapes chosen rules are ``n_rules``, ``max_conditions``, ``n_estimators``, ``missing``, ``class_weight``,
    ``positive`` and ``random_state``. The other parameters of rules and of training (``order``, ``alpha``, ``loss``,
    ``learning_rate``, ``n_init``, ...) belong to networks: if one of them is changed, "auto" trains a network, and
    "select" raises an error that names it.

    Examples
    --------
    >>> from fuzzymil.datasets import make_planted, make_two_concepts
    >>> bags = make_planted("count", 100, n_noise=3, random_state=0)
    >>> model = MIANFISClassifier(random_state=0).fit(bags)
    >>> print(model.rules_)
    Default: y = -5.1...
    Rule 1: IF AT LEAST 3 A is high THEN y += 10...

    A network, as in the paper:

    >>> bags = make_two_concepts(random_state=0)
    >>> model = MIANFISClassifier(6, init="random", n_init=4, random_state=0).fit(bags)
    >>> model.score(bags, bags.labels) > 0.95
    True
    """

    _can_select: ClassVar[bool] = True

    @classmethod
    def paper(cls, n_rules: int, init_width: float, **changes: Any) -> Self:
        """Return a classifier with the settings of Khalifa and Frigui, taken literally.

        Gaussian sets on raw features, fuzzy c-means on the instances of positive bags, conclusions initialized to 1,
        alpha 1, and plain gradient descent, bag by bag, with learning rate 0.1 and the update rule as printed. The
        paper states ``n_rules`` and ``init_width`` for each dataset. Such plain steps on raw features need a
        ``learning_rate`` that fits the scale of the data: with 0.1 training often stalls or oscillates, even on the
        paper's own synthetic data.

        Parameters
        ----------
        n_rules : int
        init_width : float
            In the units of the features.
        **changes
            Other parameters of the constructor.

        Examples
        --------
        >>> MIANFISClassifier.paper(6, 100.0).optimizer
        'sgd'
        """
        literal: dict[str, Any] = {
            "init": "fcm",
            "loss": "squared_error",
            "optimizer": "sgd",
            "learning_rate": 0.1,
            "batch_size": 1,
            "max_epochs": 150,
            "rule_keep_prob": None,
            "variant": "paper",
        }
        return cls(n_rules, init_width=init_width, **(literal | changes))


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MIANFISRegressor(NetworkRegressor, DataDiagnosing, Aggregation):
    """Fuzzy if-then rules that predict numbers for bags: chosen by default, or trained as a network (MI-ANFIS).

    Targets are standardized internally; the rules conclude in the units of the targets.

    Parameters
    ----------
    n_rules : int or None, default None
        The most rules that are chosen (None: 50; usually a few suffice), or the number of rules that a network starts
        from (None: 10), of which unneeded ones end up with low firing strengths or conclusions.
    order : {0, 1}, default 0
        Order of the conclusions: 0 for constants, 1 for linear functions of the features, aggregated over the bag.
    membership : {"gaussian", "bell", "sigmoid", "triangular", "trapezoidal"}, default "gaussian"
        Family of the fuzzy sets.
    alpha : float, default 1.0
        Sharpness of the softmax over a bag's instances (Layer 3): 0 is the mean, ``inf`` the maximum.
    conclusion_alpha : float, default 1.0
        The same for the instances' linear responses (Layer 5, ``order=1``).
    t_norm : {"product", "min", "lukasiewicz", "hamacher", "einstein"}, default "product"
        Combines the conditions of a rule.
    aggregation : str, default "softmax"
        Combines the instances of a bag: "softmax", "softmax_relative", "softmax_log", "max", "min", "algebraic",
        "bounded", "lse" or "power".
    conclusion_aggregation : {"softmax", "mean", "max", "min"}, default "softmax"
        Combines the instances' linear responses.
    normalize : bool, default True
        Whether to divide firing strengths by their sum (Layer 4).
    max_conditions : int or None, default None
        Maximum number of conditions in a rule. Chosen rules have at most three anyway, except for those that compare
        instances with a prototype in all features; these are only chosen where they explain more bags, and never with
        a ``max_conditions`` below the number of features. The rules of a network are shortened step by step, least valuable
        conditions first, or start short (``init="search"``). None: no limit.
    init : str, RuleBase, array or (array, array), default "auto"
        Where rules come from. "select" chooses them from many candidates, see Notes. A network is trained from a
        partition of the instances ("kmeans", "fcm", "random", "grid"), from a search for short rules ("search"), or
        from what is given: rules (also as text), centers, or centers and widths of shape (n_rules, n_features) in the
        units of the data. "auto" means "select", unless a parameter is changed that only a network has: then it means
        "search" with ``max_conditions`` and "kmeans" without. Given rules keep their operators, default and limits (``clip``
        is not used) and the names of their terms; a term that several rules share moves for all of them, and don't-care
        variables stay don't-care. Given rules or centers determine the number of rules; ``n_rules`` is then ignored.
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
        Number of rule bases whose outputs are averaged. 1 keeps the model readable. Networks are trained at once;
        members of chosen rules differ in the folds of cross-validation and in the prototypes that are compared.
    missing : {"median", "average", "condition", "ignore", "error"}, default "median"
        What a missing value (NaN) means. "median": the median of the training instances takes its place. "average": it
        satisfies a condition to the degree that the training instances do on average. "ignore": it satisfies every
        condition. "error": raise an error.
        "condition": as "median", and rules may ask whether a value is missing; only for rules that are chosen.
    variant : str or Variant, default "standard"
        Details of training in which this library and the paper differ: "standard", "paper" or a `Variant`.
    run : RunOptions or None, default None
        Checkpoints, callbacks and precision; see `RunOptions`.
    warm_start : bool, default False
        Whether `fit` trains the current rules further, also chosen ones.
    verbose : bool, default False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default None
        Random seed. Pass an int for reproducible results.

    Attributes
    ----------
    rules_ : RuleBase
        The learned rules, in the units of the data; with several members, those of the first.
    members_ : list of RuleBase
        All members; those of a network are sorted, best first. Predictions average their outputs.
    initial_rules_ : RuleBase
        ``rules_`` before training, or before the sets of chosen rules were refined.
    touched_ : list of Touched
        What training left at a bound of ``constraints``.
    history_ : dict of arrays
        ``loss``, ``rmse``, ``change`` (greatest change of a parameter) and, with early stopping,
        ``validation_loss``, one entry per epoch of the last call to `fit` or `partial_fit`. Those of a regressor
        refer to standardized targets. For chosen rules, one entry of ``loss``.
    n_iter_ : int
        Number of epochs of the last call; 1 for chosen rules.
    choice_ : dict
        Only for chosen rules: the mean cost on held-out bags of each kind of candidates, and without any rule ("no
        rules"): half the squared error of standardized targets. Empty with fewer than ten bags.
    n_bags_chosen_from_ : int
        Only for chosen rules, and not saved: the number of bags that candidates were compared on. If all bags have more
        than 50,000 instances together, this is a sample in which every class has its share.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features; only if the bags have names.

    Notes
    -----
    By default, rules are chosen. Candidates are conditions on single features with a quantifier over the instances
    (SOME, AT LEAST k, ON AVERAGE), the number of instances, conjunctions of up to three conditions on the same
    instance, and prototypes in all features. A path of L1-penalized fits selects few of them; cross-validation on the
    bags given to `fit` decides how strong the penalty is, which kind of candidates is used and how many rules are
    kept, in favor of fewer and shorter rules. Then the sets are refined by gradient. The outputs of the rules add up
    to the prediction (``rules_.normalize`` is False).

    What shapes chosen rules are ``n_rules``, ``max_conditions``, ``n_estimators``, ``missing`` and
    ``random_state``. The other parameters of rules and of training (``order``, ``alpha``,
    ``learning_rate``, ``n_init``, ...) belong to networks: if one of them is changed, "auto" trains a network, and
    "select" raises an error that names it.

    Examples
    --------
    >>> bags = [[[0.0], [1.0]], [[0.2], [3.0]], [[5.0]], [[2.0], [2.5]], [[4.0], [0.0]]]
    >>> model = MIANFISRegressor(2, random_state=0).fit(bags, [1.0, 3.0, 5.0, 2.5, 4.0])
    >>> model.predict(bags).shape
    (5,)
    """

    _can_select: ClassVar[bool] = True
