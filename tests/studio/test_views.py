"""Views show what the library computes."""

import numpy as np
import pytest
from studio_page import Page

from fuzzymil.bags import Bags
from fuzzymil.explain import explain
from fuzzymil.inference.membership import FAMILIES, learnable_families
from fuzzymil.plots import SurfaceDisplay
from fuzzymil.studio import Document, Session
from fuzzymil.studio.sets import handles, move_handle, to_family
from fuzzymil.studio.start import starting_rules


def test_the_table_of_bags(page):
    found = page.get("bags")
    session = page.session
    expected = session.document.rules.infer(session.bags).output[:, 0]
    np.testing.assert_array_equal(found["scores"], expected)
    assert found["decisions"] == ["positive" if score > 0 else "negative" for score in expected]
    assert found["right"] == [a == b for a, b in zip(found["decisions"], session.bags.labels, strict=True)]
    np.testing.assert_allclose(found["probabilities"], 1 / (1 + np.exp(-expected)), atol=1e-12)


def test_changes_are_counted_from_the_last_named_version(page):
    before = page.get("bags")
    assert before["before"] is None
    page.get("set_conclusion", number=1, output="positive", value=9)
    found = page.get("bags")
    assert found["before"]["decisions"] == before["decisions"]
    changed = sum(a != b for a, b in zip(found["decisions"], before["decisions"], strict=True))
    assert found["n_changed"] == changed > 0
    assert page.get("score")["changed"] == changed
    page.get("name_version", name="mine")
    assert page.get("bags")["n_changed"] == 0


def test_an_explanation_and_each_instance_left_out(page):
    found = page.get("explain", bag="concept1-7")
    bags = page.session.bags
    assert found["explanation"]["score"] == pytest.approx(bags_score(page, bags[[found["bag"]]]))
    assert len(found["without"]) == len(bags[found["bag"]])
    for each in found["without"]:
        rest = np.delete(bags[found["bag"]], each["instance"], axis=0)
        assert each["output"][0] == pytest.approx(bags_score(page, [rest]))


def bags_score(page, bags):
    return float(page.session.document.rules.infer(bags).output[0, 0])


def test_the_viewer_walks_from_instances_to_the_output(page):
    found = page.get("viewer", bag=6)
    bags = page.session.bags[[6]]
    expected = explain(page.session.document.rules, bags)
    by_place = {rule.index: rule for rule in expected.rules}
    assert found["bag_id"] == str(bags.ids[0])
    np.testing.assert_array_equal(found["instances"], bags.instances)
    for place, row in enumerate(found["rows"]):
        assert row["witness"] == by_place[place].witness
        assert row["firing"] == pytest.approx(by_place[place].firing)
        assert row["contribution"][0] == pytest.approx(by_place[place].contribution)
        truth = np.prod([cell["degrees"] for cell in row["cells"]], axis=0)
        np.testing.assert_allclose(row["parts"][0]["truth"], truth)
    total = found["default"][0] + sum(row["share"] * row["conclusion"][0] for row in found["rows"])
    assert found["output"][0] == pytest.approx(total)


def test_what_if(page):
    plain = page.get("viewer", bag=149)
    extra = page.get("viewer", bag=149, extra=[[0.7, 0.7]])
    assert extra["places"][-1] is None
    assert extra["rows"][0]["firing"] == pytest.approx(1.0)
    assert extra["rows"][0]["witness"] == len(plain["instances"])
    without = page.get("viewer", bag=149, without=[0])
    assert without["places"] == list(range(1, len(plain["instances"])))
    changed = page.get("viewer", bag=149, change={"0": {"x1": 0.7, "x2": 0.7}})
    assert changed["rows"][0]["witness"] == 0
    assert page.get("viewer", extra=[[1.0, None]])["instances"] == [[1.0, None]]
    page.refused("viewer", "refused", extra=[[1.0]])
    page.refused("viewer", "refused")


