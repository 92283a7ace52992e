// Writes one recorded session in every capture format that can carry it. Messages are texts here: each is spliced in
// as it stood on the wire. What a format cannot carry is said by name, and no file is written for it.
// It knows the shape of the formats and which requests are open. It does not bind answers: meaning.py does.

import { har, header, isMessage } from "./proxy.mjs";

// Messages of an mcp-replay file that tee.mjs wrote.
export function readTrace(trace) {
  return trace.split("\n").filter((line) => /^\{"t":"[^"]*","dir":/.test(line)).map((line) => {
    const [head, at, dir] = /^\{"t":"([^"]*)","dir":"(in|out)","raw":/.exec(line);
    return { at: Date.parse(at), dir, text: line.slice(head.length, -1) };
  });
}

// A recording over stdio: {file name: text} and {format: why not}.
export function fromStdio(trace) {
  const wire = readTrace(trace);
  const files = { "mcp-replay.jsonl": trace, "streamable-http.json": envelope("streamable-http", wire), "http-sse.json": envelope("http-sse", wire) };
  const left = {};
  flat(wire, files, left);
  const exchanges = asExchanges(wire);
  if (sameOrder(wire, exchanges.flatMap((x) => x.messages))) files["har.har"] = har(exchanges);
  else left.har = "HAR-ORDER: an exchange holds its whole answer, so messages that arrive while another request is open would move";
  return { files, left, messages: wire };
}

// A recording over HTTP, in the order in which the proxy saw the messages.
export function fromHttp(transport, wire, exchanges, meta) {
  const messages = wire.filter((m) => carries(m));
  const files = { "mcp-replay.jsonl": asTrace(messages, meta) }, left = {};
  if (exchanges.some((x) => x.status === 401)) {
    left["streamable-http"] = left["http-sse"] = "ENV-NULL: the body of the 401 is no JSON-RPC message, and how an envelope shows such an answer is open";
  } else {
    const other = transport === "http-sse" ? "streamable-http" : "http-sse";
    files[`${transport}.json`] = envelope(transport, wire);
    files[`${other}.json`] = envelope(other, messages.map(({ at, dir, text }) => ({ at, dir, text })));
  }
  flat(messages, files, left);
  const inHar = harOrder(messages, exchanges);
  if (sameOrder(messages, inHar)) files["har.har"] = har(exchanges);
  else left.har = "HAR-ORDER: the exchanges of the real HAR file give another order; it is a case of its own";
  return { files, left, messages };
}

export const carries = (m) => isMessage(m.text) && (m.carrier !== "sse" || !m.event || m.event === "message");

// The order that HAR-ORDER gives: by exchange, and in an exchange its request, then its answer.
export const harOrder = (messages, exchanges) => exchanges.flatMap((x) => messages.filter((m) => m.exchange === x));

const sameOrder = (a, b) => a.length === b.length && a.every((m, i) => m.text === b[i].text && m.dir === b[i].dir);

function flat(messages, files, left) {
  if (sameIdOpenOnBothSides(messages)) {
    left.jsonrpc = left.inspector = "COR-DIRECTION-FLAT";
    return;
  }
  files["jsonrpc.jsonl"] = messages.map((m) => m.text + "\n").join("");
  files["inspector.json"] = "[\n" + messages.map((m) => m.text).join(",\n") + "\n]\n";
}

function sameIdOpenOnBothSides(messages) {
  const open = { in: new Map(), out: new Map() };
  const change = (map, key, by) => map.set(key, (map.get(key) ?? 0) + by);
  return messages.some(({ dir, text }) => {
    const { id, method } = JSON.parse(text);
    if (id === undefined || id === null) return false;
    const key = String(id), own = open[dir], others = open[dir === "in" ? "out" : "in"];
    if (method === undefined) { if (others.get(key)) change(others, key, -1); return false; }
    change(own, key, 1);
    return (others.get(key) ?? 0) > 0;
  });
}

function asTrace(messages, { startedAt, endedAt, label, command, exitCode }) {
  const lines = [JSON.stringify({ v: 1, type: "meta", startedAt: iso(startedAt), label, command })];
  for (const m of messages) lines.push(`{"t":"${iso(m.at)}","dir":"${m.dir}","raw":${m.text}}`);
  lines.push(JSON.stringify({ t: iso(endedAt), type: "end", exitCode, durationMs: endedAt - startedAt }));
  return lines.join("\n") + "\n";
}

