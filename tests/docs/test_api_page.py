"""The page on the Python API has what ``schedproof.api`` says is public, once each, and every public thing says what it is."""

from __future__ import annotations

import inspect
import re
from collections import Counter

import pytest

from schedproof import api, testing
from schedproof.model import lang
from schedproof.model.lang import channels
from tests.support.places import REFERENCE

PAGE = (REFERENCE / "api.md").read_text("utf-8")
PUBLIC = [(module, name) for module in (api, lang, channels, testing) for name in module.__all__]


def test_every_public_name_is_on_the_page_once() -> None:
    shown = Counter(re.findall(r"^\.\. auto\w+:: schedproof\.api\.(\w+)$", PAGE, re.MULTILINE))
    assert set(shown.values()) == {1}
    assert set(shown) == set(api.__all__)


def test_every_public_module_is_on_the_page() -> None:
    """With all its members: a name that is added needs no line."""
    assert set(re.findall(r"automodule:: (\S+)", PAGE)) == {lang.__name__, channels.__name__, testing.__name__}


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=lambda each: getattr(each, "__name__", each))
def test_what_is_public_says_what_it_is(module: object, name: str) -> None:
    value = getattr(module, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        text = inspect.getdoc(value) or ""
        assert text and not text.startswith(f"{name}("), "a dataclass without a docstring has its signature instead"
