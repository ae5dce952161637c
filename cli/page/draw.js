// ---- Layout: Graphviz's dot in a worker made of text in this page; a request is answered by its
// number. One layout is made for each scope that is opened, of the boxes and links right inside.
class Engine {
  constructor() {
    this.waiting = new Map();
    this.next = 0;
    const text = document.getElementById("engine");
    // Where a page is a file its worker may import nothing: what the engine exports stays in the
    // worker's own text.
    const engine = text.textContent.replace(/\bexport\s*\{([^{}]*)\};?/, (all, names) => {
      const own = /([$\w]+) as Graphviz\b/.exec(names);
      return own ? `const engine = ${own[1]};` : all;
    });
    text.remove();
    const worker = `{
      const loaded = engine.load();
      onmessage = (event) => {
        const { number, dot } = event.data;
        loaded.then((g) => postMessage({ number, plain: g.layout(dot, "plain", "dot") }))
          .catch((error) => postMessage({ number, error: String(error) }));
      };
    }`;
    this.worker = new Worker(URL.createObjectURL(new Blob([engine + "\n" + worker], { type: "text/javascript" })));
    this.worker.onerror = (event) => say("The layout engine cannot be started: " + event.message);
    this.worker.onmessage = (event) => {
      const { number, plain: text, error } = event.data;
      const { resolve, reject } = this.waiting.get(number);
      this.waiting.delete(number);
      if (error) reject(new Error(error));
      else resolve(text);
    };
  }
  layout(dot) {
    return new Promise((resolve, reject) => {
      this.waiting.set(this.next, { resolve, reject });
      this.worker.postMessage({ number: this.next++, dot });
    });
  }
}
const ENGINE = new Engine();

// ---- Boxes: what is on the drawing. The place of a box that a call opens is its function's.
const LEAF_HEIGHT = 34, HEAD = 26, PAD = 12, MOST_WIDTH = 230, MOST_PORTS = 10, MOST_PORT_LINKS = 60, MOST_SHOWN = 200;
const PEN = document.createElement("canvas").getContext("2d");
const FONT = "system-ui, sans-serif";
function widthOf(text, size, weight) {
  PEN.font = `${weight || 400} ${size}px ${FONT}`;
  return PEN.measureText(text).width;
}
function fitted(text, size, most, weight) {
  text = shorten(text, 200);
  if (widthOf(text, size, weight) <= most) return text;
  let low = 1, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(text.slice(0, middle) + "\u2026", size, weight) <= most) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low) + "\u2026";
}

