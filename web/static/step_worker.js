// Runs a failing block with the engine as WebAssembly, row by row, back and forth. The page sends {id, op, ...} and
// gets {id, ...}. sandbox/emulator/stepping/recorder.py describes the bundle.
"use strict";

const VERSION = 1;
const LANES = 32;
const UNIT = 128;
const ROW = 48;
const NONE = 0x7fffffff;
const CONSTANT = 0x80000000;
const NEGATED = 1;
const PARKED = 64;
// Snapshots per block, rows between two, and bytes of all.
const SNAPSHOTS = 64;
const SPACING = 256;
const SNAPSHOT_BYTES = 96 << 20;
const PAGE = 1 << 14;
const STATUS = ["goes on", "ended", "fault", "finding", "waits", "no room"];
// Most rows and parts of a time line.
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
    if (header.heap) this.addHeap(header.heap);
    const words = this.copied(new Uint8Array(Uint32Array.from(header.words).buffer));
    const [code, pool, specials, spans] = ["code", "pool", "specials", "spans"].map((name) =>
      this.copied(blob(header[name])),
    );
    this.poolAt = pool;
    this.scratch = this.copied(new Uint8Array(SCRATCH));
    this.it = this.c.step_new(engine, words, code, pool, specials, spans);
    if (!this.it) throw new Error("no memory is left");
    this.grid = header.words.slice(0, 3);
    this.threads = header.words.slice(3, 6);
    this.threadCount = this.threads[0] * this.threads[1] * this.threads[2];
    this.sharedBytes = header.words[6] + header.words[14];
    this.localBytes = header.words[13];
    this.units = header.words[10];
    // In a race, one block runs as a whole, then the other up to its access.
    this.orders = header.orders ?? [{ blocks: [header.block], indices: [header.index], rows: [header.rows] }];
    this.fresh = this.bytes.slice();
    this.begin(0);
  }

  begin(order) {
    this.bytes.set(this.fresh);
    this.order = order;
    this.plan = this.orders[order];
    this.total = this.plan.rows.reduce((sum, rows) => sum + rows, 0);
    this.spacing = Math.max(SPACING, Math.ceil(this.total / SNAPSHOTS));
    this.base = null;
    this.snapshots = [];
    this.enter(0);
    this.keep();
  }

  /** The next of two blocks, or the only one. */
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

  /** Address of a copy, aligned to 128 bytes. */
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

  addHeap({ address, size, next, pieces }) {
    const c = this.c;
    let made = c.step_heap_begin(this.engine, BigInt(address), BigInt(size), BigInt(next));
    for (const [at, bytes, freed] of pieces) made &&= c.step_heap_add(this.engine, BigInt(at), BigInt(bytes), freed);
    if (!made) throw new Error("no memory is left");
  }

  read(at) {
    const words = new Uint32Array(this.c.memory.buffer, at, 6);
    [this.status, this.warp, this.pc, this.runs, this.row, this.findings] = words;
    this.row += this.earlier;
    if (STATUS[this.status] === "ended" && this.part < this.plan.blocks.length - 1) this.enter(this.part + 1);
  }

  /** Keeps only pages that differ from the first snapshot. */
  keep() {
    if (this.base === null) this.base = this.bytes.slice();
    const { row, part, earlier } = this;
    this.snapshots.push({ row, part, earlier, pages: this.changed() });
    const size = () => this.snapshots.reduce((sum, { pages }) => sum + PAGE * pages.length, 0);
    while (this.snapshots.length > 4 && size() > SNAPSHOT_BYTES) {
      this.snapshots = this.snapshots.filter((_, index) => index % 2 === 0);
      this.spacing *= 2;
    }
  }

  changed() {
    const [now, before] = [this.c.memory.buffer, this.base.buffer].map((buffer) => new Uint32Array(buffer));
    const pages = [];
    for (let from = 0; from < now.length; from += PAGE / 4) {
      const end = Math.min(from + PAGE / 4, now.length);
      let at = from;
      while (at < end && now[at] === before[at]) at++;
      if (at < end) pages.push([4 * from, this.bytes.slice(4 * from, 4 * end)]);
    }
    return pages;
  }

  restore({ pages, part, earlier }) {
    this.bytes.set(this.base);
    for (const [at, page] of pages) this.bytes.set(page, at);
    [this.part, this.earlier] = [part, earlier];
    this.read(this.c.step_on(this.it, 0n));
  }

  /** To the state before a row, from the nearest snapshot. */
  go(row) {
    const wanted = Math.max(0, Math.min(row, this.total));
    const snapshot = this.snapshots.findLast((each) => each.row <= wanted);
    if (wanted < this.row || snapshot.row > this.row) {
      this.restore(snapshot);
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
      type: this.header.types?.[this.header.row_types[pc]] ?? "",
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

  /** A number, a BigInt, or a boolean per lane. */
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
      f16: (lane) => halfOf(view.getUint16(at + 4 * lane, true)),
      bf16: (lane) => brainOf(view.getUint16(at + 4 * lane, true)),
      f16x2: (lane) => [0, 2].map((part) => halfOf(view.getUint16(at + 4 * lane + part, true))),
      bf16x2: (lane) => [0, 2].map((part) => brainOf(view.getUint16(at + 4 * lane + part, true))),
      b16: (lane) => view.getUint16(at + 4 * lane, true),
      u16: (lane) => view.getUint16(at + 4 * lane, true),
      s16: (lane) => view.getInt16(at + 4 * lane, true),
      u8: (lane) => view.getUint8(at + 4 * lane),
      s8: (lane) => view.getInt8(at + 4 * lane),
      b64: (lane) => view.getBigUint64(at + 8 * lane, true),
      s64: (lane) => view.getBigInt64(at + 8 * lane, true),
      u64: (lane) => view.getBigUint64(at + 8 * lane, true),
    };
    return each.map(of[kind]);
  }

  /** The operand's type: by operation, by instruction, or bits. */
  kindOf(row, index) {
    const told = this.header.operand_types?.[row.op]?.[index];
    if (told === undefined) {
      const suffix = row.name.split("_").at(-1);
      // An old bundle without types.
      if (this.header.operand_types === undefined && !ACCESSES.has(row.name) && NARROW.has(suffix)) return suffix;
      if ((row.wide >> (8 + index)) & 1) return "pred";
      const wide = ((row.wide >> index) & 1) === 1;
      return (wide ? WIDE : NARROW).has(row.type) ? row.type : wide ? "b64" : "b32";
    }
    const last = row.name.split("_").at(-1);
    if (told === "u32" && (last === "f16x2" || last === "bf16x2")) return last;
    if (told[0] !== "u" || last !== `b${told.slice(1)}`) return told;
    const same = Number(/\d+/.exec(row.type)?.[0] ?? 0) * (row.type.endsWith("x2") ? 2 : 1) === Number(told.slice(1));
    return same ? row.type : last;
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
      if (ACCESSES.has(row.name) && index === 1) return []; // the access shows the address
      const kind = this.kindOf(row, index);
      const name = index === 0 && row.name === "store" ? "value" : named[index];
      return [{ name, kind, values: this.lanes(this.warp, operand, kind) }];
    });
  }

  /** Memory's name, and each lane's byte there. */
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
            if (waits === 0) return active ? "path" : "later";
            return waits === PARKED ? "path" : "waits";
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

  /** The thread of a lane, as x y z. */
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
      variables: variablesOf(this),
      prints: printsOf(this),
      allocations: allocationsOf(this),
    };
  }

  /** The next or previous row at which ``wanted`` is true; else the end. */
  seek(forward, wanted) {
    const begin = this.row;
    if (forward) {
      while (this.row < this.total && this.status === 0) {
        this.go(this.row + 1);
        if (this.status !== 0 || wanted(this)) return;
      }
      return;
    }
    // Backwards: runs forward from earlier rows, because rows are known only as they run.
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

  /** Per warp of each block: {part, warp, spans: [from, to, state, lanes]}. Merges rows to about MOST_SPANS. null: too
   * many rows. */
  timeline() {
    if (this.total > MOST_TIMED) return null;
    const wide = Math.ceil(this.total / MOST_SPANS);
    const count = Math.ceil(this.threadCount / LANES);
    const warps = this.plan.blocks.flatMap((_, part) =>
      Array.from({ length: count }, (_, warp) => ({ part, warp, spans: [] })),
    );
    // [existing, returned, active, row, groups, then row, lanes and barrier of each]
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
    /** From ``since`` until ``line`` runs again. */
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
      // A block that ran as a whole is done, with its warps.
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

// ---- values by type, variables, prints and the heap ----

const NARROW = new Set(["b16", "f32", "s32", "u32", "b32", "f16", "bf16", "f16x2", "bf16x2", "u16", "s16", "u8", "s8"]);
const WIDE = new Set(["f64", "s64", "u64", "b64"]);
// Bytes of the largest shown argument.
const SCRATCH = 256;
const MOST_ELEMENTS = 64;

function halfOf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const part = bits & 1023;
  if (exponent === 31) return part ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? part * 2 ** -24 : (1 + part / 1024) * 2 ** (exponent - 15));
}

