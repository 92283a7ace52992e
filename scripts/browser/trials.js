// Interactive tests of a page. Each test gets `open`, which opens a page, and `fault`, which reports a fault.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { frame, small, stretched } from "./pace.js";

// Within this time, in milliseconds, a page of 5,000 cases can be used, and answers a filter. It stretches: see pace.js.
const LIMIT = 1000;

// Who publishes the documents of the rules: a finding leads there, and no other link leads away.
const PUBLISHERS = ["modelcontextprotocol.io", "www.jsonrpc.org", "www.softwareishard.com", "html.spec.whatwg.org", "www.rfc-editor.org"];

// Every link leads to a page that is there, and to a place on it, or to a rule's document; one place has one name.
export const links = async ({ open, fault, folder, pages }) => {
  const known = new Map();
  const found = [];
  for (const site of ["kept", "large"]) {
    for (const path of pages(join(folder, site))) {
      const { page } = await open(path);
      const { hrefs, ids } = await page.evaluate(() => ({
        hrefs: Array.from(document.links, (link) => link.href),
        ids: Array.from(document.querySelectorAll("[id]"), (element) => element.id),
      }));
      if (new Set(ids).size !== ids.length) fault(path, "has an id twice");
      known.set(path, new Set(ids));
      found.push(...new Set(hrefs.map((href) => JSON.stringify([path, href]))));
      await page.close();
    }
  }
  for (const [from, href] of found.map((text) => JSON.parse(text))) {
    const url = new URL(href);
    const path = url.protocol === "file:" ? fileURLToPath(url.origin === "null" ? `file://${url.pathname}` : url) : "";
    const hash = decodeURIComponent(url.hash.slice(1));
    if (!path && PUBLISHERS.includes(url.hostname) && /(rules|findings)\.html$/.test(from)) continue;
    if (!path) fault(from, `leads away: ${href}`);
    else if (known.has(path)) {
      if (hash && !hash.includes("=") && !known.get(path).has(hash)) fault(from, `leads nowhere: ${href}`);
    } else {
      try {
        readFileSync(path);
      } catch {
        fault(from, `leads to what is not there: ${href}`);
      }
    }
  }
  if (found.length < 100) fault("links", `only ${found.length} were found`);
  console.log(`${found.length} links followed`);
};

// The filter shows what the record says, keeps itself in the URL, and is there again after a reload.
export const filters = async ({ open, fault, folder }) => {
  const path = join(folder, "large", "index.html");
  const record = JSON.parse(readFileSync(join(folder, "large.json"), "utf8"));
  const cases = (keep) => new Set(record.results.filter(keep).map((line) => line.case)).size;
  const expected = [
    [{ text: "case-0123" }, cases((line) => line.case.includes("case-0123"))],
    [{ topic: "topic-7" }, cases((line) => line.case.startsWith("topic-7/"))],
    [{ clause: "ID-NULL" }, cases((line) => line.clauses.includes("ID-NULL"))],
    [{ verdict: "crash" }, cases((line) => line.verdict === "crash")],
    [{ verdict: "skip", format: "jsonrpc" }, cases((line) => line.verdict === "skip" && line.format === "jsonrpc")],
    [{ verdict: "skip", format: "har" }, cases((line) => line.verdict === "skip" && line.format === "har")],
    [{ verdict: "failing", topic: "topic-0", text: "5" },
      cases((line) => /fail$|crash|timeout|garbled|unstable/.test(line.verdict) && line.verdict !== "expected-fail" &&
        line.case.startsWith("topic-0/") && (line.case + record.cases[line.case].title).includes("5"))],
  ];
  const visible = (page) =>
    page.evaluate(() => ({
      rows: document.querySelectorAll("table.cases tbody tr:not([hidden])").length,
      folded: Array.from(document.querySelectorAll("table.cases tbody tr:not([hidden])")).filter((row) => !row.checkVisibility()).length,
      failures: document.querySelectorAll("#failures article:not([hidden])").length,
      said: document.getElementById("shown").textContent,
      hash: location.hash,
    }));
  const { page, where } = await open(path);
  for (const [wanted, count] of expected) {
    await page.click("button[type=reset]");
    await frame(page);
    for (const [name, value] of Object.entries(wanted)) {
      if (name === "text") await page.type("input[name=text]", value);
      else await page.select(`select[name=${name}]`, value);
    }
    await frame(page);
    const now = await visible(page);
    const asked = JSON.stringify(wanted);
    if (now.rows !== count) fault(where, `${asked} shows ${now.rows} cases, and the record has ${count}`);
    if (now.folded !== 0) fault(where, `${asked} leaves ${now.folded} of its cases folded`);
    if (now.said !== `${count} of 5000 cases`) fault(where, `${asked} says: ${now.said}`);
    for (const [name, value] of Object.entries(wanted)) {
      if (new URLSearchParams(now.hash.slice(1)).get(name) !== value) fault(where, `${asked} is not in ${now.hash}`);
    }
    const { page: again } = await open(path, { hash: now.hash });
    const then = await visible(again);
    if (then.rows !== now.rows || then.failures !== now.failures) fault(where, `${now.hash} shows ${then.rows} after a reload`);
    await again.close();
  }
  // A failure that is filtered away is shown when somebody follows a link to it.
  await page.click("button[type=reset]");
  await frame(page);
  const link = await page.$eval("table.cases td a", (a) => a.getAttribute("href"));
  await page.select("select[name=verdict]", "skip");
  await frame(page);
  await page.evaluate((hash) => { location.hash = hash; }, link);
  await frame(page);
  await frame(page);
  const seen = await page.evaluate((id) => {
    const box = document.getElementById(id).getBoundingClientRect();
    return box.height > 0 && box.top < innerHeight && box.bottom > 0;
  }, link.slice(1));
  if (!seen) fault(where, `${link} is not in view when it is led to`);
  await page.close();
  // The first page filters by implementation and format at once.
  const { page: first, where: there } = await open(join(folder, "kept", "index.html"));
  const names = await first.$$eval("select[name=implementation] option", (options) => options.map((option) => option.value));
  const other = names.find((name) => name.startsWith("strange"));
  await first.select("select[name=implementation]", other);
  await first.select("select[name=verdict]", "crash");
  await frame(first);
  const rows = await first.$$eval("table.cases tbody tr:not([hidden])", (found) => found.map((row) => row.lastElementChild.textContent));
  if (rows.length === 0 || rows.some((text) => !text.includes("crash"))) fault(there, `filtered by ${other} and crash, it shows ${rows.length} rows`);
  await first.close();
  console.log(`${expected.length} filters tried`);
};

