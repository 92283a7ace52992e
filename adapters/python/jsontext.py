"""JSON text, exactly: what a transcript says, not what a float or a map would make of it.

A value is one of: `None`, `True`, `False`, `str`, `Number` (keeps its text), `list`, `dict`, and `TwiceNamed`, the dict
of an object that names a member twice and keeps every pair. A lone surrogate escape stays a lone surrogate in the `str`.

The standard library's scanner does the work; where it gives up (nesting deeper than its recursion, or text that is no
JSON) the loop below reads the text again, without recursion, and says whether the text was broken or merely cut off.

This module knows nothing of messages, formats or files.
"""

import json
import re
from collections import Counter
from decimal import MAX_EMAX, MAX_PREC, Context, Decimal
from json.decoder import scanstring
from json.encoder import encode_basestring_ascii as quoted


class JsonError(ValueError):
    """Text that is not JSON. `truncated`: all of it is right, and it ends too early."""

    def __init__(self, why, at, truncated=False):
        super().__init__(f"{why} at character {at}")
        self.truncated = truncated


class Number:
    """A number by its text. Two are equal when they denote the same decimal number, however they are spelled."""

    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return f"Number({self.text})"

    def __eq__(self, other):
        if not isinstance(other, Number) or self.text == other.text:
            return isinstance(other, Number)
        if self.text.isdigit() and other.text.isdigit():  # neither begins with a zero that does not count
            return False
        return self.decimal() == other.decimal()

    def __hash__(self):
        return hash(self.decimal())

    def decimal(self):
        """(negative, digits, exponent): digits have no zero at either end, and the zeros are all one number."""
        mantissa, _, exponent = self.text.lower().partition("e")
        whole, _, fraction = mantissa.lstrip("-").partition(".")
        digits = (whole + fraction).lstrip("0")
        significant = digits.rstrip("0")
        if not significant:
            return False, "", 0
        shift = len(digits) - len(significant) - len(fraction)
        return mantissa.startswith("-"), significant, _sum(exponent or "0", shift)


def _sum(text, shift):
    if len(text) < 4000:  # Python refuses longer texts as an int, because it would be slow
        return int(text) + shift
    exact = Context(prec=min(len(text) + 25, MAX_PREC), Emax=MAX_EMAX)
    return exact.add(Decimal(text), Decimal(shift))


class TwiceNamed(dict):
    """An object that names a member twice. As a dict it has the last of each; `pairs` has them all, in order."""

    def __init__(self, pairs):
        super().__init__(pairs)
        self.pairs = pairs

    def twice(self):
        return {name for name, count in Counter(name for name, _ in self.pairs).items() if count > 1}


def _object(pairs):
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else TwiceNamed(pairs)


def _no_constant(name):
    raise JsonError(f"{name} is not JSON", 0)


_FAST = json.JSONDecoder(object_pairs_hook=_object, parse_int=Number, parse_float=Number, parse_constant=_no_constant)


def parse(text):
    """The value that the text holds, or JsonError."""
    try:
        return _FAST.decode(text)
    except (ValueError, RecursionError):
        return parse_without_recursion(text)


# --- the careful way ----------------------------------------------------------------------------------------------

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NUMBER_BEGUN = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.|(?:\.[0-9]+)?[eE][-+]?))?\Z")
_STRING_BEGUN = re.compile(
    r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z'
)
_WORDS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


def parse_without_recursion(text):
    """As `parse`, slower, at any depth, and with an error that tells broken text from text that ends too early."""
    containers, names = [], []  # the open arrays and objects; for an object the name whose value is due, else None
    at = _skip(text, 0)
    while True:
        first = text[at : at + 1]
        if first == "[" or first == "{":
            at = _skip(text, at + 1)
            if text[at : at + 1] != ("]" if first == "[" else "}"):
                containers.append([])
                name, at = (None, at) if first == "[" else _name(text, at)
                names.append(name)
                continue
            value, at = [] if first == "[" else {}, at + 1
        else:
            value, at = _scalar(text, at)

        # A value is complete: give it to what is open around it, and close what ends here.
        while True:
            at = _skip(text, at)
            if not containers:
                if at < len(text):
                    raise JsonError("more text after the value", at)
                return value
            is_array = names[-1] is None
            containers[-1].append(value if is_array else (names[-1], value))
            mark = text[at : at + 1]
            if mark == ",":
                at = _skip(text, at + 1)
                if not is_array:
                    names[-1], at = _name(text, at)
                break
            if mark != ("]" if is_array else "}"):
                raise _wrong(text, at, "a comma or a closing bracket is due")
            names.pop()
            value = containers.pop()
            if not is_array:
                value = _object(value)
            at += 1


def _skip(text, at):
    return _SPACE.match(text, at).end()


def _name(text, at):
    if text[at : at + 1] != '"':
        raise _wrong(text, at, "a member name is due")
    name, at = _string(text, at)
    at = _skip(text, at)
    if text[at : at + 1] != ":":
        raise _wrong(text, at, "a colon is due")
    return name, _skip(text, at + 1)


def _scalar(text, at):
    first = text[at : at + 1]
    if first == '"':
        return _string(text, at)
    if first in _WORDS:
        word, value = _WORDS[first]
        if text.startswith(word, at):
            return value, at + len(word)
        raise JsonError("no JSON value", at, truncated=word.startswith(text[at:]))
    number = _NUMBER.match(text, at)
    if number and not _NUMBER_BEGUN.match(text, at):
        return Number(number.group()), number.end()
    if first and _NUMBER_BEGUN.match(text, at):
        raise JsonError("a number is cut off", at, truncated=True)
    raise _wrong(text, at, "a value is due")


def _string(text, at):
    try:
        return scanstring(text, at + 1, True)
    except ValueError:
        raise JsonError("no JSON string", at, truncated=bool(_STRING_BEGUN.match(text, at))) from None


def _wrong(text, at, why):
    return JsonError(why, at, truncated=at >= len(text))


# --- writing ------------------------------------------------------------------------------------------------------


def dump(value):
    """The value on one line of ASCII; numbers in their own text, twice-named members twice. No recursion."""
    out, done = [], []  # `done` has the text so far in long pieces, since a million short ones take their room
    around = []  # the containers that wait until the one in hand is written
    items, in_object, close, comma = iter((value,)), False, "", ""
    while True:
        for item in items:
            if in_object:
                name, item = item
                out.append(f"{comma}{quoted(name)}:")
            elif comma:
                out.append(comma)
            comma = ","
            kind = type(item)
            if kind is str:
                out.append(quoted(item))
            elif kind is Number:
                out.append(item.text)
            elif kind is dict or kind is TwiceNamed:
                around.append((items, in_object, close))
                items, in_object, close = iter(item.items() if kind is dict else item.pairs), True, "}"
                out.append("{")
                comma = ""
                break
            elif kind is list:
                around.append((items, in_object, close))
                items, in_object, close = iter(item), False, "]"
                out.append("[")
                comma = ""
                break
            elif kind is int:  # our own counts, such as `answers`; never a transcript's number
                out.append(str(item))
            elif item is None:
                out.append("null")
            elif kind is bool:
                out.append("true" if item else "false")
            else:
                raise TypeError(f"no JSON value: {item!r}")
        else:
            out.append(close)
            comma = ","
            if not around:
                return "".join(done + out)
            items, in_object, close = around.pop()
            if len(out) > 10_000:
                done.append("".join(out))
                out.clear()