class Box {
  // `role`: of a function that is one of several that a node calls.
  constructor(graph, item, parent, role) {
    this.graph = graph;
    this.item = item;
    this.parent = parent;
    this.role = role;
    this.key = (parent ? parent.key + " " : "") + graph.number + "." + item;
    this.isOpen = false;
    this.showsAside = false;
    this.ungrouped = new Set(); // series inside whose members are drawn one by one
    this.byKey = new Map();
    this.drawn = null;
  }
  get calls() { return (this.role === undefined && this.graph.calls.get(this.item)) || []; }
  get isGroup() { return !this.graph.isNode(this.item) || this.calls.length > 0; }
  // Where the members of an opened box are.
  get inside() {
    const calls = this.calls;
    if (!calls.length) return { graph: this.graph, item: this.item };
    if (calls.length > 1) return null;
    const graph = GRAPHS[calls[0].graph];
    return { graph, item: graph.root };
  }
  get title() {
    if (this.role !== undefined) return plain(this.role) + ": " + plain(DATA.graphs[this.graph.number].name);
    if (this.graph.root === this.item) return plain(DATA.graphs[this.graph.number].name) || "graph";
    return this.graph.label(this.item);
  }
  get note() {
    if (this.graph.isNode(this.item)) return diffSign(this) + plain(this.graph.op(this.item));
    const count = this.graph.nodes(this.item);
    return diffSign(this) + (this.graph.loop(this.item) ? "loop, " : "") + count + (count === 1 ? " node" : " nodes");
  }
  child(graph, item, role) {
    const key = graph.number + "." + item + (role === undefined ? "" : "." + role);
    if (!this.byKey.has(key)) this.byKey.set(key, new Box(graph, item, this, role));
    return this.byKey.get(key);
  }
  // The items to draw inside: in the place of a series that is ungrouped its members.
  items() {
    const { graph, item } = this.inside, all = graph.members(item);
    return this.ungrouped.size ? all.flatMap((i) => (this.ungrouped.has(i) ? graph.members(i) : [i])) : all;
  }
  // Which of them holds an item that lies deeper.
  holder(i) {
    const { graph, item } = this.inside, depth = graph.depth(item) + 1;
    let below = i;
    while (graph.depth(i) > depth) {
      below = i;
      i = graph.parent(i);
    }
    return this.ungrouped.has(i) ? below : i;
  }
  // The boxes to draw inside, and how many stand aside, by reason.
  children() {
    const inside = this.inside;
    if (!inside) {
      return { boxes: this.calls.map((c) => this.child(GRAPHS[c.graph], GRAPHS[c.graph].root, c.role)), aside: [], left: 0 };
    }
    const boxes = [], aside = [];
    let left = 0;
    for (const item of this.items()) {
      const reason = inside.graph.aside(item), isAside = reason > 0 && this.canSetAside;
      if (isAside && !this.showsAside && !VIEW.aside) aside[reason] = (aside[reason] || 0) + 1;
      else if (boxes.length >= MOST_SHOWN) left++;
      else boxes.push(this.child(inside.graph, item));
    }
    return { boxes, aside, left };
  }
  // A group that holds nothing but what stands aside shows that.
  get canSetAside() {
    const inside = this.inside;
    return inside.item === inside.graph.root || inside.graph.aside(inside.item) === 0;
  }
  closedSize() {
    if (this.size_) return this.size_;
    const limit = MOST_WIDTH - 24;
    this.text = fitted(this.title, 13, limit, 600);
    this.subtext = fitted(this.note, 11, limit);
    const wide = Math.max(widthOf(this.text, 13, 600), widthOf(this.subtext, 11));
    this.size_ = { width: Math.max(60, Math.ceil(wide) + (this.isGroup ? 40 : 20)), height: this.isGroup ? 44 : LEAF_HEIGHT + 4 };
    return this.size_;
  }
}

// Links between the members of an opened box; with `ports`, what comes from and goes outside.
function linksInside(box) {
  const inside = box.inside, found = [];
  if (!inside) return found;
  const flat = inside.graph.links(inside.item);
  for (let k = 0; k < flat.length; k += 6) {
    const [from, to, count, controls, type, bytes] = flat.slice(k, k + 6);
    if (!count && !VIEW.controls) continue;
    found.push({ from, to, count, controls, type: type >= 0 ? DATA.strings[type] : "", bytes });
  }
  return box.ungrouped.size ? splitLinks(box, found) : found;
}

// Bytes of a tensor by its type, "float [2,?]"; dimensions that are not known count as 1.
const WIDTHS = { bool: 1, int8: 1, uint8: 1, int16: 2, uint16: 2, half: 2, bfloat16: 2, int64: 8, uint64: 8, double: 8, complex64: 8, complex128: 16 };
function bytesOfType(type) {
  const [, dtype, dims] = /^(\w*)(?: ?\[([^\]]*)\])?/.exec(type);
  return (dims || "").split(",").reduce((size, d) => size * (Number(d) || 1), WIDTHS[dtype] || 4);
}

// Adds the edge of a tensor, or a control edge, to what goes from one item to another.
function addToLink(links, from, to, type, isControl) {
  const key = from + " " + to, link = links.get(key) || { from, to, count: 0, controls: 0, type, bytes: 0 };
  links.set(key, link);
  if (isControl) {
    link.controls++;
    return;
  }
  if (!link.count) link.type = type;
  else if (link.type !== type) link.type = "";
  link.count++;
  link.bytes += bytesOfType(type);
}

