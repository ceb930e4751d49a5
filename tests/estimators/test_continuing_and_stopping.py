"""Fits that go on from earlier ones, and what ends a fit."""

import numpy as np
import optax
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from small_fits import BAGS, NUMBERS, WORDS, Y, classifier, material, networks, regressor, score_of

# ---------------------------------------------------------------------- going on


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
def test_partial_fit_starts_with_some_classes_and_goes_on(loss):
    model = classifier(loss=loss, learning_rate=0.1)
    some = WORDS != "concept2"
    model.partial_fit(BAGS[some], WORDS[some], classes=["concept1", "concept2", "negative"])
    assert model.classes_.tolist() == ["concept1", "concept2", "negative"]
    assert model.predict_proba(BAGS).shape == (len(BAGS), 3)
    before = model.score(BAGS, WORDS)
    for _ in range(60):
        assert model.partial_fit(BAGS, WORDS) is model
    assert model.score(BAGS, WORDS) > before
    np.testing.assert_allclose(model.predict_proba(BAGS).sum(axis=1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
def test_partial_fit_on_bags_of_one_class(loss):
    model = classifier(loss=loss).partial_fit(BAGS, Y)
    model.partial_fit(BAGS[Y == 1], Y[Y == 1])
    assert np.isfinite(model.predict_proba(BAGS)).all()


@networks
def test_partial_fits_equal_one_fit_of_as_many_epochs(model):
    bags, y = material(model)
    whole = clone(model).fit(bags, y)
    parts = clone(model)
    for _ in range(5):
        parts.partial_fit(bags, y)
    np.testing.assert_allclose(score_of(parts, bags), score_of(whole, bags), rtol=1e-4, atol=1e-5)


@networks
def test_warm_start_continues_where_training_stopped(model):
    bags, y = material(model)
    long = clone(model).set_params(training__max_epochs=10).fit(bags, y)
    warm = clone(model).set_params(training__warm_start=True).fit(bags, y)
    first = warm.history_["loss"]
    warm.fit(bags, y)
    assert (np.diff(np.concatenate([first, warm.history_["loss"]])) < 0).all()
    np.testing.assert_allclose(warm.history_["loss"], long.history_["loss"][5:], rtol=1e-4)
    np.testing.assert_allclose(score_of(warm, bags), score_of(long, bags), rtol=1e-3, atol=1e-4)
    cold = clone(model).fit(bags, y)
    np.testing.assert_array_equal(cold.fit(bags, y).history_["loss"], first)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"optimizer": "sgd"},
        {"optimizer": optax.sgd(0.01)},
        {"width_scale": "direct"},
        {"learn_alpha": True},
        {"precision": "double"},
        {"batch_size": 4},
        {"rule_keep_prob": 0.5},
        {"n_iter_no_change": 20},
    ],
    ids=lambda change: next(iter(change)),
)
def test_settings_may_change_before_a_warm_start(change):
    model = classifier(warm_start=True).fit(BAGS, Y)
    model.set_params(**{f"training__{name}": value for name, value in change.items()}).fit(BAGS, Y)
    assert np.isfinite(model.decision_function(BAGS)).all()


@pytest.mark.parametrize("change", [{"training__loss": "cross_entropy"}, {"n_rules": 7}, {"order": 1}, {"alpha": 2.0}])
def test_settings_that_shaped_the_rules_may_not_change_before_a_warm_start(change):
    model = classifier(warm_start=True).fit(BAGS, Y)
    before = model.decision_function(BAGS)
    ((name, _),) = change.items()
    with pytest.raises(ValueError, match=rf"made with {name.removeprefix('training__')}=.*warm_start=False"):
        model.set_params(**change).fit(BAGS, Y)
    model.set_params(training__loss=None)
    np.testing.assert_array_equal(model.decision_function(BAGS), before)


def test_a_warm_start_with_other_classes_is_refused():
    model = classifier(warm_start=True).fit(BAGS, Y)
    before = model.decision_function(BAGS)
    with pytest.raises(ValueError, match="classes"):
        model.fit(BAGS, WORDS)
    with pytest.raises(ValueError, match="outputs"):
        regressor(warm_start=True).fit(BAGS, NUMBERS).fit(BAGS, np.column_stack([NUMBERS, NUMBERS]))
    np.testing.assert_array_equal(model.decision_function(BAGS), before)


