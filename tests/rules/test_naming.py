"""Names for learned fuzzy sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzymil.inference.membership import Bell, Gaussian, Sigmoid, Trapezoidal, Triangular
from fuzzymil.rules.language.naming import named_sets


@pytest.mark.parametrize(
    ("n", "upward", "downward"),
    [
        (1, ["high"], ["low"]),
        (2, ["raised", "high"], ["low", "reduced"]),
        (3, ["raised", "high", "extreme"], ["minimal", "low", "reduced"]),
        (4, ["high1", "high2", "high3", "high4"], ["low1", "low2", "low3", "low4"]),
    ],
)
def test_sets_that_are_open_to_one_side(n, upward, downward):
    assert named_sets([Sigmoid(3 + k, 2.0) for k in range(n)], 0, 10) == upward
    assert named_sets([Sigmoid(3 + k, -2.0) for k in range(n)], 0, 10) == downward


def test_open_sets_are_named_by_their_order_and_not_by_their_place():
    assert named_sets([Sigmoid(9, 1.0), Sigmoid(1, 1.0), Sigmoid(9.5, -1.0)], 0, 10) == ["high", "raised", "low"]


@pytest.mark.parametrize(
    ("centers", "names"),
    [
        ([1, 5, 9], ["low", "medium", "high"]),
        ([1, 2, 9], ["lowest", "low", "high"]),
        ([1, 2, 3], ["lowest", "low", "fairly_low"]),
        ([4, 6], ["lower_medium", "upper_medium"]),
        ([4, 5, 6], ["lower_medium", "medium", "upper_medium"]),
        ([9, 8], ["highest", "high"]),
        ([7, 8, 9], ["fairly_high", "high", "highest"]),
        ([4, 4.5, 5, 6], ["medium1", "medium2", "medium3", "medium4"]),
    ],
)
def test_bounded_sets_are_named_by_the_third_of_the_range(centers, names):
    assert named_sets([Gaussian(center, 1) for center in centers], 0, 10) == names
    assert named_sets([Bell(center, 1, 2) for center in centers], 0, 10) == names
    assert named_sets([Triangular(center - 1, center, center + 1) for center in centers], 0, 10) == names


def test_sets_around_the_same_value_differ_in_width():
    assert named_sets([Gaussian(5, 2), Gaussian(5, 1)], 0, 10) == ["broad_medium", "narrow_medium"]


def test_equal_sets_share_a_name():
    assert named_sets([Gaussian(1, 1), Gaussian(9, 1), Gaussian(1, 1)], 0, 10) == ["low", "high", "low"]


def test_a_bounded_set_leaves_the_plain_word_to_an_open_one():
    sets = [Sigmoid(8, 2.0), Gaussian(8, 1), Sigmoid(2, -2.0), Gaussian(1, 1), Gaussian(5, 1)]
    assert named_sets(sets, 0, 10) == ["high", "upper", "low", "lower", "medium"]


def test_a_variable_without_a_range_is_medium():
    assert named_sets([Gaussian(3, 1)], 3, 3) == ["medium"]
    assert named_sets([], 0, 1) == []


numbers = st.integers(-20, 20).map(float)
sets = (
    st.builds(Gaussian, numbers, st.sampled_from([0.5, 1.0, 2.0]))
    | st.builds(Sigmoid, numbers, st.sampled_from([-3.0, -1.0, 1.0, 3.0]))
    | st.builds(lambda a: Trapezoidal(a, a + 1, a + 2, a + 3), numbers)
)


@given(st.lists(sets, max_size=12))
def test_different_sets_have_different_names_and_equal_ones_the_same(sets):
    names = named_sets(sets, -20, 20)
    assert len(names) == len(sets)
    for one, its_name in zip(sets, names, strict=True):
        for other, other_name in zip(sets, names, strict=True):
            assert (one == other) == (its_name == other_name)
