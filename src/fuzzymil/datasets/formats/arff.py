r"""Relational ARFF, WEKA's format for bags: one line per bag, its instances quoted and joined by ``\n``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array, first_repeated
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.bags.series import TextSeries
from fuzzymil.bags.table import not_a_number
from fuzzymil.datasets.formats import _format
from fuzzymil.datasets.formats._format import FORMATS, Format
from fuzzymil.datasets.formats.files import CUT, DataFile, bare_name, write_text

_QUOTED = r"\"[^\"\\]*(?:\\.[^\"\\]*)*\"|'[^'\\]*(?:\\.[^'\\]*)*'"
_FIELD = re.compile(rf"\s*({_QUOTED}|[^,\"'\s][^,]*|)\s*(,|$)")
_ATTRIBUTE = re.compile(rf"\s*@attribute\s+({_QUOTED}|\S+)\s+(.+?)\s*$", re.IGNORECASE)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_PER_BAG, _CHECKED = 400, 1024  # bytes; bags after which the memory is checked
_NUMERIC = ("numeric", "real", "integer")


class _Header(NamedTuple):
    names: list[str]  # of the outer attributes
    relation: int  # which of them holds the bag
    features: list[str]
    data_line: int


def _token(text: str) -> str:
    """Return a token without its quotes and escapes."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1], flags=re.DOTALL)
    return text


def _header(file: DataFile) -> _Header:
    names: dict[str, None] = {}  # in order
    features: dict[str, None] = {}
    relation: int | None = None
    inside = False
    for number, line in file.numbered_lines():
        word = line.split(None, 1)[0].lower()
        if word.startswith("%") or word == "@relation":
            continue
        if word == "@data":
            if relation is None:
                raise file.error(
                    "no attribute is relational, so this file does not contain bags: apply the filter "
                    "PropositionalToMultiInstance in WEKA, or save it as CSV",
                    number,
                )
            if inside:
                raise file.error(f"the relational attribute {[*names][relation]!r} is not closed by @end", number)
            return _Header([*names], relation, [*features], number)
        if word == "@end":
            inside = False
            continue
        found = _ATTRIBUTE.match(line)
        if found is None:
            advice = CUT if file.is_cut(number) else "correct the header"
            raise file.error(f"expected @attribute name type, found {line.strip()[:40]!r}; {advice}", number)
        name, kind = _token(found[1]), found[2]
        if name in (features if inside else names):
            raise file.error(f"duplicate attribute {name!r}: rename one", number)
        if inside:
            if next(iter(kind.lower().split()), "") not in _NUMERIC:
                kinds = "but features must be numeric: recode it"
                raise file.error(f"the feature {name!r} has type {kind[:40]!r}, {kinds}", number)
            features[name] = None
            continue
        names[name] = None
        if kind.lower() == "relational":
            if relation is not None:
                raise file.error(f"found a second relational attribute, {name!r}: keep one of them", number)
            relation, inside = len(names) - 1, True
    raise file.error("has no @data line: it seems to be truncated; download it again")


def arff_columns(file: DataFile, bag: object = None, label: object = None) -> tuple[str | None, str | None]:
    """Return the attributes of the bag id and the label; by convention the first and the last."""
    return _roles(file, _header(file), bag, label)


def _roles(file: DataFile, header: _Header, bag: object, label: object) -> tuple[str | None, str | None]:
    outer = [name for n, name in enumerate(header.names) if n != header.relation]
    _format.check_known("attribute", bag, label, outer, file.problem)
    free = [name for name in outer if name not in (bag, label)]
    if bag is None and free and header.names.index(free[0]) < header.relation:
        bag = free.pop(0)
    if label is None and free:
        label = free.pop()
    if free:
        raise file.error(f"has attributes besides bag and label: {free}; remove them, or choose one with label=")
    return None if bag is None else str(bag), None if label is None else str(label)


