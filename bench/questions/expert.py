"""Expert inference, compared with the learned network, and with pyfuzzylite and scikit-fuzzy if they are installed.

Peers that cannot be imported are listed as such. Times are processor times, the minimum of several calls, so that
ratios hold on a busy machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from tables import Row

from fuzzymil import Bags, MIMamdani, MISugeno, RuleBase
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.rules.rule import Variable
from questions.common import Effort

TITLE = "Expert inference, a row of 6 features, 12 rules (figure: times fuzzymil's own)"
N_INSTANCES, N_FEATURES, N_RULES, WIDTH = 100_000, 6, 12, 0.3
FEW = 2_000  # rows for the slower peers' Mamdani; scikit-fuzzy gets a hundredth of that


def measure(effort: Effort) -> list[Row]:
    """Seconds per row, relative to fuzzymil's own expert inference of the same system."""
    rng = np.random.default_rng(0)
    centers, x = rng.uniform(size=(N_RULES, N_FEATURES)), rng.uniform(size=(N_INSTANCES, N_FEATURES))
    terms = {f"x{j}": {f"t{r}": Gaussian(centers[r, j], WIDTH) for r in range(N_RULES)} for j in range(N_FEATURES)}
    premises = [" AND ".join(f"x{j} is t{r}" for j in range(N_FEATURES)) for r in range(N_RULES)]
    words = ["low" if r < N_RULES // 2 else "high" for r in range(N_RULES)]
    said = [f"IF {premise} THEN y = {r / 10}" for r, premise in enumerate(premises)]
    sugeno = MISugeno(terms, said, t_norm="min", aggregation="max")
    output = Variable("y", {"low": Triangular(-0.5, 0, 0.5), "high": Triangular(0.5, 1, 1.5)}, 0, 1)
    mamdani = MIMamdani(terms, {"y": output}, [f"IF {p} THEN y is {w}" for p, w in zip(premises, words, strict=True)])
    network = RuleBase.from_arrays(centers, np.full_like(centers, WIDTH), np.arange(N_RULES) / 10)
    rows: list[Row] = []
    for size in (1, 10):
        effort.say(f"bags of {size}")
        bags = Bags(x, np.arange(0, N_INSTANCES + 1, size))
        own = _seconds(lambda bags=bags: sugeno.infer(bags)) / N_INSTANCES
        learned = _seconds(lambda bags=bags: network.infer(bags)) / N_INSTANCES
        rows.append(Row(f"MISugeno, bags of {size}", own, figure=1.0))
        rows.append(Row(f"learned network, bags of {size}", learned, figure=learned / own))
    single, few = Bags(x, np.arange(N_INSTANCES + 1)), Bags(x[:FEW], np.arange(FEW + 1))
    system = (centers, premises, words)
    one = Bags(x[:1], np.arange(2))
    rows += _beside("Sugeno", sugeno, single, {"pyfuzzylite": (_fuzzylite_sugeno, 1, ">= 2")}, system, effort)
    rows += _beside("Sugeno, one row", sugeno, one, {"pyfuzzylite": (_fuzzylite_sugeno, 1, ">= 1")}, system, effort)
    peers = {"pyfuzzylite": (_fuzzylite_mamdani, 1, ">= 3"), "scikit-fuzzy": (_skfuzzy_mamdani, 100, "")}
    rows += _beside("Mamdani", mamdani, few, peers, system, effort)
    peers = {"pyfuzzylite": (_fuzzylite_mamdani, 1, ">= 1")}
    return rows + _beside("Mamdani, one row", mamdani, one, peers, system, effort)


def _beside(title: str, model, bags: Bags, peers: dict[str, tuple], system: tuple, effort: Effort) -> list[Row]:
    """Time one system here and in the peers, each on its share of the rows, after checking that they agree.

    A peer is a function that makes the system, the number of parts of the rows, and the target for its time.
    """
    repeats = 7 if len(bags) > 1 else 200
    own = _seconds(lambda: model.infer(bags), repeats) / len(bags)
    rows = [Row(f"{title}, fuzzymil", own, figure=1.0)]
    for name, (make, part, bar) in peers.items():
        effort.say(f"{title}, {name}")
        try:
            answer = make(*system)
        except ImportError as problem:
            rows.append(Row(f"{title}, {name}", note=f"not installed: {problem}"))
            continue
        share = bags.instances[: len(bags) // part]
        np.testing.assert_allclose(answer(share), model.infer(bags).output[: len(share), 0], atol=2e-3)
        taken = _seconds(lambda answer=answer, share=share: answer(share), repeats) / len(share)
        rows.append(Row(f"{title}, {name}", taken, figure=taken / own, bar=bar, note=f"{len(share):,} row(s)"))
    return rows


def _seconds(call: Callable[[], object], repeats: int = 7) -> float:
    call()
    taken = []
    for _ in range(repeats):
        began = time.process_time_ns()
        call()
        taken.append((time.process_time_ns() - began) / 1e9)
    return min(taken)


def _fuzzylite_engine(centers: np.ndarray, premises: list[str], output, conclusions: list[str]):
    import fuzzylite as fl

    engine = fl.Engine("bench")
    for j in range(N_FEATURES):
        terms = [fl.Gaussian(f"t{r}", centers[r, j], WIDTH) for r in range(N_RULES)]
        engine.input_variables.append(fl.InputVariable(f"x{j}", minimum=0, maximum=1, terms=terms))
    engine.output_variables.append(output)
    block = fl.RuleBlock(
        conjunction=fl.Minimum(), disjunction=fl.Maximum(), implication=fl.Minimum(), activation=fl.General()
    )
    engine.rule_blocks.append(block)
    for premise, conclusion in zip(premises, conclusions, strict=True):
        block.rules.append(fl.Rule.create(f"if {premise.replace(' AND ', ' and ')} then y is {conclusion}", engine))

    def answer(x: np.ndarray) -> np.ndarray:
        engine.restart()
        engine.input_values = x
        engine.process()
        return np.asarray(engine.output_values).ravel()

    return answer


def _fuzzylite_sugeno(centers: np.ndarray, premises: list[str], words: list[str]):
    import fuzzylite as fl

    constants = [fl.Constant(f"c{r}", r / 10) for r in range(N_RULES)]
    output = fl.OutputVariable(
        "y", minimum=0, maximum=1, defuzzifier=fl.WeightedAverage("TakagiSugeno"), terms=constants
    )
    return _fuzzylite_engine(centers, premises, output, [f"c{r}" for r in range(N_RULES)])


def _fuzzylite_mamdani(centers: np.ndarray, premises: list[str], words: list[str]):
    import fuzzylite as fl

    terms = [fl.Triangle("low", -0.5, 0, 0.5), fl.Triangle("high", 0.5, 1, 1.5)]
    output = fl.OutputVariable(
        "y", minimum=0, maximum=1, aggregation=fl.Maximum(), defuzzifier=fl.Centroid(1000), terms=terms
    )
    return _fuzzylite_engine(centers, premises, output, words)


def _skfuzzy_mamdani(centers: np.ndarray, premises: list[str], words: list[str]):
    import skfuzzy
    from skfuzzy import control

    universe = np.linspace(0, 1, 1001)
    inputs = [control.Antecedent(universe, f"x{j}") for j in range(N_FEATURES)]
    for j, variable in enumerate(inputs):
        for r in range(N_RULES):
            variable[f"t{r}"] = skfuzzy.gaussmf(universe, centers[r, j], WIDTH)
    output = control.Consequent(universe, "y")
    output["low"], output["high"] = (skfuzzy.trimf(universe, corners) for corners in ([-0.5, 0, 0.5], [0.5, 1, 1.5]))
    rules = []
    for r, word in enumerate(words):
        premise = inputs[0][f"t{r}"]
        for variable in inputs[1:]:
            premise = premise & variable[f"t{r}"]
        rules.append(control.Rule(premise, output[word]))
    simulation = control.ControlSystemSimulation(control.ControlSystem(rules))

    def answer(x: np.ndarray) -> np.ndarray:
        found = []
        for row in x:
            for j, value in enumerate(row):
                simulation.input[f"x{j}"] = value
            simulation.compute()
            found.append(simulation.output["y"])
        return np.asarray(found)

    return answer
