// Packs the npm packages: node pack.mjs FOLDER [PLATFORM=PROGRAM…]
//
// @mcp-concord/core as build.sh left it, @mcp-concord/cli, and a package for each platform whose program is given, such as
// linux-x64=target/dist/mcp-concord. All have the version that Cargo.toml has.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const here = import.meta.dirname;
const root = join(here, "../..");
const [, , out, ...programs] = process.argv;
if (out === undefined) fail("node pack.mjs FOLDER [PLATFORM=PROGRAM…]");
const version = /^\[workspace\.package\]\nversion = "([^"]+)"/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))?.[1];
if (version === undefined) fail("Cargo.toml has no version under [workspace.package]");
const platforms = JSON.parse(readFileSync(join(here, "cli/platforms.json"), "utf8"));

function fail(why) {
  console.error(why);
  process.exit(2);
}

/** Packs a package: its folder, filled by `fill`, with the members of package.json that are not the same for all. */
function pack(fill) {
  const folder = mkdtempSync(join(tmpdir(), "pack-"));
  const members = fill(folder);
  for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, licence), join(folder, licence));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ ...members, version }, null, 2)}\n`);
  execFileSync("npm", ["pack", "--silent", "--pack-destination", resolve(out), folder], { stdio: ["ignore", "ignore", "inherit"] });
  rmSync(folder, { recursive: true });
}

const written = (name) => JSON.parse(readFileSync(join(here, name, "package.json"), "utf8"));
mkdirSync(out, { recursive: true });

pack((folder) => {
  for (const file of ["dist", "README.md"]) cpSync(join(here, "core", file), join(folder, file), { recursive: true });
  return written("core");
});
pack((folder) => {
  for (const file of ["mcp-concord.cjs", "platforms.json", "README.md"]) copyFileSync(join(here, "cli", file), join(folder, file));
  const optionalDependencies = Object.fromEntries(Object.keys(platforms).map((name) => [`@mcp-concord/cli-${name}`, version]));
  return { ...written("cli"), optionalDependencies };
});
for (const given of programs) {
  const [name, program] = given.split("=");
  if (!(name in platforms) || !program) fail(`${given}: not PLATFORM=PROGRAM with one of ${Object.keys(platforms).join(", ")}`);
  const { target, ...only } = platforms[name];
  const file = name.startsWith("win32") ? "mcp-concord.exe" : "mcp-concord";
  pack((folder) => {
    copyFileSync(program, join(folder, file));
    chmodSync(join(folder, file), 0o755);
    const { license, repository, engines } = written("cli");
    const description = `The program mcp-concord for ${target}; install @mcp-concord/cli`;
    // Yarn would keep it zipped.
    return { name: `@mcp-concord/cli-${name}`, description, license, repository, engines, ...only, preferUnplugged: true, files: [file, "LICENSE-*"] };
  });
}
