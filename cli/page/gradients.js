// ---- Gradients and what they are of: told by names, "gradients/layer/MatMul_grad/MatMul_1" of
// "layer/MatMul", "gradient_tape/layer/MatMul/MatMul_1" likewise.
const GRADIENTS = /(?:^|\/)(?:gradients(?:_\d+)?|gradient_tape)\//g;

// By item of a graph which one it is a gradient of, -1: of none, and the gradients of each item.
function gradientsOf(graph) {
  if (graph.gradients) return graph.gradients;
  const forward = new Int32Array(graph.count).fill(-1), back = new Map();
  graph.gradients = { forward, back };
  const labels = graph.c.groups.label.map((label) => "/" + label + "/");
  if (!labels.some((label) => label.includes("/gradient"))) return graph.gradients;
  const byName = new Map();
  const names = Array.from({ length: graph.count }, (_, i) => (graph.isNode(i) || graph.kind(i) === KIND.SCOPE ? graph.name(i) : ""));
  // Of a scope and a node that is named as it, the scope.
  names.forEach((name, i) => { if (name) byName.set(name, i); });
  for (let i = 0; i < graph.count; i++) {
    let rest = -1;
    for (const match of names[i].matchAll(GRADIENTS)) rest = match.index + match[0].length;
    if (rest < 0) continue;
    const parts = names[i].slice(rest).split("/");
    const end = parts.findIndex((part) => /_grad(_\d+)?$/.test(part));
    if (end >= 0) parts.splice(end, parts.length, parts[end].replace(/_grad(_\d+)?$/, ""));
    while (parts.length && forward[i] < 0) {
      const found = byName.get(parts.join("/"));
      if (found !== undefined) forward[i] = found;
      parts.pop();
    }
  }
  for (let i = 0; i < graph.count; i++) {
    const of = forward[i];
    if (of < 0 || graph.parent(i) >= 0 && forward[graph.parent(i)] === of) continue;
    if (!back.has(of)) back.set(of, []);
    back.get(of).push(i);
  }
  return graph.gradients;
}
function partnersOf(graph, item) {
  const { forward, back } = gradientsOf(graph);
  return [...(forward[item] >= 0 ? [forward[item]] : []), ...(back.get(item) || [])];
}
function addGradientColouring() {
  if (!GRAPHS.some((graph) => gradientsOf(graph).back.size)) return;
  COLOURINGS.gradient = {
    label: "Gradient",
    of({ graph, item }) {
      const { forward, back } = gradientsOf(graph), of = forward[item] >= 0 ? forward[item] : back.has(item) ? item : -1;
      return of >= 0 ? tint(hueOf(graph.name(of))) : null;
    },
    legend: () => [["A gradient has the colour of what it is of", null]],
  };
}
function gradientLists(panel, graph, item) {
  const { forward, back } = gradientsOf(graph), entries = (items) => items.map((node) => ({ node, text: graph.isNode(node) ? graph.op(node) : graph.nodes(node) + " nodes" }));
  if (forward[item] >= 0) nodeList(panel, "Gradient of", graph, entries([forward[item]]));
  nodeList(panel, "Gradients", graph, entries(back.get(item) || []));
}
