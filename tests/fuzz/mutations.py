"""Seeded mutations of bytes, text, JSON, lines of JSON and archives of arrays."""

import io
import json
import re
import zipfile

import numpy as np

EXTREME_NUMBERS = [
    *(b"0 -0 1 -1 2 1e308 -1e308 1e309 1e999 5e-324 1e-308 nan NaN inf -inf 1e 0x10 1_000 1,5 .5 5. +1".split()),
    *(b"2147483647 2147483648 -2147483649 4294967296 9007199254740993 9223372036854775807".split()),
    *(b"9223372036854775808 18446744073709551616 123456789012345678901234567890 1000000000 999999999999".split()),
    b"9" * 400,
    b"",
    b" ",
    b"?",
]
TOKENS = [
    *EXTREME_NUMBERS,
    *(b"\" ' , ; : \t \n \r \r\n \n\n \\ \\n % # @ { } [ ] ( ) = | \x00 \x0b \x1f \x7f \x85 \xff \xfe".split(b" ")),
    *(word.encode() for word in ["\u2028", "\xa0", "٣", "é", "深", "\ufeff", "😀"]),
    *(b"Label label LABEL bag Bag instance_label class y x f1 null none None true False".split()),
    b"a" * 5000,
]
WORDS_OF_SIZE = [0, 1, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 24]
_TOKEN = re.compile(rb"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?|\w+", re.ASCII)


def mutate_bytes(rng, content):
    """Change some bytes, as a bad disk, a bad cable or a bad person would."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        if not data:
            return b""
        at = rng.randrange(len(data))
        kind = rng.randrange(8)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.choice([0, 255, 127, 128, rng.randrange(256)])
        elif kind == 2:
            del data[at : at + rng.choice([1, 2, 4, 8, 100, len(data)])]
        elif kind == 3:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 4, 8])))
        elif kind == 4:
            piece = data[at : at + rng.choice([1, 8, 64, 512])]
            place = rng.randrange(len(data))
            data[place:place] = piece
        elif kind == 5:
            size = rng.choice([1, 2, 4, 8])
            number = rng.choice(WORDS_OF_SIZE) & ((1 << 8 * size) - 1)
            data[at : at + size] = number.to_bytes(size, rng.choice(["little", "big"]))
        elif kind == 6:
            data = data[:at]
        else:
            other = rng.randrange(len(data))
            data[at], data[other] = data[other], data[at]
    return bytes(data)


def mutate_text(rng, content):
    """Change some words and lines."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        kind = rng.randrange(7)
        if kind == 0:
            content = mutate_bytes(rng, content)
        elif kind in (1, 2):
            words = list(_TOKEN.finditer(content))
            if words:
                word = rng.choice(words)
                content = content[: word.start()] + rng.choice(TOKENS) + content[word.end() :]
        elif kind == 3:
            at = rng.randrange(len(content) + 1)
            content = content[:at] + rng.choice(TOKENS) + content[at:]
        else:
            lines = content.split(b"\n")
            one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            if kind == 4:
                del lines[one]
            elif kind == 5:
                lines.insert(other, lines[one])
            else:
                lines[one], lines[other] = lines[other], lines[one]
            content = b"\n".join(lines)
    return content


def mutate_json(rng, content):
    """Change some values of a JSON document, or its text."""
    if rng.random() < 0.15:
        return mutate_text(rng, content)
    document = json.loads(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = [*_places(document)]
        if not places:
            break
        holder, key = rng.choice(places)
        kind = rng.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, list):
            holder.insert(key, holder[key])
        elif kind == 2:
            other, place = rng.choice(places)
            if _plain(holder, key) and _plain(other, place):
                holder[key], other[place] = other[place], holder[key]
        elif kind == 3 and isinstance(holder, dict):
            holder[rng.choice(["x", "", key.upper(), key + " "])] = holder.pop(key)
        else:
            holder[key] = _odd_value(rng, holder[key])
    text = json.dumps(document)
    if rng.random() < 0.1 and text.startswith('{"'):  # a key twice
        text = f"{{{text[1 : text.index(':')]}: {json.dumps(_odd_value(rng, 1))}, {text[1:]}"
    return text.encode()


