"""The prescreener: what it raises, and the cubes that it refuses."""

import dataclasses

import numpy as np
import pytest
from empty_ground import EMPTY

from fuzzymil._utils.errors import InputError, InputTypeError
from paper.radar.conditions import conditions_of
from paper.radar.cubes import GRID, SPEED_OF_LIGHT, Grid, check_cube, screen
from paper.radar.simulation import KINDS, simulate_alarm


@pytest.fixture(scope="module")
def mine():
    return simulate_alarm("high-metal mine", "easy", random_state=0).cube


def test_the_prescreener_raises_what_is_in_the_middle_only(mine):
    found = screen(mine)
    assert found.raised
    assert found.energy > 10
    assert max(abs(found.x), abs(found.y)) < 0.2
    nothing = screen(simulate_alarm("bare soil", EMPTY, random_state=0).cube)
    assert not nothing.raised
    assert nothing.energy < 2
    assert nothing.reason.endswith("(an alarm needs 2.5)")


@pytest.mark.parametrize(("axis", "shift", "place"), [(1, 25, 1.25), (1, -24, -1.2), (0, 11, 0.55)])
def test_a_target_at_the_edge_is_rejected(axis, shift, place):
    """Targets that are moved there, in scenes without any other."""
    alarm = simulate_alarm("high-metal mine", dataclasses.replace(EMPTY, target_gain=0.5), random_state=0)
    moved = alarm.cube - alarm.target + np.roll(alarm.target, shift, axis)
    found = screen(moved)
    assert not found.raised
    assert (found.x if axis else found.y) == pytest.approx(place, abs=0.2)


def test_something_stronger_at_the_edge_is_told():
    alarm = simulate_alarm("high-metal mine", EMPTY, random_state=0)
    found = screen(alarm.cube + 0.8 * np.roll(alarm.target, 9, axis=0))
    assert found.raised  # the weaker one is at the edge
    found = screen(alarm.cube + 2 * np.roll(alarm.target, 9, axis=0))
    assert found.energy > 2.5
    assert not found.raised
    assert found.y == pytest.approx(0.45, abs=0.1)
    assert f"{found.y:+.2f} m cross-track from the center: center the cube there" in found.reason


@pytest.mark.parametrize("height", [0.5, 0.9], ids=["late", "later"])
@pytest.mark.parametrize("door", [check_cube, screen], ids=["check", "screen"])
def test_a_ground_that_comes_too_late_is_refused(height, door):
    """Up to sample 55 half of the deepest window is recorded: antennas up to 0.48 m."""
    cube = simulate_alarm("bare soil", dataclasses.replace(EMPTY, height=(height, height)), 0).cube
    sample = round((2 * height / SPEED_OF_LIGHT - GRID.start) / GRID.sample_spacing)
    with pytest.raises(InputError, match=rf"strongest echo, .* ground, at sample {sample} .* up to sample 55: "):
        door(cube)
    door(simulate_alarm("bare soil", dataclasses.replace(EMPTY, height=(0.46, 0.46)), 0).cube)


def test_an_offset_is_refused_and_a_small_one_changes_nothing(mine):
    as_counts = np.round(3000 * mine + 32768).astype(np.uint16)
    with pytest.raises(InputError, match=r"offset:.*channel 0.*3276\d\. Subtract it"):
        check_cube(as_counts)
    small = mine + 0.03 * np.abs(mine).max(axis=(1, 2), keepdims=True)
    assert screen(small).energy == pytest.approx(screen(mine).energy, rel=1e-3)
    one = mine.copy()
    one[7] += np.abs(mine[7]).max()
    with pytest.raises(InputError, match=r"cube lane has an offset: .*channel 7"):
        check_cube(one, name="lane")


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_simulated_cubes_are_in_order(difficulty):
    highest = dataclasses.replace(conditions_of(difficulty), height=(0.30, 0.30), roughness=(0.012, 0.012))
    for seed, kind in enumerate(KINDS):
        check_cube(simulate_alarm(kind, highest, seed).cube)


def broken(cube, change):
    cube = cube.copy()
    change(cube)
    return cube


def missing(cube):
    cube[3, 7, 11] = np.nan
    cube[4, 0, 0] = np.inf


def silent(cube):
    cube[[2, 5]] = 0


def dropped(cube):
    cube[6, 10] = 1.5


def clipped(cube):
    cube[9] = cube[9].clip(-0.4, 0.4)


def boundless(cube):
    cube *= 1e20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            missing,
            r"2 of 368640 samples.*finite.*first in channel 3, scan 7, sample 11 \(nan\)",
        ),
        (silent, r"channels that.*least one scan: 2, 5 \(counted from 0\)"),
        (dropped, "channels that.*dead.*least one scan: 6"),
        (clipped, r"channels that are saturated .*: 9 \(counted from 0\)"),
        (boundless, r"e\+\d+, expected between 1e-15 and 1e\+15"),
    ],
    ids=["not finite", "silent channels", "silent trace", "saturated channel", "boundless"],
)
@pytest.mark.parametrize("door", [check_cube, screen], ids=["check", "screen"])
def test_damaged_cubes_are_refused(mine, change, message, door):
    with pytest.raises(InputError, match=message):
        door(broken(mine, change))


def test_a_cube_rounded_to_a_few_values_is_not_screened(mine):
    coarse = np.round(100 * mine / np.abs(mine).max())
    with pytest.raises(InputError, match=r"constant background.*ns below the ground"):
        screen(coarse)


@pytest.mark.parametrize(
    "shape", [(24, 60), (60, 24, 256), (24, 60, 255), (1, 24, 60, 256), ()], ids=lambda shape: f"{len(shape)} axes"
)
def test_other_shapes_are_refused(shape):
    with pytest.raises(InputError, match=r"shape.*expected \(24, 60,.*256\).*channels, scans, samples"):
        check_cube(np.ones(shape))


def test_grids_with_too_few_background_scans_are_refused():
    short = Grid(n_scans=30)
    with pytest.raises(InputError, match=r"cube north has 6 different background scans .* at least 12 are needed"):
        check_cube(np.random.RandomState(0).normal(size=short.shape), short, name="north")


def test_scans_that_are_filled_in_are_no_background(mine):
    filled = np.pad(mine[:, 20:40], ((0, 0), (20, 20), (0, 0)), mode="edge")
    with pytest.raises(InputError, match=r"2 different background scans.*filled"):
        check_cube(filled)


def test_cubes_of_other_types():
    rng = np.random.RandomState(0)
    whole = np.round(1000 * rng.normal(size=GRID.shape)).astype(np.int16)
    whole[..., 20] -= 8000  # the ground
    assert check_cube(whole).dtype == np.float64
    with pytest.raises(InputTypeError, match=r"cube north must be an array of real numbers .*, got <U6: convert it"):
        check_cube(whole.astype(str), name="north")
    with pytest.raises(InputTypeError, match="got complex128: convert it first"):
        check_cube(whole.astype(complex))
    with pytest.raises(InputTypeError, match=r"got an object of type Alarm:.*attribute cube"):
        check_cube(simulate_alarm("void", random_state=0))