def test_the_viewer_of_sets_that_are_concluded(mamdani):
    found = mamdani.get("viewer", bag=0)
    expected = explain(mamdani.session.document.rules, mamdani.session.bags[[0]]).joined
    assert found["joined"]["point"] == pytest.approx(expected.point)
    assert set(found["joined"]["cuts"]) == {"0", "1"}
    assert [row["concluded"] for row in found["rows"]] == ["risk is great", "risk is small"]


def test_the_surface_is_the_figure(page):
    found = page.get("surface", x="x1", y="x2", n=11)
    rules, bags = page.session.document.rules, page.session.bags
    expected = SurfaceDisplay.from_rules(rules, "x1", "x2", bags=bags, n_points=11)
    np.testing.assert_allclose(found["z"], expected.z)
    assert found["uncovered"] is None
    assert len(found["instances"]["values"][0]) == bags.n_instances
    page.refused("surface", "refused", x="x1", y="x1")
    page.refused("surface", "refused", x="x1", y="x2", n=5000)


def test_where_no_rule_applies():
    page = Page(
        Session(
            Document(
                "VARIABLE x FROM 0 TO 9: low = Triangular(-1, 0, 1)  VARIABLE z FROM 0 TO 1  IF x is low THEN y = 1"
            )
        )
    )
    found = page.get("surface", x="x", y="z", n=10)
    assert not np.array(found["uncovered"])[:, 0].any()
    assert np.array(found["uncovered"])[:, 1:].all()
    line = page.get("slice", variable="x", n=10)
    assert line["uncovered"] == [False] + [True] * 9
    assert line["y"]["y"][0] == 1


def test_validation(page):
    found = page.get("validation")
    bags = page.get("bags")
    assert found["accuracy"] == pytest.approx(np.mean(bags["right"]))
    assert sum(map(sum, found["confusion"])) == 150
    scores, truth = np.array(bags["scores"]), page.session.bags.labels == "positive"
    pairs = scores[truth][:, None] - scores[~truth]
    assert found["auc"] == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())
    assert page.get("score")["auc"] == pytest.approx(found["auc"])
    assert found["against"] is False
    page.get("set_positive", **{"class": "negative"})
    assert page.get("validation")["against"] is True


def test_folds_without_training(page):
    found = page.get("folds", k=5)
    assert [row["n"] for row in found["folds"]] == [30] * 5
    assert 0.6 < found["accuracy"][0] < 1
    page.refused("folds", "refused", k=1)


def test_numbers_as_labels():
    bags = Bags.from_list([[[0.0]], [[0.5]], [[1.0]]], labels=[0.25, 0.5, 1.5])
    page = Page(Session(Document("VARIABLE x1: low = Gaussian(0, 1)  IF x1 is low THEN y = 1"), bags))
    assert page.state["classes"] is None
    found = page.get("validation")
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean([0.75**2, 0.5**2, 0.5**2])))
    assert page.get("score")["rmse"] == pytest.approx(found["rmse"])
    assert page.get("bags")["right"] is None


def test_data_that_the_rules_cannot_read_are_explained(page):
    page.get("rename", variable="x1", name="hue")
    assert "hue" in page.state["data"]["problem"]
    assert "hue" in page.refused("bags", "refused")["message"]
    assert page.get("undo")["ok"]


def test_histograms(page):
    for each in page.get("histograms")["histograms"]:
        assert set(each["counts"]) == {"positive", "negative"}
        assert sum(map(sum, each["counts"].values())) == page.session.bags.n_instances


AROUND = (np.float64(2.0), np.float64(0.5))
EXAMPLES = {name: kind(*map(float, kind.around(*AROUND))) for name, kind in learnable_families().items()}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_handle_goes_where_it_is_dragged(name):
    chosen = EXAMPLES[name]
    for handle in handles(chosen):
        assert handle["y"] == pytest.approx(float(chosen(handle["x"])))
        moved = move_handle(chosen, handle["name"], handle["x"] + 0.01)
        where = {each["name"]: each["x"] for each in handles(moved)}
        assert where[handle["name"]] == pytest.approx(handle["x"] + 0.01)