function envelope(transport, wire) {
  const context = { headers: {} };
  for (const { exchange } of wire) {
    if (!exchange) continue;
    for (const name of ["MCP-Protocol-Version", "Mcp-Session-Id"]) {
      const value = header(exchange.requestHeaders, name.toLowerCase());
      if (value) context.headers[name] = value;
    }
  }
  const head = Object.keys(context.headers).length ? `"transport_context":${JSON.stringify(context)},\n` : "";
  return `{"transport":"${transport}",\n${head}"entries":[\n${wire.map((m) => entry(transport, m)).join(",\n")}\n]}\n`;
}

function entry(transport, m) {
  const parts = [`"timestamp_ms":${m.at}`];
  const context = contextOf(m);
  if (context) parts.push(`"transport_context":${JSON.stringify(context)}`);
  if (m.dir === "in") parts.push(`"request":${m.text}`);
  else if (m.carrier === "json" || (!m.carrier && transport === "streamable-http" && JSON.parse(m.text).method === undefined)) {
    parts.push(`"response":${m.text}`);
  } else parts.push(`"sse":${sseEntry(transport, m)}`);
  return `{${parts.join(",")}}`;
}

// The older transport's envelope keeps `data` as the string that it is on the wire; the newer one's as the message.
function sseEntry(transport, m) {
  const parts = [];
  const event = m.carrier ? m.event : "message";
  if (event !== undefined) parts.push(`"event":${JSON.stringify(event)}`);
  if (m.id !== undefined) parts.push(`"id":${JSON.stringify(m.id)}`);
  const asObject = transport === "streamable-http" && isMessage(m.text);
  parts.push(`"data":${asObject ? m.text : JSON.stringify(m.text)}`);
  return `{${parts.join(",")}}`;
}

function contextOf({ exchange, dir, carrier }) {
  if (!exchange) return undefined;
  const keep = (headers, names) => Object.fromEntries(headers.filter((h) => names.includes(h.name.toLowerCase())).map((h) => [h.name, h.value]));
  if (dir === "in") return { method: exchange.method, headers: keep(exchange.requestHeaders, ["accept", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"]) };
  if (carrier === "json") return { status: exchange.status, headers: keep(exchange.responseHeaders, ["content-type", "mcp-session-id"]) };
  const last = header(exchange.requestHeaders, "last-event-id");
  return last && { headers: { "Last-Event-ID": last } };
}

// A stdio session told as HTTP: each client message is a POST, a server's message stands in the answer of the request
// that it answers or that is the newest open one, and on a GET where none is open.
function asExchanges(wire) {
  const exchanges = [], open = new Map();
  const begin = (at, method) => {
    const x = { started: at, answered: at, method, url: "http://127.0.0.1:3900/mcp", requestHeaders: [], requestBody: "", messages: [], answers: [] };
    exchanges.push(x);
    return x;
  };
  for (const m of wire) {
    const { id, method } = JSON.parse(m.text);
    if (m.dir === "in") {
      const x = begin(m.at, "POST");
      x.requestBody = m.text;
      x.messages.push(m);
      if (method !== undefined && id !== undefined) open.set(JSON.stringify(id), x);
      continue;
    }
    const key = JSON.stringify(id), answered = method === undefined ? open.get(key) : undefined;
    const last = exchanges.at(-1);
    const x = answered ?? [...open.values()].at(-1) ?? (last?.method === "GET" ? last : begin(m.at, "GET"));
    if (answered) open.delete(key);
    x.messages.push(m);
    x.answers.push(m.text);
    x.ended = m.at;
  }
  for (const x of exchanges) dress(x);
  return exchanges;
}

function dress(x) {
  const type = x.answers.length === 0 ? undefined : x.method === "POST" && x.answers.length === 1 ? "application/json" : "text/event-stream";
  x.status = type ? 200 : 202;
  x.statusText = type ? "OK" : "Accepted";
  x.requestHeaders = x.method === "POST"
    ? [{ name: "content-type", value: "application/json" }, { name: "accept", value: "application/json, text/event-stream" }]
    : [{ name: "accept", value: "text/event-stream" }];
  x.responseHeaders = type ? [{ name: "content-type", value: type }] : [];
  x.responseBody = type === "application/json" ? x.answers[0] : x.answers.map((text) => `event: message\ndata: ${text}\n\n`).join("");
}

const iso = (ms) => new Date(ms).toISOString();
