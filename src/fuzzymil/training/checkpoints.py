"""Checkpoints: a fit that was killed resumes where it was and arrives at the same numbers, bit for bit.

The file of a training is named after a digest of everything it depends on (data, initial rules, seeds, settings). So
only the same training can be resumed, and many fits may share one folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array
from fuzzymil._version import __version__

__all__ = ["Checkpoint", "Checkpoints", "as_arrays", "from_arrays"]

_FORMAT = "fuzzymil-checkpoint 1"


class Checkpoint:
    """The file of one training.

    Parameters
    ----------
    path : Path
        Neither the file nor its folder has to exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def find(self, like: Any) -> Any:
        """Return the pytree that was saved, in the structure of ``like``; None if there is none or it is damaged."""
        try:
            # Opened here because NumPy would leave a damaged file open.
            with self.path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                return from_arrays(file, like) if str(file["format"]) == _FORMAT else None
        except (FileNotFoundError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None  # never written, or damaged: train from the start

    def keep(self, tree: Any) -> None:
        """Write a pytree of arrays; if that fails, the file stays as it was."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        buffer = io.BytesIO()
        content: dict[str, Any] = as_arrays(tree)
        np.savez(buffer, format=np.array(_FORMAT), **content)
        storage.write_atomically(self.path, buffer.getvalue(), precious=False)


class Checkpoints:
    """A folder of checkpoints, and those among them that belong to the current fit.

    Parameters
    ----------
    folder : str or path

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> checkpoints = Checkpoints(folder)
    >>> checkpoints.of("a plan", [np.zeros(3)]).keep({"weights": np.ones(2)})
    >>> Checkpoints(folder).of("a plan", [np.zeros(3)]).find({"weights": np.zeros(2)})
    {'weights': array([1., 1.])}
    >>> print(Checkpoints(folder).of("a plan", [np.ones(3)]).find({"weights": np.zeros(2)}))
    None
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._used: list[Path] = []

    def of(self, words: str, arrays: Any) -> Checkpoint:
        """Return the checkpoint of the training that this text and these arrays (a pytree) determine."""
        path = self.folder / f"{_digest(words, arrays)}.npz"
        self._used.append(path)
        return Checkpoint(path)

    def finished(self) -> None:
        """Remove the files of this fit, and the folder if that leaves it empty, once the model is saved."""
        storage.once_saved(self._remove)

    def _remove(self) -> None:
        for path in self._used:
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def as_arrays(tree: Any) -> dict[str, Array]:
    """Return the leaves of a pytree as named NumPy arrays."""
    return {
        f"leaf{place}": np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)
        for place, leaf in enumerate(jax.tree.leaves(tree))
    }


def from_arrays(arrays: Mapping[str, Array], like: Any) -> Any:
    """Invert `as_arrays`: return a pytree in the structure of ``like``, with leaves of the same kinds."""
    leaves, structure = jax.tree.flatten(like)
    return jax.tree.unflatten(structure, [_restored(arrays[f"leaf{place}"], leaf) for place, leaf in enumerate(leaves)])


def _restored(values: Array, like: Any) -> Any:
    if _is_key(like):
        return jax.random.wrap_key_data(jnp.asarray(values))
    return jnp.asarray(values) if isinstance(like, jax.Array) else values


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _digest(words: str, arrays: Any) -> str:
    leaves, structure = jax.tree.flatten(arrays)
    digest = hashlib.blake2b(f"{__version__}\n{words}\n{structure}".encode(), digest_size=16)
    for leaf in leaves:
        values = np.ascontiguousarray(leaf)
        digest.update(f"{values.dtype.str}{values.shape}".encode())
        digest.update(values.data)
    return digest.hexdigest()
