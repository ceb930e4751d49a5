"""Download of benchmark data with pooch, verified by content."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.datasets import _lzw
from fuzzymil.datasets._io import read_bags

MIRROR = "FUZZYMIL_MIRROR"
"""Environment variable with the URL of a mirror that serves the same files."""

RETRIES = 2
"""Number of retries after a failed download."""

_TIMEOUT = 30.0  # seconds without a response
_LARGEST = 64 * 2**20  # bytes in a member of an archive; the real ones have five million


class DownloadError(InputError, OSError):
    """A download that failed or returned unexpected data."""


def address(home: str) -> str:
    """Return the URL to download from: the public one, or that of the mirror if one is set."""
    mirror = os.environ.get(MIRROR)
    return f"{mirror.rstrip('/')}/{home.rsplit('/', 1)[1]}" if mirror else home


def fetch(home: str, folder: Path, title: str) -> Bags:
    """Download a file and read its bags; the downloaded file is not kept.

    `MIRROR` can replace the public URL ``home``. ``folder``, for the temporary download, is created if necessary;
    ``title`` is shown in the progress bar.
    """
    import pooch  # type: ignore[import-untyped]  # heavy, so only when it is needed
    from requests.exceptions import RequestException

    source = address(home)
    name = home.rsplit("/", 1)[1]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as place, _Bar(title) as bar:
            # The exact bytes these hosts serve may change, so the content is checked instead of a file checksum.
            fetcher = pooch.create(
                place, base_url="", registry={name: None}, urls={name: source}, retry_if_failed=RETRIES
            )
            downloader = pooch.HTTPDownloader(progressbar=bar, chunk_size=2**16, timeout=_TIMEOUT)
            return _read(Path(fetcher.fetch(name, downloader=downloader)), Path(place))
    except RequestException as problem:
        raise DownloadError(f"Could not download {source} ({_reason(problem)}).") from None
    except InputError as problem:
        raise DownloadError(f"{source} returned a file that cannot be read: {problem}") from None
    except OSError as problem:
        raise DownloadError(f"Could not store {source} in {folder} ({problem.strerror or problem}).") from None


def _reason(problem: Exception) -> str:
    response = getattr(problem, "response", None)
    return f"{type(problem).__name__}" if response is None else f"HTTP {response.status_code} {response.reason}"


def _read(raw: Path, place: Path) -> Bags:
    if raw.suffix != ".zip":
        return read_bags(raw, format="svmlight")
    try:
        with zipfile.ZipFile(raw) as archive:
            names = sorted(one.filename for one in archive.infolist() if one.file_size <= _LARGEST)
            tables = [name for end in (".data", ".data.z") for name in names if name.lower().endswith(end)]
            if not tables:
                raise InputError(f"the archive contains {names}, expected a table called clean1.data or clean2.data.")
            content = archive.read(tables[0])
        if tables[0].lower().endswith(".z"):
            content = _lzw.decompress(content)
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, EOFError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"the archive is damaged ({problem}).") from None
    table = place / "table.data"
    table.write_bytes(content)
    return read_bags(table, format="uci")


class _Bar:
    """A progress bar with pooch's interface, shown if standard error is a terminal."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(f"Downloading {title}", total=None)

    @property
    def total(self) -> float | None:
        """Total number of bytes, None if unknown."""
        return self._progress.tasks[0].total

    @total.setter
    def total(self, value: float) -> None:
        self._progress.update(self._task, total=value or None, completed=0)

    def update(self, amount: float) -> None:
        """Advance by a number of bytes."""
        self._progress.advance(self._task, amount)

    def reset(self) -> None:
        """Start over."""
        self._progress.reset(self._task)

    def close(self) -> None:
        """Do nothing: the bar ends with its ``with`` block."""

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._progress.stop()


def content_checksum(bags: Bags) -> str:
    """Return a SHA-256 checksum of ids, labels and instances, independent of their order."""
    labels = [None] * len(bags) if bags.labels is None else bags.labels.tolist()
    digests = []
    for name, label, instances in zip(bags.ids.tolist(), labels, bags, strict=True):
        values = instances.astype("<f8") + 0.0  # -0.0 is 0.0
        ordered = values[np.lexsort(values.T[::-1])]
        head = f"{name}\0{label}\0{ordered.shape}\0".encode()
        digests.append(hashlib.sha256(head + ordered.tobytes()).digest())
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()
