"""Rules of streams: searched on a sample, judged and concluded by all bags, the same however the stream is divided."""

import itertools

import numpy as np
import pytest

from fuzzymil import Bags, BagStream, InputError, RuleClassifier, RuleRegressor
from fuzzymil.datasets import make_planted, stream_bags, write_bags
from fuzzymil.learn.choose import streams
from fuzzymil.learn.train.partition import Quota

BAGS = make_planted("count", n_bags=600, n_noise=2, random_state=0)


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(streams, "_MOST_ROWS", 1000)


def fitted(stream, **settings):
    return RuleClassifier(max_rules=3, random_state=0, **settings).fit(stream)


def test_all_bags_judge_and_conclude(small_samples):
    model = fitted(BagStream.from_bags(BAGS, 4))
    compared, n_bags = model.n_bags_compared_
    assert compared < 200
    assert n_bags == 600
    assert "AT LEAST 3 A is high" in str(model.rules_)
    # Conclusions: a small step in any direction does not lower the cost on all bags by more than their ridge allows.
    truth = model.rules_.infer(BAGS).firing
    output = model.rules_.infer(BAGS).output[:, 0]
    wrong = 1 / (1 + np.exp(-output)) - BAGS.labels
    assert abs(wrong.mean()) < 0.002  # the default, which has no ridge; targets are softened
    assert (np.abs((truth * wrong[:, None]).mean(axis=0)) < 0.02).all()
    # Figures: those of the bags outside of the sample, which are most.
    point = model.frontier_[model.frontier_.chosen]
    assert point.measures["accuracy"].n == model.cv
    assert point.measures["accuracy"].mean == pytest.approx(model.score(BAGS), abs=0.02)
    assert model.loss_ == pytest.approx(np.mean(np.logaddexp(0, output) - BAGS.labels * output), rel=1e-5)


def test_division_into_parts_does_not_matter(small_samples):
    one, other = (fitted(BagStream.from_bags(BAGS, n)) for n in (2, 7))
    assert one.n_bags_compared_ == other.n_bags_compared_
    assert str(one.rules_) == str(other.rules_)
    np.testing.assert_allclose(one.decision_function(BAGS), other.decision_function(BAGS), rtol=1e-5)


def test_numbers_of_a_stream(small_samples):
    labels = np.array([bag[:, 0].max() for bag in BAGS]) * 10 + 100
    bags = Bags(BAGS.instances, BAGS.offsets, labels=labels)
    model = RuleRegressor(max_rules=3, random_state=0).fit(BagStream.from_bags(bags, 4))
    assert model.score(bags) > 0.9
    assert model.predict(bags).mean() == pytest.approx(labels.mean(), abs=0.2)
    point = model.frontier_[model.frontier_.chosen]
    assert point.measures["R2"].mean == pytest.approx(model.score(bags), abs=0.05)


def test_a_rare_class_is_in_the_sample_and_stays_rare(monkeypatch):
    monkeypatch.setattr(streams, "_MOST_ROWS", 100)
    monkeypatch.setattr(streams, "_FEW", 8)
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(4000, 2)), np.arange(800) % 40 == 7
    x[::5][labels, 0] += 20
    model = fitted(BagStream.from_bags(Bags(x, np.arange(0, 4001, 5), labels=labels), 5))
    assert model.n_bags_compared_[0] < 60
    assert (model.predict(Bags(x, np.arange(0, 4001, 5))) == labels).all()


def test_a_sample_of_samples_is_the_sample():
    rng = np.random.default_rng(0)
    hashes, sizes, classes = rng.permutation(1000), rng.integers(1, 9, 1000), (np.arange(1000) % 50 == 0).astype(int)
    quota = Quota(400, few=12)
    whole = quota.places(hashes, sizes, classes)
    assert (classes[whole] == 1).sum() >= 10
    halves = [np.arange(300), np.arange(300, 1000)]
    some = np.concatenate([half[quota.places(hashes[half], sizes[half], classes[half])] for half in halves])
    assert some[quota.places(hashes[some], sizes[some], classes[some])].tolist() == whole.tolist()


