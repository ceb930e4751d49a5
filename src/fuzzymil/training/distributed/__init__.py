"""Training over several processes, and on streams that do not fit in memory."""

from fuzzymil.training.distributed.processes import Crew, current, join

__all__ = ["Crew", "current", "join"]
