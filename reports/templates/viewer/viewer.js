// The viewer: what is wanted and what is open, in one place, kept in the hash of the address. `viewer(root, model)` draws any
// model into an element of any page.

// How many rows are printed.
const ON_PAPER = 1000;
const FIELDS = ["text", "only", "method", "tool", "id", "direction", "finding"];

const field = (label, control) => make("label", {}, label, control);
const choice = (name, options) =>
  make("select", { name }, make("option", { value: "" }, "any"),
    ...options.map(([value, label]) => make("option", { value }, onOneLine(label === undefined ? value : label))));
const mostFirst = (counts) =>
  Array.from(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name, count]) => [name, `${name} (${count})`]);

const filterForm = (session) => {
  const directions = session.participants.length === 2 ? [["client", "client → server"], ["server", "server → client"]]
    : [["client", "from the client"], ["server", "to the client"]];
  const only = [["rows", "every row"], ["messages", "messages"], ["marked", "marked rows"], ["errors", "errors and isError"], ["never answered"], ["delivered again"], ["orphan", "orphans"]];
  const { method, tool, rule } = session.counts;
  const form = make("form", {},
    field("Text", make("input", { name: "text", type: "search", placeholder: "press / to type", autocomplete: "off", spellcheck: "false" })),
    field("Show", choice("only", only)),
    method.size > 0 ? field("Method", choice("method", mostFirst(method))) : "",
    tool.size > 0 ? field("Tool", choice("tool", mostFirst(tool))) : "",
    field("Id or event id", make("input", { name: "id", type: "search", autocomplete: "off", spellcheck: "false" })),
    field("Direction", choice("direction", directions)),
    rule.size > 0 ? field("Finding", choice("finding", [["any", "any finding"], ...mostFirst(rule)])) : "",
    make("button", { type: "reset" }, "Clear"));
  for (const option of form.querySelectorAll("select:not([name=finding]) option[value='']")) option.textContent = "all";
  const none = form.querySelector("select[name=finding] option[value='']");
  if (none) none.textContent = "all";
  if (session.rows.some((row) => row.folded)) form.elements.only.options[0].textContent = "all, folded";
  return form;
};

