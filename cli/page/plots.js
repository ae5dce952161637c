// ---- What was logged: curves, histograms, pictures, traces of runs
const LOGS = () => DATA.logs || { runs: [], problems: [] };

function numberText(value) {
  if (typeof value !== "number") return String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}
function timeText(us) {
  return us >= 1e6 ? numberText(us / 1e6) + " s" : us >= 1e3 ? numberText(us / 1e3) + " ms" : numberText(us) + " \u00b5s";
}
function bytesText(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < 4) {
    bytes /= 1000;
    unit++;
  }
  return numberText(bytes) + " " + units[unit];
}
function runHue(number) { return (210 + number * 137) % 360; }

// Tags of one kind: [tag, [{run, number, series}]].
function tagsOf(kind) {
  const found = new Map();
  LOGS().runs.forEach((run, number) => {
    for (const series of run.tags) {
      if (series.kind !== kind) continue;
      if (!found.has(series.tag)) found.set(series.tag, []);
      found.get(series.tag).push({ run, number, series });
    }
  });
  return [...found].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

function svgIn(parent, width, height, label) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  parent.appendChild(svg);
  return svg;
}

// Round numbers between two.
function ticks(low, high, most) {
  const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || 1, found = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9 && found.length < 20; t += step) found.push(t);
  return found;
}

function drawCurves(card, tag, entries) {
  const width = 400, height = 210, left = 58, right = 12, top = 10, bottom = 26;
  const real = (v) => typeof v === "number" && isFinite(v);
  const steps = entries.flatMap((e) => e.series.steps), values = entries.flatMap((e) => e.series.values).filter(real);
  let [x0, x1] = [Math.min(...steps), Math.max(...steps)], [y0, y1] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  if (x1 === x0) x1 = x0 + 1;
  if (y1 === y0) [y0, y1] = [y0 - Math.abs(y0 || 1) * 0.1, y1 + Math.abs(y1 || 1) * 0.1];
  const px = (x) => left + (x - x0) / (x1 - x0) * (width - left - right), py = (y) => top + (y1 - y) / (y1 - y0) * (height - top - bottom);
  const svg = svgIn(card, width, height, `${plain(tag)}: ${entries.length} curves`);
  for (const y of ticks(y0, y1, 4)) {
    make(svg, "path", { class: "grid", d: `M${left} ${py(y)}H${width - right}` });
    make(svg, "text", { x: left - 6, y: py(y) + 4, class: "tick end" }, numberText(y));
  }
  for (const x of ticks(x0, x1, 5)) make(svg, "text", { x: px(x), y: height - 7, class: "tick" }, numberText(x));
  for (const { number, series } of entries) {
    let path = "", isDown = false;
    series.values.forEach((v, k) => {
      if (!real(v)) {
        isDown = false;
        make(svg, "path", { class: "bad", d: `M${px(series.steps[k])} ${height - bottom - 5}l-4 -7h8z` });
        return;
      }
      path += `${isDown ? "L" : "M"}${px(series.steps[k]).toFixed(1)} ${py(v).toFixed(1)}`;
      isDown = true;
    });
    make(svg, "path", { class: "curve", d: path, style: `stroke: hsl(${runHue(number)} 60% 50%)` });
    if (series.values.length === 1 && real(series.values[0])) make(svg, "circle", { cx: px(series.steps[0]), cy: py(series.values[0]), r: 3, style: `fill: hsl(${runHue(number)} 60% 50%)` });
  }
  const mark = make(svg, "path", { class: "mark", d: "" }), read = element(card, "p", "", { class: "read" });
  const last = () => entries.map((e) => `${plain(e.run.name) || "."}: ${numberText(e.series.values[e.series.values.length - 1])}`).join("  ");
  read.textContent = last();
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), x = x0 + ((event.clientX - box.x) / box.width * width - left) / (width - left - right) * (x1 - x0);
    const parts = [];
    let at = null;
    for (const { run, series } of entries) {
      let best = 0;
      series.steps.forEach((s, k) => { if (Math.abs(s - x) < Math.abs(series.steps[best] - x)) best = k; });
      at = series.steps[best];
      parts.push(`${plain(run.name) || "."}: ${numberText(series.values[best])}`);
    }
    mark.setAttribute("d", `M${px(at)} ${top}V${height - bottom}`);
    read.textContent = `step ${at}  ${parts.join("  ")}`;
  });
  svg.addEventListener("pointerleave", () => {
    mark.setAttribute("d", "");
    read.textContent = last();
  });
}

