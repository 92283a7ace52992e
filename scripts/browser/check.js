// Tests every page of three sites, and pages of sessions, in headless Chromium as a person would use them: check.js FOLDER SCREENSHOTS
//
// It knows the pages and what each must do. Each finding is a line; any finding gives exit code 1.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";
import { filters, honest, keyboard, links, paper, quick, scriptless } from "./trials.js";
import { viewer } from "./viewer.js";

const [folder, shots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [["wide", 1280, 900], ["narrow", 375, 812]];
const SCHEMES = ["light", "dark"];

const faults = [];
const fault = (where, what) => {
  faults.push(`${where}: ${what}`);
  console.log(`fault: ${where}: ${what}`);
};

// The pages of the clauses, the rules and the formats are the same in all sites, and looked at in one.
const alike = (path) => !path.includes("/kept/") && /(clauses|rules|formats)\.html$/.test(path);

const pages = (at) =>
  readdirSync(at).flatMap((name) => {
    const path = join(at, name);
    return statSync(path).isDirectory() ? pages(path) : name.endsWith(".html") ? [path] : [];
  });

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM,
  headless: true,
  // Without a sandbox of its own, since it runs as root in CI; it is shown nothing but these files.
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-component-update"],
  protocolTimeout: 120_000,
});

// A page that may load its own file and nothing else, and whose every complaint is a fault.
const open = async (path, { scheme = "light", width = 1280, height = 900, hash = "", script = true } = {}) => {
  const page = await browser.newPage();
  const where = `${relative(folder, path)} (${scheme}, ${width})`;
  const own = pathToFileURL(path).href;
  await page.setViewport({ width, height });
  await page.setJavaScriptEnabled(script);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const url = request.url().split("#")[0];
    if (url.startsWith(pathToFileURL(folder).href) && request.isNavigationRequest()) return request.continue();
    fault(where, `asks for ${request.url().slice(0, 120)}`);
    return request.abort();
  });
  page.on("console", (message) => {
    if (["error", "warn", "warning"].includes(message.type())) fault(where, `console: ${message.text().slice(0, 300)}`);
  });
  page.on("pageerror", (error) => fault(where, `error: ${String(error).slice(0, 300)}`));
  await page.goto(own + hash, { waitUntil: "load" });
  return { page, where };
};

const accessible = async ({ page, where }) => {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, count: nodes.length, html: nodes[0].html.slice(0, 160) }));
  });
  for (const { id, impact, help, count, html } of found) {
    const line = `axe ${impact}: ${id}: ${help} (${count}), such as ${html}`;
    if (["serious", "critical"].includes(impact)) fault(where, line);
    else console.log(`note: ${where}: ${line}`);
  }
};

// No table is cut off: with everything open, each is within the window, and each cell holds what stands in it.
const cutOff = ({ page }) =>
  page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    const within = (it) => it.getBoundingClientRect().right <= window.innerWidth + 1 && it.scrollWidth <= it.clientWidth + 1;
    const cells = Array.from(document.querySelectorAll("table, td, th")).filter((it) => it.checkVisibility() && it.clientWidth > 0 && getComputedStyle(it.closest("thead") || it).position !== "absolute");
    const found = cells.filter((it) => !within(it)).map((it) => it.outerHTML.slice(0, 120));
    return { count: found.length, first: found[0] };
  });

// A page of thousands of rows is looked at by axe with a filter that leaves some: the rows are alike.
const large = (path) => path.includes("/large/") && path.endsWith("index.html");

for (const site of ["kept", "large", "official"].map((name) => join(folder, name))) {
  for (const path of pages(site).filter((path) => !alike(path))) {
    for (const scheme of SCHEMES) {
      for (const [name, width, height] of WIDTHS) {
        const opened = await open(path, { scheme, width, height, hash: large(path) ? "#verdict=crash" : "" });
        const { page, where } = opened;
        const title = await page.title();
        if (title.includes("broken") && !title.includes("document.title")) fault(where, "a stranger's script ran");
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        if (over > 0) fault(where, `is ${over} pixels wider than the window`);
        const shot = relative(folder, path).replaceAll("/", "_").replace(/[^\w.-]/g, "-").replace(/\.html$/, "").slice(0, 60);
        await page.screenshot({ path: join(shots, `${shot}.${scheme}.${name}.png`) });
        const failure = await page.$("article.failure:not([hidden])");
        if (failure) {
          // What is out of view is not drawn before it comes into view.
          await failure.evaluate(async (article) => {
            for (const details of article.querySelectorAll("details")) details.open = true;
            article.scrollIntoView();
            await new Promise((done) => setTimeout(done, 100));
            article.scrollIntoView();
            await new Promise((done) => setTimeout(done, 100));
          });
          await page.screenshot({ path: join(shots, `${shot}.${scheme}.${name}.failure.png`) });
        }
        if (name === "wide") await accessible(opened);
        const { count, first } = await cutOff(opened);
        if (count > 0) fault(where, `${count} tables or cells are cut off, such as ${first}`);
        await page.close();
      }
    }
  }
}

const context = { open, fault, folder, pages, shots, accessible };
for (const trial of [honest, links, filters, keyboard, scriptless, paper, quick, viewer]) await trial(context);

await browser.close();
console.log(faults.length === 0 ? "no fault found" : `${faults.length} faults found`);
process.exitCode = faults.length === 0 ? 0 : 1;
