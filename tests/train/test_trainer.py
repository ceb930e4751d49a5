"""Training: what it must do whatever the data, in batch, mini-batch and on-line mode."""

import itertools
import math
import signal

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from fuzzymil.inference.layers import Operators, Params, forward
from fuzzymil.inference.segments import Each, pack
from fuzzymil.learn.train import trainer
from fuzzymil.learn.train._loop import Plan, _draw_keep
from fuzzymil.learn.train.trainer import Group, train_groups
from fuzzymil.rules import RuleBase

# Everything has one shape, so that tests share compiled programs.
FEATURES, RULES, BAGS = 3, 3, 10
SIZES = (2, 5, 1, 3, 4, 2, 6, 1, 3, 4)
OFFSETS = np.cumsum([0, *SIZES])
MASKS = {"gaussian": np.ones((RULES, FEATURES))}
BATCH, ON_LINE, MINI_BATCH = None, 1, 4


def data(seed=0):
    """Instances and targets: 1 for bags with an instance near (1, 1, 1)."""
    rng = np.random.default_rng(seed)
    instances = rng.normal(size=(OFFSETS[-1], FEATURES))
    targets = (np.arange(BAGS) % 2).astype(float)[:, None]
    instances[OFFSETS[1:-1:2]] = 1 + 0.1 * rng.normal(size=(BAGS // 2, FEATURES))
    return instances, targets


def start(seed=0):
    rng = np.random.default_rng(1000 + seed)
    return Params(
        {"gaussian": (rng.normal(size=(RULES, FEATURES)), rng.uniform(0.8, 1.6, (RULES, FEATURES)))},
        0.5 + 0.3 * rng.normal(size=(RULES, 1, 1)),
        np.array(2.0),
        np.array(1.0),
    )


def fit(
    batch_size=BATCH, *, starts=None, instances=None, offsets=OFFSETS, targets=None, weights=None, dtype=np.float32,
    learning_rate=0.02, max_epochs=12, seeds=None, held_out=None, first_epoch=0, optimizer_state=None, plan=None,
    **settings,
):  # fmt: skip
    own_instances, own_targets = data()
    starts = [start()] if starts is None else starts
    group = Group(
        starts=starts,
        masks=[MASKS] * len(starts),
        bags=pack(own_instances if instances is None else instances, offsets, dtype),
        targets=own_targets if targets is None else targets,
        weights=np.ones((len(starts), len(offsets) - 1)) if weights is None else np.asarray(weights, float),
        seeds=list(range(len(starts))) if seeds is None else seeds,
        held_out=held_out,
        first_epoch=first_epoch,
        optimizer_state=optimizer_state,
    )
    plan = Plan(**{"operators": Operators(), "batch_size": batch_size} | (plan or {}))
    (result,) = train_groups([group], plan, learning_rate=learning_rate, max_epochs=max_epochs, **settings)
    return result


def leaves(params):
    return jax.tree.leaves(params)


def assert_identical(one, other):
    for a, b in zip(leaves(one), leaves(other), strict=True):
        np.testing.assert_array_equal(a, b)


def assert_near(one, other, tolerance):
    for a, b in zip(leaves(one), leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def differ(one, other):
    return any(not np.array_equal(a, b) for a, b in zip(leaves(one), leaves(other), strict=True))


def outputs(params, instances=None):
    rules = RuleBase.from_arrays(*params.sets["gaussian"], params.coefs, alpha=float(params.alpha))
    return rules.infer(np.split(data()[0] if instances is None else instances, OFFSETS[1:-1])).output


# ---------------------------------------------------------------------- the descent


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [BATCH, MINI_BATCH, ON_LINE])
def test_loss_falls_and_the_history_tells(batch_size):
    result = fit(batch_size, max_epochs=60)
    (history,) = result.history
    assert history.keys() == {"loss", "rmse", "change"}
    assert len(history["loss"]) == 60 == result.n_epochs[0]
    assert history["loss"][-1] < 0.6 * history["loss"][0]
    np.testing.assert_allclose(history["rmse"], np.sqrt(history["loss"]), rtol=1e-5)
    assert (history["change"] > 0).all()
    assert not result.interrupted
    assert not result.diverged.any()
    assert result.validation_loss is None
    expected = np.mean((data()[1] - outputs(result.params[0])) ** 2)  # at the end, as the rules infer
    assert result.loss[0] == pytest.approx(expected, rel=1e-4)
    assert all(leaf.dtype == np.float64 for leaf in leaves(result.params))


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [BATCH, MINI_BATCH, ON_LINE])
def test_same_seed_is_bit_identical_and_runs_are_cut_anywhere(batch_size):
    result = fit(batch_size, max_epochs=25)
    assert_identical(fit(batch_size, max_epochs=25).params, result.params)
    seen = []
    watched = fit(batch_size, max_epochs=25, callbacks=(lambda progress: seen.append(progress.epoch),))
    assert_identical(watched.params, result.params)
    np.testing.assert_array_equal(watched.history[0]["loss"], result.history[0]["loss"])
    assert seen == list(range(1, 26))
    another_seed = fit(batch_size, max_epochs=25, seeds=[77])
    if batch_size is BATCH:
        assert_identical(another_seed.params, result.params)  # nothing is drawn
    else:
        assert differ(another_seed.params, result.params)


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-10)])
def test_fits_trained_together_are_those_trained_alone(dtype, tolerance):
    starts = [start(0), start(1)]
    weights = np.ones((2, BAGS))
    weights[1, :4] = 0.0
    weights[0, 5] = 3.0
    together = fit(starts=starts, weights=weights, dtype=dtype)
    for f in range(2):
        alone = fit(starts=[starts[f]], weights=weights[f : f + 1], dtype=dtype, seeds=[f])
        assert_near(alone.params[0], together.params[f], tolerance)
        assert alone.loss[0] == pytest.approx(together.loss[f], rel=tolerance)
    assert differ(together.params[0], together.params[1])


