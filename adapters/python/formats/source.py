"""From the bytes of a file to JSON values: one for each line, or one for the whole document.

A byte order mark at the very start is stepped over. Bytes that are not UTF-8, text that is not JSON, and a file that
ends too early are rejections here, so that the formats see values only.
"""

from contract import Rejection
from jsontext import JsonError, parse

_BOM = b"\xef\xbb\xbf"


def lines(file):
    """(place, value) of every line that is not blank. LF ends a line; a CR before it is space."""
    for number, line in enumerate(file, 1):
        if number == 1:
            line = line.removeprefix(_BOM)
        if not line.strip(b" \t\r\n"):
            continue
        place = f"line {number}"
        cut_off = not line.endswith(b"\n")  # only the last line can be; it may also be whole
        yield place, _value(line, place, cut_off)


def document(file):
    """The one value of the whole file."""
    return _value(file.read().removeprefix(_BOM), "", True)


def _value(raw, place, may_be_cut_off):
    try:
        return parse(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Rejection("invalid-utf8", place, f"byte {error.start} is not UTF-8") from None
    except JsonError as error:
        code = "truncated" if error.truncated and may_be_cut_off else "invalid-json"
        raise Rejection(code, place, str(error)) from None
