"""Checkpoints: a fit that was killed resumes where it was and arrives at the same numbers, bit for bit.

The file of a training is named after a digest of everything it depends on (data, initial rules, seeds, settings). So
only the same training can be resumed, and many fits may share one folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array, unpacked
from fuzzymil._utils.errors import warn_user
from fuzzymil._utils.own_files import ForeignFileError, OwnFolder
from fuzzymil._version import __version__

_FORMAT = b"fuzzymil-checkpoint 2\n"
_DIGEST_SIZE = 32


class Checkpoint:
    """The file of one training; neither it nor its folder has to exist."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def find(self, like: Any) -> Any:
        """Return the pytree that was saved, in the structure of ``like``; None if there is none.

        A damaged file also counts as none, and so do links, pipes and files of other users, with a warning.
        """
        try:
            with OwnFolder(self.path.parent.resolve()) as folder:  # the user named it, so it may be a link
                content = folder.read(self.path.name)
        except FileNotFoundError:
            return None  # never written
        except ForeignFileError as problem:
            return self._useless(str(problem.strerror))
        except OSError as problem:
            return self._useless(f"cannot be read ({problem.strerror})")
        start = len(_FORMAT) + _DIGEST_SIZE
        if not content.startswith(_FORMAT) or content[len(_FORMAT) : start] != _checksum(content[start:]):
            return self._useless("is damaged")
        try:
            return from_arrays(unpacked(content[start:]), like)
        except (ValueError, KeyError):
            return self._useless("was not written by fuzzymil")  # the checksum is right, so it is no accident

    def _useless(self, why: str) -> None:
        warn_user(f"The checkpoint {self.path} {why}: it is ignored, and training starts from the beginning.")

    def keep(self, tree: Any) -> None:
        """Write a pytree of arrays; if that fails, the file stays as it was."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        buffer = io.BytesIO()
        content: dict[str, Any] = as_arrays(tree)
        np.savez(buffer, **content)
        whole = _FORMAT + _checksum(buffer.getvalue()) + buffer.getvalue()
        with storage.own_names():
            storage.write_atomically(self.path, whole, precious=False)


class Checkpoints:
    """A folder of checkpoints, and those among them that belong to the current fit.

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
        path = self.folder / f"{_digest(words, arrays)}.checkpoint"
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
    expected = np.asarray(jax.random.key_data(like) if _is_key(like) else like)
    # NumPy returns what is no array as bytes. Only the last axis may grow: the epochs of a history.
    if not isinstance(values, np.ndarray) or values.dtype != expected.dtype or values.shape[:-1] != expected.shape[:-1]:
        raise ValueError(f"expected {expected.dtype} of shape {expected.shape}")
    if _is_key(like):
        return jax.random.wrap_key_data(jnp.asarray(values))
    return jnp.asarray(values) if isinstance(like, jax.Array) else values


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_SIZE).digest()


def _digest(words: str, arrays: Any) -> str:
    leaves, structure = jax.tree.flatten(arrays)
    digest = hashlib.blake2b(f"{__version__}\n{words}\n{structure}".encode(), digest_size=16)
    for leaf in leaves:
        values = np.ascontiguousarray(leaf)
        digest.update(f"{values.dtype.str}{values.shape}".encode())
        digest.update(values.data)
    return digest.hexdigest()
