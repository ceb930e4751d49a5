"""What one inference with Mamdani rules computed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.inference.activations import Activations, Strengths
from fuzzymil.rules.mamdani._shares import Shares, joined_set, log_cuts, shares


@dataclasses.dataclass(frozen=True)
class MamdaniActivations(Strengths):
    """The values computed by one inference, as NumPy arrays; ``output`` is the prediction.

    Attributes
    ----------
    truth : array of shape (n_instances, n_rules)
        Degree to which each instance satisfies each rule's premise.
    firing : array of shape (n_bags, n_rules)
        Firing strength of each rule for each bag.
    output : array of shape (n_bags, n_outputs)
    uncovered : array of shape (n_bags, n_outputs)
        Where the joined set is empty, so that ``output`` is the default.
    log_truth, log_firing : arrays
        Logarithms of ``truth`` and ``firing``; ``-inf`` means exactly zero.
    rules : MamdaniRules
        The rules used.
    numbers : tuple of mappings
        For each output, the numbers (n_bags,) of those of its terms that are formulas.
    """

    output: Array
    uncovered: Array
    log_truth: Array
    log_degrees: Array
    log_firing: Array
    rules: Any = dataclasses.field(repr=False)
    numbers: tuple[Mapping[str, Array], ...] = dataclasses.field(default=(), repr=False)

    def degrees(self, output: int | str = 0) -> dict[str, Array]:
        """Return, for each term of an output, the highest strength with which a rule concludes it, shape (n_bags,)."""
        strengths = np.exp(self.rules.strengths(self.log_firing, output))
        return {
            term: strengths[:, rules].max(axis=1, initial=0.0)
            for term, rules in self.rules.rules_by_term(output).items()
        }

    def joined_sets(self, output: int | str = 0) -> tuple[Array, Array]:
        """Return the joined set of all conclusions for each bag, before defuzzification.

        Parameters
        ----------
        output : int or str
            Index or name of an output.

        Returns
        -------
        values : array of shape (resolution,)
            Of the output.
        membership : array of shape (n_bags, resolution)
        """
        k = self.rules.place_of(output)
        membership, log_unit = joined_set(self.rules, self.log_firing, k)
        return self.rules.values(k), np.exp(log_unit) * membership

    def cut_sets(self, output: int | str = 0) -> Array:
        """Return the set that each rule concludes, cut off or scaled by its strength.

        Parameters
        ----------
        output : int or str
            Index or name of an output.

        Returns
        -------
        array of shape (n_bags, n_rules, resolution)
            Memberships of the values of `joined_sets`; zero for rules that say nothing about the output.
        """
        return np.asarray(np.exp(log_cuts(self.rules, self.log_firing, self.rules.place_of(output))))

    def shares(self, output: int | str = 0) -> Array:
        """Return the share of each rule in the joined set, shape (n_bags, n_rules); see `conclusions`.

        The shares of a bag sum to one, unless nothing is concluded or ``defuzzify="sum"``.
        """
        return self.contributions(output).shares

    def conclusions(self, output: int | str = 0) -> Array:
        """Return the center of each rule's share of the joined set, shape (n_bags, n_rules).

        The output is the sum of shares times conclusions (of a bisector, nearly). A rule without a share has the center
        of its set; one that says nothing about the output has NaN.

        Examples
        --------
        >>> from fuzzymil.rules import MamdaniRules
        >>> rules = MamdaniRules.parse('''
        ... VARIABLE depth: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
        ... OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
        ... IF depth is shallow THEN risk is great
        ... IF depth is deep THEN risk is small
        ... ''')
        >>> found = rules.infer([[[0.9], [0.0]]])
        >>> found.shares().round(3).tolist(), found.conclusions().round(3).tolist()
        ([[0.503, 0.497]], [[0.833, 0.169]])
        >>> found.output.round(3).tolist(), (found.shares() * found.conclusions()).sum(axis=1).round(3).tolist()
        ([[0.503]], [0.503])
        """
        return self.contributions(output).conclusions

    def contributions(self, output: int | str = 0) -> Shares:
        """Return `shares` and `conclusions` of the rules together."""
        k = self.rules.place_of(output)
        return shares(self.rules, self.log_firing, k, self.numbers[k] if self.numbers else {})

    def numeric(self) -> Activations:
        """Return these activations in the form of rules that conclude numbers; see `MamdaniRules.to_sugeno`.

        Strengths are the shares of the rules in the joined sets (with several outputs, the greatest), and conclusions
        the centers of these shares.
        """
        found = [self.contributions(k) for k in range(len(self.rules.outputs))]
        said = np.stack([each.conclusions for each in found], axis=2)
        return Activations(
            normalized=np.max([each.shares for each in found], axis=0),
            rule_outputs=np.where(np.isnan(said), np.array(self.rules.default), said),
            output=self.output,
            log_truth=self.log_truth,
            log_degrees=self.log_degrees,
            log_firing=self.log_firing,
        )
