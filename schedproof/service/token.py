"""The token that clients bring: read from a file or the environment, never from the command line, which others can see."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "SCHEDPROOF_TOKEN"

SHORTEST = 16
"""Characters; fewer can be guessed."""


class BadToken(Exception):
    """No token can be read, or it is a bad one. The message is one line, and does not have the token in it."""


def read_token(file: str | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """The token of ``file``, else of the environment, else None.

    Raises:
        BadToken: the file cannot be read, or what it says is no token.
    """
    if file is None:
        if VARIABLE not in environment:
            return None
        return _checked(environment[VARIABLE], VARIABLE)
    try:
        with Path(file).open("rb") as opened:
            said = opened.read(4096).decode("ascii")
    except UnicodeDecodeError:
        said = " "
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it cannot be a file name"
        raise BadToken(f"--token-file: cannot read {file!r}: {reason}; name a file that has the token in it") from None
    return _checked(said, repr(file))


def _checked(said: str, where: str) -> str:
    token = said.strip()
    if len(token) < SHORTEST or not all("!" <= character <= "~" for character in token):
        raise BadToken(
            f"{where}: the token is not one word of at least {SHORTEST} visible ASCII characters; "
            f"make one with: python3 -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return token
