"use strict";
// A session as a viewer looks at it: which rows belong together, what is marked, and which a filter leaves. No DOM here.

// What another text would hide in, spelled out. Line ends and tabs stay where a text has lines.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e007f}]/gu;
const plain = (text) => String(text).replace(OBEYED, (char) => `\\u{${char.codePointAt(0).toString(16)}}`);
const onOneLine = (text) => plain(text).replace(/[\n\t]/g, " ");

// A moment or a span of time in milliseconds, as the other outputs write it.
const seconds = (time) => {
  const all = Math.abs(time);
  const pad = (number, width) => String(number).padStart(width, "0");
  const [second, rest] = [Math.floor(all / 1000), pad(Math.floor(all % 1000), 3)];
  const sign = time < 0 ? "-" : "";
  if (second < 60) return `${sign}${second}.${rest} s`;
  const minutes = Math.floor(second / 60);
  if (minutes < 60) return `${sign}${minutes}:${pad(second % 60, 2)}.${rest}`;
  return `${sign}${Math.floor(minutes / 60)}:${pad(minutes % 60, 2)}:${pad(second % 60, 2)}.${rest}`;
};
const span = (time) => (time < 1000 ? `${time} ms` : seconds(time));

const SIGNS = { error: "✗", warning: "!", note: "·" };
const TONES = { error: "bad", warning: "odd", note: "calm" };
const FLAGS = { "never answered": ["?", "bad"], orphan: ["∅", "odd"], "delivered again": ["↻", "odd"], "differs here": ["≠", "bad"] };
// More exchanges than this at one time share the last column.
const COLUMNS = 4;

// What is marked of a row: a sign, words, and a tone.
const marksOf = (row, findings) => {
  const marks = [];
  if (row.is === "error") marks.push(["✗", "error", "bad"]);
  if (row.isError) marks.push(["✗", "isError", "bad"]);
  for (const flag of row.flags || []) marks.push([FLAGS[flag][0], flag, FLAGS[flag][1]]);
  if (row.severity) marks.push([SIGNS[row.severity], row.severity === "error" ? "failed" : "look", TONES[row.severity]]);
  const levels = row.findings.map((at) => findings[at].level);
  const worst = ["error", "warning", "note"].find((level) => levels.includes(level));
  if (worst) marks.push([SIGNS[worst], `${levels.length} ${levels.length === 1 ? "finding" : "findings"}`, TONES[worst]]);
  return marks;
};

// Which band each row lies in, for each column: the place of the band's first row plus one, or 0.
const columnsOf = (rows) => {
  const bands = new Map();
  for (const row of rows) {
    if (row.band === undefined) continue;
    const band = bands.get(row.band);
    if (band) band.last = row.index;
    else bands.set(row.band, { first: row.index, last: row.index });
  }
  const columns = [];
  for (const band of bands.values()) {
    let at = columns.findIndex((column) => column.end < band.first);
    if (at < 0 && columns.length < COLUMNS) at = columns.push({ end: -1, rows: new Int32Array(rows.length) }) - 1;
    if (at < 0) at = COLUMNS - 1;
    const column = columns[at];
    column.rows.fill(band.first + 1, band.first, band.last + 1);
    column.end = Math.max(column.end, band.last);
    band.column = at;
  }
  return { bands, columns };
};

