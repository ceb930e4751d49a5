"""What pyfuzzylite and scikit-fuzzy make of the systems in ``fuzzy_systems.py``; ``fuzzy_peers.json`` keeps it.

pyfuzzylite asks for an older NumPy than fuzzymil, though it runs with a new one. To make the answers anew::

    python -m venv peers
    peers/bin/pip install numpy scipy networkx packaging
    peers/bin/pip install --no-deps pyfuzzylite scikit-fuzzy
    peers/bin/python tests/reference/fuzzy_peers.py

The tests compare with that file, and with the libraries themselves where they import.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from fuzzy_systems import MAMDANI, SUGENO, premise_text

ANSWERS = Path(__file__).with_name("fuzzy_peers.json")

# ---------------------------------------------------------------------- pyfuzzylite

FUZZYLITE_SETS = {
    "gaussian": "Gaussian",
    "bell": "Bell",
    "sigmoid": "Sigmoid",
    "triangular": "Triangle",
    "trapezoidal": "Trapezoid",
}
FUZZYLITE_T_NORMS = {
    "product": "AlgebraicProduct",
    "min": "Minimum",
    "lukasiewicz": "BoundedDifference",
    "hamacher": "HamacherProduct",
    "einstein": "EinsteinProduct",
}
FUZZYLITE_S_NORMS = {
    "algebraic": "AlgebraicSum",
    "max": "Maximum",
    "bounded": "BoundedSum",
    "hamacher": "HamacherSum",
    "einstein": "EinsteinSum",
    "sum": "UnboundedSum",
}
FUZZYLITE_DEFUZZIFIERS = {
    "centroid": "Centroid",
    "bisector": "Bisector",
    "mom": "MeanOfMaximum",
    "som": "SmallestOfMaximum",
    "lom": "LargestOfMaximum",
}


def fuzzylite_engine(system):
    """Build a system in pyfuzzylite; every Sugeno rule concludes a term of its own."""
    import fuzzylite as fl

    def made(name, family, *parameters):
        return getattr(fl, FUZZYLITE_SETS[family])(name, *parameters)

    engine = fl.Engine("system")
    for name, (low, high, terms) in system.inputs.items():
        sets = [made(term, *described) for term, described in terms.items()]
        engine.input_variables.append(
            fl.InputVariable(name, minimum=low, maximum=high, lock_range=system.limited, terms=sets)
        )
    weighted = fl.WeightedAverage if system.normalize else fl.WeightedSum
    for name in system.output_names:
        variable = fl.OutputVariable(name, default_value=system.default)
        if system.is_mamdani:
            variable.minimum, variable.maximum, terms = system.outputs[name]
            variable.terms = [made(term, *described) for term, described in terms.items()]
            variable.aggregation = getattr(fl, FUZZYLITE_S_NORMS[system.accumulation])()
            variable.defuzzifier = getattr(fl, FUZZYLITE_DEFUZZIFIERS[system.defuzzify])(system.resolution)
        else:
            variable.minimum, variable.maximum = -1e9, 1e9
            variable.defuzzifier = weighted("TakagiSugeno")
        engine.output_variables.append(variable)
    block = fl.RuleBlock(
        conjunction=getattr(fl, FUZZYLITE_T_NORMS[system.t_norm])(),
        disjunction=getattr(fl, FUZZYLITE_S_NORMS[system.s_norm])(),
        implication=getattr(fl, FUZZYLITE_T_NORMS[system.implication])() if system.is_mamdani else None,
        activation=fl.General(),
    )
    engine.rule_blocks.append(block)
    for number, (premise, said, *weight) in enumerate(system.rules):
        conclusions = []
        for name, concluded in said.items():
            term = concluded
            if not system.is_mamdani:
                term = f"rule{number}"
                constant, *slopes = concluded
                linear = fl.Linear(term, [*slopes, constant], engine) if slopes else fl.Constant(term, constant)
                engine.output_variable(name).terms.append(linear)
            conclusions.append(f"{name} is {term}")
        text = f"if {premise_text(premise)} then {' and '.join(conclusions)}"
        text += f" with {weight[0]}" if weight else ""
        block.rules.append(fl.Rule.create(text, engine))
    return engine


def fuzzylite_answers(system, points):
    """Return the outputs (n_points, n_outputs) of pyfuzzylite, one point at a time."""
    import fuzzylite as fl

    answers = []
    with np.errstate(all="ignore"), fl.settings.context(float_type=np.float64):
        engine = fuzzylite_engine(system)
        for point in points:
            engine.restart()
            engine.input_values = np.array([point])
            engine.process()
            answers.append([float(np.squeeze(variable.value)) for variable in engine.output_variables])
    return np.array(answers)


# ---------------------------------------------------------------------- scikit-fuzzy

SKFUZZY_SETS = {
    "gaussian": "gaussmf",
    "bell": "gbellmf",
    "sigmoid": "sigmf",
    "triangular": "trimf",
    "trapezoidal": "trapmf",
}
SKFUZZY_PIECES = 60_000  # of a universe: it reads memberships off straight lines between these points


def skfuzzy_knows(system):
    """Tell whether scikit-fuzzy has all that a system needs: cut sets joined by max, no hedge but "not", one output."""

    def hedges(premise):
        if premise[0] in ("and", "or"):
            return {hedge for part in premise[1:] for hedge in hedges(part)}
        return set(premise[1:-1])

    return (
        system.is_mamdani
        and len(system.outputs) == 1
        and (system.implication, system.accumulation) == ("min", "max")
        and (system.t_norm, system.s_norm) in (("min", "max"), ("product", "algebraic"))
        and all(hedges(premise) <= {"not"} for premise, *_ in system.rules)
    )


def skfuzzy_membership(x, family, *parameters):
    """Return memberships by scikit-fuzzy's own formula."""
    import skfuzzy

    if family == "bell":
        center, width, slope = parameters
        return skfuzzy.gbellmf(x, width, slope, center)
    grouped = [list(parameters)] if family in ("triangular", "trapezoidal") else parameters
    return getattr(skfuzzy, SKFUZZY_SETS[family])(x, *grouped)


