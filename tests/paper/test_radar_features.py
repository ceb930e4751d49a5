"""From cubes to bags: alignment, edges, widths, neighbors, windows, and the sets of simulated alarms."""

import numpy as np
import pytest
from joblib import parallel_config

from fuzzymil._utils.errors import InputError, ParameterError
from paper.radar import alarms as alarms_module
from paper.radar.alarms import calibrate, draw_alarms, make_gpr_alarms
from paper.radar.cubes import (
    DEPTHS,
    EDGES,
    FEATURES,
    GRID,
    N_WINDOWS,
    NEIGHBORS,
    PARTS,
    SKIP,
    SPEED_OF_LIGHT,
    STEP,
    Detectors,
    Prototypes,
    align,
    background_of,
    confidences,
    edge_histograms,
    edge_kinds,
    features_of,
    ground_peaks,
    learn_prototypes,
    measure,
    measured,
    signature_width,
    soft_labels,
    whiten,
    window_truth,
    windows,
)
from paper.radar.echoes import Body, Ground, body_echoes, pulse, record, surface_echoes
from paper.radar.simulation import draw_alarm

PLANES = ("down_track", "cross_track")
FEW = {"high-metal mine": 10, "low-metal mine": 10, "clutter": 16}


@pytest.fixture(scope="module")
def detectors():
    return calibrate("easy", random_state=100, counts=FEW)


@pytest.fixture(scope="module")
def alarms(detectors):
    return draw_alarms(2, 1, 2, "easy", 101, detectors=detectors)


# ---------------------------------------------------------------------- alignment


def traces(ground, echo=None):
    """Cubes whose traces have a ground pulse at ``ground`` (c, s) and, after it, an echo."""
    t = np.arange(GRID.n_samples)
    cube = -np.exp(-(((t - ground[..., None]) / 3) ** 2))
    return cube if echo is None else cube + 0.5 * np.exp(-(((t - ground[..., None] - echo) / 3) ** 2))


def test_ground_is_found_to_a_fraction_of_a_sample():
    ground = 25 + np.random.RandomState(0).uniform(-2, 2, size=GRID.shape[:2])
    assert np.abs(ground_peaks(traces(ground)) - ground).max() < 0.05


def test_a_stronger_echo_of_the_other_sign_is_not_taken_for_the_ground():
    ground = np.full(GRID.shape[:2], 25.0)
    cube = traces(ground)
    cube[:, 30, 28] = 5.0  # near enough to be looked at
    assert np.abs(ground_peaks(cube) - ground).max() < 0.05


def test_aligned_traces_are_alike_whatever_the_height():
    rng = np.random.RandomState(1)
    ground = 25 + rng.uniform(-3, 3, size=GRID.shape[:2])
    aligned = align(traces(ground, echo=60), ground_peaks(traces(ground, echo=60)))
    assert aligned.shape == (*GRID.shape[:2], DEPTHS)
    assert aligned.std(axis=(0, 1)).max() < 0.02
    assert abs(SKIP + STEP * aligned[0, 0].argmax() - 60 * GRID.sample_spacing) < STEP


def test_depths_past_the_record_count_as_background():
    cube = np.random.RandomState(2).normal(size=GRID.shape)
    aligned = align(cube, np.full(GRID.shape[:2], 50.0))
    assert np.isnan(aligned[..., -1]).all()
    whitened = whiten(aligned, background_of(aligned))
    assert (whitened[..., -1] == 0).all()
    assert np.isfinite(whitened).all()


def test_whitening_does_away_with_what_is_everywhere():
    rng = np.random.RandomState(3)
    cube = rng.normal(size=(*GRID.shape[:2], DEPTHS)) * np.linspace(1, 9, DEPTHS)
    cube += rng.normal(scale=50, size=(GRID.n_channels, 1, DEPTHS))
    whitened = whiten(cube, background_of(cube))
    assert np.allclose(whitened.std(axis=(0, 1)), 1, atol=0.1)
    assert np.abs(whitened.mean(axis=1)).max() < 1


