// What a person would do with the page, done by headless Chromium: page.mjs PAGE REPOSITORY FOLDER
//
// FOLDER has hostile.jsonl of scripts/browser/sessions.js; screenshots go there. Each fault is a line; one is enough for exit code 1.
// CHROMIUM names the browser.
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [file, repository, folder] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const faults = [];
const expect = (held, what) => {
  if (held) return;
  faults.push(what);
  console.log(`fault: ${what}`);
};
const example = (name) => join(repository, "docs/examples", name);
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM,
  headless: true,
  // Without a sandbox of its own, since it runs as root in CI; it is shown nothing but these files.
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-component-update"],
  protocolTimeout: 300_000,
});

/** The page from disk. Whatever it asks of a network, and every complaint, is a fault. */
async function open({ width = 1280, height = 900, hash = "" } = {}) {
  const page = await browser.newPage();
  await page.setViewport({ width, height });
  page.on("request", (request) => expect(/^(file|blob|data):/.test(request.url()), `asks for ${request.url().slice(0, 100)}`));
  page.on("console", (message) => {
    const complaint = ["error", "warn", "warning"].includes(message.type()) && !page.complaint?.test(message.text());
    expect(!complaint, `console: ${message.text().slice(0, 300)}`);
  });
  page.on("pageerror", (error) => expect(false, `error: ${String(error).slice(0, 300)}`));
  await page.goto(pathToFileURL(file).href + hash, { waitUntil: "load" });
  return page;
}
const drop = async (page, ...paths) => (await page.$("#files")).uploadFile(...paths);
const done = (page) => page.waitForFunction(() => document.getElementById("work").hidden, { timeout: 300_000 });
const text = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent).join("\n"));
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

async function viewer(page) {
  const element = await page.waitForSelector("iframe");
  // It draws when it is seen.
  await element.scrollIntoView();
  const frame = await element.contentFrame();
  await frame.waitForSelector(".row", { timeout: 60_000 });
  return frame;
}

async function accessible(page, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document.querySelector("main"), { iframes: false }));
  for (const { id, nodes } of found.violations) expect(false, `${what}: axe: ${id}: ${nodes[0].html.slice(0, 160)}`);
}

