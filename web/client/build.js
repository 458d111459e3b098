// Bundles the editor and the highlighter into web/static/built/. The first line of each names its sources' hash.
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
  // Browsers with light-dark() and :has(), which the pages' styles need.
  target: ["chrome123", "firefox121", "safari17.5"],
  banner: { js: `/* sources ${stamp ?? "unknown"}; licences.txt names the authors */` },
});
await writeFile(`${OUT}/licences.txt`, await licences());

// Licences require passing these on.
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