def mutate_lines(rng, content):
    """Change some of the lines, each of which is JSON, or their order."""
    if rng.random() < 0.2:
        return mutate_text(rng, content)
    lines = content.split(b"\n")
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind == 0:
            del lines[at : at + 1]
            lines = lines or [b""]
        elif kind == 1:
            lines.insert(rng.randrange(len(lines) + 1), lines[at])
        elif kind == 2:
            lines[at] = b"[" * rng.choice([50, 900, 100_000]) + lines[at]
        elif lines[at].startswith(b"{"):
            lines[at] = _nested_or_changed(rng, lines[at])
    return b"\n".join(lines)


def _nested_or_changed(rng, line):
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if document and rng.random() < 0.15:
        document[rng.choice(list(document))] = json.loads("[" * 900 + "]" * 900)
        return json.dumps(document).encode()
    return mutate_json(rng, line)


def mutate_arrays(rng, content):
    """Change the arrays of an archive, their names, or how it is packed."""
    if rng.random() < 0.4:
        return mutate_bytes(rng, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(list(members))
        kind = rng.randrange(6)
        if kind == 0:
            del members[name]
            if not members:
                break
        elif kind == 1:
            members[rng.choice(["x", "../x.npy", name.upper(), "a" * 300, "\u00e9.npy"])] = members[name]
        elif kind == 2:
            members[name] = mutate_bytes(rng, members[name])
        elif kind == 3:
            members[name] = members[name].replace(b"(", b"(999999999999, ", 1)
        else:
            members[name] = _odd_array(rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice([zipfile.ZIP_STORED] * 4 + [zipfile.ZIP_DEFLATED])) as archive:
        for name, each in members.items():
            archive.writestr(name, each)
    return packed.getvalue()


def _odd_array(rng):
    values = rng.choice([1.0, -1, 2**62, float("nan"), True, "x\ud800", b"x", 1j, None, {"a": 1}, "9999-99", [[1, 2]]])
    array = np.array(values, dtype=rng.choice([None, None, object]))
    array = np.resize(array, rng.choice([(), (0,), (1,), (7,), (3, 4), (2, 0, 3)]))
    raw = io.BytesIO()
    np.save(raw, array, allow_pickle=True)
    return raw.getvalue()


def _odd_value(rng, value):
    if isinstance(value, str) and rng.random() < 0.4:
        at = rng.randrange(len(value) + 1)
        return (
            value[:at]
            + rng.choice(["\ud800", "\udfff", "\0", "\u2028", "\n", '"', "\\", "<b>", "é" * 300])
            + value[at:]
        )
    if rng.random() < 0.2:  # of another type
        return rng.choice([[value], {"x": value}, str(value), [value] * 3, repr(value)])
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.5:
        real = float(max(min(value, 1e308), -1e308))  # whole numbers can be too large for a float
        return rng.choice([value + 1, -value, real * 1e300, real / 1e300, 0, real, f"{value}", [value]])
    return rng.choice(
        [
            *(None, True, False, 0, -1, 1, 2, 0.5, 10**9, 10**12, 2**63, 2**70, 10**400, 1e308, -1e308, 5e-324),
            *(float("nan"), float("inf"), "nan", "inf", "", "x", "a" * 5000, "<U999999999", "object", "\ud800"),
            *([], {}, [[]], [None], ["x"], {"x": 1}, {"array": [[1e308]]}, [1] * 3000, {"not_saved": "x"}),
            _deep(rng.choice([5, 60, 300])),
        ]
    )


def _deep(levels):
    value = {"is": ["x1", "low"]}
    for _ in range(levels):
        value = {"not": value}
    return value


def _places(tree):
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])


def _plain(holder, key):
    return (key in holder if isinstance(holder, dict) else key < len(holder)) and not isinstance(
        holder[key], dict | list
    )
