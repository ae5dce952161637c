// ---- Traces: those of logs, and one in Chrome's form that was named
function allTraces() {
  const found = LOGS().runs.flatMap((run) => run.traces.map((trace) => ({ trace, label: `${run.name ? plain(run.name) + ", " : ""}${plain(trace.tag)}` })));
  const named = chromeTrace();
  return named ? [...found, { trace: named, label: "runs" }] : found;
}

// The operations of a trace in Chrome's form, in the form that traces of logs have, with what the
// kernels estimate of their work.
let readTrace;
function chromeTrace() {
  if (readTrace !== undefined || !DATA.traced) return readTrace || null;
  readTrace = { names: [], slices: [], work: [], left_out: 0 };
  const numbers = new Map();
  const numberOf = (name) => {
    if (!numbers.has(name)) {
      numbers.set(name, readTrace.names.length);
      readTrace.names.push(name);
    }
    return numbers.get(name);
  };
  try {
    const { traceEvents: events } = JSON.parse(DATA.traced.text), devices = new Map();
    const of = (e, key) => (e.args && e.args[key] !== undefined ? e.args[key] : "");
    for (const e of events) if (e.name === "process_name") devices.set(e.pid, String(of(e, "name")));
    for (const e of events) {
      if (e.cat !== "Op" || !(e.dur >= 0) || !(e.ts >= 0)) continue;
      if (readTrace.work.length >= 20000) readTrace.left_out++;
      else {
        const bytes = String(of(e, "outputs")).split(/, (?=[a-z])/).reduce((sum, type) => sum + (type ? bytesOfType(type) : 0), 0);
        readTrace.slices.push(numberOf(String(of(e, "name"))), numberOf(devices.get(e.pid) || ""), Number(e.tid) || 0, e.ts, e.dur, bytes);
        readTrace.work.push({ flops: Number(of(e, "flops")) || 0, bytes: Number(of(e, "bytes")) || 0 });
      }
    }
  } catch (error) {
    readTrace.problem = "The trace cannot be read: " + error.message;
  }
  return readTrace;
}

// Of the graph's nodes what a trace took, as arrays: time in microseconds, bytes of outputs, and
// the least time that the work takes on this machine, by arithmetic or by memory.
function costsOf(trace) {
  if (trace.costs) return trace.costs;
  const graph = GRAPHS[0], byName = new Map();
  for (let i = 0; i < graph.size; i++) byName.set(graph.name(i), i);
  const costs = { flops: null, traffic: null, least: null };
  for (const key of ["time", "bytes", ...(trace.work ? Object.keys(costs) : [])]) costs[key] = new Float64Array(graph.size);
  trace.nodes = trace.names.map((name) => byName.get(name));
  for (let k = 0; k < trace.slices.length; k += 6) {
    const node = trace.nodes[trace.slices[k]];
    if (node === undefined) continue;
    costs.time[node] += trace.slices[k + 4];
    costs.bytes[node] += trace.slices[k + 5];
    if (!trace.work) continue;
    const { flops, bytes } = trace.work[k / 6];
    costs.flops[node] += flops;
    costs.traffic[node] += bytes;
    costs.least[node] += Math.max(rated(flops, DATA.traced.gflops), rated(bytes, DATA.traced.gbytes));
  }
  trace.costs = costs;
  return costs;
}
// Microseconds for work at a rate in thousands of millions a second.
function rated(work, rate) { return rate > 0 ? work / rate / 1000 : 0; }

// What all nodes of a box took together.
function sumOf(box, key) {
  if (box.graph.number !== 0) return 0;
  const cost = costsOf(allTraces()[VIEW.trace].trace)[key];
  let sum = 0;
  if (cost) box.graph.eachNode(box.item, (i) => { sum += cost[i]; });
  return sum;
}

// Colours by what a trace took: a box has the part of all of it that its nodes have.
function addTraceColourings() {
  const traces = allTraces();
  if (!traces.length) return;
  for (const [key, label, text] of [["time", "Time", timeText], ["bytes", "Memory", bytesText]]) {
    let most = 0;
    COLOURINGS[key] = {
      label,
      begin() { most = costsOf(traces[VIEW.trace].trace)[key].reduce((a, b) => a + b, 0); },
      of(box) {
        const sum = sumOf(box, key);
        return sum > 0 && most > 0 ? heat(Math.min(1, Math.sqrt(sum / most))) : null;
      },
      legend: () => [["0", heat(0)], [text(most / 4), heat(0.5)], [text(most), heat(1)]],
    };
  }
  if (!traces.some(({ trace }) => trace.work)) return;
  COLOURINGS.limit = {
    label: "Share of the limit",
    of(box) {
      const least = sumOf(box, "least"), time = sumOf(box, "time");
      return least > 0 && time > 0 ? reach(least / time) : null;
    },
    legend: () => [["far below what the machine can do", reach(0)], ["half", reach(0.5)], ["all of it", reach(1)]],
  };
}
function reach(part) { return `color-mix(in oklab, ${tint(150)} ${(100 * Math.min(1, part)).toFixed(0)}%, ${tint(10)})`; }

function traceFacts(box) {
  if (!allTraces().length) return [];
  const time = sumOf(box, "time"), bytes = sumOf(box, "bytes"), facts = [];
  if (time > 0) facts.push(["time", timeText(time)]);
  if (bytes > 0) facts.push(["memory", bytesText(bytes)]);
  const flops = sumOf(box, "flops"), traffic = sumOf(box, "traffic"), least = sumOf(box, "least");
  if (!(least > 0 && time > 0)) return facts;
  const { gflops, gbytes } = DATA.traced, rate = (work) => numberText(work / time / 1000);
  if (flops > 0) facts.push(["arithmetic", `${rate(flops)} GFLOP/s of ${numberText(gflops)}`]);
  if (traffic > 0) facts.push(["traffic", `${rate(traffic)} GB/s of ${numberText(gbytes)}`]);
  facts.push(["of the limit", `${(100 * least / time).toFixed(least < time / 10 ? 1 : 0)} %, set by ${rated(flops, gflops) > rated(traffic, gbytes) ? "arithmetic" : "memory"}`]);
  return facts;
}