// Links where series are ungrouped: theirs go to and from each member.
function splitLinks(box, links) {
  const { graph, item } = box.inside, split = new Map(), isSplit = (i) => box.ungrouped.has(graph.parent(i));
  const note = (node, to, output) => {
    const isControl = output === CONTROL, ends = [box.holder(node), box.holder(to)];
    if (ends[0] !== ends[1] && (!isControl || VIEW.controls)) addToLink(split, ...ends, graph.type(node, output), isControl);
  };
  for (const series of box.ungrouped) {
    graph.eachNode(series, (i) => {
      for (const e of graph.inputs(i)) if (e.from >= 0 && graph.isUnder(e.from, item)) note(e.from, i, e.output);
      for (const use of graph.consumers(i)) {
        if (graph.isUnder(use.to, item) && !isSplit(box.holder(use.to))) note(i, use.to, use.output);
      }
    });
  }
  return [...links.filter((l) => !box.ungrouped.has(l.from) && !box.ungrouped.has(l.to)), ...split.values()];
}

// What nodes inside take from outside of a scope and give there, by the item outside that holds
// the other end where both are in one group.
function portsOf(box) {
  const inside = box.inside;
  if (!inside || inside.item === inside.graph.root || box.ports_) return box.ports_ || [];
  const { graph, item } = inside, ports = new Map();
  const note = (outer, node, isInput, type, isControl) => {
    if (isControl && !VIEW.controls || outer < 0 || graph.isUnder(outer, item)) return;
    if (graph.aside(outer) && !VIEW.aside && !graph.aside(node)) return;
    let own = item, other = outer;
    while (graph.depth(other) > graph.depth(own)) other = graph.parent(other);
    while (graph.depth(own) > graph.depth(other)) own = graph.parent(own);
    while (graph.parent(own) !== graph.parent(other)) {
      own = graph.parent(own);
      other = graph.parent(other);
    }
    const member = box.holder(node);
    const key = (isInput ? "i" : "o") + other;
    if (!ports.has(key)) ports.set(key, { key, isInput, item: other, node: outer, links: new Map(), count: 0 });
    const port = ports.get(key);
    port.count++;
    const link = port.links.get(member) || { count: 0, controls: 0, type };
    if (isControl) link.controls++;
    else {
      if (link.count && link.type !== type) link.type = "";
      link.count++;
    }
    port.links.set(member, link);
  };
  graph.eachNode(item, (i) => {
    for (const edge of graph.inputs(i)) note(edge.from, i, true, graph.type(edge.from, edge.output), edge.output === CONTROL);
    for (const use of graph.consumers(i)) note(use.to, i, false, graph.type(i, use.output), use.output === CONTROL);
  });
  const all = [...ports.values()].sort((a, b) => b.count - a.count);
  const kept = [...all.filter((p) => p.isInput).slice(0, MOST_PORTS), ...all.filter((p) => !p.isInput).slice(0, MOST_PORTS)];
  kept.left = all.length - kept.length;
  box.ports_ = kept;
  return kept;
}

const SCALE = 72;
function labelOf(link) {
  if (!link.count) return "";
  const times = link.count > 1 ? link.count + " \u00d7 " : "";
  return times + plain(link.type || (link.count > 1 ? "tensors" : ""));
}

