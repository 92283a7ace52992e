// Tests of the page of one session: it shows the recording, even a hostile one, can be used without a mouse and on a phone, and
// stays fast with 50,000 messages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { frame, small, stretched } from "./pace.js";

// Within these times, in milliseconds, a page of this many messages can be used, answers a filter, draws after a scroll, and opens
// a message. On a machine that is slower, or busy, they stretch: see pace.js.
const LIMITS = {
  long: ["50,000", { open: 3000, text: 1000, select: 500, scroll: 100, row: 200 }],
  medium: ["10,000", { open: 1000, text: 500, select: 250, scroll: 100, row: 200 }],
};
const ROUNDS = 5;

const visible = (page) =>
  page.$$eval(".row", (rows) => rows.filter((row) => {
    const [box, list] = [row.getBoundingClientRect(), row.closest(".list").getBoundingClientRect()];
    return box.bottom > list.top && box.top < list.bottom;
  }).map((row) => row.textContent));
const said = (page) => page.$eval(".tools output", (output) => output.textContent);
const title = (page) => page.$eval(".pane h2", (heading) => heading.textContent);
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
// What the page was given, as its file has it.
const modelOf = (path) => JSON.parse(/<script type="application\/json" id="session">(.*?)<\/script>/s.exec(readFileSync(path, "utf8"))[1]);

// Every view at every width and in both colours: no fault, nothing wider than the window, and axe finds nothing.
const views = async ({ open, fault, folder, shots, accessible }) => {
  for (const name of ["hostile", "archive", "long"]) {
    const path = join(folder, "viewer", `${name}.html`);
    for (const scheme of ["light", "dark"]) {
      for (const width of [1280, 375]) {
        for (const hash of ["", "#row=4", "#finding-at=0"]) {
          const opened = await open(path, { scheme, width, height: width === 375 ? 740 : 800, hash });
          const { page, where } = opened;
          await frame(page);
          await frame(page);
          if ((await page.title()) === "broken") fault(where, "a stranger's script ran");
          const over = await fits(page);
          if (over > 0) fault(where, `${hash} is ${over} pixels wider than the window`);
          if (name !== "long" || scheme === "light") await accessible(opened);
          await page.screenshot({ path: join(shots, `viewer-${name}${hash.replace(/\W/g, "-")}.${scheme}.${width}.png`) });
          await page.close();
        }
      }
    }
  }
};

// Each message opens whole: what the pane shows raw is what the recording holds, but for what another text would hide in.
const opened = async ({ open, fault, folder }) => {
  const path = join(folder, "viewer", "hostile.html");
  const model = modelOf(path);
  const { page, where } = await open(path);
  let texts = 0;
  for (const [index, row] of model.rows.entries()) {
    await page.evaluate((hash) => { location.hash = hash; }, `row=${index}`);
    await frame(page);
    const shown = await page.evaluate(() => {
      const raw = [...document.querySelectorAll(".content button")].find((button) => button.textContent === "Raw");
      const pretty = document.querySelector(".content pre")?.textContent;
      if (raw) raw.click();
      return { pretty, raw: document.querySelector(".content pre")?.textContent, elements: document.querySelectorAll(".body script, .body img").length };
    });
    if (shown.elements !== 0) fault(where, `row ${index} made elements of a stranger's text`);
    if (row.raw === undefined) continue;
    texts += 1;
    const spelled = row.raw.replace(/[\u202e\u2028\0\u001b]/g, (char) => `\\u{${char.codePointAt(0).toString(16)}}`);
    if (shown.raw !== spelled) fault(where, `row ${index} shows another raw text`);
    const value = (text) => JSON.stringify(JSON.parse(text.replaceAll("\\u{", "u{")));
    if (!row.cut && value(shown.pretty) !== value(spelled)) fault(where, `row ${index} is laid out as another value`);
  }
  if (texts < 8) fault(where, `only ${texts} texts were looked at`);
  await page.close();
  console.log(`${texts} messages opened whole`);
};