// One ridge a step, the newest in front.
function drawHistogram(card, tag, { series, number }) {
  const points = series.points.slice(-25), width = 400, height = 210, left = 10, right = 46, bottom = 24, rise = 60;
  const finite = points.flatMap((p) => p.limits).filter((l) => typeof l === "number" && Math.abs(l) < 1e300);
  const svg = svgIn(card, width, height, `${plain(tag)}: histograms of ${points.length} steps`);
  if (!finite.length) return;
  const inside = points.flatMap((p) => p.limits.filter((l, k) => p.counts[k] > 0 && typeof l === "number" && Math.abs(l) < 1e300));
  const range = inside.length ? inside : finite;
  let x0 = Math.min(...range), x1 = Math.max(...range);
  if (x0 === x1) [x0, x1] = [x0 - 1, x1 + 1];
  const px = (x) => left + (Math.min(x1, Math.max(x0, x)) - x0) / (x1 - x0) * (width - left - right);
  points.forEach((p, n) => {
    const base = rise + 10 + (points.length > 1 ? n / (points.length - 1) : 1) * (height - rise - bottom - 14);
    // Buckets grow with their distance from 0: what they count is spread over equal ones.
    const bins = new Float64Array(48), wide = (x1 - x0) / bins.length;
    let before = Math.min(x0, ...p.limits.filter((l) => typeof l === "number" && Math.abs(l) < 1e300));
    p.limits.forEach((l, k) => {
      const limit = typeof l === "number" ? Math.min(l, x1) : x1, from = Math.max(before, x0), count = p.counts[k];
      before = Math.max(before, limit);
      if (!(count > 0)) return;
      const first = Math.min(bins.length - 1, Math.max(0, Math.floor((from - x0) / wide))), last = Math.min(bins.length - 1, Math.max(first, Math.ceil((limit - x0) / wide) - 1));
      for (let bin = first; bin <= last; bin++) bins[bin] += count / (last - first + 1);
    });
    const most = Math.max(...bins, 1e-300), dense = [...bins].map((count, bin) => [px(x0 + (bin + 0.5) * wide), count]);
    const path = dense.map((d) => `L${d[0].toFixed(1)} ${(base - d[1] / most * rise).toFixed(1)}`).join("");
    make(svg, "path", { class: "ridge", d: `M${left} ${base}${path}L${width - right} ${base}Z`, style: `--part: ${points.length > 1 ? n / (points.length - 1) : 1}; --hue: ${runHue(number)}` });
    if (n === 0 || n === points.length - 1) make(svg, "text", { x: width - right + 6, y: base, class: "tick start" }, numberText(p.step));
  });
  for (const x of ticks(x0, x1, 5)) make(svg, "text", { x: px(x), y: height - 7, class: "tick" }, numberText(x));
}

function drawPicture(card, tag, { series }) {
  const points = series.points, image = element(card, "img", undefined, { alt: plain(tag), class: "picture" });
  const label = element(card, "label", "", { class: "read" }), slider = element(card, "input", undefined, { type: "range", min: 0, max: points.length - 1, value: points.length - 1, "aria-label": "Step of " + plain(tag) });
  const show = () => {
    const p = points[slider.value], kind = p.file.startsWith("/9j/") ? "jpeg" : p.file.startsWith("R0lG") ? "gif" : "png";
    image.src = `data:image/${kind};base64,${p.file}`;
    label.textContent = "step " + p.step;
  };
  slider.hidden = points.length < 2;
  slider.addEventListener("input", show);
  show();
}

function cards(parent, title, tags, drawOne) {
  if (!tags.length) return;
  const part = element(parent, "details", undefined, { open: "" });
  element(part, "summary", `${title} (${tags.length})`);
  const grid = element(part, "div", undefined, { class: "cards" });
  for (const [tag, entries] of tags.slice(0, 400)) {
    for (const one of drawOne === drawCurves ? [entries] : entries) {
      const card = element(grid, "article");
      const runName = drawOne === drawCurves ? "" : plain(one.run.name);
      element(card, "h3", shorten(plain(tag), 120) + (runName ? " \u00b7 " + shorten(runName, 60) : ""));
      drawOne(card, tag, one);
    }
  }
}

