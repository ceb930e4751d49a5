"""Edits go through the library's own functions, and every one of them is a step of undo."""

import math

import numpy as np
import pytest
from studio_page import Page

from fuzzymil.inference.membership import Bell, Gaussian, learnable_families
from fuzzymil.rules import RuleBase
from fuzzymil.studio import Document, Session
from fuzzymil.studio.edits import EDITS
from fuzzymil.studio.sets import handles, move_handle, to_family
from fuzzymil.studio.start import demo_document


def test_a_drag_shows_what_edit_and_infer_compute(page):
    document, bags = page.session.document, page.session.bags
    views = [{"type": "bags"}, {"type": "viewer", "bag": 6}]
    found = page.get("drag", variable="x1", term="left", handle="center", x=0.52, views=views)
    expected = document.rules.edit(sets={"x1.left": {"center": 0.52}}).infer(bags)
    np.testing.assert_allclose(found["views"][0]["scores"], expected.output[:, 0], atol=1e-12)
    np.testing.assert_allclose(found["views"][1]["output"], expected.output[6], atol=1e-12)
    assert found["term"]["parameters"][0] == {"name": "center", "value": 0.52}
    assert page.session.document is document  # a drag keeps nothing
    assert page.session.revision == 0


def test_the_end_of_a_drag_is_one_edit(page):
    page.get("set_term", variable="x1", term="left", handle="move", x=0.5)
    assert page.session.document.rules.variables[0].terms["left"] == Gaussian(0.5, 0.3)
    assert page.state["undo"] == "Moved x1.left"
    assert page.of_type("changed")[0]["revision"] == 1


def test_fifty_undos_give_the_same_text_back(page):
    texts = [page.state["text"]]
    for step in range(50):
        page.get("set_term", variable="x2", term="high", handle="center", x=1.3 + step / 100 + 0.005)
        texts.append(page.state["text"])
    assert len(set(texts)) == 51
    for text in reversed(texts[:-1]):
        page.get("undo")
        assert page.state["text"] == text
    page.refused("undo", "refused")
    for text in texts[1:]:
        page.get("redo")
        assert page.state["text"] == text


def test_a_second_window_is_told_and_cannot_overwrite(page):
    other = Page(page.session)
    seen = page.session.revision
    page.get("set_rule", number=1, weight=0.5)
    assert other.of_type("changed")[0]["rules"][0]["weight"] == 0.5
    error = other.refused("set_rule", "stale", number=1, weight=0.9, revision=seen)
    assert error["state"]["rules"][0]["weight"] == 0.5
    assert other.state["rules"][0]["weight"] == 0.5


def test_labels_and_comments_survive_edits_of_sets():
    text = "# all of it\n\nVARIABLE x: low = Gaussian(0, 1)\n# why\nShock: IF x is low THEN y = 1\n"
    page = Page(Session(Document(text)))
    page.get("set_term", variable="x", term="low", parameters=[0.5, 2.0])
    rule = page.state["rules"][0]
    assert (rule["label"], rule["comment"], page.state["comment"]) == ("Shock", "why", "all of it")


def test_text_is_kept_as_written(page):
    text = page.state["text"].replace("THEN positive += 5", "THEN   positive += 4 # less", 1)
    page.get("write_text", text=text)
    assert page.state["text"] == text
    error = page.refused("write_text", "mistakes", text=text.replace("is left", "is lefft"))
    assert error["mistakes"][0]["fix"]["text"] == "left"
    assert page.state["text"] == text


def test_a_rule_that_is_off_keeps_its_weight(page):
    page.get("set_rule", number=1, weight=0.75)
    page.get("set_rule", number=1, on=False)
    assert page.state["rules"][0]["weight"] == 0.75
    expected = page.session.document.rules.edit(weights={1: 0}).infer(page.session.bags)
    np.testing.assert_array_equal(page.get("bags")["scores"], expected.output[:, 0])
    page.get("move_rule", number=1, to=2)
    assert [rule["on"] for rule in page.state["rules"]] == [True, False]
    page.get("remove_rule", number=1)
    assert [rule["on"] for rule in page.state["rules"]] == [False]


def test_off_follows_its_rule_through_the_text(page):
    page.get("set_rule", number=2, on=False)
    lines = page.state["text"].splitlines()
    page.get("write_text", text="\n".join([*lines[:-2], lines[-1], lines[-2]]))
    assert [(rule["label"], rule["on"]) for rule in page.state["rules"]] == [
        ("Second disc", False),
        ("First disc", True),
    ]


def test_frozen_terms_follow_their_names(page):
    page.get("freeze", variable="x1", term="left", frozen=True)
    page.get("rename", variable="x1", term="left", name="west")
    page.get("rename", variable="x1", name="east_west")
    terms = page.state["variables"][0]["terms"]
    assert [(term["name"], term["frozen"]) for term in terms] == [("west", True), ("right", False)]


