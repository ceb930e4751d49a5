"""Bags of simulated or measured radar alarms.

An alarm is a bag of fifteen depth windows with four features each. Two of the features are confidences of edge
histogram detectors, whose prototypes are calibrated on separate simulated alarms, never on those of the bags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, described
from fuzzymil.bags import Bags
from paper.radar.conditions import Conditions
from paper.radar.cubes import (
    FEATURES,
    N_WINDOWS,
    Detectors,
    Measured,
    check_detectors,
    learn_prototypes,
    measured,
    window_truth,
)
from paper.radar.simulation import MINES, draw_alarm

__all__ = ["CALIBRATION", "AlarmSet", "calibrate", "draw_alarms", "make_gpr_alarms"]

CALIBRATION = {"high-metal mine": 100, "low-metal mine": 100, "clutter": 200}
"""Number of alarms of each kind used for calibration."""

_CALIBRATION_SEED = 20090000  # of the default detectors


@dataclass(frozen=True)
class AlarmSet:
    """Simulated alarms with their ground truth.

    Attributes
    ----------
    bags : Bags
        As `make_gpr_alarms` returns them.
    kinds : array of str, shape (n_bags,)
        Kind of the object in the ground.
    energies : array of shape (n_bags, N_WINDOWS)
        Mean squared amplitudes around the alarm, relative to the background.
    target_energies : array of shape (n_bags, N_WINDOWS)
        The same for the echoes of the mine or the clutter object alone.
    seeds : array of int, shape (n_bags,)
        ``draw_alarm(asked, difficulty, seed)`` reproduces the cube.
    asked : array of str, shape (n_bags,)
        The kind requested from the simulator: a kind of mine, or "clutter".
    facts : list of dict
        Depth, soil and other parameters.
    """

    bags: Bags
    kinds: Array
    energies: Array
    target_energies: Array
    seeds: Array
    asked: Array
    facts: list[dict[str, Any]]


@dataclass(frozen=True)
class _Drawn:
    """An alarm without its cube."""

    kind: str
    measured: Measured
    held: Array  # energies of the target alone, (N_WINDOWS,)
    facts: dict[str, Any]


def _draw(asked: str, difficulty: str | Conditions, seed: int) -> _Drawn:
    with threadpool_limits(1):  # workers run in parallel, and a fixed order of summation makes results reproducible
        alarm = draw_alarm(asked, difficulty, seed)
        found = measured(alarm.cube, alarm.target)
        return _Drawn(alarm.kind, found, np.asarray(found.target_energies), dict(alarm.facts))


def _draw_all(asked: Sequence[str], difficulty: str | Conditions, seeds: Array, n_jobs: int | None) -> list[_Drawn]:
    jobs = (delayed(_draw)(kind, difficulty, int(seed)) for kind, seed in zip(asked, seeds, strict=True))
    found: list[_Drawn] = Parallel(n_jobs=n_jobs)(jobs)
    return found


def calibrate(
    difficulty: str | Conditions = "medium",
    random_state: Any = None,
    n_jobs: int | None = None,
    *,
    counts: Mapping[str, int] | None = None,
) -> Detectors:
    """Calibrate the detectors on simulated alarms.

    Prototypes of mines are learned from windows with at least half the target energy of the mine's strongest window.
    Three quarters of the prototypes of clutter are learned from windows with at least half the energy of the alarm's
    strongest window, the rest from the other windows.

    Parameters
    ----------
    difficulty : "easy", "medium", "hard" or Conditions
    random_state : int, RandomState or None
        Must differ from the random state of the alarms that the detectors are used on, which is checked.
    n_jobs : int, optional
        Number of processes; it does not affect the result.
    counts : mapping of str to int, optional
        Number of alarms of each kind ("high-metal mine", "low-metal mine", "clutter"). Default: `CALIBRATION`.

    Examples
    --------
    >>> few = {"high-metal mine": 12, "low-metal mine": 12, "clutter": 16}
    >>> detectors = calibrate("easy", random_state=0, counts=few)
    >>> detectors.down_track.points.shape
    (70, 35)
    """
    rng = check_random_state(random_state)
    if counts is not None and not isinstance(counts, Mapping):
        raise ParameterError(f"counts must map kinds to numbers of alarms, got {described(counts)}.")
    asked = _listed(CALIBRATION if counts is None else counts)
    seeds = rng.randint(2**31 - 1, size=len(asked))
    drawn = _draw_all(asked, difficulty, seeds, n_jobs)
    mines = [one for one in drawn if one.kind in MINES]
    clutter = [one for one in drawn if one.kind not in MINES]
    if not mines or not clutter:
        raise ParameterError("Calibration needs alarms of mines and of clutter: request both in counts.")
    held = np.stack([one.held for one in mines])
    heard = np.stack([one.measured.energies for one in clutter])
    typical = window_truth(held).astype(bool) & (held >= held.max(axis=1, keepdims=True) / 2)
    loud = heard >= heard.max(axis=1, keepdims=True) / 2
    down, cross = (
        learn_prototypes(
            np.stack([getattr(one.measured, plane) for one in mines])[typical],
            np.stack([getattr(one.measured, plane) for one in clutter])[loud],
            np.stack([getattr(one.measured, plane) for one in clutter])[~loud],
            random_state=int(rng.randint(2**31 - 1)),
        )
        for plane in ("down_track", "cross_track")
    )
    return Detectors(down, cross, tuple(seeds.tolist()))


@lru_cache(maxsize=3)
def _usual_detectors(difficulty: str | Conditions, n_jobs: int | None) -> Detectors:
    return calibrate(difficulty, _CALIBRATION_SEED, n_jobs)


def _listed(counts: Mapping[str, int]) -> list[str]:
    for what, n in counts.items():
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 0:
            raise ParameterError(f"The number of alarms of kind {what!r} must be an integer of at least 0, got {n!r}.")
    return [kind for kind, n in counts.items() for _ in range(n)]


def draw_alarms(
    n_high_metal: int = 100,
    n_low_metal: int = 100,
    n_clutter: int = 200,
    difficulty: str | Conditions = "medium",
    random_state: Any = None,
    n_jobs: int | None = None,
    *,
    detectors: Detectors | None = None,
) -> AlarmSet:
    """Simulate alarms like `make_gpr_alarms`, and return them with their ground truth.

    See `make_gpr_alarms` for the parameters.

    Examples
    --------
    >>> from paper.radar.cubes import Prototypes
    >>> by_hand = Prototypes(np.eye(35)[:2], np.array([1.0, 0.0]), reach=1.0)
    >>> alarms = draw_alarms(1, 0, 1, "easy", random_state=1, detectors=Detectors(by_hand, by_hand))
    >>> alarms.energies.shape, str(alarms.kinds[0])
    ((2, 15), 'high-metal mine')
    """
    counts = {"high-metal mine": n_high_metal, "low-metal mine": n_low_metal, "clutter": n_clutter}
    asked = _listed(counts)
    if not asked:
        raise ParameterError("There are no alarms to simulate: all three counts are 0.")
    seeds = check_random_state(random_state).randint(2**31 - 1, size=len(asked))
    detectors = _usual_detectors(difficulty, n_jobs) if detectors is None else check_detectors(detectors)
    _refuse_known(seeds, detectors)
    drawn = _draw_all(asked, difficulty, seeds, n_jobs)
    is_mine = np.array([int(one.kind in MINES) for one in drawn])
    held = np.stack([one.held for one in drawn])
    bags = Bags(
        np.concatenate([detectors.features(one.measured) for one in drawn]),
        N_WINDOWS * np.arange(len(drawn) + 1),
        ids=_numbered([one.kind for one in drawn]),
        feature_names=FEATURES,
        labels=is_mine,
        instance_labels=(window_truth(held) * is_mine[:, None]).ravel(),
    )
    return AlarmSet(
        bags=bags,
        kinds=np.array([one.kind for one in drawn]),
        energies=np.stack([one.measured.energies for one in drawn]),
        target_energies=held,
        seeds=seeds,
        asked=np.array(asked),
        facts=[one.facts for one in drawn],
    )


def _numbered(kinds: Sequence[str]) -> list[str]:
    counts: dict[str, int] = {}
    names = []
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
        names.append(f"{kind} {counts[kind]}")
    return names


def make_gpr_alarms(
    n_high_metal: int = 100,
    n_low_metal: int = 100,
    n_clutter: int = 200,
    difficulty: str | Conditions = "medium",
    random_state: Any = None,
    n_jobs: int | None = None,
    *,
    detectors: Detectors | None = None,
) -> Bags:
    """Simulate radar alarms as bags of depth windows.

    Parameters
    ----------
    n_high_metal, n_low_metal : int
        Number of mines of each kind, the positive bags.
    n_clutter : int
        Number of alarms without a mine, of six kinds.
    difficulty : "easy", "medium", "hard" or Conditions
    random_state : int, RandomState or None
        Must differ from the random state of the detectors.
    n_jobs : int, optional
        Number of processes; it does not affect the result.
    detectors : Detectors, optional
        From `calibrate`. Default: detectors calibrated on separate alarms of this difficulty, and cached.

    Returns
    -------
    Bags
        15 instances per bag with the features "EHDDT", "EHDCT" (confidences from 0 to 1), "width down-track" and
        "width cross-track" (meters). Labels are 1 for mines, ``instance_labels`` 1 for windows that contain a mine; ids
        are such as "low-metal mine 17".

    Examples
    --------
    >>> few = {"high-metal mine": 12, "low-metal mine": 12, "clutter": 16}
    >>> detectors = calibrate("easy", random_state=0, counts=few)
    >>> bags = make_gpr_alarms(2, 1, 2, "easy", random_state=1, detectors=detectors)
    >>> bags
    Bags(5 bags, 75 instances, 4 features, 15 instances per bag)
    >>> bags.ids[:3].tolist()
    ['high-metal mine 1', 'high-metal mine 2', 'low-metal mine 1']
    """
    return draw_alarms(n_high_metal, n_low_metal, n_clutter, difficulty, random_state, n_jobs, detectors=detectors).bags


def _refuse_known(seeds: Array, detectors: Detectors) -> None:
    """Raise if alarms have seeds of the calibration: even under other conditions they would be similar."""
    known = np.isin(seeds, detectors.seeds)
    if known.any():
        raise ParameterError(
            f"{known.sum()} of {len(seeds)} alarms were used to calibrate the detectors, which would bias results: use "
            "another random_state than for calibrate."
        )
