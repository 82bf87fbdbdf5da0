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

/** Folders of the packages that went into the bundle. */
function packages(inputs) {
  const found = new Set();
  for (const path of Object.keys(inputs)) {
    const match = /^node_modules\/(@[^/]+\/[^/]+|[^/]+)\//.exec(path);
    if (match) found.add(match[1]);
  }
  return [...found].sort();
}

function licenceText(folder) {
  const name = readdirSync(folder).sort().find((file) => /^licen[cs]e/i.test(file));
  return name ? readFileSync(join(folder, name), "utf8").trim() : "";
}

/** Texts of the licences, each once with the packages it covers; a licence that is not permissive ends the build. */
function licences(names) {
  const byText = new Map();
  for (const name of names) {
    const folder = join(here, "node_modules", name);
    const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const text = existsSync(folder) ? licenceText(folder) : "";
    if (!PERMISSIVE.has(about.license) || !text) throw new Error(`${name}: licence ${about.license} cannot be bundled`);
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${about.version} (${about.license})`]);
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
