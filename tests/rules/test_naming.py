"""Names for learned fuzzy sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzymil.inference.membership import Bell, Discrete, Gaussian, Rectangle, Sigmoid, Trapezoidal, Triangular
from fuzzymil.rules import RuleBase, Variable
from fuzzymil.rules.language.naming import named_sets
from fuzzymil.rules.language.ranges import half_range, range_text


def names_of(sets, low, high):
    found = named_sets(sets, low, high)
    return [found[chosen] for chosen in sets]


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
    assert names_of([Sigmoid(3 + k, 2.0) for k in range(n)], 0, 10) == upward
    assert names_of([Sigmoid(3 + k, -2.0) for k in range(n)], 0, 10) == downward


def test_open_sets_are_named_by_their_order_and_not_by_their_place():
    assert names_of([Sigmoid(9, 1.0), Sigmoid(1, 1.0), Sigmoid(9.5, -1.0)], 0, 10) == ["high", "raised", "low"]


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
    assert names_of([Gaussian(center, 1) for center in centers], 0, 10) == names
    assert names_of([Bell(center, 1, 2) for center in centers], 0, 10) == names
    assert names_of([Triangular(center - 1, center, center + 1) for center in centers], 0, 10) == names


def test_sets_around_the_same_value_differ_in_width():
    assert names_of([Gaussian(5, 2), Gaussian(5, 1)], 0, 10) == ["broad_medium", "narrow_medium"]


def test_equal_sets_share_a_name():
    assert names_of([Gaussian(1, 1), Gaussian(9, 1), Gaussian(1, 1)], 0, 10) == ["low", "high", "low"]


def test_a_bounded_set_leaves_the_plain_word_to_an_open_one():
    sets = [Sigmoid(8, 2.0), Gaussian(8, 1), Sigmoid(2, -2.0), Gaussian(1, 1), Gaussian(5, 1)]
    assert names_of(sets, 0, 10) == ["high", "upper", "low", "lower", "medium"]


def test_names_come_in_the_order_of_the_values():
    sets = [Sigmoid(7, 2.0), Gaussian(9, 1), Gaussian(8, 1), Sigmoid(2, -2.0), Gaussian(0.5, 1), Gaussian(1, 1)]
    expected = ["low", "lower", "fairly_low", "fairly_high", "upper", "high"]
    assert list(named_sets(sets, 0, 10).values()) == expected
    assert list(named_sets(reversed(sets), 0, 10).values()) == expected
    assert list(named_sets([Sigmoid(center, 2.0) for center in (4, 9, 1, 6)], 0, 10).values()) == [
        *("high1", "high2", "high3", "high4")
    ]


def test_open_sets_come_in_the_order_of_what_their_conditions_say():
    steep, flat = Sigmoid(5.1, 50.0), Sigmoid(5.0, 0.5)  # the flat one reaches its top later
    assert named_sets([steep, flat], 0, 10) == {flat: "raised", steep: "high"}


def test_learned_rules_list_their_terms_in_order():
    rules = RuleBase.from_arrays([[3.0], [9.0], [1.0]], [[1.0]] * 3, [0, 1, 0], ranges=[[0, 10]])
    assert list(rules.variables[0].terms) == ["lowest", "low", "high"]


# ---------------------------------------------------------------------- ranges

numbers = st.integers(-20, 20).map(float)
sets = (
    st.builds(Gaussian, numbers, st.sampled_from([0.5, 1.0, 2.0]))
    | st.builds(Sigmoid, numbers, st.sampled_from([-3.0, -1.0, 1.0, 3.0]))
    | st.builds(lambda a: Trapezoidal(a, a + 1, a + 2, a + 3), numbers)
)


@pytest.mark.parametrize(
    ("chosen", "hedges", "expected"),
    [
        (Sigmoid(76, 2.0), (), "above 76"),
        (Sigmoid(76, 2.0), ("not",), "below 76"),
        (Sigmoid(5, -2.0), (), "below 5"),
        (Bell(3.65, 0.55, 4), (), "between 3.1 and 4.2"),
        (Bell(3.65, 0.55, 4), ("not",), "below 3.1 or above 4.2"),
        (Triangular(0, 4, 8), ("very",), "between 2.83 and 5.17"),
        (Triangular(20, 40, 60), ("not", "not"), "between 30 and 50"),
        (Trapezoidal(-40, -20, 10, 20), (), "below 15"),
        (Trapezoidal(40, 60, 200, 220), ("not",), "below 50"),
        (Rectangle(50.001, 50.004), (), "between 50.001 and 50.004"),
        (Discrete(0, 1, 50, 0, 100, 1), (), ""),  # two places
        (Gaussian(50, 1e6), (), ""),  # the whole range
    ],
)
def test_a_condition_says_which_values_satisfy_it(chosen, hedges, expected):
    variable = Variable("t", {"hot": chosen}, 0, 100)
    assert range_text(variable, "hot", hedges) == expected


def test_rules_with_ranges_quantifiers_and_what_has_none():
    rules = RuleBase.parse("""
    VARIABLE temperature [C] FROM 0 TO 100: high = Sigmoid(76, 2)
    VARIABLE channel: ONE OF email, phone
    Default: y = 0
    IF SOME (temperature is high AND channel is email) AND NOT (SOME temperature is missing) THEN y += 1
    """)
    assert rules.to_text(ranges=True).splitlines()[1] == (
        "Rule 1: IF SOME (temperature above 76 C AND channel is email) AND NOT (SOME temperature is missing) "
        "THEN y += 1"
    )


@given(st.data())
def test_the_range_is_where_the_membership_is_above_one_half(data):
    chosen = data.draw(sets)
    found = half_range(chosen)
    assert found is not None
    for place in data.draw(st.lists(st.floats(-60, 60), min_size=1)):
        if min(abs(place - found[0]), abs(place - found[1])) > 1e-6:
            assert (chosen(place) > 0.5) == (found[0] < place < found[1])


def test_a_variable_without_a_range_is_medium():
    assert names_of([Gaussian(3, 1)], 3, 3) == ["medium"]
    assert named_sets([], 0, 1) == {}


@given(st.lists(sets, max_size=12))
def test_different_sets_have_different_names_and_equal_ones_the_same(sets):
    names = names_of(sets, -20, 20)
    assert len(names) == len(sets)
    for one, its_name in zip(sets, names, strict=True):
        for other, other_name in zip(sets, names, strict=True):
            assert (one == other) == (its_name == other_name)