// The whole page can be used without a mouse, and what has the focus can be seen.
export const keyboard = async ({ open, fault, folder }) => {
  const { page, where } = await open(join(folder, "large", "index.html"));
  const focus = () =>
    page.evaluate(() => {
      const { tagName, id, className, name } = document.activeElement;
      const style = getComputedStyle(document.activeElement);
      return { tag: tagName, id, className, name, seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 };
    });
  await page.keyboard.press("Tab");
  if ((await focus()).className !== "skip-link") fault(where, "the first stop is not the way past the menu");
  await page.keyboard.press("Enter");
  await frame(page);
  if ((await focus()).id !== "main") fault(where, "the way past the menu does not lead to the content");
  await page.keyboard.press("/");
  if ((await focus()).name !== "text") fault(where, "the slash does not lead to the search");
  await page.keyboard.type("case-00000");
  await frame(page);
  const rows = () => page.$$eval("table.cases tbody tr:not([hidden])", (found) => found.length);
  if ((await rows()) !== 1) fault(where, `typing shows ${await rows()} rows`);
  const stops = [];
  for (let stop = 0; stop < 14; stop++) {
    await page.keyboard.press("Tab");
    const now = await focus();
    stops.push(now);
    if (!now.seen) fault(where, `the focus cannot be seen on ${now.tag} ${now.name || now.id || now.className}`);
  }
  const tags = stops.map((stop) => stop.tag);
  for (const tag of ["SELECT", "BUTTON", "A", "SUMMARY"]) if (!tags.includes(tag)) fault(where, `no stop on ${tag}: ${tags}`);
  await page.focus("input[name=text]");
  await page.keyboard.press("Escape");
  await frame(page);
  await frame(page);
  if ((await rows()) !== 5000) fault(where, `Escape leaves ${await rows()} rows`);
  for (const folded of ["article.failure:nth-of-type(2) > details", ".heat-map details.fold", ".topic details.fold"]) {
    if (await page.$eval(folded, (details) => details.open)) fault(where, `${folded} is open before anybody asks`);
    await page.focus(`${folded} > summary`);
    await page.keyboard.press("Enter");
    await frame(page);
    if (!(await page.$eval(folded, (details) => details.open))) fault(where, `Enter does not open ${folded}`);
  }
  await page.close();
  console.log(`keyboard: ${stops.length} stops`);
};

// Without its script a page shows everything, and no form that would do nothing.
export const scriptless = async ({ open, fault, folder }) => {
  const { page, where } = await open(join(folder, "large", "index.html"), { script: false });
  const rows = await page.$$("table.cases tbody tr");
  const form = await page.$eval("#filter", (element) => element.getClientRects().length);
  if (rows.length !== 5000 || form !== 0) fault(where, `without its script: ${rows.length} rows, the form in ${form} boxes`);
  await page.close();
};

