"""Several processes train as one: same rules, one error for all, and a death that is noticed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import distributed_script
import numpy as np
import pytest

from fuzzymil import MIANFISClassifier, RunOptions
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags import BagStream
from fuzzymil.datasets import make_two_concepts
from fuzzymil.learn.train.distributed import processes
from fuzzymil.learn.train.distributed.launcher import launch

SCRIPT = str(Path(distributed_script.__file__))


def started(what, folder, n_processes):
    return launch([SCRIPT, what, str(folder)], n_processes)


@pytest.fixture
def alone(monkeypatch):
    monkeypatch.setattr(processes, "_joined", processes.ProcessGroup())


@pytest.mark.slow
@pytest.mark.parametrize("n_processes", [2, 4])
def test_any_number_of_processes_gives_the_same_rules(n_processes, tmp_path, alone):
    expected = distributed_script.compare(processes.current())
    assert started("compare", tmp_path, n_processes) == (0, "")
    for rank in range(n_processes):
        found = json.loads((tmp_path / f"compare-{rank}.json").read_text())
        for name, numbers in found.items():
            np.testing.assert_allclose(
                numbers, expected[name], rtol=0, atol=1e-5 if name == "32 bit" else 1e-10, err_msg=name
            )
    assert "32 bit" in found


@pytest.mark.slow
def test_one_process_of_many_trains_as_one_without_others(alone):
    bags = make_two_concepts(random_state=0)
    for settings in ({}, {"batch_size": None, "n_init": 2, "n_iter_no_change": 20}):
        model = MIANFISClassifier(4, max_epochs=20, random_state=0, run=RunOptions(precision="double"), **settings)
        plain = distributed_script.numbers_of(model.fit(bags))
        spread = distributed_script.numbers_of(
            model.set_params(run=RunOptions(distributed=True, precision="double")).fit(bags)
        )
        np.testing.assert_allclose(spread, plain, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_a_killed_process_ends_the_run_and_the_checkpoint_goes_on(tmp_path):
    status, message = started("dies", tmp_path, 2)
    assert status == 128 + 9
    assert "Process 2 of 2 was killed (SIGKILL)" in message
    assert list((tmp_path / "kept").glob("*.checkpoint"))
    assert not list(tmp_path.glob("dies-*.json"))
    assert started("goes on", tmp_path, 2) == (0, "")
    assert not (tmp_path / "kept").exists()  # done: nothing is left behind
    assert started("from the start", tmp_path, 2) == (0, "")
    resumed, whole = (json.loads((tmp_path / f"{what}-0.json").read_text()) for what in ("goes on", "from the start"))
    assert resumed == whole  # to the last bit


@pytest.mark.slow
def test_bags_of_one_process_that_cannot_be_used_are_an_error_in_all(tmp_path):
    assert started("wrong", tmp_path, 2) == (0, "")
    first, second = (json.loads((tmp_path / f"wrong-{rank}.json").read_text()) for rank in (0, 1))
    assert first.startswith("Process 2 of 2 ")
    assert second in first
    assert "'x2'" in second


@pytest.mark.parametrize(
    ("ending", "status", "words"), [("sys.exit('no such thing')", 1, "no such thing"), ("sys.exit(7)", 7, "")]
)
def test_a_process_that_fails_is_told_with_its_last_words(ending, status, words, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import os, sys, time\nif os.environ['FUZZYMIL_RANK'] == '1': {ending}\ntime.sleep(60)\n")
    found, message = launch([str(script)], 2)
    assert found == status
    assert re.match(rf"Process 2 of 2 .* status {status}\b", message)
    assert message.partition("\n")[2] == words


@pytest.mark.slow
def test_an_exception_in_one_process_ends_all_and_is_told(tmp_path):
    status, message = started("fails", tmp_path, 2)
    assert status == 1
    assert message.startswith("Process 2 of 2 ")
    assert message.endswith("RuntimeError: no disk")


@pytest.mark.slow
def test_a_checkpoint_is_of_these_bags_alone(tmp_path):
    assert started("dies", tmp_path, 2)[0] == 137
    assert started("goes on with other bags", tmp_path, 2) == (0, "")
    assert len(list((tmp_path / "kept").glob("*.checkpoint"))) == 1  # the one of the killed fit, which was not taken up


def test_shares_are_runs_of_about_equal_length():
    bags = make_two_concepts(random_state=0)
    shares = [processes.ProcessGroup(rank, 4).share(bags) for rank in range(4)]
    assert np.array_equal(np.concatenate([share.instances for share in shares]), bags.instances)
    assert max(share.n_bags for share in shares) - min(share.n_bags for share in shares) <= 1
    parts = [len(processes.ProcessGroup(rank, 2).share(BagStream.from_bags(bags, 5))) for rank in range(2)]
    assert parts == [3, 2]
    with pytest.raises(InputError, match=r"2 parts .* 3 processes: start fewer"):
        processes.ProcessGroup(0, 3).share(BagStream.from_bags(bags, 2))


def test_distributed_needs_company(monkeypatch):
    monkeypatch.setattr(processes, "_joined", None)
    with pytest.raises(ParameterError, match=r"fuzzymil\.training\.distributed\.join\(\)"):
        MIANFISClassifier(run=RunOptions(distributed=True)).fit(make_two_concepts(random_state=0))


@pytest.mark.slow
def test_settings_that_tell_no_processes_are_an_error(monkeypatch):
    monkeypatch.setattr(processes, "_joined", None)
    monkeypatch.setenv("FUZZYMIL_PROCESSES", "two")
    with pytest.raises(ParameterError, match=r"FUZZYMIL_PROCESSES .*'two'"):
        processes.join()
    monkeypatch.delenv("FUZZYMIL_PROCESSES")
    code = "from fuzzymil.learn.train import distributed; distributed.join()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "'fuzzymil launch', srun or mpirun" in done.stderr


def test_partial_fit_is_for_one_process(alone):
    with pytest.raises(ParameterError, match="partial_fit"):
        MIANFISClassifier(run=RunOptions(distributed=True)).partial_fit(make_two_concepts(random_state=0))
