"""What Octave's toolkit means by fractions in ``.fis`` files, against a slow transcription of its documentation."""

import numpy as np
import pytest
from file_texts import TIPPER

from fuzzymil import RuleSyntaxError
from fuzzymil.rules.files import export_rules, parse_rules, what_is_lost

NUMBERS = """[System]
Name='tip'
Type='sugeno'
Version=1.0
AndMethod='prod'
OrMethod='max'
ImpMethod='prod'
AggMethod='sum'
DefuzzMethod='wtaver'

[Input1]
Name='food'
Range=[0 10]
MF1='bad':'trapmf',[0 1 3 7]
MF2='good':'trapmf',[3 7 10 11]

[Input2]
Name='service'
Range=[0 10]
MF1='bad':'trapmf',[0 1 3 7]
MF2='good':'trapmf',[3 7 10 11]

[Output1]
Name='low tip'
Range=[0 30]
MF1='small':'constant',[10]
MF2='large':'constant',[20]

[Output2]
Name='high tip'
Range=[0 30]
MF1='small':'constant',[12]
MF2='large':'constant',[27]

[Rules]
1.30 1.20, 1.30 1 (1) : 1
-1.30 2.05, 1 2.40 (0.5) : 1
2.40 0, 2 2.20 (1) : 2
"""
POINTS = np.random.default_rng(0).uniform(2.5, 7.5, (40, 2))


def power(number):
    return round(100 * (abs(number) % 1)) / 10 or 1.0


def trapezoid(x, a, b, c, d):
    return min(1.0, max(0.0, (x - a) / (b - a)), max(0.0, (d - x) / (d - c)))


SETS = [(0, 1, 3, 7), (3, 7, 10, 11)]


def firing(row, x):
    """Return the firing strength of a rule of numbers, joined by the product."""
    total = 1.0
    for number, value in zip(row, x, strict=True):
        if int(number):
            mu = trapezoid(value, *SETS[abs(int(number)) - 1]) ** power(number)
            total *= 1 - mu if number < 0 else mu
    return total


def test_a_fraction_is_a_power_and_of_concluded_numbers_the_strength_is_raised_to_its_inverse():
    rules = parse_rules(NUMBERS, "fis")
    table = [((1.3, 1.2), (1.3, 1), 1), ((-1.3, 2.05), (1, 2.4), 0.5), ((2.4, 0), (2, 2.2), 1)]
    values = [(10, 20), (12, 27)]
    expected = []
    for x in POINTS:
        answers = []
        for k in range(2):
            heights = [(weight * firing(asked, x)) ** (1 / power(said[k])) for asked, said, weight in table]
            places = [values[k][int(said[k]) - 1] for _, said, _ in table]
            answers.append(sum(h * p for h, p in zip(heights, places, strict=True)) / sum(heights))
        expected.append(answers)
    np.testing.assert_allclose(rules.infer(POINTS).output, expected, rtol=1e-12)
    assert parse_rules(export_rules(rules, "fis"), "fis") == rules
    assert any("Octave's toolkit does" in sentence for sentence in what_is_lost(rules, "fis"))


def test_a_concluded_set_is_raised_to_the_power():
    text = TIPPER.replace("2 0, 2 (1) : 1", "2.3 0, -2.3 (1) : 1").replace("1 1, 1 (1) : 2", "1 1, 1.05 (1) : 1")
    rules = parse_rules(text, "fis")
    y = np.linspace(0, 30, 101)
    tent = lambda a, b, c: np.clip(np.minimum((y - a) / (b - a), (c - y) / (c - b)), 0, 1)  # noqa: E731
    for service, food in [(2.0, 1.0), (4.0, 5.0), (7.0, 8.0)]:
        bell = lambda c, x=service: np.exp(-0.5 * ((x - c) / 1.5) ** 2)  # noqa: E731
        rancid, delicious = min(1.0, max(0.0, (3 - food) / 2)), min(1.0, max(0.0, (food - 7) / 2))
        cut = [
            np.minimum(min(bell(0), rancid), np.sqrt(tent(0, 5, 10))),
            np.minimum(bell(5) ** 3, 1 - tent(10, 15, 20) ** 3),
            np.minimum(max(bell(10), delicious), tent(20, 25, 30)),
        ]
        joined = np.max(cut, axis=0)
        np.testing.assert_allclose(rules.infer([[service, food]]).output, [[(joined * y).sum() / joined.sum()]])


def test_fuzzylites_files_keep_fuzzylites_hedges():
    theirs = "#Code automatically generated with fuzzylite 6.0.\n" + NUMBERS
    for text in (theirs, NUMBERS.replace("Version=1.0", "Version=6.0")):
        rules = parse_rules(text, "fis")
        assert rules.rules[0].conditions[0].hedges == ("extremely",)
        assert parse_rules(export_rules(rules, "fis"), "fis") == rules
    with pytest.raises(RuleSyntaxError, match=r"hedge: 0\.05, 0\.2, 0\.3, 0\.4"):
        parse_rules(NUMBERS.replace("1.30 1.20,", "1.25 1.20,"), "fis")