def test_terms_come_and_go(page):
    page.get("add_term", variable="x1", term="middle", x=1.0)
    page.get("add_term", variable="x1", term="far", set="Sigmoid(1.5, 4)")
    assert page.refused("delete_term", "refused", variable="x1", term="left")["message"].count("1") == 2
    page.get("delete_term", variable="x1", term="middle")
    assert [term["name"] for term in page.state["variables"][0]["terms"]] == ["left", "right", "far"]


@pytest.mark.parametrize("n", [3, 5, 7])
def test_automatic_partitions_cover_the_data_and_keep_used_terms(page, n):
    page.get("partition", variable="x1", n=n)
    variable = page.session.document.rules.variables[0]
    made = [chosen for term, chosen in variable.terms.items() if term not in ("left", "right")]
    assert len(made) == n
    x = np.linspace(0, 2, 50)
    np.testing.assert_allclose(sum(chosen(x) for chosen in made), 1.0, atol=1e-9)
    assert {"left", "right"} <= set(variable.terms)
    page.refused("partition", "refused", variable="x1", n=4)


@pytest.mark.parametrize("family", ["gaussian", "triangular", "bell", "sigmoid", "trapezoidal", "pi_shape"])
def test_another_family_keeps_peak_and_width(page, family):
    page.get("set_term", variable="x1", term="left", family=family)
    made = page.session.document.rules.variables[0].terms["left"]
    assert made.name == family
    assert float(made.peak(*made.parameters)) == pytest.approx(0.7, abs=1e-9)
    assert float(made.spread(*made.parameters)) == pytest.approx(0.3, rel=0.05)


def test_cells_of_the_table(page):
    page.get("set_condition", number=1, variable="x2", term="high", hedges=["very"])
    assert page.state["rules"][0]["premise"] == "SOME (x1 is left AND x2 is very high)"
    page.get("set_condition", number=1, variable="x1", term=None)
    assert page.state["rules"][0]["premise"] == "SOME x2 is very high"
    page.get("set_conclusion", number=1, output="positive", value=2.5)
    assert page.state["rules"][0]["conclusions"]["positive"]["constant"] == 2.5


def test_variables_come_and_go(page):
    page.get("add_variable", name="x3")
    page.refused("remove_variable", "refused", variable="x1")
    page.get("remove_variable", variable="x3")
    assert [variable["name"] for variable in page.state["variables"]] == ["x1", "x2"]
    page.get("set_variable", variable="x1", low=-1, unit="m")
    assert (page.state["variables"][0]["low"], page.state["variables"][0]["title"]) == (-1, "x1 [m]")


def test_threshold_and_class(page):
    page.get("set_threshold", threshold=1.5)
    page.get("set_positive", **{"class": "negative"})
    assert (page.state["threshold"], page.state["positive"]) == (1.5, "negative")
    decided = np.array(page.get("bags")["decisions"])
    scores = np.array(page.get("bags")["scores"])
    assert ((scores > 1.5) == (decided == "negative")).all()


def test_findings_come_with_their_fix(page):
    page.get("add_rule", text="IF SOME (x1 is left AND x2 is low) THEN positive += 1")
    (found,) = [each for each in page.get("diagnose")["findings"] if each["kind"] == "duplicate"]
    assert found["rules"] == [1, 3]
    page.get(**found["fix"]["edit"])
    assert len(page.state["rules"]) == 2
    assert page.state["rules"][0]["conclusions"]["positive"]["constant"] == 6


def test_mamdani_rules_are_edited_too(mamdani):
    mamdani.get("set_term", variable="risk", term="great", handle="left", x=0.4)
    mamdani.get("set_rule", number=2, on=False)
    mamdani.get("set_conclusion", number=1, output="risk", value="small")
    assert mamdani.state["rules"][0]["conclusions"] == {"risk": {"term": "small", "hedges": []}}
    assert mamdani.state["rules"][1]["comment"] == "as the handbook says"
    viewer = mamdani.get("viewer", bag=0)
    assert viewer["joined"]["point"] == pytest.approx(viewer["output"][0])


def test_every_edit_keeps_text_and_rules_the_same(page, mamdani):
    """What is shown is what a restart would read."""
    for each in (page, mamdani):
        variable = each.state["variables"][0]
        name, term = variable["name"], variable["terms"][0]["name"]
        each.get("set_term", variable=name, term=term, handle="move", x=1 / 3)
        each.get("partition", variable=name, n=3)
        each.get("set_rule", number=1, weight=1 / 3, label="a rule, of sorts", comment='odd: # "quotes"')
        document = each.session.document
        assert RuleBase.parse(document.text) == document.rules
        assert RuleBase.parse(document.text).to_source() == document.text


