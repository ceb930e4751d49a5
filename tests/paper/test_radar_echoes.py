"""Simulated echoes against closed forms: travel time, amplitude, sign, recording."""

import dataclasses

import numpy as np
import pytest
from empty_ground import EMPTY
from scipy.optimize import minimize_scalar

from paper.radar.conditions import conditions_of
from paper.radar.cubes import GRID, SPEED_OF_LIGHT
from paper.radar.echoes import (
    Body,
    Ground,
    body_echoes,
    interface_echoes,
    interface_reflection,
    pulse,
    record,
    refracted_ray,
    ringing_ricker,
    surface_echoes,
)
from paper.radar.objects import draw_ground, draw_object
from paper.radar.simulation import simulate_alarm

CHANNEL, SCAN = 12, 30
OVER = {"x": float(GRID.x[SCAN]), "y": float(GRID.y[CHANNEL])}  # straight below an antenna


def recorded(bodies, ground, frequency=1.2e9):
    return record(*body_echoes(bodies, ground, GRID), pulse(GRID, frequency, ringing=0.0), GRID)


def peak(trace):
    """Time and height of the greatest value, by a parabola through three samples."""
    k = int(np.abs(trace).argmax())
    left, top, right = trace[k - 1 : k + 2].astype(float)
    shift = 0.5 * (left - right) / (left - 2 * top + right)
    return GRID.start + (k + shift) * GRID.sample_spacing, top - 0.25 * (left - right) * shift


# ---------------------------------------------------------------------- travel time


def test_without_refraction_the_moveout_is_a_hyperbola():
    ground = Ground.flat(GRID, permittivity=1.0, height=0.2)
    times, _ = body_echoes([Body(**OVER, depth=0.3, reflection=1.0, size=0.1)], ground, GRID)
    away = np.hypot(GRID.x - OVER["x"], (GRID.y - OVER["y"])[:, None])
    np.testing.assert_allclose(times[0], 2 * np.sqrt(0.5**2 + away**2) / SPEED_OF_LIGHT, rtol=1e-12)


@pytest.mark.parametrize("height", [0.15, 0.30])
@pytest.mark.parametrize("index", [1.7, 3.75])
@pytest.mark.parametrize("depth", [0.02, 0.3, 8.0])
def test_rays_take_the_least_time_and_obey_snell(depth, index, height):
    offsets = np.array([0.0, 0.1, 0.5, 1.6])
    ray = refracted_ray(offsets, depth, height, index)
    for offset, path in zip(offsets, ray.air + index * ray.ground, strict=True):

        def optical(crossing, offset=offset):
            return np.hypot(height, crossing) + index * np.hypot(depth, offset - crossing)

        least = minimize_scalar(optical, bounds=(0, offset + 1e-9), method="bounded", options={"xatol": 1e-9}).fun
        assert path == pytest.approx(least, abs=1e-9)
    np.testing.assert_allclose(np.sqrt(1 - ray.cos_air**2), index * np.sqrt(1 - ray.cos_ground**2), atol=1e-7)
    crossed = np.sqrt(ray.air**2 - height**2) + np.sqrt(ray.ground**2 - depth**2)
    np.testing.assert_allclose(crossed, offsets, atol=1e-6)


def test_recorded_moveout_is_within_a_tenth_of_a_sample():
    ground = Ground.flat(GRID, permittivity=9.0, height=0.2)
    body = Body(**OVER, depth=0.15, reflection=-1.0, size=0.1)
    cube = recorded([body], ground)
    for scan in range(SCAN - 12, SCAN + 13):  # 0.6 m to both sides
        offset = abs(GRID.x[scan] - OVER["x"])
        least = minimize_scalar(
            lambda u, offset=offset: np.hypot(0.2, u) + 3.0 * np.hypot(0.15, offset - u),
            bounds=(0, offset + 1e-9),
            method="bounded",
            options={"xatol": 1e-9},
        ).fun
        assert abs(peak(cube[CHANNEL, scan])[0] - 2 * least / SPEED_OF_LIGHT) < 0.1 * GRID.sample_spacing


def test_a_dome_is_flatter_than_a_point_and_starts_at_its_top():
    ground = Ground.flat(GRID)
    point, dome = (Body(**OVER, depth=0.1, reflection=-1.0, size=0.3, radius=radius) for radius in (0.0, 0.3))
    times, amplitudes = body_echoes([point, dome], ground, GRID)
    assert times[0, CHANNEL, SCAN] == pytest.approx(times[1, CHANNEL, SCAN])
    aside = np.arange(SCAN + 1, SCAN + 8)
    assert (times[1, CHANNEL, aside] < times[0, CHANNEL, aside]).all()
    fall = amplitudes[:, CHANNEL, SCAN + 6] / amplitudes[:, CHANNEL, SCAN]
    assert fall[1] > fall[0]  # so its signature is wider


