// Works beside the page, so that the page stays alive, and ends when the page ends it. `require` gives the modules of the package.
const { check, describe, diff, show, summary, use } = require("./api.js");
const { Engine } = require("./engine.js");

const say = (kind, about) => postMessage({ kind, ...about });

async function unpacked(packed) {
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** Answers a question, and reports how far its reading is, or why there is no answer. */
function answer(recording, what, sizes, ask) {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  say("progress", { recording, what, share: 0 });
  try {
    // Some questions read a recording twice.
    const onProgress = (bytes) => say("progress", { recording, what, share: Math.min(bytes / total, 1) });
    say("answer", { recording, what, answer: ask({ onProgress, onNote: (note) => say("note", { recording, note }) }) });
  } catch (error) {
    say("fault", { recording, what, code: error.code ?? null, message: error.message });
  }
}

onmessage = async ({ data: { packed, recordings } }) => {
  try {
    const engine = new Engine(await WebAssembly.compile(await unpacked(packed)), 2048);
    use({ engine: () => engine, bytes: (bytes) => ["<bytes>", bytes], note: () => {} });
    const read = [];
    for (const [at, { name, file }] of recordings.entries()) {
      try {
        read.push({ at, name, bytes: new Uint8Array(await file.arrayBuffer()) });
      } catch (error) {
        // A browser gives a folder as a file, and says so when it is read.
        const why = ["NotFoundError", "NotReadableError"].includes(error.name) ? "it is a folder, or is gone" : error.message;
        say("fault", { recording: at, what: "overview", code: null, message: `${name} cannot be read: ${why}` });
      }
    }
    read.forEach(({ at, name, bytes }) => {
      const one = (what, ask) => answer(at, what, [bytes.length], ask);
      one("overview", (how) => summary(bytes, { name, ...how }));
      one("findings", (how) => {
        const { findings, revision, stopped } = check(bytes, { name, ...how });
        const counts = {};
        for (const { verdict } of findings) counts[verdict] = (counts[verdict] ?? 0) + 1;
        return { counts, revision, stopped };
      });
      one("viewer", (how) => show(bytes, "html", { name, ...how }));
    });
    if (recordings.length === 2 && read.length < 2) {
      say("fault", { recording: null, what: "difference", code: null, message: "Comparing needs two recordings." });
    } else if (recordings.length === 2) {
      const [a, b] = read;
      answer(null, "difference", [a.bytes.length, b.bytes.length], (how) => {
        const found = diff(a.bytes, b.bytes, { names: [a.name, b.name], ...how });
        return { same: found.same, text: describe(found) };
      });
    }
    say("done", {});
  } catch (error) {
    say("broken", { message: error.message });
  }
};
