"""Where two JSON values part, for a check of what a reader read. The reader itself does not need it."""

from jsontext import TwiceNamed


def difference(left, right, marker=None):
    """None where the two values are equal, else the JSON pointer of the first place where they part.

    With a `marker` the comparison is modulo redaction: a string that holds the marker equals any value.
    """
    todo = [((), left, right)]
    while todo:
        place, a, b = todo.pop()
        if a is b or (marker is not None and (_redacted(a, marker) or _redacted(b, marker))):
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                odd = next(name for name in [*a, *b] if name not in a or name not in b)
                return _pointer((place, odd))
            if type(a) is TwiceNamed or type(b) is TwiceNamed:
                a, b = _groups(a), _groups(b)
            todo.extend(((place, name), a[name], b[name]) for name in reversed(a) if a[name] is not b[name])
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                # The shorter one's items first: they may part earlier.
                todo.append(((place, min(len(a), len(b))), None, True))
            shared = min(len(a), len(b))
            todo.extend(((place, i), a[i], b[i]) for i in range(shared - 1, -1, -1) if a[i] is not b[i])
        elif type(a) is not type(b) or a != b:
            return _pointer(place)
    return None


def _groups(item):
    groups = {}
    for name, value in item.pairs if type(item) is TwiceNamed else item.items():
        groups.setdefault(name, []).append(value)
    return groups


def _redacted(value, marker):
    return type(value) is str and marker in value


def _pointer(place):
    steps = []
    while place:
        place, step = place
        steps.append(str(step).replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{step}" for step in reversed(steps))
