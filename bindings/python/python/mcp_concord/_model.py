"""Answers as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterator, Optional, Tuple


@dataclass(frozen=True)
class Related:
    """Another message that matters to a finding."""

    #: What it is, such as "the request".
    what: str
    line: int
    pointer: str
    snippet: str


@dataclass(frozen=True)
class Finding:
    """A rule, and what came of it at one place."""

    #: The rule's id; ``mcp-concord explain ID`` says more.
    rule: str
    #: ``fail``, ``warn`` or ``info``; ``inconclusive`` where the recording lacks the evidence; with ``every`` also ``pass`` and
    #: ``not-applicable``.
    verdict: str
    #: How much the rule binds: ``must``, ``should`` or ``info``.
    level: str
    #: Who is at fault: ``client``, ``server``, ``sender`` or ``recorder``.
    party: str
    #: The recording, as it was named.
    file: str
    #: The line, from 1; None where the verdict has no place.
    line: Optional[int]
    #: JSON pointer into the document or the line.
    pointer: Optional[str]
    #: What is wrong, or what would decide it.
    message: str
    #: JSON pointer into the text at that place, where the message is a text inside of the document.
    within: Optional[str] = None
    #: The page of the document that was broken, in the revision by which the recording was judged.
    link: Optional[str] = None
    #: What stands there, cut to a length that can be shown.
    snippet: Optional[str] = None
    #: The other message that matters.
    other: Optional[Related] = None
    #: How many more places like this were found and are not listed.
    more: int = 0

    @property
    def broken(self) -> bool:
        """Whether a rule was broken here: the verdict is ``fail``, ``warn`` or ``info``."""
        return self.verdict in ("fail", "warn", "info")

    def __str__(self) -> str:
        """The finding in its place, as in the output of a compiler."""
        kind = {"fail": "error", "warn": "warning", "info": "note"}.get(self.verdict, self.verdict)
        lines = [f"{kind}[{self.rule}]: {self.message}"]
        if self.line is not None:
            place = " ".join(part for part in (self.pointer, self.within) if part)
            lines.append(f"  --> {self.file}:{self.line} {place}".rstrip())
        if self.snippet:
            lines.append(f"    | {self.snippet}")
        if self.other is not None:
            lines.append(f"  {self.other.what}: line {self.other.line} {self.other.pointer}".rstrip())
            lines.append(f"    | {self.other.snippet}")
        if self.more:
            lines.append(f"  and {self.more} more like this")
        lines.append(f"  = {self.level}, at fault: {self.party}; mcp-concord explain {self.rule}")
        return "\n".join(lines)

    @classmethod
    def _of(cls, members: Dict[str, Any]) -> Finding:
        # A frozen class sets its fields by a call each, which takes as long as judging does.
        found = cls.__new__(cls)
        found.__dict__.update(members)
        if "other" in members:
            found.__dict__["other"] = Related(**members["other"])
        return found


@dataclass(frozen=True)
class Stopped:
    """Where and why the reader gave up. What stands behind it was not judged."""

    line: int
    pointer: str
    clause: str
    message: str


@dataclass(frozen=True)
class Required:
    """What became of a frozen set of rules, in numbers of rules."""

    #: The version of mcp-concord whose rules they are.
    suite: str
    revision: str
    #: Kept wherever they applied.
    kept: int
    #: Nothing called for them.
    uncalled: int
    #: The recording does not carry what would decide them.
    inconclusive: int
    broken: int
    #: The recording was judged to its end.
    whole: bool


@dataclass(frozen=True)
class Report:
    """What ``check`` found in a recording. Iterating over it gives its findings."""

    #: The findings, and the rules that could not be decided.
    findings: Tuple[Finding, ...]
    #: Whether nothing counts as a fault: no error, with ``strict`` no warning, and no required rule broken.
    ok: bool
    #: The capture format.
    format: str
    #: The revision by which it was judged; None where nothing shows it.
    revision: Optional[str]
    #: How many messages there are.
    messages: int
    #: A limit of memory that was reached, in words.
    limit: Optional[str]
    #: Where the reader gave up, if it did.
    stopped: Optional[Stopped]
    #: What became of the frozen set, where one was required.
    required: Optional[Required]
    #: What ``mcp-concord check --output json`` prints.
    json: str

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        raise TypeError("a report is neither true nor false: ask `report.ok`, or `len(report)`")

    @property
    def errors(self) -> Tuple[Finding, ...]:
        """The findings with the verdict ``fail``."""
        return tuple(finding for finding in self.findings if finding.verdict == "fail")

    @property
    def warnings(self) -> Tuple[Finding, ...]:
        """The findings with the verdict ``warn``."""
        return tuple(finding for finding in self.findings if finding.verdict == "warn")


@dataclass(frozen=True)
class Place:
    """An event of one of two recordings."""

    #: Its place among the events, from 0.
    index: int
    line: int
    #: JSON pointer to it in the document or the line.
    pointer: str
    #: The event in the normal form, as ``read`` gives it.
    event: Dict[str, Any]
    #: What stands at the place of the difference; None where nothing does, or where that is what stands there (see ``has_value``).
    value: Any = None
    #: Whether anything stands there.
    has_value: bool = False

    @classmethod
    def _of(cls, members: Optional[Dict[str, Any]]) -> Optional[Place]:
        return None if members is None else cls(**members, has_value="value" in members)


@dataclass(frozen=True)
class Difference:
    """One difference between two recordings."""

    #: JSON pointer into the events; None where an event has no counterpart.
    pointer: Optional[str]
    a: Optional[Place]
    b: Optional[Place]
    #: Pointers to other differences of the event, up to 100.
    also: Tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.a is not None and self.b is not None:
            lines = [f"event {self.a.index} differs at {self.pointer or '/'}{self._also()}"]
        else:
            side, place = ("A", self.a) if self.a is not None else ("B", self.b)
            lines = [f"event {place.index if place else '?'} is only in {side}"]
        for sign, place in (("-", self.a), ("+", self.b)):
            if place is not None and self.pointer is not None:
                lines.append(f"  {sign} {_short(place.value) if place.has_value else '(nothing there)'}")
        for sign, place in (("-", self.a), ("+", self.b)):
            if place is not None:
                lines.append(f"  {sign} line {place.line} {place.pointer}  {_short(place.event)}")
        return "\n".join(lines)

    def _also(self) -> str:
        if not self.also:
            return ""
        places = f"{len(self.also)} other place{'s' if len(self.also) > 1 else ''}"
        more, end = " or more" if len(self.also) == 100 else "", ", …" if len(self.also) > 3 else ""
        return f", and in {places}{more}: {', '.join(self.also[:3])}{end}"


@dataclass(frozen=True)
class Comparison:
    """What ``diff`` found."""

    #: Whether both are recordings of the same session.
    same: bool
    equal: int
    differ: int
    only_a: int
    only_b: int
    #: Values that count as equal because one of them is redacted.
    redacted: int
    #: Places that were left out.
    ignored: int
    #: The first differences, as many as were asked for.
    differences: Tuple[Difference, ...]
    #: Differences that are counted and not listed.
    hidden: int
    #: What ``mcp-concord diff --output json`` prints.
    json: str

    def __bool__(self) -> bool:
        raise TypeError("a comparison is neither true nor false: ask `comparison.same`")

    def __str__(self) -> str:
        verdict = "the same session" if self.same else "different sessions"
        counts = f"{self.equal} equal, {self.differ} differ, {self.only_a} only in A, {self.only_b} only in B"
        shown = [str(difference) for difference in self.differences]
        more = [f"{self.hidden} more differ but are not shown"] if self.hidden else []
        return "\n\n".join([*shown, *more, f"{verdict}: {counts}"])


def _short(value: Any) -> str:
    text = str(value) if not isinstance(value, str) else repr(value)
    return text if len(text) <= 160 else text[:159] + "…"
