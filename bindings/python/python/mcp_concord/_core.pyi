from typing import List, Optional, Tuple

__all__ = ["VERSION", "check", "convert", "diff", "identify", "read", "show", "summary"]

VERSION: str

_Told = Tuple[str, List[str]]
_Stopped = Tuple[int, str, str, str]
_Required = Tuple[str, str, int, int, int, int, bool]

def read(
    name: str, data: bytes, *, format: Optional[str], calls: bool, dialect: str, lenient: bool
) -> _Told: ...
def identify(name: str, data: bytes, *, format: Optional[str]) -> _Told: ...
def summary(name: str, data: bytes, *, format: Optional[str]) -> str: ...
def check(
    name: str,
    data: bytes,
    *,
    format: Optional[str],
    spec: Optional[str],
    select: List[str],
    ignore: List[str],
    level: str,
    strict: bool,
    profile: str,
    require: Optional[str],
    redacted: List[str],
    mcp_replay_text: str,
    every: bool,
) -> Tuple[str, str, Optional[str], int, bool, Optional[str], Optional[_Stopped], Optional[_Required]]: ...
def diff(
    names: Tuple[str, str],
    a: bytes,
    b: bytes,
    *,
    left_format: Optional[str],
    right_format: Optional[str],
    redacted: Optional[str],
    ids: str,
    ignore: List[str],
    unordered_answers: bool,
    ignore_refusals: bool,
    ignore_senders: bool,
    fold_redelivered: bool,
    show: int,
) -> Tuple[bool, str, List[str]]: ...
def convert(
    name: str, data: bytes, *, to: str, format: Optional[str], lossy: bool, salvage: bool
) -> Tuple[bytes, List[str]]: ...
def show(
    name: str,
    data: bytes,
    *,
    format: Optional[str],
    output: str,
    all: bool,
    first: Optional[int],
    last: Optional[int],
    check: bool,
    lenient: bool,
    width: int,
) -> _Told: ...