// Lays out what is in an opened box (and first what is open inside), unless it is as it was.
async function layOut(box) {
  const { boxes, aside, left } = box.children();
  for (const child of boxes) {
    if (child.isOpen) await layOut(child);
    child.size = child.isOpen ? child.drawn.size : child.closedSize();
  }
  const present = new Map(boxes.map((b, n) => [b.item, n]));
  const ports = portsOf(box).filter((p) => [...p.links.keys()].some((m) => present.has(m)));
  const allLinks = linksInside(box).filter((l) => present.has(l.from) && present.has(l.to));
  // Time grows faster than links: of very many only the strongest are drawn.
  const most = Math.max(100, Math.ceil(2.5 * boxes.length));
  const shown = allLinks.length > most ? [...allLinks].sort((a, b) => b.count - a.count).slice(0, most) : allLinks;
  const state = JSON.stringify([boxes.map((b) => [b.item, b.size.width, b.size.height]), ports.map((p) => p.key), VIEW.controls]);
  if (box.drawn && box.drawn.state === state) return;
  const dot = ["digraph{nodesep=.28;ranksep=.42;node[shape=box,fixedsize=true,label=\"\"];edge[arrowhead=none,fontsize=9,fontname=Courier];"];
  if (shown.length > 120) dot.push("mclimit=.4;nslimit=3;");
  boxes.forEach((b, n) => dot.push(`n${n}[width=${(b.size.width / SCALE).toFixed(3)},height=${(b.size.height / SCALE).toFixed(3)}];`));
  ports.forEach((p, n) => {
    p.text = fitted((p.isInput ? "\u2190 " : "\u2192 ") + plain(box.inside.graph.name(p.item) || box.inside.graph.label(p.item)), 11, 170);
    p.width = Math.ceil(widthOf(p.text, 11)) + 18;
    dot.push(`p${n}[width=${(p.width / SCALE).toFixed(3)},height=.31];`);
  });
  // Boxes that no link ties to another would be one long row: links that are not seen make rows of
  // them.
  const tied = new Set(shown.flatMap((l) => [l.from, l.to])), free = boxes.filter((b) => !tied.has(b.item));
  const isFree = free.length > 8 ? new Set(free.map((b) => b.item)) : new Set(), columns = Math.ceil(Math.sqrt(1.4 * free.length));
  if (isFree.size) free.slice(columns).forEach((b, n) => dot.push(`n${present.get(free[n].item)}->n${present.get(b.item)}[style=invis];`));
  const edges = [], hasLabels = shown.length <= 90;
  const add = (from, to, link, port) => {
    const label = shorten(labelOf(link), 34);
    const space = hasLabels && label ? `label="${"x".repeat(label.length)}",` : "";
    dot.push(`${from}->${to}[${space}weight=${Math.min(9, 1 + link.count)}];`);
    edges.push({ link, port, label, ends: from + " " + to });
  };
  for (const link of shown) add("n" + present.get(link.from), "n" + present.get(link.to), link, null);
  ports.forEach((p, n) => {
    for (const [member, link] of [...p.links].sort((a, b) => b[1].count - a[1].count).slice(0, Math.max(1, MOST_PORT_LINKS / ports.length))) {
      if (!present.has(member) || isFree.has(member)) continue;
      const inner = "n" + present.get(member), outer = "p" + n;
      const ends = { ...link, from: p.isInput ? -1 : member, to: p.isInput ? member : -1, bytes: 0 };
      if (p.isInput) add(outer, inner, ends, p);
      else add(inner, outer, ends, p);
    }
  });
  dot.push("}");
  const text = boxes.length + ports.length ? await ENGINE.layout(dot.join("\n")) : "graph 1 0 0\nstop\n";
  box.drawn = readLayout(text, boxes, ports, edges);
  Object.assign(box.drawn, { state, aside, left: left + 0, weaker: allLinks.length - shown.length, morePorts: portsOf(box).left || 0 });
  const head = box.parent ? HEAD : 0, notes = notesOf(box).length ? 20 : 0;
  const least = box.parent ? Math.max(120, widthOf(shorten(box.title, 60), 13, 600) + 70, widthOf(notesOf(box), 11) + 40) : 0;
  box.drawn.size = {
    width: Math.ceil(Math.max(least, box.drawn.width + 2 * PAD)),
    height: Math.ceil(box.drawn.height + 2 * PAD + head + notes),
  };
}

function notesOf(box) {
  const drawn = box.drawn, parts = [];
  if (!drawn) return "";
  const sum = drawn.aside.reduce((a, b) => a + b, 0);
  if (sum) parts.push("+ " + drawn.aside.map((n, reason) => n + " " + (n === 1 ? ASIDE[reason].replace(/ies$/, "y").replace(/s$/, "") : ASIDE[reason])).filter((t) => t).join(", "));
  if (drawn.left) parts.push(drawn.left + " more are not drawn");
  if (drawn.weaker) parts.push(drawn.weaker + " weaker links are not drawn");
  if (drawn.morePorts) parts.push(drawn.morePorts + " more lead outside");
  return parts.join(" \u00b7 ");
}

