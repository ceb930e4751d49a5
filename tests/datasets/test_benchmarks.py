"""The benchmark sets: found, checked, or a message that helps."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from small_benchmarks import assert_same, compress, names_the_three_ways, small_set, sparse_text, uci_text, zipped

from fuzzymil import Bags
from fuzzymil import datasets as datasets_module
from fuzzymil._utils.errors import ParameterError
from fuzzymil.datasets import BENCHMARKS, DataFileError, DataNotFound, _benchmarks, describe, write_bags
from fuzzymil.datasets._benchmarks import content_checksum

pytestmark = pytest.mark.usefixtures("cache")

LOADERS = {name: getattr(_benchmarks, f"load_{name}") for name in BENCHMARKS}
SHARED = os.environ.get("FUZZYMIL_DATA")
needs_data = pytest.mark.skipif(SHARED is None, reason="FUZZYMIL_DATA names no folder with the benchmark data")


# ---------------------------------------------------------------- the real data


@needs_data
@pytest.mark.parametrize("name", LOADERS)
def test_the_real_sets_are_what_the_facts_say(name):
    bags = LOADERS[name](SHARED, download=False)
    facts = describe(name)
    assert (bags.n_bags, bags.n_instances, bags.n_features) == (facts.n_bags, facts.n_instances, facts.n_features)
    assert bags.labels.dtype.kind == "i"
    assert np.bincount(bags.labels).tolist() == [facts.n_negative, facts.n_positive]
    assert bags.feature_names == tuple(f"f{d + 1}" for d in range(facts.n_features))
    assert content_checksum(bags) == facts.content_checksum
    assert len(set(bags.ids.tolist())) == facts.n_bags


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", LOADERS)
def test_the_real_sets_survive_the_way_over_their_public_format(name, server):
    bags = LOADERS[name](SHARED, download=False)
    if name.startswith("musk"):
        table = compress(uci_text(bags)) if name == "musk1" else uci_text(bags)
        member = "clean1_data_Z" if name == "musk1" else "clean2_data"
        server.serve(f"musk+version+{name[-1]}.zip", zipped(**{member: table, "clean_names": b"about"}))
    else:
        server.serve(f"{name}.data", sparse_text(bags))
    assert_same(LOADERS[name](), bags)
    server.files.clear()
    assert_same(LOADERS[name](download=False), bags)  # from the cache


# ---------------------------------------------------------------- folders


def test_a_named_folder_and_the_environment(small, tmp_path, monkeypatch):
    assert_same(_benchmarks.load_musk1(tmp_path), small["musk1"])
    assert_same(_benchmarks.load_fox(str(tmp_path)), small["fox"])
    with pytest.raises(DataNotFound):
        _benchmarks.load_fox(download=False)
    monkeypatch.setenv("FUZZYMIL_DATA", str(tmp_path))
    assert_same(_benchmarks.load_fox(download=False), small["fox"])
    (tmp_path / "other").mkdir()
    assert_same(_benchmarks.load_fox(tmp_path / "other", download=False), small["fox"])  # then the environment's


def test_a_wrong_checksum_and_a_cut_file(small, tmp_path):
    path = tmp_path / "fox.csv.gz"
    whole = path.read_bytes()
    for content in (whole[:-20], gzip.compress(b"bag,label,f1\n1,1,2\n", mtime=0), b""):
        path.write_bytes(content)
        with pytest.raises(DataFileError, match=r"fox\.csv\.gz is not Fox.*again") as caught:
            _benchmarks.load_fox(tmp_path)
        names_the_three_ways(caught.value, "fox")
    changed = small["fox"].map_instances(lambda values: values + 1)
    write_bags(changed, path)
    with pytest.raises(DataFileError, match=f"{BENCHMARKS['fox'].content_checksum}, found {content_checksum(changed)}"):
        _benchmarks.load_fox(tmp_path)


def test_an_own_table_is_checked_for_its_counts_only(small, tmp_path):
    (tmp_path / "fox.csv.gz").unlink()
    changed = small["fox"].map_instances(lambda values: values + 1)
    write_bags(changed, tmp_path / "fox.csv")
    assert_same(_benchmarks.load_fox(tmp_path), changed)
    write_bags(changed[[0, 1]], tmp_path / "fox.csv")
    with pytest.raises(DataFileError, match="expected 3 bags, 6 instances, 4 features, found 2 bags, 3 instances, 4"):
        _benchmarks.load_fox(tmp_path)


@pytest.mark.parametrize("name", LOADERS)
def test_the_error_tells_the_three_ways(name, tmp_path):
    with pytest.raises(DataNotFound, match="download=False") as caught:
        LOADERS[name](tmp_path, download=False)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, FileNotFoundError)
    assert str(tmp_path) in str(caught.value)
    names_the_three_ways(caught.value, name)


def test_a_folder_that_is_not_there_never_ends_in_a_download(tmp_path, monkeypatch, server):
    with pytest.raises(DataNotFound, match=r"data folder.*nowhere \(folder=\) does not exist"):
        _benchmarks.load_fox(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    monkeypatch.setenv("FUZZYMIL_DATA", str(tmp_path / "file"))
    with pytest.raises(DataNotFound, match=r"file \(FUZZYMIL_DATA\) is a file"):
        _benchmarks.load_fox()
    assert not server.asked


def test_a_file_without_the_right_to_read(small, tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataFileError, match="Permission denied"):
        _benchmarks.load_fox(tmp_path)


# ---------------------------------------------------------------- facts, checksums, packed files


def test_facts():
    assert list(BENCHMARKS) == ["musk1", "musk2", "fox", "tiger", "elephant"]
    for name, facts in BENCHMARKS.items():
        assert facts.name == name
        assert facts.n_positive + facts.n_negative == facts.n_bags
        assert f"{facts.n_bags} bags" in str(facts)
        assert facts.license in str(facts)
        assert len(facts.content_checksum) == 64
    with pytest.raises(ParameterError, match=r"benchmark dataset 'musk3'.*Did you mean 'musk"):
        describe("musk3")


def test_everything_public_is_exported():
    for name in datasets_module.__all__:
        assert hasattr(datasets_module, name)


def test_the_checksum_sees_content_and_not_order():
    bags = small_set("fox")
    same = content_checksum(bags)
    assert content_checksum(bags[[2, 0, 1]]) == same
    turned = Bags.from_list([part[::-1] for part in bags], labels=bags.labels, ids=bags.ids)
    assert content_checksum(turned) == same
    for changed in (
        bags[[0, 1]],
        bags.map_instances(lambda values: values + 1e-12),
        Bags(bags.instances, bags.offsets, ids=bags.ids, labels=[1, 0, 0]),
        Bags(bags.instances, bags.offsets, ids=[1, 2, 4], labels=bags.labels),
        Bags(bags.instances, [0, 1, 3, 6], ids=bags.ids, labels=bags.labels),
        Bags(bags.instances, bags.offsets, ids=bags.ids),
    ):
        assert content_checksum(changed) != same
