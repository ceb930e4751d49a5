"""Simulated alarms of a ground-penetrating radar: raw cubes with ground truth.

The paper's measured data was never published; everything here is simulated. The model is described in `_echoes`
(physics), `_objects` (mines and clutter), `_scene` (their surroundings) and `conditions` (all parameters).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name
from paper.radar.conditions import Conditions, conditions_of
from paper.radar.cubes import GRID, Grid, screened
from paper.radar.echoes import body_echoes, pulse, record, surface_echoes
from paper.radar.objects import (
    CLUTTER,
    KINDS,
    MINES,
    Facts,
    draw_clutter,
    draw_ground,
    draw_layers,
    draw_object,
    scaled,
)

__all__ = ["CLUTTER", "GRID", "KINDS", "MINES", "Alarm", "Grid", "draw_alarm", "simulate_alarm"]

_GROUPS = {"mine": MINES, "clutter": CLUTTER} | {kind: (kind,) for kind in KINDS}
_MOST_TRIES = 200


@dataclasses.dataclass(frozen=True)
class Alarm:
    """A simulated alarm.

    Parameters
    ----------
    cube : array of shape (n_channels, n_scans, n_samples), 32 bit
        The recording; an amplitude of 1 is the echo of a perfect mirror one meter away.
    kind : str
        One of `KINDS`.
    target : array of shape (n_channels, n_scans, n_samples), 32 bit
        The target's contribution to ``cube``, without surface, clutter and noise. All zeros for bare soil.
    facts : dict of str to float
        The parameters drawn: depth and size of the target (meters), soil, antennas.
    """

    cube: Array
    kind: str
    target: Array
    facts: Facts

    @property
    def is_mine(self) -> bool:
        """Whether the target is a mine."""
        return self.kind in MINES


def simulate_alarm(kind: str, difficulty: str | Conditions = "medium", random_state: Any = None) -> Alarm:
    """Simulate one pass of the radar over a target, whether or not the prescreener would detect it.

    Parameters
    ----------
    kind : one of `KINDS`
    difficulty : "easy", "medium", "hard" or Conditions
    random_state : int, RandomState or None

    Returns
    -------
    Alarm

    Examples
    --------
    >>> alarm = simulate_alarm("low-metal mine", random_state=0)
    >>> alarm.cube.shape, alarm.is_mine
    ((24, 60, 256), True)
    """
    known_name("kind of alarm", kind, KINDS)
    return _simulated(kind, conditions_of(difficulty), check_random_state(random_state))


def draw_alarm(kind: str, difficulty: str | Conditions = "medium", random_state: Any = None) -> Alarm:
    """Simulate passes until the prescreener raises an alarm.

    Parameters
    ----------
    kind : one of `KINDS`, "mine" or "clutter"
        For "mine" and "clutter" the kind is drawn anew in each pass, so kinds that the prescreener misses are rare.
    difficulty : "easy", "medium", "hard" or Conditions
    random_state : int, RandomState or None

    Returns
    -------
    Alarm
        Its facts include the number of ``tries``.

    Examples
    --------
    >>> draw_alarm("mine", "easy", random_state=0).kind
    'high-metal mine'
    """
    known_name("kind of alarm", kind, _GROUPS)
    conditions, rng = conditions_of(difficulty), check_random_state(random_state)
    for tries in range(1, _MOST_TRIES + 1):
        group = _GROUPS[kind]
        alarm = _simulated(group[rng.randint(len(group))], conditions, rng)
        if screened(alarm.cube).raised:
            return dataclasses.replace(alarm, facts={**alarm.facts, "tries": tries})
    raise ParameterError(
        f"The prescreener raised no alarm in {_MOST_TRIES} passes over {kind!r}: it is invisible in these conditions. "
        "Increase target_gain, or use simulate_alarm, which does not screen."
    )


def _simulated(kind: str, conditions: Conditions, rng: np.random.RandomState, grid: Grid = GRID) -> Alarm:
    ground = draw_ground(rng, conditions, grid)
    frequency, ringing = rng.uniform(*conditions.frequency), rng.uniform(*conditions.ringing)
    x, y = rng.normal(scale=conditions.aim, size=2)
    bodies, facts = draw_object(kind, rng, conditions, (x, y), ground.permittivity)
    clutter = draw_clutter(rng, conditions, ground, grid)
    parts = [surface_echoes(ground), draw_layers(rng, conditions, ground, grid), body_echoes(clutter, ground, grid)]
    times, amplitudes = (np.concatenate(part) for part in zip(*parts, strict=True))
    spectrum = pulse(grid, frequency, ringing)
    target = record(*body_echoes(scaled(bodies, conditions.target_gain), ground, grid), spectrum, grid)
    noise = conditions.noise * rng.standard_normal(grid.shape)
    cube = record(times, amplitudes, spectrum, grid) + target + noise.astype(np.float32)
    facts = {
        **{name: float(value) for name, value in facts.items()},
        "x": float(x),
        "y": float(y),
        "permittivity": ground.permittivity,
        "attenuation": ground.attenuation,
        "height": ground.height,
        "frequency": frequency,
    }
    return Alarm(cube, kind, target, facts)
