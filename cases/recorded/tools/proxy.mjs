// A forwarding HTTP proxy for loopback. It passes requests and streams on as they come and remembers two things:
// the exchanges, as a HAR 1.2 file with every body verbatim, and the messages in the order in which they passed.
// It knows HTTP and the framing of event streams. It does not judge, bind or change a message.

import { createServer, request } from "node:http";

// Starts a proxy on 127.0.0.1:`port` in front of `target` (a port on loopback). `cut(event, exchange)` may say that the
// connection to the client breaks after an event: that is how a network that fails is recorded.
export async function startProxy(port, target, cut = () => false) {
  const exchanges = [];
  const wire = []; // in observed order: {at, dir, text, carrier, exchange, …}
  const server = createServer((from, to) => forward(from, to).catch((error) => to.destroy(error)));
  await new Promise((ready) => server.listen(port, "127.0.0.1", ready));

  async function forward(from, to) {
    const exchange = {
      started: Date.now(), method: from.method, url: `http://127.0.0.1:${port}${from.url}`,
      requestHeaders: pairs(from.rawHeaders), requestBody: "", status: 0, statusText: "", responseHeaders: [], responseBody: "",
    };
    exchanges.push(exchange);
    exchange.requestBody = await bodyOf(from);
    if (isMessage(exchange.requestBody)) {
      wire.push({ at: Date.now(), dir: "in", carrier: "post", text: exchange.requestBody.trim(), exchange });
    }
    const upstream = request({
      host: "127.0.0.1", port: target, method: from.method, path: from.url, headers: exchange.requestHeaders.flatMap((h) => [h.name, h.value]),
    });
    to.on("close", () => upstream.destroy());
    upstream.on("error", () => to.destroy());
    upstream.on("response", (answer) => relay(answer, to, exchange));
    upstream.end(exchange.requestBody);
  }

  function relay(answer, to, exchange) {
    exchange.status = answer.statusCode;
    exchange.statusText = answer.statusMessage;
    exchange.responseHeaders = pairs(answer.rawHeaders);
    exchange.answered = Date.now();
    to.writeHead(answer.statusCode, answer.statusMessage, answer.rawHeaders);
    to.flushHeaders();
    const streaming = (answer.headers["content-type"] ?? "").startsWith("text/event-stream");
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const events = eventReader((event) => {
      wire.push({ at: Date.now(), dir: "out", carrier: "sse", text: event.data, ...event, exchange });
      if (cut(event, exchange)) to.destroy();
    });
    answer.on("data", (chunk) => {
      if (to.destroyed) return; // What the client can no longer get is not part of the recording.
      const text = decoder.decode(chunk, { stream: true });
      exchange.responseBody += text;
      to.write(chunk);
      if (streaming) events(text);
    });
    answer.on("end", () => {
      exchange.ended = Date.now();
      if (!streaming && isMessage(exchange.responseBody)) {
        wire.push({ at: exchange.ended, dir: "out", carrier: "json", text: exchange.responseBody.trim(), exchange });
      }
      to.end();
    });
    answer.on("error", () => to.destroy());
  }

  const close = () => new Promise((done) => { server.close(done); server.closeAllConnections(); });
  return { wire, exchanges, close };
}

// Reads an event stream by the WHATWG processing model; an unfinished last event is never handed over.
function eventReader(onEvent) {
  let rest = "", event = {}, data = [];
  return (text) => {
    rest += text;
    for (let line; (line = /^([^\r\n]*)(\r\n|\n|\r(?!$))/.exec(rest)); ) {
      rest = rest.slice(line[0].length);
      const [, name, value] = /^([^:]*):? ?(.*)$/su.exec(line[1]);
      if (line[1] === "") {
        if (data.length || event.id !== undefined) onEvent({ ...event, data: data.join("\n") });
        event = {}; data = [];
      } else if (name === "data") data.push(value);
      else if (name === "event" || name === "id") event[name] = value;
    }
  };
}

export function har(exchanges) {
  const entries = exchanges.filter((x) => x.status).map((x) => ({
    startedDateTime: new Date(x.started).toISOString(),
    time: (x.ended ?? x.answered) - x.started,
    request: {
      method: x.method, url: x.url, httpVersion: "HTTP/1.1", cookies: [], headers: x.requestHeaders,
      queryString: [...new URL(x.url).searchParams].map(([name, value]) => ({ name, value })),
      ...(x.requestBody && { postData: { mimeType: header(x.requestHeaders, "content-type") ?? "", text: x.requestBody } }),
      headersSize: -1, bodySize: Buffer.byteLength(x.requestBody),
    },
    response: {
      status: x.status, statusText: x.statusText, httpVersion: "HTTP/1.1", cookies: [], headers: x.responseHeaders,
      content: { size: Buffer.byteLength(x.responseBody), mimeType: header(x.responseHeaders, "content-type") ?? "", text: x.responseBody },
      redirectURL: "", headersSize: -1, bodySize: Buffer.byteLength(x.responseBody),
    },
    cache: {},
    timings: { send: 0, wait: x.answered - x.started, receive: (x.ended ?? x.answered) - x.answered },
  }));
  return JSON.stringify({ log: { version: "1.2", creator: { name: "recording proxy", version: "1" }, entries } }, null, 1) + "\n";
}

export const header = (headers, name) => headers.find((h) => h.name.toLowerCase() === name)?.value;

export function isMessage(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && "jsonrpc" in value;
  } catch {
    return false;
  }
}

async function bodyOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function pairs(raw) {
  const headers = [];
  for (let i = 0; i < raw.length; i += 2) headers.push({ name: raw[i], value: raw[i + 1] });
  return headers;
}
