"use strict";
const by = (id) => document.getElementById(id);
const element = (name, text = "", members = {}) => Object.assign(document.createElement(name), { textContent: text }, members);
const counted = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;
const packed = Uint8Array.from(atob(by("module").textContent), (char) => char.charCodeAt(0));
const source = URL.createObjectURL(new Blob([by("worker").textContent], { type: "text/javascript" }));
by("module").remove();

let worker = null;
let pages = [];
const asked = location.hash;
let kept = null;
addEventListener("message", ({ source, data }) => {
  if (source === kept?.contentWindow && /^#[^#]*$|^$/.test(data.hash)) history.replaceState(null, "", data.hash || location.href.split("#")[0]);
});

function stop(why) {
  worker?.terminate();
  worker = null;
  by("work").hidden = true;
  fault(why);
}

function fault(why) {
  by("fault").textContent = why;
  by("fault").hidden = why === "";
}

function look(files) {
  stop("");
  pages.forEach((url) => URL.revokeObjectURL(url));
  pages = [];
  by("answers").replaceChildren();
  if (files.length === 0) return;
  if (files.length > 2) return fault(`These are ${files.length} files: drop one recording, or two to compare.`);
  document.body.className = "looking";
  const recordings = files.map((file) => ({ name: file.name, file }));
  const places = recordings.map(({ name }) => section(name));
  const compared = files.length === 2 ? section("Are they the same session?") : null;
  if (compared) by("answers").prepend(compared);
  by("work").hidden = false;
  doing("Loading", 0);
  worker = new Worker(source);
  worker.onerror = (event) => stop(`The page failed: ${event.message}`);
  worker.onmessage = ({ data }) => {
    const place = data.recording === null ? compared : places[data.recording];
    if (data.kind === "progress") doing(`${WORDS[data.what]}${data.recording === null ? "" : `: ${recordings[data.recording].name}`}`, data.share);
    // The verdict stands first.
    if (data.kind === "answer" && data.what === "findings") place.firstChild.after(...DRAWN.findings(data.answer));
    else if (data.kind === "answer") place.append(...DRAWN[data.what](data.answer));
    if (data.kind === "note") place.append(element("p", data.note, { className: "note" }));
    if (data.kind === "fault" && !place.querySelector(".fault")) place.append(element("p", `${data.message}`, { className: "fault" }));
    if (data.kind === "broken") stop(`The page failed: ${data.message}`);
    if (data.kind === "done") stop("");
  };
  worker.postMessage({ packed, recordings });
}

function section(title) {
  const place = element("section");
  place.append(element("h2", title));
  by("answers").append(place);
  return place;
}

const WORDS = { overview: "Reading", findings: "Judging", viewer: "Drawing", difference: "Comparing" };

function doing(text, share) {
  by("doing").textContent = text;
  by("progress").value = share;
}

const DRAWN = {
  overview(of) {
    const list = element("dl");
    const peers = (all) => all.map(({ name, version }) => `${name ?? "unknown"} ${version ?? ""}`.trim()).join(", ");
    const { messages, requests, notifications, results, errors } = of.counts;
    const rows = {
      Format: of.format,
      Transport: of.transport,
      Revision: of.revision,
      Client: peers(of.clients),
      Server: peers(of.servers),
      Began: of.began,
      Lasted: of.duration_ms === null ? null : `${of.duration_ms} ms`,
      Messages: `${messages}: ${[counted(requests, "request"), counted(notifications, "notification"), counted(results, "result"), counted(errors, "error")].join(", ")}`,
      Unanswered: `${of.unanswered.total}`,
      Tools: of.tools.map(({ name, calls, failed }) => `${name} (${calls}${failed ? `, ${failed} failed` : ""})`).join(", "),
    };
    for (const [what, value] of Object.entries(rows)) if (value) list.append(element("dt", what), element("dd", value));
    const { rejected } = of;
    return rejected ? [list, element("p", `Rejected: ${rejected.message ?? rejected}`, { className: "fault" })] : [list];
  },
  findings({ counts, revision, stopped }) {
    const many = [["fail", "error"], ["warn", "warning"], ["info", "note"]].filter(([verdict]) => counts[verdict]).map(([verdict, one]) => counted(counts[verdict], one));
    const verdict = `${many.join(", ") || "Nothing found"}${revision ? ` by ${revision}` : ""}`;
    const shown = [element("h3", verdict, { className: counts.fail ? "fault" : "" })];
    if (stopped) shown.push(element("p", `Reading stopped at line ${stopped.line}: ${stopped.message} [${stopped.clause}]. The rest is not judged.`, { className: "fault" }));
    return shown;
  },
  viewer(html) {
    const url = URL.createObjectURL(new Blob([html], { type: "text/html" }));
    pages.push(url);
    const link = element("a", "The session in a tab of its own", { href: url, target: "_blank" });
    const line = element("p");
    line.append(link);
    // What is open in the viewer is in the address of this page, too: a link to a message leads to it once the file is dropped.
    const frame = element("iframe", "", { src: url + (pages.length === 1 ? asked : ""), title: "The session, message by message" });
    if (pages.length === 1) kept = frame;
    return [line, frame];
  },
  difference: ({ same, text }) => [element("h3", same ? "The same session" : "Different sessions", { className: same ? "" : "fault" }), element("pre", text)],
};

by("files").onchange = () => {
  look([...by("files").files]);
  // The same file can be chosen again.
  by("files").value = "";
};
by("stop").onclick = () => stop("Stopped.");
for (const kind of ["dragover", "dragleave", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    by("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") look([...event.dataTransfer.files]);
  });
}
