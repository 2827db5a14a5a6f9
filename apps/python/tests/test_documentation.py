# SPDX-License-Identifier: Apache-2.0
"""Everything public says what it is, and the page's code runs."""
import enum
import inspect
import pathlib
import re

import pytest

import npusim

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "python.md"


def public():
    for name in npusim.__all__:
        thing = getattr(npusim, name)
        yield name, thing
        if inspect.ismodule(thing):
            for member in thing.__all__:
                yield f"{name}.{member}", getattr(thing, member)
        if inspect.isclass(thing) and not issubclass(thing, enum.Enum):
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", value


def callables():
    for name, thing in public():
        if inspect.isclass(thing):
            thing = vars(thing).get("__init__")
        if isinstance(thing, (staticmethod, classmethod)):
            thing = thing.__func__
        if inspect.isfunction(thing):
            yield name, thing


def text_of(name):
    """The documentation of a name, and of the class for its constructor."""
    thing = npusim
    for part in name.split("."):
        thing = inspect.getattr_static(thing, part)
    if isinstance(thing, (staticmethod, classmethod)):
        thing = thing.__func__
    return inspect.getdoc(thing) or ""


@pytest.mark.parametrize("name", [name for name, thing in public()
                                  if not inspect.ismemberdescriptor(thing)])
def test_public_names_say_what_they_are(name):
    text = text_of(name)
    assert len(text.split()) >= 4, text
    assert text.split("\n")[0][-1] in ".:", text


@pytest.mark.parametrize("name, function", list(callables()))
def test_parameters_are_described(name, function):
    if name in INTERNALLY_MADE:
        return
    text = text_of(name)
    if "as `input()`" in text.lower():
        text += text_of("input")
    for parameter in inspect.signature(function).parameters:
        if parameter not in ("self", "cls"):
            assert re.search(rf"\b{parameter}\b", text), parameter


# Made by others: their constructors are not for users.
INTERNALLY_MADE = {"Orchestrator", "Device", "DeviceMemory", "HostMemory", "ManagedMemory", "Stream",
                   "Event", "Ticket", "Argument"}


def test_all_is_all():
    found = {name for name, value in vars(npusim).items()
             if not name.startswith("_") and (name in ("ops", "scene") or not inspect.ismodule(value))}
    assert found == set(npusim.__all__)
    assert sorted(npusim.__all__) == sorted(set(npusim.__all__))


def blocks():
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)


def outputs():
    return re.findall(r"^```python\n(?:.*?)^```\n+(?:```\n(.*?)^```)?", PAGE.read_text(), re.S | re.M)


def test_every_block_of_the_page_is_python():
    assert PAGE.read_text().count("```python") == len(blocks()) >= 5


@pytest.mark.parametrize("index", range(len(blocks())))
def test_the_page_runs(script, index, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = script(blocks()[index])
    expected = outputs()[index]
    if expected:
        assert printed == expected
