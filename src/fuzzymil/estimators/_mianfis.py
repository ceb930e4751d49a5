"""MI-ANFIS and ANFIS: the public estimators.

The traditional single-instance ANFIS is the same network on bags of one instance.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Self

from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.estimators._classification import NetworkClassifier
from fuzzymil.estimators._documentation import documented
from fuzzymil.estimators._regression import NetworkRegressor

__all__ = ["ANFISClassifier", "ANFISRegressor", "MIANFISClassifier", "MIANFISRegressor"]


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class Pooling:
    """Settings that join the instances of a bag."""

    alpha: float = 1.0
    consequent_alpha: float = 1.0
    learn_alpha: bool = False
    aggregation: str = "softmax"
    combine: str = "softmax"


class OneInstance:
    """A network for plain rows: bags of several instances are refused."""

    def _bags_to_fit(self, X: Any, *, going_on: bool) -> Bags:
        bags: Bags = super()._bags_to_fit(X, going_on=going_on)  # type: ignore[misc]
        if bags.n_bags < bags.n_instances:
            kind = type(self).__name__
            raise InputError(
                f"{kind} takes one instance a bag, but bag {bags.ids[bags.sizes.argmax()]!s} has {bags.sizes.max()}: "
                f"use MI{kind}, or NaiveMIL({kind}()) to give every instance its bag's label."
            )
        return bags


@documented
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MIANFISClassifier(NetworkClassifier, Pooling):
    """Fuzzy if-then rules that classify bags, learned by gradient descent (MI-ANFIS).

    Two classes are told apart by one output; more by one output a class, in one network.

    Parameters
    ----------
    {common}
    {pooling}
    {classification}

    Attributes
    ----------
    {fitted}
    classes_ : array of shape (n_classes,)

    Examples
    --------
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=0)
    >>> model = MIANFISClassifier(6, init="random", n_init=4, random_state=0).fit(bags)
    >>> model.score(bags, bags.labels) > 0.95
    True
    """

    @classmethod
    def paper(cls, n_rules: int, init_width: float, **changes: Any) -> Self:
        """Return a classifier with the settings of Khalifa and Frigui, taken literally.

        Gaussian sets on raw features, fuzzy c-means on the instances of positive bags, conclusions
        that start at 1, alpha 1, and plain gradient descent bag by bag at rate 0.1 with the update
        rule as printed. The paper gives ``n_rules`` and ``init_width`` for each data set. Such plain steps
        on raw features want a ``learning_rate`` that fits the data's scale: at 0.1 training often stalls or
        swings, on the paper's own synthetic data too.

        Examples
        --------
        >>> MIANFISClassifier.paper(6, 100.0).optimizer
        'sgd'
        """
        literal: dict[str, Any] = {
            "init": "fcm",
            "init_bags": "positive",
            "init_outputs": "ones",
            "loss": "squared_error",
            "optimizer": "sgd",
            "learning_rate": 0.1,
            "batch_size": 1,
            "max_epochs": 150,
            "update_rule": "paper",
            "width_scale": "direct",
            "rule_keep_prob": None,
            "rule_dropout": "paper",
            "standardize": False,
            "clip": None,
        }
        return cls(n_rules, init_width=init_width, **(literal | changes))


@documented
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MIANFISRegressor(NetworkRegressor, Pooling):
    """Fuzzy if-then rules that predict a number for each bag (MI-ANFIS).

    Targets are standardized inside; the rules' conclusions come in the target's own units.

    Parameters
    ----------
    {common}
    {pooling}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> bags = [[[0.0], [1.0]], [[0.2], [3.0]], [[5.0]], [[2.0], [2.5]], [[4.0], [0.0]]]
    >>> model = MIANFISRegressor(2, random_state=0).fit(bags, [1.0, 3.0, 5.0, 2.5, 4.0])
    >>> model.predict(bags).shape
    (5,)
    """


@documented
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ANFISClassifier(OneInstance, NetworkClassifier):
    """The traditional ANFIS on plain rows, for classification.

    Parameters
    ----------
    {common}
    {classification}

    Attributes
    ----------
    {fitted}
    classes_ : array of shape (n_classes,)

    Examples
    --------
    >>> ANFISClassifier(2, random_state=0).fit([[0.0], [0.1], [1.0], [1.1]], list("aabb")).predict([[0.9]])
    array(['b'], dtype='<U1')
    """


@documented
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ANFISRegressor(OneInstance, NetworkRegressor):
    """The traditional ANFIS on plain rows, for regression.

    Parameters
    ----------
    {common}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> ANFISRegressor(2, random_state=0).fit([[0.0], [0.1], [1.0]], [0.0, 0.1, 1.0]).predict([[0.9]]).shape
    (1,)
    """