def test_a_cylinder_is_a_hyperbola_across_and_level_along():
    along_track = Body(**OVER, depth=0.1, reflection=-1.0, size=0.02, radius=0.02, heading=0.0)
    times, amplitudes = body_echoes([along_track], Ground.flat(GRID), GRID)
    assert np.ptp(times[0], axis=1).max() < 1e-20
    assert np.ptp(amplitudes[0], axis=1).max() < 1e-12
    assert (np.diff(times[0, CHANNEL:, SCAN]) > 0).all()
    ends = dataclasses.replace(along_track, reach=0.5)
    faded = body_echoes([ends], Ground.flat(GRID), GRID)[1][0, CHANNEL] / amplitudes[0, CHANNEL]
    np.testing.assert_allclose(faded, np.exp(-(((GRID.x - OVER["x"]) / 0.5) ** 4)), rtol=1e-9)


def test_lift_and_hollows_shift_echoes_to_first_order():
    flat = Ground.flat(GRID, permittivity=9.0, height=0.2)
    body = Body(**OVER, depth=0.15, reflection=-1.0, size=0.1)
    uneven = dataclasses.replace(flat, lift=flat.lift + 0.004, hollows=flat.hollows + 0.003)
    exact = dataclasses.replace(flat, height=0.207)
    times, _ = body_echoes([body], uneven, GRID)
    wanted, _ = body_echoes([dataclasses.replace(body, depth=0.147)], exact, GRID)
    assert np.abs(times - wanted)[0, CHANNEL, SCAN] < 1e-15
    assert np.abs(times - wanted).max() < 0.02 * GRID.sample_spacing
    for mine, theirs in zip(surface_echoes(uneven), surface_echoes(exact), strict=True):
        np.testing.assert_allclose(mine, theirs)


# ---------------------------------------------------------------------- amplitude and sign


@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_amplitude_falls_with_depth_as_the_formula_says(radius):
    n, height, attenuation = 3.0, 0.2, 2.0
    ground = Ground.flat(GRID, n**2, attenuation, height)
    depths = np.array([0.05, 0.1, 0.2, 0.4])
    found = []
    for depth in depths:
        body = Body(**OVER, depth=depth, reflection=-1.0, size=0.3, radius=radius)
        found.append(peak(recorded([body], ground)[CHANNEL, SCAN])[1])
    way = height + depths / n
    wanted = -(1 - 0.5**2) * np.exp(-2 * attenuation * depths) / way * 0.3 / (n * way + radius)
    np.testing.assert_allclose(found, wanted, rtol=0.03)
    assert (np.diff(np.abs(found)) < 0).all()


def test_a_cylinder_spreads_the_wave_in_one_direction_only():
    n, height, attenuation, radius = 3.0, 0.2, 2.0, 0.02
    ground = Ground.flat(GRID, n**2, attenuation, height)
    depths = np.array([0.05, 0.1, 0.2, 0.4])
    pipes = [Body(**OVER, depth=d, reflection=-1.0, size=radius, radius=radius, heading=0.3) for d in depths]
    found = body_echoes(pipes, ground, GRID)[1][:, CHANNEL, SCAN]
    way = height + depths / n
    wanted = -(1 - 0.5**2) * np.exp(-2 * attenuation * depths) / way * np.sqrt(radius / (n * way + radius))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_amplitude_falls_with_attenuation_as_the_formula_says():
    body = Body(**OVER, depth=0.2, reflection=-1.0, size=0.3, radius=0.3)
    weak, strong = (recorded([body], Ground.flat(GRID, attenuation=a)) for a in (1.0, 4.0))
    ratio = np.abs(strong[CHANNEL, SCAN]).max() / np.abs(weak[CHANNEL, SCAN]).max()
    assert ratio == pytest.approx(np.exp(-2 * 3.0 * 0.2), rel=1e-4)


def test_the_antenna_looks_down():
    ground = Ground.flat(GRID, permittivity=1.0, attenuation=0.0, height=0.2)
    _, amplitudes = body_echoes([Body(**OVER, depth=0.2, reflection=1.0, size=0.1)], ground, GRID)
    away = np.hypot(0.4, GRID.x - OVER["x"])
    np.testing.assert_allclose(amplitudes[0, CHANNEL], (0.4 / away) ** 2 * 0.1 / away**2, rtol=1e-9)


