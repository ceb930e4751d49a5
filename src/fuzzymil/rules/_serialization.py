"""Methods that `RuleBase` and `MamdaniRules` share: JSON files, other programs' formats, and tables."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from fuzzymil._utils import html, storage
from fuzzymil._utils.discovery import package_above
from fuzzymil._utils.errors import ParameterError, RuleSyntaxError
from fuzzymil._version import __version__
from fuzzymil.rules import json
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.files import export, fcl, fis, fll, fml, tables
from fuzzymil.rules.files.system import System
from fuzzymil.rules.files.words import ENDINGS
from fuzzymil.rules.rule import Variable

_LINES = 40  # of rules, when they are shown without being printed


class Serializable(ABC):
    """Rules that can be saved, exported and printed as tables; see `fuzzymil.rules.formats` for files."""

    _format: ClassVar[str]
    _sugeno: ClassVar[bool]

    # ------------------------------------------------------------------ supplied by subclasses

    @abstractmethod
    def to_text(self, max_conditions: int | None = None, digits: int | None = 4) -> str:
        """Return the rules as if-then text."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values that JSON stores exactly."""

    @classmethod
    @abstractmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild rules from `to_dict`."""

    @abstractmethod
    def _parts(self) -> tuple[RuleSet, tuple[Variable, ...]]:
        """Return the rules (of Mamdani rules the premises), and the outputs of Mamdani rules."""

    @abstractmethod
    def _cards(self) -> str:
        """Return the rules as cards, in HTML."""

    @abstractmethod
    def _system(self) -> System:
        """Return the rules in the form that other programs' formats share."""

    @classmethod
    @abstractmethod
    def _from_fields(cls, system: System) -> Self:
        """Build rules from a system of this kind."""

    @abstractmethod
    def _conclusion_columns(self, max_conditions: int | None, digits: int | None) -> tables.Conclusions:
        """Return the last columns of tables."""

    # ------------------------------------------------------------------ text and JSON

    def __str__(self) -> str:
        return self.to_text(max_conditions=None if self._parts()[0].n_features <= 12 else 8)

    def __repr__(self) -> str:
        base = self._parts()[0]
        counts = [(base.n_rules, "rule"), (base.n_features, "feature")]
        facts = ", ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts)
        lines = str(self).splitlines()
        more = [f"... ({len(lines) - _LINES} more lines)"] if len(lines) > _LINES else []
        return "\n".join([f"{type(self).__name__}({facts})", *lines[:_LINES], *more])

    def _repr_html_(self) -> str:
        return html.fragment(self._cards())

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
        storage.write_document(path, self._format, json.VERSIONS[self._format], content)

    @classmethod
    def load(cls, path: storage.Path_) -> Self:
        """Read rules written by `save`; nothing in the file is executed."""
        _check_ending(path, "load reads JSON", "read_rules(path)")
        return cls.from_dict(storage.read_document(path, {cls._format: json.VERSIONS[cls._format]}))

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

    # ------------------------------------------------------------------ other programs

    def to_fll(self) -> str:
        """Return the rules as FLL, the language of fuzzylite; comments at the top list what is lost.

        Raises
        ------
        ParameterError
            For rules that FLL cannot express: NOT before parentheses under norms that are not dual, and membership
            families and norms that FLL does not have.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
        >>> print(rules.to_fll())
        # The format has no bags: other programs infer one instance at a time.
        Engine: rules
        InputVariable: x1
          enabled: true
          range: 0 1
          lock-range: false
          term: low Gaussian 0 0.3
          term: high Gaussian 1 0.3
        ...
          rule: if x1 is low then y is rule1
          rule: if x1 is high then y is rule2
        >>> RuleBase.from_fll(rules.to_fll()) == rules
        True
        """
        return self._exported("fll")

    @classmethod
    def from_fll(cls, text: str) -> Self:
        """Parse FLL; anything unsupported raises an error that points at its line.

        The instances of a bag are joined by their maximum (``aggregation="max"``). A missing default becomes 0, or
        the middle of the range for Mamdani rules; ``lock-range`` of inputs becomes ``limited``.

        Raises
        ------
        RuleSyntaxError

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_fll('''
        ... InputVariable: ambient
        ...   term: dark Triangle 0 0 0.5
        ... OutputVariable: power
        ...   defuzzifier: WeightedAverage TakagiSugeno
        ...   term: high Constant 1
        ...   term: low Constant 0.2
        ... RuleBlock: rules
        ...   rule: if ambient is dark then power is high
        ...   rule: if ambient is not dark then power is low
        ... ''')
        >>> rules.infer([[0.25]]).output.tolist()
        [[0.6]]
        """
        return cls._from_system(fll.read(text))

    def to_fis(self) -> str:
        """Return the rules as the text of a MATLAB ``.fis`` file; comments at the top list what is lost.

        Raises
        ------
        ParameterError
            For rules that the format cannot express: AND mixed with OR, two conditions on one variable, hedges other
            than *not*, ``limited``, and membership families and norms that the format does not have.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
        >>> print(rules.to_fis())
        % The format has no bags: other programs infer one instance at a time.
        [System]
        ...
        [Input1]
        Name='x1'
        Range=[0 1]
        NumMFs=2
        MF1='low':'gaussmf',[0.3 0]
        MF2='high':'gaussmf',[0.3 1]
        ...
        [Rules]
        1, 1 (1) : 1
        2, 2 (1) : 1
        >>> RuleBase.from_fis(rules.to_fis()) == rules
        True
        """
        return self._exported("fis")

    @classmethod
    def from_fis(cls, text: str) -> Self:
        """Parse the text of a MATLAB ``.fis`` file; anything unsupported raises an error that points at its line.

        The instances of a bag are joined by their maximum (``aggregation="max"``), and the default of an output is
        the middle of its range.

        Raises
        ------
        RuleSyntaxError
        """
        return cls._from_system(fis.read(text))

    def to_fcl(self) -> str:
        """Return the rules as FCL, the Fuzzy Control Language of IEC 61131-7; comments at the top list what is lost.

        Raises
        ------
        ParameterError
            For rules that the format cannot express: ``limited``, hedges in conclusions, and membership families and
            norms that the format does not have.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
        >>> print(rules.to_fcl())
        // The format has no bags: other programs infer one instance at a time.
        FUNCTION_BLOCK rules
        ...
        FUZZIFY x1
          RANGE := (0 .. 1);
          TERM low := GAUSS 0 0.3;
          TERM high := GAUSS 1 0.3;
        END_FUZZIFY
        ...
          RULE 2 : if x1 is high THEN y is rule2;
        END_RULEBLOCK
        ...
        >>> RuleBase.from_fcl(rules.to_fcl()) == rules
        True
        """
        return self._exported("fcl")

    @classmethod
    def from_fcl(cls, text: str, block: str | None = None) -> Self:
        """Parse FCL as the standard, jFuzzyLogic and fuzzylite write it; errors point at their line.

        ``block`` is the name of the function block to read if there are several.

        The instances of a bag are joined by their maximum (``aggregation="max"``). An output without a range spans its
        terms.

        Raises
        ------
        RuleSyntaxError
        """
        return cls._from_system(fcl.read(text, block))

    def to_fml(self) -> str:
        """Return the rules as FML, the XML language of IEEE 1855; comments at the top list what is lost.

        Raises
        ------
        ParameterError
            For rules that the format cannot express: AND mixed with OR, several hedges, ``limited``, sums, and
            membership families and norms that the format does not have.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], t_norm="min", aggregation="max")
        >>> '<gaussianShape param1="1" param2="0.3" />' in rules.to_fml()
        True
        >>> RuleBase.from_fml(rules.to_fml()) == rules
        True
        """
        return self._exported("fml")

    @classmethod
    def from_fml(cls, text: str) -> Self:
        """Parse FML: Mamdani, TSK or Tsukamoto systems; errors name the variable, term or rule.

        The instances of a bag are joined by their maximum (``aggregation="max"``).

        Raises
        ------
        RuleSyntaxError
        """
        return cls._from_system(fml.read(text))

    def to_python(self) -> str:
        """Return the rules as a Python module with functions ``infer`` and ``infer_bag`` that need nothing else.

        Raises
        ------
        ParameterError
            For what code cannot express: ``hold``, ``activation``, registered quantifiers, and the aggregations
            "softmax_relative", "softmax_log", "lse" and "power".

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
        >>> module = {}
        >>> exec(rules.to_python(), module)
        >>> module["infer"]([0.5]), module["infer_bag"]([[0.5], [1.0]])
        ([0.5], [0.8004...])
        """
        return self._exported("python")

    def to_c(self) -> str:
        """Return the rules as a C99 file with functions ``infer`` and ``infer_bag`` that need only ``math.h``.

        See `to_python` for what cannot be expressed.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
        >>> "void infer(const double *x, double *out) {" in rules.to_c()
        True
        """
        return self._exported("c")

    def _exported(self, format: str) -> str:
        return export.write(format, self._system(), *self._parts())

    def _losses(self, format: str) -> list[str]:
        return export.losses(format, self._system(), *self._parts())

    @classmethod
    def _from_system(cls, system: System) -> Self:
        if system.sugeno != cls._sugeno:
            kind, reader = ("Sugeno", "RuleBase") if system.sugeno else ("Mamdani", "MamdaniRules")
            raise RuleSyntaxError(f"This is a {kind} system: read it with {reader}.")
        try:
            return cls._from_fields(system)
        except RuleSyntaxError:
            raise
        except ParameterError as problem:
            raise RuleSyntaxError(str(problem)) from None

    # ------------------------------------------------------------------ tables

    def to_markdown(self, max_conditions: int | None = None, digits: int | None = 4) -> str:
        """Return the rules as a Markdown table: one row per rule, one column per feature, conclusions last.

        Premises with OR, or with NOT before parentheses, are written in one column instead; a second table then
        defines the terms.

        Parameters
        ----------
        max_conditions : int, optional
            Show only this many conditions per rule, the most selective ones (narrow relative to the variable's range).
        digits : int or None
            Significant digits of numbers; None writes them exactly.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
        >>> print(rules.to_markdown())
        | rule | hue | y |
        | --- | --- | --- |
        | 1 | low: Gaussian(0, 0.3) | 0 |
        | 2 | high: Gaussian(1, 0.3) | 1 |
        """
        return tables.to_markdown(
            self._parts()[0], self._conclusion_columns(max_conditions, digits), max_conditions, digits
        )

    def to_latex(self, max_conditions: int | None = None, digits: int | None = 4) -> str:
        r"""Return the rules as a LaTeX table that needs no packages; see `to_markdown`.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1e-9], feature_names=["hue_1"])
        >>> print(rules.to_latex())
        \begin{tabular}{rll}
        \hline
        rule & hue\_1 & y \\
        \hline
        $1$ & low: Gaussian($0$, $0.3$) & $0$ \\
        $2$ & high: Gaussian($1$, $0.3$) & $1\cdot10^{-9}$ \\
        \hline
        \end{tabular}
        """
        return tables.to_latex(
            self._parts()[0], self._conclusion_columns(max_conditions, digits), max_conditions, digits
        )


def _check_ending(path: storage.Path_, does: str, instead: str) -> None:
    """Raise `ParameterError` if the name of a file says that it holds another format."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ENDINGS.get(ending, "json") != "json":
        raise ParameterError(f"{does}, and {ending} means another format: use fuzzymil.rules.formats.{instead}.")
