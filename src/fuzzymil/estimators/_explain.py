"""Estimators that can tell why: what they share, whether their rules were learned or written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from fuzzymil.bags import Bags
from fuzzymil.explain import Explanation, Reading, explain, explain_many
from fuzzymil.rules import RuleBase

__all__ = ["Explaining"]


class Explaining(ABC):
    """Base of estimators whose answer is the mean output of rule bases, ``members_``."""

    members_: list[RuleBase]

    @abstractmethod
    def _bags_to_read(self, X: Any) -> Bags:
        """Return ``X`` as bags that the members can infer, if the estimator is fitted and knows their features."""

    @abstractmethod
    def _reading(self) -> Reading:
        """Tell what the output means."""

    def explain(self, X: Any, bag: Any = None, *, output: str | None = None) -> Explanation:
        """Tell why a bag was decided as it was.

        Parameters
        ----------
        X : Bags, or anything `as_bags` takes
            One bag, ``[instances]`` say; or several, one of which ``bag`` names.
        bag : id or position, optional
            Which of several bags. A whole number is an id where the ids are numbers, else a position.
        output : str, optional
            The output to explain, one of ``rules_.outputs``. Default: that of the predicted class; of a regressor,
            the first.

        Returns
        -------
        Explanation
            The rules by contribution, each with its witness instance and that instance's memberships, and what the
            answer would be without the witness. Print it, take ``to_dict()``, or draw it with
            `fuzzymil.plots.ExplanationDisplay`.

        Examples
        --------
        >>> from fuzzymil import MIANFISClassifier
        >>> from fuzzymil.datasets import make_two_concepts
        >>> bags = make_two_concepts(random_state=3)
        >>> model = MIANFISClassifier(4, alpha=5, random_state=0).fit(bags)
        >>> found = model.explain(bags, bag="concept1-7")
        >>> found.prediction
        1
        >>> bool(bags.instance_labels[bags.bag_index == 6][found.rules[0].witness])  # the one in the concept's disc
        True
        >>> found.without(found.rules[0].witness).coverage < found.coverage
        True
        """
        bags = self._bags_to_read(X)
        return explain(self.members_, bags, bag, output=output, reading=self._reading())

    def explain_many(self, X: Any, *, output: str | None = None) -> list[Explanation]:
        """Explain every bag.

        Parameters
        ----------
        X : Bags, or anything `as_bags` takes
        output : str, optional
            See `explain`.

        Examples
        --------
        >>> from fuzzymil import ANFISRegressor
        >>> rows = [[0.0], [0.1], [1.0], [1.1]]
        >>> model = ANFISRegressor(2, random_state=0).fit(rows, [0.0, 0.1, 1.0, 1.1])
        >>> [explanation.bag for explanation in model.explain_many(rows)]
        [0, 1, 2, 3]
        """
        return explain_many(self.members_, self._bags_to_read(X), output=output, reading=self._reading())
