// Answers the questions of bindings/equal.py: answers.mjs [PAGE] CASES
//
// It answers with the package that is installed or, where it is given the page, with what is in that, in headless Chromium, which
// CHROMIUM names.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

/** An answer of the library. Its text is run in the browser as well, so it uses nothing from around it. */
function answer(api, name, bytes, path, before, other) {
  const how = { name: path, onNote: () => {} };
  const functions = {
    read: () => api.readText(bytes, how),
    identify: () => JSON.stringify(api.identify(bytes, how)),
    summary: () => JSON.stringify(api.summary(bytes, how)),
    check: () => api.check(bytes, how).json,
    diff: () => api.diff(before, bytes, { names: [other, path], onNote: () => {} }).json,
    convert: () => new TextDecoder("utf-8", { ignoreBOM: true }).decode(api.convert(bytes, "har", { lossy: true, ...how })),
    show: () => api.show(bytes, "text", how),
  };
  try {
    return { text: functions[name]() };
  } catch (error) {
    if (!(error instanceof api.ConcordError)) throw error;
    return { error: { code: error.code, line: error.line, name: error.recording } };
  }
}

async function inNode() {
  const api = await import("@mcp-concord/core");
  return (...asked) => answer(api, ...asked);
}

/** The modules and the WebAssembly of the page, in a worker as the page has it, which answers questions in place of its own. */
async function inBrowser(file) {
  const { default: puppeteer } = await import("puppeteer-core");
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
  process.once("exit", () => browser.process().kill());
  const page = await browser.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.evaluate(async (answer) => {
    /* global packed */
    const questions = `
      const api = { ...require("./api.js"), ...require("./errors.js") };
      onmessage = async ({ data: { packed, asked } }) => {
        if (!packed) return postMessage((${answer})(api, ...asked));
        const engine = new Engine(await WebAssembly.compile(await unpacked(packed)), 2048);
        use({ engine: () => engine, bytes: (bytes) => ["<bytes>", bytes], note: () => {} });
        postMessage("ready");
      };`;
    const source = document.getElementById("worker").textContent + questions;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    const bytes = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    const say = (message) =>
      new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
        worker.postMessage(message);
      });
    globalThis.ask = (name, a, path, b, other) => say({ asked: [name, bytes(a), path, bytes(b), other] });
    await say({ packed });
  }, answer.toString());
  return (name, a, path, b, other) => page.evaluate((...asked) => globalThis.ask(...asked), name, a.toString("base64"), path, b.toString("base64"), other);
}

const [cases, file] = process.argv.slice(2).reverse();
const ask = await (file ? inBrowser(file) : inNode());
for await (const line of createInterface({ input: process.stdin })) {
  const { function: name, path, other } = JSON.parse(line);
  const [a, b] = [path, other].map((one) => readFileSync(join(cases, one)));
  process.stdout.write(`${JSON.stringify(await ask(name, a, path, b, other))}\n`);
}
process.exit(0);
