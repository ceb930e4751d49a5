"""Plain (one-instance) Sugeno and Mamdani systems give what pyfuzzylite and scikit-fuzzy give."""

import importlib.util
import json

import fuzzy_peers
import numpy as np
import pytest
from fuzzy_systems import premise_text

from fuzzymil import MIMamdani, MISugeno, RuleBase
from fuzzymil.inference.membership import family

ANSWERS = json.loads(fuzzy_peers.ANSWERS.read_text(encoding="utf-8"))
CASES = {
    f"{stored['kind']}: {stored['name']}, {library}": (stored, library)
    for stored in ANSWERS["systems"]
    for library in stored["answers"]
}


def written(system):
    """Write a system in the rule language."""

    def declared(kind, name, low, high, terms):
        sets = [f"{term} = {family(shape)(*values)!s}" for term, (shape, *values) in terms.items()]
        return f"{kind} {name} FROM {low} TO {high}: {', '.join(sets)}"

    lines = [declared("VARIABLE", name, *described) for name, described in system.inputs.items()]
    lines += [declared("OUTPUT", name, *described) for name, described in system.outputs.items()]
    settings = {"t_norm": system.t_norm, "s_norm": system.s_norm, "limited": "yes" if system.limited else "no"}
    if system.is_mamdani:
        settings |= {name: getattr(system, name) for name in ("implication", "accumulation", "defuzzify", "resolution")}
    else:
        settings["normalize"] = "yes" if system.normalize else "no"
    defaults = ", ".join([str(system.default)] * len(system.output_names))
    settings["default"] = f"({defaults})"
    lines.append("USING " + ", ".join(f"{name} = {value}" for name, value in settings.items()))
    for premise, said, *weight in system.rules:
        conclusions = []
        for name, concluded in said.items():
            if system.is_mamdani:
                conclusions.append(f"{name} is {concluded}")
            else:
                constant, *slopes = concluded
                linear = [f"{slope}*{variable}" for slope, variable in zip(slopes, system.inputs, strict=False)]
                conclusions.append(f"{name} = {' + '.join([str(constant), *linear])}".replace("+ -", "- "))
        lines.append(
            f"IF {premise_text(premise)} THEN {', '.join(conclusions)}" + (f" WITH {weight[0]}" if weight else "")
        )
    return "\n".join(lines)


def inferred(system, points):
    model = (MIMamdani if system.is_mamdani else MISugeno)(rules=written(system))
    return model.rule_base.infer(np.array(points)).output


def tolerance(system, library):
    """A Sugeno system's answer is exact; a Mamdani system's depends on where its sets are looked at."""
    if not system.is_mamdani:
        return 1e-9
    low, high, _ = next(iter(system.outputs.values()))
    if library == "pyfuzzylite" and system.defuzzify != "bisector":
        return 1e-9 * (high - low)  # it looks at the same places
    return (high - low) / system.resolution


def system_of(stored):
    return fuzzy_peers.KINDS[stored["kind"]][stored["name"]]


def test_there_are_enough_systems_of_either_kind():
    kinds = [stored["kind"] for stored in ANSWERS["systems"]]
    assert kinds.count("Sugeno") == len(fuzzy_peers.SUGENO) >= 20
    assert kinds.count("Mamdani") == len(fuzzy_peers.MAMDANI) >= 15
    assert sum("scikit-fuzzy" in stored["answers"] for stored in ANSWERS["systems"]) >= 8


@pytest.mark.slow
@pytest.mark.parametrize(("stored", "library"), CASES.values(), ids=CASES)
def test_the_stored_answers_of_other_libraries_are_met(stored, library):
    system = system_of(stored)
    expected = np.array(stored["answers"][library])
    assert np.ptp(expected, axis=0).min() > 0  # points that tell systems apart
    np.testing.assert_allclose(inferred(system, stored["points"]), expected, rtol=0, atol=tolerance(system, library))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # theirs, under a new NumPy
@pytest.mark.parametrize(("stored", "library"), CASES.values(), ids=CASES)
def test_the_libraries_themselves_are_met(stored, library):
    module, _, answers = fuzzy_peers.LIBRARIES[library]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{library} is not installed (see tests/reference/fuzzy_peers.py)")
    system = system_of(stored)
    found = answers(system, np.array(stored["points"]))
    np.testing.assert_allclose(found, stored["answers"][library], rtol=0, atol=1e-9)
    np.testing.assert_allclose(inferred(system, stored["points"]), found, rtol=0, atol=tolerance(system, library))


@pytest.mark.parametrize("kind", fuzzy_peers.KINDS)
def test_the_systems_print_back(kind):
    for system in fuzzy_peers.KINDS[kind].values():
        rules = RuleBase.parse(written(system))
        assert RuleBase.parse(rules.to_source()) == rules