def test_interfaces_echo_as_very_flat_domes_do():
    ground = Ground.flat(GRID)
    dome = Body(**OVER, depth=0.2, reflection=0.1, size=1e6, radius=1e6)
    times, amplitudes = interface_echoes(np.full((1, 24, 60), 0.2), np.array([0.1]), ground)
    other_times, other_amplitudes = body_echoes([dome], ground, GRID)
    assert times[0, CHANNEL, SCAN] == pytest.approx(other_times[0, CHANNEL, SCAN], rel=1e-6)
    assert amplitudes[0, CHANNEL, SCAN] == pytest.approx(other_amplitudes[0, CHANNEL, SCAN], rel=1e-5)


@pytest.mark.parametrize(
    ("kind", "soil", "sign"),
    [("high-metal mine", 9.0, -1), ("low-metal mine", 9.0, 1), ("low-metal mine", 1.5, -1), ("void", 9.0, 1)],
)
def test_polarity(kind, soil, sign):
    """Metal and denser matter turn the sign; plastic in soil, and air, keep it."""
    settled = {"permittivity": (soil, soil), "mine_depth": (0.1, 0.1), "void_spread": 0.0, "void_depth": (0.1, 0.1)}
    alarm = simulate_alarm(kind, dataclasses.replace(EMPTY, **settled), random_state=1)
    above = alarm.target[CHANNEL, SCAN]
    height, index = alarm.facts["height"], np.sqrt(soil)
    top = (2 * (height + index * 0.1) / SPEED_OF_LIGHT - GRID.start) / GRID.sample_spacing
    first = above[: round(top) + 2]  # what follows comes from the bottom, the rim and ringing
    assert np.sign(first[np.abs(first).argmax()]) == sign
    assert alarm.facts["depth"] == pytest.approx(0.1)


SOIL = 9.0


def drawn_mine(kind, seed=0):
    """Bodies of a mine straight below an antenna, 0.1 m deep."""
    conditions = dataclasses.replace(EMPTY, mine_depth=(0.1, 0.1))
    return draw_object(kind, np.random.RandomState(seed), conditions, (OVER["x"], OVER["y"]), SOIL)


def test_plastic_echoes_at_its_bottom_too():
    """Later by the way through the plastic, turned in sign, weaker by passing the top twice."""
    (top, *rim, bottom), facts = drawn_mine("low-metal mine", seed=1)
    assert facts["metal part"] == 0
    assert len(rim) == 12
    times, _ = body_echoes([top, bottom], Ground.flat(GRID, SOIL), GRID)
    delay = np.diff(times[:, CHANNEL, SCAN])[0]
    way = 2 * facts["thickness"] * np.sqrt(facts["object permittivity"]) / SPEED_OF_LIGHT
    assert delay == pytest.approx(way, rel=1e-9)
    passed = 1 - interface_reflection(SOIL, facts["object permittivity"]) ** 2
    assert bottom.reflection == pytest.approx(interface_reflection(facts["object permittivity"], SOIL) * passed)
    assert top.reflection > 0 > bottom.reflection


def test_some_low_metal_mines_have_a_metal_part_inside():
    parts = [drawn_mine("low-metal mine", seed) for seed in range(40)]
    with_part = [(bodies, facts) for bodies, facts in parts if facts["metal part"]]
    assert 10 <= len(with_part) <= 30
    bodies, _ = with_part[0]
    assert bodies[0].depth < bodies[-1].depth < bodies[-2].depth  # between top and bottom
    assert bodies[-1].reflection < 0


def test_metal_echoes_once_more_between_mine_and_surface():
    """After twice the way in the soil, with the sign of two reflections at metal and one at the surface from below."""
    (top, *rim, again), facts = drawn_mine("high-metal mine")
    assert len(rim) == 12
    times, _ = body_echoes([top, again], Ground.flat(GRID, SOIL), GRID)
    down_and_up = 2 * 0.1 * np.sqrt(SOIL) / SPEED_OF_LIGHT
    assert np.diff(times[:, CHANNEL, SCAN])[0] == pytest.approx(down_and_up, rel=1e-9)
    assert again.reflection == pytest.approx(0.5 * top.reflection**2)
    assert top.reflection < 0 < again.reflection
    assert facts["depth"] == pytest.approx(0.1)


def test_the_rim_of_a_mine_diffracts_with_the_other_sign():
    (top, *rim, _), facts = drawn_mine("high-metal mine")
    around = np.hypot([body.x - top.x for body in rim], [body.y - top.y for body in rim])
    np.testing.assert_allclose(around, facts["radius"])
    assert all(body.reflection * top.reflection < 0 for body in rim)
    strengths = sum(body.reflection * body.size for body in rim) / (top.reflection * top.size)
    assert -0.6 <= strengths <= -0.3


