"""The next item is loaded in a background thread."""

import threading

import pytest

from fuzzymil._utils.runtime import prefetch


def test_items_are_loaded_one_ahead_in_another_thread():
    loaded = []

    def load(item):
        loaded.append((item, threading.current_thread() is threading.main_thread()))
        return item

    coming = prefetch(load, range(5))
    assert next(coming) == 0
    assert {item for item, _ in loaded} <= {0, 1}
    assert list(coming) == [1, 2, 3, 4]
    assert not any(main for _, main in loaded)


def test_an_error_while_loading_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        list(prefetch(lambda item: 1 // item, [1, 0]))