const viewer = (root, model) => {
  const session = readSession(model);
  const narrow = matchMedia("(max-width: 45rem)");
  const state = { row: undefined, finding: undefined, span: undefined };
  const form = filterForm(session);
  const shown = make("output", { "aria-live": "polite" });
  const limit = make("input", { type: "checkbox", name: "span" });
  const title = make("h2", { tabindex: "-1" });
  const body = make("div", { class: "body" });
  const close = make("button", { type: "button", "aria-label": "Close" }, "✕");
  const pane = make("section", { class: "pane", "aria-label": "Details" }, make("div", { class: "bar" }, title, close), body);
  const found = make("button", { type: "button", class: session.findings.some((it) => it.level === "error") ? "bad" : "" },
    session.judged ? counted(session.findings.length, "finding", "findings") : "About");

  const wanted = () => Object.fromEntries(FIELDS.map((name) => [name, form.elements[name] ? form.elements[name].value : ""]));
  const hash = () => {
    const parts = new URLSearchParams(Object.entries(wanted()).filter(([, value]) => value !== ""));
    if (state.row !== undefined) parts.set("row", state.row);
    if (state.finding !== undefined) parts.set("finding-at", state.finding);
    const text = parts.toString();
    // Not only by its path, since a page inside of another page may have none.
    return text ? `#${text}` : location.href.split("#")[0];
  };
  const keep = (again) => {
    history[again ? "pushState" : "replaceState"](null, "", hash());
    // A page around this one may keep it, too.
    if (parent !== window) parent.postMessage({ hash: location.hash }, "*");
  };

  const details = () => {
    const { title: text, part } = state.row === undefined ? overview(session, wanted().finding, go) : rowDetails(session, session.rows[state.row], go);
    title.textContent = text;
    body.replaceChildren(...part);
    pane.scrollTop = 0;
    pane.classList.toggle("row-open", state.row !== undefined);
  };
  const open = (focus) => {
    root.classList.add("open");
    if (focus) title.focus({ preventScroll: true });
  };
  const go = {
    // Somebody follows a link to a row: it is shown whatever is filtered.
    row(index) {
      [state.row, state.finding] = [index, undefined];
      if (!list.reveal(index)) {
        form.reset();
        limit.checked = false;
        apply();
      }
      details();
      mark();
      keep(true);
      open(true);
    },
    finding(at) {
      [state.row, state.finding] = [undefined, at];
      list.reveal(-1);
      details();
      keep(true);
      open(false);
      const item = document.getElementById(`finding-${at}`);
      if (item) {
        item.scrollIntoView({ block: "center" });
        item.focus({ preventScroll: true });
      }
    },
    chosen(index, how) {
      [state.row, state.finding] = [index, undefined];
      if (how || !narrow.matches) details();
      mark();
      keep(false);
      if (how) open(how === "key" || narrow.matches);
    },
    seen(from, to) {
      seen = [from, to];
      mark();
    },
    zoomed(span) {
      state.span = span;
      limit.disabled = span === undefined;
      if (limit.checked) apply();
    },
  };
  let seen = [0, 0];
  const times = session.times ? timeline(session, go) : undefined;
  const list = sessionList(session, go);
  const mark = () => {
    if (times) times.show(seen[0] ?? session.times.first, seen[1] ?? session.times.first, state.row === undefined ? undefined : session.rows[state.row].time);
  };
  const apply = () => {
    const rows = filtered(session, { ...wanted(), row: state.row, span: limit.checked ? state.span : undefined });
    list.show(rows, state.row);
    const folded = session.rows.length - rows.length;
    const all = FIELDS.every((name) => wanted()[name] === "") && !(limit.checked && state.span);
    shown.textContent = all ? counted(rows.length, "row", "rows") + (folded > 0 ? `, ${whole(folded)} folded` : "") : `${whole(rows.length)} of ${counted(session.rows.length, "row", "rows")}`;
  };
  const restore = () => {
    const parts = new URLSearchParams(location.hash.slice(1));
    for (const name of FIELDS) if (form.elements[name]) form.elements[name].value = parts.get(name) || "";
    const at = (name, most) => (/^\d+$/.test(parts.get(name)) && Number(parts.get(name)) < most ? Number(parts.get(name)) : undefined);
    state.row = at("row", session.rows.length);
    state.finding = at("finding-at", session.findings.length);
    root.classList.toggle("open", state.row !== undefined || state.finding !== undefined);
    apply();
    details();
  };
  const shut = () => {
    root.classList.remove("open");
    if (!narrow.matches) {
      [state.row, state.finding] = [undefined, undefined];
      details();
      list.reveal(-1);
      keep(false);
    }
    list.focus();
  };

  let waiting = 0;
  form.addEventListener("input", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => {
      apply();
      if (state.row === undefined) details();
      keep(false);
    });
  });
  form.addEventListener("reset", () => setTimeout(() => form.dispatchEvent(new Event("input"))));
  form.addEventListener("submit", (event) => event.preventDefault());
  limit.addEventListener("change", apply);
  close.addEventListener("click", shut);
  found.addEventListener("click", () => {
    [state.row, state.finding] = [undefined, undefined];
    list.reveal(-1);
    details();
    keep(true);
    open(true);
  });
  addEventListener("popstate", restore);
  addEventListener("hashchange", restore);
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      filters.open = true;
      form.elements.text.focus();
    } else if (event.key === "Escape" && form.contains(document.activeElement)) {
      form.reset();
      list.focus();
    } else if (event.key === "Escape") shut();
  });
  const leftOut = make("p", { class: "on-paper" });
  addEventListener("beforeprint", () => {
    const more = list.print(ON_PAPER);
    leftOut.textContent = more > 0 ? `${counted(more, "more row is", "more rows are")} not printed; a filter chooses which are.` : "";
  });
  addEventListener("afterprint", () => list.print(0));

  if (times) {
    limit.disabled = true;
    times.element.querySelector(".bar").append(make("label", { class: "check" }, limit, "list only this span"));
  }
  const filters = make("details", { class: "filters", open: !narrow.matches }, make("summary", {}, "Filter"), form);
  root.classList.add("viewer");
  root.replaceChildren(
    make("header", {}, make("h1", {}, onOneLine(session.title)), make("p", { class: "faint" }, session.about.map(onOneLine).join(" · "))),
    make("main", {},
      make("div", { class: "tools" }, filters, make("div", { class: "bar" }, found, shown)),
      times ? times.element : make("p", { class: "faint" }, "The recording has no times, so there is no time line."),
      make("div", { class: "sides" }, list.element, pane)), leftOut);
  restore();
};

const placeOfViewer = document.getElementById("viewer");
const embedded = document.getElementById("session");
if (placeOfViewer && embedded) {
  const model = JSON.parse(embedded.textContent);
  embedded.remove();
  viewer(placeOfViewer, model);
}
