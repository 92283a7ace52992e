"""The 401 challenge: where it counts, and how its headers, schemes, parameters and quotes are spelled."""

import re

import discovery
from faults.seams import Change, member_of, on_entry, on_exchange, patch, put, text_of
from formats import envelope, har
from jsontext import Number

FOUR_HUNDRED_ONE = Number("401")


def on_summary(make):
    """The summary after one more challenge: merged(summary, header)."""
    return Change(patches=((envelope, "merged", make), (har, "merged", make)))


def on_header(edit):
    """The header's value is another text, or None where it is not seen."""

    def make(honest):
        def merged(summary, value):
            other = edit(value)
            return summary if other is None else honest(summary, other)

        return merged

    return on_summary(make)


def on_names(edit):
    return patch(discovery, "parameter_names", lambda honest: lambda header: edit(honest(header), header))


def with_status(condition):
    """Takes a challenge under another status: condition(entry, status)."""

    def edit(entry):
        status = member_of(entry, "transport_context", "status")
        return put(entry, FOUR_HUNDRED_ONE, "transport_context", "status") if "response" in entry and condition(status) else None

    return on_entry(edit)


def show(edit):
    """The summary at the end of the reading: edit(events, summary)."""
    return Change(meaning=lambda events, summary: (events, edit(events, summary)))


def summary(metadata=False, scope=False, servers=False):
    return {
        "visible": True,
        "source_kind": "www_authenticate",
        "resource_metadata_visible": metadata,
        "authorization_servers_visible": servers,
        "scope_challenge_visible": scope,
    }


def after_each_401(make):
    """The summary after each 401 answer of an envelope: make(before, after, headers)."""

    def wrap(honest):
        def read_challenges(headers, session):
            before = session.discovery
            session.discovery = None
            honest(headers, session)
            session.discovery = make(before, session.discovery, headers)

        return read_challenges

    return patch(envelope, "_read_challenges", wrap)


def see_headers(module, names):
    """Which headers are seen by their names as they are written."""

    def make(honest):
        def header(headers, wanted):
            owner = headers if module is envelope else headers.get("headers")
            if module is envelope and isinstance(owner, dict):
                owner = {name: value for name, value in owner.items() if wanted != "www-authenticate" or names(name)}
                return honest(owner, wanted)
            if module is har and type(owner) is list:
                seen = [it for it in owner if wanted != "www-authenticate" or not isinstance(it, dict) or names(it.get("name"))]
                return honest({**headers, "headers": seen}, wanted)
            return honest(headers, wanted)

        return header

    return (module, "_header", make)


def headers_named(names):
    return Change(patches=(see_headers(envelope, names), see_headers(har, names)))


def proxies(honest):
    def header(headers, wanted):
        yield from honest(headers, wanted)
        if wanted == "www-authenticate":
            yield from honest(headers, "proxy-authenticate")

    return header


def one_header(pick):
    return patch(har, "_header", lambda honest: lambda message, name: pick(list(honest(message, name))))


def challenges_of_requests(honest):
    def read_entry(entry, place, session):
        context = entry.get("transport_context") if isinstance(entry, dict) else None
        if isinstance(context, dict) and "request" in entry and context.get("status") == FOUR_HUNDRED_ONE:
            envelope._read_challenges(context.get("headers"), session)
        honest(entry, place, session)

    return read_entry


def challenges_of_events(honest):
    def read_entry(entry, place, session):
        context = entry.get("transport_context") if isinstance(entry, dict) else None
        if isinstance(context, dict) and "sse" in entry and context.get("status") == FOUR_HUNDRED_ONE:
            envelope._read_challenges(context.get("headers"), session)
        honest(entry, place, session)

    return read_entry


def challenge_of_the_envelope(honest):
    def document(file):
        whole = honest(file)
        context = member_of(whole, "transport_context")
        if isinstance(context, dict) and type(whole.get("entries")) is list:
            return {**whole, "entries": [{"response": None, "transport_context": context}, *whole["entries"]]}
        return whole

    return document


def apart(honest):
    """A status of one entry and the header of another."""

    def document(file):
        whole = honest(file)
        entries = member_of(whole, "entries")
        contexts = (
            [entry.get("transport_context") for entry in entries if isinstance(entry, dict) and "response" in entry]
            if type(entries) is list
            else []
        )
        contexts = [context for context in contexts if isinstance(context, dict)]
        if not any(context.get("status") == FOUR_HUNDRED_ONE for context in contexts):
            return whole
        changed = [
            put(entry, FOUR_HUNDRED_ONE, "transport_context", "status")
            if isinstance(entry, dict) and "response" in entry
            else entry
            for entry in entries
        ]
        return {**whole, "entries": changed}

    return document


