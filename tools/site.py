"""Build the site of this version in ``site/VERSION/``, beside those of other versions: ``python tools/site.py``.

``site/index.html`` leads to the newest version; served from there, pages have a menu of all versions. A broken link,
anchor or name is an error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from packaging.version import InvalidVersion, Version

import fuzzymil

SITE = Path(__file__).parents[1] / "site"
FRONT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>fuzzymil</title>
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<p>{links}</p>
</html>
"""


def versions(site: Path) -> list[str]:
    """Return the versions whose pages are in a folder, the newest first."""
    found = []
    for page in site.glob("*/index.html"):
        try:
            found.append(Version(page.parent.name))
        except InvalidVersion:  # a folder of the layout before there were versions
            continue
    return [str(version) for version in sorted(found, reverse=True)]


def write_front(site: Path) -> None:
    """Write the page that leads to the newest version, and the list that the menu of versions reads."""
    names = versions(site)
    links = " · ".join(f'<a href="{name}/index.html">fuzzymil {name}</a>' for name in names)
    (site / "index.html").write_text(FRONT.format(newest=names[0], links=links), "utf-8")
    listed = [{"version": name, "title": name, "aliases": ["latest"] if name == names[0] else []} for name in names]
    (site / "versions.json").write_text(json.dumps(listed, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    folder = SITE / fuzzymil.__version__
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    subprocess.run(command, check=True, cwd=SITE.parent, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    write_front(SITE)
    print(f"Wrote {SITE.name}/index.html: {', '.join(versions(SITE))}.")
