// Zooms into the map of a wrong result, to single elements. Without it the picture stays.
"use strict";

{
const RIGHT = 0, NOT_FINITE = 13, NEVER_WRITTEN = 14, OUTSIDE = 15;
// Blocks: unknown; none; from FIRST_BLOCK on, rows of four words of a table.
const UNKNOWN = 0, UNWRITTEN = 1, FIRST_BLOCK = 2;
const LEAST_CELLS = 4;

document.addEventListener("click", (event) => {
  const still = event.target.closest(".error-map > svg[role=img], .error-map [data-zoom]");
  if (still) open(still.closest(".error-map"));
});

function offer(root) {
  for (const figure of root.querySelectorAll(".error-map:not([data-offered])")) {
    figure.dataset.offered = "";
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "quiet small", textContent: "Zoom" });
    button.dataset.zoom = "";
    figure.querySelector("figcaption").prepend(button, " ");
  }
}

// Judging replaces parts of the page.
new MutationObserver(() => offer(document)).observe(document.body, { childList: true, subtree: true });
offer(document);

async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function open(figure) {
  if (figure.querySelector("canvas")) return;
  const { dataset } = figure;
  const map = {
    rows: +dataset.rows, columns: +dataset.columns, line: +dataset.line, lowest: +dataset.lowest, name: dataset.name,
    counted: dataset.counted, tile: dataset.tile.split(",").map(Number), shape: dataset.shape.split(",").map(Number),
  };
  try {
    map.codes = await unpack(dataset.cells);
    if (dataset.blocks) {
      map.ids = new Uint16Array((await unpack(dataset.blocks)).buffer);
      map.table = new Uint32Array((await unpack(dataset.table)).buffer);
      map.kernels = JSON.parse(dataset.kernels);
      map.unit = dataset.unit;
    }
  } catch {
    return; // the still picture stays
  }
  const canvas = document.createElement("canvas"), said = document.createElement("p");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", `Map of ${map.name}: plus and minus zoom, arrows move`);
  said.className = "small figures";
  said.setAttribute("role", "status");
  figure.querySelector("svg").replaceWith(canvas);
  canvas.after(said);
  const colours = colours_of(figure);
  const most = () => Math.max(map.columns, map.rows * canvas.clientWidth / canvas.clientHeight, LEAST_CELLS);
  const view = { x: 0, y: 0, across: most() };
  const draw = () => paint(canvas, map, view, colours);
  const point = (event) => {
    const box = canvas.getBoundingClientRect(), scale = view.across / box.width;
    return [view.x + (event.clientX - box.left) * scale, view.y + (event.clientY - box.top) * scale];
  };
  const zoom = (factor, [x, y]) => {
    const across = Math.min(Math.max(view.across * factor, LEAST_CELLS), most());
    view.x = x - (x - view.x) * across / view.across;
    view.y = y - (y - view.y) * across / view.across;
    view.across = across;
    draw();
  };
  const centre = () => [view.x + view.across / 2, view.y + view.across * canvas.clientHeight / canvas.clientWidth / 2];
  let from = null;
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return; // the page scrolls
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, point(event));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    from = point(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", () => { from = null; });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = point(event);
    if (from) {
      view.x += from[0] - x;
      view.y += from[1] - y;
      draw();
    }
    said.textContent = words(map, Math.floor(x), Math.floor(y));
  });
  canvas.addEventListener("keydown", (event) => {
    const step = view.across / 8;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) {
      view.x += moves[event.key][0];
      view.y += moves[event.key][1];
      draw();
    } else if (event.key === "+" || event.key === "=") zoom(0.8, centre());
    else if (event.key === "-") zoom(1.25, centre());
    else return;
    event.preventDefault();
    said.textContent = words(map, ...centre().map(Math.floor));
  });
  new ResizeObserver(draw).observe(canvas);
  canvas.focus();
}

// Of the legend and the grid.
function colours_of(figure) {
  const probe = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.append(probe);
  figure.append(svg);
  const found = [];
  for (let code = RIGHT; code < OUTSIDE; code += 1) {
    probe.setAttribute("class", `e${code}`);
    found.push(getComputedStyle(probe).fill);
  }
  svg.remove();
  return { cells: found, grid: getComputedStyle(figure).color };
}

