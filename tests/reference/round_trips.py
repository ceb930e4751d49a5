"""Write and read random systems in every format; what they hold must come back with the same answers.

$ python tests/reference/round_trips.py -n 1000 --seed 0    # or: make round-trips N=1000 SEED=0
"""

from __future__ import annotations

import argparse
import collections
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from generated_systems import FORMATS, Generator

from fuzzymil.rules import RuleBase
from fuzzymil.rules.files import read_rules, write_rules

TOLERANCE = 1e-9


def coming_back(format: str, rules: RuleBase, path: Path, x: np.ndarray) -> float:
    """Write and read rules; return the greatest difference of the answers, in parts of an output's size."""
    write_rules(rules, path)
    again = read_rules(path)
    if format in ("rules", "json"):
        assert again == rules
    one, two = rules.infer(x), again.infer(x)
    apart = np.abs(one.output - two.output) / np.maximum(1.0, np.abs(one.output))
    if rules.concludes_sets:
        for k in range(len(rules.outputs)):
            if rules.setting("defuzzify", k) in ("mom", "som", "lom"):  # which cell is the highest depends on rounding
                assert again.setting("defuzzify", k) == rules.setting("defuzzify", k)
                apart[:, k] = np.abs(one.joined_sets(k)[1] - two.joined_sets(k)[1]).max(axis=1)
    if rules.concludes_sets or rules.normalize:  # otherwise, the default is written as a rule
        uncovered = [np.reshape(found.uncovered, (len(x), -1)) for found in (one, two)]
        apart = np.maximum(apart, uncovered[0] != uncovered[1])
    return float(np.where(_by_rounding(one.log_firing) | _by_rounding(two.log_firing), 0.0, apart).max())


def _by_rounding(log_firing: np.ndarray) -> np.ndarray:
    """Return the rows (b, 1) on which a rule may fire, or not, by rounding alone, and those after them."""
    nearly = ((log_firing > -np.inf) & (log_firing < np.log(1e-12))) | ((log_firing < 0) & (log_firing > -1e-12))
    faint = nearly.any(axis=1, keepdims=True)
    return np.logical_or.accumulate(faint)  # a value may be held


def check(format: str, count: int, folder: Path, seed: int) -> set[str]:
    """Check that ``count`` systems come back; return what was missing in all of them of what the format can hold."""
    generator, seen = Generator(format, seed), collections.Counter[str]()
    for number in range(count):
        rules = generator.system()
        x = generator.rng.uniform(-10, 10, (9, len(rules.feature_names)))
        try:
            apart = coming_back(format, rules, folder / f"system.{format}", x)
        except Exception as problem:
            raise AssertionError(f"System {number} of seed {seed}:\n{rules.to_source()}\n{problem}") from problem
        assert apart < TOLERANCE, f"System {number} of seed {seed} differs by {apart}:\n{rules.to_source()}"
        seen.update(_parts(rules))
    can = FORMATS[format]
    return {
        *can.families,
        *can.hedges,
        *can.activations,
        *(f"t_norm: {name}" for name in can.t_norms),
        *(f"s_norm: {name}" for name in can.s_norms),
        *(f"implication: {name}" for name in can.t_norms),
        *(f"accumulation: {name}" for name in can.accumulations),
        *(f"defuzzify: {name}" for name in (*can.numbers, "centroid", "bisector", "mom", "som", "lom")),
    } - seen.keys()


def _parts(rules: RuleBase) -> Iterator[str]:
    """Yield the families, operators and hedges of a system."""
    yield from (f"t_norm: {rules.t_norm}", f"s_norm: {rules.s_norm}")
    yield from (chosen.name for variable in rules.variables for chosen in variable.terms.values())
    yield from (hedge for rule in rules.rules for condition in rule.conditions for hedge in condition.hedges)
    if rules.concludes_sets:
        for k in range(len(rules.outputs)):
            yield from (f"{name}: {rules.setting(name, k)}" for name in ("implication", "accumulation", "defuzzify"))
        yield rules.defuzzification.activation


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("-n", type=int, default=1000, help="systems per format")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--formats", nargs="*", default=list(FORMATS), choices=FORMATS)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for format in given.formats:
            missing = check(format, given.n, Path(folder), given.seed)
            left_out = f"; never drawn: {', '.join(sorted(missing))}" if missing else ""
            print(f"{format}: {given.n} systems came back{left_out}", flush=True)


if __name__ == "__main__":
    main()
