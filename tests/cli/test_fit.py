"""``fit``: from a table to a model."""

import json
import re

import pytest
from runner import COLUMNS, NETWORK, SMALL, bad, good, run, table, write

from fuzzymil import Bags, Constraints, RuleBase, load_model
from fuzzymil.cli._settings import Method, Task, infer_task, new_estimator
from fuzzymil.cli.fit import _scorecard
from fuzzymil.datasets import make_planted


def test_fit_reports_what_it_read_and_learned(desk):
    stderr, stdout = (desk / "stderr.txt").read_text(), (desk / "stdout.txt").read_text()
    for fact in ("boxes.csv", "'box'", "'color'", "12 bags", "36 instances", "2 features, 3 instances per bag"):
        assert fact in stderr
    assert "blue (6 bags), red (6 bags)" in stderr
    assert "Guessed" not in stderr
    assert "2 rules" in stdout
    assert "3 epochs" in stdout
    assert f"fuzzymil rules {desk / 'model.json'}" in stdout
    model = load_model(desk / "model.json")
    assert f"{model.score(load(desk)):.1%}" in stdout
    assert (model.n_rules, model.training.max_epochs, model.random_state, model.verbose) == (2, 3, 0, False)
    assert tuple(model.feature_names_in_) == ("weight", "length")


def test_rules_are_chosen_by_default_and_shown(desk, tmp_path):
    target = tmp_path / "chosen.json"
    printed = good("fit", desk / "boxes.csv", *COLUMNS, "-o", target).stdout
    model = load_model(target)
    assert model.frontier_.evidence in printed or model.frontier_.doubt in printed
    assert "<- chosen" in printed
    assert not model.rules_.normalize
    assert model.rules_.to_text() in printed
    assert "Default: red = " in printed
    assert "THEN red +=" in printed
    assert "epoch" not in printed
    again = tmp_path / "selected.json"
    facts = json.loads(good("fit", desk / "boxes.csv", *COLUMNS, "--method", "rules", "--json", "-o", again).stdout)
    assert load_model(again).rules_ == model.rules_
    assert facts["n_rules"] == model.rules_.n_rules
    assert [row["chosen"] for row in facts["frontier"]].count(True) == 1


def test_another_number_of_rules_is_used_on_request(desk, tmp_path):
    printed = good("fit", desk / "boxes.csv", *COLUMNS, "--rules", 0, "-o", tmp_path / "none.json").stdout
    assert "IF anything" in printed
    assert not load_model(tmp_path / "none.json").frontier_.chosen
    message = bad("fit", desk / "boxes.csv", *COLUMNS, "--method", "mi-anfis", "--rules", 2, "-o", tmp_path / "no.json")
    assert "--rules belongs to --method rules" in message


def test_the_positive_class_can_be_chosen(desk, tmp_path):
    arguments = ["fit", desk / "boxes.csv", *COLUMNS, "-o", tmp_path / "m.json"]
    assert "Default: blue = " in good(*arguments, "--pos-label", "blue").stdout
    model = load_model(tmp_path / "m.json")
    assert (model.pos_label_, model.classes_.tolist()) == ("blue", ["blue", "red"])
    message = bad(*arguments, "--pos-label", "green")
    assert "'green'" in message
    assert "blue, red" in message
    assert "--pos-label" in bad(*arguments, "--set", "pos_label=blue")
    assert "--pos-label" in bad(*arguments, "--pos-label", "blue", "--continue", tmp_path / "m.json")


def test_options_of_training_train(desk, tmp_path):
    arguments = ["fit", desk / "boxes.csv", *COLUMNS, "--max-epochs", 2, "-o", tmp_path / "m.json"]
    assert "2 epochs" in good(*arguments, *NETWORK).stdout
    assert load_model(tmp_path / "m.json").rules_.normalize
    assert "--max-epochs does not belong to --method rules (--method mi-anfis has it)" in bad(*arguments)
    assert "--alpha does not belong to --method anfis" in bad(*arguments, "--method", "anfis", "--alpha", "5")
    assert "'loss' of --method rules" in bad(*arguments[:6], "--set", "loss=hinge")
    assert "--checkpoint does not belong to --method rules" in bad(*arguments[:6], "--checkpoint", tmp_path)
    help = good("fit", "--help").stdout
    assert help.index("--n-rules") < help.index("Training (--method") < help.index("--alpha")


