/** Importing this gives `expect` of jest the matchers. */
import { expect } from "@jest/globals";
import { toBeSameSession, toCallTool, toConform, type ConcordMatchers } from "./matchers.js";

declare module "expect" {
  interface Matchers<R> extends ConcordMatchers<R> {}
}

expect.extend({ toBeSameSession, toCallTool, toConform });