@pytest.mark.slow
def test_fits_trained_together_on_line_are_those_trained_alone():
    together = fit(ON_LINE, starts=[start(0), start(1)])
    for f in range(2):
        assert_near(fit(ON_LINE, starts=[start(f)], seeds=[f]).params[0], together.params[f], 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [1.0, 1e6])
@pytest.mark.parametrize("batch_size", [BATCH, MINI_BATCH, ON_LINE])
def test_what_a_bag_of_weight_zero_holds_does_not_matter(batch_size, noise):
    instances, targets = data()
    weights = np.ones((1, BAGS))
    weights[0, [0, 4, 9]] = 0.0
    other, other_targets = instances.copy(), targets.copy()
    rng = np.random.default_rng(5)
    for b in (0, 4, 9):
        rows = slice(OFFSETS[b], OFFSETS[b + 1])
        other[rows] = noise * rng.normal(size=other[rows].shape)
        other_targets[b] = 1e6
    expected = fit(batch_size, weights=weights)
    found = fit(batch_size, weights=weights, instances=other, targets=other_targets)
    assert_identical(found.params, expected.params)
    assert found.loss[0] == expected.loss[0]
    assert differ(expected.params, fit(batch_size).params)


@pytest.mark.parametrize("batch_size", [BATCH, ON_LINE])
def test_only_the_proportions_of_the_weights_matter(batch_size):
    weights = np.random.default_rng(6).uniform(0.2, 2.0, (1, BAGS))
    assert_near(fit(batch_size, weights=weights).params, fit(batch_size, weights=40 * weights).params, 1e-5)


@pytest.mark.slow
def test_a_weight_of_two_counts_a_bag_twice_in_a_batch():
    weights = np.ones((1, BAGS))
    weights[0, 3] = 2.0
    instances, targets = data()
    twice = np.concatenate([instances, instances[OFFSETS[3] : OFFSETS[4]]])
    repeated = np.concatenate([targets, targets[3:4]])
    result = fit(instances=twice, offsets=np.append(OFFSETS, len(twice)), targets=repeated)
    weighted = fit(weights=weights)
    assert_near(weighted.params, result.params, 1e-4)
    assert weighted.loss[0] == pytest.approx(result.loss[0], rel=1e-4)


# ---------------------------------------------------------------------- stopping


@pytest.mark.slow
def test_tolerance_stops_each_fit_on_its_own():
    at_rest = start()._replace(coefs=np.zeros((RULES, 1, 1)))
    targets = np.zeros((BAGS, 1))
    result = fit(starts=[at_rest, start(1)], targets=targets, tol=1e-6, max_epochs=10)
    assert result.n_epochs.tolist() == [1, 10]  # every error is 0, nothing moves
    assert [len(history["loss"]) for history in result.history] == [1, 10]
    assert_near(result.params[0], at_rest, 1e-6)
    assert fit(starts=[at_rest, start(1)], targets=targets, max_epochs=10).n_epochs.tolist() == [10, 10]


@pytest.mark.slow
def test_validation_stops_early_and_keeps_the_best_epoch():
    # The training bags want 1, the held-out ones 0.5: on the way from 0 the latter are best in the middle.
    weights, held_out = np.ones((1, BAGS)), np.zeros((1, BAGS))
    weights[0, :3], held_out[0, :3] = 0.0, 0.1
    targets = np.where(np.arange(BAGS) < 3, 0.5, 1.0)[:, None]
    seen = []
    result = fit(
        starts=[start()._replace(coefs=np.zeros((RULES, 1, 1)))], targets=targets, weights=weights, held_out=held_out,
        max_epochs=200, n_iter_no_change=5, plan={"validate": True},
        callbacks=(lambda progress: seen.append((progress.validation_loss[0], progress.params()[0])),),
    )  # fmt: skip
    losses = result.history[0]["validation_loss"]
    best = int(np.argmin(losses))
    assert 5 < best < 150
    assert result.n_epochs[0] == best + 1 + 5 == len(losses)
    assert_identical(result.params[0], seen[best][1])
    np.testing.assert_array_equal([loss for loss, _ in seen], losses)
    assert result.validation_loss[0] == pytest.approx(losses[best], rel=1e-5)
    held_out_error = np.mean((0.5 - outputs(result.params[0])[:3]) ** 2)
    assert losses[best] == pytest.approx(held_out_error, rel=1e-3, abs=1e-7)


