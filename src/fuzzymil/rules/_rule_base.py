"""The rule base: one immutable, readable value that is the model.

It has variables with named terms (fuzzy sets), rules over them, and the operators that join them. An expert can
write one, clustering proposes one, and training improves one; the same value is used for inference, printed,
edited, saved and plotted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy.typing as npt

from fuzzymil._utils.arrays import Array
from fuzzymil.rules import compile as arrays
from fuzzymil.rules import editing, inference, json
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules._serialization import Serializable
from fuzzymil.rules.cards import rule_cards
from fuzzymil.rules.language import source
from fuzzymil.rules.rule import Variable


class RuleBase(RuleSet, Serializable):
    """Fuzzy if-then rules over bags of instances.

    Create one with `parse` from text, with `from_arrays`, by training, or with `load`.

    Parameters
    ----------
    variables : sequence of Variable
        The features, in the order of the data's columns.
    rules : sequence of Rule
    outputs : sequence of str
        Names of the outputs.
    t_norm : {"product", "min", "lukasiewicz", "hamacher", "einstein"}
        Joins the conditions of a rule by AND (Layer 2).
    aggregation : {"softmax", "softmax_relative", "softmax_log", "max", "min", "algebraic", "bounded", "lse", "power"}
        Joins the instances of a bag (Layer 3) in premises without quantifiers; see `Quantified`.
    alpha : float, or one per rule
        Sharpness of a soft ``aggregation``: 0 is the mean, +inf the maximum over instances.
    conclusion_aggregation : {"softmax", "mean", "max", "min"}
        Joins the linear responses of the instances (Layer 5, first order).
    conclusion_alpha : float, or one per output
        Sharpness of ``conclusion_aggregation="softmax"``.
    normalize : bool
        Whether strengths are divided by their sum (Layer 4), so that the output is a weighted mean of the conclusions.
        If not, the rules are *additive*: the output is the default plus the sum of strength times conclusion.
    default : sequence of float
        Of additive rules, what their conclusions are added to; of others, the output for bags on which every rule is
        exactly zero. Default: zeros.
    limited : bool
        Whether values are clipped to the range of their variable (``low`` to ``high``).
    s_norm : {"algebraic", "max", "bounded", "hamacher", "einstein"}, optional
        Joins conditions by OR. Default: the dual of ``t_norm``.
    comment : str
        What the author noted about the rules as a whole. Rules and variables have comments of their own, and rules
        labels; all of them survive training and editing, and are kept in text and JSON.

    Examples
    --------
    >>> rules = RuleBase.from_arrays(
    ...     centers=[[0.0, 0.0], [1.0, 1.0]], widths=[[0.3, 0.3], [0.3, 0.3]], coefs=[0.0, 1.0],
    ...     feature_names=["hue", "texture"], output_names=["sky"])
    >>> print(rules)
    Rule 1: IF hue is low AND texture is low THEN sky = 0
    Rule 2: IF hue is high AND texture is high THEN sky = 1
    >>> rules.infer([[[0.0, 0.1]], [[0.2, 0.0], [1.0, 0.9]]]).output.round(2).tolist()
    [[0.0], [0.55]]
    """

    _format = "fuzzymil.rules"

    # ------------------------------------------------------------------ constructors

    @classmethod
    def parse(cls, text: str | Iterable[str], variables: Iterable[Variable] | None = None, **operators: Any) -> Self:
        """Parse rules written by hand or by `to_source`.

        Parameters
        ----------
        text : str, or sequence of str
            Rules, and declarations of variables and operators unless these are passed as arguments.
        variables : sequence of Variable, optional
            The variables that the rules refer to.
        **operators
            ``t_norm``, ``s_norm``, ``aggregation``, ``alpha``, ``conclusion_aggregation``, ``conclusion_alpha``, ``normalize``,
            ``default``, ``limited``, unless the text states them (``USING t_norm = min``). Default: as in `RuleBase`,
            but ``aggregation="max"`` if no ``alpha`` is stated, because an expert's rule about an instance is meant to
            hold if some instance satisfies it. `to_source` states all operators.

        Raises
        ------
        RuleSyntaxError
            Shows the line, a caret under the character, and what was expected there.

        Examples
        --------
        >>> rules = RuleBase.parse('''
        ... VARIABLE hue FROM 0 TO 1: red = Gaussian(0.1, 0.1), blue = Gaussian(0.6, 0.1)
        ... VARIABLE texture: smooth = Gaussian(0, 0.3)
        ... IF hue is blue AND texture is smooth THEN sky = 1    # the sky is blue and smooth
        ... IF hue is not blue THEN sky = 0
        ... ''')
        >>> rules.infer([[[0.6, 0.1], [0.1, 0.9]]]).output.round(2).tolist()
        [[0.49]]
        """
        return source.parse(cls, text, variables, **operators)

    @classmethod
    def from_arrays(
        cls,
        centers: npt.ArrayLike,
        widths: npt.ArrayLike,
        coefs: npt.ArrayLike,
        *,
        feature_names: Iterable[str] | None = None,
        output_names: Iterable[str] | None = None,
        ranges: npt.ArrayLike | None = None,
        **operators: Any,
    ) -> Self:
        """Create conjunctions of Gaussian sets from arrays, in the user's units.

        Parameters
        ----------
        centers, widths : arrays of shape (n_rules, n_features)
        coefs : array of shape (n_rules,), (n_rules, n_outputs, 1) or (n_rules, n_outputs, 1 + n_features)
            Constant first.
        feature_names, output_names : sequences of str, optional
        ranges : array of shape (n_features, 2), optional
            Range of the data, to which *low*, *medium* and *high* refer. Default: the range of the centers.
        **operators
            ``t_norm``, ``aggregation``, ``alpha``, ``conclusion_aggregation``, ``conclusion_alpha``, ``normalize``, ``default``.

        Examples
        --------
        >>> print(RuleBase.from_arrays(centers=[[0.0], [1.0]], widths=[[0.3], [0.3]], coefs=[0, 1]))
        Rule 1: IF x1 is low THEN y = 0
        Rule 2: IF x1 is high THEN y = 1
        """
        names: dict[str, Any] = {"feature_names": feature_names, "output_names": output_names, "ranges": ranges}
        return arrays.from_arrays(cls, centers, widths, coefs, **names, **operators)

    @classmethod
    def from_sets(
        cls, sets: Mapping[str, tuple[Array, ...]], masks: Mapping[str, Array], coefs: Array, **settings: Any
    ) -> Self:
        """Create a rule base from the network's arrays (see `network.Params`); the inverse of `compile`.

        Parameters
        ----------
        sets : mapping of family to arrays of shape (n_rules, n_features)
            One array per parameter of the family.
        masks : mapping of family to array of shape (n_rules, n_features)
            1 where a rule has a set of this family.
        coefs : array of shape (n_rules, n_outputs, 1 or 1 + n_features)
        **settings
            As in `from_arrays`.
        """
        return arrays.from_sets(cls, sets, masks, coefs, **settings)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a rule base from `to_dict`; damaged content raises `ModelFileError`.

        Examples
        --------
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
        >>> RuleBase.from_dict(rules.to_dict()) == rules
        True
        """
        return json.from_dict(cls, content)

    # ------------------------------------------------------------------ methods
    # The functions of this package that work on rules are the methods themselves, documented where they are defined.

    infer = inference.infer
    compile = arrays.compiled
    with_numbers = arrays.with_numbers
    edit = editing.edit
    over = editing.over
    simplify = editing.simplify
    diagnose = editing.diagnose
    diff = editing.diff
    to_text = source.to_text
    to_source = source.to_source
    describe_terms = source.describe_terms
    to_dict = json.to_dict

    @property
    def centers(self) -> Array:
        """Most typical value of each set, shape (n_rules, n_features); NaN for don't-care."""
        return arrays.centers(self)

    @property
    def widths(self) -> Array:
        """Spread of each set, shape (n_rules, n_features), a Gaussian's standard deviation; NaN for don't-care."""
        return arrays.widths(self)

    # ------------------------------------------------------------------ for how rules are shown

    def _parts(self) -> tuple[RuleSet, tuple[Variable, ...]]:
        return self, ()

    def _cards(self) -> str:
        return rule_cards(self)