# ---------------------------------------------------------------------- stopping


def test_early_stopping_keeps_the_best_epoch():
    model = classifier(n_iter_no_change=3, max_epochs=300, learning_rate=0.3).fit(BAGS, Y)
    validation = model.history_["validation_loss"]
    assert len(validation) == model.n_iter_ < 300
    assert validation.argmin() == len(validation) - 1 - 3
    full = classifier(n_iter_no_change=300, max_epochs=12).fit(BAGS, Y)
    assert len(full.history_["validation_loss"]) == 12


def test_tolerance_ends_training():
    model = classifier(tol=1e3, max_epochs=50).fit(BAGS, Y)
    assert model.n_iter_ == 1


def test_a_callback_sees_every_epoch_and_ends_training():
    seen = []

    def callback(now):
        seen.append((now.epoch, now.max_epochs, float(now.loss[0]), now.params()[0].coefs.shape))
        return now.epoch == 3

    model = classifier(max_epochs=50, callbacks=[callback]).fit(BAGS, Y)
    assert [entry[0] for entry in seen] == [1, 2, 3]
    assert all(entry[1] == 50 and entry[3] == (3, 1, 1) for entry in seen)
    np.testing.assert_array_equal(model.history_["loss"], [entry[2] for entry in seen])
    assert model.n_iter_ == 3
    np.testing.assert_array_equal(
        model.decision_function(BAGS), classifier(max_epochs=3).fit(BAGS, Y).decision_function(BAGS)
    )


@networks
def test_ctrl_c_keeps_the_model_so_far(model):
    bags, y = material(model)

    def interrupt(now):
        if now.epoch == 3:
            raise KeyboardInterrupt

    model = clone(model).set_params(training__max_epochs=50, training__callbacks=[interrupt])
    with pytest.warns(UserWarning, match=r"interrupted.*after 3 epoch") as caught:
        model.fit(bags, y)
    assert len(caught) == 1
    assert model.n_iter_ == 3
    reference = clone(model).set_params(training__max_epochs=3, training__callbacks=()).fit(bags, y)
    np.testing.assert_array_equal(score_of(model, bags), score_of(reference, bags))


def test_an_error_in_a_callback_leaves_the_model_as_it_was():
    def fail(now):
        raise RuntimeError("not my day")

    model = classifier().fit(BAGS, Y)
    before = model.decision_function(BAGS)
    with pytest.raises(RuntimeError, match="not my day"):
        model.set_params(training__callbacks=[fail]).fit(BAGS, 1 - Y)
    np.testing.assert_array_equal(model.decision_function(BAGS), before)


@pytest.mark.slow
def test_divergence_is_told_and_leaves_a_usable_model():
    model = classifier(optimizer="sgd", learning_rate=1e30, order=1)
    with pytest.warns(ConvergenceWarning, match=r"diverged.*smaller learning_rate") as caught:
        model.fit(BAGS, Y)
    assert len(caught) == 1
    assert np.isfinite(model.decision_function(BAGS)).all()
    assert model.predict(BAGS).shape == (len(BAGS),)
    assert np.isfinite(model.rules_.centers).all()


def test_a_warning_points_at_the_line_that_fits():
    with pytest.warns(ConvergenceWarning) as caught:
        classifier(optimizer="sgd", learning_rate=1e30, order=1).fit(BAGS, Y)
    assert caught[0].filename == __file__
    with pytest.warns(ConvergenceWarning) as caught:
        regressor(optimizer="sgd", learning_rate=1e30, order=1).fit(BAGS, NUMBERS)
    assert caught[0].filename == __file__


def test_verbose_shows_a_bar(capsys):
    model = classifier(verbose=True).fit(BAGS, Y)
    out = capsys.readouterr().err
    assert "MIANFISClassifier" in out
    assert "5/5" in out
    assert "loss" in out
    np.testing.assert_array_equal(model.decision_function(BAGS), classifier().fit(BAGS, Y).decision_function(BAGS))
    assert capsys.readouterr() == ("", "")