// On paper everything is there: what is folded is open, and no menu and no form stand in the way.
export const paper = async ({ open, fault, folder }) => {
  const { page, where } = await open(join(folder, "large", "index.html"), { hash: "#verdict=crash" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMediaType("print");
  const seen = await page.evaluate(() => {
    const boxes = (query) => Array.from(document.querySelectorAll(query)).filter((it) => it.getClientRects().length > 0).length;
    return { menu: boxes("nav, form"), transcripts: boxes("article:not([hidden]) pre") };
  });
  if (seen.menu !== 0 || seen.transcripts === 0) fault(where, `on paper: ${JSON.stringify(seen)}`);
  await page.close();
};

// Failures stand first, what passes is folded, counts are words, and no run is called clean that has anything else than
// passes: on each page of an implementation and on the overview, measured against the record beside the page.
export const honest = async ({ open, fault, folder, pages }) => {
  let judged = 0;
  const standings = [];
  for (const path of pages(folder).filter((path) => path.endsWith("index.html"))) {
    const { page, where } = await open(path);
    const seen = await page.evaluate(() => {
      const all = (query) => Array.from(document.querySelectorAll(query));
      const texts = (query) => all(query).map((it) => it.textContent);
      const before = (one, other) => !one || !other || Boolean(one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);
      const first = document.querySelector("article.failure details");
      const parts = first ? ["table.sides", ".formats figure + figure", "svg.picture"].map((query) => first.querySelector(query)) : [];
      return {
        standing: document.querySelector("#standing") && document.querySelector("#standing").textContent,
        clean: all(".headline.good").length,
        headlines: all(".headline").length,
        names: texts("#standings h2"),
        tones: all(".headline").map((it) => it.className.split(" ").pop()),
        failures: all("article.failure").length,
        order: !all("article.failure").length || before(document.querySelector(".heat-map"), all("article.failure")[0]),
        opens: parts.filter(Boolean).length === parts.length && parts.every((part, at) => before(parts[at - 1], part)) && (!first || first.open),
        wordless: all(".heat-map td[data-label] a").filter((it) => !/^\s*(\d+ (fail|known|lost|pass|skipped)\s*)+$/.test(it.textContent)).length,
        cells: all(".heat-map td a").length,
        unfolded: all(".heat-map tbody tr, table.cases tbody tr").filter((row) => !row.closest("details.fold") && row.querySelector("td a, td div") &&
          !row.querySelector(".bad, .known")).length,
        hidden: all("details.fold .heat-map .bad, details.fold td .bad, details.fold td .known").length,
        open: all("details.fold[open]").length,
      };
    });
    if (!seen.headlines) { await page.close(); continue; }
    judged += 1;
    if (!seen.order) fault(where, "the map does not stand before the failures");
    if (!seen.opens) fault(where, "the first failure does not open with its diff, two spellings and the drawing");
    if (seen.cells === 0 || seen.wordless !== 0) fault(where, `${seen.wordless} of ${seen.cells} cells are not counts in words`);
    if (seen.unfolded + seen.hidden + seen.open !== 0) fault(where, `rows that pass and are not folded: ${seen.unfolded}; failures that are: ${seen.hidden}; open: ${seen.open}`);
    if (!seen.standing) {
      const rank = seen.tones.map((tone) => ["bad", "known", "faint", "good"].indexOf(tone));
      if (rank.some((it, at) => it < (rank[at - 1] ?? 0))) fault(where, `the overview begins with ${seen.tones}`);
      standings.push(...seen.tones.map((tone, at) => [seen.names[at], tone]));
    } else {
      const record = JSON.parse(readFileSync(path.replace(/index.html$/, "results.json"), "utf8"));
      const others = Object.keys(record.totals).filter((verdict) => verdict !== "pass");
      if ((seen.clean === 1) !== (others.length === 0)) fault(where, `with ${others} it is ${seen.clean ? "" : "not "}called clean`);
      const lost = record.compact ? (record.compact.silent_losses || []).length : record.results.filter((line) => line.silent_loss).length;
      if (lost > 0 && !seen.standing.includes(`${lost} silent loss`)) fault(where, `${lost} silent losses are missing at the top`);
      const known = record.totals["expected-fail"];
      if (known && !seen.standing.includes(`${known} failed as the baseline expects`)) fault(where, `${known} known failures are missing at the top`);
    }
    await page.close();
  }
  for (const tone of ["bad", "known", "faint", "good"]) if (!standings.some(([, it]) => it === tone)) fault("overview", `no implementation that stands at ${tone} was looked at`);
  console.log(`${judged} pages say what stands where`);
};

// How soon 5,000 cases can be used, and how soon they answer: the best of five, since other work goes on.
export const quick = async (context) => {
  const { open, fault, folder } = context;
  const times = [];
  for (let round = 0; round < 5; round++) {
    const few = await small(context);
    const { page } = await open(join(folder, "large", "index.html"));
    times.push({ small: few, ...await page.evaluate(async () => {
      const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))));
      await drawn();
      const { responseEnd, domInteractive, loadEventEnd } = performance.getEntriesByType("navigation")[0];
      const field = document.querySelector("input[name=text]");
      const start = performance.now();
      field.value = "case-04";
      field.dispatchEvent(new Event("input", { bubbles: true }));
      const end = await drawn();
      return { usable: Math.round(Math.max(domInteractive, loadEventEnd)), read: Math.round(responseEnd), filter: Math.round(end - start) };
    }) });
    await page.close();
  }
  const best = (name) => Math.round(Math.min(...times.map((time) => time[name])));
  console.log(`5,000 cases: usable after ${best("usable")} ms, a filter answers in ${best("filter")} ms (best of ${times.length}); a small page ${best("small")}`);
  const allowed = stretched(LIMIT, best("small"));
  for (const name of ["usable", "filter"]) if (!(best(name) <= allowed)) fault("large", `${name} takes ${best(name)} ms; ${allowed} are allowed`);
};
