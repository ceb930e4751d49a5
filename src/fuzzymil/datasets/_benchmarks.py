"""The five benchmark datasets of multiple-instance learning: MUSK 1 and 2, Fox, Tiger, Elephant.

The data is not part of this package. A loader looks in the given folder, in the folder named by the environment
variable ``FUZZYMIL_DATA`` and in the download cache, in this order, and otherwise downloads it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fuzzymil._utils.errors import InputError, known_name
from fuzzymil._utils.storage import own_names, rescuing
from fuzzymil.bags import Bags
from fuzzymil.datasets._io import read_bags, write_bags
from fuzzymil.datasets.formats import DataFileError

# ---------------------------------------------------------------- .Z files (Unix compress), which UCI still uses

_MAGIC = b"\x1f\x9d"
_CLEAR = 256


def decompress(packed: bytes) -> bytes:
    """Decompress a ``.Z`` file (adaptive Lempel-Ziv-Welch coding with codes of 9 to 16 bits)."""
    if packed[:2] != _MAGIC or len(packed) < 3:
        raise ValueError("not a .Z file: it does not begin with the bytes 1f 9d")
    widest, can_clear = packed[2] & 0x1F, bool(packed[2] & 0x80)
    if not 9 <= widest <= 16:
        raise ValueError(f"codes of up to {widest} bits, expected 9 to 16")
    first_free = _CLEAR + can_clear
    table = [bytes([value]) for value in range(256)] + [b""] * can_clear
    out: list[bytes] = []
    before = b""
    width = 9
    begin = at = 24  # in bits; `begin` is where codes of this width start
    end = 8 * len(packed)
    while True:
        if len(table) >= 1 << width and width < widest:
            begin = at = _boundary(begin, at, width)
            width += 1
        if at + width > end:
            return b"".join(out)
        code = (int.from_bytes(packed[at >> 3 : (at >> 3) + 3], "little") >> (at & 7)) & ((1 << width) - 1)
        at += width
        if code == _CLEAR and can_clear:
            begin = at = _boundary(begin, at, width)
            width = 9
            del table[first_free:]
            before = b""
            continue
        if code < len(table):
            found = table[code]
        elif code == len(table) and before:
            found = before + before[:1]  # the code that is being defined
        else:
            raise ValueError(f"code {code} at bit {at - width} is unknown: the file is damaged")
        out.append(found)
        if before and len(table) < 1 << widest:
            table.append(before + found[:1])
        before = found


def _boundary(begin: int, at: int, width: int) -> int:
    # Codes are written in groups of eight, and the last group is padded before the width changes.
    return at + (begin - at) % (8 * width)


# ---------------------------------------------------------------- download with pooch, verified by content

MIRROR = "FUZZYMIL_MIRROR"
"""Environment variable with the URL of a mirror that serves the same files."""

_RETRIES = 2  # after a failed download
_TIMEOUT = 30.0  # seconds without a response
_LARGEST = 64 * 2**20  # bytes in a member of an archive; the real ones have five million


class DownloadError(InputError, OSError):
    """A download that failed or returned unexpected data."""


def address(home: str) -> str:
    """Return the URL to download from: the public one, or that of the mirror if one is set."""
    mirror = os.environ.get(MIRROR)
    return f"{mirror.rstrip('/')}/{home.rsplit('/', 1)[1]}" if mirror else home


def fetch(home: str, folder: Path) -> Bags:
    """Download a file and read its bags; the downloaded file is not kept.

    `MIRROR` can replace the public URL ``home``. ``folder``, for the temporary download, is created if necessary.
    """
    import pooch  # type: ignore[import-untyped]  # heavy, so only when it is needed
    from requests.exceptions import RequestException

    source = address(home)
    name = home.rsplit("/", 1)[1]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as place:
            # The exact bytes these hosts serve may change, so the content is checked instead of a file checksum.
            fetcher = pooch.create(place, "", registry={name: None}, urls={name: source}, retry_if_failed=_RETRIES)
            downloader = pooch.HTTPDownloader(chunk_size=2**16, timeout=_TIMEOUT)
            return _read_download(Path(fetcher.fetch(name, downloader=downloader)), Path(place))
    except RequestException as problem:
        response = problem.response
        reason = type(problem).__name__ if response is None else f"HTTP {response.status_code} {response.reason}"
        raise DownloadError(f"Could not download {source} ({reason}).") from None
    except InputError as problem:
        raise DownloadError(f"{source} returned a file that cannot be read: {problem}") from None
    except OSError as problem:
        raise DownloadError(f"Could not store {source} in {folder} ({problem.strerror or problem}).") from None


def _read_download(raw: Path, place: Path) -> Bags:
    if raw.suffix != ".zip":
        return read_bags(raw, format="svmlight")
    try:
        with zipfile.ZipFile(raw) as archive:
            names = sorted(one.filename for one in archive.infolist() if one.file_size <= _LARGEST)
            tables = [name for end in (".data", ".data.z") for name in names if name.lower().endswith(end)]
            content = archive.read(tables[0]) if tables else b""
        if tables and tables[0].lower().endswith(".z"):
            content = decompress(content)
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, EOFError) as problem:
        raise InputError(f"the archive is damaged ({problem}).") from None
    if not tables:
        raise InputError(f"the archive contains {names}, expected a table called clean1.data or clean2.data.")
    table = place / "table.data"
    table.write_bytes(content)
    return read_bags(table, format="uci")


def content_checksum(bags: Bags) -> str:
    """Return a SHA-256 checksum of ids, labels and instances, independent of their order."""
    labels = [None] * len(bags) if bags.labels is None else bags.labels.tolist()
    digests = []
    for name, label, instances in zip(bags.ids.tolist(), labels, bags, strict=True):
        values = instances.astype("<f8") + 0.0  # -0.0 is 0.0
        head = f"{name}\0{label}\0{values.shape}\0".encode()
        digests.append(hashlib.sha256(head + values[np.lexsort(values.T[::-1])].tobytes()).digest())
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()


# ---------------------------------------------------------------- facts

DATA = "FUZZYMIL_DATA"
"""Environment variable with the folder of the data."""

_Path = str | os.PathLike[str]


class DataNotFound(InputError, FileNotFoundError):
    """A benchmark dataset was not found. The message explains how to get it."""

    __module__ = "fuzzymil.datasets"


@dataclass(frozen=True)
class BenchmarkSet:
    """Facts about one benchmark dataset.

    Attributes
    ----------
    name, title : str
        Such as ``musk1`` and ``MUSK 1``.
    n_bags, n_positive, n_instances, n_features : int
    license, reference : str
    home : str
        Public URL.
    content_checksum : str
        SHA-256 of ids, labels and instances, independent of their order and the file format.
    """

    name: str
    title: str
    n_bags: int
    n_positive: int
    n_instances: int
    n_features: int
    license: str
    reference: str
    home: str
    content_checksum: str

    @property
    def n_negative(self) -> int:
        """Number of negative bags."""
        return self.n_bags - self.n_positive

    def __str__(self) -> str:
        return (
            f"{self.title}: {self.n_bags} bags ({self.n_positive} positive, {self.n_negative} negative), "
            f"{self.n_instances} instances, {self.n_features} features. License: {self.license}. "
            f"Reference: {self.reference}. Home: {self.home}"
        )


_DIETTERICH = (
    "T. G. Dietterich, R. H. Lathrop, T. Lozano-Perez (1997), Solving the multiple instance problem with axis-parallel "
    "rectangles, Artificial Intelligence 89"
)
_ANDREWS = (
    "S. Andrews, I. Tsochantaridis, T. Hofmann (2002), Support vector machines for multiple-instance learning, NIPS 15"
)
_UCI = "https://archive.ics.uci.edu/static/public"
_ANIMALS = "https://raw.githubusercontent.com/junyanz/MCILBoost/3527c580f3aab87d8a79bdd8a52f087567efc2cc/data"
_CC, _UNSTATED = "CC BY 4.0 (doi 10.24432/", "not stated (research benchmark)"

# Title, bags, positive bags, instances, features, license, reference, home.
_FACTS = {
    "musk1": ("MUSK 1", 92, 47, 476, 166, f"{_CC}C5ZK5B)", _DIETTERICH, f"{_UCI}/74/musk+version+1.zip"),
    "musk2": ("MUSK 2", 102, 39, 6598, 166, f"{_CC}C51608)", _DIETTERICH, f"{_UCI}/75/musk+version+2.zip"),
    "fox": ("Fox", 200, 100, 1320, 230, _UNSTATED, _ANDREWS, f"{_ANIMALS}/fox.data"),
    "tiger": ("Tiger", 200, 100, 1220, 230, _UNSTATED, _ANDREWS, f"{_ANIMALS}/tiger.data"),
    "elephant": ("Elephant", 200, 100, 1391, 230, _UNSTATED, _ANDREWS, f"{_ANIMALS}/elephant.data"),
}
_CHECKSUMS = {
    "musk1": "bce36464a6d2e73dee7f325fd5adc30410d2266e404ac592ccb8d9204bad6f07",
    "musk2": "79cf8f8a68832d425d53f87612117505b03b3a28ee85cc9ade21aa38e5f661d4",
    "fox": "150ea32e38efbd34740bf009e863fbdf7ba4bfd0b38c920e7452a83826df427f",
    "tiger": "39c01cb2c404723a57bfd42d5f11be9d56731a66339abac90506c5d1b5eb4049",
    "elephant": "77edeaa49fa50d1e4898f0985f40c9f1b8892ad95d39628e12f3c79de01bb40b",
}

BENCHMARKS = {name: BenchmarkSet(name, *facts, _CHECKSUMS[name]) for name, facts in _FACTS.items()}
"""All benchmark datasets by name."""


def describe(name: str) -> BenchmarkSet:
    """Return the facts about a benchmark dataset.

    Examples
    --------
    >>> facts = describe("musk1")
    >>> facts.n_bags, facts.n_positive, facts.n_negative, facts.n_instances, facts.n_features
    (92, 47, 45, 476, 166)
    """
    known_name("benchmark dataset", name, BENCHMARKS)
    return BENCHMARKS[name]


def load_musk1(folder: _Path | None = None, *, download: bool = True) -> Bags:
    """Load MUSK 1: molecules with or without a musky smell, as bags of conformations.

    Parameters
    ----------
    folder : path, optional
        Folder with ``musk1.csv.gz`` (its content is verified) or ``musk1.csv`` (its counts are verified). If neither
        is found, or no folder is given, the folder in the environment variable ``FUZZYMIL_DATA`` and the download
        cache are searched.
    download : bool
        Whether to download the data if it was not found, and cache it for the user.

    Returns
    -------
    Bags
        Labels are 0 and 1, features ``f1, f2, ...``. Positive bags come first, so shuffle before splitting. Ids are
        names of molecules, which contain the label.

    Raises
    ------
    DataNotFound
        If the data was not found. The message explains how to get it.

    Examples
    --------
    >>> bags = load_musk1("my-data")  # doctest: +SKIP
    """
    return _load("musk1", folder, download)


def load_musk2(folder: _Path | None = None, *, download: bool = True) -> Bags:
    """Load MUSK 2: like MUSK 1 with other molecules and up to 1044 conformations per bag.

    See `load_musk1` for the parameters and where the data is looked up.

    Examples
    --------
    >>> bags = load_musk2("my-data")  # doctest: +SKIP
    """
    return _load("musk2", folder, download)


def load_fox(folder: _Path | None = None, *, download: bool = True) -> Bags:
    """Load Fox: images with or without a fox, as bags of regions.

    See `load_musk1` for the parameters and where the data is looked up. The three animal sets have bags in
    common: do not train on one and test on another.

    Examples
    --------
    >>> bags = load_fox("my-data")  # doctest: +SKIP
    """
    return _load("fox", folder, download)


def load_tiger(folder: _Path | None = None, *, download: bool = True) -> Bags:
    """Load Tiger: images with or without a tiger, as bags of regions.

    See `load_musk1` for the parameters and where the data is looked up.

    Examples
    --------
    >>> bags = load_tiger("my-data")  # doctest: +SKIP
    """
    return _load("tiger", folder, download)


def load_elephant(folder: _Path | None = None, *, download: bool = True) -> Bags:
    """Load Elephant: images with or without an elephant, as bags of regions.

    See `load_musk1` for the parameters and where the data is looked up.

    Examples
    --------
    >>> bags = load_elephant("my-data")  # doctest: +SKIP
    """
    return _load("elephant", folder, download)


# ---------------------------------------------------------------- search


def _load(name: str, folder: _Path | None, download: bool) -> Bags:
    facts = BENCHMARKS[name]
    looked: list[Path] = []
    for origin, place in (("folder=", folder), (DATA, os.environ.get(DATA))):
        if not place:
            continue
        looked.append(Path(place))
        if not looked[-1].is_dir():  # a mistyped folder must not lead to a download
            what = "is a file" if looked[-1].exists() else "does not exist"
            raise DataNotFound(f"The data folder {place} ({origin}) {what}. {_ways(facts)}")
        found = _from_folder(facts, looked[-1])
        if found is not None:
            return found
    return _from_cache(facts, looked, download)


def _from_folder(facts: BenchmarkSet, folder: Path) -> Bags | None:
    for name, check in ((f"{facts.name}.csv.gz", _wrong_content), (f"{facts.name}.csv", _wrong_counts)):
        if not (folder / name).is_file():
            continue
        try:
            bags = read_bags(folder / name, format="csv")
            problem = check(facts, bags)
        except DataFileError as damage:
            problem = str(damage)
        if problem is None:
            return bags
        raise DataFileError(f"{folder / name} is not {facts.title}: {problem} Download it again. {_ways(facts)}")
    return None


def _from_cache(facts: BenchmarkSet, looked: list[Path], download: bool) -> Bags:
    import pooch  # deferred: slow to import

    cache = Path(pooch.os_cache("fuzzymil"))
    kept = cache / f"{facts.name}.csv.gz"
    if kept.is_file():
        try:
            bags = read_bags(kept, format="csv")
            problem = _wrong_content(facts, bags)
        except DataFileError as damage:
            problem = str(damage)
        if problem is None:
            return bags
        if not download:
            raise DataFileError(f"The cached file {kept} is damaged: {problem} Remove it and download it again.")
    where = ", ".join(map(str, [*looked, cache]))
    if not download:
        raise DataNotFound(f"{facts.title} was not found in {where}, and download=False. {_ways(facts)}")
    try:
        bags = _as_published(facts, fetch(facts.home, cache))
        problem = _wrong_content(facts, bags)
        if problem is not None:
            raise DownloadError(f"{address(facts.home)} returned data that is not {facts.title}: {problem}")
        with rescuing(False), own_names():  # it can be downloaded again
            write_bags(bags, kept, "csv")
    except DownloadError as failure:
        raise DataNotFound(f"{facts.title} was not found in {where}. {failure} {_ways(facts)}") from failure
    except OSError as failure:
        raise DataNotFound(
            f"{facts.title} was downloaded but cannot be cached in {cache} ({failure.strerror}): free up space or set "
            f"XDG_CACHE_HOME to another folder. {_ways(facts)}"
        ) from failure
    return bags


def _as_published(facts: BenchmarkSet, bags: Bags) -> Bags:
    """Return downloaded bags with the ids, labels and order of our own files: positives first, then by id."""
    if bags.labels is None or bags.labels.dtype.kind != "i":
        raise DownloadError(f"{address(facts.home)} returned data without labels of -1, 0 and 1.")
    labels = (bags.labels > 0).astype(np.int64)
    numbered = bags.ids.dtype.kind == "i"  # from 0 there, from 1 here
    ids = bags.ids + 1 - bags.ids.min() if numbered else bags.ids
    order = np.lexsort([ids, -labels])
    names = [f"f{d + 1}" for d in range(bags.n_features)]
    return Bags(bags.instances, bags.offsets, ids=ids, labels=labels, feature_names=names)[order]


def _wrong_counts(facts: BenchmarkSet, bags: Bags) -> str | None:
    expected = (facts.n_bags, facts.n_instances, facts.n_features)
    found = (bags.n_bags, bags.n_instances, bags.n_features)
    form = "{} bags, {} instances, {} features"
    return None if found == expected else f"expected {form.format(*expected)}, found {form.format(*found)}."


def _wrong_content(facts: BenchmarkSet, bags: Bags) -> str | None:
    wrong, found = _wrong_counts(facts, bags), content_checksum(bags)
    if wrong is None and found != facts.content_checksum:
        return f"expected content with SHA-256 {facts.content_checksum}, found {found}."
    return wrong


def _ways(facts: BenchmarkSet) -> str:
    return (
        f"To get {facts.title}: (1) put {facts.name}.csv.gz or {facts.name}.csv (header bag,label,f1,...; one row per "
        f"instance) in a folder and pass folder=...; or (2) set the environment variable {DATA} to that folder; or (3) "
        f"download it with download=True from {facts.home} (or set {MIRROR} to the URL of a mirror)."
    )
