/** Importing this gives `expect` of vitest the matchers. */
import { expect } from "vitest";
import { toBeSameSession, toCallTool, toConform, type ConcordMatchers } from "./matchers.js";

declare module "vitest" {
  interface Matchers<T = any> extends ConcordMatchers<T> {}
}

expect.extend({ toBeSameSession, toCallTool, toConform });