def read_arff(file: DataFile, bag: object = None, label: object = None) -> Bags:
    """Read relational ARFF."""
    header = _header(file)
    owner, target = _roles(file, header, bag, label)
    owners: list[str] = []
    labels: list[str] = []
    lines: list[int] = []
    parts: list[Array] = []
    n_values = 0
    for number, line in file.numbered_lines():
        if number <= header.data_line or line.lstrip().startswith("%"):
            continue
        fields = _split(file, number, line, len(header.names))
        row = dict(zip(header.names, fields, strict=True))
        rows = [text.split(",") for text in fields[header.relation].split("\n") if text.strip()]
        place = f"bag {row[owner] if owner else len(lines) + 1}"
        odd = next((n for n, values in enumerate(rows) if len(values) != len(header.features)), None)
        if odd is not None:
            if rows[odd][0].lstrip().startswith("{"):
                raise file.error(f"{place} is in sparse format: apply the filter SparseToNonSparse in WEKA", number)
            raise file.error(
                f"instance {odd + 1} of {place} has {len(rows[odd])} values, but there are {len(header.features)} "
                "features: all instances need the same number of values",
                number,
            )
        if not rows:
            raise file.error(f"{place} is empty: every bag needs at least one instance", number)
        values, bad = _format.parse_numbers([field for fields in rows for field in fields])
        if bad is not None:
            instance, feature = divmod(bad, len(header.features))
            raise file.error(not_a_number(rows[instance][feature].strip()), number, repr(header.features[feature]))
        parts.append(values.reshape(len(rows), -1))
        n_values += values.size
        if len(parts) % _CHECKED == 0:
            n_bytes = _PER_BAG * len(parts) + 24 * n_values
            file.require(n_bytes, f"has more than {len(parts):,} bags of {n_values:,} values")
        owners.append(row[owner] if owner else str(len(lines)))
        labels.append(row[target] if target else "")
        lines.append(number)
    if not lines:
        raise file.error("there are no bags below @data: export or download the file again", header.data_line)
    twice = first_repeated(owners)
    if twice is not None:
        also = f"also on line {lines[owners.index(owners[twice])]}"
        raise file.error(f"duplicate bag {owners[twice]}, {also}: every bag needs its own id", lines[twice])
    per_row = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    ids, target_text = TextSeries(owners, per_row), TextSeries(labels, per_row) if target else None
    places = np.array(lines)[per_row]
    return _format.bags_of_rows(file, np.concatenate(parts), ids, target_text, places, header.features)


def _split(file: DataFile, number: int, line: str, expected: int) -> list[str]:
    fields: list[str] = []
    at = 0
    while True:
        found = _FIELD.match(line, at)
        if found is None:
            raise file.error(
                f"character {at + 1}: a quotation mark is not closed or is in the middle of a value; the file is "
                "damaged or truncated, download it again",
                number,
            )
        fields.append(_token(found[1]))
        at = found.end()
        if not found[2]:
            break
    if len(fields) != expected:
        sparse = " (sparse lines are not supported: apply SparseToNonSparse in WEKA)" if line.startswith("{") else ""
        raise file.error(f"{len(fields)} values, but there are {expected} attributes{sparse}", number)
    return fields


def write_arff(bags: Bags, path: Path) -> None:
    """Write relational ARFF with nominal labels, or numeric ones if labels are fractions."""
    ids, found = _format.ids_and_labels(bags, "ARFF", needs_labels=True)
    labels = found or []
    fractions = np.asarray(bags.labels).dtype.kind == "f" and any("." in text or "e" in text for text in labels)
    kind = "numeric" if fractions else "{" + ",".join(map(_quote, dict.fromkeys(labels))) + "}"
    odd = next((name for name in (*bags.names, *ids, *labels) if re.search(r"[\x00-\x08\x0b-\x1f]", name)), None)
    if odd is not None:
        raise InputError(f"{odd!r} contains a control character, which ARFF does not allow: rename it or write CSV.")
    lines = [
        f"@relation {_quote(bare_name(path).split('.')[0] or 'bags')}",
        "",
        "@attribute bag_id {" + ",".join(map(_quote, ids)) + "}",
        "@attribute bag relational",
        *(f"  @attribute {_quote(name)} numeric" for name in bags.names),
        "@end bag",
        f"@attribute class {kind}",
        "",
        "@data",
    ]
    for name, label, instances in zip(ids, labels, bags, strict=True):
        rows = (",".join(_format.number_text(value) or "?" for value in row) for row in instances.tolist())
        joined = r"\n".join(rows)
        lines.append(f'{_quote(name)},"{joined}",{_quote(label)}')
    write_text(path, "\n".join(lines) + "\n")


def _quote(text: str) -> str:
    if re.fullmatch(r"[\w.+-]+", text, re.ASCII) and not text.startswith("?"):
        return text
    escaped = text.replace("\\", r"\\").replace("'", r"\'").replace("\n", r"\n").replace("\t", r"\t")
    return f"'{escaped}'"


FORMATS["arff"] = Format(
    name="arff",
    title="relational ARFF",
    suffixes=(".arff",),
    read=read_arff,
    write=write_arff,
    head=r"(?i)\s*@relation",
    columns=arff_columns,
)
