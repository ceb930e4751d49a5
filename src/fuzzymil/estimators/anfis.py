"""ANFIS: the traditional neuro-fuzzy network for plain rows, that is, MI-ANFIS on bags of one instance."""

from __future__ import annotations

import dataclasses
from typing import Any

from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags import Bags
from fuzzymil.estimators.mianfis import MIANFISClassifier, Network, NetworkClassifier, NetworkRegressor
from fuzzymil.estimators.parameters import documented_like
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
@documented_like(MIANFISClassifier)
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ANFISClassifier(_SingleInstance, NetworkClassifier):
    """Fuzzy if-then rules that classify plain rows (traditional ANFIS).

    The network has one output for two classes, and one output per class for more.

    The parameters and attributes are those of `MIANFISClassifier` except ``alpha``.

    Examples
    --------
    >>> ANFISClassifier(2, random_state=0).fit([[0.0], [0.1], [1.0], [1.1]], list("aabb")).predict([[0.9]])
    array(['b'], dtype='<U1')
    """


@loadable
@documented_like(MIANFISClassifier)
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ANFISRegressor(_SingleInstance, NetworkRegressor):
    """Fuzzy if-then rules that predict a number for each plain row (traditional ANFIS).

    Targets are standardized internally; the rules conclude in the units of the targets.

    The parameters and attributes are those of `MIANFISRegressor` except ``alpha``.

    Examples
    --------
    >>> ANFISRegressor(2, random_state=0).fit([[0.0], [0.1], [1.0]], [0.0, 0.1, 1.0]).predict([[0.9]]).shape
    (1,)
    """
