"""Compiled programs are kept between test runs (and shared by parallel workers): compiling is most of the time."""

import os
import tempfile

os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", os.path.join(tempfile.gettempdir(), "fuzzymil-test-programs"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
