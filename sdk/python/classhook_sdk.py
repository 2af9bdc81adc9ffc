"""The SDK for plugins in Python: a base class `Plugin`, and `export`, which makes the component's exports from a subclass.

The functions of the host are in `wit_world.imports`, which componentize-py generates from `wit/plugin.wit`. Files, the
clock, the network and the environment are not available; output of `print` becomes lines of the log.
"""

import builtins
import difflib
import io
import json
import os
import sys
import time

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import host
from wit_world.imports.host import Level
from wit_world.imports.types import Refusal

# Levels of `host.log`.
ERROR, WARN, INFO, DEBUG, TRACE = Level.ERROR, Level.WARN, Level.INFO, Level.DEBUG, Level.TRACE


def _point(kind, method, bci=0, target=0):
    return kind << 48 | target << 32 | bci << 16 | method


class Point:
    """Insertion points: the points of a method, by its index and the bci of an instruction."""

    @staticmethod
    def entry(method):
        """The method entry, reached once per invocation."""
        return _point(0, method)

    @staticmethod
    def before(method, bci):
        """Before an instruction, on every path to it."""
        return _point(1, method, bci)

    @staticmethod
    def fall_through(method, bci):
        """Behind an instruction, when it completes normally and the next instruction follows."""
        return _point(2, method, bci)

    @staticmethod
    def jump(method, bci, target):
        """On the jump of an instruction to a target."""
        return _point(3, method, bci, target)

    @staticmethod
    def unwind(method):
        """Where an exception leaves the method."""
        return _point(4, method)

    @staticmethod
    def instruction(method, bci):
        """The instruction itself, for edits that change it."""
        return _point(5, method, bci)

    @staticmethod
    def parts(packed):
        """Returns the kind, method, bci and target of an insertion point."""
        return packed >> 48, packed & 0xFFFF, packed >> 16 & 0xFFFF, packed >> 32 & 0xFFFF


def instruction(packed):
    """Returns the bci, opcode and operand of an instruction of `instructions`."""
    operand = packed >> 32
    return packed & 0xFFFF, packed >> 16 & 0xFF, operand - (1 << 32) if operand >> 31 else operand


def line(packed):
    """Returns the bci and number of an entry of `lines`."""
    return packed & 0xFFFF, packed >> 16


class Settings:
    """The settings in the plugin's table `config`."""

    def __init__(self, values):
        self._values = values
        self._known = []

    def texts(self, name):
        """Returns a list of texts; a single text becomes a list, a missing one is empty."""
        value = self._value(name, [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise ValueError(f"expected a text or a list of texts for `{name}`")
        return value

    def number(self, name, default):
        """Returns a whole number."""
        value = self._value(name, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"expected a whole number for `{name}`")
        return value

    def flag(self, name, default):
        """Returns true or false."""
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise ValueError(f"expected true or false for `{name}`")
        return value

    def _value(self, name, default):
        self._known.append(name)
        return self._values.get(name, default)

    def _check(self):
        for name in self._values:
            if name not in self._known:
                nearest = difflib.get_close_matches(name, self._known, 1)
                expected = f"did you mean `{nearest[0]}`?" if nearest else f"expected {', '.join(self._known) or 'none'}"
                raise ValueError(f"there is no setting `{name}`; {expected}")


class Plugin:
    """The base class of a plugin."""

    def configure(self, settings):
        """Called once; returns selectors of classes, an empty list for all."""
        return []

    def transform(self, of, to):
        """Called for each class; adds edits to the plan `to`. After an exception, the class stays unchanged."""


def export(kind):
    """Makes the component's `Transformer` from a subclass of `Plugin`."""
    plugin = kind()

    class Transformer(exports.Transformer):
        def configure(self, config):
            def configured():
                settings = Settings(json.loads(config))
                selectors = plugin.configure(settings)
                settings._check()
                return selectors

            return _explained(configured)

        def transform(self, of, to):
            _explained(lambda: plugin.transform(of, to))

    return Transformer


def _explained(call):
    """Converts an exception to a text for the user, with the plugin's line."""
    try:
        return call()
    except Exception as error:
        text = _text(error)
    # Not in the handler: its exception would keep the plugin's borrowed handles alive.
    raise Err(text)


def _text(error):
    place = _place(error.__traceback__)
    if not isinstance(error, Err):
        return f"{type(error).__name__}: {error}{place}"
    failure = error.value
    if not isinstance(failure, Refusal):
        return f"{failure}{place}"
    return "; ".join(part for part in [f"{failure.code}: {failure.message}{place}", failure.help] if part)


def _place(frame):
    """Returns the plugin's line; the module `traceback` would try to read the source."""
    place = ""
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        if file != _place.__code__.co_filename:
            place = f" ({file.rsplit('/')[-1]}:{frame.tb_lineno})"
        frame = frame.tb_next
    return place


class _Log(io.TextIOBase):
    """Converts printed output to lines of the log."""

    def __init__(self, level):
        self._level = level
        self._line = ""

    def write(self, text):
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            host.log(self._level, line)
        return len(text)


def _without(module, names, what):
    """Replaces functions that would trap by one that names the missing feature."""

    def refuse(*_, **__):
        raise RuntimeError(f"a plugin has no {what}")

    for name in names:
        if hasattr(module, name):
            setattr(module, name, refuse)


_without(builtins, ["open", "input"], "files")
_without(io, ["open", "open_code"], "files")
_without(os, ["open", "listdir", "scandir", "stat", "lstat", "access", "mkdir", "remove", "rename", "getcwd"], "files")
_without(os, ["urandom"], "random numbers but those of the module `random`, which are the same in each run")
_without(time, ["time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "sleep"], "clock")
sys.stdout, sys.stderr = _Log(INFO), _Log(WARN)
