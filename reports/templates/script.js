"use strict";
(() => {
  const form = document.getElementById("filter");
  const rows = Array.from(document.querySelectorAll("#matrix tbody tr"));
  const articles = Array.from(document.querySelectorAll("#failures article"));
  const shown = document.getElementById("shown");
  if (!form || !shown) return;
  form.hidden = false;
  const words = (element) => (element.dataset.text || "").toLowerCase();
  const has = (list, one) => !one || (" " + (list || "") + " ").includes(" " + one + " ");
  const matches = (element, wanted) =>
    words(element).includes(wanted.text.toLowerCase()) &&
    has(element.dataset.topic, wanted.topic) &&
    has(element.dataset.clauses, wanted.clause) &&
    (wanted.format && wanted.verdict
      ? has(element.dataset.cells, wanted.format + "=" + wanted.verdict)
      : has(element.dataset.verdicts, wanted.verdict) && has(element.dataset.formats, wanted.format));
  const names = ["text", "topic", "clause", "verdict", "format"];
  const wanted = () => Object.fromEntries(names.map((name) => [name, form.elements[name].value]));
  const apply = () => {
    const now = wanted();
    let count = 0;
    for (const row of rows) {
      row.hidden = !matches(row, now);
      count += row.hidden ? 0 : 1;
    }
    for (const article of articles) article.hidden = !matches(article, now);
    shown.textContent = count + " of " + rows.length + " cases";
  };
  const keep = () => {
    const parts = names.filter((name) => form.elements[name].value);
    const hash = parts.map((name) => name + "=" + encodeURIComponent(form.elements[name].value)).join("&");
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  };
  const restore = () => {
    const hash = location.hash.slice(1);
    if (!hash.includes("=")) return;
    const parts = new URLSearchParams(hash);
    for (const name of names) form.elements[name].value = parts.get(name) || "";
  };
  let waiting = 0;
  form.addEventListener("input", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => { apply(); keep(); });
  });
  form.addEventListener("reset", () => setTimeout(() => { apply(); keep(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => { restore(); apply(); });
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      form.elements.text.focus();
    }
  });
  restore();
  apply();
})();
