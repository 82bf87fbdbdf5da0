// Bundles the page: node build.mjs OUT.html
// One HTML file with its style, its program and the licences of what is bundled; the place of the data is a marker
// that the library replaces. The program is named in the page's security policy by its hash, so that nothing else runs.
import {createHash} from "node:crypto";
import {existsSync, readFileSync, readdirSync, writeFileSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, "report.html"));
const PERMISSIVE = new Set(["ISC", "MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "Unlicense"]);
const DATA = "@@PARALLAX_REPORT_DATA@@";

const options = {absWorkingDir: here, bundle: true, minify: true, write: false, charset: "utf8", target: "es2020",
                 legalComments: "none", logLevel: "warning"};
const script = await esbuild.build({...options, entryPoints: ["src/main.js"], format: "iife", metafile: true});
const style = await esbuild.build({...options, entryPoints: ["src/style.css"]});

const about = (folder) => JSON.parse(readFileSync(join(here, folder, "package.json"), "utf8"));

/** Where a package finds one that it names: beside it, or above. */
function dependency(folder, name) {
  for (let at = folder; at.includes("node_modules"); at = at.slice(0, at.lastIndexOf("node_modules")).replace(/\/$/, "")) {
    const nested = `${at}/node_modules/${name}`;
    if (existsSync(join(here, nested))) return nested;
  }
  return `node_modules/${name}`;
}

/** Folders of the packages that went into the bundle, and of those they need: some come with these inside. */
function packages(inputs) {
  const found = new Set(Object.keys(inputs).map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean));
  for (const folder of found) // grows while it is walked
    for (const name of Object.keys(about(folder).dependencies ?? {})) found.add(dependency(folder, name));
  return [...found].sort();
}

function licenceText(folder, kind) {
  const name = readdirSync(join(here, folder)).sort().find((file) => /^licen[cs]e/i.test(file));
  if (name) return readFileSync(join(here, folder, name), "utf8").trim();
  return kind === "Unlicense" ? "In the public domain (Unlicense)." : "";
}

/** Texts of the licences, each once with the packages it covers; a licence that is not permissive ends the build. */
function licences(folders) {
  const byText = new Map();
  for (const folder of folders) {
    const {name, version, license} = about(folder), text = licenceText(folder, license);
    if (!PERMISSIVE.has(license) || !text) throw new Error(`${name}: licence ${license} cannot be bundled`);
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  return [...byText].map(([text, who]) => `${who.join(", ")}\n\n${text}`).join("\n\n\n");
}

const escapeHtml = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const program = script.outputFiles[0].text;
if (/<\/script/i.test(program) || /<\/style/i.test(style.outputFiles[0].text)) throw new Error("the bundle would end its own element");
const hash = createHash("sha256").update(program, "utf8").digest("base64");
const page = readFileSync(join(here, "src/page.html"), "utf8");
const parts = {"@@POLICY@@": `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:`,
               "@@STYLE@@": style.outputFiles[0].text, "@@LICENCES@@": escapeHtml(licences(packages(script.metafile.inputs))),
               "@@SCRIPT@@": program};
const whole = page.replace(/@@(POLICY|STYLE|LICENCES|SCRIPT)@@/g, (marker) => parts[marker]);
if (whole.split(DATA).length !== 2) throw new Error(`the page must hold ${DATA} once`);
writeFileSync(target, whole);
