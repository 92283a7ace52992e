"""What the reader makes of transcripts. Every expectation is written by hand from the clause that its test names."""

import base64
import json
import unittest

from concord_reader import FORMATS, Rejection, read_bytes
from jsontext import dump

CALL = '{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"Calculator","arguments":{"a":1}}}'
ANSWER = '{"jsonrpc":"2.0","id":"c","result":{"sum":3}}'
META = '{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"x","command":["x"]}'
END = '{"t":"2026-01-01T00:00:09.000Z","type":"end","exitCode":0,"durationMs":9000}'
SUMMARY = {"visible": True, "source_kind": "www_authenticate", "authorization_servers_visible": False}


def request(id_, method="ping"):
    return f'{{"jsonrpc":"2.0","id":{id_},"method":"{method}"}}'


def result(id_):
    return f'{{"jsonrpc":"2.0","id":{id_},"result":{{}}}}'


def jsonrpc(*messages):
    return "\n".join(messages) + "\n"


def replay(*messages, tail=(END,)):
    """Messages written `>…` go to the server, `<…` to the client; other lines stand as they are."""
    sides = {">": "in", "<": "out"}
    lines = [f'{{"t":"x","dir":"{sides[m[0]]}","raw":{m[1:]}}}' if m[0] in sides else m for m in messages]
    return "\n".join([META, *lines, *tail]) + "\n"


def envelope(*entries, transport="streamable-http"):
    return f'{{"transport":"{transport}","entries":[{",".join(entries)}]}}'


def sse(data, event='"event":"message",'):
    return f'{{"sse":{{{event}"data":{data}}}}}'


def har(*entries):
    return json.dumps({"log": {"version": "1.2", "entries": entries}})


def exchange(body=None, answer="", kind="application/json", at="2026-01-01T00:00:00.000Z", status=200, method="POST", **more):
    content = {"size": len(answer), "mimeType": kind, "text": answer} | more.pop("content", {})
    request = {"method": method} | ({} if body is None else {"postData": {"mimeType": "application/json", "text": body}})
    response = {"status": status, "headers": more.pop("headers", []), "content": content}
    return {"startedDateTime": at, "request": request, "response": response} | more


class Case(unittest.TestCase):
    def meaning(self, text, format_name="jsonrpc"):
        data = text if isinstance(text, bytes) else text.encode()
        return json.loads(dump(read_bytes(data, format_name).meaning))

    def events(self, text, format_name="jsonrpc"):
        return self.meaning(text, format_name)["events"]

    def short(self, text, format_name="jsonrpc"):
        """kind, id and answers of each event, which most clauses are about."""
        return [(e["kind"], e.get("id"), *([e["answers"]] if "answers" in e else [])) for e in self.events(text, format_name)]

    def rejects(self, code, text, format_name="jsonrpc"):
        data = text if isinstance(text, bytes) else text.encode()
        with self.assertRaises(Rejection) as caught:
            read_bytes(data, format_name)
        self.assertEqual(caught.exception.code, code, str(caught.exception))
        return str(caught.exception)


