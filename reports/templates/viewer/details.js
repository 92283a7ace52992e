// One row opened whole, and the overview with all findings. Every text goes through textContent.

// An element with attributes; a listener where the value is a function; children are elements and texts.
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== ""));
  return element;
};

const badge = ([sign, words, tone]) => make("span", { class: `badge ${tone}` }, make("span", { "aria-hidden": "true" }, sign), ` ${words}`);

// A row in a few words.
const words = (row) => {
  if (row.words) return row.words;
  if (row.number === undefined) return row.name || row.is;
  const of = row.is === "result" || row.is === "error" ? " of" : "";
  return row.name ? `${row.is}${of} ${row.name}` : row.is;
};

// A sentence with what it quotes as code: between backticks.
const prose = (text) => {
  const parts = onOneLine(text).split("`");
  return parts.length % 2 ? parts.map((part, at) => (at % 2 ? make("code", {}, part) : part)) : [onOneLine(text)];
};

const whole = (number) => number.toLocaleString("en-GB");
const counted = (number, one, several) => `${whole(number)} ${number === 1 ? one : several}`;

// A link to another view of the page, which the hash keeps; `go` follows it. No element has such an id, so the address is a
// whole one: a bare hash is what links that skip a part of a page have.
const link = (text, hash, go) =>
  make("a", { href: location.pathname + location.search + hash, click: (event) => { event.preventDefault(); go(); } }, onOneLine(text));

const toRow = (session, index, go, text) =>
  link(text || `${session.rows[index].number === undefined ? "" : `message ${session.rows[index].number}: `}${words(session.rows[index])}`,
    `#row=${index}`, () => go.row(index));

const table = (title, pairs) =>
  make("details", { open: pairs.length <= 12 }, make("summary", {}, `${title} (${pairs.length})`),
    make("dl", {}, ...pairs.flatMap(([name, value]) => [make("dt", {}, onOneLine(name)), make("dd", {}, onOneLine(value))])));

// What a rule asks, and how to keep to it.
const ruleOf = (session, { rule, link: leads }) => {
  const about = session.rules[rule];
  if (!about) return "";
  const source = /^https?:/.test(leads) ? make("a", { href: leads, rel: "noreferrer" }, about.source) : about.source;
  return make("p", { class: "faint" }, ...prose(`${about.title}. ${about.fix}`), " (", source, ")");
};

const ruleHead = ({ level, rule, party }, ...more) =>
  make("p", {}, badge([SIGNS[level], level, TONES[level]]), " ", make("code", {}, rule), ` (${party})`, ...more);

const findingOf = (session, at, go, here) => {
  const finding = session.findings[at];
  const item = make("li", { id: `finding-${at}`, class: `finding ${TONES[finding.level]}`, tabindex: "-1" },
    here === undefined ? "" : ruleHead(finding), make("p", {}, ...prose(finding.message)), here === undefined ? "" : ruleOf(session, finding));
  const place = make("p", { class: "faint" });
  if (finding.line !== undefined) place.append(`Line ${finding.line}${finding.pointer ? ` at ${onOneLine(finding.pointer)}` : ""}${finding.within ? `, in the text at ${onOneLine(finding.within)}` : ""}. `);
  if (finding.row !== undefined && finding.row !== here) place.append("See ", toRow(session, finding.row, go), ". ");
  if (finding.row === here) place.append(link("In the list of findings", `#finding-at=${at}`, () => go.finding(at)), ". ");
  if (finding.other && finding.other.row !== undefined) place.append(`Compare ${finding.other.what}: `, toRow(session, finding.other.row, go), ". ");
  else if (finding.other) place.append(`Compare ${finding.other.what} on line ${finding.other.line}. `);
  if (finding.more) place.append(`${counted(finding.more, "more place", "more places")} like this ${finding.more === 1 ? "is" : "are"} counted but not listed.`);
  if (place.childNodes.length > 0) item.append(place);
  return item;
};

// The findings of a rule, with what it asks said once.
const ruleGroup = (session, found, go) => {
  const first = session.findings[found[0]];
  const count = found.length > 1 ? make("span", { class: "faint" }, ` ${whole(found.length)} times`) : "";
  return make("section", { class: `rule ${TONES[first.level]}` }, ruleHead(first, count), ruleOf(session, first),
    make("ul", { class: "findings" }, ...found.map((at) => findingOf(session, at, go))));
};

// The content of a row: laid out by default where it is JSON, and as it was recorded.
const content = (row) => {
  const laid = row.cut ? undefined : pretty(row.raw);
  const text = make("pre", { tabindex: "0", "aria-label": "The text" });
  const buttons = [];
  const show = (which) => {
    text.textContent = plain(which === "pretty" ? laid : row.raw);
    for (const [name, button] of buttons) button.setAttribute("aria-pressed", String(name === which));
  };
  for (const [name, label] of laid === undefined ? [] : [["pretty", "Pretty"], ["raw", "Raw"]]) {
    buttons.push([name, make("button", { type: "button", click: () => show(name) }, label)]);
  }
  show(laid === undefined ? "raw" : "pretty");
  return make("div", { class: "content" },
    make("div", { class: "bar" }, make("h3", {}, row.number === undefined ? "Content" : "Message"), ...buttons.map(([, button]) => button)), text);
};