def skfuzzy_answers(system, points):
    """Return the output (n_points, 1) of scikit-fuzzy's control system; the default where it has no answer."""
    from skfuzzy import control

    variables = {}
    for name, (low, high, terms) in system.inputs.items():
        variables[name] = control.Antecedent(np.linspace(low, high, SKFUZZY_PIECES + 1), name)
        for term, described in terms.items():
            variables[name][term] = skfuzzy_membership(variables[name].universe, *described)
    ((name, (low, high, terms)),) = system.outputs.items()
    output = control.Consequent(np.linspace(low, high, system.resolution + 1), name, defuzzify_method=system.defuzzify)
    for term, described in terms.items():
        output[term] = skfuzzy_membership(output.universe, *described)

    def joined(premise):
        if premise[0] in ("and", "or"):
            first, *others = map(joined, premise[1:])
            for other in others:
                first = first & other if premise[0] == "and" else first | other
            return first
        term = variables[premise[0]][premise[-1]]
        return ~term if "not" in premise else term

    norms = {}
    if system.t_norm == "product":
        norms = {"and_func": np.multiply, "or_func": lambda a, b: a + b - a * b}
    rules = [
        control.Rule(joined(premise), output[said[name]] % (weight[0] if weight else 1.0), **norms)
        for premise, said, *weight in system.rules
    ]
    used = {variable for premise, *_ in system.rules for variable in _variables(premise)}
    answers = []
    for point in points:
        simulation = control.ControlSystemSimulation(control.ControlSystem(rules))
        for variable, value in zip(system.inputs, point, strict=True):
            if variable in used:
                simulation.input[variable] = value
        try:
            simulation.compute()
            answers.append([float(simulation.output[name])])
        except (ValueError, AssertionError, KeyError):  # its way to say that no rule fires
            answers.append([system.default])
    return np.array(answers)


def _variables(premise):
    if premise[0] in ("and", "or"):
        return {name for part in premise[1:] for name in _variables(part)}
    return {premise[0]}


# ---------------------------------------------------------------------- the file

LIBRARIES = {
    "pyfuzzylite": ("fuzzylite", lambda system: True, fuzzylite_answers),
    "scikit-fuzzy": ("skfuzzy", skfuzzy_knows, skfuzzy_answers),
}
KINDS = {"Sugeno": SUGENO, "Mamdani": MAMDANI}


def points_for(system, rng, n=25):
    """Draw points all over the range of the inputs; beyond it where the range is locked."""
    ends = np.array([(low, high) for low, high, _ in system.inputs.values()])
    reach = 0.5 if system.limited else 0.0
    span = ends[:, 1] - ends[:, 0]
    drawn = rng.uniform(ends[:, 0] - reach * span, ends[:, 1] + reach * span, (n, len(ends)))
    return drawn.round(4)


def main():
    """Write the answers of both libraries."""
    rng = np.random.default_rng(0)
    document = {"libraries": {name: version(name) for name in LIBRARIES}, "systems": []}
    for kind, systems in KINDS.items():
        for name, system in systems.items():
            points = points_for(system, rng)
            answers = {
                library: answer(system, points).tolist()
                for library, (_, knows, answer) in LIBRARIES.items()
                if knows(system)
            }
            document["systems"].append({"kind": kind, "name": name, "points": points.tolist(), "answers": answers})
    ANSWERS.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
