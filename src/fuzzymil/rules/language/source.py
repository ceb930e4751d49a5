"""Rule bases as text and back: builds rules from what the parser found, and prints rules with their declarations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError, did_you_mean, listed
from fuzzymil.inference.membership import Ramp
from fuzzymil.rules.conclusion import PER_OUTPUT, SETTINGS, Defuzzification
from fuzzymil.rules.language import parser, printer, suggestions
from fuzzymil.rules.language.parser import Linear, Parsed, ParsedRule
from fuzzymil.rules.language.ranges import condition_text
from fuzzymil.rules.points import in_points, score_table
from fuzzymil.rules.premise import Expression, Is, plain_conditions
from fuzzymil.rules.rule import Rule, Variable

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

_OF_NUMBERS = (
    *("t_norm", "aggregation", "alpha", "conclusion_aggregation", "conclusion_alpha"),
    *("normalize", "default", "limited", "s_norm", "unit", "name"),
)
_OF_SETS = ("t_norm", "s_norm", "aggregation", "alpha", "limited", *PER_OUTPUT, "default", "activation", "name")

_MAX_COEFS = 10_000_000

# ---------------------------------------------------------------------- text to rules


def parse(
    make: Callable[..., RuleBase],
    text: str | Iterable[str],
    variables: Iterable[Variable] | None = None,
    outputs: Iterable[Variable] | None = None,
    **operators: Any,
) -> RuleBase:
    """Parse a rule base; see `RuleBase.parse`. The first conclusion tells whether rules conclude numbers or sets."""
    parsed = parser.read(text, variables or (), outputs or ())
    said = [said for rule in parsed.rules for said in rule.conclusions.values()]
    with_sets = isinstance(said[0], Is) or (said[0] is None and bool(parsed.outputs)) if said else bool(parsed.outputs)
    output = Variable("y", {"any": Ramp(0, 2)}, 0, 2) if with_sets else "y"
    rule = Rule({}, {"y": "any"} if with_sets else [[0.0]])
    smallest = functools.partial(_made, make, (Variable("x"),), (rule,), (output,), with_sets=with_sets)
    _check_settings(parsed, _OF_SETS if with_sets else _OF_NUMBERS, operators, smallest)
    if not parsed.variables and not parsed.mistakes:
        raise RuleSyntaxError("The text declares no variable. Add one: 'VARIABLE depth: low = Gaussian(0, 1)'.")
    if not parsed.rules:
        parsed.mistakes.check()
        example = "output is term" if with_sets else "y = 1"
        raise RuleSyntaxError(f"The text has no rule. Add one: 'IF variable is term THEN {example}'.")
    concluded: Iterable[Variable | str] = parsed.outputs.values()
    if with_sets:
        rules = _rules_with_sets(parsed, operators)
    else:
        concluded = names = _outputs(parsed)
        rules = _rules_with_numbers(parsed, names, operators)
        if not {"aggregation", "alpha"} & {*parsed.settings, *operators}:
            # Who writes 'IF patch is blue' means some patch; who states an alpha means a softmax.
            operators["aggregation"] = "max"
    content = parsed.variables.values(), rules, concluded
    base = _build(
        functools.partial(_made, make, *content, with_sets=with_sets, comment=parsed.comment), parsed, operators
    )
    if "unit" in parsed.settings and base.unit is None:
        advice = "write 'y += 3 points' in all rules, or omit it."
        parsed.mistakes.add(parsed.places["unit"], f"A unit is for rules that add whole points to one output: {advice}")
        parsed.mistakes.check()
    return base


def _made(
    make: Callable[..., RuleBase],
    variables: Iterable[Variable],
    rules: Iterable[Rule],
    outputs: Iterable[Variable | str],
    *,
    with_sets: bool,
    comment: str = "",
    **settings: Any,
) -> RuleBase:
    """Make rules; of rules that conclude sets, some settings are those of the `Defuzzification`."""
    if with_sets:
        own = Defuzzification(**{name: settings.pop(name) for name in SETTINGS if name in settings})
        settings = {"t_norm": "min", "aggregation": "max", "defuzzification": own} | settings
    return make(tuple(variables), tuple(rules), tuple(outputs), comment=comment, **settings)


def _rules_with_sets(parsed: Parsed, operators: Mapping[str, Any]) -> list[Rule]:
    for rule in parsed.rules:
        for name, said in rule.conclusions.items():
            if isinstance(said, Linear):
                problem = (
                    f"{name!r:.60} is set to a number, but other conclusions of these rules are terms of outputs: "
                )
                example = f"write a term, for example '{printer.quoted(name)} is likely', or numbers in all rules."
                parsed.mistakes.add(rule.place, problem + example)
    _settle_default(parsed, tuple(parsed.outputs), operators)
    parsed.mistakes.check()
    rules = []
    for rule in parsed.rules:
        terms = {name: said for name, said in rule.conclusions.items() if isinstance(said, Is)}
        rules.append(Rule(rule.premise, terms, rule.weight, rule.label, rule.comment))
    return rules


def _rules_with_numbers(parsed: Parsed, outputs: Sequence[str], operators: Mapping[str, Any]) -> list[Rule]:
    _settle_sum(parsed, operators)
    _settle_default(parsed, outputs, operators)
    said = _conclusions(parsed, outputs)
    parsed.mistakes.check()
    said = _in_logits(parsed, said, operators.get("unit", parsed.settings.get("unit")))
    first_order = any(any(linear.slopes.values()) for row in said for linear in row)
    order = tuple(parsed.variables) if first_order else ()
    if len(said) * len(outputs) * len(order) > _MAX_COEFS:
        which = f"{len(said):,} rules with {len(outputs):,} linear output(s) of {len(order):,} variables"
        raise RuleSyntaxError(f"{which} have more than {_MAX_COEFS:,} coefficients: use fewer rules or variables.")
    rules = []
    for rule, row in zip(parsed.rules, said, strict=True):
        coefs = [(linear.constant, *(linear.slopes.get(name, 0.0) for name in order)) for linear in row]
        rules.append(Rule(rule.premise, coefs, rule.weight, rule.label, rule.comment))
    return rules


def _in_logits(parsed: Parsed, said: list[list[Linear]], unit: Any) -> list[list[Linear]]:
    """Return conclusions with points turned into what they are worth."""
    in_points = [rule for rule, row in zip(parsed.rules, said, strict=True) if any(each.points for each in row)]
    if in_points and unit is None:
        place = in_points[0].place
        parsed.mistakes.add(place, "What is a point worth? Say it once, for example 'USING unit = 0.5'.")
        parsed.mistakes.check()
    return [[Linear(unit * each.constant, {}) if each.points else each for each in row] for row in said]


def _check_settings(
    parsed: Parsed, known: Iterable[str], operators: Mapping[str, Any], probe: Callable[..., object]
) -> None:
    """Report settings of the text that are unknown, have an unknown value, or are also given as an argument.

    ``probe`` takes settings with names or truth values, and raises `ParameterError` if one of them is unknown. What
    is wrong with numbers may depend on the rules; `build` reports that.
    """
    known = list(known)
    words: dict[str, Any] = {}
    for name, place in parsed.places.items():
        if name not in known:
            choices = f"choose from {listed(known)}.{did_you_mean(name, known)}"
            parsed.mistakes.add(place, f"Unknown setting {name!r:.60}; {choices}")
        elif name in operators:
            parsed.mistakes.add(place, f"{name} is set both in the text and as an argument: remove one of them.")
        elif isinstance(parsed.settings[name], str | bool):
            words[name] = parsed.settings[name]
    given = {name: value for name, value in operators.items() if isinstance(value, str | bool)}
    if not _problem(probe, words | given):
        return
    for name, value in words.items():
        problem = _problem(probe, {name: value})
        if problem:
            parsed.mistakes.add(parsed.places[name], problem)


def _problem(make: Callable[..., object], settings: Mapping[str, Any]) -> str:
    """Return what is wrong with settings, in the words of the text; empty if nothing is."""
    try:
        make(**settings)
    except ParameterError as problem:
        return str(problem).replace("True or False", "yes or no")
    return ""


def _settle_default(parsed: Parsed, outputs: Sequence[str], operators: Iterable[str]) -> None:
    """Turn the lines ``Default: y = 0.5`` into the setting ``default``."""
    if not parsed.defaults:
        return
    for name, (_, place) in parsed.defaults.items():
        if "default" in parsed.settings or "default" in operators:
            twice = "default is set twice: by this line, and by USING or as an argument. Remove one of them."
            parsed.mistakes.add(place, twice)
            return
        if name not in outputs and parsed.is_complete:
            hint = f"the outputs are {listed(map(printer.quoted, outputs))}.{did_you_mean(name, outputs)}"
            parsed.mistakes.add(place, f"No rule concludes {name!r:.60}; {hint}")
            return
    missing = next((name for name in outputs if name not in parsed.defaults), None)
    first = next(iter(parsed.defaults.values()))[1]
    if missing is not None:
        hint = did_you_mean(missing, parsed.defaults)
        parsed.mistakes.add(first, f"The output {missing!r:.60} needs a default as well.{hint}")
    else:
        parsed.settings["default"] = tuple(parsed.defaults[name][0] for name in outputs)
        parsed.places["default"] = first


def _settle_sum(parsed: Parsed, operators: Mapping[str, Any]) -> None:
    """Set ``normalize`` to False if conclusions are added up (``+=``)."""
    adds = next((rule.adds for rule in parsed.rules if rule.adds is not None), None)
    sets = next((rule.sets for rule in parsed.rules if rule.sets is not None), None)
    if adds is None:
        return
    if sets is not None:
        others = "Other conclusions of these rules are added up ('+=', '-='), this one is not"
        parsed.mistakes.add(sets, f"{others}: use one way for all of them.")
    elif operators.get("normalize", parsed.settings.get("normalize", False)):
        parsed.mistakes.add(
            adds, "'+=' adds up what rules conclude, but normalize=True averages it: use '=', or normalize=False."
        )
    elif "normalize" not in operators:
        parsed.settings["normalize"] = False
        parsed.places.setdefault("normalize", adds)


def _build(make: Callable[..., RuleBase], parsed: Parsed, operators: Mapping[str, Any]) -> RuleBase:
    """Call ``make`` with the settings; errors that single settings cause point at them."""
    try:
        return make(**parsed.settings, **operators)
    except ParameterError:
        for name, value in parsed.settings.items():
            problem = _problem(make, {name: value})
            if problem:
                parsed.mistakes.add(parsed.places[name], problem)
        parsed.mistakes.check()
        raise


def _outputs(parsed: Parsed) -> tuple[str, ...]:
    """Return the outputs: those of the first rule or, if rules are added up, those of the line with the defaults."""
    if not parsed.named_by_defaults:
        return tuple(parsed.rules[0].conclusions)
    concluded = dict.fromkeys(name for rule in parsed.rules for name in rule.conclusions)
    return tuple(parsed.defaults if concluded.keys() <= parsed.defaults.keys() else concluded)


def _conclusions(parsed: Parsed, outputs: Sequence[str]) -> list[list[Linear]]:
    """Return each rule's conclusion on each output.

    Every rule concludes all of them. Only rules that are added up may leave out those to which they add nothing, if
    the line with the defaults names them all: otherwise, a misspelled name would be a further output.
    """
    nothing = Linear(0.0, {}) if parsed.named_by_defaults else None
    found = []
    for rule in parsed.rules:
        for name in rule.conclusions:
            if name not in outputs and parsed.is_complete:
                hint = f"the same outputs ({listed(map(printer.quoted, outputs))}).{did_you_mean(name, outputs)}"
                problem = f"The rule concludes {name!r:.60}, but the first rule does not. All must conclude {hint}"
                parsed.mistakes.add(rule.place, problem)
                break
        else:
            missing = [name for name in outputs if name not in rule.conclusions] if nothing is None else []
            if missing and parsed.is_complete:
                hint = " To add nothing to some, name all of them in a line 'Default: ...'." if rule.adds else ""
                names = listed(f"{name!r:.60}" for name in missing)
                problem = f"The rule has no conclusion for {names}; every rule needs one per output.{hint}"
                parsed.mistakes.add(rule.sets or rule.adds or rule.place, problem)
            found.append([_conclusion(parsed, rule, name, nothing) for name in outputs])
    return found


def _conclusion(parsed: Parsed, rule: ParsedRule, name: str, nothing: Linear | None) -> Linear:
    said = rule.conclusions.get(name, nothing)
    if isinstance(said, Linear):
        return said
    if isinstance(said, Is):
        other = f"{name!r:.60} is set to a term ({said.term!r:.60}), but other conclusions of these rules are numbers"
        parsed.mistakes.add(rule.place, f"{other}: write a number, for example 'y = 1', or terms in all rules.")
    return Linear(0.0, {})


# ---------------------------------------------------------------------- rules to text


def to_text(base: RuleBase, max_conditions: int | None = None, digits: int | None = 4, *, ranges: bool = False) -> str:
    """Return the rules as if-then text.

    Parameters
    ----------
    max_conditions : int, optional
        Show only this many conditions per rule, the most selective ones (narrow relative to the variable's range).
    digits : int or None
        Significant digits of numbers; None writes them exactly.
    ranges : bool
        Whether conditions show the values that satisfy them, ``temperature above 76``, instead of the name of a term.
        Such text is for reading: `parse` does not take it.

    Notes
    -----
    Rules that are added up (``normalize=False``) begin with their default, ``Default: y = -2.9``, and conclude what
    they add to it, ``y += 2.2``. Of several outputs, only those are named to which a rule adds something. Rules with a
    ``unit`` conclude points, ``y += 3 points``, and end with their `RuleBase.score_table`.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> print(RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 2 / 3]).to_text(digits=2, ranges=True))
    Rule 1: IF x1 below 0.353 THEN y = 0
    Rule 2: IF x1 above 0.647 THEN y = 0.67
    """
    table = [] if base.unit is None else [str(score_table(base))]
    return "\n".join([*_lines(base, max_conditions, digits, ranges=ranges), *table])


def _lines(base: RuleBase, max_conditions: int | None, digits: int | None, *, ranges: bool = False) -> list[str]:
    """Return the text of the rules, those that are added up after the line with their default."""
    texts = enumerate(statements(base, max_conditions, digits, ranges=ranges))
    rules = [f"{title(base.rules[r], r)}: {text}" for r, text in texts]
    return rules if base.normalize else [default_text(base, digits), *rules]


def statements(
    base: RuleBase, max_conditions: int | None = None, digits: int | None = 4, *, ranges: bool = False
) -> list[str]:
    """Return the text of each rule without its number or label; see `to_text`."""
    return [
        f"IF {premise_text(base, rule, max_conditions, ranges=ranges)} "
        f"THEN {concluded_text(base, r, digits, max_conditions)}" + printer.with_weight(rule.weight, digits)
        for r, rule in enumerate(base.rules)
    ]


def concluded_text(base: RuleBase, rule: int, digits: int | None = 4, max_conditions: int | None = None) -> str:
    """Return the conclusion of a rule, counted from 0, as text: ``sky = 0.9``, or ``risk is very great``."""
    said = base.rules[rule]
    if said.terms:
        return ", ".join(map(printer.premise_text, said.terms.values()))
    if base.points is not None:
        sign, worth = "-+"[base.points[rule] >= 0], in_points(abs(base.points[rule])).lstrip("+")
        return f"{printer.quoted(base.output_names[0])} {sign}= {worth}"
    names = base.output_names, said.coefs, base.feature_names
    return printer.conclusions(*names, digits, max_conditions, adds=not base.normalize)


def title(rule: Rule, place: int) -> str:
    """Return what a rule is printed as: its label, or its number."""
    return printer.quoted(rule.label) if rule.label else f"Rule {place + 1}"


def commented(comment: str, line: str) -> str:
    """Return a line of source below its comment."""
    return "".join(f"# {said}\n" if said else "#\n" for said in comment.splitlines()) + line


def default_text(base: RuleBase, digits: int | None) -> str:
    """Return ``Default: y = -2.9``, to which additive rules add."""
    values = zip(base.output_names, base.default, strict=True)
    said = (f"{printer.quoted(output)} = {printer.format_number(value, digits)}" for output, value in values)
    return f"Default: {', '.join(said)}"


def premise_text(base: RuleBase, rule: Rule, max_conditions: int | None, *, ranges: bool = False) -> str:
    """Return the premise of a rule as text; of a plain conjunction, at most ``max_conditions`` conditions."""
    variables = {variable.name: variable for variable in base.variables} if ranges else {}
    say = (lambda said: condition_text(variables[said.variable], said)) if ranges else None
    if max_conditions is None:
        return printer.premise_text(rule.premise, say=say)

    def shortened(premise: Expression) -> str | None:
        plain = plain_conditions(premise)
        return None if plain is None else printer.conditions(plain, base.selectivity(plain), max_conditions, say)

    return shortened(rule.premise) or printer.premise_text(rule.premise, shortened, say)


def describe_terms(base: RuleBase, digits: int = 4) -> str:
    """Return the definition of every term, one line per variable; outputs of which rules conclude sets come last.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> print(RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1]).describe_terms())
    x1: low = Gaussian(0, 0.3), high = Gaussian(1, 0.3)
    """
    return printer.described(base.all_variables, digits)


def to_source(base: RuleBase) -> str:
    """Return the whole rule base as text that `parse` reads back exactly: terms, operators and rules.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> RuleBase.parse(rules.to_source()) == rules
    True
    """
    declared = [declaration("VARIABLE", variable) for variable in base.variables]
    if base.concludes_sets:
        declared += [declaration("OUTPUT", output) for output in base.outputs]
    said = set() if base.normalize else {"normalize", "default"}  # by the rules themselves
    known = _OF_SETS if base.concludes_sets else _OF_NUMBERS
    owners = {name: base.defuzzification if name in SETTINGS else base for name in known if name not in said}
    values = {name: getattr(owner, name) for name, owner in owners.items()}
    settings = using({name: value for name, value in values.items() if value not in (None, "")})
    return written(base.comment, [*declared, settings], base.rules, _lines(base, None, None))


def written(comment: str, head: Sequence[str], rules: Sequence[Rule], lines: Sequence[str]) -> str:
    """Return source from its first statements and the text of the rules, each below its comment."""
    first = len(lines) - len(rules)
    own = [commented(rule.comment, line) for rule, line in zip(rules, lines[first:], strict=True)]
    return commented(comment, "\n" if comment else "") + "\n".join([*head, *lines[:first], *own]) + "\n"


def declaration(kind: str, variable: Variable) -> str:
    """Return ``VARIABLE depth [m] FROM 0 TO 1: low = Gaussian(0, 1), ...``."""
    text = f"{kind} {printer.quoted(variable.name)}"
    if variable.unit:
        unit = printer.escaped(variable.unit, "]")
        text += f" [\\{unit}]" if suggestions.is_range(f"[{unit}]", 0) else f" [{unit}]"
    for word, end in (("FROM", variable.low), ("TO", variable.high)):
        text += "" if end is None else f" {word} {printer.format_number(end, None)}"
    if variable.missing_values:
        names = dict(enumerate(map(printer.quoted_term, variable.categories)))
        said = [names.get(int(v)) or printer.format_number(v, None) for v in variable.missing_values]
        text += f" MISSING AS {', '.join(said)}"
    own = printer.own_terms(variable)
    terms = [f"{printer.quoted_term(term)} = {printer.format_set(chosen, None)}" for term, chosen in own]
    if variable.categories:
        terms = ["ONE OF " + ", ".join(map(printer.quoted_term, variable.categories)), *terms]
    return commented(variable.comment, text + (": " + ", ".join(terms) if terms else ""))


def using(settings: Mapping[str, object]) -> str:
    """Return ``USING t_norm = min, ...``."""
    words = {name: _setting(value) for name, value in settings.items()}
    if "name" in settings:  # may be any text
        words["name"] = f'"{printer.escaped(str(settings["name"]), chr(34))}"'
    return "USING " + ", ".join(f"{name} = {word}" for name, word in words.items())


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_setting, value)) + ")"
    if isinstance(value, str):
        return printer.quoted(value)
    return printer.format_number(value, None) if isinstance(value, float) else str(value)
