"""Training over several processes: who takes part, and what they tell each other.

Each process holds its share of the bags. `join` finds the others (by the settings that `fuzzymil launch`, SLURM or
an MPI launcher leave in the environment), and estimators with ``distributed=True`` then train as one:

    from fuzzymil import MIANFISClassifier, distributed

    crew = distributed.join()
    model = MIANFISClassifier(distributed=True).fit(crew.share(bags))

Every process ends up with the same model.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import jax
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import CrewError, InputError, ParameterError
from fuzzymil.bags import Bags, BagStream
from fuzzymil.training.distributed.launcher import LOST

__all__ = ["Crew", "current", "join"]

SHARES = "shares"
"""The axis of devices, one a process, over which bags are spread."""

_SECONDS_TO_MEET = 120
_SECONDS_TO_PART = 3600  # one may have to save a model, or to score it, while the others are done
Spread = TypeVar("Spread", Bags, BagStream)


@dataclasses.dataclass(frozen=True)
class Crew:
    """The processes that train together.

    Attributes
    ----------
    rank : int
        Number of this process, from 0.
    size : int
        Number of processes.

    Examples
    --------
    >>> import numpy as np
    >>> bags = Bags(np.zeros((5, 2)), [0, 1, 2, 3, 4, 5])
    >>> [Crew(rank, 2).share(bags).n_bags for rank in (0, 1)]
    [3, 2]
    """

    rank: int = 0
    size: int = 1

    def share(self, whole: Spread) -> Spread:
        """Return this process's share of bags, or of the parts of a stream: a run of them."""
        n = len(whole)
        if n < self.size:
            what = f"{'part' if isinstance(whole, BagStream) else 'bag'}{'' if n == 1 else 's'}"
            raise InputError(f"{n} {what} cannot be shared by {self.size} processes: start fewer of them.")
        own = np.array_split(np.arange(n), self.size)[self.rank]
        return whole[int(own[0]) : int(own[-1]) + 1]

    def gather(self, arrays: Mapping[str, Array]) -> list[dict[str, Array]]:
        """Return the arrays that every process gave, in the order of their ranks; all must call this."""
        if self.size == 1:
            return [dict(arrays)]
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        content = np.frombuffer(buffer.getvalue(), np.uint8)
        lengths = self._exchange(np.array([len(content)], np.int32))[:, 0]
        padded = self._exchange(np.pad(content, (0, int(lengths.max()) - len(content))))
        found = []
        for row, length in zip(padded, lengths, strict=True):
            with np.load(io.BytesIO(row[:length].tobytes()), allow_pickle=False) as file:
                found.append({name: file[name] for name in file.files})
        return found

    def greatest(self, *numbers: int) -> tuple[int, ...]:
        """Return the greatest that any process gave, for each number; all must call this."""
        if self.size == 1:
            return numbers
        return tuple(int(most) for most in self._exchange(np.array(numbers, np.int32)).max(axis=0))

    @staticmethod
    def _exchange(values: Array) -> Array:
        from jax.experimental import multihost_utils

        with told_of_loss():
            return np.asarray(multihost_utils.process_allgather(values))

    @functools.cached_property
    def mesh(self) -> jax.sharding.Mesh:
        """The first device of each process."""
        devices = jax.devices()
        first = [next(device for device in devices if device.process_index == rank) for rank in range(self.size)]
        return jax.sharding.Mesh(np.array(first), (SHARES,))

    def on_devices(self, values: Array) -> jax.Array:
        """Put this process's values on its device, as one entry of the first axis of an array over all of them."""
        axis = jax.sharding.PartitionSpec(SHARES)  # type: ignore[no-untyped-call]
        make: Any = jax.make_array_from_process_local_data
        spread: jax.Array = make(jax.sharding.NamedSharding(self.mesh, axis), values[None], (self.size, *values.shape))
        return spread


@contextlib.contextmanager
def told_of_loss() -> Iterator[None]:
    """Turn what happens when another process dies in the middle of a sum into one sentence."""
    try:
        yield
    except (jax.errors.JaxRuntimeError, ValueError) as problem:
        if jax.process_count() == 1:
            raise
        what = str(problem).splitlines()[0]
        raise CrewError(f"Another process that trained with this one is gone ({what}).") from None


_joined: Crew | None = None


def join(coordinator: str | None = None, size: int | None = None, rank: int | None = None) -> Crew:
    """Meet the other processes; call this before anything is computed.

    Parameters
    ----------
    coordinator : str, optional
        ``host:port`` where process 0 can be reached. Default: ``FUZZYMIL_COORDINATOR``, which `fuzzymil launch` sets,
        or what SLURM, Open MPI or another launcher that JAX knows says.
    size, rank : int, optional
        Number of processes and number of this one; default: ``FUZZYMIL_PROCESSES`` and ``FUZZYMIL_RANK``, or as above.
        One process needs no coordinator.

    Returns
    -------
    Crew

    Examples
    --------
    >>> join(size=1)
    Crew(rank=0, size=1)
    """
    global _joined
    if _joined is not None:
        return _joined
    coordinator = coordinator or os.environ.get("FUZZYMIL_COORDINATOR")
    size = _whole("FUZZYMIL_PROCESSES") if size is None else size
    rank = _whole("FUZZYMIL_RANK") if rank is None else rank
    if size == 1:
        _joined = Crew()
        return _joined
    # A request to end (SIGTERM) is to end the process: the checkpoints are ours.
    jax.config.update("jax_enable_preemption_service", False)  # type: ignore[no-untyped-call]
    try:
        jax.distributed.initialize(
            coordinator,
            size,
            rank,
            initialization_timeout=_SECONDS_TO_MEET,
            shutdown_timeout_seconds=_SECONDS_TO_PART,
        )
    except ValueError as problem:
        raise ParameterError(
            f"It cannot be told which processes train together ({problem}) Start them with 'fuzzymil launch', srun or "
            "mpirun, or set FUZZYMIL_COORDINATOR=host:port, FUZZYMIL_PROCESSES and FUZZYMIL_RANK in each."
        ) from None
    except RuntimeError as problem:
        raise ParameterError(f"The processes did not meet: {problem}") from None
    crew = Crew(jax.process_index(), jax.process_count())
    with _aside():
        crew.greatest(0)
    if crew.size > 1:
        sys.excepthook = _leave_at_once
    _joined = crew
    return _joined


def _leave_at_once(kind: type[BaseException], problem: BaseException, trace: Any) -> None:
    """Tell what went wrong and end: the usual end of a process would wait for the others, and they for this one."""
    sys.__excepthook__(kind, problem, trace)
    leave(LOST if isinstance(problem, CrewError) else 1)


def leave(status: int) -> None:
    """End this process without waiting for the others, if it has any; else do nothing."""
    if _joined is not None and _joined.size > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


@contextlib.contextmanager
def _aside() -> Iterator[None]:
    """Keep what libraries print while processes connect off standard output, which is for results."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def current() -> Crew:
    """Return the crew that this process has joined."""
    if _joined is None:
        raise ParameterError(
            "distributed=True trains with other processes: call fuzzymil.training.distributed.join() first, in each of them."
        )
    return _joined


def _whole(variable: str) -> int | None:
    text = os.environ.get(variable)
    if text is None:
        return None
    if not text.isdecimal():
        raise ParameterError(f"The environment variable {variable} must be a whole number, got {text!r}.")
    return int(text)