@pytest.mark.slow
def test_divergence_is_flagged_and_the_parameters_stay_finite():
    plan = {"optimizer": "sgd", "width_scale": "direct"}
    result = fit(ON_LINE, learning_rate=1e4, max_epochs=200, plan=plan)
    assert result.diverged.tolist() == [True]
    assert result.n_epochs[0] < 200
    assert all(np.isfinite(leaf).all() for leaf in leaves(result.params))
    assert len(result.history[0]["loss"]) == result.n_epochs[0]
    steady = fit(ON_LINE, learning_rate=1e-3, max_epochs=5, plan=plan)
    assert not steady.diverged.any()


def test_steps_too_great_for_a_width_leave_widths_that_are_sets():
    result = fit(learning_rate=300.0, max_epochs=10)
    centers, widths = result.params[0].sets["gaussian"]
    assert np.isfinite(centers).all()
    assert np.isfinite(widths).all()
    assert (widths > 0).all()


def test_an_interrupt_keeps_the_model():
    def interrupt(progress):
        if progress.epoch == 3:
            raise KeyboardInterrupt

    result = fit(callbacks=(interrupt,))
    assert result.interrupted
    assert result.n_epochs.tolist() == [3]
    assert_identical(result.params, fit(max_epochs=3).params)
    assert len(result.history[0]["loss"]) == 3


def test_ctrl_c_once_keeps_the_model_and_twice_stops_everything(monkeypatch):
    monkeypatch.setattr(trainer, "_last_interrupt", -math.inf)

    def press(progress):
        if progress.epoch == 3:
            signal.raise_signal(signal.SIGINT)

    result = fit(callbacks=(press,))
    assert result.interrupted
    assert result.n_epochs.tolist() == [3]
    assert_identical(result.params, fit(max_epochs=3).params)
    with pytest.raises(KeyboardInterrupt):
        fit(callbacks=(press, press))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_callback_sees_the_epoch_and_can_stop_it():
    seen = []

    def stop(progress):
        seen.append(progress)
        return progress.epoch == 4

    result = fit(callbacks=(stop, lambda progress: None))
    assert result.n_epochs.tolist() == [4]
    assert [progress.epoch for progress in seen] == [1, 2, 3, 4]
    np.testing.assert_array_equal([progress.loss[0] for progress in seen], result.history[0]["loss"])
    np.testing.assert_array_equal([progress.rmse[0] for progress in seen], result.history[0]["rmse"])
    assert {progress.max_epochs for progress in seen} == {12}
    assert seen[0].validation_loss is None
    assert_identical(seen[-1].params()[0], result.params[0])


def test_no_epoch_at_all_gives_back_the_start():
    result = fit(max_epochs=0)
    assert result.n_epochs.tolist() == [0]
    assert_near(result.params[0], start(), 1e-6)
    assert result.loss[0] == pytest.approx(np.mean((data()[1] - outputs(start())) ** 2), rel=1e-4)
    assert result.history[0]["loss"].tolist() == []


@pytest.mark.parametrize("batch_size", [BATCH, ON_LINE])
def test_training_goes_on_where_it_stopped(batch_size):
    whole = fit(batch_size, max_epochs=12)
    first = fit(batch_size, max_epochs=5)
    rest = fit(batch_size, starts=first.params, max_epochs=7, first_epoch=5, optimizer_state=first.optimizer_state)
    assert rest.n_epochs.tolist() == [7]
    assert_near(rest.params, whole.params, 1e-5)  # a logarithm and an exponential in between


# ---------------------------------------------------------------------- Rule Dropout


def all_masks():
    return np.array(list(itertools.product([0.0, 1.0], repeat=RULES)))


def dropped(params, masks, renormalize=False):
    """Layers of one instance under each of several masks, in 64 bit."""
    with jax.enable_x64():
        x = jnp.tile(jnp.asarray(data()[0][:1]), (len(masks), 1))
        params = jax.tree.map(lambda value: jnp.asarray(value, jnp.float64), params)
        layers = forward(
            params, {"gaussian": jnp.ones((RULES, FEATURES))}, Operators(), x, Each(len(masks)),
            keep=jnp.asarray(masks), renormalize=renormalize,
        )  # fmt: skip
        return np.asarray(layers.strengths), np.asarray(layers.output)[:, 0]