class EveryFormat(Case):
    def in_every_format(self, ask, answer):
        return {
            "jsonrpc": jsonrpc(ask, answer),
            "streamable-http": envelope(f'{{"request":{ask}}}', f'{{"response":{answer}}}'),
            "http-sse": envelope(sse('"/m"', '"event":"endpoint",'), f'{{"request":{ask}}}', sse(answer), transport="http-sse"),
            "mcp-replay": replay(">" + ask, "<" + answer),
            "inspector": f'{{"events":[{ask},{answer}]}}',
            "har": har(exchange(ask, answer)),
        }

    def test_the_same_session_means_the_same(self):  # EQ-PAIR
        expected = [
            {"kind": "tool_call", "id": "c", "tool": "Calculator", "arguments": {"a": 1}},
            {"kind": "result", "id": "c", "answers": 0, "result": {"sum": 3}},
        ]
        spelled = self.in_every_format(CALL, ANSWER)
        self.assertEqual(list(spelled), FORMATS)
        for name, text in spelled.items():
            with self.subTest(name):
                self.assertEqual(self.meaning(text, name), {"events": expected, "authorization_discovery": None})
                self.assertEqual(self.meaning("\ufeff" + text, name)["events"], expected)  # SRV-TWICE: BOM

    def test_a_message_that_is_none_rejects_everywhere(self):
        for code, message in {
            "invalid-id": '{"jsonrpc":"2.0","id":true,"result":{}}',
            "invalid-version": '{"jsonrpc":"1.0","id":1,"result":{}}',
            "invalid-version ": '{"jsonrpc":"2.1","id":1,"result":{}}',
            "invalid-version  ": '{"jsonrpc":2.0,"id":1,"result":{}}',
            "invalid-method": '{"jsonrpc":"2.0","id":1,"method":7}',
            "ambiguous-message": '{"jsonrpc":"2.0","id":1,"result":{},"error":null}',
            "ambiguous-message ": '{"jsonrpc":"2.0","id":1,"method":"m","result":{}}',
            "ambiguous-member": '{"jsonrpc":"2.0","id":1,"id":1,"result":{}}',
            "not-a-message": '{"jsonrpc":"2.0","id":1}',
        }.items():
            code = code.strip()  # several messages with one code
            for name, text in self.in_every_format(CALL, message).items():
                with self.subTest(name, code=code):
                    self.rejects(code, text, name)

    def test_cut_off_anywhere_is_no_reading_of_a_document(self):  # SRV-BYTES
        for name, text in self.in_every_format(CALL, ANSWER).items():
            if name in ("jsonrpc", "mcp-replay"):
                continue
            for cut in range(len(text)):
                self.rejects("truncated", text[:cut].encode(), name)

    def test_bytes_that_are_no_text(self):
        for name in FORMATS:
            self.rejects("invalid-utf8", b'{"a":"\xff"}\n', name)
            self.rejects("invalid-utf8", b'{"a":"\xed\xa0\xbd"}\n', name)  # a surrogate as bytes
            self.rejects("invalid-json", b'{"a":1}\x00\n', name)

    def test_deep_nesting(self):  # SRV-DEPTH
        deep = '{"jsonrpc":"2.0","id":1,"result":' + '{"a":[' * 5_000 + "]}" * 5_000 + "}"
        for name, text in self.in_every_format(CALL, deep).items():
            with self.subTest(name):
                events = read_bytes(text.encode(), name).meaning["events"]
                self.assertIn('{"a":[' * 5_000, dump(events))


class Ids(Case):
    def test_text_and_numbers(self):  # ID-STRING, ID-NUMBER, ID-NUMBER-FORM
        for spelled, expected in {'"1"': "1", '""': "", '" A "': " A ", '"null"': "null", "1": "1", "-7": "-7",
                                  "9007199254740993": "9007199254740993", "1.0": "1.0", "1e0": "1e0", "-0": "-0"}.items():  # fmt: skip
            self.assertEqual(
                self.short(jsonrpc(request(spelled), result(spelled))),
                [("request", expected), ("result", expected, 0)],
            )

    def test_number_and_string_are_one_id(self):  # ID-NUMBER
        self.assertEqual(self.short(jsonrpc(request("1"), result('"1"')))[1], ("result", "1", 0))

    def test_null_and_missing_bind_nothing(self):  # ID-NULL, ID-MISSING
        nameless = '{"jsonrpc":"2.0","method":"ping"}'
        self.assertEqual(
            self.short(jsonrpc(request("null"), nameless, result("null"), request('"null"'), result("null"))),
            [("notification", None), ("notification", None), ("result", None, None), ("request", "null"), ("result", None, None)],
        )  # fmt: skip

    def test_a_tool_call_without_id_is_one_still(self):
        self.assertEqual(self.short(jsonrpc('{"jsonrpc":"2.0","method":"tools/call"}')), [("tool_call", None)])

    def test_no_other_kind_of_id(self):  # ID-REJECT
        for wrong in ("true", "false", "{}", "[]", '["1"]'):
            for message in (request(wrong), request(wrong, "tools/call"), result(wrong)):
                self.rejects("invalid-id", jsonrpc(message))


