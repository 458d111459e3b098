// Runs a failing block with the engine as WebAssembly, a row at a time, back and forth. The page sends {id, op, ...}
// and gets {id, ...}. Nothing here touches the page; sandbox/emulator/step.py describes the bundle.
"use strict";

const VERSION = 1;
const LANES = 32;
const UNIT = 128;
const ROW = 48;
const NONE = 0x7fffffff;
const CONSTANT = 0x80000000;
const NEGATED = 1;
const PARKED = 64;
// Bytes of all snapshots together, and rows between two at first.
const SNAPSHOT_BYTES = 96 << 20;
const SPACING = 256;
const STATUS = ["goes on", "ended", "fault", "finding", "waits", "no room"];
// Rows of which a time line is made, and parts of one.
const MOST_TIMED = 200000;
const MOST_SPANS = 800;
const RUNNING = new Set(["runs", "diverged"]);
const ACCESSES = new Set(["load", "store", "atomic"]);

function bits(mask) {
  let count = 0;
  for (let rest = mask >>> 0; rest; rest &= rest - 1) count += 1;
  return count;
}

class OtherVersion extends Error {}

async function unpacked(bundle) {
  const stream = new Blob([bundle]).stream().pipeThrough(new DecompressionStream("gzip"));
  const whole = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(whole.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
  if (header.version !== VERSION) throw new OtherVersion();
  const from = Math.ceil((4 + length) / 16) * 16;
  return { header, blob: ([at, size]) => whole.subarray(from + at, from + at + size) };
}

class Machine {
  constructor(instance, { header, blob }) {
    this.c = instance.exports;
    if (header.engine !== this.c.step_version() >>> 0) throw new OtherVersion();
    this.header = header;
    this.rowBytes = blob(header.code).slice();
    this.rows = new DataView(this.rowBytes.buffer);
    const engine = this.c.engine_new(1);
    this.engine = engine;
    this.windows = [];
    for (const region of header.regions) this.add(engine, region, blob);
    const words = this.copied(new Uint8Array(Uint32Array.from(header.words).buffer));
    const [code, pool, specials, spans] = ["code", "pool", "specials", "spans"].map((name) =>
      this.copied(blob(header[name])),
    );
    this.poolAt = pool;
    this.it = this.c.step_new(engine, words, code, pool, specials, spans);
    if (!this.it) throw new Error("no memory is left");
    this.grid = header.words.slice(0, 3);
    this.threads = header.words.slice(3, 6);
    this.threadCount = this.threads[0] * this.threads[1] * this.threads[2];
    this.sharedBytes = header.words[6] + header.words[14];
    this.localBytes = header.words[13];
    this.units = header.words[10];
    // Of a race of two blocks: either one first, as a whole, then the other up to its access.
    this.orders = header.orders ?? [{ blocks: [header.block], indices: [header.index], rows: [header.rows] }];
    this.fresh = this.bytes.slice();
    this.begin(0);
  }

  begin(order) {
    this.bytes.set(this.fresh);
    this.order = order;
    this.plan = this.orders[order];
    this.total = this.plan.rows.reduce((sum, rows) => sum + rows, 0);
    this.spacing = SPACING;
    this.snapshots = [];
    this.enter(0);
    this.keep();
  }

  /** The next block of two begins, or the only one. */
  enter(part) {
    const { header, plan } = this;
    this.part = part;
    this.earlier = plan.rows.slice(0, part).reduce((sum, rows) => sum + rows, 0);
    const alone = plan.blocks.length === 1;
    const [before, kind, line] = alone ? [header.before >>> 0, header.kind, header.line] : [NONE, 0, 0];
    this.read(this.c.step_begin(this.it, plan.blocks[part], before, kind, line));
  }

  get bytes() {
    return new Uint8Array(this.c.memory.buffer);
  }

  /** Where a copy of these bytes is, at a multiple of 128. */
  copied(data) {
    const at = this.c.step_alloc(BigInt(data.length));
    if (!at) throw new Error("no memory is left");
    this.bytes.set(data, at);
    return at;
  }

  add(engine, region, blob) {
    const { bytes } = region;
    const data = bytes ? this.copied(blob(region.data)) : 0;
    const valid = region.valid ? this.copied(blob(region.valid)) : 0;
    const seen = bytes ? this.c.step_alloc(BigInt(12 * bytes)) : 0;
    const [address, size] = [BigInt(region.address), BigInt(region.size)];
    this.windows.push({ ...region, address, size, at: data });
    const granule = this.header.words[15];
    const [from, there] = [BigInt(region.from), BigInt(bytes)];
    if (!this.c.step_region(engine, address, size, region.number, region.flags, from, there, data, valid, seen, granule))
      throw new Error("no memory is left");
  }

  read(at) {
    const words = new Uint32Array(this.c.memory.buffer, at, 6);
    [this.status, this.warp, this.pc, this.runs, this.row, this.findings] = words;
    this.row += this.earlier;
    if (STATUS[this.status] === "ended" && this.part < this.plan.blocks.length - 1) this.enter(this.part + 1);
  }

  keep() {
    const { row, part, earlier } = this;
    this.snapshots.push({ row, part, earlier, memory: this.bytes.slice() });
    const most = Math.max(4, Math.floor(SNAPSHOT_BYTES / this.c.memory.buffer.byteLength));
    if (this.snapshots.length <= most) return;
    this.snapshots = this.snapshots.filter((_, index) => index % 2 === 0);
    this.spacing *= 2;
  }

  /** Goes to the state before a row, from the newest snapshot that helps. */
  go(row) {
    const wanted = Math.max(0, Math.min(row, this.total));
    const snapshot = this.snapshots.findLast((each) => each.row <= wanted);
    if (wanted < this.row || snapshot.row > this.row) {
      this.bytes.set(snapshot.memory);
      [this.part, this.earlier] = [snapshot.part, snapshot.earlier];
      this.read(this.c.step_on(this.it, 0n));
    }
    while (this.row < wanted && this.status === 0) {
      const next = this.snapshots.at(-1).row + this.spacing;
      const until = this.row < next ? Math.min(wanted, next) : wanted;
      this.read(this.c.step_on(this.it, BigInt(until - this.row)));
      if (this.row === next && this.status === 0) this.keep();
    }
  }

  rowAt(pc) {
    const at = pc * ROW;
    const view = this.rows;
    const op = view.getUint16(at, true);
    const operand = (index) => view.getUint32(at + 12 + 4 * index, true);
    return {
      op,
      name: this.header.operations[op] ?? "",
      flags: view.getUint8(at + 2),
      size: view.getUint8(at + 3),
      count: view.getUint8(at + 4),
      space: this.header.spaces[view.getUint8(at + 5)],
      wide: view.getUint16(at + 6, true),
      guard: view.getUint32(at + 8, true),
      operands: [0, 1, 2, 3, 4].map(operand),
      imm: view.getBigInt64(at + 32, true),
      line: this.header.lines[view.getUint32(at + 40, true)] ?? 0,
    };
  }

  lineAt(pc) {
    return pc * ROW < this.rowBytes.length ? this.rowAt(pc).line : 0;
  }

  unit(warp, operand) {
    const number = (operand & ~CONSTANT) >>> 0;
    const base = operand & CONSTANT ? this.poolAt : this.c.step_registers(this.it, warp);
    return base + number * UNIT;
  }

  /** Each lane's value: a number, a BigInt, or true or false of a predicate. */
  lanes(warp, operand, kind) {
    const at = this.unit(warp, operand);
    const view = new DataView(this.c.memory.buffer);
    const each = Array.from({ length: LANES }, (_, lane) => lane);
    if (kind === "pred") return each.map((lane) => ((view.getUint32(at, true) >>> lane) & 1) === 1);
    const of = {
      f32: (lane) => view.getFloat32(at + 4 * lane, true),
      f64: (lane) => view.getFloat64(at + 8 * lane, true),
      s32: (lane) => view.getInt32(at + 4 * lane, true),
      u32: (lane) => view.getUint32(at + 4 * lane, true),
      b32: (lane) => view.getUint32(at + 4 * lane, true),
      s64: (lane) => view.getBigInt64(at + 8 * lane, true),
      u64: (lane) => view.getBigUint64(at + 8 * lane, true),
    };
    return each.map(of[kind]);
  }

  kindOf(row, index) {
    if ((row.wide >> (8 + index)) & 1) return "pred";
    const wide = ((row.wide >> index) & 1) === 1;
    if (!wide && (ACCESSES.has(row.name) || !row.name.includes("_") || row.name.includes("_b32"))) return "b32";
    const last = row.name.split("_").at(-1);
    if (last === "f64") return wide ? "f64" : "s32";
    if (last === "f32" && !wide) return "f32";
    if (last[0] === "u" || last[0] === "b") return wide ? "u64" : "u32";
    return wide ? "s64" : "s32";
  }

  operands(row) {
    if (!(row.op in this.header.operations)) return [];
    const control = !/_|[0-9]/.test(row.name) && !ACCESSES.has(row.name);
    if (control || row.name === "barrier") return [];
    const named = ["result", "a", "b", "c", "e"];
    return row.operands.flatMap((operand, index) => {
      const number = (operand & ~CONSTANT) >>> 0;
      const constant = (operand & CONSTANT) !== 0;
      if (operand === NONE || (!constant && number >= this.units)) return [];
      if (ACCESSES.has(row.name) && index === 1) return []; // the address, which the access shows
      const kind = this.kindOf(row, index);
      const name = index === 0 && row.name === "store" ? "value" : named[index];
      return [{ name, kind, values: this.lanes(this.warp, operand, kind) }];
    });
  }

  /** Where the lanes read or write: memory's name, and each lane's byte there. */
  access(row) {
    if (!ACCESSES.has(row.name)) return null;
    const wide = ((row.wide >> 1) & 1) === 1;
    const operand = row.operands[1];
    const base =
      operand === NONE ? new Array(LANES).fill(0n) : this.lanes(this.warp, operand, wide ? "u64" : "u32").map(BigInt);
    const bytes = row.size * row.count;
    const lanes = base.map((value) => {
      let address = value + row.imm;
      address = wide ? BigInt.asUintN(64, address) : BigInt.asUintN(32, address);
      return this.placeOf(address, row.space, bytes);
    });
    return { writes: row.name !== "load", updates: row.name === "atomic", size: row.size, bytes, lanes };
  }

  placeOf(address, space, bytes) {
    let where = space;
    if (space === "generic" && address >= 0x4000000000000n) where = "local";
    else if (space === "generic" && address >= 0x2000000000000n) where = "shared";
    if (where === "shared" || where === "local") {
      const offset = Number(address & 0xffffffffn);
      const array = where === "shared" && this.header.arrays.find(([, start, size]) =>
        offset >= start && (size === 0 || offset < start + size));
      const most = where === "shared" ? this.sharedBytes : this.localBytes;
      return {
        space: where,
        name: array ? array[0] : where === "shared" ? "shared memory" : "a local array",
        offset: array ? offset - array[1] : offset,
        at: offset,
        outside: offset + bytes > most || (array && array[2] > 0 && offset + bytes > array[1] + array[2]),
      };
    }
    let near = null;
    let least = null;
    for (const window of this.windows) {
      const end = window.address + window.size;
      const away = address < window.address ? window.address - address : address >= end ? address - end : -1n;
      if (least === null || away < least) [near, least] = [window, away];
    }
    if (near === null || least > 1n << 26n) return { space: "global", name: "no memory", offset: 0, at: 0, outside: true };
    const offset = Number(address - near.address);
    return {
      space: "global",
      name: near.name || "memory",
      offset,
      at: offset,
      outside: least >= 0n || offset + bytes > Number(near.size),
    };
  }

  warps() {
    const count = Math.ceil(this.threadCount / LANES);
    return Array.from({ length: count }, (_, number) => {
      const at = this.c.step_warp(this.it, number);
      const words = new Uint32Array(this.c.memory.buffer, at, 5 + 3 * LANES);
      const [existing, exited, active, pc, groups] = words;
      const states = Array.from({ length: LANES }, (_, lane) => {
        const bit = 1 << lane;
        if (!(existing & bit)) return "none";
        if (exited & bit) return "returned";
        if (active & bit) {
          if (number !== this.warp || this.status !== 0) return "later";
          return this.runs & bit ? "runs" : "off";
        }
        for (let i = 0; i < groups; i++)
          if (words[6 + 3 * i] & bit) {
            const waits = words[7 + 3 * i];
            return waits === 0 || waits === PARKED ? "path" : "waits";
          }
        return "later";
      });
      const lines = new Set();
      if (active) lines.add(this.lineAt(pc));
      for (let i = 0; i < groups; i++) lines.add(this.lineAt(words[5 + 3 * i]));
      return { states, begun: !(pc === this.header.words[9] && active === existing), lines: [...lines] };
    });
  }

  shared() {
    if (!this.sharedBytes) return null;
    const at = this.c.step_shared(this.it);
    const valid = this.c.step_shared_valid(this.it);
    return {
      data: this.bytes.slice(at, at + this.sharedBytes),
      valid: valid ? this.bytes.slice(valid, valid + this.sharedBytes) : null,
    };
  }

  /** The number of the thread of a lane in its block, x y z. */
  state() {
    const row = this.pc * ROW < this.rowBytes.length ? this.rowAt(this.pc) : null;
    return {
      row: this.row,
      rows: this.total,
      order: this.order,
      part: this.part,
      block: this.plan.indices[this.part],
      status: STATUS[this.status],
      warp: this.warp,
      pc: this.pc,
      line: row ? row.line : 0,
      name: row ? row.name : "",
      space: row ? row.space : "",
      guarded: row !== null && row.guard !== NONE,
      operands: row ? this.operands(row) : [],
      access: row ? this.access(row) : null,
      warps: this.warps(),
      shared: this.shared(),
    };
  }

  /** The next row, or the last one before, at which ``wanted`` is true; the end if there is none. */
  seek(forward, wanted) {
    const begin = this.row;
    if (forward) {
      while (this.row < this.total && this.status === 0) {
        this.go(this.row + 1);
        if (this.status !== 0 || wanted(this)) return;
      }
      return;
    }
    // From a place before, forward, because rows are known only as they run.
    for (let length = 64; ; length *= 4) {
      const first = Math.max(0, begin - length);
      let best = -1;
      this.go(first);
      while (this.row < begin) {
        if (wanted(this)) best = this.row;
        this.go(this.row + 1);
      }
      if (best >= 0 || first === 0) {
        this.go(Math.max(best, 0));
        return;
      }
    }
  }

  /** For each warp of each block the states that it goes through: {part, warp, spans: [from, to, state, lanes]}. Rows are
   * put together so that about MOST_SPANS remain. null: too many rows. */
  timeline() {
    if (this.total > MOST_TIMED) return null;
    const wide = Math.ceil(this.total / MOST_SPANS);
    const count = Math.ceil(this.threadCount / LANES);
    const warps = this.plan.blocks.flatMap((_, part) =>
      Array.from({ length: count }, (_, warp) => ({ part, warp, spans: [] })),
    );
    // [existing, returned, active, row, groups, and of each its row, lanes and barrier]
    const words = (warp) => new Uint32Array(this.c.memory.buffer, this.c.step_warp(this.it, warp), 5 + 3 * LANES);
    const add = (line, from, to, state, lanes) => {
      const last = line.spans.at(-1);
      const same = last && (last[2] === state || (RUNNING.has(last[2]) && RUNNING.has(state) && to - last[0] <= wide));
      if (same && last[1] === from && (last[3] === lanes || to - last[0] <= wide)) {
        last[1] = to;
        last[3] = Math.min(last[3], lanes);
        if (state === "diverged") last[2] = state;
      } else line.spans.push([from, to, state, lanes]);
    };
    /** After its turn: from ``since`` on, until ``line`` runs again. */
    const rests = (line) => {
      const [existing, returned, , , groups, ...each] = words(line.warp);
      if (existing === returned) return "done";
      const waits = Array.from({ length: groups }, (_, index) => each[3 * index + 2]);
      return waits.some((barrier) => barrier !== 0 && barrier !== PARKED) ? "waits" : "later";
    };
    const since = new Map();
    const close = (line, to) => {
      const [from, state] = since.get(line) ?? [this.plan.rows.slice(0, line.part).reduce((sum, rows) => sum + rows, 0), "later"];
      if (from < to) add(line, from, to, state, 0);
      since.delete(line);
    };
    const barrier = Number(Object.entries(this.header.operations).find(([, name]) => name === "barrier")?.[0] ?? -1);
    this.go(0);
    let turn = null;
    while (this.row < this.total && this.status === 0) {
      const line = warps[this.part * count + this.warp];
      if (line !== turn) {
        if (turn !== null && turn.part === line.part) since.set(turn, [this.row, rests(turn)]);
        close(line, this.row);
        turn = line;
      }
      const [existing, returned, active] = words(this.warp);
      const lanes = bits(active);
      add(line, this.row, this.row + 1, lanes === bits(existing & ~returned) ? "runs" : "diverged", lanes);
      const arrives = this.rows.getUint16(this.pc * ROW, true) === barrier;
      this.go(this.row + 1);
      if (!arrives) continue;
      // Others may wait no longer.
      for (const [other, [from, state]] of [...since]) {
        if (state !== "waits" || other.part !== this.part || rests(other) === state) continue;
        add(other, from, this.row, state, 0);
        since.set(other, [this.row, rests(other)]);
      }
    }
    const ends = this.plan.rows.map((_, part) => this.plan.rows.slice(0, part + 1).reduce((sum, rows) => sum + rows, 0));
    for (const line of warps) if (line !== turn) {
      // A block that ran as a whole is done, and so are its warps.
      if (line.part < this.part) since.set(line, [line.spans.at(-1)?.[1] ?? 0, "done"]);
      close(line, ends[line.part]);
    }
    this.go(0);
    return { rows: this.total, warps, blocks: this.plan.indices };
  }

  checksum() {
    return this.c.step_checksum(this.it) >>> 0;
  }
}

/** Rows that students look for: accesses, barriers, shuffles and returns. */
const NOTABLE = new Set(["load", "store", "atomic", "barrier", "warp_barrier", "shuffle", "exit", "vote", "redux"]);
const isNotable = (machine) => NOTABLE.has(machine.rowAt(machine.pc).name);

let machine = null;

async function loaded({ wasm, bundle }) {
  if (typeof WebAssembly !== "object") return { failed: "wasm" };
  let answers;
  try {
    answers = await Promise.all([fetch(wasm), fetch(bundle)]);
  } catch {
    return { failed: "network" };
  }
  if (!answers.every((answer) => answer.ok)) return { failed: "network" };
  const [module, content] = await Promise.all([
    WebAssembly.compileStreaming(Promise.resolve(answers[0])),
    answers[1].arrayBuffer(),
  ]);
  const answer = await begun(module, content);
  return answer.failed ? answer : { ...answer, timeline: machine.timeline() };
}

async function begun(module, content) {
  try {
    const parts = await unpacked(content);
    const instance = await WebAssembly.instantiate(module, {});
    machine = new Machine(instance, parts);
  } catch (error) {
    return { failed: error instanceof OtherVersion ? "version" : "bundle", detail: String(error) };
  }
  const { header } = machine;
  const told = ["kernel", "index", "before", "kind_name", "finding", "arrays", "lines", "thread", "how"];
  return {
    about: {
      ...Object.fromEntries(told.map((name) => [name, header[name]])),
      rows: machine.total,
      pair: machine.orders.length > 1,
      threads: machine.threads,
      grid: machine.grid,
      fault_line: header.lines[header.line] ?? 0,
      other_line: header.lines[header.finding.other_line] ?? 0,
    },
  };
}

function reordered({ order, row }) {
  if (order === machine.order) {
    machine.go(row);
    return {};
  }
  machine.begin(order);
  const timeline = machine.timeline();
  machine.go(row);
  return { timeline };
}

const OPERATIONS = {
  load: loaded,
  order: reordered,
  go: ({ row }) => machine.go(row),
  forward: () => machine.seek(true, isNotable),
  back: () => machine.seek(false, isNotable),
  line: ({ line }) => machine.seek(true, (it) => it.lineAt(it.pc) === line),
  warp: ({ warp }) => machine.seek(true, (it) => it.warp === warp),
};

self.onmessage = async ({ data }) => {
  let answer = {};
  try {
    answer = (await OPERATIONS[data.op](data)) ?? {};
    if (machine !== null && !answer.failed) answer.state = machine.state();
  } catch (error) {
    answer = { failed: "engine", detail: String(error) };
  }
  self.postMessage({ id: data.id, ...answer });
};
