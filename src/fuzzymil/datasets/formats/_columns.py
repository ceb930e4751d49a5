"""The roles of named columns: bag id, label, instance label or feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fuzzymil._utils.arrays import first_repeated
from fuzzymil._utils.errors import InputError, did_you_mean
from fuzzymil.bags import Bags

BAG_NAMES = ("bag", "bag_id", "bagid", "bag_ids", "bag_name", "bagname", "molecule", "molecule_name")
"""Column names that are recognized as the bag id, in any case."""

LABEL_NAMES = ("label", "labels", "bag_label", "class_label", "bag_class", "class", "target", "y")
"""Column names that are recognized as the label, in any case."""

INSTANCE_LABEL = "instance_label"
"""Column of labels of single instances; it is not a feature."""

Column = str | int | None
Problem = Callable[[str], Exception]


def named_columns(names: Sequence[str], bag: Column, label: Column, error: Problem) -> tuple[str, str | None]:
    """Return the bag and label columns of a table: those given, otherwise those recognized by name.

    ``error`` makes an exception from a message and adds where the table is.
    """
    if "" in names:
        raise error(
            f"column {names.index('') + 1} has no name: name it, or remove it if it only numbers the rows "
            "(pandas: to_csv(..., index=False))"
        )
    at = first_repeated(names)
    if at is not None:
        raise error(f"duplicate column {names[at]!r}: rename one")
    known: dict[str, list[str]] = {}
    for name in names:
        known.setdefault(name.lower(), []).append(name)
    if bag is None:
        bag = _only([name for like in BAG_NAMES for name in known.get(like, ())], "bag", error)
        if bag is None:
            raise error(
                f"no column looks like a bag id: choose one with bag=..., one of {_listed(names)}, or add a header "
                "with a column 'bag'"
            )
    if label is None:
        likely = [name for like in LABEL_NAMES[:-1] for name in known.get(like, ()) if name != bag]
        if not likely and "x" not in known:  # x and y are a point, y alone is a label
            likely = known.get("y", [])
        label = _only(likely, "label", error)
    check_known("column", bag, label, names, error)
    if bag == label:
        raise error(f"the column {bag!r} cannot be both bag and label: name two columns")
    return str(bag), None if label is None else str(label)


def check_known(what: str, bag: object, label: object, names: Sequence[str], error: Problem) -> None:
    """Raise if ``bag=`` or ``label=`` is not one of the names of columns, attributes or variables."""
    for role, name in (("bag", bag), ("label", label)):
        if name is not None and name not in names:
            message = f"there is no {what} {name!r} for {role}=; choose from {_listed(names)}."
            if role == "label" and {part.strip() for part in str(name).split(",")} <= {*names}:
                raise error(f"{message} Only one can be the label; fit in Python takes several targets as y")
            raise error(f"{message}{did_you_mean(name, names)}".rstrip("."))


def _only(likely: list[str], role: str, error: Problem) -> str | None:
    if len(likely) > 1:
        raise error(
            f"several columns could be the {role}: {_listed(likely)}; choose one with {role}=... and remove the others "
            "from the file, or they would be used as features"
        )
    return likely[0] if likely else None


def feature_columns(
    names: Sequence[str], bag: str, label: str | None, drop: Iterable[str], error: Problem
) -> list[str]:
    """Return the feature columns: all but bag, label, instance label and dropped columns."""
    known, apart = set(names), {bag, label, *drop}
    for name in drop:
        if name not in known:
            raise error(f"there is no column {name!r} to drop; choose from {_listed(names)}")
        if name in (bag, label):
            raise error(f"the column {name!r} is the bag or the label and cannot be dropped")
    features = [name for name in names if name not in apart and name.lower() != INSTANCE_LABEL]
    if not features:
        raise error(f"there is no feature column besides {_listed(names)}")
    roles = {name.lower(): name for name in (bag, label) if name is not None}
    alike = next((name for name in features if name.lower() in roles), None)
    if alike is not None:
        raise error(
            f"the column {alike!r} would be a feature, but differs from {roles[alike.lower()]!r} only in case: exclude "
            "it with drop=..., or rename it"
        )
    return features


def instance_label(names: Sequence[str], bag: str, label: str | None) -> str | None:
    """Return the column of instance labels, in any case, unless it is the bag or the label; None if there is none."""
    return next((name for name in names if name.lower() == INSTANCE_LABEL and name not in (bag, label)), None)


def check_feature_names(bags: Bags) -> None:
    """Raise if a feature written to a table with a header would be read back as the bag or its label."""
    lower = [name.lower() for name in bags.names]
    alone = bags.labels is None and "x" not in lower  # such a y would be read as the label
    taken = {*BAG_NAMES, *LABEL_NAMES[:-1], INSTANCE_LABEL, *(("y",) if alone else ())}
    for name in bags.names:
        if name.lower() in taken:
            raise InputError(f"The feature {name!r} would be read as the bag or its label: rename it before writing.")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else f"{shown}, ... ({len(names)} columns)"
