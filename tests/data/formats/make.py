"""Write the files of other programs that ``tests/rules/test_formats.py`` reads, with what those programs infer.

It needs pyfuzzylite (``pip install --no-deps pyfuzzylite``, beside NumPy) and fuzzylite's command line
(Debian's ``fuzzylite``), in an environment of its own; the tests need neither::

    python tests/data/formats/make.py

The systems are defined here. pyfuzzylite writes each as FLL; the command line then writes some of those anew, as FLL
and as MATLAB's ``.fis``. Every file is run by the program that wrote it, on numbers that some rule knows well.
"""

import json
import subprocess
import warnings
from pathlib import Path

import fuzzylite as fl
import numpy as np

HERE = Path(__file__).parent
N_POINTS = 12
T_NORMS = [fl.Minimum, fl.AlgebraicProduct, fl.BoundedDifference, fl.HamacherProduct, fl.EinsteinProduct]
S_NORMS = [fl.Maximum, fl.AlgebraicSum, fl.BoundedSum, fl.HamacherSum, fl.EinsteinSum]


def engine(name, inputs, outputs, rules, conjunction=None, disjunction=None, implication=None):
    """Return an engine; rules are given as text."""
    made = fl.Engine(name, input_variables=inputs, output_variables=outputs)
    block = fl.RuleBlock(
        "rules", conjunction=conjunction, disjunction=disjunction, implication=implication, activation=fl.General()
    )
    block.rules = [fl.Rule.create(text, made) for text in rules]
    made.rule_blocks = [block]
    return made


def variable(name, low, high, *terms, locked=False):
    """Return an input."""
    return fl.InputVariable(name, minimum=low, maximum=high, lock_range=locked, terms=list(terms))


def number(name, *terms, defuzzifier=None, default=float("nan")):
    """Return the output of a Sugeno system."""
    weighted = defuzzifier or fl.WeightedAverage("TakagiSugeno")
    return fl.OutputVariable(name, defuzzifier=weighted, default_value=default, terms=list(terms))


def fuzzy(name, low, high, aggregation, defuzzifier, *terms):
    """Return the output of a Mamdani system."""
    return fl.OutputVariable(
        name, minimum=low, maximum=high, aggregation=aggregation, defuzzifier=defuzzifier, terms=list(terms)
    )


def sugeno_systems():
    """Go through Sugeno systems."""
    depth = lambda: variable(  # noqa: E731 (a new one for every engine)
        "depth", 0, 2, fl.Triangle("shallow", 0, 0, 1), fl.Triangle("middling", 0, 1, 2), fl.Triangle("deep", 1, 2, 2)
    )
    width = lambda: variable(  # noqa: E731
        "width", -1, 1, fl.Gaussian("small", -1, 0.45), fl.Gaussian("great", 1, 0.6), fl.Bell("usual", 0, 0.5, 2.5)
    )
    yield engine(
        "shoulders",
        [depth()],
        [number("alarm", fl.Constant("none", 0), fl.Constant("loud", 1.5), fl.Constant("faint", 0.25))],
        [
            "if depth is shallow then alarm is loud",
            "if depth is middling then alarm is faint with 0.5",
            "if depth is deep then alarm is none",
        ],
    )
    yield engine(
        "linear",
        [depth(), width()],
        [number("alarm", fl.Linear("rising", [0.5, -1.25, 0.125]), fl.Linear("falling", [-2, 0.75, 3]))],
        ["if depth is shallow and width is small then alarm is rising", "if width is great then alarm is falling"],
        fl.AlgebraicProduct(),
    )
    for t_norm, s_norm in zip(T_NORMS, S_NORMS, strict=True):
        yield engine(
            f"norms_{t_norm.__name__}",
            [depth(), width()],
            [number("alarm", fl.Constant("off", -1), fl.Constant("on", 2), fl.Constant("maybe", 0.5))],
            [
                "if depth is middling and width is usual then alarm is on",
                "if depth is not deep or width is great then alarm is off with 0.75",
                "if width is usual then alarm is maybe",
            ],
            t_norm(),
            s_norm(),
        )
    slope = lambda: variable("slope", 0, 1, fl.Sigmoid("flat", 0.4, -12), fl.Sigmoid("steep", 0.6, 9))  # noqa: E731
    yield engine(
        "brackets_and_hedges",
        [depth(), width(), slope()],
        [number("alarm", fl.Constant("off", 0.125), fl.Constant("on", 1))],
        [
            "if depth is very shallow and (width is small or slope is not somewhat flat) then alarm is on",
            "if depth is extremely middling or width is seldom great and slope is steep then alarm is off with 0.6",
            "if slope is not very steep then alarm is off",
            "if slope is any then alarm is on with 0.05",
        ],
        fl.AlgebraicProduct(),
        fl.AlgebraicSum(),
    )
    yield engine(
        "two_outputs_added",
        [
            variable("depth", 0, 2, fl.Trapezoid("shallow", 0, 0, 0.5, 1.5), fl.Trapezoid("deep", 0.5, 1.5, 2, 2)),
            variable("kind", 0, 3, fl.Rectangle("first", 0, 1.5), fl.Trapezoid("second", 1, 1.5, 1.5, 3)),
        ],
        [
            number("alarm", fl.Constant("low", 0.2), fl.Linear("high", [1, -1, 2]), defuzzifier=fl.WeightedSum()),
            number("cost", fl.Linear("low", [0, 2, -0.5]), fl.Constant("high", 7), defuzzifier=fl.WeightedSum()),
        ],
        [
            "if depth is shallow and kind is first then alarm is low and cost is high",
            "if depth is deep or kind is second then alarm is high and cost is low with 0.4",
            "if depth is deep and kind is not second then alarm is high and cost is high",
        ],
        fl.Minimum(),
        fl.Maximum(),
    )
    yield engine(
        "locked_range",
        [
            variable("depth", 0, 1, fl.Triangle("shallow", -0.5, 0, 0.75), fl.Gaussian("deep", 2, 0.9), locked=True),
            variable("width", -1, 1, fl.Gaussian("small", -1, 1)),
        ],
        [number("alarm", fl.Linear("a", [1, 1, 0]), fl.Constant("b", -3), default=4)],
        ["if depth is shallow and width is small then alarm is a", "if depth is deep then alarm is b"],
        fl.EinsteinProduct(),
    )


