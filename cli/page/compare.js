// ---- Two graphs compared: nodes of the second, and of the first those that went
const DIFF_COLOURS = { added: tint(140), gone: tint(355), changed: tint(40), renamed: tint(265), holds: `color-mix(in oklab, ${tint(48)} 60%, var(--face))` };
const DIFF_SIGNS = { added: "+ ", gone: "\u2212 ", changed: "~ ", renamed: "> " };
const DIFF_TEXTS = { added: "only in the second", gone: "only in the first", changed: "changed", renamed: "by another name", holds: "holds differences", same: "the same" };

// Of a graph, by the names of nodes: {state, lines}; those that are the same are left out.
function differencesOf(graph) {
  if (graph.differences) return graph.differences;
  const found = new Map(), own = graph.number === 0 ? DATA.diff : DATA.diff.functions.find((f) => (f.name_in_b || f.name) === graph.c.name);
  graph.differences = found;
  if (!own) return found;
  if (own.only_in) {
    for (let i = 0; i < graph.size; i++) found.set(graph.name(i), { state: own.only_in === "a" ? "gone" : "added", lines: [] });
    return found;
  }
  for (const node of own.only_in_a) found.set(node.name, { state: "gone", lines: [] });
  for (const node of own.only_in_b) found.set(node.name, { state: "added", lines: [] });
  for (const { a, b } of own.renamed) found.set(b, { state: "renamed", lines: [["was named", a]] });
  for (const node of own.changed) {
    const before = found.get(node.name_in_b), lines = before ? before.lines : [];
    for (const c of node.changes) lines.push([c.which ? `${c.what} ${c.which}` : c.what, `${c.a || "(none)"} \u2192 ${c.b || "(none)"}`]);
    found.set(node.name_in_b, { state: "changed", lines });
  }
  return found;
}
// By item what it is; "holds": of a group that has several states or holds what differs.
function statesOf(graph) {
  if (graph.states) return graph.states;
  const states = new Array(graph.count), found = differencesOf(graph);
  graph.states = states;
  for (let i = 0; i < graph.size; i++) {
    const difference = found.get(graph.name(i)), calls = graph.calls.get(i) || [];
    let own = difference ? difference.state : "same";
    if (own === "same" && calls.some((c) => c.graph !== graph.number && (statesOf(GRAPHS[c.graph])[GRAPHS[c.graph].root] || "same") !== "same")) own = "holds";
    states[i] = own;
    for (let at = graph.parent(i); at >= 0; at = graph.parent(at)) {
      if (states[at] === own || states[at] === "holds") continue;
      states[at] = states[at] === undefined ? own : "holds";
    }
  }
  if (states[graph.root] === undefined) states[graph.root] = "same";
  return states;
}
// What a colour says, for those who do not see it.
function diffSign(box) { return DATA.diff && DIFF_SIGNS[statesOf(box.graph)[box.item]] || ""; }
function addDiffColouring() {
  if (!DATA.diff) return;
  COLOURINGS.diff = {
    label: "Difference",
    of: ({ graph, item }) => DIFF_COLOURS[statesOf(graph)[item]] || null,
    legend() {
      const { counts } = DATA.diff, numbers = { added: counts.only_in_b, gone: counts.only_in_a, changed: counts.changed, renamed: counts.renamed, same: counts.same };
      return Object.entries(DIFF_TEXTS).filter(([state]) => numbers[state] !== 0).map(([state, text]) => [numbers[state] === undefined ? text : `${text}: ${numbers[state]}`, DIFF_COLOURS[state] || null]);
    },
  };
  VIEW.colouring = "diff";
}
function diffFacts(panel, graph, item) {
  if (!DATA.diff) return;
  const found = differencesOf(graph), own = graph.isNode(item) && found.get(graph.name(item));
  if (graph.isNode(item)) rows(panel, "Difference", [["this node is", DIFF_TEXTS[statesOf(graph)[item]]], ...(own ? own.lines : [])]);
  if (graph.isNode(item)) return;
  const entries = [];
  graph.eachNode(item, (node) => { if (statesOf(graph)[node] !== "same") entries.push({ node, text: DIFF_TEXTS[statesOf(graph)[node]] }); });
  nodeList(panel, "Differences", graph, entries.reverse());
}