// What an exchange says in a line: its path and its status first, since its host is the same on every line.
const exchangeWords = (text) => {
  const parts = /^(\S+) (\w+:\/\/[^/?#\s]+)(\S*)(.*)$/s.exec(text || "");
  return parts ? `${parts[1]} ${parts[3] || "/"}${parts[4]} · ${parts[2]}` : text;
};

// The head of an exchange is folded into its first message, and a note that nothing marks into the list: each says little that
// the messages do not.
const fold = (rows) => {
  const heads = new Map();
  for (const row of rows) {
    if (row.number === undefined && row.is === "note") row.folded = row.marks.length === 0 && row.opens === undefined;
    if (row.opens !== undefined) {
      row.words = exchangeWords(words(row));
      heads.set(row.band, row);
    }
    const head = row.number === undefined ? undefined : heads.get(row.band);
    if (head && head.marks.length === 0 && !head.folded) {
      head.folded = true;
      row.around = head.words.split(" · ")[0].split(/,? (?=[\w.+-]+\/|\d+ m?s)/)[0];
    }
  }
};

const readSession = (model) => {
  const { rows, findings } = model;
  const numbered = new Map();
  rows.forEach((row, index) => {
    row.index = index;
    row.findings = [];
    if (row.number !== undefined) numbered.set(row.number, row);
  });
  findings.forEach((finding, at) => {
    if (finding.row !== undefined) rows[finding.row].findings.push(at);
  });
  const counts = { method: new Map(), tool: new Map(), rule: new Map() };
  const count = (name, value) => value && counts[name].set(value, (counts[name].get(value) || 0) + 1);
  let [first, last] = [Infinity, -Infinity];
  for (const row of rows) {
    const asked = row.answers === undefined ? undefined : numbered.get(row.answers);
    if (asked) {
      row.asked = asked.index;
      asked.answered = asked.answered || row.index;
      [row.method, row.tool] = [asked.method, asked.tool];
    } else if (row.is === "tool call") [row.method, row.tool] = ["tools/call", row.name];
    else if (row.number !== undefined) row.method = row.name;
    row.marks = marksOf(row, findings);
    row.tone = ["bad", "odd"].find((tone) => row.marks.some(([, , it]) => it === tone));
    count("method", row.method);
    count("tool", row.tool);
    if (row.time !== undefined) [first, last] = [Math.min(first, row.time), Math.max(last, row.time)];
  }
  for (const finding of findings) count("rule", finding.rule);
  fold(rows);
  return { ...model, counts, numbered, ...columnsOf(rows), times: first < last ? { first, last } : undefined };
};

// What can be searched of a row, made when somebody searches.
const searched = (row) => {
  if (row.search === undefined) {
    const headers = (row.headers || []).flatMap(([, list]) => list.map(([name, value]) => `${name}: ${value}`));
    const facts = (row.facts || []).map(([, value]) => value);
    row.search = [row.name, row.words, row.id, row.raw, ...facts, ...headers].filter(Boolean).join("\n").toLowerCase();
  }
  return row.search;
};

// What "only" may leave, by its name in the form.
const ONLY = {
  rows: () => true,
  messages: (row) => row.number !== undefined,
  marked: (row) => row.marks.length > 0,
  errors: (row) => row.is === "error" || row.isError === true || row.severity !== undefined,
  "never answered": (row) => (row.flags || []).includes("never answered"),
  "delivered again": (row) => (row.flags || []).includes("delivered again"),
  orphan: (row) => (row.flags || []).includes("orphan"),
};

// The rows that a filter leaves, by their places.
const filtered = (session, wanted) => {
  const text = (wanted.text || "").toLowerCase();
  const tests = [];
  if (!["text", "only", "id", "finding"].some((name) => wanted[name])) tests.push((row) => !row.folded || row.index === wanted.row);
  if (wanted.method) tests.push((row) => row.method === wanted.method);
  if (wanted.tool) tests.push((row) => row.tool === wanted.tool);
  if (wanted.id) tests.push((row) => row.id === wanted.id || (row.facts || []).some(([name, value]) => name === "Event id" && value === wanted.id));
  if (wanted.direction) tests.push((row) => row.from !== undefined && (row.from === 0 ? "client" : "server") === wanted.direction);
  if (ONLY[wanted.only]) tests.push(ONLY[wanted.only]);
  if (wanted.finding === "any") tests.push((row) => row.findings.length > 0);
  else if (wanted.finding) tests.push((row) => row.findings.some((at) => session.findings[at].rule === wanted.finding));
  if (wanted.span) tests.push((row) => row.time !== undefined && row.time >= wanted.span[0] && row.time <= wanted.span[1]);
  if (text) tests.push((row) => searched(row).includes(text));
  const left = [];
  for (const row of session.rows) if (tests.every((test) => test(row))) left.push(row.index);
  return left;
};

// JSON with a line for each member, its numbers and strings as they were written; none where it is not JSON.
const pretty = (text) => {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const out = [];
  let depth = 0;
  // Deep nesting would be all indentation.
  const line = () => "\n" + "  ".repeat(Math.min(depth, 20));
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;
  const tokens = text.match(token) || [];
  for (let at = 0; at < tokens.length; at++) {
    const it = tokens[at];
    if ((it === "{" && tokens[at + 1] === "}") || (it === "[" && tokens[at + 1] === "]")) out.push(it, tokens[++at]);
    else if (it === "{" || it === "[") {
      depth += 1;
      out.push(it, line());
    } else if (it === "}" || it === "]") {
      depth -= 1;
      out.push(line(), it);
    } else if (it === ",") out.push(it, line());
    else out.push(it === ":" ? ": " : it);
  }
  return out.join("");
};
