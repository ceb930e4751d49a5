"""Compares fuzzymil with pyfuzzylite on a folder of fuzzy systems written by others.

    $ pip install pyfuzzylite
    $ python bench/fuzzy_files.py FOLDER [--points 200] [--list]

Every ``.fll`` and ``.fis`` file below FOLDER is read by both, and every output is compared at random inputs.
pyfuzzylite does not read ``.fis`` files: a short reader here, which shares no code with fuzzymil, builds its engines.
MATLAB's sampling of output sets (101 points) is replaced by pyfuzzylite's (cells) on both sides, so that only the
systems are compared. pyfuzzylite's bisector is a cell, fuzzymil's a point in it: pyfuzzylite's definition is applied to
fuzzymil's joined set. Where a change of degrees in their last digit moves pyfuzzylite's answer further than fuzzymil's
differs from it, or where both have the same joined set but find its maximum in other cells, they are equal but for
rounding. Files of other formats, which pyfuzzylite does not read, are opened and written as FLL
for it; of an FCL file with several function blocks, each block is compared.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import math
import re
import warnings
from pathlib import Path

import fuzzylite as fl
import numpy as np

from fuzzymil import ParameterError, RuleBase
from fuzzymil.rules.files import export_rules, read_rules

RESOLUTION = 1000
TOLERANCE = 1e-9  # of the range of an output, or of its greatest value


def decoded(path: Path) -> str:
    content = path.read_bytes()
    for encoding in ("utf-8-sig", "cp1252", "latin-1"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise AssertionError


# ---------------------------------------------------------------------- an independent reader of .fis files

ORDERS = {
    "gaussmf": ("Gaussian", [1, 0]),
    "gauss2mf": ("GaussianProduct", [1, 0, 3, 2]),
    "gbellmf": ("Bell", [2, 0, 1]),
    "sigmf": ("Sigmoid", [1, 0]),
    "dsigmf": ("SigmoidDifference", [1, 0, 2, 3]),
    "psigmf": ("SigmoidProduct", [1, 0, 2, 3]),
    "trimf": ("Triangle", [0, 1, 2]),
    "trapmf": ("Trapezoid", [0, 1, 2, 3]),
    "smf": ("SShape", [0, 1]),
    "zmf": ("ZShape", [0, 1]),
    "pimf": ("PiShape", [0, 1, 2, 3]),
    "rampmf": ("Ramp", [0, 1]),
    "linsmf": ("Ramp", [0, 1]),
    "linzmf": ("Ramp", [1, 0]),
    "rectmf": ("Rectangle", [0, 1]),
    "concavemf": ("Concave", [0, 1]),
    "cosinemf": ("Cosine", [0, 1]),
    "spikemf": ("Spike", [0, 1]),
    "constant": ("Constant", [0]),
}
NORMS = {
    "min": "Minimum",
    "prod": "AlgebraicProduct",
    "einstein_product": "EinsteinProduct",
    "hamacher_product": "HamacherProduct",
    "max": "Maximum",
    "probor": "AlgebraicSum",
    "sum": "UnboundedSum",
    "einstein_sum": "EinsteinSum",
    "bounded_sum": "BoundedSum",
    "": "none",
}
DEFUZZIFIERS = {
    "centroid": f"Centroid {RESOLUTION}",
    "bisector": f"Bisector {RESOLUTION}",
    "mom": f"MeanOfMaximum {RESOLUTION}",
    "som": f"SmallestOfMaximum {RESOLUTION}",
    "lom": f"LargestOfMaximum {RESOLUTION}",
    "wtaver": "WeightedAverage",
    "wtsum": "WeightedSum",
}
HEDGES = {0.01: "seldom ", 0.05: "somewhat ", 0.2: "very ", 0.3: "extremely ", 0.4: "very very ", 0.0: ""}


def fll_of_fis(text: str) -> str:
    sections: dict[str, list[str]] = {}
    name = ""
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line[0] in "%#":
            continue
        if line[0] == "[" and line.endswith("]") and "=" not in line:
            name = line[1:-1]
            sections[name] = []
        else:
            sections[name].append(line)
    system = dict(re.split(r"\s*=\s*", line, maxsplit=1) for line in sections["System"])
    names = {
        re.search(r"Name\s*=\s*'(.*)'", "\n".join(entries))[1]: section.replace("Input", "i").replace("Output", "o")
        for section, entries in sections.items()
        if section.startswith(("Input", "Output"))
    }
    about = {key: value.strip("'") for key, value in system.items()}
    lines = ["Engine: fis"]
    counts = {"Input": 0, "Output": 0}
    for section, entries in sections.items():
        kind = section.rstrip("0123456789")
        if kind not in counts:
            continue
        counts[kind] += 1
        pairs = [re.split(r"\s*=\s*", line, maxsplit=1) for line in entries]
        ends = next(value for key, value in pairs if key == "Range").strip("[]").split()
        low, high = (repr(math.pi / 4 * (-1) ** ("-" in end)) if "pi/4" in end else end for end in ends)
        lines += [f"{kind}Variable: {kind[0].lower()}{counts[kind]}", f"  range: {low} {high}"]
        terms = [value for key, value in pairs if re.fullmatch(r"MF\d+", key)]
        numbers = any("'constant'" in term or "'linear'" in term for term in terms)
        if kind == "Output":
            method = about["DefuzzMethod"] if not numbers else about["DefuzzMethod"].replace("centroid", "wtaver")
            weighted = method.startswith("wt")
            lines += [
                f"  aggregation: {'none' if weighted else NORMS[about['AggMethod']]}",
                f"  defuzzifier: {DEFUZZIFIERS[method]}",
            ]
        for number, term in enumerate(terms, start=1):
            family, parameters = re.fullmatch(r"'[^']*'\s*:\s*'([^']*)'\s*,\s*\[([^\]]*)\]", term).groups()
            written = fll_term(family, parameters, names)
            lines.append(f"  term: t{number} {written}")
            if kind == "Output" and re.search(rf"[ ,]-{number}\b", _conclusions(sections)):
                lines.append(f"  term: not{number} Function 1 - ({_formula(written)})")
    lines += [
        "RuleBlock: rules",
        f"  conjunction: {NORMS[about['AndMethod']]}",
        f"  disjunction: {NORMS[about['OrMethod']]}",
        f"  implication: {NORMS[about['ImpMethod']]}",
        "  activation: General",
    ]
    for line in sections.get("Rules", []):
        asked, said, weight, joined = re.fullmatch(r"([^,]*),([^(]*)\(([^)]*)\)\s*:\s*(\S+)", line).groups()
        conditions = [f"i{n} is {term}" for n, term in chosen(asked)]
        conclusions = [f"o{n} is {term.replace('not t', 'not')}" for n, term in chosen(said)]
        premise = (" and " if joined == "1" else " or ").join(conditions)
        if premise and conclusions:
            lines.append(f"  rule: if {premise} then {' and '.join(conclusions)} with {float(weight)}")
        elif conclusions and joined == "1":
            lines.append(f"  rule: if i1 is any then {' and '.join(conclusions)} with {float(weight)}")
    return "\n".join(lines)


def chosen(text: str):
    for n, word in enumerate(text.split(), start=1):
        number = float(word)
        if number in (0, 0.99):
            continue
        hedge = HEDGES[round(abs(number) % 1, 6)]
        yield n, f"{'not ' if number < 0 else ''}{hedge}t{int(abs(number))}"


def _formula(term: str) -> str:
    """Return a set as a formula for pyfuzzylite; only Gaussians are concluded with 'not' in public files."""
    kind, *numbers = term.split()
    assert kind == "Gaussian", kind
    return f"exp(0 - ((x - {numbers[0]}) / {numbers[1]})^2 / 2)"


def _conclusions(sections: dict[str, list[str]]) -> str:
    return "\n".join(line.partition(",")[1] + line.partition(",")[2] for line in sections.get("Rules", []))


def fll_term(family: str, parameters: str, names: dict[str, str]) -> str:
    if family == "function":
        return "Function " + re.sub(r"\w+", lambda match: names.get(match[0], match[0]), parameters)
    values = re.split(r"[\s,]+", parameters.strip())
    if family == "linear":
        return "Linear " + " ".join(values[: sum(name.startswith("i") for name in names.values()) + 1])
    if family == "discretemf":
        return "Discrete " + " ".join(values)
    kind, order = ORDERS[family]
    ordered = [float(values[place]) for place in order]
    if kind in ("Gaussian", "GaussianProduct"):
        ordered[1::2] = map(abs, ordered[1::2])
    return f"{kind} {' '.join(map(repr, ordered))}"


# ---------------------------------------------------------------------- comparison


def compared(path: Path, n_points: int) -> list[tuple[str, str]]:
    """Return a word for the outcome ("equal", ...) and details, for each system in a file."""
    named = re.findall(r"^\s*FUNCTION_BLOCK[ \t]+(\w+)", decoded(path), re.IGNORECASE | re.MULTILINE)
    blocks: list[str | None] = [*named] if path.suffix.lower() == ".fcl" and len(named) > 1 else [None]
    return [_compared(path, block, n_points) for block in blocks]


def _compared(path: Path, block: str | None, n_points: int) -> tuple[str, str]:
    text = decoded(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            rules = read_rules(path, block=block)
        except ParameterError as problem:
            return "not opened", str(problem).split(": ", 1)[-1].splitlines()[0]
        try:
            engine = fl.FllImporter().from_string(_theirs(path, text, rules))
        except Exception as problem:  # whatever pyfuzzylite raises
            return "not opened by pyfuzzylite", f"{type(problem).__name__}: {problem}".splitlines()[0]
        if rules.concludes_sets and path.suffix.lower() != ".fll":
            rules = rules.with_settings(sampling="cells", resolution=RESOLUTION)
        try:
            return _difference(rules, engine, n_points)
        except Exception as problem:
            return "not computed by pyfuzzylite", f"{type(problem).__name__}: {problem}".splitlines()[0]


def _theirs(path: Path, text: str, rules: RuleBase | RuleBase) -> str:
    ending = path.suffix.lower()
    text = text.replace("accumulation:", "aggregation:").replace("lock-valid:", "lock-previous:")  # of version 5
    if re.search(r"^ *activation: *(Minimum|AlgebraicProduct)", text, re.MULTILINE):
        both = r"\1activation: General\n\1implication:"
        text = re.sub(r"^( *)activation:", both, text, flags=re.MULTILINE)
    return text if ending == ".fll" else fll_of_fis(text) if ending == ".fis" else export_rules(rules, "fll")


def _difference(rules: RuleBase | RuleBase, engine: fl.Engine, n_points: int) -> tuple[str, str]:
    rng = np.random.default_rng(0)
    ranges = [(v.minimum, v.maximum) for v in engine.input_variables]
    ranges = [(low, high) if np.isfinite([low, high]).all() else (-1.0, 1.0) for low, high in ranges]
    x = np.column_stack([rng.uniform(low, high, n_points) for low, high in ranges])
    found = rules.infer(x)
    held = getattr(rules, "hold", False)
    uncovered = found.uncovered_outputs
    engine.restart()
    expected, rounding = _answers(engine, x)
    worst, rounded = 0.0, False
    for k, variable in enumerate(engine.output_variables):
        keeps = held[k] if isinstance(held, tuple) else held
        empty = np.isnan(expected[:, k])
        if not keeps and (uncovered[:, k] != empty).any() and np.isnan(variable.default_value):
            return "different", f"{variable.name}: rules fire on other inputs"
        sizes = np.abs(expected[np.isfinite(expected[:, k]), k])
        scale = max(np.ptp([variable.minimum, variable.maximum]), sizes.max(initial=0.0))
        scale = scale if np.isfinite(scale) and scale else 1.0
        answers = found.output[:, k]
        if isinstance(variable.defuzzifier, fl.Bisector):
            answers = _bisectors(*found.joined_sets(k), variable.defuzzifier.resolution)
        apart = np.abs(answers[~empty] - expected[~empty, k]) / scale
        unstable = apart <= 8 * rounding[~empty, k] / scale  # infinite answers count as unstable
        for place, row in enumerate(np.flatnonzero(~empty)):
            if apart[place] > TOLERANCE and not unstable[place]:
                unstable[place] = _same_set(found, k, engine, x[row], row)
        rounded = rounded or bool((apart[unstable] > TOLERANCE).any())
        worst = max(worst, apart[~unstable].max(initial=0.0))
    outcome = "different" if worst > TOLERANCE else "equal but for rounding" if rounded else "equal"
    return outcome, f"{worst:.1e}"


def _bisectors(values: np.ndarray, membership: np.ndarray, resolution: int) -> np.ndarray:
    """Return the cells after which the area is nearest to half, as pyfuzzylite does; the mean of several."""
    assert len(values) == resolution
    share = np.cumsum(membership, axis=1)
    off = np.abs(share / share[:, -1:] - 0.5)
    nearest = off == off.min(axis=1, keepdims=True)
    return (nearest * values).sum(axis=1) / nearest.sum(axis=1)


def _same_set(found: object, k: int, engine: fl.Engine, row: np.ndarray, place: int) -> bool:
    """Return whether both join the same set, so that only its highest or middle cell differs."""
    variable = engine.output_variables[k]
    if not isinstance(variable.defuzzifier, fl.IntegralDefuzzifier):
        return False
    for given, value in zip(engine.input_variables, row, strict=True):
        given.value = value
    engine.process()
    values, membership = found.joined_sets(k)
    theirs = np.asarray(variable.fuzzy.membership(values)).ravel()
    return bool(np.abs(theirs - membership[place]).max() <= 1e-12 * theirs.max())


def _answers(engine: fl.Engine, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the outputs, and how far they move when degrees change in their last digit."""
    found, moved = [], []
    for row in x:
        for variable, value in zip(engine.input_variables, row, strict=True):
            variable.value = value
        engine.process()
        found.append([float(np.asarray(v.value).ravel()[0]) for v in engine.output_variables])
        moved.append([_sensitivity(v) for v in engine.output_variables])
    return np.array(found), np.array(moved)