# ---------------------------------------------------------------------- edges


def ramp(along, depth):
    """A plane wave: large steps where ``along * place + depth * time`` passes a multiple of six."""
    place, time = np.arange(24)[:, None], np.arange(104)
    return (100.0 * (((along * place + depth * time) // 6) % 2))[None]


@pytest.mark.parametrize(
    ("along", "depth", "kind"),
    [(1, 0, "vertical"), (0, 1, "horizontal"), (1, -1, "diagonal"), (1, 1, "antidiagonal")],
    ids=["vertical", "horizontal", "diagonal", "antidiagonal"],
)
def test_edges_are_told_by_direction(along, depth, kind):
    found = edge_kinds(ramp(along, depth))[0, 2:-2, 2:-2]
    counts = np.bincount(found.ravel(), minlength=5)
    assert EDGES[counts[:4].argmax()] == kind
    assert counts[EDGES.index(kind)] > 0.9 * counts[:4].sum()


def test_noise_has_hardly_any_edges():
    quiet = edge_kinds(np.random.RandomState(4).normal(size=(6, 24, 104)))
    assert (quiet == EDGES.index("none")).mean() > 0.8  # one of four operators is beyond two deviations


def test_a_hyperbola_rises_stays_and_falls():
    place, time = np.arange(24)[:, None], np.arange(104)
    apex = 22 + np.sqrt(100 + (1.2 * (place - 11.5)) ** 2)
    wave = 60 * np.exp(-(((time - apex) / 2) ** 2))
    histogram = edge_histograms(wave[None]).reshape(N_WINDOWS, PARTS, len(EDGES))[5]  # samples 30 to 49
    rising, falling = histogram[0], histogram[-1]  # depth shrinks towards the middle, then grows
    assert rising[EDGES.index("antidiagonal")] > 3 * rising[EDGES.index("diagonal")]
    assert falling[EDGES.index("diagonal")] > 3 * falling[EDGES.index("antidiagonal")]
    middle = histogram[PARTS // 2]
    assert middle[:4].argmax() == EDGES.index("horizontal")


def test_histograms_are_shares():
    histogram = edge_histograms(10 * np.random.RandomState(5).normal(size=(6, 24, 104)))
    assert histogram.shape == (N_WINDOWS, 35)
    assert np.allclose(np.square(histogram).reshape(N_WINDOWS, PARTS, 5).sum(axis=2), 1)


# ---------------------------------------------------------------------- widths


@pytest.mark.parametrize("n", [1, 4, 12])
def test_width_of_a_box(n):
    energy = np.ones(24)
    energy[5 : 5 + n] += 7.0
    assert np.isclose(signature_width(energy, np.array(1.0), 0.05), 0.05 * n)


def test_width_of_a_gaussian():
    x = np.arange(-200, 201)
    found = signature_width(np.exp(-0.5 * (x / 20) ** 2), np.array(0.0), 1.0)
    assert np.isclose(found, 2 * np.sqrt(np.pi) * 20)  # (∫e)² / ∫e²


def test_no_signature_has_no_width():
    assert signature_width(np.full((2, 9), 0.5), np.array([1.0, 0.5]), 0.05).tolist() == [0, 0]


# ---------------------------------------------------------------------- neighbors


def test_confidence_by_hand():
    points = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [50.0]])
    labels = np.array([1.0, 0.8, 0.6, 0.4, 0.2, 1.0])
    expected = (
        sum(label / (1 + max(0.0, d / 2 - 1) ** 2) for label, d in zip(labels, range(NEIGHBORS), strict=False)) / 5
    )
    assert np.isclose(confidences(np.array([[0.0]]), Prototypes(points, labels, reach=2.0))[0], expected)


def test_soft_labels_keep_the_class_and_tell_the_company():
    rng = np.random.RandomState(6)
    mines, clutter = rng.normal(5, 0.1, size=(8, 3)), rng.normal(0, 0.1, size=(8, 3))
    stray = np.array([[0.0, 0.0, 0.0]])  # a mine among clutter
    labels = soft_labels(np.concatenate([mines, stray, clutter]), np.arange(17) < 9)
    assert np.allclose(labels[:8], 1)
    assert labels[8] == 0.51
    assert (labels[9:] <= 0.49).all()


def test_prototypes_need_enough_descriptors():
    few, many = (np.random.RandomState(7).normal(size=(n, 2)) for n in (7, 99))
    with pytest.raises(InputError, match=r"30 prototypes of mines need.*different descriptors, got 7"):
        learn_prototypes(few, many, many)


# ---------------------------------------------------------------------- windows


def test_window_truth_needs_share_and_strength():
    energies = np.array([[10.0, 2.0, 1.9, 0.0], [0.6, 0.4, 0.5, 0.1], [0.0, 0.0, 0.0, 0.0]])
    assert window_truth(energies).tolist() == [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]


def test_truth_is_where_the_target_is():
    rng = np.random.RandomState(8)
    ground = np.full(GRID.shape[:2], 25.0)
    start, stop = windows()[9]
    target = np.zeros(GRID.shape)
    target[8:16, 25:35, 25 + (start + stop) // 2] = 50.0
    cube = 100 * traces(ground) + rng.normal(size=GRID.shape)
    held = window_truth(measure(cube + target, target).target_energies)
    assert held[9] == 1
    assert held.sum() <= 4
    assert not held[:6].any()


@pytest.fixture(scope="module", params=[0.0, np.pi / 2], ids=["pipe along", "pipe across"])
def pipe(request):
    """A buried pipe that ends before the background begins, along the track or across it, and what is measured of it.

    Its echo is level along it and a hyperbola across it.
    """
    ground = Ground.flat(GRID, permittivity=9.0, height=0.2)
    body = Body(x=0.0, y=0.0, depth=0.12, reflection=-1.0, size=0.03, radius=0.03, heading=request.param, reach=0.45)
    spectrum = pulse(GRID, 1.2e9, 0.0)
    target = record(*body_echoes([body], ground, GRID), spectrum, GRID)
    noise = np.random.RandomState(9).normal(scale=0.01, size=GRID.shape)
    found = measure(record(*surface_echoes(ground), spectrum, GRID) + target + noise, target)
    best = int(found.target_energies.argmax())
    return request.param == 0.0, found, best


def test_detectors_and_widths_look_along_their_own_axis(pipe):
    along, found, best = pipe
    level, curved = (found.down_track, found.cross_track) if along else (found.cross_track, found.down_track)
    flat, bent = (histogram[best].reshape(PARTS, len(EDGES)) for histogram in (level, curved))
    assert (flat[2:5, :4].argmax(axis=1) == EDGES.index("horizontal")).all()
    rising, falling = bent[2], bent[-3]
    assert rising[EDGES.index("antidiagonal")] > 2 * rising[EDGES.index("diagonal")]
    assert falling[EDGES.index("diagonal")] > 2 * falling[EDGES.index("antidiagonal")]
    down, across = found.widths[best]
    assert (down > 1.3 * across) if along else (across > 1.3 * down)


def test_the_pipe_is_where_it_is_loud_and_elsewhere_there_is_no_width(pipe):
    _, found, best = pipe
    start, stop = windows()[best]
    assert start < 2 * 0.12 * 3.0 / SPEED_OF_LIGHT / GRID.sample_spacing < stop
    assert found.energies.argmax() == best
    np.testing.assert_allclose(found.energies[-4:], 1.0, atol=0.2)  # noise alone, in units of the background
    assert found.target_energies[-4:].max() < 0.01
    assert found.widths[-4:].max() < 0.8  # without the floor noise would be as wide as the slice, 1.2 m


def test_features_stand_in_the_order_of_their_names(pipe):
    """EHDDT from the down-track histograms, EHDCT from the cross-track ones, then the two widths."""
    _, found, best = pipe
    known = {name: Prototypes(getattr(found, name)[[best]], np.array([1.0]), 0.01) for name in PLANES}
    features = Detectors(known["down_track"], known["cross_track"]).features(found)
    assert features[best, :2].tolist() == [1.0, 1.0]
    swapped = Detectors(known["cross_track"], known["down_track"]).features(found)
    assert swapped[best, :2].max() < 0.01
    assert np.array_equal(features[:, 2:], found.widths)


def test_a_cube_without_noise_is_refused():
    with pytest.raises(InputError, match=r"cube still has a.*background.*0\.6 ns below"):
        measured(traces(np.full(GRID.shape[:2], 25.0)) * 0 - (np.arange(256) == 25), name="still")


# ---------------------------------------------------------------------- sets of alarms


@pytest.mark.slow
def test_alarms_do_not_depend_on_the_number_of_processes(alarms, detectors):
    with parallel_config(backend="threading"):  # processes would take seconds to start
        two = draw_alarms(2, 1, 2, "easy", 101, n_jobs=2, detectors=detectors)
    for name in ("instances", "labels", "instance_labels", "ids"):
        assert np.array_equal(getattr(alarms.bags, name), getattr(two.bags, name))
    assert np.array_equal(alarms.energies, two.energies)


@pytest.mark.slow
def test_bags_tell_what_they_are(alarms, detectors):
    bags = alarms.bags
    assert bags.feature_names == FEATURES
    assert bags.sizes.tolist() == [15] * 5
    assert bags.labels.tolist() == [1, 1, 1, 0, 0]
    assert bags.ids[:3].tolist() == ["high-metal mine 1", "high-metal mine 2", "low-metal mine 1"]
    truth = bags.instance_labels.reshape(5, 15)
    assert truth[:3].any(axis=1).all()
    assert not truth[3:].any()
    assert ((bags.instances[:, :2] >= 0) & (bags.instances[:, :2] <= 1)).all()
    assert (bags.instances[:, 2:] <= 1.2).all()  # meters, of slices 1.2 m long
    other = make_gpr_alarms(2, 0, 0, "easy", 102, detectors=detectors)
    assert not np.array_equal(bags.instances[:30], other.instances)


@pytest.mark.slow
def test_calibration_follows_its_seed(detectors):
    again = calibrate("easy", random_state=100, counts=FEW)
    assert np.array_equal(again.down_track.points, detectors.down_track.points)
    assert again.cross_track.reach == detectors.cross_track.reach


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
@pytest.mark.parametrize("door", [draw_alarms, make_gpr_alarms], ids=["draw", "make"])
def test_alarms_that_the_detectors_know_are_refused(detectors, door, difficulty):
    with pytest.raises(ParameterError, match=r"3 of 3 alarms.*calibrate.*another random_state than"):
        door(2, 0, 1, difficulty, 100, detectors=detectors)


@pytest.mark.slow
def test_one_stream_for_calibration_and_alarms_goes_on(detectors):
    rng = np.random.RandomState(100)
    assert calibrate("easy", rng, counts=FEW).seeds == detectors.seeds
    assert len(detectors.seeds) == len(set(detectors.seeds)) == sum(FEW.values())
    assert len(draw_alarms(1, 0, 0, "easy", rng, detectors=detectors).bags) == 1


@pytest.mark.slow
def test_usual_detectors_have_a_seed_of_their_own(monkeypatch):
    monkeypatch.setattr(alarms_module, "CALIBRATION", FEW)
    alarms_module._usual_detectors.cache_clear()
    with pytest.raises(ParameterError, match=r"2 of 2 alarms.*random_state"):
        make_gpr_alarms(1, 0, 1, "easy", alarms_module._CALIBRATION_SEED)
    assert len(make_gpr_alarms(1, 0, 1, "easy", 0)) == 2
    alarms_module._usual_detectors.cache_clear()


def test_a_users_cubes_go_the_same_way(alarms, detectors):
    cubes = [draw_alarm(alarms.asked[b], "easy", int(alarms.seeds[b])).cube for b in (0, 3)]
    bags = features_of(cubes, detectors, ids=["lane 1", "lane 2"])
    assert np.array_equal(bags.instances, alarms.bags[[0, 3]].instances)
    assert bags.ids.tolist() == ["lane 1", "lane 2"]
    assert bags.labels is None


def test_a_users_cubes_are_checked(detectors):
    cube = draw_alarm("high-metal mine", "easy", 101).cube
    with pytest.raises(InputError, match="2 cubes but 1 ids"):
        features_of([cube, cube], detectors, ids=["lane 1"])
    with pytest.raises(InputError, match=r"ids must be a list with.*name.*cube, got 'ab'"):
        features_of([cube, cube], detectors, ids="ab")
    with pytest.raises(InputError, match="Duplicate ids lane 1"):
        features_of([cube, cube], detectors, ids=["lane 1", "lane 1"])
    broken = cube.copy()
    broken[3, 4, 5] = np.nan
    with pytest.raises(InputError, match=r"cube lane 2 has 1 of 368640 samples.*not finite"):
        features_of([cube, broken], detectors, ids=["lane 1", "lane 2"])
    with pytest.raises(InputError, match=r"cube lane 2 has 1 of 368640 samples.*not finite"):
        measure(broken, name="lane 2")
    with pytest.raises(InputError, match=r"expected \(24, 60, 256\).*background, more than 0\.6 m"):
        measure(cube[:, 15:45])


@pytest.mark.parametrize(
    ("cubes", "message"),
    [
        (None, "list of arrays .*, got None"),
        ("lane.npy", "list of arrays .*, got 'lane.npy'"),
        ({"lane 1": 0}, "got a mapping:.*values, and its keys as ids"),
        (np.zeros(GRID.shape), r"single.*\[cube\]"),
        ([], "no cubes"),
    ],
    ids=["none", "text", "mapping", "one cube", "empty"],
)
def test_what_is_no_list_of_cubes_is_refused(cubes, message, detectors):
    with pytest.raises(InputError, match=message):
        features_of(cubes, detectors)


def test_detectors_are_checked(detectors):
    with pytest.raises(ParameterError, match=r"detectors must be.*calibrate.*got an object of type Proto"):
        make_gpr_alarms(1, 0, 0, "easy", 0, detectors=detectors.down_track)
    with pytest.raises(ParameterError, match=r"detectors must be.*calibrate.*got None"):
        features_of([np.zeros(GRID.shape)], None)


@pytest.mark.parametrize(
    ("counts", "message"),
    [((0, 0, 0), "no alarms to simulate"), ((-1, 0, 1), "at least 0, got")],
    ids=["none", "less"],
)
def test_numbers_of_alarms_are_checked(counts, message, detectors):
    with pytest.raises(ParameterError, match=message):
        make_gpr_alarms(*counts, detectors=detectors)


def test_calibration_needs_both_classes():
    with pytest.raises(ParameterError, match="of mines and of clutter"):
        calibrate("easy", counts={"clutter": 1})


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (3, "counts must.*kinds to numbers of alarms, got 3"),
        ({"clutter": -1}, "alarms of kind 'clutter' must be a.*0, got -1"),
        ({"clutter": 1.5}, r"number.*0, got 1\.5"),
        ({"clutterr": 1}, "Did you mean 'clutter'"),
    ],
    ids=["no mapping", "less", "part", "unknown"],
)
def test_counts_of_a_calibration_are_checked(counts, message):
    with pytest.raises(ParameterError, match=message):
        calibrate("easy", 0, counts=counts)


def test_detectors_are_plain_values(detectors):
    assert isinstance(detectors, Detectors)
    with pytest.raises(AttributeError):
        detectors.down_track = None
