"""Several processes that train together: how they find each other and exchange data.

Each process holds its share of the bags. `join` finds the others through the environment variables that
``fuzzymil launch``, SLURM or an MPI launcher set; distributed estimators then train as one:

    from fuzzymil.learn.train import distributed

    processes = distributed.join()
    share = processes.share(bags)

Every process ends up with the same model.

The processes trust each other and the network between them: nothing that they exchange is encrypted, and whoever can
connect to their ports can read or disturb the training. Started by ``fuzzymil launch``, they listen on the loopback
interface of this machine only. With another coordinator, process 0 listens on its port on every interface (JAX's
``JAX_COORDINATOR_BIND_ADDRESS`` chooses one), and each process on a port of the address of its host name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, ProcessLostError
from fuzzymil._utils.runtime import require_jax
from fuzzymil.bags import Bags, BagStream

if TYPE_CHECKING:
    import jax

__all__ = ["ProcessGroup", "current", "join", "leave"]

SHARES = "shares"
"""Name of the device axis, one device per process, over which bags are spread."""

_SECONDS_TO_JOIN = 120
_SECONDS_TO_LEAVE = 3600  # one process may still save or score a model when the others are done
Spread = TypeVar("Spread", Bags, BagStream)


@dataclasses.dataclass(frozen=True)
class ProcessGroup:
    """The processes that train together.

    Attributes
    ----------
    rank : int
        Number of this process, starting from 0.
    size : int
        Number of processes.

    Examples
    --------
    >>> import numpy as np
    >>> bags = Bags(np.zeros((5, 2)), [0, 1, 2, 3, 4, 5])
    >>> [ProcessGroup(rank, 2).share(bags).n_bags for rank in (0, 1)]
    [3, 2]
    """

    rank: int = 0
    size: int = 1

    def share(self, whole: Spread) -> Spread:
        """Return this process's share of some bags, or of the parts of a stream: consecutive ones."""
        n = len(whole)
        if n < self.size:
            what = f"{'part' if isinstance(whole, BagStream) else 'bag'}{'' if n == 1 else 's'}"
            raise InputError(f"{n} {what} cannot be divided among {self.size} processes: start fewer processes.")
        own = np.array_split(np.arange(n), self.size)[self.rank]
        return whole[int(own[0]) : int(own[-1]) + 1]

    def gather(self, arrays: Mapping[str, Array]) -> list[dict[str, Array]]:
        """Return the arrays of every process, by rank. All processes must call this."""
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
        """Return the maximum over all processes of each number. All processes must call this."""
        if self.size == 1:
            return numbers
        return tuple(int(most) for most in self._exchange(np.array(numbers, np.int32)).max(axis=0))

    @staticmethod
    def _exchange(values: Array) -> Array:
        from jax.experimental import multihost_utils

        with reporting_lost_processes():
            return np.asarray(multihost_utils.process_allgather(values))

    @functools.cached_property
    def mesh(self) -> jax.sharding.Mesh:
        """The first device of each process."""
        import jax

        devices = jax.devices()
        first = [next(device for device in devices if device.process_index == rank) for rank in range(self.size)]
        return jax.sharding.Mesh(np.array(first), (SHARES,))

    def on_devices(self, values: Array) -> jax.Array:
        """Put this process's values on its device, as its entry of an array with a leading axis over all processes."""
        import jax

        axis = jax.sharding.PartitionSpec(SHARES)  # type: ignore[no-untyped-call]
        make: Any = jax.make_array_from_process_local_data
        spread: jax.Array = make(jax.sharding.NamedSharding(self.mesh, axis), values[None], (self.size, *values.shape))
        return spread


@contextlib.contextmanager
def reporting_lost_processes() -> Iterator[None]:
    """Raise `ProcessLostError` instead of the low-level errors that follow when another process dies."""
    import jax

    try:
        yield
    except (jax.errors.JaxRuntimeError, ValueError) as problem:
        if jax.process_count() == 1:
            raise
        what = str(problem).splitlines()[0]
        raise ProcessLostError(f"Lost contact with another process of this training ({what}).") from None


_joined: ProcessGroup | None = None