def _sensitivity(variable: fl.OutputVariable) -> float:
    degrees = [activated.degree for activated in variable.fuzzy.terms]
    answers = []
    for signs in itertools.product((-1, 1), (-1, 1)):
        for n, (activated, degree) in enumerate(zip(variable.fuzzy.terms, degrees, strict=True)):
            activated.degree = degree * (1 + signs[n % 2] * np.finfo(float).eps)
        found = variable.defuzzifier.defuzzify(variable.fuzzy, variable.minimum, variable.maximum)
        answers.append(float(np.asarray(found).ravel()[0]))
    for activated, degree in zip(variable.fuzzy.terms, degrees, strict=True):
        activated.degree = degree
    return np.inf if np.isinf(answers).any() else float(np.nan_to_num(np.ptp(answers)))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--points", type=int, default=200)
    arguments.add_argument("--list", action="store_true", help="print every file, not only the exceptions")
    arguments.add_argument("--endings", default=".fll,.fis,.fcl,.fml")
    given = arguments.parse_args()
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    worst = 0.0
    for path in sorted(given.folder.rglob("*")):
        if path.suffix.lower() not in given.endings.split(","):
            continue
        for outcome, details in compared(path, given.points):
            counts[path.suffix.lower(), outcome] += 1
            if outcome.startswith("equal"):
                worst = max(worst, float(details))
            if given.list or outcome != "equal":
                print(f"{outcome:28s} {path.name}: {details:.150}", flush=True)
    for (ending, outcome), count in sorted(counts.items()):
        print(f"{ending} {outcome}: {count}")
    print(f"greatest difference among the equal: {worst:.1e} of an output's range")


if __name__ == "__main__":
    main()