@pytest.mark.parametrize("type", sorted(EDITS.keys() - {"start"}))  # which needs no fields
def test_senseless_messages_are_refused_and_change_nothing(page, type):
    for fields in ({}, {"variable": 3, "number": "x", "text": 1}, {"number": 99, "variable": "x1", "term": []}):
        answer = page.ask(type, **fields)
        assert answer["ok"] is False or answer["changed"] is False
    assert page.session.document.rules == RuleBase.parse(page.session.history.versions[0].document.text)


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\u202eevil",
    "x" * 10_000,
    '"\\',
    "IF",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_only_appear(page, name):
    page.get("rename", variable="x1", name=name)
    page.get("rename", variable=name, term="left", name=name)
    page.get("set_rule", number=1, label=name)
    state = page.state
    assert state["variables"][0]["name"] == state["variables"][0]["terms"][0]["name"] == name
    assert RuleBase.parse(state["text"]) == page.session.document.rules
    page.get("undo")


def test_mistakes_in_a_rule_are_marked_in_its_own_text(page):
    text = "IF SOME x1 is lefft THEN positive += 1"
    (mistake,) = page.refused("add_rule", "mistakes", text=text)["mistakes"]
    assert text[mistake["offset"] :][: mistake["length"]] == "lefft"
    assert mistake["fix"]["text"] == "left"


def test_a_text_begun_earlier_joins_what_happened_meanwhile(page):
    other, base = Page(page.session), page.state["text"]
    other.get("set_term", variable="x1", term="left", handle="center", x=0.5)
    mine = base.replace("First disc:", "# checked\nFirst disc:")
    page.get("write_text", text=mine, base=base, revision=0)
    assert page.state["text"] == mine.replace("Gaussian(0.7, 0.3), right", "Gaussian(0.5, 0.3), right", 1)
    assert page.session.document.rules.variables[0].terms["left"] == Gaussian(0.5, 0.3)
    before = page.state["text"]
    error = page.refused("write_text", "conflict", text=base.replace("0.7, 0.3), right", "0.8, 0.3), right"), base=base)
    assert error["state"]["text"] == before
    assert page.state["text"] == before
    page.refused("write_text", "stale", text=mine, revision=0)


def test_a_draft_survives_until_it_is_written(tmp_path):
    session = Session(demo_document(), name="demo", folder=tmp_path)
    page = Page(session)
    unfinished = page.state["text"] + "IF x1 is lef"
    page.get("draft", text=unfinished)
    session.close()
    again = Page(Session(demo_document(), name="demo", folder=tmp_path))
    assert again.get("hello")["draft"] == unfinished
    again.get("write_text", text=unfinished + "t THEN positive += 1", base=again.state["text"])
    assert again.get("hello")["draft"] is None
    again.session.close()
    last = Page(Session(demo_document(), name="demo", folder=tmp_path))
    assert last.get("hello")["draft"] is None
    assert len(last.state["rules"]) == 3
    last.session.close()


def test_rules_can_start_anew_from_the_data(page):
    page.get("rename", variable="x1", name="hue")  # so that they do not fit
    page.get("start")
    assert [variable["name"] for variable in page.state["variables"]] == ["x1", "x2"]
    assert page.get("score")["n"] == 150
    page.get("undo")
    assert page.state["variables"][0]["name"] == "hue"


@pytest.mark.parametrize("family", sorted(learnable_families()))
def test_every_number_of_a_set_has_a_handle_that_stays_where_it_is_dropped(family):
    chosen = to_family(Gaussian(1.0, 0.5), family)
    roles = type(chosen).roles()
    found = {each["name"]: each for each in handles(chosen)}
    assert set(found) == {"move", *roles}
    for name, each in found.items():
        for x in (each["x"], each["x"] + (0.02 if roles.get(name) == "location" else -0.02)):
            moved = move_handle(chosen, name, x)
            again = next(other for other in handles(moved) if other["name"] == name)
            assert again["x"] == pytest.approx(x, abs=1e-9), (name, moved)
            if x == each["x"]:
                assert moved.parameters == pytest.approx(chosen.parameters)


def test_a_slope_is_dragged_from_gentle_to_steep_and_not_beyond():
    bell = Bell(0.0, 1.0, 2.0)
    slopes = [move_handle(bell, "slope", x).slope for x in (-0.01, -0.3, -0.6, -0.9, -5.0)]
    assert slopes == sorted(slopes)
    assert all(0 < slope < math.inf for slope in slopes)
    assert move_handle(bell, "slope", 0.6) == move_handle(
        bell, "slope", -0.6
    )  # shown on the other side if there is no room