class Correlation(Case):
    def test_first_late_and_before(self):  # COR-FIRST, COR-LATE, COR-BEFORE
        self.assertEqual(
            self.short(jsonrpc(result(1), request(1), result(1), result(1), request(1), result(1))),
            [("result", "1", None), ("request", "1"), ("result", "1", 1), ("result", "1", None), ("request", "1"),
             ("result", "1", 4)],
        )  # fmt: skip

    def test_the_oldest_of_two_open_ones(self):
        found = self.short(jsonrpc(request(1), request(1), result(1), result(1)))
        self.assertEqual([e[-1] for e in found[2:]], [0, 1])

    def test_two_calls_with_one_id(self):  # COR-DUPLICATE
        for other in (CALL, CALL.replace("Calculator", "Other")):
            self.rejects("duplicate-call-id", jsonrpc(CALL, ANSWER, other))
            self.rejects("duplicate-call-id", replay(">" + CALL, "<" + other), "mcp-replay")
        self.rejects("duplicate-call-id", jsonrpc(request("1", "tools/call"), request('"1"', "tools/call")))
        nameless = '{"jsonrpc":"2.0","id":null,"method":"tools/call"}'
        self.assertEqual(len(self.short(jsonrpc(nameless, nameless))), 2)

    def test_both_sides_count_from_one(self):  # COR-DIRECTION
        text = replay(">" + request(1), "<" + request(1), "<" + result(1), ">" + result(1), "<" + result(1))
        self.assertEqual([e[-1] for e in self.short(text, "mcp-replay")[2:]], [0, 1, None])
        text = envelope(f'{{"request":{request(1)}}}', sse(request(1)), f'{{"request":{result(1)}}}', sse(result(1)))
        self.assertEqual([e[-1] for e in self.short(text, "streamable-http")[2:]], [1, 0])
        nobody = replay(">" + request(1), ">" + result(1))
        self.assertEqual(self.short(nobody, "mcp-replay")[1], ("result", "1", None))

    def test_absent_null_and_empty_are_three(self):
        call = '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"t"%s}}'
        calls = self.events(jsonrpc(*(call % more for more in ("", ',"arguments":null', ',"arguments":{}'))))
        self.assertEqual([event.get("arguments", "absent") for event in calls], ["absent", None, {}])
        lines = ['{"jsonrpc":"2.0","method":"m"}', '{"jsonrpc":"2.0","method":"m","params":null}',
                 '{"jsonrpc":"2.0","method":"m","params":{}}']  # fmt: skip
        found = [event.get("params", "absent") for event in self.events(jsonrpc(*lines))]
        self.assertEqual(found, ["absent", None, {}])

    def test_nameless_tools(self):  # TOOL-NAMELESS
        lines = ['{"jsonrpc":"2.0","method":"tools/call","params":{"name":7}}', '{"jsonrpc":"2.0","method":"tools/call"}']
        self.assertEqual(self.events(jsonrpc(*lines)), [{"kind": "tool_call", "tool": 7}, {"kind": "tool_call"}])

    def test_twice_named(self):  # SRV-TWICE
        twice = '{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}'
        self.assertIn('{"a":1,"a":2}', dump(read_bytes(twice.encode(), "jsonrpc").meaning))
        named = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}'
        self.rejects("ambiguous-member", named)


