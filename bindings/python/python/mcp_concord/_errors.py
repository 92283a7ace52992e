"""What is raised, and what is warned of."""

from __future__ import annotations

from typing import Any, Optional, Tuple


class ConcordError(ValueError):
    """A recording or an option with which nothing can be answered.

    Its text is a sentence with the recording and the place.
    """

    #: The kind: the code of a rejection, such as ``invalid-json``, or ``bad-option``, ``unknown-format``, ``cannot-carry``,
    #: ``other-revision``, ``nothing-whole``.
    code: str
    #: The recording at fault, as it was named; None where an option is.
    name: Optional[str]
    #: The clause of the reading contract, of a rejection.
    clause: Optional[str]
    #: The line, from 1.
    line: Optional[int]
    #: The column, from 1, in characters.
    column: Optional[int]
    #: JSON pointer into the document or the line.
    pointer: Optional[str]

    def __init__(
        self,
        message: str,
        code: str,
        name: Optional[str] = None,
        place: Optional[Tuple[str, int, int, str]] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self._place = place
        self.clause, self.line, self.column, self.pointer = place or (None, None, None, None)

    def __reduce__(self) -> Tuple[Any, ...]:
        # So that a pool of processes can hand it over.
        return type(self), (str(self), self.code, self.name, self._place)


class ConcordWarning(UserWarning):
    """What a person should know of an answer, such as what a format could not carry."""
