// ---- The panel
function link(parent, text, go) {
  const made = element(parent, "button", text, { type: "button", class: "link" });
  made.addEventListener("click", go);
  return made;
}
function section(panel, title, count) {
  const part = element(panel, "section");
  element(part, "h3", count === undefined ? title : `${title} (${count})`);
  return part;
}
function rows(panel, title, pairs) {
  if (!pairs.length) return;
  const table = element(section(panel, title), "dl");
  for (const [key, value] of pairs) {
    element(table, "dt", plain(key));
    element(table, "dd", shorten(plain(value), 1200));
  }
}
function nodeList(panel, title, graph, entries) {
  if (!entries.length) return;
  const list = element(section(panel, title, entries.length), "ul");
  for (const { node, text } of entries.slice(0, 60)) {
    const row = element(list, "li");
    if (node >= 0) link(row, shorten(plain(graph.name(node)) || graph.label(node), 120), () => reveal(graph, node, VIEW.chosen && VIEW.chosen.box));
    else element(row, "span", "not in the graph");
    element(row, "small", plain(text));
  }
  if (entries.length > 60) element(list, "li", `and ${entries.length - 60} more`);
}
// What can be done with a series and its members.
function seriesButton(panel, box) {
  const series = seriesOf(box);
  if (series < 0) return;
  const count = box.graph.members(series).length;
  const button = element(panel, "button", box.item === series ? `Draw all ${count} one by one` : `Fold all ${count} into one`, { type: "button", title: "Key: u" });
  button.addEventListener("click", () => regroup(box));
}
function count(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
function showNode(panel, box) {
  const { graph, item } = box;
  element(panel, "h2", shorten(plain(graph.name(item)), 300));
  element(panel, "p", plain(graph.op(item)), { class: "op" });
  seriesButton(panel, box);
  const facts = [];
  if (graph.device(item)) facts.push(["device", graph.device(item)]);
  if (graph.source(item)) facts.push(["source", graph.source(item)]);
  if (graph.aside(item)) facts.push(["stands with", ASIDE[graph.aside(item)]]);
  rows(panel, "Facts", [...facts, ...planFact(box), ...traceFacts(box)]);
  diffFacts(panel, graph, item);
  rows(panel, "Outputs", graph.outputs(item).map((type, n) => [String(n), type || "not known"]));
  rows(panel, "Attributes", graph.attrs(item));
  nodeList(panel, "Inputs", graph, graph.inputs(item).map((e) => ({ node: e.from, text: e.output === CONTROL ? "control" : graph.type(e.from, e.output) + (e.output > 0 ? " :" + e.output : "") })));
  nodeList(panel, "Consumers", graph, graph.consumers(item).map((c) => ({ node: c.to, text: c.output === CONTROL ? "control" : graph.op(c.to) + ", input " + c.input })));
  gradientLists(panel, graph, item);
}
function showGroup(panel, box) {
  const inside = box.inside || { graph: box.graph, item: box.item }, { graph, item } = inside;
  element(panel, "h2", box === ROOT ? plain(DATA.title) : shorten(plain(graph.name(item)) || box.title, 300));
  const kinds = ["node", "scope", "series of alike scopes", "boxes that are linked", "loop", "of the loop, named elsewhere"];
  element(panel, "p", `${graph.nodes(item)} nodes` + (box === ROOT ? "" : ", " + kinds[graph.kind(item)]), { class: "op" });
  seriesButton(panel, box);
  if (box === ROOT && DATA.missing) element(panel, "p", plain(DATA.missing), { class: "problem" });
  const trace = box === ROOT && chromeTrace();
  if (trace && trace.problem) element(panel, "p", plain(trace.problem), { class: "problem" });
  if (box === ROOT && DATA.problem) element(panel, "p", "It cannot be imported: " + plain(DATA.problem.replace(/\s+/g, " ")), { class: "problem" });
  rows(panel, "Facts", [...(graph.loop(item) ? [["loop", graph.loop(item)]] : []), ...traceFacts(box)]);
  diffFacts(panel, graph, item);
  const ops = [];
  graph.eachNode(item, (i) => ops.push(graph.op(i)));
  rows(panel, "Ops", count(ops).slice(0, 25).map(([op, n]) => [op, String(n)]));
  const same = graph.isNode(item) ? 0 : graph.structure(item);
  if (same) {
    const alike = [];
    for (let i = graph.size; i < graph.count; i++) if (i !== item && graph.structure(i) === same) alike.push({ node: i, text: "" });
    nodeList(panel, "Equal scopes", graph, alike);
  }
  gradientLists(panel, graph, item);
  if (box !== ROOT && graph.members(item) && item !== graph.root) {
    const list = (isInput) => portsOf(box).filter((p) => p.isInput === isInput).map((p) => ({ node: p.item, text: `${p.count} edge${p.count > 1 ? "s" : ""}` }));
    nodeList(panel, "Takes from", graph, list(true));
    nodeList(panel, "Gives to", graph, list(false));
  }
  if (box === ROOT && GRAPHS.length > 1) {
    const list = element(section(panel, "Functions", GRAPHS.length - 1), "ul");
    for (const f of GRAPHS.slice(1, 60)) {
      const row = element(list, "li");
      link(row, shorten(plain(f.c.name), 120), () => {
        const base = callerOf(f);
        if (base) draw().then(() => base.element && (show(base), select(base)));
        else say("Nothing in the graph calls this function");
      });
      element(row, "small", f.size + " nodes");
    }
  }
}
function showEdge(panel, { edge, around }) {
  const { graph } = around.inside, { link: l } = edge;
  element(panel, "h2", "Edge");
  element(panel, "p", l.count ? `${l.count} tensor${l.count > 1 ? "s" : ""} ${plain(l.type)}` : "control", { class: "op" });
  const found = [];
  const from = l.from >= 0 ? l.from : edge.port.item, to = l.to >= 0 ? l.to : edge.port.item;
  graph.eachNode(to, (i) => {
    for (const e of graph.inputs(i)) {
      if (found.length < 200 && e.from >= 0 && graph.isUnder(e.from, from)) found.push({ node: e.from, text: `${e.output === CONTROL ? "control" : graph.type(e.from, e.output)} to ${graph.name(i)}` });
    }
  });
  const ends = element(panel, "p");
  link(ends, "\u2190 " + shorten(graph.label(from), 40), () => reveal(graph, from, around));
  link(ends, "\u2192 " + shorten(graph.label(to), 40), () => reveal(graph, to, around));
  nodeList(panel, "Tensors", graph, found);
}
function showPanel() {
  const panel = $("panel"), chosen = VIEW.chosen;
  panel.replaceChildren();
  if (chosen && chosen.edge) showEdge(panel, chosen);
  else if (chosen && chosen.box.graph.isNode(chosen.box.item)) showNode(panel, chosen.box);
  else showGroup(panel, chosen ? chosen.box : ROOT);
}
