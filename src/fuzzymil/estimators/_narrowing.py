"""Fits to some of very many sparse features: narrowing down the bags, and widening what was learned from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.estimators._initialization import Coding
from fuzzymil.explain.coverage import Coverage, used_features
from fuzzymil.learn.choose import informative_features
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase


class Narrowed(NamedTuple):
    """The bags to learn from, and the features that they are about, among those of all bags."""

    whole: Bags
    bags: Bags
    places: Array | None = None  # None: all features

    @classmethod
    def of(cls, bags: Bags, coding: Coding) -> Narrowed:
        """Return the bags as they are, unless they are sparse and large: then with features that may matter, dense."""
        if not bags.is_large_sparse:
            return cls(bags, bags)
        places = informative_features(bags, coding.targets, coding.weights)
        return cls(bags, bags.select_features(places), places)

    def rules(self, found: RuleBase) -> RuleBase:
        """Return rules over all features."""
        return found if self.places is None else found.over(self.whole.names)

    def coverage(self, members: Sequence[RuleBase]) -> Coverage:
        """Return what is remembered of the bags that rules were learned from."""
        found = Coverage.of(self.bags, used_features(members))
        if self.places is None:
            return found
        return dataclasses.replace(found, columns=tuple(self.places[list(found.columns)].tolist()))

    def scaling(self, found: Scaling) -> Scaling:
        """Return the scaling of all features."""
        return found if self.places is None else found.over(self.places, self.whole.n_features)