def test_bounds_and_committees(desk, tmp_path):
    bounds = ["--n-rules", 1, "--max-conditions", 1, "--n-estimators", 2]
    printed = good("fit", desk / "boxes.csv", *COLUMNS, *bounds, "-o", tmp_path / "m.json").stdout
    members = load_model(tmp_path / "m.json").members_
    assert "2 rule bases" in printed
    assert len(members) == 2
    assert all(len(rule.conditions) <= 1 for rules in members for rule in rules.rules)
    assert max(rules.n_rules for rules in members) == 1


def test_a_long_scorecard_is_shortened():
    card = RuleBase.parse(
        "VARIABLE x: high = Sigmoid(0, 1)\n" + "\n".join(f"IF SOME x is high THEN y += {n}" for n in range(1, 31))
    )
    first, *_, last = _scorecard(card).splitlines()
    assert first.startswith("Default: ")
    shown = sum(line.startswith("Rule ") for line in _scorecard(card).splitlines())
    assert 0 < shown < 30
    assert f"{30 - shown} more" in last


def test_choosing_shows_its_progress_on_a_terminal(desk, tmp_path, monkeypatch):
    monkeypatch.setattr("fuzzymil.cli.fit.is_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")  # so that the bar believes in a terminal, too
    result = good("fit", desk / "boxes.csv", *COLUMNS, "-o", tmp_path / "m.json")
    assert "Choosing rules" in result.stderr
    assert not load_model(tmp_path / "m.json").verbose


def test_choosing_from_a_stream(boxes, tmp_path):
    good("fit", boxes, *COLUMNS, "--drop", "remark", "--stream", "-o", tmp_path / "m.json")
    assert load_model(tmp_path / "m.json").frontier_.n_folds