function paint(canvas, map, view, colours) {
  const scale = devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const context = canvas.getContext("2d");
  const cell = canvas.width / view.across;
  const last_x = Math.min(map.columns, Math.ceil(view.x + canvas.width / cell));
  const last_y = Math.min(map.rows, Math.ceil(view.y + canvas.height / cell));
  for (let y = Math.max(0, Math.floor(view.y)); y < last_y; y += 1) {
    for (let x = Math.max(0, Math.floor(view.x)); x < last_x; x += 1) {
      const code = map.codes[y * map.columns + x];
      if (code >= OUTSIDE) continue;
      context.fillStyle = colours.cells[code];
      context.fillRect((x - view.x) * cell, (y - view.y) * cell, Math.ceil(cell), Math.ceil(cell));
    }
  }
  grid(context, canvas, map, view, cell, colours.grid);
  if (map.ids) edges(context, map, view, cell, last_x, last_y, colours.grid);
}

// Between cells of different blocks.
function edges(context, map, view, cell, last_x, last_y, colour) {
  const id = (x, y) => map.ids[y * map.columns + x];
  context.strokeStyle = colour;
  context.globalAlpha = 0.85;
  context.lineWidth = devicePixelRatio || 1;
  context.beginPath();
  for (let y = Math.max(0, Math.floor(view.y)); y < last_y; y += 1) {
    for (let x = Math.max(0, Math.floor(view.x)); x < last_x; x += 1) {
      const left = (x - view.x) * cell, top = (y - view.y) * cell;
      if (x > 0 && id(x, y) !== id(x - 1, y)) {
        context.moveTo(left, top);
        context.lineTo(left, top + cell);
      }
      if (y > 0 && id(x, y) !== id(x, y - 1)) {
        context.moveTo(left, top);
        context.lineTo(left + cell, top);
      }
    }
  }
  context.stroke();
  context.globalAlpha = 1;
}

function writer(map, place) {
  const id = map.ids ? map.ids[place] : UNKNOWN;
  if (id === UNKNOWN) return "";
  if (id === UNWRITTEN) return "; nothing wrote it";
  const [launch, ...index] = map.table.subarray(4 * (id - FIRST_BLOCK), 4 * (id - FIRST_BLOCK) + 4);
  const count = index[2] ? 3 : index[1] ? 2 : 1;
  const shown = count === 1 ? index[0] : `(${index.slice(0, count).join(", ")})`;
  return `; ${map.unit} ${shown} of ${map.kernels[launch]} wrote it`;
}

// Each warp's 32 elements, and each cell if there is room.
function grid(context, canvas, map, view, cell, colour) {
  context.strokeStyle = colour;
  const right = Math.min(canvas.width, (map.columns - view.x) * cell), bottom = Math.min(canvas.height, (map.rows - view.y) * cell);
  for (const [every, alpha] of [[32 / map.tile[1], 0.45], [1, 0.15]]) {
    if (every < 1 || every * cell < 9) continue;
    context.globalAlpha = alpha;
    context.beginPath();
    for (let x = Math.ceil(view.x / every) * every; x <= map.columns; x += every) {
      context.moveTo((x - view.x) * cell, 0);
      context.lineTo((x - view.x) * cell, bottom);
    }
    const rows = every === 1 ? 1 : 32 / map.tile[0];
    for (let y = Math.ceil(view.y / rows) * rows; rows >= 1 && y <= map.rows; y += rows) {
      context.moveTo(0, (y - view.y) * cell);
      context.lineTo(right, (y - view.y) * cell);
    }
    context.stroke();
  }
  context.globalAlpha = 1;
}

function words(map, x, y) {
  if (x < 0 || y < 0 || x >= map.columns || y >= map.rows) return "";
  const code = map.codes[y * map.columns + x];
  if (code >= OUTSIDE) return "";
  let place = y * map.tile[0] * map.line + x * map.tile[1];
  const index = [];
  for (const size of [...map.shape].reverse()) {
    index.unshift(place % size);
    place = Math.floor(place / size);
  }
  const what = code === RIGHT ? "right" : code === NOT_FINITE ? "not finite" : code === NEVER_WRITTEN ? "never written"
    : `off by 1e${map.lowest + code - 1} to 1e${map.lowest + code}${map.counted ? ` ${map.counted}` : ""}`;
  const from = map.tile[0] * map.tile[1] > 1 ? "from " : "";
  return `${from}${map.name}[${index.join(", ")}]: ${what}${writer(map, y * map.columns + x)}`;
}
}
