"""What bags do once they are made: they are looked at, selected, joined, mapped and split, and never change."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, train_test_split
from sklearn.utils import _safe_indexing
from three_bags import ARRAYS, IDS, LABELS, Tensor, assert_holds, assert_same, objects

from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, as_bags

# --- looking at bags ------------------------------------------------------------------------------------


def test_what_bags_tell(bags):
    assert (bags.n_bags, bags.n_instances, bags.n_features) == (3, 6, 2)
    assert bags.offsets.tolist() == [0, 2, 3, 6]
    assert bags.bag_index.tolist() == [0, 0, 1, 2, 2, 2]
    assert bags.names == ("width", "depth")
    assert Bags.from_list(ARRAYS).names == ("x1", "x2")


def test_repr(bags):
    assert repr(bags) == "Bags(3 bags, 6 instances, 2 features, 1-3 instances per bag)"
    assert repr(as_bags([[1.0]])) == "Bags(1 bag, 1 instance, 1 feature, 1 instance per bag)"
    assert repr(as_bags(np.zeros((2000, 3)))) == "Bags(2,000 bags, 2,000 instances, 3 features, 1 instance per bag)"


def test_iteration(bags):
    assert_holds(bags)
    assert [len(bag) for bag in reversed(list(bags))] == [3, 1, 2]


@pytest.mark.parametrize("position", [0, 2, -1, -3, np.int64(1), np.uint8(2), np.array(1)])
def test_one_bag(bags, position):
    np.testing.assert_array_equal(bags[position], ARRAYS[int(position)])
    np.testing.assert_array_equal(bags[position, ...], ARRAYS[int(position)])


@pytest.mark.parametrize(
    ("key", "chosen"),
    [
        (slice(1, None), [1, 2]),
        (slice(None, None, -1), [2, 1, 0]),
        (slice(-2, 100), [1, 2]),
        ([2, 0], [2, 0]),
        ([-1], [2]),
        ([1, 1, 1], [1, 1, 1]),
        (np.array([2, 0], np.uint8), [2, 0]),
        (range(2), [0, 1]),
        ([True, False, True], [0, 2]),
        (np.array([False, True, False]), [1]),
        (pd.Series([True, False, True]), [0, 2]),
        (..., [0, 1, 2]),
        (([2, 0], ...), [2, 0]),
        (((2, 0), ...), [2, 0]),
        ((slice(2), ...), [0, 1]),
        ((np.array([True, True, False]), ...), [0, 1]),
    ],
)
def test_some_bags_with_all_they_carry(bags, key, chosen):
    found = bags[key]
    assert_holds(found, [ARRAYS[b] for b in chosen])
    assert found.ids.tolist() == [IDS[b] for b in chosen]
    assert found.labels.tolist() == [LABELS[b] for b in chosen]
    assert found.feature_names == ("width", "depth")
    truth = [[0, 1], [0], [1, 1, 0]]
    assert found.instance_labels.tolist() == [one for b in chosen for one in truth[b]]


@pytest.mark.parametrize("indices", [[2, 0], np.array([2, 0]), slice(0, 2), [True, False, True], (2, 0)])
def test_scikit_learn_indexing(bags, indices):
    assert_same(_safe_indexing(bags, indices), bags[list(indices) if isinstance(indices, tuple) else indices])


@pytest.mark.parametrize(
    "key", ["a", 3, -4, 1.0, None, True, [3], [True], [[0, 1]], [[0], [0, 1]], (0, 1), {}, (None, ...), [0.5], 2**70]
)
def test_a_wrong_index_is_an_index_error(bags, key):
    with pytest.raises(IndexError, match=r"There are 3 bags|Bags have one axis"):
        bags[key]


@pytest.mark.parametrize("key", [[], slice(3, None), [False] * 3, np.array([], int)])
def test_a_selection_cannot_be_empty(bags, key):
    with pytest.raises(InputError, match="empty: select at least one of the 3"):
        bags[key]


# --- putting bags together ------------------------------------------------------------------------------


def test_slices_join_to_the_whole(bags):
    assert_same(bags[:1] + bags[1:], bags)
    assert_same(Bags.concatenate([bags[[b]] for b in range(3)]), bags)


def test_ids_that_would_repeat_are_numbered_anew(bags):
    assert (bags + bags).ids.tolist() == list(range(6))
    assert (bags + bags).labels.tolist() == LABELS * 2


def test_joining_keeps_only_what_all_parts_have(bags):
    plain = Bags.from_list(ARRAYS, ids=[1, 2, 3])
    both = bags + plain
    assert (both.labels, both.instance_labels, both.feature_names) == (None, None, None)
    assert both.ids.tolist() == ["a", "b", "c", 1, 2, 3]  # of different kinds, as they were
    assert_same(Bags.concatenate([plain]), plain)


def test_joined_labels_keep_their_kinds():
    def labeled(*labels):
        return Bags.from_list([[[0.0]]] * len(labels), labels=list(labels))

    assert (labeled("a") + labeled(1)).labels.tolist() == ["a", 1]
    assert (labeled(True) + labeled(2)).labels.tolist() == [True, 2]
    assert (labeled(1) + labeled(0.5)).labels.dtype == np.float64
    assert (labeled("a") + labeled("long")).labels.tolist() == ["a", "long"]


def test_bags_add_only_to_bags(bags):
    with pytest.raises(TypeError, match="unsupported operand"):
        bags + 3
    with pytest.raises(TypeError):
        bags + ARRAYS


# --- transforming ---------------------------------------------------------------------------------------


def test_map_instances_carries_everything(bags):
    doubled = bags.map_instances(lambda x: 2 * x)
    assert_same(doubled.map_instances(lambda x: x / 2), bags)
    np.testing.assert_array_equal(doubled[2], 2 * ARRAYS[2])


def test_map_instances_and_names(bags):
    assert bags.map_instances(lambda x: x[:, :1]).feature_names is None
    assert bags.map_instances(lambda x: x[:, :1], ["w"]).feature_names == ("w",)
    assert bags.map_instances(lambda x: pd.DataFrame(x, columns=["p", "q"])).feature_names == ("p", "q")
    assert_same(bags.map_instances(Tensor), bags)
    assert_same(bags.map_instances(np.ndarray.tolist), bags)


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (lambda x: x[:1], "1 rows for 6 instances"),
        (lambda x: x[:, 0], "2-D"),
        (lambda x: 1.0, "2-D"),
        (lambda x: None, "2-D"),
        (lambda x: x[:, :0], r"0 feature\(s\)"),
        (lambda x: np.where(x == 10.0, np.inf, x), "'width' of bag b, row 0 of the bag, is infinite"),
        (lambda x: x.astype(str), "is not a number"),
    ],
)
def test_map_instances_checks_what_it_gets(bags, transform, message):
    with pytest.raises(InputError, match=message):
        bags.map_instances(transform)


# --- bags do not change ---------------------------------------------------------------------------------


def test_nothing_can_be_written_to(bags):
    for found in (bags, bags[1:], bags + bags, copy.deepcopy(bags), pickle.loads(pickle.dumps(bags))):
        for array in (found.instances, found.offsets, found.ids, found.labels, found.instance_labels, found[0]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[0]


def test_the_arrays_that_came_in_are_left_alone():
    x, offsets, labels = np.arange(4.0).reshape(2, 2), np.array([0, 2]), np.array([1])
    Bags(x, offsets, labels=labels)
    as_bags(x)
    as_bags([x])
    for array in (x, offsets, labels):
        array[0] = 7  # still writable
    bad = np.array([[1.0, np.nan]])
    as_bags([bad])
    assert np.isnan(bad[0, 1])


def test_pickling_keeps_everything(bags):
    assert_same(pickle.loads(pickle.dumps(bags)), bags)
    assert_same(copy.deepcopy(bags), bags)


# --- scikit-learn's splitters ---------------------------------------------------------------------------


def many_bags(n_bags=12):
    generator = np.random.default_rng(0)
    arrays = [np.full((size, 2), float(b)) for b, size in enumerate(generator.integers(1, 5, n_bags))]
    return arrays, np.arange(n_bags) % 2


@pytest.mark.parametrize("form", [list, objects, Bags.from_list])
def test_train_test_split(form):
    arrays, y = many_bags()
    train, test, y_train, y_test = train_test_split(form(arrays), y, test_size=4, stratify=y, random_state=0)
    assert isinstance(train, type(form(arrays)))
    for part, labels, n_bags in ((as_bags(train), y_train, 8), (as_bags(test), y_test, 4)):
        assert len(part) == n_bags
        assert [int(bag[0, 0]) % 2 for bag in part] == labels.tolist()


@pytest.mark.parametrize("splitter", [KFold(3), StratifiedKFold(3), GroupKFold(3)])
@pytest.mark.parametrize("form", [list, objects, Bags.from_list])
def test_cross_validation_splitters(splitter, form):
    arrays, y = many_bags()
    bags = form(arrays)
    seen = []
    groups = np.arange(12) // 2 if isinstance(splitter, GroupKFold) else None
    for train, test in splitter.split(bags, y, groups):
        assert len(as_bags(_safe_indexing(bags, train))) == 8
        held_out = as_bags(_safe_indexing(bags, test))
        seen += [int(bag[0, 0]) for bag in held_out]
    assert sorted(seen) == list(range(12))


# --- speed ----------------------------------------------------------------------------------------------

MANY = 1_000_000


@pytest.fixture(scope="module")
def many_rows():
    return np.random.default_rng(0).normal(size=(MANY, 2))


@pytest.mark.parametrize(
    "work",
    [
        as_bags,
        lambda x: Bags.from_long(x, np.arange(MANY)[::-1]),
        lambda x: as_bags(x)[np.arange(MANY)[::-1]],
        lambda x: as_bags(x)[: MANY // 2] + as_bags(x)[MANY // 2 :],
        lambda x: list(as_bags(x)),  # was once quadratic
        lambda x: repr(as_bags(x)),
    ],
    ids=["as_bags", "from_long", "take", "join", "iterate", "repr"],
)
def test_a_million_bags_are_no_trouble(many_rows, work):
    assert work(many_rows) is not None  # anything quadratic would not come back
