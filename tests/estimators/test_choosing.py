"""Estimators that choose their rules: parameters, further training, committees, streams, files, interruptions."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from fuzzymil import (
    BagStream,
    MIANFISClassifier,
    MIANFISRegressor,
    NaiveMIL,
    RuleBase,
    RuleClassifier,
    RuleRegressor,
    Training,
    load_model,
    train_rules,
)
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.datasets import make_planted
from fuzzymil.estimators import fit_together
from fuzzymil.rules.premise import Quantified

BAGS = make_planted("count", 60, n_noise=1, random_state=0)
UNSEEN = make_planted("count", 200, n_noise=1, random_state=1000)
NUMBERS = np.array([np.sort(bag[:, 0])[-2] for bag in BAGS])


@pytest.fixture(scope="module")
def model():
    return RuleClassifier(random_state=0).fit(BAGS)


def quantifiers(rules):
    return [part.quantifier for rule in rules.rules for part in [rule.premise] if isinstance(part, Quantified)]


# ---------------------------------------------------------------------- when rules are chosen


def test_rules_are_chosen_by_default(model):
    assert not model.rules_.normalize
    assert quantifiers(model.rules_) == ["at least"]
    assert model.score(UNSEEN) > 0.95
    assert model.frontier_[0].measures["log_loss"].mean == pytest.approx(np.log(2), abs=0.01)
    assert model.frontier_[model.frontier_.chosen].measures["log_loss"].mean < 0.2


def test_outputs_are_logits(model):
    logit = model.rules_.infer(UNSEEN).output[:, 0]
    np.testing.assert_allclose(model.decision_function(UNSEEN), logit)
    np.testing.assert_allclose(model.predict_proba(UNSEEN)[:, 1], 1 / (1 + np.exp(-logit)))
    assert "logit" in str(model.explain(UNSEEN, position=0))


def test_no_parameter_of_a_network_is_one_of_theirs():
    for name in ("alpha", "max_epochs", "training", "init", "order"):
        with pytest.raises(TypeError, match=name):
            RuleClassifier(**{name: 1})


def test_conditions_are_limited():
    bags = make_planted("pair", 150, n_noise=1, random_state=0)
    lengths = {}
    for max_conditions in (1, 2):
        chosen = RuleClassifier(max_conditions=max_conditions, random_state=0).fit(bags)
        assert not chosen.rules_.normalize
        lengths[max_conditions] = max(len(rule.conditions) for rule in chosen.rules_.rules)
    assert lengths == {1: 1, 2: 2}


# ---------------------------------------------------------------------- training chosen rules further


def test_chosen_rules_are_trained_and_put_back(model):
    further = model.with_rules(train_rules(model.rules_, BAGS, training=Training(max_epochs=1), random_state=0))
    assert quantifiers(further.rules_) == quantifiers(model.rules_)
    assert further.rules_ != model.rules_
    assert further.rules_.feature_names == model.rules_.feature_names
    assert further.score(UNSEEN) > 0.95
    moved = np.abs(further.decision_function(UNSEEN) - model.decision_function(UNSEEN))
    assert 0 < moved.mean() < 0.5  # one small step


def test_training_lowers_the_loss(model):
    network = MIANFISClassifier(init=model.rules_, training=Training(max_epochs=100), random_state=0).fit(BAGS)
    assert network.history_["loss"][0] == pytest.approx(model.loss_, abs=0.01)
    assert network.history_["loss"][-1] < 0.8 * model.loss_
    assert network._loss == "cross_entropy"  # that of additive rules
    assert network._state.keep_prob is None  # Rule Dropout is for rules that overlap
    assert train_rules(model.rules_, BAGS, training=Training(max_epochs=100), random_state=0) == network.rules_


def test_the_task_of_training_is_told_or_found():
    rules = RuleBase.parse("VARIABLE A: high = Sigmoid(0.5, 8) Default: y = 0 IF A is high THEN y += 1")
    few = Training(max_epochs=1)
    numbers = train_rules(rules.over(BAGS.names), BAGS, NUMBERS, training=few)
    assert numbers == MIANFISRegressor(init=rules.over(BAGS.names), training=few).fit(BAGS, NUMBERS).rules_
    told = train_rules(rules.over(BAGS.names), BAGS, task="regression", training=few)
    assert told != train_rules(rules.over(BAGS.names), BAGS, training=few)  # 0 and 1 are classes
    with pytest.raises(ParameterError, match=r"class_weight.*numbers"):
        train_rules(rules, BAGS, NUMBERS, class_weight="balanced")
    with pytest.raises(ParameterError, match=r"rule base.*3"):
        train_rules(3, BAGS)


# ---------------------------------------------------------------------- committees


def test_members_of_a_committee_are_averaged():
    committee = RuleClassifier(n_estimators=3, random_state=0).fit(BAGS)
    assert len(committee.members_) == 3
    outputs = [rules.infer(UNSEEN).output[:, 0] for rules in committee.members_]
    np.testing.assert_allclose(committee.decision_function(UNSEEN), np.mean(outputs, axis=0))
    assert committee.members_[0] == committee.rules_
    assert len({str(rules) for rules in committee.members_}) > 1  # bootstrap samples differ
    assert committee.score(UNSEEN) > 0.95


# ---------------------------------------------------------------------- copies and files


def test_a_saved_model_predicts_the_same_bits(model, tmp_path):
    committee = RuleClassifier(n_estimators=2, random_state=0).fit(BAGS)
    regressor = RuleRegressor(random_state=0).fit(BAGS, NUMBERS)
    for number, fitted in enumerate((model, committee, regressor)):
        fitted.save(tmp_path / f"{number}.json")
        for loaded in (load_model(tmp_path / f"{number}.json"), pickle.loads(pickle.dumps(fitted))):
            assert loaded.members_ == fitted.members_
            assert loaded.frontier_ == fitted.frontier_
            assert loaded.at(1).rules_ == fitted.at(1).rules_
            assert loaded.get_params() == fitted.get_params()
            np.testing.assert_array_equal(loaded.predict(UNSEEN), fitted.predict(UNSEEN))
            np.testing.assert_array_equal(loaded.instance_scores(UNSEEN), fitted.instance_scores(UNSEEN))
            if fitted is not regressor:
                np.testing.assert_array_equal(loaded.predict_proba(UNSEEN), fitted.predict_proba(UNSEEN))


def test_a_clone_is_unfitted_and_chooses_the_same(model):
    copy = clone(model)
    assert not hasattr(copy, "rules_")
    assert not hasattr(copy, "held_out_costs_")
    assert copy.fit(BAGS).rules_ == model.rules_


def test_edited_rules_predict(model):
    doubled = model.with_rules(model.rules_.edit(conclusions={1: 2 * model.rules_.rules[0].coefs[0][0]}))
    default = model.rules_.default[0]
    np.testing.assert_allclose(
        doubled.decision_function(UNSEEN) - default, 2 * (model.decision_function(UNSEEN) - default), atol=1e-12
    )


# ---------------------------------------------------------------------- streams, several fits


def test_a_stream_gives_the_rules_of_its_bags(model):
    parts = [BAGS[:25], BAGS[25:]]
    stream = BagStream(parts.__getitem__, 2)
    streamed = RuleClassifier(random_state=0).fit(stream)
    np.testing.assert_array_equal(streamed.predict(UNSEEN), model.predict(UNSEEN))
    assert quantifiers(streamed.rules_) == quantifiers(model.rules_)
    with pytest.raises(InputError, match="labels"):
        RuleClassifier(random_state=0).fit(stream, BAGS.labels)


def test_fits_together_are_those_one_by_one(model):
    chosen, network = fit_together(
        [RuleClassifier(random_state=0), MIANFISClassifier(3, training=Training(max_epochs=2), random_state=0)],
        [BAGS, BAGS],
    )
    assert chosen.rules_ == model.rules_
    assert network.rules_.n_rules == 3
    naive = NaiveMIL(RuleClassifier(random_state=0))
    (together,) = fit_together([clone(naive)], [BAGS])
    np.testing.assert_array_equal(together.predict(UNSEEN), naive.fit(BAGS).predict(UNSEEN))
    assert not together.estimator_.rules_.normalize


def test_candidates_are_compared_on_a_sample_of_very_many_bags(monkeypatch):
    from fuzzymil.learn.choose import choose

    monkeypatch.setattr(choose, "MOST_BAGS", 100)
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(n, 3)) for n in [600] * 3 + [5] * 150]
    for bag in bags[:3]:
        bag[:10, 0] = 50
    labels = np.arange(153) < 3
    model = RuleClassifier(random_state=0).fit(bags, labels)
    assert model.n_bags_compared_[0] < 110
    assert model.n_bags_compared_[1] == 153
    assert (model.predict(bags) == labels).all()  # the rare class is in every sample
    assert model.predict_proba(bags)[3:, 1].max() < 0.2  # rare as ever
    assert RuleClassifier(random_state=0).fit(BAGS).n_bags_compared_ == (60, 60)


# ---------------------------------------------------------------------- progress and interruptions


def test_progress_is_counted_and_ends_complete(capsys, monkeypatch):
    from fuzzymil.estimators import rules

    steps, stages = [], []

    class Bar:
        def __init__(self, title, *, enabled):
            assert title == "Choosing rules"
            assert enabled

        def __enter__(self):
            return lambda done, total, stage: steps.append((done, total)) or stages.append(stage)

        def __exit__(self, *_):
            return None

    RuleClassifier(random_state=0).fit(BAGS[:20])
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(rules, "counting_bar", Bar)
    RuleClassifier(verbose=True, random_state=0).fit(BAGS[:20])
    done, total = np.array(steps).T
    assert len(steps) > 10
    assert np.all(np.diff(done) >= 0)
    assert np.all(done <= total)
    assert done[-1] == total[-1]
    told = list(dict.fromkeys(stages))
    assert told == ["candidates", "cross-validation", "fitting", ""]


def test_ctrl_c_leaves_an_estimator_as_it_was(monkeypatch, model):
    from fuzzymil.learn.choose import choose

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    before = pickle.loads(pickle.dumps(model))
    fresh = RuleClassifier(random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(choose, "fit_sizes", interrupted)
        for estimator in (fresh, before):
            with pytest.raises(KeyboardInterrupt):
                estimator.fit(BAGS[:30])
    assert vars(fresh) == vars(RuleClassifier(random_state=0))
    assert before.rules_ == model.rules_
    np.testing.assert_array_equal(before.predict_proba(UNSEEN), model.predict_proba(UNSEEN))
    assert fresh.fit(BAGS).rules_ == model.rules_


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("settings", "facts"),
    [
        ({"max_rules": 0}, "max_rules.*1"),
        ({"max_conditions": 0}, "max_conditions.*1"),
        ({"missing": "no"}, "missing.*no"),
    ],
)
def test_parameters_are_checked_before_choosing(settings, facts):
    with pytest.raises(ParameterError, match=facts):
        RuleClassifier(**settings).fit(BAGS)


def test_data_that_cannot_be_used():
    with pytest.raises(InputError, match="one class"):
        RuleClassifier().fit(BAGS, np.ones(60))
    with pytest.raises(ValueError, match="zero"):  # scikit-learn's own, in newer versions
        RuleClassifier().fit(BAGS, sample_weight=np.zeros(60))
    with pytest.raises(InputError, match=r"one bag"):
        RuleRegressor().fit(BAGS[:1], [1.0])
    holes = [bag.copy() for bag in BAGS]
    holes[3][1, 0] = np.nan
    with pytest.raises(InputError, match=r"missing"):
        RuleClassifier(missing="error").fit(holes, BAGS.labels)