class Batches(Case):  # EQ-BATCH
    def agreed(self, version, asked="2025-03-26"):
        wish = f'{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{asked}"}}}}'
        return wish, f'{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{version}"}}}}'

    def test_a_batch_of_the_revision_is_its_messages(self):
        batch = f'[{request(1)},{{"jsonrpc":"2.0","method":"n"}},{CALL}]'
        text = jsonrpc(*self.agreed("2025-03-26"), batch, f"[{ANSWER},{result(1)}]")
        expected = [("request", "1"), ("notification", None), ("tool_call", "c"), ("result", "c", 4), ("result", "1", 2)]
        self.assertEqual(self.short(text)[2:], expected)

    def test_it_is_one_only_where_the_revision_was_shown_before(self):
        wish, answer = self.agreed("2025-03-26")
        for lines in (
            [f"[{CALL}]"],
            [wish, f"[{CALL}]", answer],
            [answer, f"[{CALL}]"],  # an answer to nothing
            [*self.agreed("2025-06-18"), f"[{CALL}]"],
            [*self.agreed("2025-03-26"), *self.agreed("2025-11-25"), f"[{CALL}]"],
            [wish, answer.replace('"result"', '"error"'), f"[{CALL}]"],
        ):
            self.rejects("batch", jsonrpc(*lines))
        # A version that nobody published decides nothing.
        text = jsonrpc(*self.agreed("2025-03-26"), *self.agreed("2025-03-27"), f"[{CALL}]")
        self.assertEqual(len(self.events(text)), 5)

    def test_items_are_messages(self):
        for code, batch in (
            ("batch", "[]"),
            ("batch", f"[{request(1)},[{CALL}]]"),
            ("not-a-message", f"[{request(1)},7]"),
            ("invalid-version", f'[{request(1).replace("2.0", "1.0")}]'),
            ("duplicate-call-id", f"[{CALL},{CALL}]"),
        ):
            self.rejects(code, jsonrpc(*self.agreed("2025-03-26"), batch))

    def test_a_header_of_a_request_shows_it_until_a_handshake_does(self):
        def sent(version, body, slot="request"):
            headers = f'"headers":{{"mcp-protocol-version":"{version}"}}'
            return f'{{"transport_context":{{{headers}}},"{slot}":{body}}}'

        batch = f"[{CALL}]"
        for entries in (
            [sent("2025-03-26", batch)],
            [sent("2025-03-26", request(1)), f'{{"request":{batch}}}'],
            [sent("x", request(1)), sent("2025-03-26", batch), sent("2025-06-18", f"[{request(2)}]")],
        ):
            self.events(envelope(*entries), "streamable-http")
        for entries in (
            [sent("2025-06-18", request(1)), sent("2025-03-26", batch)],
            [sent("2025-03-26", ANSWER, "response"), f'{{"request":{batch}}}'],
        ):
            self.rejects("batch", envelope(*entries), "streamable-http")
        named = exchange(batch)
        named["request"]["headers"] = [{"name": "MCP-Protocol-Version", "value": "2025-03-26"}]
        self.assertEqual(len(self.events(har(named), "har")), 1)
        self.rejects("batch", har(exchange(batch)), "har")


class Lines(Case):
    def test_line_ends_and_blank_lines(self):  # JRP-LINE
        self.assertEqual(len(self.events(f"\r\n{CALL}\r\n \t\n\n{ANSWER}")), 2)
        self.assertEqual(self.events(""), [])
        self.assertEqual(len(self.events('{"jsonrpc":"2.0","method":"a\u2028b"}\n')), 1)

    def test_what_is_not_one_object(self):
        self.assertTrue(self.rejects("invalid-json", f"{CALL}\n\nnope\n").startswith("line 3"))
        self.rejects("invalid-json", f"{CALL}{ANSWER}\n")
        self.rejects("invalid-json", f"{CALL[:-1]}\n{ANSWER}\n")
        self.rejects("truncated", f"{CALL}\n{ANSWER[:-1]}")
        self.rejects("batch", f"[{CALL}]\n")
        for other in ("7", "null", '"x"', "{}", '{"id":1}'):
            self.rejects("not-a-message", other + "\n")


class Replay(Case):
    def rejects_replay(self, code, *lines):
        return self.rejects(code, "\n".join(lines) + "\n", "mcp-replay")

    def test_meta(self):  # RPL-META, RPL-VERSION
        line = f'{{"t":"x","dir":"in","raw":{CALL}}}'
        self.rejects_replay("missing-meta", line, META)
        self.rejects("missing-meta", "", "mcp-replay")
        for name in ("type", "startedAt", "label", "command", "v"):
            less = json.loads(META)
            del less[name]
            self.rejects_replay("missing-meta", json.dumps(less), line)
        for version in ("2", '"1"', "null", "1.5"):
            self.rejects_replay("unsupported-version", META.replace('"v":1', f'"v":{version}'), line)
        self.rejects_replay("second-meta", META, line, META)

    def test_message_lines(self):  # RPL-MESSAGE
        self.rejects_replay("missing-raw", META, '{"t":"x","dir":"in"}')
        self.rejects_replay("missing-dir", META, f'{{"t":"x","raw":{CALL}}}')
        self.rejects_replay("missing-dir", META, f'{{"t":"x","dir":null,"raw":{CALL}}}')
        for noise in ("42", "null", '"x"', '{"not":"jsonrpc"}'):  # RPL-NOISE
            self.rejects_replay("not-a-message", META, f'{{"t":"x","dir":"out","raw":{noise}}}')
        for noise in ("[]", f"[{CALL}]"):
            self.rejects_replay("batch", META, f'{{"t":"x","dir":"out","raw":{noise}}}')
        self.rejects_replay("ambiguous-member", META, f'{{"dir":"in","dir":"out","raw":{CALL}}}')

    def test_lines_that_are_not_ours(self):  # RPL-DIR, RPL-UNKNOWN
        others = [
            f'{{"t":"x","dir":"event","raw":{CALL}}}',
            '{"t":"x","dir":"event","raw":42}',
            '{"t":"x","type":"turn","role":"user","blocks":[]}',
            '{"t":"x","type":"news","raw":{}}',
            '{"note":"x"}',
        ]
        text = replay(">" + CALL, *others, "<" + ANSWER)
        self.assertEqual(self.short(text, "mcp-replay"), [("tool_call", "c"), ("result", "c", 0)])
        odd_kind = f'{{"t":"x","dir":"in","kind":"llm.request","raw":{CALL}}}'
        self.assertEqual(len(self.events(replay(odd_kind), "mcp-replay")), 1)
        for kind, count in (("frame", 1), ("end", 0)):
            typed = f'{{"t":"x","type":"{kind}","dir":"in","raw":{CALL}}}'
            self.assertEqual(len(self.events(replay(typed, tail=()), "mcp-replay")), count)

    def test_end(self):  # RPL-END
        self.assertEqual(len(self.events(replay(">" + CALL, tail=()), "mcp-replay")), 1)
        self.assertEqual(len(self.events(replay(">" + CALL, tail=('{"t":"x","type":"end"}',)), "mcp-replay")), 1)
        self.rejects("after-end", replay(">" + CALL, END, "<" + ANSWER), "mcp-replay")