function showPlots() {
  const parent = $("plots");
  parent.replaceChildren();
  const { runs, problems } = LOGS();
  if (runs.length > 1) {
    const legend = element(parent, "p", undefined, { class: "runs" });
    runs.forEach((run, n) => {
      const key = element(legend, "span", undefined, { class: "key" });
      element(key, "i").style.background = `hsl(${runHue(n)} 60% 50%)`;
      element(key, "span", plain(run.name) || ".");
    });
  }
  for (const problem of problems) element(parent, "p", "Not read to its end: " + plain(problem), { class: "problem" });
  cards(parent, "Scalars", tagsOf("scalars"), drawCurves);
  cards(parent, "Images", tagsOf("images"), drawPicture);
  cards(parent, "Histograms", tagsOf("histograms"), drawHistogram);
  if (!parent.childNodes.length) element(parent, "p", "Nothing was logged.");
}

// ---- Traces

// A choice among the traces, and what one of them shows below it.
function showTrace(draw, about) {
  const parent = $("plots"), traces = allTraces();
  parent.replaceChildren();
  const bar = element(parent, "p", undefined, { class: "runs" }), chooser = element(bar, "select", undefined, { "aria-label": "Trace" });
  traces.forEach((t, n) => element(chooser, "option", t.label, { value: n }));
  chooser.value = String(VIEW.trace);
  const place = element(parent, "div", undefined, { class: "timeline" }), read = element(parent, "p", about, { class: "read" });
  chooser.addEventListener("change", () => {
    VIEW.trace = Number(chooser.value);
    draw(place, read, traces[VIEW.trace].trace);
  });
  if (traces.length) draw(place, read, traces[VIEW.trace].trace);
}
function showTimeline() {
  showTrace(drawTimeline, "Wheel: zoom; drag: move; click an operation to find it in the graph.");
}

// ---- Scopes by time: a box is as wide as what it holds took, and holds the boxes below it
const FLAME_LEAST = 1 / 400, FLAME_DEEP = 40;
function showFlame() {
  showTrace((place, read, trace) => drawFlame(place, read, trace, GRAPHS[0].root), "Click a scope to have it fill the width, an operation to find it in the graph.");
}
// By item the time of all that it holds.
function timesOf(trace) {
  if (trace.times) return trace.times;
  const graph = GRAPHS[0], { time } = costsOf(trace), times = new Float64Array(graph.count);
  for (let i = 0; i < graph.size; i++) {
    for (let k = i; time[i] > 0 && k >= 0; k = graph.parent(k)) times[k] += time[i];
  }
  trace.times = times;
  return times;
}
function drawFlame(place, read, trace, top) {
  const graph = GRAPHS[0], times = timesOf(trace), whole = times[top];
  place.replaceChildren();
  const flame = element(place, "div", undefined, { class: "flame", role: "group", "aria-label": "Scopes by time" });
  let deepest = 0, left = 0;
  const put = (item, from, depth) => {
    const part = times[item] / whole, isScope = !graph.isNode(item);
    deepest = Math.max(deepest, depth);
    const name = item === graph.root ? "all" : graph.label(item), text = `${name}: ${timeText(times[item])}, ${(100 * times[item] / times[graph.root]).toPrecision(3)} %`;
    const box = element(flame, "button", part > 1 / 30 ? name : "", { type: "button", "aria-label": text });
    box.style.cssText = `left: ${100 * from}%; width: ${100 * part}%; top: ${depth * 26}px`;
    if (item !== graph.root) box.style.setProperty("--own", `hsl(${isScope ? hueOf(name) : hueOf(graph.op(item))} 55% ${isScope ? 78 : 66}%)`);
    const tell = () => { read.textContent = item === graph.root ? text : `${plain(graph.name(item))}, ${text}`; };
    box.addEventListener("pointerenter", tell);
    box.addEventListener("focus", tell);
    box.addEventListener("click", () => {
      if (isScope) return drawFlame(place, read, trace, item === top && item !== graph.root ? graph.parent(item) : item);
      showTab("graph");
      reveal(graph, item);
    });
    if (!isScope || depth === FLAME_DEEP) return;
    const members = graph.members(item).filter((m) => times[m] > 0).sort((a, b) => times[b] - times[a]);
    for (const member of members) {
      if (times[member] / whole < FLAME_LEAST) left++;
      else put(member, from, depth + 1);
      from += times[member] / whole;
    }
  };
  if (whole > 0) put(top, 0, 0);
  flame.style.height = `${(deepest + 1) * 26}px`;
  if (left) element(place, "p", `${left} too small to be drawn`, { class: "read" });
  if (!(whole > 0)) element(place, "p", "No time of this trace is of a node of the graph.", { class: "read" });
}