// Filters leave what the model has, keep themselves in the address, and findings lead to their messages and back.
const filters = async ({ open, fault, folder }) => {
  const path = join(folder, "viewer", "long.html");
  const { rows } = modelOf(path);
  const calls = new Map(rows.filter((row) => row.is === "tool call").map((row) => [row.number, row.name]));
  const tool = (row) => (row.is === "tool call" ? row.name : calls.get(row.answers));
  const expected = [
    [{ text: "city 12345\"" }, (row) => (row.raw || "").includes("city 12345\"")],
    [{ tool: "tool-3" }, (row) => tool(row) === "tool-3"],
    [{ method: "initialize" }, (row) => row.number < 2],
    [{ id: "777" }, (row) => row.id === "777"],
    [{ direction: "server" }, (row) => row.from === 1],
    [{ only: "errors" }, (row) => row.is === "error" || row.isError],
    [{ only: "never answered" }, (row) => (row.flags || []).includes("never answered")],
    [{ tool: "tool-5", only: "errors", direction: "server" }, (row) => tool(row) === "tool-5" && (row.is === "error" || row.isError)],
  ];
  const { page, where } = await open(path);
  for (const [wanted, keeps] of expected) {
    const count = rows.filter(keeps).length;
    await page.click("button[type=reset]");
    await frame(page);
    await frame(page);
    for (const [name, value] of Object.entries(wanted)) {
      if (["text", "id"].includes(name)) await page.type(`input[name=${name}]`, value);
      else await page.select(`select[name=${name}]`, value);
    }
    await frame(page);
    await frame(page);
    const [asked, now] = [JSON.stringify(wanted), await said(page)];
    if (count === 0) fault(where, `${asked} is a filter of nothing`);
    if (!now.replaceAll(",", "").startsWith(`${count} of ${rows.length} `)) fault(where, `${asked} says ${now}, and the model has ${count}`);
    const hash = await page.evaluate(() => location.hash);
    for (const [name, value] of Object.entries(wanted)) {
      if (new URLSearchParams(hash.slice(1)).get(name) !== value) fault(where, `${asked} is not in ${hash}`);
    }
    if (Object.keys(wanted).length > 1) {
      const { page: again } = await open(path, { hash });
      if ((await said(again)) !== now) fault(where, `${hash} says ${await said(again)} after a reload`);
      await again.close();
    }
  }
  await page.close();
  const { page: wild, where: there } = await open(join(folder, "viewer", "hostile.html"));
  await wild.click(".finding a:not([rel])");
  await frame(wild);
  const at = await title(wild);
  const documents = await wild.$$eval(".finding a[rel]", (all) => all.map((link) => link.href));
  if (documents.length === 0 || !documents.every((href) => href.startsWith("https://"))) fault(there, `findings lead to ${documents.join() || "no document"}`);
  const selected = await wild.$$eval(".row[aria-selected=true]", (found) => found.length);
  if (!at.startsWith("Message ") || selected !== 1) fault(there, `a finding leads to ${at}, with ${selected} rows chosen`);
  await wild.evaluate(() => [...document.querySelectorAll(".finding a")].find((link) => link.textContent.startsWith("In the list")).click());
  await frame(wild);
  if (!(await title(wild)).endsWith("findings") || !(await wild.evaluate(() => document.activeElement.classList.contains("finding")))) fault(there, "a message does not lead back to its finding");
  await wild.goBack();
  await frame(wild);
  if ((await title(wild)) !== at) fault(there, `back leads to ${await title(wild)}`);
  await wild.close();
  console.log(`${expected.length} filters of a session tried`);
};

// Without a mouse: to the list, through it, into a message, and back; the slash leads to the search.
const keyboard = async ({ open, fault, folder }) => {
  const { page, where } = await open(join(folder, "viewer", "archive.html"));
  await page.focus("#rows");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"]) await page.keyboard.press(key);
  await frame(page);
  const chosen = () => page.$$eval(".row[aria-selected=true]", (rows) => rows.map((row) => row.id).join());
  // The head of the exchange is folded into the first message, and a note between it and the second one.
  if ((await chosen()) !== "row-3") fault(where, `the arrows lead to ${await chosen()}`);
  await page.keyboard.press("Enter");
  if (!(await page.evaluate(() => document.activeElement.closest(".pane") !== null))) fault(where, "Enter does not lead into the message");
  await page.keyboard.press("Escape");
  if ((await page.evaluate(() => document.activeElement.id)) !== "rows") fault(where, "Escape does not lead back to the list");
  await page.keyboard.press("End");
  await frame(page);
  const last = (await page.$$eval(".row", (rows) => rows.at(-1).getAttribute("aria-selected")));
  if (last !== "true") fault(where, "End does not lead to the last row");
  await page.keyboard.press("/");
  await page.keyboard.type("progress");
  await frame(page);
  await frame(page);
  if (!(await said(page)).includes(" of ")) fault(where, "the slash does not lead to the search");
  await page.keyboard.press("Escape");
  await frame(page);
  await frame(page);
  if ((await said(page)).includes(" of ")) fault(where, `Escape leaves ${await said(page)}`);
  for (let stop = 0; stop < 12; stop++) {
    await page.keyboard.press("Tab");
    const seen = await page.evaluate(() => {
      const at = document.activeElement.id === "rows" ? document.querySelector(".list") : document.activeElement;
      return document.activeElement === document.body || getComputedStyle(at).outlineStyle !== "none";
    });
    if (!seen) fault(where, `the focus cannot be seen at stop ${stop}`);
  }
  await page.close();
};