def join(coordinator: str | None = None, size: int | None = None, rank: int | None = None) -> ProcessGroup:
    """Connect to the other processes. Call this before any computation.

    Parameters
    ----------
    coordinator : str, optional
        ``host:port`` of process 0. Default: the environment variable ``FUZZYMIL_COORDINATOR``, which
        ``fuzzymil launch`` sets, or the settings of SLURM, Open MPI or another launcher that JAX supports.
    size, rank : int, optional
        Number of processes, and number of this one. Default: ``FUZZYMIL_PROCESSES`` and ``FUZZYMIL_RANK``, or as
        above. A single process needs no coordinator.

    Returns
    -------
    ProcessGroup

    Examples
    --------
    >>> join(size=1)
    ProcessGroup(rank=0, size=1)
    """
    require_jax("Training in several processes")
    import jax

    global _joined
    if _joined is not None:
        return _joined
    coordinator = coordinator or os.environ.get("FUZZYMIL_COORDINATOR")
    size = _whole("FUZZYMIL_PROCESSES") if size is None else size
    rank = _whole("FUZZYMIL_RANK") if rank is None else rank
    if size == 1:
        _joined = ProcessGroup()
        return _joined
    # SIGTERM should end the process; checkpoints are written by fuzzymil, not by JAX.
    jax.config.update("jax_enable_preemption_service", False)  # type: ignore[no-untyped-call]
    local = _local_address(coordinator)
    try:
        jax.distributed.initialize(
            coordinator,
            size,
            rank,
            initialization_timeout=_SECONDS_TO_JOIN,
            shutdown_timeout_seconds=_SECONDS_TO_LEAVE,
            coordinator_bind_address=None if local is None else coordinator,  # None: on every network interface
        )
    except ValueError as problem:
        raise ParameterError(
            f"Cannot determine which processes train together ({problem}) Start them with 'fuzzymil launch', srun or "
            "mpirun, or set FUZZYMIL_COORDINATOR=host:port, FUZZYMIL_PROCESSES and FUZZYMIL_RANK in each process."
        ) from None
    except RuntimeError as problem:
        raise ParameterError(f"Could not connect to the other processes: {problem}") from None
    with _silenced_stdout(), _listening_on(local):
        found = ProcessGroup(jax.process_index(), jax.process_count())
        found.greatest(0)
    if found.size > 1:
        sys.excepthook = _leave_at_once
    _joined = found
    return _joined


def _local_address(coordinator: str | None) -> str | None:
    """Return the host of a coordinator that only processes on this machine can reach, otherwise None.

    Examples
    --------
    >>> _local_address("127.0.0.1:4000"), _local_address("node1:4000")
    ('127.0.0.1', None)
    """
    host = (coordinator or "").rpartition(":")[0]
    return host if host in ("127.0.0.1", "[::1]", "localhost") else None


@contextlib.contextmanager
def _listening_on(host: str | None) -> Iterator[None]:
    """Let the processes exchange arrays through this address; by default, JAX takes that of the machine's name."""
    from jaxlib import _jax

    name = "make_gloo_tcp_collectives"  # JAX has no setting for this argument
    make: Any = getattr(_jax, name, None)
    if host is None or make is None:
        yield
        return
    setattr(_jax, name, functools.partial(make, hostname=host.strip("[]")))
    try:
        yield
    finally:
        setattr(_jax, name, make)


def _leave_at_once(kind: type[BaseException], problem: BaseException, trace: Any) -> None:
    """Print the exception and exit at once: a normal exit would wait for the others, and they for this process."""
    sys.__excepthook__(kind, problem, trace)
    leave(problem.exit_status if isinstance(problem, ProcessLostError) else 1)


def leave(status: int) -> None:
    """Exit without waiting for the other processes; do nothing if there are none."""
    if _joined is not None and _joined.size > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


@contextlib.contextmanager
def _silenced_stdout() -> Iterator[None]:
    """Discard what libraries print on standard output, which is for results, while processes connect."""
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


def current() -> ProcessGroup:
    """Return the process group that this process has joined."""
    if _joined is None:
        raise ParameterError(
            "No process group: call fuzzymil.learn.train.distributed.join() in each process before training."
        )
    return _joined


def _whole(variable: str) -> int | None:
    text = os.environ.get(variable)
    if text is None:
        return None
    if not text.isdecimal():
        raise ParameterError(f"The environment variable {variable} must be a whole number, got {text!r}.")
    return int(text)