const trials = {
  async "one recording"(page) {
    await drop(page, example("null-id.jsonl"));
    await done(page);
    expect((await text(page, "dl")).includes("mcp-replay"), "the overview does not name the format");
    expect((await text(page, "section > h2 + h3")) === "1 error by 2025-11-25", `the verdict does not stand first: ${await text(page, "section > h2 + h3")}`);
    expect(await page.$eval("#drop", (area) => area.clientHeight < 60), "the drop area does not fold");
    expect(await fits(page), "the page is wider than the window");
    const frame = await viewer(page);
    expect((await text(frame, ".rule")).includes("jsonrpc.id.null"), "the finding is not shown");
    expect((await text(frame, ".row")).includes("ping"), "the viewer does not show the session");
    // What changes the address in the viewer works inside of the page, too.
    await frame.click(".row");
    expect((await page.evaluate(() => location.hash)) === "#row=1", `the address does not lead to the message: ${await page.evaluate(() => location.href)}`);
    const again = await open({ hash: "#row=1" });
    await drop(again, example("null-id.jsonl"));
    await done(again);
    expect((await text(await viewer(again), ".pane h2")).startsWith("Message 0"), "an address does not lead to its message");
    await again.close();
    await frame.focus("input");
    await page.keyboard.type("ping");
    await page.keyboard.press("Escape");
    await page.screenshot({ path: join(folder, "page-one.png"), fullPage: true });
    await accessible(page, "one recording");
  },
  async "two recordings, and others after them"(page) {
    await drop(page, example("call.jsonl"), example("call-http-sse.json"));
    await done(page);
    const told = await text(page, "section:first-child");
    expect(told.includes("Different sessions") && told.includes("event 1 differs at /result/sum"), `the difference is not shown: ${told}`);
    expect((await page.$$("iframe")).length === 2, "there are not two viewers");
    await page.screenshot({ path: join(folder, "page-two.png"), fullPage: true });
    await drop(page, example("call.jsonl"), example("call.jsonl"));
    await done(page);
    expect((await text(page, "section:first-child")).includes("The same session"), "a recording differs from itself");
    await drop(page, example("call.jsonl"));
    await done(page);
    expect((await page.$$("section")).length === 1, "what was shown before is still there");
  },
  async "recordings of real servers"(page) {
    const cases = join(repository, "cases/recorded");
    const recorded = readdirSync(cases, { recursive: true }).filter((name) => /(har\.har|mcp-replay\.jsonl)$/.test(name));
    expect(recorded.length > 6, "there are no recordings of real servers");
    for (const path of recorded.sort().slice(0, 6)) {
      await drop(page, join(cases, path));
      await done(page);
      expect((await text(page, ".fault")).includes("broke") === false && (await page.$("iframe")) !== null, `${path} is not shown`);
    }
  },
  async "what is no recording"(page) {
    await drop(page, example("call.jsonl"), example("call.jsonl"), example("null-id.jsonl"));
    expect((await text(page, "#fault")).includes("3 files"), "three files are not refused");
    const path = join(folder, "none.jsonl");
    writeFileSync(path, new Uint8Array([0xff, 0x7b]));
    await drop(page, path);
    await done(page);
    expect((await text(page, "section .fault")).includes("not UTF-8"), `bytes that are no text: ${await text(page, ".fault")}`);
  },
  async "what is dropped, and is no file"(page) {
    const dropped = async (...files) => {
      const data = { items: [], files, dragOperationsMask: 1 };
      const [x, y] = [300, 300];
      await page.mouse.dragEnter({ x, y }, data);
      await page.mouse.dragOver({ x, y }, data);
      await page.mouse.drop({ x, y }, data);
      await page.waitForFunction((name) => document.getElementById("answers").textContent.includes(name), {}, basename(files[0]));
      await done(page);
    };
    await dropped(example("null-id.jsonl"), join(repository, "docs/examples"));
    const told = await text(page, "#answers .fault");
    expect(told.includes("examples cannot be read: it is a folder, or is gone"), `a folder: ${told} ${await text(page, "#fault")}`);
    expect((await text(page, "h3")).includes("1 error"), "the file beside the folder is not judged");
    await dropped(example("call.jsonl"));
    expect((await text(page, "dl")).includes("Messages2: "), `a file that is dropped: ${await text(page, "dl")}`);
  },
  async "a stranger's texts"(page) {
    await drop(page, join(folder, "hostile.jsonl"));
    await done(page);
    await viewer(page);
    expect((await page.title()) !== "broken", "a stranger's script ran");
    expect((await page.$$("section img, section script")).length === 0, "a stranger's text became elements");
  },
  async "no connection"(page) {
    page.complaint = /Content Security Policy/;
    const went = await page.evaluate(() => fetch("http://127.0.0.1:9/").then(() => "went", (error) => error.name));
    const policy = await page.$eval("meta[http-equiv]", (meta) => meta.content);
    expect(went === "TypeError" && policy.startsWith("default-src 'none';") && !policy.includes("connect-src"), `a connection: ${went} ${policy}`);
  },
  async "a large recording"(page) {
    await drop(page, large(100_000_000));
    // An overview of all of it is there while the rest is worked on: the page is alive, and the work ends at once.
    await page.waitForSelector("dl", { timeout: 240_000 });
    expect(/Messages[0-9]{6}: /.test(await text(page, "dl")), `100 MB: ${await text(page, "dl")}`);
    await page.waitForFunction(() => document.getElementById("progress").value > 0.1, { timeout: 120_000 });
    await page.click("#stop");
    expect((await text(page, "#fault")) === "Stopped." && (await page.$("#work[hidden]")) !== null, "it cannot be stopped");
    await page.evaluate(() => {
      globalThis.seen = new Set();
      const progress = document.getElementById("progress");
      const look = () => {
        globalThis.seen.add(`${document.getElementById("doing").textContent} ${progress.value}`);
        requestAnimationFrame(look);
      };
      look();
    });
    await drop(page, large(50_000_000));
    await done(page);
    const seen = await page.evaluate(() => globalThis.seen.size);
    expect(seen > 20, `progress was seen only ${seen} times`);
    expect((await text(page, ".fault")).includes("broke") === false, await text(page, ".fault"));
    const frame = await viewer(page);
    expect((await frame.$$(".row")).length > 5, "the viewer shows no rows");
    await page.screenshot({ path: join(folder, "page-large.png") });
  },
  async "on a telephone"(page) {
    await page.setViewport({ width: 375, height: 740 });
    await drop(page, example("null-id.jsonl"));
    await done(page);
    await viewer(page);
    expect(await fits(page), "the page is wider than a telephone");
    await accessible(page, "on a telephone");
    await page.screenshot({ path: join(folder, "page-telephone.png"), fullPage: true });
  },
};

/** A recording of so many bytes, or a few more: calls with answers, one after the other. */
function large(least) {
  const path = join(folder, "large.jsonl");
  const file = openSync(path, "w");
  for (let id = 1, size = 0; size < least; id++) {
    const call = { jsonrpc: "2.0", id, method: "tools/call", params: { name: `tool-${id % 9}`, arguments: { city: `city ${id}` } } };
    const result = { jsonrpc: "2.0", id, result: { content: [{ type: "text", text: `result ${id} `.repeat(id % 80) }] } };
    size += writeSync(file, `${JSON.stringify(call)}\n${JSON.stringify(result)}\n`);
  }
  closeSync(file);
  return path;
}

for (const [name, trial] of Object.entries(trials)) {
  const before = faults.length;
  const page = await open();
  await trial(page).catch((error) => expect(false, `${name}: ${error.stack}`));
  await page.close();
  console.log(`${faults.length === before ? "ok" : "not ok"}: ${name}`);
}
await browser.close();
process.exit(faults.length === 0 ? 0 : 1);
