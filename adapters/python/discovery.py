"""K2-A: what a 401 answer's `WWW-Authenticate` lets a client see of the authorization to come.

Reads challenges as RFC 9110 writes them: a scheme, then either one token68 or parameters whose values may be quoted
strings. Text inside such a string is never a parameter. Knows nothing of where a format keeps headers.
"""

import re

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TOKEN68 = re.compile(r"[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|\Z))")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
_VALUE = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[^\s,"]+', re.DOTALL)
_GAP = re.compile(r"[ \t,]*")


def parameter_names(header):
    """The names, in lower case, of every auth-param of every challenge in a header's value."""
    return set().union(*challenges(header))


def challenges(header):
    """For each challenge in a header's value the names, in lower case, of its auth-params."""
    found, at = [], 0
    while True:
        at = _GAP.match(header, at).end()
        if at == len(header):
            return found
        token = _TOKEN.match(header, at)
        if not token:  # a stray character or string: step over it as over a value
            value = _VALUE.match(header, at)
            at = value.end() if value else at + 1
            continue
        equals = _EQUALS.match(header, token.end())
        value = _VALUE.match(header, equals.end()) if equals else None
        if value:
            if found:
                found[-1].add(token.group().lower())
            at = value.end()
            continue
        found.append(set())
        at = equals.end() if equals else token.end()
        credentials = _TOKEN68.match(header, _GAP.match(header, at).end()) if header[at : at + 1] == " " else None
        if credentials and "=" in credentials.group():
            at = credentials.end()


def merged(summary, header):
    """The summary after one more challenge header; None while nothing was visible."""
    names = parameter_names(header)
    metadata, scope = "resource_metadata" in names, "scope" in names
    if not metadata and not scope:
        return summary
    return {
        "visible": True,
        "source_kind": "www_authenticate",
        "resource_metadata_visible": metadata or bool(summary and summary["resource_metadata_visible"]),
        "authorization_servers_visible": False,
        "scope_challenge_visible": scope or bool(summary and summary["scope_challenge_visible"]),
    }