@pytest.mark.parametrize("old", sorted(EXAMPLES))
@pytest.mark.parametrize("new", sorted(EXAMPLES))
def test_every_family_turns_into_every_other(old, new):
    made = to_family(EXAMPLES[old], new)
    peaks = [float(each.peak(*each.parameters)) for each in (EXAMPLES[old], made)]
    assert peaks[0] == pytest.approx(peaks[1])
    assert isinstance(made, FAMILIES[new])


def test_three_classes_have_an_output_each():
    rng = np.random.default_rng(0)
    bags = [rng.normal(k, 1, (4, 2)) for k in range(3) for _ in range(10)]
    bags = Bags.from_list(bags, labels=[f"c{k}" for k in range(3) for _ in range(10)], feature_names=["u", "v"])
    page = Page(Session(starting_rules(bags), bags))
    assert page.state["outputs"] == page.state["classes"] == ["c0", "c1", "c2"]
    page.get("add_rule", text="IF SOME u is high THEN c0 = 0, c1 = 0, c2 = 1")
    found = page.get("validation")
    assert sum(map(sum, found["confusion"])) == 30
    assert found["accuracy"] == page.get("score")["accuracy"] > 1 / 3
    assert len(page.get("folds", k=5)["folds"]) == 5
    one = Page(Session(Document("VARIABLE u: low = Gaussian(0, 1)  IF u is low THEN y = 1"), bags))
    assert "3 classes" in one.refused("validation", "refused")["message"]
    assert "3 classes" in one.refused("train", "refused")["message"]
    assert one.get("score")["n"] == 30


def test_ranges_of_data_are_written_with_few_digits():
    values = np.random.default_rng(0).normal(3, 2, (40, 1))
    variable = starting_rules(Bags.from_list(list(values[:, None]))).rules.variables[0]
    assert variable.low <= values.min() <= variable.low + 0.1
    assert variable.high - 0.1 <= values.max() <= variable.high
    assert max(len(repr(end)) for end in (variable.low, variable.high)) <= 5


def test_variables_that_no_rule_uses_may_lack_in_the_data():
    text = "VARIABLE x: low = Gaussian(0, 1)  VARIABLE z: high = Gaussian(1, 1)  IF x is low THEN y = 1"
    bags = Bags.from_list([[[0.0], [0.5]], [[9.0]]], labels=["no", "yes"], feature_names=["x"])
    page = Page(Session(Document(text), bags))
    assert page.state["data"]["problem"] is None
    assert page.state["data"]["features"] == ["x"]
    expected = Document("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1").rules.infer(bags).output[:, 0]
    assert page.get("bags")["scores"] == pytest.approx(expected.tolist())
    for view in ("viewer", "explain"):
        assert page.get(view, bag=0)["bag"] == 0
    page.get("surface", x="x", y="z")
    page.get("slice", variable="z")
    assert sum(page.get("histograms")["histograms"][1]["counts"]["no"]) == 0
    page.get("write_text", text=text + "  IF z is high THEN y = 0")
    assert "'z'" in page.state["data"]["problem"]
    page.get("start")
    assert [each["name"] for each in page.state["variables"]] == ["x"]
    page.session.close()


def test_a_slope_uses_its_variable():
    text = "VARIABLE x: low = Gaussian(0, 1)  VARIABLE z: high = Gaussian(1, 1)  IF x is low THEN y = 1 + 2*z"
    page = Page(Session(Document(text), Bags.from_list([[[0.0]], [[9.0]]], feature_names=["x"])))
    assert "'z'" in page.state["data"]["problem"]
    page.session.close()


def test_of_three_classes_the_score_is_that_of_the_class_decided_on():
    text = "VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN a = 0, b = 1, c = 0 "
    text += "IF anything THEN a = 0, b = 0, c = 3"
    page = Page(Session(Document(text), Bags.from_list([[[0.0]], [[9.0]]], labels=["b", "c"], feature_names=["x"])))
    found = page.get("bags")
    assert found["decisions"] == ["c", "c"]
    assert found["scores"] == [row[2] for row in found["outputs"]]
    page.session.close()
