// Measures how fast this machine is at the moment; limits on a page's times scale with it.
import { join } from "node:path";

// A page of a few rows can be used within this many milliseconds. On a machine that is slower, or busy, all pages take longer alike.
const SMALL = 250;

// Until what was asked for is drawn.
export const frame = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));

// How long a page of a few rows takes now, in milliseconds.
export const small = async ({ open, folder }) => {
  const { page } = await open(join(folder, "viewer", "archive.html"));
  const time = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now())))));
  await page.close();
  return time;
};

// A limit, in milliseconds, where the small page took so long.
export const stretched = (limit, small) => Math.round(limit * Math.max(1, small / SMALL));
