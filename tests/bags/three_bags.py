"""The same three bags in every form, and stand-ins for the types of other libraries."""

import numpy as np
import pandas as pd

from fuzzymil.bags import Bags

# Three bags of 2, 1 and 3 instances with two features; every number says where it belongs.
ARRAYS = [
    np.array([[0.0, 0.5], [1.0, 1.5]]),
    np.array([[10.0, 10.5]]),
    np.array([[20.0, 20.5], [21.0, 21.5], [22.0, 22.5]]),
]
IDS = ["a", "b", "c"]
LABELS = [1, 0, 1]
SIZES = [2, 1, 3]
# The same, one row an instance, with the bags mixed up but each bag's rows in order and "a" first.
MIXED_ROWS = [(0, 0), (2, 0), (1, 0), (2, 1), (0, 1), (2, 2)]


class Tensor:
    """What a tensor of a deep-learning library can do, when it lives on a GPU and carries a gradient."""

    def __init__(self, values, attached=True, on_device=True):
        self.values, self.attached, self.on_device = np.asarray(values), attached, on_device

    @property
    def shape(self):
        return self.values.shape

    def __len__(self):
        return len(self.values)

    def detach(self):
        return Tensor(self.values, False, self.on_device)

    def cpu(self):
        return Tensor(self.values, self.attached, False)

    def __array__(self, dtype=None, copy=None):
        if self.attached or self.on_device:
            raise TypeError("call detach() and cpu() first")
        return np.asarray(self.values, dtype)


class Frame:
    """A data frame of another library: `columns`, `frame[name]`, and columns that become arrays."""

    def __init__(self, data):
        self.data = data
        self.columns = list(data)

    def __len__(self):
        return len(next(iter(self.data.values())))

    def __getitem__(self, name):
        return Frame.Column(self.data[name])

    class Column:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.values, dtype)


def objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def long_columns():
    rows = [ARRAYS[b][i] for b, i in MIXED_ROWS]
    return {
        "bag": [IDS[b] for b, _ in MIXED_ROWS],
        "label": [LABELS[b] for b, _ in MIXED_ROWS],
        "width": [row[0] for row in rows],
        "depth": [row[1] for row in rows],
    }


def long_frame(**changed):
    return pd.DataFrame({**long_columns(), **changed})


def cube(fill=np.inf):
    padded = np.full((3, 3, 2), fill)
    for b, array in enumerate(ARRAYS):
        padded[b, : len(array)] = array
    return padded


def assert_holds(found, arrays=ARRAYS):
    assert isinstance(found, Bags)
    assert len(found) == found.n_bags == len(arrays)
    assert found.shape == (len(arrays),)
    assert found.sizes.tolist() == [len(array) for array in arrays]
    for bag, array in zip(found, arrays, strict=True):
        np.testing.assert_array_equal(bag, array)


def assert_same(found, expected):
    assert_holds(found, list(expected))
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.feature_names == expected.feature_names
    for name in ("labels", "instance_labels"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        assert one is None or one.tolist() == other.tolist()
