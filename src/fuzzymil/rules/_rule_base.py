"""The rule base: one immutable, readable value that is the model.

It has variables with named terms (fuzzy sets), rules over them, and the operators that join them. An expert can
write one, clustering proposes one, and training improves one; the same value is used for inference, printed,
edited, saved and plotted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy.typing as npt

from fuzzymil._utils import html, storage
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil._utils.registry import package_above
from fuzzymil._version import __version__
from fuzzymil.rules import activations, conversion, editing, json
from fuzzymil.rules import compile as arrays
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.cards import rules_html
from fuzzymil.rules.language import source
from fuzzymil.rules.rule import Variable

_LINES = 40  # of rules, when they are shown without being printed


class RuleBase(RuleSet):
    """Fuzzy if-then rules over bags of instances.

    Create one with `parse` from text, with `from_arrays`, by training, or with `load`.

    Parameters
    ----------
    variables : sequence of Variable
        The features, in the order of the data's columns.
    rules : sequence of Rule
    outputs : sequence of Variable, or of str
        The outputs, by name; those of which rules conclude sets with terms and a range from ``low`` to ``high``.
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
        exactly zero. A single number applies to all outputs. Default: zeros; of rules that conclude sets, the middle
        of each range.
    limited : bool
        Whether values are clipped to the range of their variable (``low`` to ``high``).
    s_norm : {"algebraic", "max", "bounded", "hamacher", "einstein"}, optional
        Joins conditions by OR. Default: the dual of ``t_norm``.
    defuzzification : Defuzzification, optional
        How the sets that rules conclude become numbers; None if they conclude numbers.
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

    Rules may conclude sets instead of numbers:

    >>> rules = RuleBase.parse('''
    ... VARIABLE depth [m]: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
    ... OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    ... IF depth is shallow THEN risk is great
    ... IF depth is deep THEN risk is small WITH 0.5
    ... ''')
    >>> rules.infer([[[0.9], [0.0]], [[0.8], [1.0]]]).output.round(3).tolist()
    [[0.575], [0.195]]
    >>> print(rules)
    Rule 1: IF depth is shallow THEN risk is great
    Rule 2: IF depth is deep THEN risk is small WITH 0.5
    """

    # ------------------------------------------------------------------ constructors

    @classmethod
    def parse(
        cls,
        text: str | Iterable[str],
        variables: Iterable[Variable] | None = None,
        outputs: Iterable[Variable] | None = None,
        **operators: Any,
    ) -> Self:
        """Parse rules written by hand or by `to_source`.

        Parameters
        ----------
        text : str, or sequence of str
            Rules, and declarations of variables, outputs and operators unless these are passed as arguments.
        variables : sequence of Variable, optional
            The variables that the rules refer to.
        outputs : sequence of Variable, optional
            Outputs with terms that the rules conclude: ``THEN risk is great``.
        **operators
            ``t_norm``, ``s_norm``, ``aggregation``, ``alpha``, ``conclusion_aggregation``, ``conclusion_alpha``,
            ``normalize``, ``default``, ``limited``, unless the text states them (``USING t_norm = min``). Default: as
            in `RuleBase`, but ``aggregation="max"`` if no ``alpha`` is stated, because an expert's rule about an
            instance is meant to hold if some instance satisfies it. `to_source` states all operators.

            Of rules that conclude sets, also the settings of `Defuzzification`; ``t_norm`` is then "min" by default.

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
        return source.parse(cls, text, variables, outputs, **operators)

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
            ``t_norm``, ``aggregation``, ``alpha``, ``conclusion_aggregation``, ``conclusion_alpha``,
            ``normalize``, ``default``.

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

    infer = activations.infer
    compile = arrays.compiled
    with_numbers = arrays.with_numbers
    edit = editing.edit
    over = editing.over
    to_sugeno = conversion.to_sugeno
    to_mamdani = conversion.to_mamdani
    simplify = editing.simplify
    diagnose = editing.diagnose
    diff = editing.diff
    to_text = source.to_text
    to_source = source.to_source
    statements = source.statements
    concluded_text = source.concluded_text
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

    # ------------------------------------------------------------------ text and JSON

    def __str__(self) -> str:
        return self.to_text(max_conditions=None if self.n_features <= 12 else 8)

    def __repr__(self) -> str:
        counts = [(self.n_rules, "rule"), (self.n_features, "feature")]
        facts = ", ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts)
        lines = str(self).splitlines()
        more = [f"... ({len(lines) - _LINES} more lines)"] if len(lines) > _LINES else []
        return "\n".join([f"{type(self).__name__}({facts})", *lines[:_LINES], *more])

    def _repr_html_(self) -> str:
        return html.fragment(rules_html(self))

    def save(self, path: storage.Path_) -> None:
        """Write the rules as JSON; if that fails, an existing file stays intact.

        Examples
        --------
        >>> import tempfile
        >>> from fuzzymil.rules import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rules.save(f"{folder}/rules.json")
        ...     RuleBase.load(f"{folder}/rules.json") == rules
        True
        """
        _check_ending(path, "save writes JSON", "write_rules(rules, path)")
        content = {"library": __version__, **self.to_dict()}
        storage.write_document(path, json.FORMAT, json.VERSIONS[json.FORMAT], content)

    @classmethod
    def load(cls, path: storage.Path_) -> Self:
        """Read rules written by `save`; nothing in the file is executed."""
        _check_ending(path, "load reads JSON", "read_rules(path)")
        return cls.from_dict(storage.read_document(path, json.VERSIONS))

    def studio(self, bags: Any = None) -> Any:
        """Open the rule studio in a notebook: see, drag, write and train these rules.

        Outside notebooks, use ``fuzzymil studio`` on the command line.

        Parameters
        ----------
        bags : Bags, or anything `as_bags` accepts, optional

        Returns
        -------
        StudioWidget
            Shows the studio where it is displayed; its ``rules`` are the rules as they are now. Requires anywidget:
            ``pip install "fuzzymil[notebook]"``.
        """
        return package_above("fuzzymil.studio.widget").show(self, bags)


def _check_ending(path: storage.Path_, does: str, instead: str) -> None:
    """Raise `ParameterError` if the name of a file says that it holds another format."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in ("", ".json"):
        raise ParameterError(f"{does}, and {ending} means another format: use fuzzymil.rules.files.{instead}.")
