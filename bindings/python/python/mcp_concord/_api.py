"""The functions that people call."""

from __future__ import annotations

import json
import os
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from . import _core
from ._errors import ConcordWarning
from ._model import Comparison, Difference, Finding, Place, Report, Required, Stopped

#: A recording: a path, or its bytes.
Recording = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]
#: A list of words, or one word.
Words = Union[str, Iterable[str]]


def read_text(
    recording: Recording,
    *,
    name: Optional[str] = None,
    format: Optional[str] = None,
    calls: bool = False,
    dialect: str = "default",
    lenient: bool = False,
) -> str:
    """The meaning of a recording as JSON text: what ``mcp-concord read`` prints.

    :param name: what to call the recording; its path, or ``<bytes>``.
    :param format: the capture format, instead of detecting it from the content.
    :param calls: only tool calls and their outcomes.
    :param dialect: the dialect of the reading contract.
    :param lenient: skip what is not a message where one belongs, with a warning for each.
    :raises ConcordError: where the recording is rejected.
    """
    name, data = _bytes(recording, name)
    text, notes = _core.read(name, data, format=format, calls=calls, dialect=dialect, lenient=lenient)
    _warn(notes)
    return text


def read(
    recording: Recording,
    *,
    name: Optional[str] = None,
    format: Optional[str] = None,
    calls: bool = False,
    dialect: str = "default",
    lenient: bool = False,
) -> Dict[str, Any]:
    """The meaning of a recording: its ``events``, or with ``calls`` its ``calls``. See :func:`read_text`."""
    name, data = _bytes(recording, name)
    text, notes = _core.read(name, data, format=format, calls=calls, dialect=dialect, lenient=lenient)
    _warn(notes)
    answer: Dict[str, Any] = _parsed(text)
    return answer


def identify(
    recording: Recording, *, name: Optional[str] = None, format: Optional[str] = None
) -> Dict[str, Any]:
    """Which transport and revision a recording shows, with the evidence. None stands for unknown.

    :raises ConcordError: where the recording is rejected.
    """
    name, data = _bytes(recording, name)
    text, notes = _core.identify(name, data, format=format)
    _warn(notes)
    answer: Dict[str, Any] = _parsed(text)
    return answer


def summary(
    recording: Recording, *, name: Optional[str] = None, format: Optional[str] = None
) -> Dict[str, Any]:
    """What is in a recording at a glance: who talked to whom, what was called, what failed, what ``check`` finds.

    :raises ConcordError: where the recording is not text or shows no format. One that ``read`` rejects has a summary that says so.
    """
    name, data = _bytes(recording, name)
    overviews: List[Dict[str, Any]] = _parsed(_core.summary(name, data, format=format))
    return overviews[0]


def check(
    recording: Recording,
    *,
    name: Optional[str] = None,
    format: Optional[str] = None,
    spec: Optional[str] = None,
    select: Words = (),
    ignore: Words = (),
    level: str = "info",
    strict: bool = False,
    profile: str = "all",
    require: Union[str, "os.PathLike[str]", None] = None,
    redacted: Words = (),
    mcp_replay_text: str = "later",
    every: bool = False,
) -> Report:
    """Is this recording right, and did both sides keep to the specification?

    :param spec: judge by this revision instead of the one that the session shows.
    :param select: only these rules: ids, prefixes of ids up to a dot, or families.
    :param ignore: not these rules.
    :param level: the least that is reported: ``must``, ``should`` or ``info``.
    :param strict: warnings count as errors.
    :param profile: whose violations: ``recorder``, ``session``, ``server``, ``client`` or ``all``.
    :param require: a frozen set of rules in place of the selection: the name of a revision, whose rules in this version are
        meant, or the path of a TOML file.
    :param redacted: markers in place of redacted values, beside ``[REDACTED]``.
    :param mcp_replay_text: the text of version 1 of mcp-replay that a trace must follow: ``first`` or ``later``.
    :param every: list rules that were kept, or that nothing called for, too.
    :raises ConcordError: where the recording is not text or shows no format, and where it is of another revision than the required
        rules. What is wrong in a recording is a finding.
    """
    name, data = _bytes(recording, name)
    if isinstance(require, os.PathLike) or (require is not None and require.endswith(".toml")):
        require = Path(require).read_text(encoding="utf-8")
    text, found, revision, messages, ok, limit, stopped, required = _core.check(
        name,
        data,
        format=format,
        spec=spec,
        select=_words(select),
        ignore=_words(ignore),
        level=level,
        strict=strict,
        profile=profile,
        require=require,
        redacted=_words(redacted),
        mcp_replay_text=mcp_replay_text,
        every=every,
    )
    return Report(
        findings=tuple(map(Finding._of, json.loads(text))),
        ok=ok,
        format=found,
        revision=revision,
        messages=messages,
        limit=limit,
        stopped=Stopped(*stopped) if stopped else None,
        required=Required(*required) if required else None,
        json=text,
    )


