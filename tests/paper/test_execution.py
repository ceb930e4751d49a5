"""Units of work: their order, what is saved, and the processes that share them."""

import os
import threading

import pytest

from paper.experiment import Parts, Unit, _batches, _in_rounds, results_of


def unit(n, work=None, *, needs=(), parallel=True, cost=1.0):
    return Unit(
        f"unit {n}", {"n": n}, cost, work or (lambda *given: {"value": n, "given": list(given)}), needs, parallel
    )


def run(units, folder, jobs=1, pressed=None):
    """Return the results, and what was announced."""
    told = []
    found = results_of(
        units, Parts(folder), jobs, pressed or threading.Event(), lambda unit, done: told.append((unit.label, done))
    )
    return found, told


def test_units_that_need_one_another_are_not_run_together():
    units = [
        unit(0, parallel=False),
        unit(1, needs=(0,)),
        unit(2),
        unit(3, needs=(2,)),
        unit(4, needs=(0,)),
        unit(5, parallel=False),
        unit(6, parallel=False),
        unit(7),
    ]
    assert list(_batches(units)) == [[0], [1, 2], [3, 4], [5], [6], [7]]
    assert list(_batches([])) == []


def test_rounds_have_one_unit_of_each_cost_and_begin_with_the_longest():
    works = [(n, unit(n, cost=cost), []) for n, cost in enumerate([1.0, 1.0, 1.0, 9.0, 9.0, 4.0])]
    assert [place for place, _, _ in _in_rounds(works)] == [3, 5, 0, 4, 1, 2]


def test_results_come_in_order_with_what_they_need(tmp_path):
    units = [unit(0), unit(1, needs=(0,)), unit(2, needs=(1, 0))]
    found, told = run(units, tmp_path)
    assert [result["value"] for result in found] == [0, 1, 2]
    assert [given["value"] for given in found[2]["given"]] == [1, 0]
    assert told == [(f"unit {n}", done) for n in range(3) for done in (False, True)]


def test_what_is_saved_is_not_run_again(tmp_path):
    run([unit(0), unit(2)], tmp_path)

    def never():
        raise AssertionError("run again")

    found, told = run([unit(0, never), unit(1), unit(2, never)], tmp_path)
    assert [result["value"] for result in found] == [0, 1, 2]
    assert told == [("unit 0", True), ("unit 2", True), ("unit 1", False), ("unit 1", True)]


def test_nothing_is_saved_after_ctrl_c(tmp_path):
    pressed = threading.Event()

    def press():
        pressed.set()  # training answers by returning what it has
        return {"value": "cut short"}

    units = [unit(0), unit(1, press), unit(2)]
    with pytest.raises(KeyboardInterrupt):
        run(units, tmp_path, pressed=pressed)
    parts = Parts(tmp_path)
    assert [parts.find(each) is not None for each in units] == [True, False, False]


def test_a_unit_that_fails_leaves_the_finished_ones(tmp_path):
    def fail():
        raise ValueError("no such thing")

    units = [unit(0), unit(1, fail), unit(2)]
    with pytest.raises(ValueError, match="no such thing"):
        run(units, tmp_path)
    assert Parts(tmp_path).find(units[0]) is not None


@pytest.mark.slow
def test_processes_give_the_same_results_with_one_thread_each(tmp_path, monkeypatch):
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)

    def work(n):
        import jax.numpy as jnp
        import numpy as np
        from threadpoolctl import threadpool_info

        from fuzzymil._utils.runtime import granted_cores

        threads = [pool["num_threads"] for pool in threadpool_info()]
        where = {"process": os.getpid(), "threads": max(threads, default=1), "cores": granted_cores()}
        device = jnp.zeros(1).devices().pop().platform
        return {"value": float(np.sin(n)), "where": where, "device": device}

    units = [unit(n, lambda n=n: work(n), cost=n) for n in range(6)]
    alone, _ = run(units, tmp_path / "alone")
    shared, told = run(units, tmp_path / "shared", jobs=2)
    assert [result["value"] for result in shared] == [result["value"] for result in alone]
    assert sorted(told) == [(f"unit {n}", True) for n in range(6)]
    assert {result["where"]["process"] for result in alone} == {os.getpid()}
    assert os.getpid() not in {result["where"]["process"] for result in shared}
    assert {(result["where"]["threads"], result["where"]["cores"]) for result in shared} == {(1, 1)}
    assert {result["device"] for result in shared} == {"cpu"}
    again, told = run(units, tmp_path / "shared", jobs=2)
    assert again == shared
    assert told == [(f"unit {n}", True) for n in range(6)]