def taken_back(honest):
    def read_entry(entry, place, session):
        honest(entry, place, session)
        if isinstance(entry, dict) and isinstance(entry.get("response"), dict) and "result" in entry["response"]:
            session.discovery = None

    return read_entry


def spelled_status(entry):
    context = entry.get("transport_context")
    if isinstance(context, dict) and "response" in entry:
        spelled = [context.get(name) for name in ("status", "status_code", "http_status", "statusCode")]
        if any(value == "401" or value == FOUR_HUNDRED_ONE for value in spelled):
            return put(
                {**entry, "transport_context": {**context, "status": None}}, FOUR_HUNDRED_ONE, "transport_context", "status"
            )


def listed_headers(entry):
    headers = member_of(entry, "transport_context", "headers")
    if type(headers) is list and "response" in entry:
        pairs = {it.get("name"): it.get("value") for it in headers if isinstance(it, dict) and type(it.get("name")) is str}
        pairs |= {it[0]: it[1] for it in headers if type(it) is list and len(it) == 2 and type(it[0]) is str}
        return put({**entry, "transport_context": {**entry["transport_context"]}}, pairs, "transport_context", "headers")


def bodiless(entry):
    if "response" in entry and member_of(entry, "response", "jsonrpc") is None:
        return put(entry, {}, "transport_context", "headers")


def open_quotes_end(value):
    """Ends an unfinished quoted string at the next comma."""
    if value.replace('\\"', "").count('"') % 2 == 0:
        return value
    last = value.rindex('"')
    comma = value.find(",", last)
    return value if comma < 0 else f'{value[:comma]}"{value[comma:]}'


def commas_part(value):
    parts = [part.replace('"', "") if part.count('"') % 2 else part for part in value.split(",")]
    return ",".join(parts)


def first_challenge(value):
    ends = [
        at for scheme in ("Bearer", "DPoP", "Basic", "Digest") for comma in (", ", ",") if (at := value.find(comma + scheme)) >= 0
    ]
    return value[: min(ends, default=len(value))]


def quoted_only(names, header):
    text = re.sub(r"[ \t]*=[ \t]*", "=", header).lower()
    return {name for name in names if f'{name}="' in text}


def words(names, header):
    return {name for name in ("resource_metadata", "scope") if name in header.lower()}


def har_request_challenges(exchange):
    headers = member_of(exchange, "request", "headers")
    found = (
        [it for it in headers or () if isinstance(it, dict) and str(it.get("name")).lower() == "www-authenticate"]
        if type(headers) is list
        else []
    )
    own = member_of(exchange, "response", "headers")
    return put(exchange, [*(own if type(own) is list else []), *found], "response", "headers") if found else None


def har_status(condition, status="400"):
    def edit(exchange):
        return put(exchange, Number(status), "response", "status") if condition(exchange) else None

    return on_exchange(edit)


def is_json(exchange):
    return "json" in str(member_of(exchange, "response", "content", "mimeType"))


