"""The package as users get it, on every Python that is here: ``nox`` (Pythons that are missing are skipped).

``nox -s install-3.13`` runs one of them, and ``nox -s lowest`` the oldest dependencies that are allowed.
"""

from __future__ import annotations

import json
import shutil
import tarfile
import zipfile
from pathlib import Path

import nox

PYTHONS = ("3.11", "3.12", "3.13", "3.14")

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["install", "lowest"]


def built(session: nox.Session) -> Path:
    """Build the sdist, then the wheel from the sdist, and return the wheel; nothing may be missing."""
    folder = Path(session.create_tmp()) / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    session.install("build")
    session.run("python", "-m", "build", "--outdir", str(folder), ".", silent=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    source = {str(path.relative_to("src")) for path in Path("src/fuzzymil").rglob("*") if path.suffix != ".pyc"}
    with zipfile.ZipFile(wheel) as archive:
        absent = {name for name in source if (Path("src") / name).is_file()} - {*archive.namelist()}
    with tarfile.open(sdist) as archive:
        files = {member.name.partition("/")[2] for member in archive}
    absent |= {
        name for name in ("tests/smoke.py", "docs/index.md", "examples/visits.csv", "LICENSE") if name not in files
    }
    if absent:
        session.error(f"missing from the wheel or sdist: {', '.join(sorted(absent))}")
    return wheel


@nox.session(python=PYTHONS)
def install(session: nox.Session) -> None:
    """Install the wheel in an empty environment and use it: alone, then with the extra that trains networks."""
    wheel = built(session)
    for extra in ("", "[train]"):
        session.install(f"fuzzymil{extra} @ {wheel.absolute().as_uri()}")
        session.run("python", "tests/smoke.py")


@nox.session
def sbom(session: nox.Session) -> None:
    """Write which packages an installation consists of, with versions and licenses, to ``dist/``: a CycloneDX file."""
    wheel = built(session)
    folder = Path(session.create_tmp()) / "installed"
    session.run("python", "-m", "venv", "--clear", str(folder))
    python = folder / "bin" / "python"
    session.run(str(python), "-m", "pip", "install", "--quiet", f"fuzzymil[train] @ {wheel.absolute().as_uri()}")
    session.run(str(python), "-m", "pip", "uninstall", "--quiet", "--yes", "pip", "setuptools")
    session.install("cyclonedx-bom>=5")
    written = Path("dist") / f"{'-'.join(wheel.name.split('-')[:2])}.cdx.json"
    written.parent.mkdir(exist_ok=True)
    command = ("cyclonedx-py", "environment", str(python), "--pyproject", "pyproject.toml", "--output-reproducible")
    session.run(*command, "--output-file", str(written))
    names = {part["name"] for part in json.loads(written.read_text("utf-8"))["components"]}
    if absent := {"fuzzymil", "jax", "numpy", "scikit-learn"} - names:
        session.error(f"missing from the list: {', '.join(sorted(absent))}")


@nox.session(python=PYTHONS[0], venv_backend="uv")
def lowest(session: nox.Session) -> None:
    """Use the wheel with the oldest versions of its dependencies that pyproject.toml allows."""
    session.install("--no-deps", built(session))
    session.install("--resolution", "lowest-direct", "-r", "pyproject.toml", "--extra", "train")
    session.run("python", "tests/smoke.py")
