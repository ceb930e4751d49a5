"""The architecture as a test: imports flow one way, private modules stay private, and the README's map is true.

Every import statement counts, wherever it stands: at the top of a module or inside a function; and for type checkers
only, except that inside a package the type of an argument may be a class that is built on the module.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "fuzzymil"

LAYERS = (
    "_version",
    "_utils",
    "bags",
    "datasets",
    "inference",
    "rules",
    "learn",
    "torch",
    "explain",
    "estimators",
    "comparators",
    "plots",
    "report",
    "studio",
    "cli",
    "__main__",
)
"""The packages from the bottom up: a module imports from its own package and from those before it."""


def module_name(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


def statements(source, *, types=True):
    """All nodes of a module, with or without those for type checkers only."""
    tree = ast.parse(source)
    hidden = set()
    for node in [] if types else ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            hidden.update(part for statement in node.body for part in ast.walk(statement))
    return [node for node in ast.walk(tree) if node not in hidden]


def imports(source, name, is_package, modules, *, types=True):
    """Modules that a module imports, by any statement."""
    package = name if is_package else name.rpartition(".")[0]
    for node in statements(source, types=types):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                found = f"{base}.{alias.name}"
                if found in modules or base in modules:
                    yield found if found in modules else base


def import_graph(*, types=True):
    return {
        name: set(imports(path.read_text(encoding="utf-8"), name, path.name == "__init__.py", MODULES, types=types))
        - {name}
        for name, path in MODULES.items()
    }


GRAPH = import_graph()


def layer(name):
    return LAYERS.index(name.split(".")[1])


def cycle_in(graph):
    """Return one cycle as a list of modules, or None."""
    done, open_path = set(), []

    def visit(name):
        if name in open_path:
            return [*open_path[open_path.index(name) :], name]
        if name in done:
            return None
        open_path.append(name)
        for target in sorted(graph[name]):
            found = visit(target)
            if found:
                return found
        open_path.pop()
        done.add(name)
        return None

    for name in sorted(graph):
        found = visit(name)
        if found:
            return found
    return None


def test_every_package_has_its_layer():
    packages = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert packages - {"__init__"} == set(LAYERS)


def test_no_cycle():
    graph = {name: targets for name, targets in import_graph(types=False).items() if name != "fuzzymil"}
    found = cycle_in(graph)
    assert found is None, "import cycle: " + " -> ".join(found)


def test_imports_only_go_down():
    upward = [
        f"{name} imports {target}"
        for name, targets in GRAPH.items()
        for target in targets
        if name != "fuzzymil" and (target == "fuzzymil" or layer(target) > layer(name))
    ]
    assert not upward


def test_imports_by_name_stay_inside_their_package():
    """What the graph cannot see: modules imported by a string, which only faces and the search for files may do."""
    allowed = {"fuzzymil", "fuzzymil._utils.registry"}
    by_name = {
        name
        for name, path in MODULES.items()
        if re.search(r"import_module\(|__import__\(", path.read_text(encoding="utf-8")) and name not in allowed
    }
    assert all(MODULES[name].name == "__init__.py" for name in by_name)
    for name in by_name:
        targets = re.findall(r"import_module\((.*?)[,)]", MODULES[name].read_text(encoding="utf-8"))
        assert all(target.startswith('f"{__name__}.') for target in targets), name


def test_private_modules_are_imported_inside_their_package_only():
    def visible(target, name):
        parts = target.split(".")
        private = next((place for place, part in enumerate(parts) if part.startswith("_")), None)
        if private is None or parts[1] in ("_utils", "_version"):
            return True
        owner = ".".join(parts[:private])
        return name == owner or name.startswith(owner + ".")

    trespasses = [
        f"{name} imports {target}" for name, targets in GRAPH.items() for target in targets if not visible(target, name)
    ]
    assert not trespasses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import fuzzymil.bags", {"fuzzymil.bags"}),
        ("def f():\n    from fuzzymil.bags import Bags", {"fuzzymil.bags"}),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from fuzzymil import bags", {"fuzzymil.bags"}),
        ("from . import parser", {"fuzzymil.rules.language.parser"}),
        ("from ..premise import Is", {"fuzzymil.rules.premise"}),
        ("import numpy", set()),
    ],
)
def test_all_kinds_of_imports_are_seen(source, expected):
    modules = ("fuzzymil.bags", "fuzzymil.rules.language.parser", "fuzzymil.rules.premise")
    assert set(imports(source, "fuzzymil.rules.language.lexer", False, modules)) == expected


def test_a_cycle_would_be_noticed():
    assert cycle_in({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert cycle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}) is None


def test_the_map_in_the_readme_is_what_the_packages_say_of_themselves():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\w+)/` \| (.+?) \|$", readme, re.MULTILINE))
    packages = [name for name in LAYERS if (SOURCE / name / "__init__.py").exists()]
    own = {
        name: ast.get_docstring(ast.parse((SOURCE / name / "__init__.py").read_text(encoding="utf-8"))).splitlines()[0]
        for name in packages
    }
    assert told == own
    assert list(told) == packages  # in the order of the layers
