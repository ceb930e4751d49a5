"""Training in place: it can be stopped, shows a difference, and what is rejected never happened."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from studio_page import Page

from fuzzymil.estimators import RuleClassifier, model_to_dict
from fuzzymil.rules import RuleBase
from fuzzymil.studio import Document, Session
from fuzzymil.studio.difference import accept_rules
from fuzzymil.studio.start import demo_bags, demo_document
from fuzzymil.studio.training import Trainer, _parts
from fuzzymil.studio.worker import load_bags, save_bags


def wait(page, ready, seconds=120):
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, page.of_type("training")[-1:]
        time.sleep(0.02)


def finished(page):
    return any(not message["running"] for message in page.of_type("training"))


@pytest.mark.slow
def test_train_stop_and_reject_gives_the_old_rules_back_bit_for_bit(page):
    page.get("set_rule", number=1, weight=1 / 3)
    text, rules = page.state["text"], page.session.document.rules
    page.get("train", epochs=10_000)
    page.refused("train", "busy")
    wait(page, lambda: any(message["epoch"] > 20 for message in page.of_type("training")))
    page.get("stop")
    wait(page, lambda: page.of_type("proposal"))
    last = page.of_type("training")[-1]
    assert last["running"] is False
    assert 20 < last["epoch"] < 10_000  # the state that was reached
    proposal = page.of_type("proposal")[-1]
    assert proposal["loss"][1] < proposal["loss"][0]
    assert proposal["accuracy"][1] > proposal["accuracy"][0]
    assert {(term["variable"], term["term"]) for term in proposal["terms"]} >= {("x1", "left"), ("x2", "high")}
    assert len(proposal["flipped"]) > 5
    page.get("reject")
    assert page.get("proposal")["proposal"] is None
    assert page.state["text"] == text
    assert page.session.document.rules == rules
    assert page.session.revision == 1


@pytest.mark.slow
def test_locked_terms_stay_and_accepted_rules_are_one_edit(page):
    page.get("freeze", variable="x1", term="left", frozen=True)
    page.get("set_rule", number=2, on=False)
    page.get("train", epochs=30, constraints={"ordered": True, "stay": 0.01}, move={"conclusions": False})
    wait(page, lambda: finished(page))
    wait(page, lambda: page.of_type("proposal"))
    old, new = page.session.document.rules, page.session.proposal["document"].rules
    assert new.variables[0].terms["left"] == old.variables[0].terms["left"]
    assert new.coefs.tolist() == old.coefs.tolist()
    assert new.rules[1].weight == 1  # it is off, which is no part of the rule
    assert new.variables[1].terms["low"] != old.variables[1].terms["low"]
    page.get("accept", rules=[1])
    assert page.session.document.rules.variables[1].terms == {
        "low": new.variables[1].terms["low"],
        "high": old.variables[1].terms["high"],
    }
    assert [rule["on"] for rule in page.state["rules"]] == [True, False]
    page.get("undo")
    assert page.session.document.rules == old
    # Another job in the same process, which chooses rules from the data alone; it can be canceled.
    page.pushed.clear()
    page.get("learn")
    wait(page, lambda: page.of_type("proposal"))
    page.get("accept")
    assert page.get("score")["accuracy"] > 0.95
    page.pushed.clear()
    page.get("train", epochs=10_000)
    page.get("cancel")
    assert page.of_type("training")[-1]["message"] == "Canceled"
    assert page.state["proposal"] is False


@pytest.mark.slow
def test_mamdani_rules_and_held_out_folds(mamdani):
    mamdani.get("train", epochs=20)
    wait(mamdani, lambda: mamdani.of_type("proposal") or finished(mamdani))
    wait(mamdani, lambda: mamdani.of_type("proposal"))
    assert isinstance(mamdani.session.proposal["document"].rules, RuleBase)
    mamdani.pushed.clear()
    mamdani.get("folds", k=2, refit="train", epochs=5)
    wait(mamdani, lambda: any(not message["running"] for message in mamdani.of_type("folds")))
    found = mamdani.of_type("folds")[-1]
    assert [row["n"] for row in found["folds"]] == [2, 2]
    assert found["held_out"] is True


@pytest.fixture(scope="module")
def sized():
    """A session on a model with a frontier."""
    bags = demo_bags()
    model = RuleClassifier(max_rules=3, random_state=0).fit(bags)
    frontier = model_to_dict(model)["frontier"]
    session = Session(Document.of(model.rules_), bags, name="sized", model=model._class_reading(), frontier=frontier)
    yield model, Page(session)
    session.close()


def test_going_along_the_frontier_is_one_step_of_undo(sized):
    model, page = sized
    found = page.get("frontier")
    assert page.state["frontier"] is True
    assert [each["n_rules"] for each in found["points"]] == [each.n_rules for each in model.frontier_]
    assert [each["mean"] for each in found["points"]] == [each.measures["AUC"].mean for each in model.frontier_]
    assert found["shown"] == found["chosen"] == model.frontier_.chosen
    for place in (1, 3, 0):
        page.get("use_point", point=place)
        assert page.get("frontier")["shown"] == place
        expected = model.at(model.frontier_[place].n_rules)
        assert page.get("bags")["decisions"] == expected.predict(page.session.bags).tolist()
    assert page.state["learned"] == "learn"
    page.get("undo")
    assert page.get("frontier")["shown"] == found["chosen"]
    page.refused("use_point", "refused", point=99)


def test_what_each_rule_is_worth(page):
    found, whole = page.get("costs")["rules"], page.get("score")
    for number, each in enumerate(found, start=1):
        page.get("set_rule", number=number, on=False)
        less = page.get("score")
        assert {name: less[name] - whole[name] for name in ("accuracy", "auc")} == pytest.approx(each)
        page.get("undo")


@pytest.mark.slow
def test_folds_choose_rules_from_the_other_bags_alone(page):
    page.get("folds", k=2, refit="learn")
    wait(page, lambda: any(not message["running"] for message in page.of_type("folds")))
    found, bags = page.of_type("folds")[-1], page.session.bags
    for part, row in zip(_parts(page.session.case, 2), found["folds"], strict=True):
        rest = np.setdiff1d(np.arange(bags.n_bags), part)
        model = RuleClassifier(random_state=0).fit(bags[rest])
        assert row["accuracy"] == pytest.approx(model.score(bags[np.array(part)]))


def proposed(page, kind):
    """Let a proposal wait that some training made."""
    new = page.session.document.rules.edit(sets={"x1.left": {"center": 0.2 if kind == "train" else 0.1}})
    proposal = {"document": page.session.document.with_rules(new), "member": 0, "kind": kind}
    page.session.proposal = {**proposal, "loss": None, "touched": []}


def test_held_out_folds_begin_where_the_bags_had_not_shaped_the_rules(page):
    jobs, trainer = [], Trainer.of(page.session)
    trainer.worker.start = lambda job, bags=None: jobs.append(job)
    start = page.session.document.rules.to_source()
    assert page.state["learned"] == ""
    proposed(page, "train")
    page.get("accept")
    page.get("set_conclusion", number=1, output="positive", value=9)
    assert page.state["learned"] == "train"
    page.get("folds", k=3, refit="train")
    assert jobs[-1]["text"] == start
    trainer.cancel()
    proposed(page, "learn")
    page.get("accept")
    assert page.state["learned"] == "learn"
    assert page.get("folds", k=3)["held_out"] is False
    page.get("undo")
    page.get("undo")
    page.get("undo")
    assert page.state["learned"] == ""


def test_stop_ends_at_once_what_has_reached_nothing(page):
    page.get("train", epochs=10_000)
    page.get("stop")
    told = page.of_type("training")[-1]
    assert told["running"] is False
    assert "nothing has changed" in told["message"]
    assert page.state["proposal"] is False


@pytest.mark.parametrize(
    "fields",
    [
        {"epochs": 0},
        {"epochs": 10**9},
        {"learning_rate": -1},
        {"learning_rate": "fast"},
        {"move": {"everything": True}},
        {"constraints": {"overlap": 7}},
        {"constraints": {"speed": 1}},
    ],
)
def test_senseless_settings_are_refused_before_anything_starts(page, fields):
    page.refused("train", "refused", **fields)
    assert page.state["training"] is None


def test_training_needs_labels():
    bags = demo_bags()
    page = Page(Session(demo_document(), type(bags)(bags.instances, bags.offsets, feature_names=bags.feature_names)))
    assert "label" in page.refused("train", "refused")["message"]


def test_bags_travel_as_plain_arrays(tmp_path):
    bags = demo_bags()
    save_bags(bags, str(tmp_path / "bags.npz"))
    found = load_bags(str(tmp_path / "bags.npz"))
    np.testing.assert_array_equal(found.instances, bags.instances)
    assert found.labels.tolist() == bags.labels.tolist()
    assert found.feature_names == bags.feature_names


OLD = RuleBase.parse("""
VARIABLE x: low = Gaussian(0, 1), high = Gaussian(2, 1)
VARIABLE z: low = Gaussian(0, 1)
IF x is low AND z is low THEN y = 1
IF x is high AND z is low THEN y = 0
IF x is high THEN y = 0.5
""")
NEW = OLD.edit(
    sets={"x.low": {"center": 0.5}, "x.high": {"center": 2.5}, "z.low": {"width": 2}},
    conclusions={1: 2, 2: -1, 3: 0.75},
)


@pytest.mark.parametrize("accepted", [[], [1], [2], [3], [1, 2], [2, 3], [1, 2, 3]])
def test_every_rule_acts_as_it_did_where_it_comes_from(accepted):
    rules, split = accept_rules(OLD, NEW, accepted)
    x = np.random.default_rng(0).normal(1, 1.5, (50, 2))[:, None]
    found, old, new = (each.infer(x) for each in (rules, OLD, NEW))
    for r in range(3):
        expected = new if r + 1 in accepted else old
        np.testing.assert_array_equal(found.truth[:, r], expected.truth[:, r])
        np.testing.assert_array_equal(found.rule_outputs[:, r], expected.rule_outputs[:, r])
    assert bool(split) == (accepted not in ([], [1, 2, 3]))
    if not accepted:
        assert rules is OLD


def test_rules_over_other_variables_are_merged_too():
    other = RuleBase.parse("VARIABLE w: far = Sigmoid(1, 2)  IF w is far THEN y = 3", aggregation="max")
    rules, _ = accept_rules(OLD, other, [1])
    assert rules.feature_names == ("x", "z", "w")
    rules, _ = accept_rules(OLD, other, [], gone=[3])
    assert rules.n_rules == 2
    with pytest.raises(ValueError, match="9"):
        accept_rules(OLD, NEW, [9])
    added = RuleBase.parse("VARIABLE x: low = Gaussian(0, 1)  Default: y = 0  IF SOME x is low THEN y += 3")
    with pytest.raises(ValueError, match="all of it"):
        accept_rules(OLD, added, [1])


def test_versions_are_compared(page):
    page.get("set_term", variable="x1", term="left", handle="center", x=0.5)
    page.get("set_conclusion", number=2, output="positive", value=6)
    page.get("set_rule", number=1, on=False)
    found = page.get("compare", old=0, new=3)
    assert [rule["changed"] for rule in found["rules"]] == [True, True]
    assert found["rules"][1]["changes"] == [{"what": "positive", "old": "5", "new": "6"}]
    (term,) = found["terms"]
    assert (term["old"]["shown"], term["new"]["shown"]) == ("Gaussian(0.7, 0.3)", "Gaussian(0.5, 0.3)")
    assert {"where": "studio", "what": "off", "old": "", "new": "1"} in found["settings"]
    assert found["old"] == {"version": 0, "label": "Opened demo"}
    back = page.get("compare", old=3, new=0)
    assert len(back["flipped"]) == len(found["flipped"]) > 0
    page.get("goto", version=0)
    assert page.state["text"] == page.session.history.versions[0].document.text
    page.refused("goto", "refused", version=99)


def test_documents_of_other_kinds_are_compared(page, mamdani):
    page.get("write_text", text=mamdani.state["text"])
    found = page.get("compare", old=0, new=1)
    assert found["settings"][0]["old"] == "Sugeno"
    assert Document(page.state["text"]).rules == mamdani.session.document.rules


def test_folds_that_were_stopped_show_what_was_done(page):
    trainer = Trainer.of(page.session)
    parts = [[0, 50, 149], [1, 51, 148], [2, 52, 147]]
    for done in range(1, 3):
        trainer._case, trainer._folds, trainer._reached = page.session.case, parts, None
        page.session.training = {"kind": "folds", "running": True}
        output = np.full((150, 1), np.nan)
        for part in parts[:done]:
            output[part] = page.session.case.found.output[part]
        trainer._hear({"done": done, "output": output.tolist()})
        page.get("stop")
        assert len(page.of_type("folds")[-1]["folds"]) == done
        assert page.of_type("folds")[-1]["running"] is False
        assert page.of_type("training")[-1]["message"] == ""


def test_the_default_is_accepted_by_itself():
    old = RuleBase.parse("VARIABLE x: low = Gaussian(0, 1)  Default: y = 0  IF SOME x is low THEN y += 1")
    new = RuleBase.parse("VARIABLE x: low = Gaussian(0, 1)  Default: y = -2  IF SOME x is low THEN y += 3")
    for rules in ([], [1]):
        for default in (False, True):
            found, _ = accept_rules(old, new, rules, default=default)
            assert found.default == (new if default else old).default
            assert found.coefs.tolist() == (new if rules else old).coefs.tolist()


def test_the_figures_of_a_proposal_follow_what_is_chosen(page):
    new = page.session.document.rules.edit(sets={"x1.left": {"center": 0.2}}, conclusions={1: -9, 2: 9})
    page.session.proposal = {"document": page.session.document.with_rules(new), "loss": None, "touched": []}
    whole = page.get("proposal")["proposal"]
    assert "chosen" not in whole
    for rules in ([], [1], [2], [1, 2]):
        expected, _ = accept_rules(page.session.document.rules, new, rules, default=False)
        chosen = page.get("proposal", rules=rules, default=False)["proposal"]["chosen"]
        decided = np.where(expected.infer(page.session.bags).output[:, 0] > 0, "positive", "negative")
        assert chosen["accuracy"][1] == pytest.approx((decided == page.session.bags.labels).mean())
        assert len(chosen["flipped"]) == (decided != page.session.case.decisions).sum()
    assert chosen["accuracy"] == whole["accuracy"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts as Linux does")
def test_long_use_takes_no_more_and_more(tmp_path):
    script = Path(__file__).parents[1] / "endurance.py"
    options = ["--seconds", "5", "--undos", "300", "--trainings", "5"]
    done = subprocess.run([sys.executable, script, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