class Envelopes(Case):
    def test_the_envelope(self):  # ENV-TRANSPORT, ENV-EMPTY, ENV-UNKNOWN
        self.assertEqual(self.events(envelope(), "streamable-http"), [])
        self.rejects("wrong-transport", envelope(transport="http-sse"), "streamable-http")
        self.rejects("wrong-transport", '{"entries":[]}', "http-sse")
        self.assertEqual(self.events(envelope(transport="http-sse"), "sse-legacy"), [])
        for entries in ("", ',"entries":null', ',"entries":{}'):
            self.rejects("missing-entries", f'{{"transport":"http-sse"{entries}}}', "http-sse")
        for other in ("[]", "7", "null"):
            self.rejects("wrong-document", other, "http-sse")
        self.rejects("ambiguous-member", '{"transport":"http-sse","entries":[],"entries":[]}', "http-sse")
        text = envelope(f'{{"timestamp_ms":"soon","x":1,"request":{CALL}}}')  # ENV-LOOSE
        self.assertEqual(len(self.events(text, "streamable-http")), 1)
        backwards = envelope(f'{{"timestamp_ms":9,"request":{CALL}}}', f'{{"timestamp_ms":1,"response":{ANSWER}}}')
        self.assertEqual(self.short(backwards, "streamable-http"), [("tool_call", "c"), ("result", "c", 0)])  # EQ-ORDER

    def test_entries(self):  # ENV-ONE, ENV-SINGLE, ENV-NULL
        for wrong in ("{}", "7", "null", "[]", f'{{"request":{CALL},"response":{ANSWER}}}'):
            self.rejects("invalid-entry", envelope(wrong), "streamable-http")
        for slot in ("request", "response"):
            self.rejects("batch", envelope(f'{{"{slot}":[{CALL}]}}'), "streamable-http")
            self.rejects("not-a-message", envelope(f'{{"{slot}":"x"}}'), "streamable-http")
            self.assertEqual(self.events(envelope(f'{{"{slot}":null}}'), "streamable-http"), [])
        self.assertEqual(self.events(envelope('{"sse":null}'), "streamable-http"), [])
        self.rejects("wrong-type", envelope('{"sse":"x"}'), "streamable-http")

    def test_bodies_of_http_errors(self):  # ENV-NULL
        def entry(status, body):
            return envelope(f'{{"transport_context":{{"status":{status}}},"response":{body}}}')

        for body in ('{"error":"invalid_token"}', '{"message":"no"}', "{}"):
            for status in ("400", "401", "503", "4.01e2"):
                self.assertEqual(self.events(entry(status, body), "streamable-http"), [])
        self.rejects("invalid-version", entry("399", '{"error":"invalid_token"}'), "streamable-http")
        self.rejects("not-a-message", entry("200", "{}"), "streamable-http")
        self.rejects("invalid-version", entry("404", '{"error":{"code":1,"message":"x"}}'), "streamable-http")
        whole = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}'
        for status in ("401", "404"):
            self.assertEqual(self.short(entry(status, whole), "streamable-http"), [("error", None, None)])

    def data(self, data, event='"event":"message",'):
        return self.events(envelope(sse(data, event)), "streamable-http")

    def test_data_that_is_a_message(self):  # SSE-DATA-OBJECT, SSE-DATA-STRING, SSE-EVENT
        for data in (ANSWER, json.dumps(ANSWER), json.dumps(f"\n {ANSWER} ")):
            for event in ('"event":"message",', "", '"event":"",', '"event":null,'):
                self.assertEqual(len(self.data(data, event)), 1)
            for event in ('"event":"endpoint",', '"event":"Message",', '"event":"ping",'):
                self.assertEqual(self.data(data, event), [])

    def test_data_that_is_none(self):  # SSE-DATA-TEXT, SSE-KEEPALIVE
        for data in ('"/messages?session=1"', '"ping"', '""', "{}", '{"a":1}', '"{}"', "null", "7", "true", "[]", '"[1]"', '"[x"'):
            self.assertEqual(self.data(data), [])
        self.assertEqual(self.events(envelope('{"sse":{"retry":5}}'), "streamable-http"), [])

    def test_data_that_is_broken(self):  # SSE-DATA-BROKEN, SSE-DATA-ARRAY, SSE-DATA-NESTED
        def rejects(code, data):
            self.rejects(code, envelope(sse(data)), "streamable-http")

        rejects("broken-data", json.dumps(ANSWER[:-1]))
        rejects("broken-data", json.dumps(" {oops"))
        rejects("batch", f"[{ANSWER}]")
        rejects("batch", json.dumps(f"[{ANSWER}]"))
        rejects("nested-data", json.dumps(json.dumps(ANSWER)))
        rejects("ambiguous-member", f'{ANSWER},"data":{ANSWER}')


