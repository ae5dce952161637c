// ---- What the reader does: opening, choosing, searching, colouring, moving about
const $ = (id) => document.getElementById(id);
const VIEW = { boxes: [], edges: [], aside: false, controls: true, colouring: "structure", chosen: null, tab: "graph", trace: 0, wasDragged: false, x: 0, y: 0, zoom: 1 };
const ROOT = new Box(GRAPHS[0], GRAPHS[0].root, null);
ROOT.isOpen = true;

function say(text) { $("status").textContent = text; }

function element(parent, name, text, attributes) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const key in attributes || {}) made.setAttribute(key, attributes[key]);
  parent.appendChild(made);
  return made;
}

// ---- Colours
function hueOf(text) {
  let hash = 7;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return (hash * 137) % 360;
}
function tint(hue) { return `hsl(${hue} var(--tint-s) var(--tint-l))`; }
function heat(part) { return `color-mix(in oklab, var(--hot) ${(100 * part).toFixed(0)}%, var(--face))`; }

const COLOURINGS = {
  structure: {
    label: "Structure",
    of(box) {
      const same = box.graph.structure(box.item);
      if (same) return tint((same * 97 + 200) % 360);
      return null;
    },
    legend: () => [["Equal scopes have one colour", null]],
  },
  op: {
    label: "Op",
    of: (box) => (box.graph.isNode(box.item) ? tint(hueOf(box.graph.op(box.item))) : null),
    legend() {
      const seen = new Map();
      for (const box of VIEW.boxes) if (box.graph.isNode(box.item)) seen.set(box.graph.op(box.item), (seen.get(box.graph.op(box.item)) || 0) + 1);
      return [...seen].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([op]) => [plain(op), tint(hueOf(op))]);
    },
  },
  device: {
    label: "Device",
    of(box) {
      let device = null;
      box.graph.eachNode(box.item, (i) => {
        const own = box.graph.device(i);
        device = device === null || device === own ? own : undefined;
      });
      return device ? tint(hueOf(device)) : null;
    },
    legend() {
      const seen = new Set();
      for (const graph of GRAPHS) for (const n of graph.c.device) seen.add(DATA.strings[n]);
      return [...seen].slice(0, 12).map((d) => [plain(d) || "no device asked for", d ? tint(hueOf(d)) : null]);
    },
  },
};
function addPlanColouring() {
  if (!DATA.plan) return;
  const colours = { fed: tint(210), runs: tint(150), rewritten: tint(275), fused: tint(30), folded: tint(55), dropped: tint(340), unused: null };
  COLOURINGS.plan = {
    label: "Plan",
    of: (box) => (box.graph.number === 0 && box.graph.isNode(box.item) ? colours[planOf(box.item).state] : null),
    legend: () => Object.entries(colours).map(([state, colour]) => [state === "unused" ? "not in the plan" : state, colour]),
  };
}
function planFact(box) {
  const fact = box.graph.number === 0 && planOf(box.item);
  return fact ? [["plan", fact.text]] : [];
}
function colourOf(box) { return COLOURINGS[VIEW.colouring].of(box); }
function showLegend() {
  const legend = $("legend");
  legend.replaceChildren();
  for (const [text, colour] of COLOURINGS[VIEW.colouring].legend()) {
    const row = element(legend, "span", undefined, { class: "key" });
    if (colour) element(row, "i").style.background = colour;
    element(row, "span", text);
  }
}

// ---- Drawing all of it anew; what `anchor` shows stays where it is on the screen
let turn = 0;
async function draw(anchor) {
  const own = ++turn, before = anchor && anchor.element && placeOf(anchor);
  try {
    await layOut(ROOT);
  } catch (error) {
    say("The layout failed: " + error.message);
    return;
  }
  if (own !== turn) return;
  const scene = $("scene"), { begin } = COLOURINGS[VIEW.colouring];
  if (begin) begin();
  const hadFocus = scene.contains(document.activeElement);
  scene.replaceChildren();
  VIEW.boxes = [];
  VIEW.edges = [];
  drawInside(ROOT, scene, 0, 0);
  showLegend();
  if (before && anchor.element) {
    const after = placeOf(anchor);
    VIEW.x += before.x - after.x;
    VIEW.y += before.y - after.y;
  }
  move();
  light();
  const focused = VIEW.chosen && VIEW.chosen.box && VIEW.chosen.box.element;
  if (hadFocus) (focused && focused.isConnected ? focused : $("drawing")).focus({ preventScroll: true });
  const notes = notesOf(ROOT);
  $("status").onclick = notes ? () => bringBack(ROOT) : null;
  say(notes);
  VIEW.drawn = own;
}

