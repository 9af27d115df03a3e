"""SVG and PNG images that graphviz draws from DOT. Each carries the hash of its DOT.

The bytes of an image depend on the installed fonts and graphviz version, so a comparison uses the hash.
An SVG also carries the hash of its own text. This shows whether the SVG was changed after graphviz drew it.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib

import graphviz

from .errors import DiagramError

KEY = "schedproof-dot-sha256"
SEAL = "schedproof-svg-sha256"
_PNG = b"\x89PNG\r\n\x1a\n"
_SVG_COMMENT = re.compile(rf"<!-- {KEY}: ([0-9a-f]{{64}}) -->")


def fingerprint(text: str) -> str:
    """The SHA-256 of a DOT or SVG text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def svg(dot: str) -> str:
    """``dot`` drawn as SVG. Its last two lines are comments with the hash of ``dot`` and of the SVG above them.

    Raises:
        DiagramError: there is no ``dot`` program.
    """
    text = _draw(dot, "svg").decode()
    return sealed(f"{text.rstrip()}\n<!-- {KEY}: {fingerprint(dot)} -->\n")


def sealed(svg: str) -> str:
    """``svg`` followed by a comment with its own hash."""
    return f"{svg}<!-- {SEAL}: {fingerprint(svg)} -->\n"


def is_intact(svg: str) -> bool:
    """Whether ``svg`` ends in the hash of its own text, as :func:`svg` writes it."""
    before, _, _ = svg.rpartition(f"<!-- {SEAL}: ")
    return svg == sealed(before)


def svg_fingerprint(text: str) -> str | None:
    """The hash of the DOT that an SVG carries; None if it carries none."""
    match = _SVG_COMMENT.search(text)
    return match and match.group(1)


def png(dot: str) -> bytes:
    """``dot`` drawn as PNG, with its hash in a ``tEXt`` chunk.

    Raises:
        DiagramError: there is no ``dot`` program.
    """
    image = _draw(dot, "png")
    end = 8 + 12 + struct.unpack(">I", image[8:12])[0]  # the header chunk comes first
    return image[:end] + _text_chunk(fingerprint(dot)) + image[end:]


def png_fingerprint(image: bytes) -> str | None:
    """The hash that a PNG carries; None if it carries none or the bytes are not a PNG."""
    if not image.startswith(_PNG):
        return None
    at = len(_PNG)
    while at + 12 <= len(image):
        length, kind = struct.unpack(">I4s", image[at : at + 8])
        data = image[at + 8 : at + 8 + length]
        if kind == b"tEXt" and data.startswith(KEY.encode() + b"\0"):
            return data.split(b"\0", 1)[1].decode("latin-1")
        at += 12 + length
    return None


def _text_chunk(text: str) -> bytes:
    body = b"tEXt" + KEY.encode() + b"\0" + text.encode("latin-1")
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def _draw(dot: str, kind: str) -> bytes:
    try:
        return bytes(graphviz.pipe("dot", kind, dot.encode(), quiet=True))
    except graphviz.ExecutableNotFound:
        raise DiagramError(
            f"cannot draw {kind}: the program 'dot' is missing; install graphviz (Debian: apt-get install graphviz), "
            "or choose the format dot or mermaid, which need no program"
        ) from None
    except graphviz.CalledProcessError as error:
        lines = (error.stderr or b"").decode(errors="replace").strip().splitlines()
        raise DiagramError(
            f"cannot draw {kind}: 'dot' failed: {lines[0] if lines else error}; choose the format dot or mermaid"
        ) from None