def test_larger_rule_bases_are_left_out_where_their_truths_would_not_fit(monkeypatch):
    points = fitted(BAGS).frontier_.points
    monkeypatch.setenv("FUZZYMIL_MEMORY", "90kB")
    assert [point.size for point in streams.affordable(points, 600)] == [0, 1]
    with pytest.raises(InputError, match=r"90 kB: raise FUZZYMIL_MEMORY"):
        streams.affordable(points, 6000)


def test_a_fit_beyond_the_budget_says_so_before_it_starts(monkeypatch):
    monkeypatch.setenv("FUZZYMIL_MEMORY", "1MB")
    with pytest.raises(InputError, match=r"600 bags .* needs about 4.* MB of memory, but only 1 MB .*a stream"):
        fitted(BAGS)


def test_several_files_are_one_stream(tmp_path):
    ids = np.array([f"b{n:03}" for n in range(600)])
    bags = Bags(BAGS.instances, BAGS.offsets, labels=BAGS.labels, ids=ids)
    for n in range(3):
        write_bags(bags[n * 200 : (n + 1) * 200], tmp_path / f"part-{n}.parquet")
    stream = stream_bags(tmp_path / "part-*.parquet")
    found = Bags.concatenate(list(stream))
    assert found.ids.tolist() == ids.tolist()
    np.testing.assert_array_equal(found.instances, BAGS.instances)
    with pytest.raises(InputError, match=r"No file matches .*other-\*"):
        stream_bags(tmp_path / "other-*.parquet")


# ---------------------------------------------------------------------- Dask


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason='needs Dask: pip install "fuzzymil[dask]"')
    settings = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster, set_as_default=False) as found:
        yield found


def frame_of(bags, n_partitions=3, extra=0):
    frames, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")

    table = pd.DataFrame(bags.instances, columns=bags.names)
    table = table.assign(bag=bags.bag_index, label=np.repeat(bags.labels, bags.sizes))
    ends = bags.offsets[np.linspace(0, bags.n_bags, n_partitions + 1).astype(int)]
    ends = np.concatenate([ends[:1], ends[1:-1] + extra, ends[-1:]])
    parts = [table.iloc[first:last] for first, last in itertools.pairwise(ends)]
    return frames.concat([frames.from_pandas(part, npartitions=1) for part in parts])


@pytest.mark.filterwarnings("ignore::UserWarning:distributed", "ignore::ResourceWarning")
def test_a_cluster_gives_the_rules_of_one_machine(small_samples, client, monkeypatch):
    frame = frame_of(BAGS)
    stream = BagStream.from_dask(frame, bag="bag", label="label")
    here, calls = fitted(stream), []
    monkeypatch.setattr(client, "compute", lambda *given, compute=client.compute: calls.append(1) or compute(*given))
    with client.as_current():
        there = fitted(stream)
    assert len(calls) == 3  # for the facts, the sample, and the truths
    assert there.rules_ == here.rules_
    assert there.frontier_.table() == here.frontier_.table()
    assert there.feature_names_in_.tolist() == list(BAGS.names)
    lazy = there.predict(stream)
    assert type(lazy).__module__.startswith("dask.array")
    np.testing.assert_array_equal(lazy.compute(), np.concatenate([there.predict(part) for part in stream]))
    assert there.predict_proba(stream).compute().shape == (600, 2)


@pytest.mark.filterwarnings("ignore::UserWarning:distributed", "ignore::ResourceWarning")
def test_a_bag_in_two_partitions_is_refused_by_name():
    cut = frame_of(BAGS, 2, extra=1)
    with pytest.raises(InputError, match=r"Bag 300 is in partitions 0 and 1 .*shuffle"):
        fitted(BagStream.from_dask(cut, bag="bag", label="label"))
    together = BagStream.from_dask(cut.shuffle("bag"), bag="bag", label="label")
    assert sorted(itertools.chain.from_iterable(part.ids.tolist() for part in together)) == list(range(600))