// The upper left corner on the scene, by the drawing's coordinates.
function placeOf(box) {
  let x = 0, y = 0;
  for (let at = box.element; at && at.id !== "scene"; at = at.parentNode) {
    const match = /translate\(([-\d.]+) ([-\d.]+)\)/.exec(at.getAttribute("transform") || "");
    if (match) {
      x += Number(match[1]);
      y += Number(match[2]);
    }
  }
  return { x: x * VIEW.zoom, y: y * VIEW.zoom };
}

function openOnly(box) {
  box.isOpen = true;
  // What holds one box only is opened with it.
  for (let at = box; ;) {
    const { boxes } = at.children();
    if (boxes.length !== 1 || !boxes[0].isGroup || boxes[0].calls.length) return;
    at = boxes[0];
    at.isOpen = true;
  }
}
async function toggle(box) {
  if (box.isOpen) box.isOpen = false;
  else openOnly(box);
  await draw(box);
  // An opened box that leaves the screen is brought into sight.
  if (box.isOpen && box.element) {
    const view = $("drawing").getBoundingClientRect(), seen = box.element.getBoundingClientRect();
    if (seen.right > view.right || seen.bottom > view.bottom || seen.left < view.left || seen.top < view.top) show(box);
  }
}
function bringBack(box) {
  box.showsAside = !box.showsAside;
  return draw(box === ROOT ? null : box);
}

// The series that a box is, or that is ungrouped and that it is one of; -1: there is none.
function seriesOf(box) {
  if (!box.parent || box.role !== undefined) return -1;
  if (box.graph.kind(box.item) === KIND.SERIES) return box.item;
  const around = box.graph.parent(box.item);
  return box.parent.ungrouped.has(around) ? around : -1;
}
// Draws the members of a series one by one, or folds them again.
async function regroup(box) {
  const series = seriesOf(box), { parent, graph } = box, isFolded = box.item === series;
  if (series < 0) return;
  if (isFolded) parent.ungrouped.add(series);
  else parent.ungrouped.delete(series);
  parent.ports_ = null;
  const next = parent.child(graph, isFolded ? graph.members(series)[0] : series);
  next.isOpen = false;
  await draw(parent === ROOT ? null : parent);
  if (next.element && next.element.isConnected) focusOn(next);
}

// ---- Moving about
function move() {
  $("scene").setAttribute("transform", `translate(${VIEW.x.toFixed(1)} ${VIEW.y.toFixed(1)}) scale(${VIEW.zoom.toFixed(4)})`);
  $("drawing").classList.toggle("far", VIEW.zoom < 0.45);
  moveMap();
}
function zoomBy(factor, x, y) {
  const view = $("drawing").getBoundingClientRect();
  const cx = x === undefined ? view.width / 2 : x, cy = y === undefined ? view.height / 2 : y;
  const zoom = Math.min(4, Math.max(0.02, VIEW.zoom * factor));
  VIEW.x = cx - (cx - VIEW.x) * zoom / VIEW.zoom;
  VIEW.y = cy - (cy - VIEW.y) * zoom / VIEW.zoom;
  VIEW.zoom = zoom;
  move();
}
// Shows all where that can be read, else the beginning at a size that can.
function fit(all) {
  const view = $("drawing").getBoundingClientRect(), { width, height } = ROOT.drawn;
  const whole = Math.min((view.width - 40) / width, (view.height - 40) / height, 1.25);
  VIEW.zoom = all ? whole : Math.max(whole, 0.55);
  VIEW.x = (view.width - width * VIEW.zoom) / 2;
  VIEW.y = Math.max(20, (view.height - height * VIEW.zoom) / 2);
  move();
}
function show(box) {
  const view = $("drawing").getBoundingClientRect();
  const width = box.size.width * VIEW.zoom, height = box.size.height * VIEW.zoom;
  const shrink = Math.min(1, Math.max(Math.min((view.width - 40) / width, (view.height - 40) / height), Math.min(1, 0.5 / VIEW.zoom)));
  if (shrink < 1) zoomBy(shrink);
  const at = placeOf(box);
  VIEW.x = (view.width - box.size.width * VIEW.zoom) / 2 - at.x;
  VIEW.y = Math.max(20, (view.height - box.size.height * VIEW.zoom) / 2) - at.y;
  move();
}