const cutNote = (row) =>
  make("p", { class: "badge odd" },
    `! ${counted(row.cut, "byte", "bytes")} of it ${row.cut === 1 ? "is" : "are"} not in this page. To see all: ` +
    (row.number === undefined ? "mcp-concord show --output html --all FILE" : `mcp-concord show --output html --all FILE, or mcp-concord read FILE (message ${row.number})`));

// Milliseconds since 1970, or, where that would be in its first years, since a moment that the recording does not say.
const moment = (row) => {
  const date = new Date(row.at);
  const epoch = row.at > 1e11 && !Number.isNaN(date.getTime());
  return epoch ? `${date.toISOString()} (${row.at} ms)` : `${row.at} ms`;
};

// A row, whole.
const rowDetails = (session, row, go) => {
  const facts = [];
  const fact = (name, ...value) => facts.push(make("dt", {}, name), make("dd", {}, ...value));
  const name = (at) => onOneLine(session.participants[at].name);
  if (row.from !== undefined) fact("Direction", `${name(row.from)} → ${name(row.to)}${row.inferred ? " (inferred: the recording does not say)" : ""}`);
  if (row.method) fact("Method", onOneLine(row.method));
  if (row.tool) fact("Tool", onOneLine(row.tool));
  if (row.id !== undefined) fact("Id", onOneLine(row.id));
  if (row.time !== undefined) fact("Time", seconds(row.time));
  if (row.at !== undefined) fact("Recorded time", moment(row));
  if (row.asked !== undefined) fact("Answers", toRow(session, row.asked, go), row.took === undefined ? "" : ` after ${span(row.took)}`);
  if (row.answered !== undefined) fact("Answered by", toRow(session, row.answered, go));
  const band = row.band === undefined ? undefined : session.bands.get(row.band);
  if (band && band.first !== row.index) fact("Exchange", toRow(session, band.first, go));
  for (const [label, value] of row.facts || []) fact(label, onOneLine(value));
  if (row.line !== undefined) fact("In the file", `line ${row.line}${row.pointer ? `, ${onOneLine(row.pointer)}` : ""}`);
  const part = [make("dl", {}, ...facts)];
  if (row.marks.length > 0) part.unshift(make("p", { class: "marks" }, ...row.marks.map(badge)));
  if (row.findings.length > 0) {
    part.push(make("h3", {}, counted(row.findings.length, "finding", "findings")),
      make("ul", { class: "findings" }, ...row.findings.map((at) => findingOf(session, at, go, row.index))));
  }
  if (row.cut) part.push(cutNote(row));
  if (row.raw !== undefined) part.push(content(row));
  // A log of exchanges has the headers with the exchange, and a message is in its request or in its answer.
  const around = band && band.first !== row.index && row.from !== undefined ? session.rows[band.first].headers || [] : [];
  const mine = row.from === 0 ? "Request headers" : "Response headers";
  for (const [whose, headers] of row.headers || around.filter(([whose]) => whose === mine)) part.push(table(whose, headers));
  const title = row.number === undefined ? words(row) : `Message ${row.number}: ${words(row)}`;
  return { title: onOneLine(title), part };
};

// The most findings that are listed at first.
const LISTED = 300;

// All findings, or those of one rule, grouped by rule, the worst first and in the order of the recording; and what is known of the session as a whole.
const overview = (session, rule, go) => {
  const part = [];
  for (const it of session.foot) part.push(make("p", { class: "finding bad" }, badge([SIGNS[it.severity], it.severity, TONES[it.severity]]), ` ${onOneLine(it.name)}: `, ...prose(it.text)));
  const found = session.findings.map((_, at) => at).filter((at) => !rule || rule === "any" || session.findings[at].rule === rule);
  const place = (at) => session.findings[at].row ?? Infinity;
  found.sort((a, b) => (place(a) === place(b) ? a - b : place(a) - place(b)));
  const groups = new Map();
  for (const at of found) {
    const { level, rule, party } = session.findings[at];
    const key = `${["error", "warning", "note"].indexOf(level)} ${rule} ${party}`;
    groups.set(key, [...(groups.get(key) || []), at]);
  }
  const ordered = Array.from(groups).sort(([a], [b]) => a[0] - b[0]).map(([, all]) => all);
  const list = make("div");
  const add = (from, to) => {
    let passed = 0;
    for (const all of ordered) {
      const some = all.slice(Math.max(0, from - passed), Math.max(0, to - passed));
      if (some.length > 0) list.append(ruleGroup(session, some, go));
      passed += all.length;
    }
  };
  if (!session.judged) part.push(make("p", {}, "The recording was not judged (--no-check)."));
  else if (found.length === 0) part.push(make("p", {}, rule ? "No finding of this rule." : "check found nothing wrong."));
  add(0, LISTED);
  part.push(list);
  if (found.length > LISTED) {
    const more = make("button", { type: "button", click: () => {
      add(LISTED, found.length);
      more.remove();
    } }, `List ${counted(found.length - LISTED, "more finding", "more findings")}`);
    part.push(more);
  }
  return { title: session.judged ? counted(found.length, "finding", "findings") : "Session", part };
};
