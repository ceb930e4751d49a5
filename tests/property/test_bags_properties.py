"""What holds for all bags: the order of rows does not matter, and parts make up the whole."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fuzzymil.bags import Bags, as_bags

UNHURRIED = settings(deadline=None)  # a busy machine is no failure
NUMBERS = st.floats(allow_nan=True, allow_infinity=False)
TEXTS = st.text(max_size=3).filter(lambda s: not s.endswith("\0"))  # which NumPy would leave out
LABELS = st.one_of(st.integers(), st.booleans(), TEXTS, st.floats(allow_nan=False))


@st.composite
def some_bags(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=8))
    n_bags, n_instances, n_features = len(sizes), sum(sizes), draw(st.integers(1, 3))
    labeled, known = draw(st.booleans()), draw(st.booleans())
    ids = draw(
        st.one_of(
            st.lists(st.integers(), min_size=n_bags, max_size=n_bags, unique=True),
            st.lists(
                st.text(max_size=3).filter(lambda s: "\0" not in s), min_size=n_bags, max_size=n_bags, unique=True
            ),
            st.lists(
                st.one_of(st.integers(0, 5), st.sampled_from("012345")), min_size=n_bags, max_size=n_bags, unique=True
            ),
        )
    )
    return Bags(
        draw(hnp.arrays(np.float64, (n_instances, n_features), elements=NUMBERS)),
        np.cumsum([0, *sizes]),
        ids=ids,
        feature_names=[f"f{d}" for d in range(n_features)] if draw(st.booleans()) else None,
        labels=draw(st.lists(LABELS, min_size=n_bags, max_size=n_bags)) if labeled else None,
        instance_labels=draw(st.lists(LABELS, min_size=n_instances, max_size=n_instances)) if known else None,
    )


def assert_same_instances(one, other):
    assert one.sizes.tolist() == other.sizes.tolist()
    np.testing.assert_array_equal(one.instances, other.instances)


def assert_same(one, other):
    assert_same_instances(one, other)
    assert one.ids.tolist() == other.ids.tolist()
    assert one.feature_names == other.feature_names
    for name in ("labels", "instance_labels"):
        found, expected = getattr(one, name), getattr(other, name)
        assert (None if found is None else found.tolist()) == (None if expected is None else expected.tolist())


@pytest.mark.slow
@UNHURRIED
@given(some_bags(), st.randoms(use_true_random=False))
def test_shuffled_rows_make_the_same_bags(bags, random):
    order = list(range(bags.n_instances))
    random.shuffle(order)
    owners = bags.bag_index
    found = Bags.from_long(
        bags.instances[order],
        bags.ids[owners[order]],
        labels=None if bags.labels is None else bags.labels[owners[order]],
        instance_labels=np.array(order),
        feature_names=bags.feature_names,
    )
    assert found.ids.tolist() == list(dict.fromkeys(bags.ids[owners[order]].tolist()))
    place = {name: b for b, name in enumerate(bags.ids.tolist())}
    for b, name in enumerate(found.ids.tolist()):
        rows = found.instance_labels[found.offsets[b] : found.offsets[b + 1]]
        assert sorted(rows) == list(range(bags.offsets[place[name]], bags.offsets[place[name] + 1]))
        np.testing.assert_array_equal(found[b], bags.instances[rows])
        assert bags.labels is None or found.labels[b] == bags.labels[place[name]]
    back = found[np.argsort([place[name] for name in found.ids.tolist()])]
    assert back.ids.tolist() == bags.ids.tolist()


@pytest.mark.slow
@UNHURRIED
@given(some_bags(), st.data())
def test_slices_join_to_the_whole(bags, data):
    cuts = data.draw(st.lists(st.integers(1, max(len(bags) - 1, 1)), max_size=4)) if len(bags) > 1 else []
    edges = [0, *sorted(set(cuts)), len(bags)]
    parts = [bags[start:end] for start, end in itertools.pairwise(edges)]
    assert_same(Bags.concatenate(parts), bags)


@UNHURRIED
@given(some_bags())
def test_a_list_of_the_bags_is_the_bags(bags):
    for form in (list, tuple):
        assert_same_instances(as_bags(form(bags)), bags)
    assert_same_instances(as_bags([bag.tolist() for bag in bags]), bags)


@UNHURRIED
@given(some_bags(), st.data())
def test_taking_a_permutation_and_its_inverse(bags, data):
    order = np.array(data.draw(st.permutations(range(len(bags)))))
    assert_same(bags[order][np.argsort(order)], bags)


@UNHURRIED
@given(some_bags())
def test_padding_and_back(bags):
    longest = int(bags.sizes.max())
    mask = np.arange(longest) < bags.sizes[:, None]
    cube = np.full((*mask.shape, bags.n_features), np.inf)
    cube[mask] = bags.instances
    assert_same_instances(Bags.from_padded(cube, mask=mask), bags)
    assert_same_instances(Bags.from_padded(cube, lengths=bags.sizes), bags)
