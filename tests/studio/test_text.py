"""The text: every mistake at its place with a fix, and completion."""

import pytest

from fuzzymil.rules import RuleBase
from fuzzymil.studio.text import check, complete

DECLARED = """\
VARIABLE hue FROM 0 TO 1: blue = Gaussian(0.6, 0.1), red = Gaussian(0.1, 0.1)
VARIABLE "two words": low = Gaussian(0, 1)
"""


def test_every_mistake_has_its_place_and_length():
    text = DECLARED + "IF hue is blu THEN sky = 1\nIF heu is red THEN sky = 0\nIF hue is red THEN sky = \n"
    found = check(text)["mistakes"]
    assert [(each["line"], each["character"], each["length"]) for each in found][:2] == [(3, 11, 3), (4, 4, 3)]
    assert len(found) == 3
    for each in found[:2]:
        assert text[each["offset"] :][: each["length"]] in ("blu", "heu")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("IF hue is blu THEN sky = 1", "IF hue is blue THEN sky = 1"),
        ("IF heu is blue THEN sky = 1", "IF hue is blue THEN sky = 1"),
        ('IF "two wrds" is low THEN sky = 1', 'IF "two words" is low THEN sky = 1'),
        ("IF hue is blue && hue is red THEN sky = 1", "IF hue is blue AND hue is red THEN sky = 1"),
        ("IF hue is blue -> sky = 1", "IF hue is blue THEN sky = 1"),
        ("IF hue is blue THEN sky = 50%", "IF hue is blue THEN sky = 0.5"),
        ("IF hue is blue THEN sky = 0,5", "IF hue is blue THEN sky = 0.5"),
        ("IF hue is blue THEN sky = 1 WEIGHT 0.5", "IF hue is blue THEN sky = 1 WITH 0.5"),
        ("IF hue is blue THEN sky = 1.", "IF hue is blue THEN sky = 1"),
        ("IF hue blue THEN sky = 1", "IF hue is blue THEN sky = 1"),
        ("IF hue is blue sky = 1", "IF hue is blue THEN sky = 1"),
        ("IF (hue is blue THEN sky = 1", "IF hue is blue THEN sky = 1"),
        ("IF hue is blue THEN sky == 1", "IF hue is blue THEN sky = 1"),
        ("IF hue is blue, sky = 1", "IF hue is blue THEN sky = 1"),
        ("IF hue is blue THEN sky = 1 // why", "IF hue is blue THEN sky = 1"),
        (
            "VARIABLE x: low = trimf(0, 1, 2)\nIF x is low THEN y = 1",
            "VARIABLE x: low = Triangular(0, 1, 2)\nIF x is low THEN y = 1",
        ),
        (
            "VARIABLE x low = Gaussian(0, 1)\nIF x is low THEN y = 1",
            "VARIABLE x: low = Gaussian(0, 1)\nIF x is low THEN y = 1",
        ),
        ("IF hue = blue THEN sky = 1", "IF hue is blue THEN sky = 1"),
        ("IF ANY hue is blue THEN sky = 1", "IF SOME hue is blue THEN sky = 1"),
        ("IF hue is 'blue' THEN sky = 1", 'IF hue is "blue" THEN sky = 1'),
        ("IF hue is blue) THEN sky = 1", "IF hue is blue THEN sky = 1"),
        (
            "INPUT x: low = Gaussian(0, 1)\nIF hue is blue THEN sky = 1",
            "VARIABLE x: low = Gaussian(0, 1)\nIF hue is blue THEN sky = 1",
        ),
    ],
)
def test_fixes_mend_the_text(wrong, right):
    text = DECLARED + wrong
    for _ in range(3):
        fixes = [each["fix"] for each in check(text)["mistakes"] if each["fix"]]
        if not fixes:
            break
        text = text[: fixes[0]["from"]] + fixes[0]["text"] + text[fixes[0]["to"] :]
    assert check(text)["mistakes"] == [], check(text)
    assert RuleBase.parse(text) == RuleBase.parse(DECLARED + right)


def words(page, text):
    return [item["text"] for item in complete(text, len(text), page.session.document)["items"]]


def test_completion_knows_what_may_follow(page):
    start = page.state["text"]
    assert words(page, start + "IF ")[:2] == ["x1", "x2"]
    assert words(page, start + "IF x1 ") == ["is"]
    assert words(page, start + "IF x1 is ")[:2] == ["left", "right"]
    assert "very" in words(page, start + "IF x1 is ve")
    assert words(page, start + "IF x1 is very l") == ["left"]
    assert words(page, start + "IF x1 is left ")[:3] == ["AND", "OR", "THEN"]
    assert words(page, start + "IF x1 is left THEN ")[0] == "positive"
    assert "SOME" in words(page, start + "IF ")
    assert "Gaussian" in words(page, start + "VARIABLE x3: low = G")
    assert words(page, start + "# IF ") == []


def test_completion_replaces_the_word_that_was_begun(page):
    text = 'VARIABLE "two words": low = Gaussian(0, 1)\nIF "two w'
    found = complete(text, len(text), page.session.document)
    assert text[: found["from"]] + found["items"][0]["text"] == text + 'ords"'


def test_texts_have_a_limit(page):
    assert "limit" in page.refused("check", "refused", text="#" * 600_000)["message"]
    page.refused("check", "refused", text=7)


def test_all_of_many_mistakes_are_marked():
    text = DECLARED + "".join(f"IF hue{n} is blue THEN sky = 1\n" for n in range(60))
    found = check(text)["mistakes"]
    assert [each["line"] for each in found] == list(range(3, 63))


def test_missing_conclusions_are_one_mistake_each_and_can_be_added():
    text = DECLARED + "IF hue is blue THEN cat = 1, dog = 0, fish = 0\nIF hue is red THEN cat = 0 WITH 0.5  # why\n"
    (found,) = check(text)["mistakes"]
    assert (found["line"], text[found["offset"]]) == (4, "=")
    assert "'dog', 'fish'" in found["message"]
    mended = text[: found["fix"]["from"]] + found["fix"]["text"] + text[found["fix"]["to"] :]
    assert "cat = 0, dog = 0, fish = 0 WITH 0.5  # why" in mended
    assert check(mended)["mistakes"] == []


def test_mistakes_come_in_the_order_of_the_text():
    rules = ["IF hue is red THEN y = 1", "IF hue is blu THEN z = 1", "IF heu is red THEN y = 1"]
    text = DECLARED + "\n".join([*rules, "IF hue is blu THEN y = 1"])
    lines = [each["line"] for each in check(text)["mistakes"]]
    assert lines == sorted(lines)
    assert len(lines) > 2