def mamdani_systems():
    """Go through Mamdani systems."""
    settings = [
        ("cut", fl.Minimum, fl.Maximum, fl.Minimum, fl.Maximum, fl.Centroid(200)),
        ("scaled", fl.AlgebraicProduct, fl.AlgebraicSum, fl.AlgebraicProduct, fl.AlgebraicSum, fl.Centroid(500)),
        ("halved", fl.Minimum, fl.Maximum, fl.Minimum, fl.BoundedSum, fl.Bisector(1000)),
        ("greatest", fl.Minimum, fl.Maximum, fl.Minimum, fl.Maximum, fl.MeanOfMaximum(1000)),
    ]
    for name, t_norm, s_norm, implication, aggregation, defuzzifier in settings:
        yield engine(
            f"mamdani_{name}",
            [
                variable(
                    "wind", 0, 10, fl.Gaussian("calm", 0, 2), fl.Gaussian("fresh", 5, 2), fl.Gaussian("strong", 10, 2)
                ),
                variable("rain", 0, 10, fl.Trapezoid("dry", 0, 0, 2, 5), fl.Trapezoid("wet", 4, 8, 10, 10)),
            ],
            [
                fuzzy(
                    *("tilt", 0, 30, aggregation(), defuzzifier),
                    *(
                        fl.Triangle("small", 0, 5, 11),
                        fl.Triangle("usual", 9, 15, 21),
                        fl.Trapezoid("great", 18, 25, 30, 30),
                    ),
                ),
                fuzzy(
                    "heat", 0, 1, aggregation(), defuzzifier, fl.Triangle("no", 0, 0, 0.6), fl.Gaussian("yes", 1, 0.2)
                ),
            ],
            [
                "if wind is calm or rain is dry then tilt is small and heat is no",
                "if wind is fresh then tilt is usual with 0.9",
                "if wind is strong and rain is wet then tilt is great and heat is yes",
                "if rain is not dry then heat is yes with 0.7",
            ],
            t_norm(),
            s_norm(),
            implication(),
        )


def points_for(system, seed):
    """Return numbers, three decimals each, in and somewhat around the ranges; some rule fires well on all of them.

    The command line takes strengths below 1e-6 for zero: no rule may fire that weakly.
    """
    draw = np.random.default_rng(seed)
    ends = np.array([(v.minimum, v.maximum) for v in system.input_variables])
    reach = 0.1 * (ends[:, 1] - ends[:, 0])
    found = []
    while len(found) < N_POINTS:
        x = draw.uniform(ends[:, 0] - reach, ends[:, 1] + reach).round(3)
        run_pyfuzzylite(system, [x])
        strengths = [float(np.ravel(rule.activation_degree)[0]) for rule in system.rule_blocks[0].rules]
        if max(strengths) > 0.02 and min(strength or 1.0 for strength in strengths) > 1e-4:
            found.append(x.tolist())
    return found


def run_pyfuzzylite(system, points):
    """Return what pyfuzzylite infers, a row a point."""
    rows = []
    for x in points:
        system.input_values = np.asarray(x)
        system.process()
        rows.append(np.ravel(system.output_values).tolist())
    return rows


def fuzzylite(*arguments):
    """Run fuzzylite's command line and return what it prints."""
    return subprocess.run(["fuzzylite", *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def run_command_line(path, points):
    """Return what the command line infers from a file, a row a point."""
    data = path.with_suffix(".points")
    np.savetxt(data, points, fmt="%.3f")
    settings = ("-decimals", 12, "-dheader", "false", "-dinputs", "false")
    printed = fuzzylite("-i", path, "-if", path.suffix[1:], "-of", "fld", "-d", data, *settings)
    data.unlink()
    return [[float(word) for word in line.split()] for line in printed.splitlines()]


def main():
    """Write all files."""
    warnings.simplefilter("ignore")
    expected = {}
    systems = [*sugeno_systems(), *mamdani_systems()]
    for seed, system in enumerate(systems):
        points = points_for(system, seed)
        path = HERE / f"{system.name}.pyfuzzylite.fll"
        path.write_text(fl.FllExporter().to_string(system))
        expected[path.name] = {"points": points, "outputs": run_pyfuzzylite(system, points)}
        for ending in ("fll", "fis"):
            # No brackets, hedges, boxes or locks in .fis; and its two kinds of output are added alike.
            if ending == "fis" and system.name in ("brackets_and_hedges", "two_outputs_added", "locked_range"):
                continue
            copy = HERE / f"{system.name}.fuzzylite.{ending}"
            copy.write_text(fuzzylite("-i", path, "-if", "fll", "-of", ending))
            expected[copy.name] = {"points": points, "outputs": run_command_line(copy, points)}
    rows = [f" {json.dumps(name)}: {json.dumps(content)}" for name, content in sorted(expected.items())]
    (HERE / "expected.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