def diff(
    a: Recording,
    b: Recording,
    *,
    names: Tuple[Optional[str], Optional[str]] = (None, None),
    left_format: Optional[str] = None,
    right_format: Optional[str] = None,
    redacted: Optional[str] = None,
    ids: str = "exact",
    ignore: Words = (),
    unordered_answers: bool = False,
    ignore_refusals: bool = False,
    ignore_senders: bool = False,
    fold_redelivered: bool = False,
    show: int = 20,
) -> Comparison:
    """Are these two recordings, in any formats, the same session? Times, headers and event ids are never compared.

    :param redacted: a string that contains this marker equals any value.
    :param ids: whether ids must be equal (``exact``), or may be renamed one to one (``renumbered``).
    :param ignore: JSON pointers into the events that are left out; ``*`` matches any member or item.
    :param unordered_answers: leave out the order in which answers come.
    :param ignore_refusals: leave out refused requests.
    :param ignore_senders: leave out who sent an event, which is compared where both formats show it.
    :param fold_redelivered: count an SSE event that was delivered again once.
    :param show: list at most this many differences; all are counted.
    :raises ConcordError: where one of them is rejected.
    """
    (name_a, data_a), (name_b, data_b) = _bytes(a, names[0]), _bytes(b, names[1])
    same, text, notes = _core.diff(
        (name_a, name_b),
        data_a,
        data_b,
        left_format=left_format,
        right_format=right_format,
        redacted=redacted,
        ids=ids,
        ignore=_words(ignore),
        unordered_answers=unordered_answers,
        ignore_refusals=ignore_refusals,
        ignore_senders=ignore_senders,
        fold_redelivered=fold_redelivered,
        show=show,
    )
    _warn(notes)
    found = _parsed(text)
    counts = ("equal", "differ", "only_a", "only_b", "redacted", "ignored", "hidden")
    return Comparison(
        same=same,
        differences=tuple(
            Difference(it["pointer"], Place._of(it["a"]), Place._of(it["b"]), tuple(it.get("also", ())))
            for it in found["differences"]
        ),
        json=text,
        **{count: found[count] for count in counts},
    )


def convert(
    recording: Recording,
    to: str,
    *,
    name: Optional[str] = None,
    format: Optional[str] = None,
    lossy: bool = False,
    salvage: bool = False,
) -> bytes:
    """A recording in another capture format. What that cannot carry of its context is left out, with a warning for each.

    :param to: the format to write, or ``otlp-json`` for spans of OpenTelemetry.
    :param lossy: write even if the meaning changes.
    :param salvage: take what is whole of a recording that was cut off.
    :raises ConcordError: where the recording is rejected, or (``cannot-carry``) its meaning would change.
    """
    name, data = _bytes(recording, name)
    written, notes = _core.convert(name, data, to=to, format=format, lossy=lossy, salvage=salvage)
    _warn(notes)
    return written


def show(
    recording: Recording,
    output: str = "text",
    *,
    name: Optional[str] = None,
    format: Optional[str] = None,
    all: bool = False,
    first: Optional[int] = None,
    last: Optional[int] = None,
    check: bool = True,
    lenient: bool = False,
    width: int = 100,
) -> str:
    """A recording drawn as a sequence diagram, with the findings of ``check``.

    :param output: ``text``, ``svg`` or ``html``.
    :param all: fold nothing.
    :param first: draw only from this message on.
    :param last: draw only up to this message.
    :param check: draw the findings.
    :param width: how wide text is drawn, in columns.
    :raises ConcordError: where the recording is not text or shows no format. One that is rejected is drawn up to that place.
    """
    name, data = _bytes(recording, name)
    text, notes = _core.show(
        name,
        data,
        format=format,
        output=output,
        all=all,
        first=first,
        last=last,
        check=check,
        lenient=lenient,
        width=width,
    )
    _warn(notes)
    return text


def _bytes(recording: Recording, name: Optional[str]) -> Tuple[str, bytes]:
    """What to call a recording, and its bytes."""
    if isinstance(recording, bytes):
        return name or "<bytes>", recording
    if isinstance(recording, (bytearray, memoryview)):
        # A copy, since another thread may change it.
        return name or "<bytes>", bytes(recording)
    if isinstance(recording, (str, os.PathLike)):
        path = Path(recording)
        return name or str(path), path.read_bytes()
    raise TypeError(f"a recording is a path or bytes, not {type(recording).__name__}")


def _words(words: Words) -> List[str]:
    return [words] if isinstance(words, str) else list(words)


def _parsed(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=_integer)


def _integer(text: str) -> Union[int, Decimal]:
    # Python refuses to parse integers of thousands of digits, and a decimal holds them.
    return int(text) if len(text) < 4000 else Decimal(text)


def _warn(notes: List[str]) -> None:
    for note in notes:
        # At the line that called the package.
        warnings.warn(note, ConcordWarning, stacklevel=3)
