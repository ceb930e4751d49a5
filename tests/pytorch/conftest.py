"""One thread: tests run in parallel, and threads of several processes would wait for each other."""

from importlib.util import find_spec

if find_spec("torch") is not None:
    import torch

    torch.set_num_threads(1)
