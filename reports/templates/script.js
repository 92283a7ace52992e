"use strict";
// The page is whole without this: it filters lists, and keeps the filter in the URL's hash.
(() => {
  const names = ["text", "topic", "clause", "verdict", "format", "implementation"];
  const form = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const field = (name) => form.elements[name];
  const value = (name) => (field(name) ? field(name).value : "");
  // Rows of a table, or entries of a list; and, beside rows, what is said of a case further down.
  const failures = Array.from(document.querySelectorAll("article.failure"));
  const rows = Array.from(document.querySelectorAll("tbody tr[data-c], article:not(.failure)[data-topic]"));
  const folds = Array.from(document.querySelectorAll(".topic details.fold"));
  let index = null;

  const looked = (element) => {
    const name = element.querySelector(".mono");
    const case_ = name ? name.textContent : "";
    return {
      element,
      text: (element.dataset.topic ? element : element.querySelector("th, h3") || element).textContent.toLowerCase(),
      topic: element.dataset.topic || (case_.includes("/") ? case_.slice(0, case_.lastIndexOf("/")) : "-"),
      clauses: " " + (element.dataset.c || "") + " ",
      verdicts: element.dataset.v || "",
      group: element.closest(".group"),
    };
  };

  // A verdict stands for one implementation and one format: they are counted off in the order of the two lists.
  const cells = (now, verdicts) => {
    if (!now.verdict && !now.format && !now.implementation) return true;
    const formats = field("format") ? field("format").options.length - 1 : verdicts.length;
    const at = (name) => (field(name) ? field(name).selectedIndex - 1 : -1);
    const [format, implementation] = [at("format"), at("implementation")];
    const codes = now.verdict ? field("verdict").selectedOptions[0].dataset.code : "";
    for (let place = 0; place < verdicts.length; place++) {
      if (format >= 0 && place % formats !== format) continue;
      if (implementation >= 0 && Math.floor(place / formats) !== implementation) continue;
      if (codes ? codes.includes(verdicts[place]) : verdicts[place] !== "-") return true;
    }
    return false;
  };

  const apply = () => {
    index = index || { rows: rows.map(looked), failures: failures.map(looked) };
    const now = Object.fromEntries(names.map((name) => [name, value(name)]));
    const text = now.text.toLowerCase();
    const matches = (it) =>
      (!text || it.text.includes(text)) &&
      (!now.topic || it.topic === now.topic) &&
      (!now.clause || it.clauses.includes(" " + now.clause + " ")) &&
      cells(now, it.verdicts);
    let count = 0;
    const groups = new Map();
    for (const it of index.rows) {
      const hidden = !matches(it);
      if (it.element.hidden !== hidden) it.element.hidden = hidden;
      if (it.group) groups.set(it.group, groups.get(it.group) || !hidden);
      count += hidden ? 0 : 1;
    }
    for (const it of index.failures) it.element.hidden = !matches(it);
    for (const [group, some] of groups) group.hidden = !some;
    // What is folded opens where a filter finds something in it.
    const asked = names.some(value);
    for (const fold of folds) fold.open = asked && fold.querySelector("tr:not([hidden])") !== null;
    for (const fold of folds) fold.hidden = asked && !fold.open;
    shown.textContent = count + " of " + rows.length + " " + form.dataset.what;
  };

  const keep = () => {
    const parts = names.filter(value).map((name) => name + "=" + encodeURIComponent(value(name)));
    history.replaceState(null, "", parts.length ? "#" + parts.join("&") : location.pathname + location.search);
  };

  // A hash is a filter, or the place of something, which is then shown whatever is filtered.
  const restore = () => {
    const hash = location.hash.slice(1);
    if (hash.includes("=")) {
      const parts = new URLSearchParams(hash);
      for (const name of names) if (field(name)) field(name).value = parts.get(name) || "";
      return;
    }
    const target = hash && document.getElementById(hash);
    if (target && target.closest("[hidden]")) form.reset();
    reveal();
  };
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let up = target.closest("[hidden]"); up && up !== form; up = target.closest("[hidden]")) up.hidden = false;
    for (let up = target.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
    if (target.matches("article.entry, article.failure") && target.querySelector("details")) target.querySelector("details").open = true;
    target.scrollIntoView();
  };

  if (form && shown) {
    form.hidden = false;
    let waiting = 0;
    const later = () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => { apply(); keep(); });
    };
    form.addEventListener("input", later);
    form.addEventListener("reset", () => setTimeout(later));
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", () => {
      restore();
      apply();
      if (location.hash.includes("=")) form.scrollIntoView();
    });
    addEventListener("keydown", (event) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        field("text").focus();
      } else if (event.key === "Escape" && form.contains(document.activeElement)) {
        form.reset();
      }
    });
    restore();
    if (names.some(value)) apply();
    else shown.textContent = rows.length + " " + form.dataset.what;
  }

  // In a long transcript the line that matters is brought into view; on paper everything is open.
  document.addEventListener("toggle", (event) => {
    if (!event.target.open) return;
    for (const pre of event.target.querySelectorAll("pre")) {
      const mark = pre.querySelector("mark");
      if (mark) pre.scrollTop = mark.offsetTop - pre.offsetTop - pre.clientHeight / 3;
    }
  }, true);
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
})();