function drawTimeline(place, read, trace) {
  place.replaceChildren();
  costsOf(trace);
  const rows = new Map(), { slices } = trace;
  let end = 1;
  for (let k = 0; k < slices.length; k += 6) {
    const key = slices[k + 1] + " " + slices[k + 2];
    if (!rows.has(key)) rows.set(key, []);
    rows.get(key).push(k);
    end = Math.max(end, slices[k + 3] + slices[k + 4]);
  }
  const width = 1000, row = 22, canvas = element(place, "canvas", undefined, { role: "img", "aria-label": `Timeline of ${slices.length / 6} operations on ${rows.size} threads`, tabindex: 0 });
  const sorted = [...rows].sort((a, b) => (a[0] < b[0] ? -1 : 1)), height = 22 + sorted.length * (row + 18);
  canvas.width = width * 2;
  canvas.height = height * 2;
  canvas.style.aspectRatio = `${width} / ${height}`;
  const pen = canvas.getContext("2d");
  let from = 0, to = end, shown = [];
  const paint = () => {
    const style = getComputedStyle(document.body), ink = style.color, px = (t) => (t - from) / (to - from) * width;
    pen.setTransform(2, 0, 0, 2, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = `11px ${FONT}`;
    pen.fillStyle = ink;
    for (const t of ticks(from, to, 8)) {
      pen.globalAlpha = 0.15;
      pen.fillRect(px(t), 16, 1, height);
      pen.globalAlpha = 0.7;
      pen.fillText(timeText(t), px(t) + 3, 12);
    }
    shown = [];
    sorted.forEach(([key, list], n) => {
      const y = 22 + n * (row + 18) + 14;
      pen.globalAlpha = 0.7;
      pen.fillStyle = ink;
      pen.fillText(`${plain(trace.names[slices[list[0] + 1]]) || "device"}, thread ${key.split(" ")[1]}`, 4, y - 3);
      pen.globalAlpha = 1;
      for (const k of list) {
        const x = px(slices[k + 3]), wide = Math.max(1, px(slices[k + 3] + slices[k + 4]) - x - 0.5);
        if (x > width || x + wide < 0) continue;
        const node = trace.nodes[slices[k]], op = node === undefined ? trace.names[slices[k]] : GRAPHS[0].op(node);
        pen.fillStyle = `hsl(${hueOf(op)} 55% 60%)`;
        pen.fillRect(x, y, wide, row);
        shown.push([x, y, wide, k]);
        if (wide > 40) {
          pen.fillStyle = "#111";
          pen.fillText(fitted(plain(trace.names[slices[k]]), 11, wide - 6), Math.max(x, 0) + 3, y + 15);
        }
      }
    });
  };
  const at = (event) => {
    const box = canvas.getBoundingClientRect(), x = (event.clientX - box.x) / box.width * width, y = (event.clientY - box.y) / box.height * height;
    return { x, y, hit: shown.find((s) => x >= s[0] - 1 && x <= s[0] + s[2] + 1 && y >= s[1] && y <= s[1] + row) };
  };
  let last = null, moved = false;
  canvas.addEventListener("pointerdown", (event) => {
    last = at(event).x;
    moved = false;
  });
  canvas.addEventListener("pointermove", (event) => {
    const { x, hit } = at(event);
    if (last !== null && event.buttons & 1 && Math.abs(x - last) > 2) {
      const by = (last - x) / width * (to - from);
      from += by;
      to += by;
      last = x;
      moved = true;
      paint();
    }
    if (hit) read.textContent = `${plain(trace.names[slices[hit[3]]])}: ${timeText(slices[hit[3] + 4])} from ${timeText(slices[hit[3] + 3])}` + (slices[hit[3] + 5] ? ", " + bytesText(slices[hit[3] + 5]) : "");
  });
  canvas.addEventListener("pointerup", (event) => {
    const { hit } = at(event), node = hit && trace.nodes[slices[hit[3]]];
    last = null;
    if (moved || node === undefined || !hit) return;
    showTab("graph");
    reveal(GRAPHS[0], node);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const here = from + at(event).x / width * (to - from), factor = Math.exp(event.deltaY * 0.0015);
    [from, to] = [here - (here - from) * factor, here + (to - here) * factor];
    paint();
  }, { passive: false });
  if (trace.left_out) element(place, "p", `${trace.left_out} operations are left out`, { class: "read" });
  paint();
}

// ---- What the plan of a step made of each node of the graph, by name: {state, text}
let knownPlanFacts = null;
function planOf(node) {
  if (!DATA.plan) return null;
  knownPlanFacts = knownPlanFacts || planFacts();
  return knownPlanFacts.get(GRAPHS[0].name(node)) || planAbsent(node);
}
function planFacts() {
  const facts = new Map(), entries = DATA.plan.entries;
  for (const feed of DATA.plan.feeds || []) facts.set(feed.name, { state: "fed", text: "fed" });
  for (const e of entries) {
    if (e.op === null) continue;
    const parts = [`entry e${e.entry}`];
    const behind = e.fused_ops && e.fused_ops.length ? ` with ${e.fused_ops.join(", ")}` : "";
    if (e.rule) parts.push(`${e.op}${behind} by ${e.rule}`);
    facts.set(e.name, { state: e.rule ? "rewritten" : "runs", text: parts.join(", "), rule: e.rule });
  }
  for (const segment of DATA.plan.segments || []) {
    for (const value of segment.values) {
      const fact = facts.get(value.name.replace(/:\d+$/, ""));
      if (!fact) continue;
      if (value.lies === "constant" && value.made_by) Object.assign(fact, { state: "folded", text: `${fact.text}, folded by ${value.made_by}` });
    }
    for (const i of segment.instructions) {
      if (i.runs.length < 2) continue;
      const names = i.runs.map((e) => entries.find((x) => x.entry === e)).filter((e) => e).map((e) => e.name);
      for (const name of names) {
        const fact = facts.get(name);
        if (fact) Object.assign(fact, { state: "fused", text: `${fact.text}, in one loop with ${names.filter((n) => n !== name).join(", ")}` + (i.made_by ? ` by ${i.made_by}` : "") });
      }
    }
  }
  return facts;
}
// What has no entry was taken into one by a rule, or dropped, or nobody asked for it.
function planAbsent(node) {
  const graph = GRAPHS[0], facts = knownPlanFacts, seen = new Set([node]), todo = [node];
  while (todo.length && seen.size < 2000) {
    for (const use of graph.consumers(todo.shift())) {
      if (use.output === CONTROL || seen.has(use.to)) continue;
      seen.add(use.to);
      const fact = facts.get(graph.name(use.to));
      if (!fact) todo.push(use.to);
      else if (fact.rule) return { state: "fused", text: `taken into ${graph.name(use.to)} by ${fact.rule}` };
      else return { state: "dropped", text: `dropped: ${graph.name(use.to)} takes what it would give` };
    }
  }
  return { state: "unused", text: "not in the plan: none of its outputs needs it" };
}

// ---- Tabs
function showTab(name) {
  VIEW.tab = name;
  document.body.dataset.tab = name;
  $("graph").hidden = name !== "graph";
  $("panel").hidden = name !== "graph";
  $("plots").hidden = name === "graph";
  for (const tab of $("tabs").children) tab.setAttribute("aria-selected", String(tab.dataset.tab === name));
  if (name === "plots") showPlots();
  if (name === "timeline") showTimeline();
  if (name === "flame") showFlame();
}
function makeTabs() {
  const tabs = $("tabs"), names = [["graph", "Graph"]];
  if (DATA.logs) names.push(["plots", "Values"]);
  if (allTraces().length) names.push(["timeline", "Timeline"], ["flame", "Scopes by time"]);
  tabs.replaceChildren();
  if (names.length < 2) return;
  for (const [name, text] of names) {
    const tab = element(tabs, "button", text, { type: "button", role: "tab", "data-tab": name, "aria-selected": String(VIEW.tab === name) });
    tab.addEventListener("click", () => showTab(name));
  }
}