def test_several_files_are_read_in_parts_as_one_table(boxes, tmp_path):
    from fuzzymil.datasets import read_bags, write_bags

    whole = read_bags(boxes, bag="box", label="color", drop=["remark"])
    for n, half in enumerate((whole[: whole.n_bags // 2], whole[whole.n_bags // 2 :])):
        write_bags(half, tmp_path / f"{n}.parquet")
    files = tmp_path / "0.parquet", tmp_path / "1.parquet"
    for given in (files, [tmp_path / "*.parquet"]):
        message = good("fit", *given, "--stream", "-o", tmp_path / "m.json").stderr
        assert f"{whole.n_bags} bags" in message
    assert "--stream or --dask" in bad("fit", *files)
    assert "No Dask scheduler answers" in bad("fit", *files, "--dask", "tcp://127.0.0.1:1")


def load(desk):
    from fuzzymil.datasets import read_bags

    return read_bags(desk / "boxes.csv", bag="box", label="color")


def test_guesses_are_announced(tmp_path):
    plain = write(tmp_path / "plain.csv", table("class").replace("box,", "bag,", 1))
    stderr = good("fit", plain, *SMALL, "-o", tmp_path / "model.json").stderr
    assert "'bag'" in stderr
    assert "'class'" in stderr
    assert "--bag and --label" in stderr


def test_fit_for_programs(desk, tmp_path):
    options = [*SMALL, "--set", "clip=4", "--json", "-o", tmp_path / "model.json"]
    found = json.loads(good("fit", desk / "boxes.csv", *COLUMNS, *options).stdout)
    assert (found["n_rules"], found["n_epochs"], found["interrupted"]) == (2, 3, False)
    assert load_model(tmp_path / "model.json").training.clip == 4


def test_a_model_through_a_pipe_is_the_same(desk):
    fitted = good("fit", "-", *COLUMNS, *SMALL, "-o", "-", input=(desk / "boxes.csv").read_bytes())
    assert fitted.stdout == (desk / "model.json").read_text()
    assert "2 rules" in fitted.stderr
    assert "standard input: 12 bags" in fitted.stderr
    assert good("rules", "-", input=fitted.stdout.encode()).stdout == good("rules", desk / "model.json").stdout


def test_numbers_make_a_regressor(tmp_path):
    data = write(tmp_path / "n.csv", table("y", labels=("2.5", "0.25")).replace("box,", "bag,", 1))
    result = good("fit", data, *SMALL, "-o", tmp_path / "model.json")
    assert "from 0.25 to 2.5" in result.stderr
    assert "--task classification" in result.stderr
    assert type(load_model(tmp_path / "model.json")).__name__ == "MIANFISRegressor"
    predicted = good("predict", tmp_path / "model.json", data)
    assert predicted.stdout.startswith("bag,prediction,coverage\n")
    assert "R2" in predicted.stderr
    found = json.loads(good("evaluate", data, *SMALL, "--folds", 3, "--compare", "mean", "--json").stdout)
    assert [set(method["measures"]) for method in found["methods"]] == [{"R2", "MAE"}, {"R2", "MAE"}]


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (["a", "b"] * 10, "classification"),
        ([0, 1, 2, 2] * 5, "classification"),
        ([0.5, 1.0] * 10, "regression"),
        (list(range(20)), "regression"),
        (list(range(21)) * 3, "regression"),
    ],
    ids=["text", "few integers", "fractions", "all different", "many integers"],
)
def test_the_task_follows_from_the_labels(labels, task, capsys):
    bags = Bags.from_list([[[float(b)]] for b in range(len(labels))], labels=labels)
    assert infer_task(Task.auto, bags) == task
    assert task in capsys.readouterr().err.lower()


def test_regression_needs_numbers(desk):
    message = bad("fit", desk / "boxes.csv", *COLUMNS, "--task", "regression", "-o", desk / "never.json")
    assert "blue" in message
    assert not (desk / "never.json").exists()


def test_columns_of_text_are_dropped_and_remembered(tmp_path):
    rows = [f"{line},{'/shop' if n else 'url'}" for n, line in enumerate(table().splitlines())]
    data = write(tmp_path / "with_text.csv", "\n".join(rows) + "\n")
    message = good("fit", data, *COLUMNS, *SMALL, "-o", tmp_path / "model.json").stderr
    assert "not used: url" in message
    assert "--categorical url" in message
    good("fit", data, *COLUMNS, "--drop", "url", *SMALL, "-o", tmp_path / "model.json")
    good("predict", tmp_path / "model.json", data)
    assert "'uri'" in bad("data", "describe", data, *COLUMNS, "--drop", "uri")


@pytest.mark.slow
def test_training_starts_from_expert_rules(desk, tmp_path):
    rules = write(
        tmp_path / "expert.rules",
        "VARIABLE weight: heavy = Gaussian(4, 1)\nIF weight is heavy THEN red = 1\nIF anything THEN red = 0 WITH 0.2\n",
    )
    arguments = ["fit", desk / "boxes.csv", *COLUMNS, *NETWORK, "--max-epochs", "3"]
    good(*arguments, "--init", rules, "--set", "frozen=weight", "-o", tmp_path / "model.json")
    shown = good("rules", tmp_path / "model.json").stdout
    assert "IF weight is heavy THEN red = " in shown
    assert "heavy = Gaussian(4, 1)" in shown
    wrong = write(tmp_path / "wrong.rules", "IF weight THEN")
    told = bad(*arguments, "--init", wrong, "-o", tmp_path / "x.json")
    assert "wrong.rules" in told
    assert "Line 1, character 11" in told


SETS = ["--method", "mamdani"]
MAMDANI = """
VARIABLE weight: light = Gaussian(1, 1.5), heavy = Gaussian(4, 1)
OUTPUT red FROM 0 TO 100: hardly = Triangular(-50, 0, 50), surely = Triangular(50, 100, 150)
IF weight is light THEN red is hardly
IF weight is heavy THEN red is surely
"""


@pytest.mark.slow
def test_sets_of_mamdani_rules_are_trained(desk, tmp_path):
    rules, model = write(tmp_path / "expert.rules", MAMDANI), tmp_path / "model.json"
    arguments = ["fit", desk / "boxes.csv", "--max-epochs", "3"]
    constraints = ["--set", "frozen=red", "--set", "ordered=yes"]
    said = good(*arguments, *COLUMNS, *SETS, "--init", rules, *constraints, "-o", model)
    assert "threshold between the classes is 50" in said.stderr
    assert "2 rules" in said.stdout
    assert "3 epochs" in said.stdout
    trained = load_model(model)
    before, after = RuleBase.parse(MAMDANI), trained.rules_
    assert (trained.threshold, trained.pos_label_, trained.random_state) == (50, "red", 0)
    assert trained.constraints == Constraints(ordered=True)
    assert after.outputs == before.outputs
    assert after.variables != before.variables
    assert "of 12 bags" in good("predict", model, desk / "boxes.csv").stderr
    facts = json.loads(good(*arguments, "--continue", model, "--json", "-o", model).stdout)
    assert (facts["estimator"], facts["n_epochs"]) == ("MIMamdani", 3)
    further = load_model(model)
    assert further.initial_rules_ == after
    assert further.rules_ != after


@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_keeps_the_sets_so_far(desk, tmp_path):
    rules, model = write(tmp_path / "expert.rules", MAMDANI), tmp_path / "model.json"
    stopped = run("fit", desk / "boxes.csv", *COLUMNS, *SETS, "--init", rules, "-o", model)
    assert stopped.exit_code == 130
    assert "of 150 epochs" in stopped.stderr
    assert f"--continue {model}" in stopped.stderr
    assert 0 < len(load_model(model).history_["loss"]) < 150


def test_mamdani_rules_may_be_kept_as_they_are(desk, tmp_path):
    rules, target = write(tmp_path / "expert.rules", MAMDANI), tmp_path / "model.json"
    chosen = ["--pos-label", "red", "--set", "threshold=30", "--set", "defuzzify=mom", "--set", "max_epochs=0"]
    given = [*SETS, "--init", rules]
    assert "2 rules" in good("fit", desk / "boxes.csv", *COLUMNS, *given, *chosen, "-o", target).stdout
    model = load_model(target)
    assert (model.threshold, model.pos_label_, model.rules_.defuzzification.defuzzify) == (30, "red", "mom")
    assert model.rules_.variables == RuleBase.parse(MAMDANI).variables


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--n-rules", "3"], r"--n-rules .*given"),
        (["--order", "1"], r"--order .*--method mamdani"),
        (["--set", "loss=hinge"], r"'loss' of --method mamdani"),
        (["--set", "rules=3"], r"'rules' of --method mamdani"),
        (["--checkpoint", "states"], r"without checkpoints"),
        (["--set", "defuzzify=mom"], r"centroid"),
    ],
)
def test_what_does_not_apply_to_mamdani_rules_is_refused(options, told, desk, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rules = write(tmp_path / "expert.rules", MAMDANI)
    assert re.search(told, bad("fit", desk / "boxes.csv", *COLUMNS, *SETS, "--init", rules, *options, "-o", "m.json"))
    assert not (tmp_path / "m.json").exists()
    assert "use --method mamdani" in bad("fit", desk / "boxes.csv", *COLUMNS, *NETWORK, "--init", rules, "-o", "m.json")


def test_continue(desk, tmp_path):
    arguments = ["fit", desk / "boxes.csv", "--continue", desk / "model.json", "--max-epochs", 2]
    good(*arguments, "-o", tmp_path / "more.json")
    before, after = load_model(desk / "model.json"), load_model(tmp_path / "more.json")
    assert after.n_iter_ == 2
    assert after.initial_rules_.to_text() == before.rules_.to_text()
    assert not after.training.warm_start
    assert "--learning-rate" in bad(*arguments, "--n-rules", 3, "-o", tmp_path / "more.json")


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_keeps_the_model_and_says_how_to_resume(desk, tmp_path):
    target = tmp_path / "half.json"
    result = run("fit", desk / "boxes.csv", *COLUMNS, *NETWORK, "--n-rules", 2, "--max-epochs", 1000, "-o", target)
    assert result.exit_code == 130
    done = len(load_model(target).history_["loss"])
    assert 0 < done < 1000
    assert f"after {done} of 1000 epochs" in result.stderr
    advice = result.stderr.splitlines()[-1].split()
    assert advice[0] == "fuzzymil"
    assert advice[advice.index("--max-epochs") + 1] == str(1000 - done)
    advice[advice.index("--max-epochs") + 1] = "1"  # the rest would take a while
    good(*advice[1:])
    assert load_model(target).n_iter_ == 1


@pytest.mark.usefixtures("ctrl_c")
def test_a_checkpoint_resumes_to_the_same_numbers(desk, tmp_path):
    arguments = ["fit", desk / "boxes.csv", *COLUMNS, *NETWORK, "--n-rules", 2, "--max-epochs", 20]
    kept = ["--checkpoint", tmp_path / "kept", "-o", tmp_path / "kept.json"]
    stopped = run(*arguments, *kept)
    assert stopped.exit_code == 130
    assert "same command again" in stopped.stderr
    assert load_model(tmp_path / "kept.json").n_iter_ < 20
    good(*arguments, *kept)
    good(*arguments, "-o", tmp_path / "whole.json")
    assert (tmp_path / "kept.json").read_text() == (tmp_path / "whole.json").read_text()


@pytest.mark.slow
def test_advice_on_missing_values_can_be_followed(desk, tmp_path):
    lines = table().splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + ","
    data = write(tmp_path / "gap.csv", "\n".join(lines) + "\n")
    strict = tmp_path / "strict.json"
    good("fit", write(tmp_path / "whole.csv", table()), *COLUMNS, "--set", "missing=error", *SMALL, "-o", strict)
    message = bad("predict", strict, data)
    assert "bag b0" in message.lower()
    assert "--set missing=median" in message
    good("fit", data, *COLUMNS, "--set", "missing=median", *SMALL, "-o", tmp_path / "m.json")
    good("predict", tmp_path / "m.json", data)


def test_chosen_rules_are_trained_further(tmp_path):
    data, chosen, trained = tmp_path / "planted.csv", tmp_path / "chosen.json", tmp_path / "trained.json"
    make_planted("some", 40, 1, random_state=0).to_frame().to_csv(data, index=False)
    good("fit", data, "-o", chosen)
    said = good("fit", data, "--continue", chosen, "--max-epochs", 3, "-o", trained).stdout
    before, after = load_model(chosen), load_model(trained)
    assert type(after).__name__ == "RuleClassifier"
    assert "Learned" in said
    assert after.rules_ != before.rules_
    assert [rule.premise for rule in after.rules_.rules] == [rule.premise for rule in before.rules_.rules]
    good("fit", data, "--n-estimators", 2, "-o", chosen)
    assert "only a single one" in bad("fit", data, "--continue", chosen, "-o", trained)


def test_additive_rules_are_a_scorecard(tmp_path):
    """Their sum is a logit, unless the user names a loss."""
    card = write(tmp_path / "card.rules", "VARIABLE x: high = Sigmoid(1, 1)\nDefault: y = -2\nIF x is high THEN y += 5")
    mean = write(tmp_path / "mean.rules", "VARIABLE x: high = Sigmoid(1, 1)\nIF x is high THEN y = 1")
    for path, texts, loss in (
        (card, [], "cross_entropy"),
        (card, ["loss=hinge"], "hinge"),
        (mean, [], "squared_error"),
    ):
        model = new_estimator(Method.mi_anfis, Task.classification, {}, texts, str(path), 0)
        assert model._intended_loss == loss


def test_data_without_rules_is_said_to_be_so(tmp_path):
    rows = [f"{bag},{'yn'[bag % 2]},{x}" for bag in range(40) for x in range(3)]
    data = write(tmp_path / "noise.csv", "\n".join(["bag,label,x", *rows]))
    said = good("fit", data, "-o", tmp_path / "model.json").stdout
    assert "IF anything" in said
    assert "no rules are certainly better than none" in said


def test_several_targets_are_for_python(tmp_path):
    data = write(tmp_path / "tools.csv", "bag,cost,wear,x\n1,2,3,4\n2,3,4,5\n")
    message = bad("fit", data, "--label", "cost,wear")
    assert "'cost,wear'" in message
    assert "Python" in message