function brainOf(bits) {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}

/** Digits that distinguish a float from its neighbours, or fewer. */
const digits = (value, most = 7) => String(Number(value.toPrecision(most)));

/** Each lane's row, or -1. */
function rowsOfLanes(machine, warp) {
  const words = new Uint32Array(machine.c.memory.buffer, machine.c.step_warp(machine.it, warp), 5 + 3 * LANES);
  const [existing, exited, active, pc, groups] = words;
  return Array.from({ length: LANES }, (_, lane) => {
    const bit = 1 << lane;
    if (!(existing & bit) || exited & bit) return -1;
    if (active & bit) return pc;
    for (let i = 0; i < groups; i++) if (words[6 + 3 * i] & bit) return words[5 + 3 * i];
    return pc;
  });
}

class Values {
  constructor(machine) {
    this.machine = machine;
    this.types = machine.header.variables?.types ?? [];
    this.view = new DataView(machine.c.memory.buffer);
  }

  /** A type's name in C. */
  name(index) {
    const type = this.types[index];
    if (type.kind === "pointer") return `${this.name(type.of)}*`;
    if (type.kind === "array") {
      let inner = type;
      let counts = "";
      while (inner.kind === "array") {
        counts += `[${inner.count || ""}]`;
        inner = this.types[inner.of];
      }
      return `${this.name(this.types.indexOf(inner))}${counts}`;
    }
    return { f16: "half", bf16: "bfloat16", f16x2: "half2", bf16x2: "bfloat162" }[type.kind] ?? (type.name || type.kind);
  }

