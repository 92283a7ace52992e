/** A server over stdio for a test: recorded, or played from its recording. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** When the server is started: where there is no recording; for what the recording does not have, too; never; always. */
export type RecordMode = "once" | "new" | "none" | "all";

export interface RecordingOptions {
  /** The default is what the variable MCP_RECORD says, or else `once`. */
  mode?: RecordMode;
  /** JSON pointers into the client's messages that may differ from the recording. */
  ignore?: string[];
  /** Tokens, passwords and keys stay in what is recorded. */
  secrets?: boolean;
  /** The program; the default is what the variable MCP_CONCORD says, or else `mcp-concord`. */
  program?: string;
}

const MODES: readonly string[] = ["once", "new", "none", "all"];

/**
 * How to start this server as a test does that has a recording of it: `command` and `args` of StdioClientTransport. A call that is
 * not in the recording is answered with an error that says where it differs from the recorded one.
 */
export function recordedServer(
  recording: string | URL, command: string, args: readonly string[] = [], options: RecordingOptions = {},
): { command: string; args: string[] } {
  const path = resolve(typeof recording === "string" ? recording : fileURLToPath(recording));
  const { mode = process.env["MCP_RECORD"] || "once", ignore = [], secrets = false, program = process.env["MCP_CONCORD"] || "mcp-concord" } = options;
  if (!MODES.includes(mode)) throw new TypeError(`there is no recording mode ${mode}; the modes are ${MODES.join(", ")}`);
  const exists = existsSync(path);
  if (mode === "none" && !exists) throw new Error(`there is no recording ${path}, and the mode none does not make one`);
  if (mode === "new" && !secrets) throw new Error("the mode new adds what was sent as it was sent: it needs secrets: true");
  if (mode === "all" || !exists) {
    mkdirSync(dirname(path), { recursive: true });
    const redact = secrets ? [] : ["--redact-preset", "common"];
    return { command: program, args: ["-q", "record", "-o", path, "--force", ...redact, "--", command, ...args] };
  }
  const pointers = ignore.flatMap((pointer) => ["--ignore", pointer]);
  const live = [command, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const match = mode === "new" ? ["request", "--once", "--record-new", live] : ["strict"];
  return { command: program, args: ["-q", "play", "--as", "server", path, "--redacted", "[REDACTED]", ...pointers, "--match", ...match] };
}