class Discovery(Case):
    def found(self, headers, status="401", slot="response", body="null"):
        entry = f'{{"transport_context":{{"status":{status},"headers":{headers}}},"{slot}":{body}}}'
        return self.meaning(envelope(entry), "streamable-http")["authorization_discovery"]

    def header(self, value, **more):
        return self.found(json.dumps({"WWW-Authenticate": value}), **more)

    def flags(self, value):
        summary = self.header(value)
        return summary and (summary["resource_metadata_visible"], summary["scope_challenge_visible"])

    def test_the_summary(self):  # K2A-SUMMARY
        whole = 'Bearer realm="x", resource_metadata="https://e.x/.well-known", scope="a b"'
        expected = SUMMARY | {"resource_metadata_visible": True, "scope_challenge_visible": True}
        self.assertEqual(self.header(whole), expected)
        self.assertEqual(self.found(json.dumps({"www-AUTHENTICATE": whole})), expected)

    def test_parameters(self):  # K2A-BOUND
        for value, expected in {
            'Bearer scope="a"': (False, True),
            "Bearer Scope = a": (False, True),
            'Bearer resource_metadata="x"': (True, False),
            'Basic realm="x", DPoP algs="ES256", scope=a': (False, True),
            'Negotiate YWJj==, Bearer scope="a"': (False, True),
            'Bearer realm="a, scope=\\"b\\", resource_metadata=c"': None,
            'Bearer realm="scope=x"': None,
            "Bearer": None,
            "": None,
            "Bearer scopes=a, x_scope=b": None,
            "scope=a": None,
            "Bearer scope": None,
            'Bearer error_description="no scope", error="insufficient_scope"': None,
        }.items():
            with self.subTest(value):
                self.assertEqual(self.flags(value), expected)

    def test_only_there(self):  # K2A-BOUND, K2A-SPELLING
        good = 'Bearer scope="a"'
        for status in ("403", "200", '"401"', "null"):
            self.assertIsNone(self.header(good, status=status))
        self.assertIsNone(self.header(good, slot="sse"))
        self.assertIsNone(self.header(good, slot="request"))
        self.assertIsNone(self.found(json.dumps({"WWW-Authenticate": [good]})))
        self.assertIsNone(self.found(json.dumps([{"name": "WWW-Authenticate", "value": good}])))

    def test_two_challenges_in_one_session(self):
        def entry(value):
            headers = json.dumps({"WWW-Authenticate": value})
            return f'{{"transport_context":{{"status":401,"headers":{headers}}},"response":null}}'

        text = envelope(entry("Bearer scope=a"), entry("Bearer resource_metadata=b"), entry("Bearer"))
        expected = SUMMARY | {"resource_metadata_visible": True, "scope_challenge_visible": True}
        self.assertEqual(self.meaning(text, "streamable-http")["authorization_discovery"], expected)

    def test_in_a_har(self):  # HAR-K2A
        headers = [{"name": "www-authenticate", "value": "Bearer scope=a"}]
        text = har(exchange(CALL, '{"error":"invalid_token"}', status=401, headers=headers))
        meaning = self.meaning(text, "har")
        self.assertEqual(len(meaning["events"]), 1)
        self.assertTrue(meaning["authorization_discovery"]["scope_challenge_visible"])


