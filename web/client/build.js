// Bundles the editor, and what marks listings, into web/static/built/. The first line of what is built names the sources that it was made of.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const OUT = "../static/built";
const [stamp] = process.argv.slice(2);

await build({
  entryPoints: { editor: "src/main.js", listing: "src/listing.js" },
  outdir: OUT,
  bundle: true,
  minify: true,
  format: "iife",
  // What has light-dark() and :has(), which the pages' styles need anyway.
  target: ["chrome123", "firefox121", "safari17.5"],
  banner: { js: `/* sources ${stamp ?? "unknown"}; licences.txt names the authors */` },
});
await writeFile(`${OUT}/licences.txt`, await licences());

// Whoever passes on what is bundled has to pass on these.
async function licences() {
  const { packages } = JSON.parse(await readFile("package-lock.json", "utf8"));
  const texts = [];
  for (const [folder, { dev, optional, version }] of Object.entries(packages)) {
    if (!folder || dev || optional || folder === "node_modules/esbuild") continue;
    const name = (await readdir(folder)).find((it) => /^licen[sc]e/i.test(it));
    const text = name ? await readFile(`${folder}/${name}`, "utf8") : "";
    texts.push(`${folder.replace("node_modules/", "")} ${version}\n\n${text.trim()}\n`);
  }
  return texts.join(`\n${"-".repeat(80)}\n`);
}
