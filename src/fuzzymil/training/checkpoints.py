"""Trainings on disk: a fit that was killed goes on where it was, to the same numbers bit for bit.

A training is known by a digest of all it depends on (data, first rules, seeds, settings), and its file is named
after that. So nothing can be continued that is not the same, and many fits may share one folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils import storage
from fuzzymil._version import __version__

__all__ = ["Checkpoint", "Checkpoints", "Saved"]

_FORMAT = "fuzzymil-checkpoint 1"


class Saved(NamedTuple):
    """A training between two epochs."""

    state: Any  # pytree of arrays
    history: tuple[Any, ...]  # arrays whose last axis counts epochs
    n_epochs: int  # trained so far in this call


class Checkpoint:
    """The file of one training.

    Parameters
    ----------
    path : Path
        It need not exist yet, nor its folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def find(self, like: Any) -> Saved | None:
        """Return what was kept, its state shaped as ``like``; None when nothing was, or it is damaged."""
        leaves, structure = jax.tree.flatten(like)
        try:
            # Opened here: NumPy would leave a damaged file open.
            with self.path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                if str(file["format"]) != _FORMAT:
                    return None
                kept = [file[f"leaf{place}"] for place in range(len(leaves))]
                history = tuple(file[f"history{place}"] for place in range(int(file["n_histories"])))
                n_epochs = int(file["n_epochs"])
        except (FileNotFoundError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None  # never written, or damaged from outside: train from the start
        restored = [_restored(values, leaf) for values, leaf in zip(kept, leaves, strict=True)]
        return Saved(jax.tree.unflatten(structure, restored), history, n_epochs)

    def keep(self, saved: Saved) -> None:
        """Write the training as it is now; a failure leaves what was kept before."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = {f"leaf{place}": _plain(leaf) for place, leaf in enumerate(jax.tree.leaves(saved.state))}
        content |= {f"history{place}": np.asarray(values) for place, values in enumerate(saved.history)}
        buffer = io.BytesIO()
        np.savez(
            buffer,
            format=np.array(_FORMAT),
            n_histories=np.array(len(saved.history)),
            n_epochs=np.array(saved.n_epochs),
            **content,
        )
        storage.write_atomically(self.path, buffer.getvalue())


class Checkpoints:
    """A folder of trainings, and those of them that the present fit is made of.

    Parameters
    ----------
    folder : str or path

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> checkpoints = Checkpoints(folder)
    >>> checkpoints.of("a plan", [np.zeros(3)]).keep(Saved({"weights": np.ones(2)}, (), 5))
    >>> Checkpoints(folder).of("a plan", [np.zeros(3)]).find({"weights": np.zeros(2)}).n_epochs
    5
    >>> print(Checkpoints(folder).of("a plan", [np.ones(3)]).find({"weights": np.zeros(2)}))
    None
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._used: list[Path] = []

    def of(self, words: str, arrays: Any) -> Checkpoint:
        """Return the file of the training that these words and arrays (a pytree) determine."""
        path = self.folder / f"{_digest(words, arrays)}.npz"
        self._used.append(path)
        return Checkpoint(path)

    def finished(self) -> None:
        """Remove the files of this fit, and the folder if it has become empty."""
        for path in self._used:
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def _digest(words: str, arrays: Any) -> str:
    leaves, structure = jax.tree.flatten(arrays)
    digest = hashlib.blake2b(f"{__version__}\n{words}\n{structure}".encode(), digest_size=16)
    for leaf in leaves:
        values = np.ascontiguousarray(leaf)
        digest.update(f"{values.dtype.str}{values.shape}".encode())
        digest.update(values.data)
    return digest.hexdigest()


def _plain(leaf: Any) -> Any:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _restored(values: Any, like: Any) -> Any:
    return jax.random.wrap_key_data(jnp.asarray(values)) if _is_key(like) else jnp.asarray(values)


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