class Inspector(Case):
    def test_documents(self):  # INS-SHAPE
        self.assertEqual(len(self.events(f"[{CALL},{ANSWER}]", "inspector")), 2)
        self.assertEqual(self.events('{"events":[]}', "inspector"), [])
        for other in ("{}", "7", '{"events":{}}', CALL):
            self.rejects("wrong-document", other, "inspector")
        self.rejects("batch", f"[[{CALL}]]", "inspector")
        self.rejects("not-a-message", "[7]", "inspector")

    def entry(self, timestamp, message, origin="client", **folded):
        entry = {"id": "x", "timestamp": timestamp, "direction": "request", "origin": origin, "message": json.loads(message)}
        return json.dumps(entry | folded)

    def test_a_folded_answer_stands_at_its_time(self):  # INS-EXPORT
        slow = self.entry("2026-01-01T00:00:00.100Z", CALL, response=json.loads(ANSWER), duration=500)
        asked = self.entry("2026-01-01T01:00:00.200+01:00", request(1), "server", response=json.loads(result(1)), duration=100.5)
        late = self.entry(1767225600700, request(2))
        bare = request(3)
        text = f"[{late},{bare},{slow},{asked}]"
        self.assertEqual(
            self.short(text, "inspector"),
            [("tool_call", "c"), ("request", "1"), ("result", "1", 1), ("result", "c", 0), ("request", "2"), ("request", "3")],
        )

    def test_odd_times(self):
        far = self.entry(0, CALL).replace('"timestamp": 0', '"timestamp": 1e999999999')
        far = far.replace('"message"', f'"duration":9e999999999,"response":{ANSWER},"message"')
        text = f"[{far},{self.entry(-5.5, request(1))},{self.entry(None, request(2))}]"
        self.assertEqual([e[1] for e in self.short(text, "inspector")], ["1", "2", "c", "c"])
        dates = ("2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "1970-01-01T00:00:01", "1970-01-01T00:00Z", "1970-01-02T00:00:00+25:00")
        for wrong in ("soon", *dates, "", True, {}):
            self.rejects("wrong-type", f"[{self.entry(wrong, CALL)}]", "inspector")
        for spelled in ("1970-01-01T00:00:01Z", "1970-01-01t01:00:01.000000+01:00", "1969-12-31T18:30:01-05:30"):
            entries = [self.entry(spelled, request(1)), self.entry(1000, request(2)), self.entry(999, request(3))]
            self.assertEqual([e[1] for e in self.short(f"[{','.join(entries)}]", "inspector")], ["3", "1", "2"])

    def test_the_year_0(self):
        days = ("0000-03-01T00:00:00Z", "0001-01-01T00:00:00Z", "0000-02-29T00:00:00Z", "0000-01-01T00:00:00+00:01")
        entries = [self.entry(day, request(number)) for number, day in enumerate(days)]
        self.assertEqual([e[1] for e in self.short(f"[{','.join(entries)}]", "inspector")], ["3", "2", "0", "1"])

    def test_origins_are_directions(self):
        text = f'[{self.entry(1, request(1))},{self.entry(2, request(1), "server")},{self.entry(3, result(1))}]'
        self.assertEqual(self.short(text, "inspector")[2], ("result", "1", 1))

    def test_ties_by_position(self):
        text = f'[{self.entry(1, CALL, response=json.loads(ANSWER), duration=0)},{self.entry(1, request(1))}]'
        self.assertEqual([e[0] for e in self.short(text, "inspector")], ["tool_call", "result", "request"])


class Har(Case):
    def test_order_of_exchanges(self):  # HAR-ORDER
        later = exchange(request(2), result(2), at="2026-01-01T00:00:02Z")
        first = exchange(request(1), result(1), at="2026-01-01T00:00:01.5Z")
        middle = exchange(request(3), result(3), at="2026-01-01T00:00:01.500001Z")
        self.assertEqual([e[1] for e in self.short(har(later, middle, first), "har")], ["1", "1", "3", "3", "2", "2"])

    def test_what_carries_nothing(self):  # HAR-MESSAGE
        entries = [
            exchange(None, "<html>", "text/html", method="GET"),
            exchange("a=b&c=d", "Accepted", "text/plain"),
            exchange('{"method":"ping"}', '{"error":"invalid_token"}'),
            exchange("7", "[1,2]"),
            exchange(CALL[:-3], ""),
            exchange(request(1), result(1), "text/plain", method="PUT"),
            exchange("", result(1), "text/plain"),
        ]
        self.assertEqual(self.events(har(*entries), "har"), [])
        self.rejects("batch", har(exchange(f"[{CALL}]")), "har")
        self.assertEqual(len(self.events(har(exchange(CALL, ANSWER, "Application/JSON ; charset=utf-8")), "har")), 2)

    def stream(self, text, **more):
        return self.events(har(exchange(None, text, "text/event-stream; charset=utf-8", method="GET", **more)), "har")

    def test_streams(self):  # HAR-STREAM
        head, tail = ANSWER[:10], ANSWER[10:]  # between two tokens, where a line break is space
        for end in ("\n", "\r", "\r\n"):
            for text in (f"data: {ANSWER}\n\n", f"data:{ANSWER}\n\n", f": hi\nid: 1\nretry: 5\nevent: message\ndata: {ANSWER}\n\n",
                         f"data\ndata: {head}\ndata: {tail}\nid\n\n", f"\ufeffdata: {ANSWER}\n\n", f"event: ping\n\ndata: {ANSWER}\n\n",
                         f"data: {ANSWER}\n\ndata: {CALL}\n", f"data: {ANSWER}\n\ndata: {CALL}"):  # fmt: skip
                with self.subTest(text=text, end=end):
                    self.assertEqual([e["kind"] for e in self.stream(text.replace("\n", end))], ["result"])
        for text in ("", "data\n\n", ": ping\n\n", f"event: ping\ndata: {ANSWER}\n\n", f" data: {ANSWER}\n\n", f"Data: {ANSWER}\n\n",
                     f"event:  message\ndata: {ANSWER}\n\n"):  # fmt: skip
            self.assertEqual(self.stream(text), [])
        separated = ANSWER.replace("sum", "a\u2028b\u0085c")
        self.assertEqual(self.stream(f"data: {separated}\n\n")[0]["result"], {"a\u2028b\u0085c": 3})
        for broken in ('data: {"jsonrpc"\n\n', 'data: {"jsonrpc":"2.0","result":1\ndata: 2}\n\n'):  # lines are joined with LF
            self.rejects("broken-data", har(exchange(None, broken, "text/event-stream", method="GET")), "har")

    def test_base64(self):
        text = base64.b64encode(f"data: {ANSWER}\n\n".replace("sum", "süm").encode()).decode()
        self.assertEqual(self.stream(text, content={"encoding": "base64"})[0]["result"], {"süm": 3})
        broken = base64.b64encode(b'data: {"jsonrpc":"2.0","id":1,"result":"\xff"}\n\n').decode()
        with self.assertRaises(Rejection) as caught:
            self.stream(broken, content={"encoding": "base64"})
        self.assertEqual(caught.exception.code, "invalid-utf8")

    def test_missing_bodies_are_counted(self):  # HAR-MISSING
        entry = exchange(CALL, content={"size": 9, "text": None})
        reading = read_bytes(har(entry, exchange(request(1), result(1))).encode(), "har")
        self.assertEqual(len(reading.meaning["events"]), 3)
        self.assertIn("1 bodies", reading.notes[0])
        for text in ("{}", '{"log":{}}', '{"log":[]}', '{"log":{"entries":{}}}'):
            self.rejects("missing-entries", text, "har")
        self.rejects("wrong-document", "[]", "har")


if __name__ == "__main__":
    unittest.main()
