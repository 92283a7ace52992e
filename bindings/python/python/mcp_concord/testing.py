"""Assertions on recordings, for tests in any framework. Their failures show the finding in its place."""

from __future__ import annotations

import os
from typing import List, Union

from ._api import Recording, Words, check, diff
from ._errors import ConcordError
from ._model import Comparison, Finding, Report

__all__ = ["assert_conforms", "assert_same_session"]

#: How many findings are shown in full; the rest is counted.
_SHOWN = 10


def assert_same_session(
    a: Recording,
    b: Recording,
    *,
    ignore: Words = (),
    ids: str = "exact",
    unordered_answers: bool = False,
    ignore_refusals: bool = False,
    ignore_senders: bool = False,
    redacted: Union[str, None] = None,
) -> Comparison:
    """Fails unless two recordings, in any formats, are the same session. The options are those of :func:`mcp_concord.diff`.

    :returns: what was compared.
    """
    __tracebackhide__ = True
    found = diff(
        a,
        b,
        ignore=ignore,
        ids=ids,
        unordered_answers=unordered_answers,
        ignore_refusals=ignore_refusals,
        ignore_senders=ignore_senders,
        redacted=redacted,
        show=_SHOWN,
    )
    if not found.same:
        raise AssertionError(f"A is {_named(a)}, B is {_named(b)}\n\n{found}")
    return found


def assert_conforms(
    recording: Recording,
    *,
    require: Union[str, "os.PathLike[str]", None] = None,
    select: Words = (),
    ignore: Words = (),
    strict: bool = False,
) -> Report:
    """Fails unless a recording keeps to the specification.

    :param require: hold it to a frozen set of rules: the name of a revision, or the path of a set. Without it the revision is the
        one that the session shows.
    :param select: without ``require``, only these rules.
    :param ignore: without ``require``, not these rules.
    :param strict: warnings count as errors.
    :returns: the report.
    """
    __tracebackhide__ = True
    try:
        report = check(recording, require=require, select=select, ignore=ignore, strict=strict)
    except ConcordError as error:
        if error.code == "other-revision":
            raise AssertionError(str(error)) from None
        raise
    if not report.ok:
        raise AssertionError(_told(recording, report, require is not None, strict))
    return report


def _told(recording: Recording, report: Report, required: bool, strict: bool) -> str:
    # Of a frozen set every rule counts, and else what `check` fails for.
    verdicts = ("fail", "warn") if required or strict else ("fail",)
    guilty: List[Finding] = [finding for finding in report if finding.verdict in verdicts]
    lines = [f"{_named(recording)} does not conform to {report.revision or 'the specification'}"]
    lines += [f"\n{finding}" for finding in guilty[:_SHOWN]]
    if len(guilty) > _SHOWN:
        lines.append(f"\nand {len(guilty) - _SHOWN} more findings")
    if report.stopped is not None:
        stop = report.stopped
        lines.append(f"\nreading stopped at line {stop.line} {stop.pointer}: {stop.message} [{stop.clause}]; the rest is not judged")
    return "\n".join(lines)


def _named(recording: Recording) -> str:
    if isinstance(recording, (str, os.PathLike)):
        return os.fspath(recording)
    return f"a recording of {len(bytes(recording))} bytes"
