"""Reads the token of clients from a file or the environment, not from the command line, which other users can see."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "SCHEDPROOF_TOKEN"

SHORTEST = 16
"""The minimum of characters; shorter tokens can be guessed."""


class BadToken(Exception):
    """The token is unreadable or unsuitable. The message is one line, and does not contain the token."""


def read_token(file: str | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """The token in ``file``, else in the environment; None if there is none.

    Raises:
        BadToken: the file is unreadable, or its content is not a token.
    """
    if file is None:
        if VARIABLE not in environment:
            return None
        return _checked(environment[VARIABLE], VARIABLE)
    try:
        with Path(file).open("rb") as opened:
            text = opened.read(4096).decode("ascii")
    except UnicodeDecodeError:
        text = " "
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it cannot be a file name"
        raise BadToken(f"--token-file: cannot read {file!r}: {reason}; name a file that has the token in it") from None
    return _checked(text, repr(file))


def _checked(text: str, where: str) -> str:
    token = text.strip()
    if len(token) < SHORTEST or not all("!" <= character <= "~" for character in token):
        raise BadToken(
            f"{where}: the token is not one word of at least {SHORTEST} visible ASCII characters; "
            f"make one with: python3 -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return token