// Graphviz's plain form: sizes in inches from the lower left. Names are those that were made above.
function readLayout(text, boxes, ports, edges) {
  const drawn = { width: 0, height: 0, places: [], ports: [], edges: [] };
  const byEnds = new Map();
  edges.forEach((e) => {
    if (!byEnds.has(e.ends)) byEnds.set(e.ends, []);
    byEnds.get(e.ends).push(e);
  });
  for (const line of text.split("\n")) {
    const word = line.split(" ");
    const x = (at) => word[at] * SCALE, y = (at) => drawn.height - word[at] * SCALE;
    if (word[0] === "graph") {
      drawn.width = word[2] * SCALE;
      drawn.height = word[3] * SCALE;
    } else if (word[0] === "node") {
      const number = Number(word[1].slice(1)), at = { x: x(2), y: y(3) };
      if (word[1][0] === "n") drawn.places[number] = { box: boxes[number], x: at.x - boxes[number].size.width / 2, y: at.y - boxes[number].size.height / 2 };
      else drawn.ports[number] = { port: ports[number], x: at.x - ports[number].width / 2, y: at.y - 11 };
    } else if (word[0] === "edge") {
      const edge = (byEnds.get(word[1] + " " + word[2]) || []).shift();
      if (!edge) continue;
      const count = Number(word[3]), points = [];
      for (let k = 0; k < count; k++) points.push([x(4 + 2 * k), y(5 + 2 * k)]);
      const after = 4 + 2 * count, hasPlace = /^x+$/.test(word[after]);
      const middle = points[count >> 1];
      drawn.edges.push({ ...edge, points, labelAt: hasPlace ? [x(after + 1), y(after + 2)] : middle, hasPlace });
    }
  }
  return drawn;
}

// ---- Drawing
const SVG = "http://www.w3.org/2000/svg";
function make(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}

function curve(points) {
  const put = ([x, y]) => x.toFixed(1) + " " + y.toFixed(1);
  let path = "M" + put(points[0]);
  for (let k = 1; k + 2 < points.length; k += 3) path += "C" + put(points[k]) + "," + put(points[k + 1]) + "," + put(points[k + 2]);
  return path;
}

function thickness(link) {
  return link.count ? Math.min(7, 1 + Math.log2(1 + link.bytes / 64) / 3.2) : 1;
}

// Draws an opened box's inside at its place into `into`; fills VIEW.boxes and VIEW.edges.
function drawInside(box, into, left, top) {
  const drawn = box.drawn;
  const inner = make(into, "g", { transform: `translate(${left} ${top})` });
  const edges = make(inner, "g", { class: "edges" });
  for (const edge of drawn.edges) drawEdge(box, edge, edges);
  for (const place of drawn.places) drawBox(place.box, inner, place.x, place.y);
  for (const place of drawn.ports) drawPort(box, place, inner);
  const labels = make(inner, "g", { class: "labels" });
  for (const edge of drawn.edges) {
    if (!edge.label) continue;
    edge.text = make(labels, "text", { x: edge.labelAt[0].toFixed(1), y: (edge.labelAt[1] + 3).toFixed(1), class: edge.hasPlace ? "type" : "type crowded" }, edge.label);
  }
}