  /** A value as text. ``valid``: address of flags for written bytes, or 0. */
  text(index, at, valid) {
    const type = this.types[index];
    const { kind, size } = type;
    if (kind === "array") {
      const each = this.types[type.of].size;
      const count = Math.min(type.count, MOST_ELEMENTS);
      const parts = Array.from({ length: count }, (_, i) => this.text(type.of, at + i * each, valid && valid + i * each));
      return `[${parts.join(", ")}${type.count > count ? ", ..." : ""}]`;
    }
    if (kind === "struct")
      return `{${type.members.map(([name, of, offset]) => `${name}: ${this.text(of, at + offset, valid && valid + offset)}`).join(", ")}}`;
    if (valid && this.machine.bytes.subarray(valid, valid + size).includes(0)) return "not set";
    return this.scalar(type, at);
  }

  scalar({ kind, size, of }, at) {
    const { view } = this;
    if (kind === "pointer") return this.pointer(view.getBigUint64(at, true), of);
    if (kind === "float") return size === 8 ? digits(view.getFloat64(at, true), 15) : digits(view.getFloat32(at, true));
    if (kind === "f16" || kind === "bf16") return digits((kind === "f16" ? halfOf : brainOf)(view.getUint16(at, true)), 5);
    if (kind === "f16x2" || kind === "bf16x2")
      return `(${[0, 2].map((part) => digits((kind === "f16x2" ? halfOf : brainOf)(view.getUint16(at + part, true)), 5)).join(", ")})`;
    if (kind === "bool") return view.getUint8(at) ? "true" : "false";
    const signed = kind === "int" || kind === "char";
    if (kind !== "uint" && !signed) return "cannot be shown";
    const read = { 1: signed ? "getInt8" : "getUint8", 2: signed ? "getInt16" : "getUint16", 4: signed ? "getInt32" : "getUint32", 8: signed ? "getBigInt64" : "getBigUint64" }[size];
    if (!read) return "cannot be shown";
    const value = view[read](at, true);
    return kind === "char" && value > 32 && value < 127 ? `${value} '${String.fromCharCode(value)}'` : String(value);
  }