def test_flight_and_surface_are_as_rough_as_stated():
    conditions = dataclasses.replace(conditions_of("medium"), roughness=(0.007, 0.007))
    ground = draw_ground(np.random.RandomState(0), conditions, GRID)
    assert ground.lift.std() == pytest.approx(conditions.jitter)
    assert ground.hollows.std() == pytest.approx(0.007)
    assert (ground.brightness - 1).std() == pytest.approx(conditions.brightness)
    assert abs(ground.lift.mean()) < 1e-9


@pytest.mark.parametrize("length", [0.1, 0.2])
def test_the_surface_is_correlated_over_the_stated_length(length):
    """By exp(-(d / length)²/2) over a distance d: 0.61 over the length itself."""
    conditions = dataclasses.replace(conditions_of("medium"), roughness_length=length)
    lag = round(length / GRID.scan_spacing)
    found = []
    for seed in range(40):
        hollows = draw_ground(np.random.RandomState(seed), conditions, GRID).hollows
        found.append(np.corrcoef(hollows[:, lag:].ravel(), hollows[:, :-lag].ravel())[0, 1])
    assert np.mean(found) == pytest.approx(np.exp(-0.5), abs=0.1)


def test_reflection_at_an_interface_depends_on_the_side():
    assert interface_reflection(4.0, 4.0) == 0
    assert interface_reflection(2.0, 7.0) == -interface_reflection(7.0, 2.0) < 0


def test_the_surface_is_a_mirror_at_the_antennas_height():
    ground = Ground.flat(GRID, permittivity=9.0, height=0.25)
    cube = record(*surface_echoes(ground), pulse(GRID, 1.2e9, 0.0), GRID)
    time, height = peak(cube[3, 7])
    assert abs(time - 2 * 0.25 / SPEED_OF_LIGHT) < 0.1 * GRID.sample_spacing
    assert height == pytest.approx(-0.5 / 0.25, rel=0.03)


# ---------------------------------------------------------------------- recording


def test_pulses_keep_their_shape_between_samples_and_leave_at_the_ends():
    spectrum = pulse(GRID, 1.0e9, 0.2)
    when = GRID.start + np.linspace(-1.0, GRID.n_samples + 1.0, 24 * 60).reshape(1, 24, 60) * GRID.sample_spacing
    cube = record(when, np.ones_like(when), spectrum, GRID)
    wanted = ringing_ricker(GRID.times - when[0, ..., None], 1.0e9, 0.2)
    inside = (when[0] >= GRID.start) & (when[0] < GRID.times[-1])
    assert np.abs(cube - wanted)[inside].max() < 0.03  # of a pulse of height 1, all of it from sharing the spikes
    outside = (when[0] < GRID.start) | (when[0] > GRID.times[-1] + GRID.sample_spacing)
    assert outside.any()
    assert np.abs(cube[outside]).max() == 0


def test_the_antenna_rings_a_period_later_with_the_other_sign():
    frequency = 1.2e9
    tops = ringing_ricker(np.arange(4) / frequency, frequency, 0.2)
    np.testing.assert_allclose(tops, [1.0, -0.2, 0.04, -0.008], atol=2e-3)


@pytest.mark.parametrize("what", ["n_layers", "n_decoys", "n_scatterers"])
def test_all_that_is_asked_for_is_in_the_scene(what):
    empty, full = (
        simulate_alarm("bare soil", dataclasses.replace(EMPTY, noise=0.0, **{what: (n, n)}), 0).cube[..., 60:]
        for n in (0, 3)
    )
    assert np.abs(full - full.mean(axis=1, keepdims=True)).max() > 0.005
    assert np.abs(empty - empty.mean(axis=1, keepdims=True)).max() < 1e-5


def test_echoes_add_up():
    ground, spectrum = Ground.flat(GRID), pulse(GRID, 1.2e9, 0.1)
    bodies = [Body(x=0.1 * k, y=0.0, depth=0.1 + 0.05 * k, reflection=-1.0, size=0.1) for k in range(3)]
    together = record(*body_echoes(bodies, ground, GRID), spectrum, GRID)
    alone = sum(record(*body_echoes([body], ground, GRID), spectrum, GRID) for body in bodies)
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert not record(*body_echoes([], ground, GRID), spectrum, GRID).any()


def test_noise_has_the_stated_energy_and_is_all_there_is_beside_the_surface():
    quiet, loud = (simulate_alarm("bare soil", dataclasses.replace(EMPTY, noise=s), 3).cube for s in (0.0, 0.01))
    assert (loud - quiet).std() == pytest.approx(0.01, rel=0.01)
    assert abs((loud - quiet).mean()) < 1e-4
    assert np.abs(quiet[..., 140:]).max() < 1e-5  # 5 ns after the surface its pulse is over
