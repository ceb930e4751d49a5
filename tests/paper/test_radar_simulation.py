"""Simulated alarms: every kind, seeds, difficulty, and conditions that cannot be."""

import dataclasses

import numpy as np
import pytest
from empty_ground import EMPTY

from fuzzymil._utils.errors import InputTypeError, ParameterError
from paper.radar import simulation
from paper.radar.conditions import Conditions, conditions_of
from paper.radar.cubes import GRID, check_cube, screen
from paper.radar.simulation import CLUTTER, KINDS, MINES, draw_alarm, simulate_alarm

# ---------------------------------------------------------------------- alarms


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind):
    alarm = simulate_alarm(kind, random_state=0)
    assert alarm.kind == kind
    assert alarm.is_mine == (kind in MINES) != (kind in CLUTTER)
    assert alarm.cube.shape == alarm.target.shape == GRID.shape
    assert alarm.cube.dtype == alarm.target.dtype == np.float32
    assert np.isfinite(alarm.cube).all()
    assert alarm.target.any() == (kind != "bare soil")
    assert {"permittivity", "attenuation", "height", "frequency"} <= set(alarm.facts)
    assert all(isinstance(value, float) for value in alarm.facts.values())
    energy = np.square(alarm.target).sum(axis=2)
    if kind != "bare soil":  # in the middle, where the alarm is
        channel, scan = np.unravel_index(energy.argmax(), energy.shape)
        assert max(abs(GRID.x[scan]), abs(GRID.y[channel])) < 0.3
    check_cube(alarm.cube)


def test_the_scene_does_not_depend_on_the_target_gain():
    kind, faint = "rock", dataclasses.replace(conditions_of("medium"), target_gain=0.1)
    usual, weak = simulate_alarm(kind, random_state=4), simulate_alarm(kind, faint, random_state=4)
    np.testing.assert_allclose(usual.cube - usual.target, weak.cube - weak.target, atol=1e-5)
    np.testing.assert_allclose(0.125 * usual.target, weak.target, atol=1e-7)


def test_seeds():
    first, again, other = (simulate_alarm("rock", random_state=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.cube, again.cube)
    np.testing.assert_array_equal(first.target, again.target)
    assert first.facts == again.facts
    assert np.abs(first.cube - other.cube).max() > 0.1
    assert first.facts["permittivity"] != other.facts["permittivity"]
    rng = np.random.RandomState(5)
    np.testing.assert_array_equal(simulate_alarm("rock", random_state=rng).cube, first.cube)
    assert np.abs(simulate_alarm("rock", random_state=rng).cube - first.cube).max() > 0.1


def test_harder_means_less_signal_beside_the_clutter():
    def log_ratio(difficulty, seed):
        alarm = simulate_alarm("low-metal mine", difficulty, random_state=seed)
        rest = alarm.cube - alarm.target
        rest = (rest - rest.mean(axis=1, keepdims=True))[..., 60:]  # below the ground, without what is level
        return np.log(np.square(alarm.target[..., 60:]).sum() / np.square(rest).sum())

    easy, medium, hard = (np.mean([log_ratio(name, seed) for seed in range(4)]) for name in ("easy", "medium", "hard"))
    assert easy > medium + np.log(1.5)  # the same seeds: the same ground and the same mines
    assert medium > hard + np.log(1.5)


@pytest.mark.parametrize(("group", "kinds"), [("mine", MINES), ("clutter", CLUTTER)], ids=["mine", "clutter"])
def test_alarms_of_a_group_are_raised_by_the_prescreener(group, kinds):
    alarm = draw_alarm(group, random_state=2)
    assert alarm.kind in kinds
    assert screen(alarm.cube).raised
    assert alarm.facts["tries"] >= 1
    np.testing.assert_array_equal(draw_alarm(group, random_state=2).cube, alarm.cube)


def test_what_is_never_raised_is_an_error(monkeypatch):
    monkeypatch.setattr(simulation, "_MOST_TRIES", 2)
    with pytest.raises(ParameterError, match=r"no alarm in 2 passes over 'bare soil'.*target_gain"):
        draw_alarm("bare soil", EMPTY, random_state=0)


def test_unknown_names_are_told():
    with pytest.raises(ParameterError, match=r"Unknown kind of alarm 'rok'.*Did you mean 'rock'"):
        simulate_alarm("rok")
    with pytest.raises(ParameterError, match=r"Unknown kind of alarm 'mines'.*Did you mean 'mine'"):
        draw_alarm("mines")
    with pytest.raises(ParameterError, match=r"Unknown difficulty 'hrad'.*Did you mean 'hard'"):
        simulate_alarm("rock", "hrad")
    with pytest.raises(InputTypeError, match=r"name or Conditions, got 3"):
        simulate_alarm("rock", 3)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"height": (0.3, 0.15)}, "range of height must.*0.3, 0.15"),
        ({"noise": float("nan")}, r"range of noise"),
        ({"permittivity": (0.5, 3.0)}, r"permittivity must be at least.*1\.0.*air"),
        ({"n_decoys": (-1, 2)}, r"n_decoys must be at least 0"),
        ({"height": (0.0, 0.2)}, r"height must be at least 0.1"),
    ],
    ids=["reversed", "nan", "permittivity", "count", "height"],
)
def test_impossible_conditions(changed, message):
    with pytest.raises(ParameterError, match=message):
        simulate_alarm("rock", Conditions(**changed))


# ---------------------------------------------------------------------- the prescreener