  pointer(address, of) {
    if (address === 0n) return "null";
    const place = this.machine.placeOf(address, "generic", 1);
    if (place.name === "no memory") return `0x${address.toString(16)}`;
    const each = this.types[of].size || 1;
    const index = place.offset / each;
    if (index === 0) return place.name;
    const [sign, count] = [index < 0 ? "-" : "+", Math.abs(index)];
    return Number.isInteger(index) ? `${place.name} ${sign} ${count}` : `${place.name} ${sign} ${Math.abs(place.offset)} bytes`;
  }
}

/** In scope for a lane of the present warp, with each lane's value ("" outside the scope). */
function variablesOf(machine) {
  const { header, c, warp } = machine;
  if (!header.variables) return null;
  const rows = rowsOfLanes(machine, warp);
  const values = new Values(machine);
  const memory = machine.bytes;
  const undefinedAt = c.step_undefined(machine.it, warp);
  const stack = c.step_stack(machine.it, warp);
  const view = new DataView(c.memory.buffer);
  const valueAt = (lane, type, [, , kind, where, bits]) => {
    if (kind === "unit") {
      if (undefinedAt && (view.getUint32(undefinedAt + 4 * where, true) >>> lane) & 1) return "not set";
      const at = machine.unit(warp, where);
      if (bits === 1) return (view.getUint32(at, true) >>> lane) & 1 ? "true" : "false";
      return values.text(type, at + (bits === 64 ? 8 : 4) * lane, 0);
    }
    if (kind === "local") {
      const offset = machine.localBytes * lane + view.getUint32(stack + 4 * lane, true) + where;
      const valid = c.step_local_valid(machine.it, warp);
      return values.text(type, c.step_local(machine.it, warp) + offset, valid && valid + offset);
    }
    if (kind === "shared") {
      const valid = c.step_shared_valid(machine.it);
      return values.text(type, c.step_shared(machine.it) + where, valid && valid + where);
    }
    if (kind === "bytes") {
      const bytes = where.match(/../g)?.map((pair) => Number.parseInt(pair, 16)) ?? [];
      if (bytes.length > SCRATCH) return "cannot be shown";
      memory.set(bytes, machine.scratch);
      return values.text(type, machine.scratch, 0);
    }
    const address = BigInt(where);
    const window = machine.windows.find((each) => address >= each.address && address < each.address + each.size);
    const from = window ? Number(address - window.address) - window.from : -1;
    if (!window || from < 0 || from + values.types[type].size > window.bytes) return "not used by this block";
    return values.text(type, window.at + from, 0);
  };
  return header.variables.list.flatMap(([name, type, line, begin, end, places]) => {
    const inScope = rows.map((row) => row >= begin && row < end);
    if (!inScope.includes(true) || (values.types[type].kind === "array" && places[0]?.[2] === "shared")) return [];
    const each = rows.map((row, lane) => {
      if (!inScope[lane]) return "";
      const place = places.find((one) => row >= one[0] && row < one[1]);
      return place ? valueAt(lane, type, place) : "not set here";
    });
    return [{ name, type: values.name(type), line, values: each }];
  });
}