// Opens what an item lies in and chooses it. `near`: a box of its graph, which tells the call.
async function reveal(graph, item, near) {
  let base = near || ROOT;
  while (base && !(base.inside && base.inside.graph === graph && base.inside.item === graph.root)) base = base.parent;
  if (!base) base = callerOf(graph);
  if (!base) return;
  const way = [];
  for (let i = item; i !== graph.root && i >= 0; i = graph.parent(i)) way.push(i);
  let box = base;
  for (let at = box; at; at = at.parent) at.isOpen = true;
  for (const i of way.reverse()) {
    box.isOpen = true;
    if (graph.aside(i) && !VIEW.aside && box.canSetAside) box.showsAside = true;
    if (!box.ungrouped.has(i)) box = box.child(graph, i);
  }
  await draw();
  if (VIEW.tab !== "graph") showTab("graph");
  if (!box.element || !box.element.isConnected) {
    say("There are too many boxes beside it to draw it");
    return;
  }
  show(box);
  select(box);
  box.element.focus({ preventScroll: true });
}

// A box that a function is opened in: by the first node that calls it.
function callerOf(graph) {
  const seen = new Set([graph.number]), todo = [{ graph, way: [] }];
  while (todo.length) {
    const { graph: called, way } = todo.shift();
    for (const caller of GRAPHS) {
      for (const [node, calls] of caller.calls) {
        const call = calls.find((c) => c.graph === called.number);
        if (!call) continue;
        const step = [{ caller, node, role: calls.length > 1 ? call.role : undefined, called }, ...way];
        if (caller.number === 0) return walk(step);
        if (seen.has(caller.number)) continue;
        seen.add(caller.number);
        todo.push({ graph: caller, way: step });
      }
    }
  }
  return null;
}
function walk(steps) {
  let box = ROOT;
  for (const { caller, node, role, called } of steps) {
    const way = [];
    for (let i = node; i !== caller.root; i = caller.parent(i)) way.push(i);
    for (const i of way.reverse()) {
      box.isOpen = true;
      if (caller.aside(i)) box.showsAside = true;
      if (!box.ungrouped.has(i)) box = box.child(caller, i);
    }
    box.isOpen = true;
    if (role !== undefined) box = box.child(called, called.root, role);
  }
  return box;
}

// ---- Choosing: what a box is computed from and what it reaches light up
function marksOf(box) {
  const starts = [];
  box.graph.eachNode(box.item, (i) => starts.push(i));
  const own = new Uint8Array(box.graph.size);
  for (const i of starts) own[i] = 1;
  return { graph: box.graph, own, up: box.graph.reach(starts, false), down: box.graph.reach(starts, true) };
}
// Of all items whether a node inside is marked.
function lifted(graph, marks) {
  const all = new Uint8Array(graph.count);
  for (let i = 0; i < graph.size; i++) {
    if (!marks[i]) continue;
    for (let at = i; at >= 0 && !all[at]; at = graph.parent(at)) all[at] = 1;
  }
  return all;
}
function light() {
  const drawing = $("drawing"), chosen = VIEW.chosen;
  const box = chosen && chosen.box ? chosen.box : null;
  drawing.classList.toggle("choosing", Boolean(chosen));
  let up = null, down = null, own = null;
  if (box) {
    if (!chosen.marks) chosen.marks = marksOf(box);
    up = lifted(box.graph, chosen.marks.up);
    down = lifted(box.graph, chosen.marks.down);
    own = lifted(box.graph, chosen.marks.own);
  }
  const pairs = new Set(box ? partnersOf(box.graph, box.item) : []);
  for (const other of VIEW.boxes) {
    const classes = other.element.classList, same = box && other.graph === box.graph && other.role === undefined;
    const isChosen = other === box;
    classes.toggle("pair", Boolean(same && pairs.has(other.item)));
    classes.toggle("chosen", isChosen);
    other.element.setAttribute("aria-selected", String(isChosen));
    const holds = same && own[other.item];
    classes.toggle("up", Boolean(same && up[other.item]));
    classes.toggle("down", Boolean(same && down[other.item] && !up[other.item]));
    classes.toggle("dim", Boolean(chosen && !(pairs.has(other.item) && same || holds || same && (up[other.item] || down[other.item]) || !same && box && box.key.startsWith(other.key))));
  }
  for (const { box: around, edge } of VIEW.edges) {
    const inside = around.inside, same = box && inside.graph === box.graph, { from, to } = edge.link;
    const has = (marks, i) => i < 0 || marks[i];
    const isUp = same && has(up, from) && (has(up, to) || own[to]) && (from >= 0 || to >= 0 && (up[to] || own[to]));
    const isDown = same && (has(down, from) || own[from]) && has(down, to) && !(from < 0);
    const direct = same && (from === box.item || to === box.item);
    const isEdge = chosen && chosen.edge && chosen.edge.ends === edge.ends && chosen.around === around;
    edge.element.classList.toggle("up", Boolean(isUp));
    edge.element.classList.toggle("down", Boolean(!isUp && isDown));
    edge.element.classList.toggle("direct", Boolean(direct || isEdge));
    edge.element.classList.toggle("dim", Boolean(chosen && !(isUp || isDown || direct || isEdge)));
    if (edge.text) edge.text.classList.toggle("lit", Boolean(direct || isEdge));
  }
  drawMap();
}
function select(box) {
  VIEW.chosen = box ? { box } : null;
  light();
  showPanel();
}
function selectEdge(box, edge) {
  VIEW.chosen = { edge, around: box };
  light();
  showPanel();
}