// The time line zooms and moves; the list can be held to what it shows. Exchanges are bands.
const time = async ({ open, fault, folder }) => {
  const { page, where } = await open(join(folder, "viewer", "long.html"));
  const all = await said(page);
  for (let times = 0; times < 3; times++) await page.click("button[aria-label='Zoom in']");
  const zoomed = await page.$eval(".timeline output", (output) => output.textContent);
  if (!/ to /.test(zoomed)) fault(where, `zoomed, the time line says ${zoomed}`);
  await page.click("input[name=span]");
  await frame(page);
  const [some, of] = (await said(page)).replaceAll(",", "").match(/\d+/g).map(Number);
  if (!(some > of / 10 && some < of / 6)) fault(where, `an eighth of the time has ${some} of ${of} rows`);
  await page.evaluate(() => [...document.querySelectorAll(".timeline button")].find((button) => button.textContent === "Whole session").click());
  await frame(page);
  if ((await said(page)) !== all) fault(where, `the whole session has ${await said(page)}`);
  const box = await (await page.$("canvas")).boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await frame(page);
  const at = Number((await title(page)).match(/\d+/)[0]);
  if (Math.abs(at - 25_000) > 500) fault(where, `the middle of the time line leads to message ${at}`);
  await page.close();
  const { page: archive, where: there } = await open(join(folder, "viewer", "archive.html"));
  const bands = await archive.$$eval(".row svg .band", (lines) => lines.length);
  const again = (await visible(archive)).filter((text) => text.includes("delivered again")).length;
  await archive.evaluate(() => { location.hash = "row=5"; });
  await frame(archive);
  const headers = await archive.$$eval(".pane details", (all) => all.map((one) => one.textContent).join());
  if (!headers.startsWith("Request headers") || !headers.includes("mcp-session-id")) fault(there, `a message has the headers ${headers.slice(0, 80)}`);
  if (bands < 10 || again !== 1) fault(there, `${bands} rows in bands, ${again} delivered again`);
  await archive.close();
};

// Without its script the page says so; on paper the rows stand there, and no form does.
const elsewhere = async ({ open, fault, folder }) => {
  const path = join(folder, "viewer", "archive.html");
  const { page, where } = await open(path, { script: false });
  const text = await page.evaluate(() => document.body.innerText);
  if (!text.includes("needs JavaScript") || (await page.$$("noscript li")).length < 10) fault(where, "says nothing without its script");
  await page.close();
  const { page: paper, where: there } = await open(path);
  await paper.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await paper.emulateMediaType("print");
  const printed = await paper.evaluate(() => ({
    rows: [...document.querySelectorAll(".row")].filter((row) => row.getClientRects().length > 0).length,
    forms: [...document.querySelectorAll("form")].filter((form) => form.getClientRects().length > 0).length,
  }));
  if (printed.rows < 14 || printed.forms !== 0) fault(there, `on paper: ${JSON.stringify(printed)}`);
  await paper.close();
};

// How quick long sessions are: the best of some rounds, since other work goes on.
const quick = async (context) => {
  for (const [name, [messages, limits]] of Object.entries(LIMITS)) await quickOf(context, name, messages, limits);
};

const quickOf = async (context, name, messages, limits) => {
  const { open, fault, folder } = context;
  const path = join(folder, "viewer", `${name}.html`);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const few = await small(context);
    const { page } = await open(path);
    rounds.push({ small: few, ...await page.evaluate(async () => {
      const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))));
      const took = async (act) => {
        const start = performance.now();
        act();
        return (await drawn()) - start;
      };
      const times = { open: await drawn() };
      const list = document.querySelector(".list");
      const field = (name) => document.querySelector(`[name=${name}]`);
      const set = (name, value) => () => {
        field(name).value = value;
        field(name).dispatchEvent(new Event("input", { bubbles: true }));
      };
      const scrolls = [];
      for (let step = 1; step <= 11; step++) {
        scrolls.push(await took(() => { list.scrollTop = (list.scrollHeight * step) / 12; }));
      }
      times.scroll = scrolls.sort((a, b) => a - b)[5];
      times.most = document.querySelectorAll(".row").length;
      times.text = await took(set("text", "city 4444"));
      times.row = await took(() => document.querySelector(".row").click());
      times.select = Math.max(await took(set("text", "")), await took(set("only", "errors")));
      return times;
    }) });
    await page.close();
  }
  const best = (what) => Math.round(Math.min(...rounds.map((times) => times[what])));
  const timings = Object.keys(limits).map((what) => `${what} ${best(what)}`);
  console.log(`${messages} messages, in ms, best of ${ROUNDS}: ${timings.join(", ")}; ${best("most")} rows in the page; a small page ${best("small")}`);
  for (const [what, limit] of Object.entries(limits)) {
    const allowed = stretched(limit, best("small"));
    if (!(best(what) <= allowed)) fault(`viewer/${name}`, `${what} takes ${best(what)} ms; ${allowed} are allowed`);
  }
  if (best("most") > 100) fault(`viewer/${name}`, `${best("most")} rows are in the page at once`);
};

export const viewer = async (context) => {
  for (const trial of [views, opened, filters, keyboard, time, elsewhere, quick]) await trial(context);
};
