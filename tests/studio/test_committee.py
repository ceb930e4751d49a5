"""A committee: one member is shown and edited, and all of them answer."""

import numpy as np
import pytest
from studio_page import Page

from fuzzymil.bags import Bags
from fuzzymil.estimators import MIANFISClassifier, MIANFISRegressor, Training
from fuzzymil.studio import Document, Session
from fuzzymil.studio.files import Upload, preview

SOURCE = """VARIABLE x FROM 0 TO 4: low = Gaussian({0}, 1), high = Gaussian(4, 1)
Default: yes = -1
IF SOME x is high THEN yes += {1}
IF SOME x is low THEN yes -= 1
"""
MEMBERS = [Document(SOURCE.format(*each)) for each in ((0, 3), (1, 2), (0.5, 5))]


@pytest.fixture
def bags():
    values = np.random.default_rng(0).uniform(0, 4, (20, 3))
    rows = [[[x] for x in row] for row in values]
    return Bags.from_list(rows, labels=["yes" if row.max() > 3 else "no" for row in values], feature_names=["x"])


@pytest.fixture
def page(bags, tmp_path):
    session = Session(MEMBERS[0], bags, name="trio", members=MEMBERS, folder=tmp_path)
    yield Page(session)
    session.close()


def mean_output(documents, bags):
    return np.mean([each.rules.infer(bags).output for each in documents], axis=0)


def test_the_committee_answers_with_the_mean_of_its_members(page, bags):
    expected = mean_output(MEMBERS, bags)[:, 0]
    assert page.state["committee"] == {"n": 3, "member": 0}
    table = page.get("bags")
    assert np.ravel(table["committee"]["outputs"]) == pytest.approx(expected)
    decided = np.where(expected > 0, "yes", "no")
    assert table["committee"]["decisions"] == decided.tolist()
    assert page.get("score")["committee"] == np.mean(decided == bags.labels)
    for kind in ("explain", "viewer"):
        told = page.get(kind, bag=3)["committee"]
        assert told["output"] == pytest.approx([expected[3]])
        assert told["decision"] == decided[3]
        single = [each.rules.infer(bags).output[3, 0] for each in MEMBERS]
        assert [each["output"][0] for each in told["members"]] == pytest.approx(single)
        assert sum(told["probability"].values()) == pytest.approx(1)


def test_members_are_chosen_edited_and_kept(page, bags, tmp_path):
    page.get("set_rule", number=1, weight=0.5)
    edited = page.session.document
    page.get("show_member", member=2)
    assert page.state["text"] == MEMBERS[2].text
    assert page.state["committee"]["member"] == 2
    assert page.state["undo"] == "Showed member 3 of 3"
    expected = mean_output([edited, *MEMBERS[1:]], bags)
    assert np.array(page.get("bags")["committee"]["outputs"]) == pytest.approx(expected)
    page.get("set_threshold", threshold=0.25)
    page.get("show_member", member=0)
    assert page.state["text"] == edited.text
    assert page.state["threshold"] == 0.25  # of the mean, whichever member is shown
    page.session.close()
    again = Page(Session(MEMBERS[0], bags, name="trio", members=MEMBERS, folder=tmp_path))
    assert again.state["committee"] == {"n": 3, "member": 0}
    assert again.state["text"] == edited.text
    assert np.array(again.get("bags")["committee"]["outputs"]) == pytest.approx(expected)
    for _ in range(3):
        again.get("undo")
    assert (again.state["committee"]["member"], again.state["text"]) == (0, edited.text)
    again.session.close()


def test_changes_are_counted_from_the_same_member(page):
    page.get("show_member", member=1)
    assert page.get("score")["changed"] == 0
    page.get("set_threshold", threshold=-0.5)
    page.get("set_rule", number=1, weight=0.1)
    before = np.array(page.get("bags")["before"]["scores"])
    page.get("set_rule", number=1, weight=1.0)
    assert np.array(page.get("bags")["scores"]) == pytest.approx(before)


def test_a_drag_moves_the_committee_along(page, bags):
    page.get("bags")
    moved = {"variable": "x", "term": "low", "handle": "move", "x": 1.5}
    told = page.get("drag", **moved, views=[{"type": "bags"}])["views"][0]
    document = Document.of(MEMBERS[0].rules.edit(sets={("x", "low"): {"center": 1.5}}))
    expected = mean_output([document, *MEMBERS[1:]], bags)
    assert np.array(told["committee"]["outputs"]) == pytest.approx(expected)


def test_members_that_do_not_exist_are_refused(page):
    for member in (3, -1, True, "1", None):
        assert "member" in page.refused("show_member", "refused", member=member)["message"]
    page.get("start")
    assert page.state["committee"] is None  # other rules
    page.refused("show_member", "refused", member=1)


@pytest.mark.parametrize(("kind", "key"), [(MIANFISClassifier, "accuracy"), (MIANFISRegressor, "rmse")])
def test_a_model_file_brings_all_its_members(bags, tmp_path, kind, key):
    labels = bags.labels if kind is MIANFISClassifier else np.array([bags[b].max() for b in range(len(bags))])
    seen = Bags(bags.instances, bags.offsets, labels=labels, feature_names=["x"])
    model = kind(2, n_estimators=2, training=Training(max_epochs=5), random_state=0).fit(seen)
    model.save(tmp_path / "model.json")
    upload = Upload("model.json", (tmp_path / "model.json").read_bytes())
    assert "committee of 2" in preview(upload)["summary"]
    session = Session(upload.documents[0], seen, model=upload.model, members=upload.documents)
    page = Page(session)
    assert page.get("bags")["committee"]["decisions"] == pytest.approx(model.predict(seen).tolist())
    assert page.get("score")[key] is not None
    assert any("1 of 2" in each for each in page.get("losses", format="rules")["losses"])