// ---- Search
function search() {
  const list = $("found"), { found, total } = findNodes($("search").value, 50);
  list.replaceChildren();
  list.hidden = !$("search").value.trim();
  for (const { graph, i } of found) {
    const row = element(list, "li", undefined, { role: "option", tabindex: -1 });
    element(row, "span", shorten(plain(graph.name(i)), 140));
    element(row, "small", plain(graph.op(i)) + (graph.number ? " in " + plain(graph.c.name) : ""));
    const go = () => {
      list.hidden = true;
      reveal(graph, i);
    };
    row.addEventListener("click", go);
    row.addEventListener("keydown", (event) => {
      const next = { ArrowDown: row.nextSibling, ArrowUp: row.previousSibling || $("search") }[event.key];
      if (event.key === "Enter") go();
      if (event.key === "Escape") $("search").focus();
      if (next) next.focus();
      event.preventDefault();
    });
  }
  element(list, "li", total ? `${total} found` : "nothing found", { class: "sum" });
}

// ---- Keys: arrows go to the nearest box that way, in the order of drawing where there is none
function step(dx, dy) {
  const from = VIEW.chosen && VIEW.chosen.box;
  if (!from || !from.element || !from.element.isConnected) {
    if (VIEW.boxes.length) focusOn(VIEW.boxes[0]);
    return;
  }
  const middle = (b) => {
    const r = b.element.getBoundingClientRect();
    return { x: r.x + r.width / 2, y: r.y + Math.min(r.height / 2, 20) };
  };
  const own = middle(from);
  let best = null, least = Infinity;
  for (const box of VIEW.boxes) {
    if (box === from) continue;
    const at = middle(box), along = (at.x - own.x) * dx + (at.y - own.y) * dy;
    if (along < 4) continue;
    const aside = Math.abs((at.x - own.x) * dy) + Math.abs((at.y - own.y) * dx), far = along + 2 * aside;
    if (far < least) [best, least] = [box, far];
  }
  if (best) focusOn(best);
}
function focusOn(box) {
  select(box);
  box.element.focus({ preventScroll: true });
  const view = $("drawing").getBoundingClientRect(), seen = box.element.getBoundingClientRect();
  if (seen.left < view.left || seen.top < view.top || seen.right > view.right || seen.bottom > view.bottom) show(box);
}
function onKey(event) {
  const chosen = VIEW.chosen && VIEW.chosen.box;
  const keys = {
    ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0), ArrowUp: () => step(0, -1), ArrowDown: () => step(0, 1),
    Enter: () => chosen && chosen.isGroup && toggle(chosen).then(() => chosen.element.focus({ preventScroll: true })),
    Escape: () => (chosen && chosen.isOpen ? toggle(chosen) : select(null)),
    "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: () => fit(true),
    "/": () => $("search").focus(), u: () => chosen && regroup(chosen),
  };
  if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  keys[event.key]();
}

