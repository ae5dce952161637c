// ---- The graphs as `rheos view` wrote them, and what follows from them. A place is a pair of a
// graph's number and an item's: nodes first, then groups, as in the columns.
const DATA = JSON.parse(document.getElementById("data").textContent);
const KIND = { NODE: 0, SCOPE: 1, SERIES: 2, CROWD: 3, LOOP: 4, ELSEWHERE: 5 };
const ASIDE = ["", "constants", "summaries", "savers", "initializers"];
const CONTROL = -1;

// What could hide or turn text around is written out: names are anybody's.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
function plain(text) {
  return String(text).replace(HIDDEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

function shorten(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "\u2026" : text;
}

class Graph {
  constructor(columns, number) {
    this.c = columns;
    this.number = number;
    this.size = columns.label.length;
    this.root = this.size;
    this.count = this.size + columns.groups.label.length;
    this.members_ = null;
    this.consumers_ = null;
    this.names_ = null;
    this.depths_ = null;
    this.calls = new Map();
    for (let i = 0; i < columns.calls.length; i += 3) {
      const [node, role, graph] = columns.calls.slice(i, i + 3);
      if (!this.calls.has(node)) this.calls.set(node, []);
      this.calls.get(node).push({ role: DATA.strings[role], graph });
    }
  }
  isNode(i) { return i < this.size; }
  parent(i) { return this.isNode(i) ? this.c.parent[i] : this.c.groups.parent[i - this.size]; }
  kind(i) { return this.isNode(i) ? KIND.NODE : this.c.groups.kind[i - this.size]; }
  aside(i) { return this.isNode(i) ? this.c.aside[i] : this.c.groups.aside[i - this.size]; }
  nodes(i) { return this.isNode(i) ? 1 : this.c.groups.nodes[i - this.size]; }
  structure(i) { return this.isNode(i) ? 0 : this.c.groups.class[i - this.size]; }
  // The frame's name of a loop of version 1, else "".
  loop(i) { return this.isNode(i) ? "" : DATA.strings[this.c.groups.loop[i - this.size]]; }
  rawLabel(i) { return this.isNode(i) ? this.c.label[i] : this.c.groups.label[i - this.size]; }
  op(i) { return DATA.strings[this.c.op[i]]; }
  device(i) { return DATA.strings[this.c.device[i]]; }
  source(i) { return DATA.strings[this.c.source[i]]; }
  links(i) { return this.c.links[i - this.size]; }

  // The attributes, [key, value] each.
  attrs(i) {
    const set = DATA.attr_sets[this.c.attrs[i]], found = [];
    for (let k = 0; k < set.length; k += 2) found.push([DATA.strings[set[k]], DATA.strings[set[k + 1]]]);
    return found;
  }
  outputs(i) { return this.c.outputs[i].map((n) => DATA.strings[n]); }
  inputs(i) {
    const flat = this.c.inputs[i], found = [];
    for (let k = 0; k < flat.length; k += 2) found.push({ from: flat[k], output: flat[k + 1] });
    return found;
  }
  type(node, output) {
    const types = this.c.outputs[node];
    return output >= 0 && output < types.length ? DATA.strings[types[output]] : "";
  }

  // The members of a group, in the order of the graph.
  members(group) {
    if (!this.members_) {
      this.members_ = Array.from({ length: this.count - this.size }, () => []);
      for (let i = 0; i < this.count; i++) {
        const parent = this.parent(i);
        if (parent >= 0) this.members_[parent - this.size].push(i);
      }
    }
    return this.members_[group - this.size];
  }
  // Of each node those that take its outputs: {to, input, output}.
  consumers(i) {
    if (!this.consumers_) {
      this.consumers_ = Array.from({ length: this.size }, () => []);
      for (let to = 0; to < this.size; to++) {
        const flat = this.c.inputs[to];
        for (let k = 0; k < flat.length; k += 2) {
          if (flat[k] >= 0) this.consumers_[flat[k]].push({ to, input: k / 2, output: flat[k + 1] });
        }
      }
    }
    return this.consumers_[i];
  }
  depth(i) {
    if (!this.depths_) {
      this.depths_ = new Int32Array(this.count).fill(-1);
      this.depths_[this.root] = 0;
    }
    const way = [];
    for (; this.depths_[i] < 0; i = this.parent(i)) way.push(i);
    let depth = this.depths_[i];
    for (let k = way.length - 1; k >= 0; k--) this.depths_[way[k]] = ++depth;
    return depth;
  }
  // The path of a scope; series, crowds and loops have no name of their own.
  path(group) {
    const parts = [];
    for (let i = group; i >= 0 && i !== this.root && this.kind(i) !== KIND.ELSEWHERE; i = this.parent(i)) {
      if (this.kind(i) === KIND.SCOPE) parts.push(this.rawLabel(i));
    }
    return parts.reverse().join("/");
  }
  name(i) {
    if (!this.isNode(i)) return this.path(i);
    if (!this.names_) this.names_ = new Array(this.size);
    if (this.names_[i] === undefined) {
      const path = this.path(this.parent(i)), label = this.rawLabel(i);
      this.names_[i] = path && label ? path + "/" + label : path || label;
    }
    return this.names_[i];
  }
  label(i) {
    const kind = this.kind(i), label = this.rawLabel(i);
    if (kind === KIND.NODE && !label) return "(" + plain(this.path(this.parent(i)).split("/").pop()) + ")";
    if (kind === KIND.SERIES) return plain(/\d/.test(label) ? label.replace(/\d+(?=\D*$)/, "*") : label + "_*") + " \u00d7 " + this.members(i).length;
    if (kind === KIND.CROWD) {
      const members = this.members(i);
      return shorten(this.label(members[0]), 24) + " \u2026";
    }
    if (kind === KIND.ELSEWHERE) return "named elsewhere";
    return plain(label);
  }
  isUnder(i, group) {
    const depth = this.depth(group);
    while (i >= 0 && this.depth(i) > depth) i = this.parent(i);
    return i === group;
  }
  // Calls visit(i) for all nodes of an item.
  eachNode(item, visit) {
    const todo = [item];
    while (todo.length) {
      const i = todo.pop();
      if (this.isNode(i)) visit(i);
      else for (const member of this.members(i)) todo.push(member);
    }
  }
  // The nodes that `starts` are computed from (or, downward, that they reach), as marks by number.
  reach(starts, downward) {
    const marks = new Uint8Array(this.size), todo = [...starts];
    while (todo.length) {
      const i = todo.pop();
      const next = downward ? this.consumers(i).map((c) => c.to) : this.inputs(i).map((e) => e.from);
      for (const k of next) {
        if (k >= 0 && !marks[k]) {
          marks[k] = 1;
          todo.push(k);
        }
      }
    }
    return marks;
  }
}

const GRAPHS = DATA.graphs.map((columns, number) => new Graph(columns, number));

// ---- Search over all names: plain text looks at names and ops, op:TEXT and attr:TEXT at those
function findNodes(query, most) {
  const wanted = query.trim().toLowerCase(), found = [];
  let total = 0;
  if (!wanted) return { found, total };
  const colon = /^(op|attr|device):(.*)$/.exec(wanted);
  for (const graph of GRAPHS) {
    const setMatches = colon && colon[1] === "attr" ? DATA.attr_sets.map((set) => {
      for (let k = 0; k < set.length; k += 2) {
        if ((DATA.strings[set[k]] + "=" + DATA.strings[set[k + 1]]).toLowerCase().includes(colon[2].trim())) return true;
      }
      return false;
    }) : null;
    for (let i = 0; i < graph.size; i++) {
      let rank = -1;
      if (!colon) {
        const name = graph.name(i).toLowerCase();
        const at = name.indexOf(wanted);
        if (at >= 0) rank = name === wanted ? 0 : name.endsWith(wanted) ? 1 : 2;
        else if (graph.op(i).toLowerCase().includes(wanted)) rank = 3;
      } else if (colon[1] === "op") {
        if (graph.op(i).toLowerCase().includes(colon[2].trim())) rank = 1;
      } else if (colon[1] === "device") {
        if (graph.device(i).toLowerCase().includes(colon[2].trim())) rank = 1;
      } else if (setMatches[graph.c.attrs[i]]) {
        rank = 1;
      }
      if (rank < 0) continue;
      total++;
      if (found.length < 2000) found.push({ graph, i, rank });
    }
  }
  found.sort((a, b) => a.rank - b.rank);
  return { found: found.slice(0, most), total };
}