@pytest.mark.slow
def test_expected_output_over_all_masks_is_the_output_scaled_by_the_keep_probability():
    masks, p = all_masks(), 0.7
    chances = np.prod(np.where(masks > 0, p, 1 - p), axis=1)
    _, output = dropped(start(), masks)
    assert chances.sum() == pytest.approx(1.0)
    _, full = dropped(start(), np.ones((len(masks), RULES)))
    assert (chances * output).sum() == pytest.approx(p * full[0], rel=1e-12)


def test_renormalized_dropout_shares_the_strength_among_the_kept_rules():
    masks = all_masks()[1:]
    strengths, output = dropped(start(), masks, renormalize=True)
    full, _ = dropped(start(), np.ones((len(masks), RULES)))
    expected = masks * full / (masks * full).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(strengths, expected, rtol=1e-12)
    np.testing.assert_allclose(output, expected @ start().coefs[:, 0, 0], rtol=1e-12)


def test_masks_keep_rules_with_the_probability_asked_and_never_drop_all_when_renormalizing():
    shape, key = (20_000, RULES), jax.random.key(3)
    for p in (0.1, 0.7):
        plain = np.asarray(_draw_keep(key, shape, Plan(Operators(), keep_prob=p), np.float32))
        assert set(np.unique(plain)) == {0.0, 1.0}
        np.testing.assert_allclose(plain.mean(axis=0), p, atol=0.02)
        assert (plain.sum(axis=1) == 0).mean() == pytest.approx((1 - p) ** RULES, abs=0.02)
        shared = np.asarray(_draw_keep(key, shape, Plan(Operators(), keep_prob=p, renormalize=True), np.float32))
        assert (shared.sum(axis=1) >= 1).all()
        np.testing.assert_array_equal(shared[plain.any(axis=1)], plain[plain.any(axis=1)])
    assert _draw_keep(key, shape, Plan(Operators()), np.float32) is None


@pytest.mark.slow
@pytest.mark.parametrize("renormalize", [False, True])
def test_training_with_dropout_reports_the_loss_of_test_time(renormalize):
    result = fit(max_epochs=20, plan={"keep_prob": 0.6, "renormalize": renormalize})
    factor = 1.0 if renormalize else 0.6
    expected = np.mean((data()[1] - factor * outputs(result.params[0])) ** 2)
    assert result.loss[0] == pytest.approx(expected, rel=1e-4)
    assert np.ptp(np.diff(result.history[0]["loss"])) > 1e-4  # the masks differ from epoch to epoch
    assert not result.diverged.any()


@pytest.mark.slow
def test_dropout_on_line_draws_masks_that_depend_on_the_seed():
    plan = {"keep_prob": 0.6}
    one, other = (fit(ON_LINE, seeds=[seed], max_epochs=3, plan=plan) for seed in (0, 1))
    again = fit(ON_LINE, seeds=[0], max_epochs=3, plan=plan)
    assert_identical(one.params, again.params)
    assert differ(one.params, other.params)


# ---------------------------------------------------------------------- what is learned, and by what


@pytest.mark.slow
def test_alpha_moves_only_when_asked():
    assert float(fit().params[0].alpha) == 2.0
    learned = fit(plan={"learn_alpha": True})
    assert abs(float(learned.params[0].alpha) - 2.0) > 1e-3
    assert math.isfinite(float(learned.params[0].alpha))
    assert float(learned.params[0].conclusion_alpha) == 1.0  # zero order: nothing depends on it


@pytest.mark.slow
@pytest.mark.parametrize("aggregation", ["lse", "power"])
def test_alpha_of_the_other_soft_operators_can_be_learned(aggregation):
    learned = fit(plan={"learn_alpha": True, "operators": Operators(aggregation=aggregation)}, max_epochs=4)
    assert not learned.diverged.any()
    assert abs(float(learned.params[0].alpha) - 2.0) > 1e-3


def test_a_transformation_of_optax_does_what_the_optimizer_of_that_name_does():
    by_name = fit(learning_rate=0.01)
    given = fit(learning_rate=99.0, plan={"optimizer": optax.adam(0.01)})  # its own rate counts
    assert_near(given.params, by_name.params, 1e-6)


def test_large_data_give_back_what_compiling_freed_and_train_alike(monkeypatch):
    calls = []
    monkeypatch.setattr("fuzzymil._utils.memory.give_back", lambda: calls.append(1))
    expected = fit()
    assert not calls
    monkeypatch.setattr("fuzzymil.learn.train.trainer._LARGE", 0)
    found = fit()
    assert len(calls) == 3  # before and after compiling the training, and before the last look at the losses
    assert_identical(found.params, expected.params)