FAULTS = {
    "K2A-SUMMARY": {
        "no-summary": ("shows no summary", show(lambda events, found: None)),
        "metadata-unseen": ("does not see `resource_metadata`", on_names(lambda names, header: names - {"resource_metadata"})),
        "scope-unseen": ("does not see `scope`", on_names(lambda names, header: names - {"scope"})),
        "metadata-means-scope": ("flags `scope` wherever it flags `resource_metadata`",
            on_names(lambda names, header: names | {"scope"} if "resource_metadata" in names else names)),
        "scope-means-metadata": ("flags `resource_metadata` wherever it flags `scope`",
            on_names(lambda names, header: names | {"resource_metadata"} if "scope" in names else names)),
        "servers-visible": ("says that authorization servers are visible where there is `resource_metadata`",
            show(lambda events, found: found and {**found, "authorization_servers_visible": True})),
        "last-answer": ("lets the last of several 401 answers replace the others",
            after_each_401(lambda first, last, headers: last or first)),
        "first-answer": ("looks at the first of several 401 answers", after_each_401(lambda first, last, headers: first or last)),
        "taken-back": ("takes the summary back when a call succeeds later", patch(envelope, "_read_entry", taken_back)),
        "body-wanted": ("reads only the challenge of a response that has a message", on_entry(bodiless)),
        "header-as-in-the-rfc": ("looks for the header as it is written in the RFC",
            headers_named(lambda name: name == "WWW-Authenticate")),
        "header-in-lower-case": ("looks for the header in lower case", headers_named(lambda name: name == "www-authenticate")),
        "bearer-only": ("reads only challenges of the scheme Bearer",
            on_header(lambda value: value if value.lower().startswith("bearer") else None)),
        "scheme-with-case": ("does not know the scheme `bearer`",
            on_header(lambda value: None if value.startswith("bearer") else value)),
        "first-challenge": ("reads the first challenge of a header", on_header(first_challenge)),
        "quotes-wanted": ("reads parameters whose value is quoted", on_names(quoted_only)),
        "tokens-wanted": ("reads parameters whose value is not quoted",
            on_names(lambda names, header: names - quoted_only(names, header))),
        "parameters-with-case": ("looks for parameters in lower case",
            on_names(lambda names, header: {name for name in names if name in header})),
        "no-space-at-equals": ("knows no space around the equals sign of a parameter",
            on_header(lambda value: value.replace(" =", " ;").replace("= ", "; "))),
        "empty-is-none": ("does not see a parameter with an empty value",
            on_header(lambda value: value.replace('scope=""', "x=y").replace('resource_metadata=""', "x=y"))),
    },
    "K2A-BOUND": {
        "any-401": ("shows a summary for every 401", after_each_401(lambda first, last, headers: first or last or summary())),
        "any-challenge": ("shows a summary for a challenge without either parameter",
            on_summary(lambda honest: lambda before, header: honest(before, header) or summary())),
        "on-403": ("takes the challenge of a 403, too", with_status(lambda status: status == Number("403"))),
        "on-any-status": ("takes a challenge under any status", with_status(lambda status: status is not None)),
        "on-no-status": ("takes a challenge where there is no status", with_status(lambda status: status is None)),
        "on-requests": ("takes a challenge in the context of a request", patch(envelope, "_read_entry", challenges_of_requests)),
        "on-envelopes": ("takes a challenge in the context of the envelope",
            patch(envelope, "document", challenge_of_the_envelope)),
        "apart": ("joins a status and a header of different entries", patch(envelope, "document", apart)),
        "of-proxies": ("takes the challenge of a proxy",
            Change(patches=((envelope, "_header", proxies), (har, "_header", proxies)))),
        "words": ("looks for the words anywhere in a challenge", on_names(words)),
        "no-scheme-wanted": ("takes parameters before any scheme for a challenge", on_header(lambda value: f"Any {value}")),
        "escapes-end-quotes": ("ends a quoted string at an escaped quote", on_header(lambda value: value.replace('\\"', '"'))),
        "commas-part": ("splits a challenge at every comma, even in quotes", on_header(commas_part)),
        "open-quotes-end": ("ends an unfinished quoted string at the next comma", on_header(open_quotes_end)),
        "longer-names": (
            "takes a parameter whose name begins with `scope` or `resource_metadata` for it",
            on_names(
                lambda names, header: (
                    names | {known for known in ("scope", "resource_metadata") if any(name.startswith(known) for name in names)}
                )
            ),
        ),
        "har-any-status": ("takes a challenge under any status in HAR",
            har_status(lambda exchange: "authenticate" in text_of(member_of(exchange, "response", "headers")).lower(), "401")),
    },
    "K2A-SPELLING": {
        "status-spelled-in-one": ("reads a status written as text or as `status_code`, only in http-sse",
            on_entry(spelled_status).within("http-sse")),
        "headers-listed-in-one": ("reads headers given as a list, only in http-sse", on_entry(listed_headers).within("http-sse")),
        "events-challenge-in-one": ("takes a challenge that an `sse` entry bears, only in http-sse",
            patch(envelope, "_read_entry", challenges_of_events).within("http-sse")),
    },
    "HAR-K2A": {
        "not-in-har": ("reads no challenge in HAR",
            har_status(lambda exchange: member_of(exchange, "response", "status") == FOUR_HUNDRED_ONE)),
        "har-request-headers": ("reads the challenge of a request's headers in HAR", on_exchange(har_request_challenges)),
        "har-posts-only": ("reads only the challenges of POSTs in HAR",
            har_status(lambda exchange: str(member_of(exchange, "request", "method")).upper() != "POST")),
        "har-json-only": ("reads only the challenges of answers in JSON", har_status(lambda exchange: not is_json(exchange))),
        "har-first-header": ("reads the first of two headers", one_header(lambda found: found[:1])),
        "har-last-header": ("reads the last of two headers", one_header(lambda found: found[-1:])),
    },
}