function drawEdge(box, edge, into) {
  const group = make(into, "g", { class: edge.link.count ? "edge" : "edge control" });
  const path = curve(edge.points), wide = thickness(edge.link);
  make(group, "path", { d: path, class: "line", "stroke-width": wide.toFixed(2) });
  const [end, before] = [edge.points[edge.points.length - 1], edge.points[edge.points.length - 2]];
  const angle = Math.atan2(end[1] - before[1], end[0] - before[0]) * 180 / Math.PI;
  const head = 5 + wide * 0.7;
  make(group, "path", { d: `M0 0L${-head} ${head * 0.5}L${-head} ${-head * 0.5}Z`, class: "head", transform: `translate(${end[0].toFixed(1)} ${end[1].toFixed(1)}) rotate(${angle.toFixed(0)})` });
  const hit = make(group, "path", { d: path, class: "hit" });
  hit.addEventListener("click", (event) => {
    event.stopPropagation();
    selectEdge(box, edge);
  });
  edge.element = group;
  VIEW.edges.push({ box, edge });
}

function drawPort(box, place, into) {
  const { port } = place, graph = box.inside.graph;
  const group = make(into, "g", { class: "port", transform: `translate(${place.x.toFixed(1)} ${place.y.toFixed(1)})`, role: "link", tabindex: -1, "aria-label": (port.isInput ? "from " : "to ") + plain(graph.name(port.item)) });
  make(group, "rect", { width: port.width, height: 22, rx: 11 });
  make(group, "text", { x: port.width / 2, y: 15 }, port.text);
  group.addEventListener("click", (event) => {
    event.stopPropagation();
    reveal(graph, port.links.size === 1 && port.count === 1 ? port.node : port.item, box);
  });
}

function drawBox(box, into, x, y) {
  const size = box.size, kind = box.graph.kind(box.item);
  const names = ["node", "scope", "series", "crowd", "loop", "crowd"], isLoop = box.graph.loop(box.item);
  const group = make(into, "g", {
    class: `box ${names[kind]}${box.isOpen ? " open" : ""}${box.calls.length ? " call" : ""}${box.graph.aside(box.item) ? " aside" : ""}${isLoop ? " loop" : ""}`,
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
    role: "treeitem", tabindex: -1, "aria-label": shorten(`${box.title}, ${box.note}`, 300), "aria-selected": "false",
  });
  if (box.isGroup) group.setAttribute("aria-expanded", String(box.isOpen));
  if (!box.isOpen && (kind === KIND.SERIES || kind === KIND.CROWD)) {
    make(group, "rect", { class: "under", x: 6, y: 6, width: size.width, height: size.height, rx: 8 });
    make(group, "rect", { class: "under", x: 3, y: 3, width: size.width, height: size.height, rx: 8 });
  }
  const face = make(group, "rect", { class: "face", width: size.width, height: size.height, rx: box.isGroup ? 8 : size.height / 2 });
  const colour = colourOf(box);
  if (colour) face.style.setProperty("--own", colour);
  if (box.isOpen) {
    const title = fitted(box.title, 13, size.width - 60, 600);
    make(group, "text", { class: "title", x: 12, y: 18 }, title);
    const close = make(group, "g", { class: "close", transform: `translate(${size.width - 20} 13)` });
    make(close, "circle", { r: 8 });
    make(close, "path", { d: "M-4 0H4" });
    close.addEventListener("click", (event) => {
      event.stopPropagation();
      toggle(box);
    });
    drawInside(box, group, (size.width - box.drawn.width) / 2, HEAD + PAD - 2);
    const notes = notesOf(box);
    if (notes) {
      const note = make(group, "text", { class: "note", x: 12, y: size.height - 10 }, notes);
      note.addEventListener("click", (event) => {
        event.stopPropagation();
        bringBack(box);
      });
    }
  } else {
    const middle = (size.width - (box.isGroup ? 14 : 0)) / 2;
    make(group, "text", { class: "label", x: middle, y: size.height / 2 - 2 }, box.text);
    make(group, "text", { class: "sub", x: middle, y: size.height / 2 + 12 }, box.subtext);
    if (box.isGroup) make(group, "path", { class: "plus", d: `M${size.width - 14} ${size.height / 2 - 4}v8m-4 -4h8` });
  }
  group.addEventListener("click", (event) => {
    event.stopPropagation();
    if (VIEW.wasDragged) return;
    select(box);
    if (box.isGroup && !box.isOpen) toggle(box);
  });
  box.element = group;
  VIEW.boxes.push(box);
}
