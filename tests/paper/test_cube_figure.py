"""The figure of a radar cube, looked up in the drawing itself."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from fuzzymil._utils.errors import InputError, ParameterError
from paper.figures import CubeDisplay
from paper.radar.cubes import measure, window_truth, windows
from paper.radar.simulation import simulate_alarm


@pytest.fixture(scope="module")
def alarm():
    return simulate_alarm("high-metal mine", "easy", random_state=0)


def frames(axis):
    return [patch for patch in axis.patches if isinstance(patch, Rectangle)]


def test_a_simulated_alarm_says_so_and_shows_its_target(alarm):
    display = CubeDisplay.from_alarm(alarm)
    figure = display.plot()
    assert figure.get_suptitle() == f"Simulated alarm: high-metal mine, {alarm.facts['depth']:.2f} m deep"
    assert [axis.get_xlabel() for axis in figure.axes[:3]] == ["down-track [m]", "cross-track [m]", "depth windows"]
    assert figure.axes[0].get_ylabel() == "time after the ground reflection [ns]"
    scan, depth = np.unravel_index(np.abs(display.down_track).argmax(), display.down_track.shape)
    assert abs(scan - 29.5) < 4  # the target is in the middle, at its depth
    assert 0.6 + 0.1 * depth == pytest.approx(
        2e9 * alarm.facts["depth"] * np.sqrt(alarm.facts["permittivity"]) / 299_792_458, abs=0.3
    )
    assert not CubeDisplay.from_alarm(alarm.cube).plot().legends
    assert figure.axes[0].get_ylim() == pytest.approx((11.0, 0.6))  # deeper is lower


def test_the_windows_are_numbered_and_those_that_fired_are_framed(alarm):
    figure = CubeDisplay.from_alarm(
        alarm.cube, windows=windows(), fired={"rule 1": 3, "rule 2": 3, "rule 5": 14}
    ).plot()
    down, cross, strip = figure.axes[:3]
    assert [text.get_text() for text in strip.texts] == [str(number) for number in range(1, 16)]
    assert [text.get_fontweight() == "bold" for text in strip.texts] == [number in (3, 14) for number in range(15)]
    assert len(frames(strip)) == 15
    for axis in (down, cross):
        places = [(frame.get_y(), frame.get_height()) for frame in frames(axis)]
        np.testing.assert_allclose(places, [(2.4, 2.0), (2.4, 2.0), (9.0, 2.0)])
        assert len({frame.get_width() for frame in frames(axis)}) == 3  # none hides another
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told == ["rule 1: window 4", "rule 2: window 4", "rule 5: window 15"]


def test_windows_that_hold_a_simulated_mine_are_marked(alarm):
    truth = np.flatnonzero(window_truth(measure(alarm.cube, alarm.target).target_energies))
    figure = CubeDisplay.from_alarm(alarm, fired={"rule 1": 3}).plot()
    (dots,) = figure.axes[2].lines
    middles = [0.05 * (start + stop) / 2 for start, stop in windows()]
    np.testing.assert_allclose(dots.get_ydata(), np.array(middles)[truth])
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told[0] == "rule 1: window 4"
    assert "mine" in told[1]
    stone = CubeDisplay.from_alarm(simulate_alarm("rock", "easy", random_state=0))
    assert stone.held == CubeDisplay.from_alarm(alarm.cube).held == ()
    assert not stone.plot().axes[2].lines


def test_windows_that_overlap_stand_beside_each_other(alarm):
    strip = CubeDisplay.from_alarm(alarm, windows=[(12, 52), (40, 80), (60, 100)]).plot().axes[2]
    boxes = [frame.get_bbox() for frame in frames(strip)]
    for one in boxes:
        for other in boxes:
            assert one is other or not (
                one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1
            )


def test_depth_in_metres_needs_the_soil(alarm):
    with_soil, without = CubeDisplay.from_alarm(alarm), CubeDisplay.from_alarm(alarm.cube)
    assert with_soil.plot().axes[2].child_axes[0].get_ylabel().startswith("depth [m]")
    figure = without.plot("A field in spring")
    assert not figure.axes[2].child_axes
    assert figure.get_suptitle() == "A field in spring"
    assert without.title == "Radar cube"


def test_bad_input(alarm):
    with pytest.raises(ParameterError, match=r"rule 7.* 0 to 14, got 15"):
        CubeDisplay.from_alarm(alarm, fired={"rule 7": 15})
    with pytest.raises(ParameterError, match=r"rule 7.*got 'deep'"):
        CubeDisplay.from_alarm(alarm, fired={"rule 7": "deep"})
    with pytest.raises(ParameterError, match="windows must not be empty"):
        CubeDisplay.from_alarm(alarm, windows=[])
    with pytest.raises(InputError, match="expected"):
        CubeDisplay.from_alarm(alarm.cube[:3])