function listen() {
  const drawing = $("drawing");
  let drag = null;
  drawing.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = drawing.getBoundingClientRect();
    zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - at.x, event.clientY - at.y);
  }, { passive: false });
  drawing.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY };
    VIEW.wasDragged = false;
  });
  drawing.addEventListener("pointermove", (event) => {
    if (!drag || !(event.buttons & 1)) return;
    if (!VIEW.wasDragged && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 4) return;
    VIEW.wasDragged = true;
    drawing.setPointerCapture(event.pointerId);
    VIEW.x += event.clientX - drag.x;
    VIEW.y += event.clientY - drag.y;
    drag = { x: event.clientX, y: event.clientY };
    move();
  });
  drawing.addEventListener("pointerup", () => { drag = null; });
  drawing.addEventListener("click", () => { if (!VIEW.wasDragged) select(null); });
  drawing.addEventListener("keydown", onKey);
  $("search").addEventListener("input", search);
  $("search").addEventListener("focus", search);
  $("search").addEventListener("keydown", (event) => {
    const first = $("found").firstChild;
    if (event.key === "ArrowDown" && first && first.focus) {
      first.focus();
      event.preventDefault();
    }
    if (event.key === "Enter" && first) first.click();
    if (event.key === "Escape") $("found").hidden = true;
  });
  document.addEventListener("click", (event) => { if (!$("finder").contains(event.target)) $("found").hidden = true; });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target === document.body) {
      $("search").focus();
      event.preventDefault();
    }
  });
  $("aside").addEventListener("change", (event) => {
    VIEW.aside = event.target.checked;
    forgetPorts(ROOT);
    draw();
  });
  $("controls").addEventListener("change", (event) => {
    VIEW.controls = event.target.checked;
    forgetPorts(ROOT);
    draw();
  });
  $("colouring").addEventListener("change", (event) => {
    VIEW.colouring = event.target.value;
    draw();
  });
  $("in").addEventListener("click", () => zoomBy(1.25));
  $("out").addEventListener("click", () => zoomBy(0.8));
  $("fit").addEventListener("click", () => fit(true));
  listenToMap();
  $("theme").addEventListener("click", () => {
    const root = document.documentElement, isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = (root.dataset.theme || (isDark ? "dark" : "light")) === "dark" ? "light" : "dark";
  });
}
function forgetPorts(box) {
  box.ports_ = null;
  for (const child of box.byKey.values()) forgetPorts(child);
}

// ---- A page that is served asks whether what it shows has changed
async function follow(state) {
  try {
    const now = await (await fetch("state")).text();
    if (now !== state) await takeNew(await (await fetch("data.json")).json());
    if (VIEW.isAway) say("");
    VIEW.isAway = false;
    setTimeout(() => follow(now), 1000);
  } catch (error) {
    VIEW.isAway = true;
    say("The server has ended");
    setTimeout(() => follow(state), 3000);
  }
}
async function takeNew(data) {
  if (["graphs", "plan"].some((key) => JSON.stringify(data[key]) !== JSON.stringify(DATA[key]))) {
    location.reload();
    return;
  }
  DATA.logs = data.logs;
  const place = $("plots").scrollTop;
  makeTabs();
  addTraceColourings();
  listColourings();
  if (VIEW.tab === "plots") showPlots();
  $("plots").scrollTop = place;
}
function listColourings() {
  const list = $("colouring");
  list.replaceChildren();
  for (const key in COLOURINGS) element(list, "option", COLOURINGS[key].label, { value: key });
  list.value = VIEW.colouring;
}

async function start() {
  const paths = DATA.diff ? DATA.title.split(" -> ") : [DATA.title];
  const base = paths.map((path) => plain(path.replace(/(\/saved_model\.pb(txt)?)?\/*$/, "").split("/").pop() || path)).join(" \u2192 ");
  document.title = base + " - Rheos";
  $("title").textContent = base;
  $("title").title = plain(DATA.title);
  addGradientColouring();
  addDiffColouring();
  addPlanColouring();
  addTraceColourings();
  makeTabs();
  listColourings();
  listen();
  showPanel();
  if (DATA.live) follow(DATA.live);
  if (!GRAPHS[0].size && DATA.logs) showTab("plots");
  say("Laying out\u2026");
  openOnly(ROOT);
  await draw();
  fit(false);
  performance.mark("ready");
  document.body.dataset.ready = "yes";
}
start();
