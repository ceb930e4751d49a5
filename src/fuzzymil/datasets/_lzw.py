"""Decompression of ``.Z`` files (Unix compress), which the UCI archive still uses for old data."""

from __future__ import annotations

_MAGIC = b"\x1f\x9d"
_CLEAR = 256


def decompress(packed: bytes) -> bytes:
    """Decompress a ``.Z`` file (adaptive Lempel-Ziv-Welch coding with codes of 9 to 16 bits).

    Examples
    --------
    >>> decompress(bytes.fromhex("1f9d906a848801"))
    b'jBb'
    """
    if packed[:2] != _MAGIC or len(packed) < 3:
        raise ValueError("not a .Z file: it does not begin with the bytes 1f 9d")
    widest, can_clear = packed[2] & 0x1F, bool(packed[2] & 0x80)
    if not 9 <= widest <= 16:
        raise ValueError(f"codes of up to {widest} bits, expected 9 to 16")
    first_free = _CLEAR + can_clear
    table = [bytes([value]) for value in range(256)] + [b""] * can_clear
    out: list[bytes] = []
    before = b""
    width = 9
    begin = at = 24  # in bits; `begin` is where codes of this width start
    end = 8 * len(packed)
    while True:
        if len(table) >= 1 << width and width < widest:
            begin = at = _boundary(begin, at, width)
            width += 1
        if at + width > end:
            return b"".join(out)
        code = (int.from_bytes(packed[at >> 3 : (at >> 3) + 3], "little") >> (at & 7)) & ((1 << width) - 1)
        at += width
        if code == _CLEAR and can_clear:
            begin = at = _boundary(begin, at, width)
            width = 9
            del table[first_free:]
            before = b""
            continue
        if code < len(table):
            found = table[code]
        elif code == len(table) and before:
            found = before + before[:1]  # the code that is being defined
        else:
            raise ValueError(f"code {code} at bit {at - width} is unknown: the file is damaged")
        out.append(found)
        if before and len(table) < 1 << widest:
            table.append(before + found[:1])
        before = found


def _boundary(begin: int, at: int, width: int) -> int:
    # Codes are written in groups of eight, and the last group is padded before the width changes.
    return at + (begin - at) % (8 * width)