/** Thread, text, row and line; and the number of prints that are not kept. */
function printsOf(machine) {
  const size = machine.c.step_printed_size(machine.engine);
  const text = new TextDecoder().decode(machine.bytes.slice(machine.c.step_printed(machine.engine), machine.c.step_printed(machine.engine) + size));
  const marks = [...text.matchAll(/\x1e\d+,\d+,\d+;(\d+),(\d+),(\d+)@(\d+),(\d+)\x1f/g)];
  const list = marks.map((mark, index) => ({
    thread: mark.slice(1, 4).map(Number),
    row: Number(mark[4]),
    line: machine.header.lines[Number(mark[5])] ?? 0,
    text: text.slice(mark.index + mark[0].length, marks[index + 1]?.index ?? text.length),
  }));
  return { list, left_out: machine.c.step_prints_left_out(machine.engine) };
}

function allocationsOf(machine) {
  const count = machine.c.step_allocation_count(machine.it);
  const view = new DataView(machine.c.memory.buffer);
  const from = machine.c.step_allocations(machine.it);
  const line = (at) => machine.header.lines[view.getUint32(at, true)] ?? 0;
  return Array.from({ length: count }, (_, index) => {
    const at = from + 40 * index;
    const freed = view.getUint32(at + 36, true);
    return {
      address: view.getBigUint64(at, true).toString(16),
      size: Number(view.getBigUint64(at + 8, true)),
      thread: view.getUint32(at + 16, true),
      line: line(at + 20),
      row: view.getUint32(at + 24, true),
      freed: freed === NONE ? null : { thread: view.getUint32(at + 28, true), line: line(at + 32), row: freed },
    };
  });
}

/** The type of most words in shared memory. */
function wordsOf(header, { rows }) {
  const types = header.variables?.types ?? [];
  const found = new Map();
  const count = (kind) => found.set(kind, (found.get(kind) ?? 0) + 1);
  const kinds = { f32: "f32", s32: "s32", u32: "s32", f16: "f16x2", f16x2: "f16x2", b16: "hex", u8: "hex", b8: "hex" };
  for (const [, type, , , , places] of header.variables?.list ?? []) {
    let inner = types[type];
    while (inner.kind === "array") inner = types[inner.of];
    const kind = inner.kind === "float" && inner.size === 4 ? "f32" : inner.kind.startsWith("f16") ? "f16x2" : ["int", "uint"].includes(inner.kind) && inner.size === 4 ? "s32" : "hex";
    if (places[0]?.[2] === "shared") count(kind);
  }
  if (!found.size)
    for (let at = 0; at < rows.byteLength; at += ROW)
      if (header.spaces[rows.getUint8(at + 5)] === "shared" && ACCESSES.has(header.operations[rows.getUint16(at, true)])) {
        const kind = kinds[header.types?.[header.row_types[at / ROW]]];
        if (kind) count(kind);
      }
  return [...found].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "f32";
}

/** Rows that students look for. */
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
  const told = ["kernel", "index", "before", "kind_name", "finding", "arrays", "lines", "differs", "thread", "how"];
  return {
    about: {
      ...Object.fromEntries(told.map((name) => [name, header[name]])),
      rows: machine.total,
      pair: machine.orders.length > 1,
      threads: machine.threads,
      grid: machine.grid,
      named: header.variables !== undefined,
      words: wordsOf(header, machine),
      fault_line: header.kind_name ? (header.lines[header.line] ?? 0) : 0,
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
    const began = performance.now();
    answer = (await OPERATIONS[data.op](data)) ?? {};
    answer.took = performance.now() - began;
    if (machine !== null && !answer.failed) answer.state = machine.state();
  } catch (error) {
    answer = { failed: "engine", detail: String(error) };
  }
  self.postMessage({ id: data.id, ...answer });
};
