// Names of one language: CUDA's built-ins (cuda.js), Triton's (built/triton.json, fetched on first use), and the
// challenge's arguments. An entry: {name, kind, signature, about, parameters?}.
import { cudaEntries, MEMBERS } from "./cuda.js";

export function knowledgeOf(mode, args, address) {
  const own = new Map(args.map((each) => [each.name, argument(each)]));
  if (mode === "cuda") return new Knowledge(new Map([...cudaEntries(), ...own]), MEMBERS);
  return new Knowledge(own, {}, mode === "python" ? address : "");
}

class Knowledge {
  #address;
  #loading = null;

  constructor(entries, members, address = "") {
    Object.assign(this, { entries, members });
    this.#address = address;
  }

  // After a failure, the next use fetches again.
  load() {
    if (!this.#address) return null;
    this.#loading ??= fetch(this.#address)
      .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status)))))
      .then(({ entries }) => {
        for (const [name, entry] of Object.entries(entries)) this.entries.set(name, { name, ...entry });
      })
      .catch(() => { this.#loading = null; });
    return this.#loading;
  }

  // `tl.load`; for `threadIdx.x` the entry of threadIdx.
  find(name) {
    const whole = this.entries.get(name.replace(/^triton\.language\./, "tl."));
    const [first, rest] = name.split(".");
    return whole ?? (this.members[first]?.includes(rest) ? this.entries.get(first) : undefined);
  }

  // [label, entry] of `prefix.`; of "", those without a dot.
  within(prefix) {
    const dotted = prefix === "triton.language" ? "tl." : prefix && `${prefix}.`;
    const found = [...this.entries].filter(([name]) => name.startsWith(dotted) && !name.slice(dotted.length).includes("."));
    const members = (this.members[prefix] ?? []).map((label) => [label, { kind: "property", signature: "", about: "" }]);
    return [...members, ...found.map(([name, entry]) => [name.slice(dotted.length), entry])];
  }
}

function argument({ name, kind, dtype, shape }) {
  const sizes = shape.length ? ` [${shape.join(", ")}]` : "";
  return { name, kind: "argument", signature: `${name}: ${dtype}${sizes}`, about: `The challenge's argument, ${kind}.` };
}
