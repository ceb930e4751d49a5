"""A closed loop: rules that control a plant, step by step."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, listed
from fuzzymil._utils.registry import package_above
from fuzzymil._utils.text import quantity

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """What `RuleBase.simulate` returns: the states of a plant, and what the rules concluded in each.

    Parameters
    ----------
    states : dict of str to array of shape (steps + 1,)
        The quantities of the plant, from the first state to the last.
    outputs : dict of str to array of shape (steps,)
        The outputs of the rules, each computed from the state with the same position.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.parse("VARIABLE level: low = ZShape(1, 3)  IF level is low THEN inflow = 1")
    >>> found = rules.simulate(lambda state, output: {"level": state["level"] + output["inflow"]}, {"level": 0}, 3)
    >>> found["level"].tolist(), found["inflow"].tolist()
    ([0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    """

    states: dict[str, Array]
    outputs: dict[str, Array]

    def __getitem__(self, name: str) -> Array:
        known = self.states | self.outputs
        if name not in known:
            raise InputError(f"There is no quantity {name!r}: there are {listed(known)}.")
        return known[name]

    def __repr__(self) -> str:
        steps = quantity(len(next(iter(self.outputs.values()))), "step")
        return f"Simulation({steps}, states {listed(self.states)}, outputs {listed(self.outputs)})"

    def to_dict(self) -> dict[str, dict[str, list[float]]]:
        """Return the states and outputs as plain values."""
        return {
            "states": {name: values.tolist() for name, values in self.states.items()},
            "outputs": {name: values.tolist() for name, values in self.outputs.items()},
        }

    def plot(self, names: Sequence[str] | None = None, **options: Any) -> Any:
        """Draw the course of everything, or of some quantities; see `fuzzymil.plots.SimulationDisplay`."""
        return package_above("fuzzymil.plots").SimulationDisplay(self).plot(names, **options)


def simulate(
    rules: RuleBase, plant: Callable[[dict[str, float], dict[str, float]], Mapping[str, float]], x0: Any, steps: int
) -> Simulation:
    """Let the rules control a plant for some steps.

    In each step, the rules infer their outputs from the state of the plant, and ``plant`` computes the next state.

    Parameters
    ----------
    plant : callable
        ``plant(state, output)`` receives the state and the outputs by name and returns the next state. What it leaves
        out of the state stays as it is.
    x0 : mapping of str to float
        The first state: a value for every variable of the rules, and for whatever else the plant needs.
    steps : int
        Number of steps.

    Returns
    -------
    Simulation

    Examples
    --------
    A tank with a leak, which the rules fill up to about 4:

    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.parse('''
    ... VARIABLE level [m]: low = Sigmoid(4, -3), high = Sigmoid(4, 3)
    ... IF level is low THEN inflow = 1
    ... IF level is high THEN inflow = 0
    ... ''')
    >>> def tank(state, output):
    ...     return {"level": state["level"] + 0.5 * (output["inflow"] - 0.1 * state["level"])}
    >>> found = rules.simulate(tank, {"level": 1.0}, 40)
    >>> found["level"][[0, 10, 40]].round(2).tolist()
    [1.0, 4.02, 4.12]
    """
    if not isinstance(x0, Mapping):
        raise InputError(f"x0 must map names to numbers, {{'level': 1.0}}, got {x0!r:.100}.")
    if not isinstance(steps, int) or steps < 1:
        raise ParameterError(f"steps must be a whole number, at least 1, got {steps!r}.")
    state = _checked(dict(x0), "x0")
    if missing := [name for name in rules.feature_names if name not in state]:
        raise InputError(f"x0 lacks {listed(missing)}, which the rules ask for; it has {listed(state)}.")
    if both := [name for name in rules.output_names if name in state]:
        raise InputError(f"{listed(both)} cannot be both a quantity of the plant and an output: rename one of them.")
    holds = rules.concludes_sets and any(rules.setting("hold", k) for k in range(len(rules.outputs)))
    states, outputs = [state], []
    rows: list[list[float]] = []
    for step in range(1, steps + 1):
        rows.append([state[name] for name in rules.feature_names])
        seen = np.array(rows if holds else rows[-1:])  # an output that holds its value depends on all states so far
        concluded = np.asarray(rules.infer(seen).output)[-1].tolist()
        outputs.append(dict(zip(rules.output_names, concluded, strict=True)))
        following = plant(dict(state), dict(outputs[-1]))
        if not isinstance(following, Mapping):
            raise InputError(f"plant must return the next state by name, {{'level': 1.0}}, got {following!r:.100}.")
        if unknown := [name for name in following if name not in state]:
            raise InputError(f"plant returned {listed(unknown)}, which x0 does not have: add it there.")
        state = state | _checked(dict(following), f"the state after step {step}")
        states.append(state)
    return Simulation(_by_name(states), _by_name(outputs))


def _checked(state: dict[str, Any], what: str) -> dict[str, float]:
    """Return a state as numbers, or raise `InputError` with the name of what is none."""
    found = {}
    for name, value in state.items():
        try:
            found[str(name)] = float(value)
        except (TypeError, ValueError):
            raise InputError(f"In {what}, {name!r} must be a number, got {value!r:.100}.") from None
        if not np.isfinite(found[str(name)]):
            raise InputError(f"In {what}, {name!r} is {found[str(name)]:g}: the loop has run away.")
    return found


def _by_name(rows: list[dict[str, float]]) -> dict[str, Array]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}
