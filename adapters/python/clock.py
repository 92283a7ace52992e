"""Times as recorders write them, exactly, in milliseconds; and the order that they make.

Used by the two formats whose files are not a sequence of messages: an Inspector export and HAR. Everywhere else the
position in the file is the order, and no time is read.
"""

import re
from datetime import date
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation

from contract import Rejection
from jsontext import Number

_EPOCH = date(1970, 1, 1).toordinal()
_RFC_3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))", re.ASCII
)
START = Decimal("-Infinity")  # the time of what stands before the first item that has one
_WIDE = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])  # no time is too far away to be compared


def milliseconds(value, place):
    """A date of RFC 3339 or a number of milliseconds; None where there is none."""
    if value is None:
        return None
    try:
        if type(value) is Number:
            return Decimal(value.text)
        if type(value) is str and (iso := _RFC_3339.fullmatch(value)):
            return _from_iso(*iso.groups())
    except (ValueError, InvalidOperation):
        pass
    raise Rejection("wrong-type", place, "no date of RFC 3339 and no number of milliseconds")


def _from_iso(year, month, day, hour, minute, second, fraction, _utc, sign, offset_hours, offset_minutes):
    if int(hour) > 23 or int(minute) > 59 or int(second) > 60 or int(offset_hours or 0) > 23 or int(offset_minutes or 0) > 59:
        raise ValueError("no time of day")
    minutes = _days(int(year), int(month), int(day)) * 1440 + int(hour) * 60 + int(minute)
    if sign:
        offset = int(offset_hours) * 60 + int(offset_minutes)
        minutes -= offset if sign == "+" else -offset
    whole = minutes * 60_000 + int(second) * 1000
    return whole + Decimal(f"0.{fraction or 0}") * 1000


def _days(year, month, day):
    """Days since 1970. RFC 3339 begins with the year 0, and Python with the year 1; the calendar repeats after 400 years."""
    return date(year or 400, month, day).toordinal() - _EPOCH - (0 if year else 146_097)


def later(time, duration):
    return _WIDE.add(time, duration)


def in_order_of_time(timed):
    """The second halves of (time, item) pairs by time, ties by position."""
    return [item for _, item in sorted(timed, key=lambda pair: pair[0])]
