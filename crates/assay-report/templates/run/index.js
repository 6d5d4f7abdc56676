// What makes a million operations quick to look at: lanes in order, counts per small slice of time
// that are summed up in advance, and histograms of latency. All but the lanes follow the filter.

const SLICES_MAX = 65536, CELLS_MAX = 1 << 20;
const LATENCY_SLICES = 2048, LATENCY_CLASSES = 256;
const LONG_MAX = 4000;

const numeric = new Intl.Collator("en", { numeric: true });

// Groups operations by process. Within a lane they stay in the order of their start.
function makeLanes(trial) {
  const n = trial.n, count = trial.processes.length;
  const order = trial.processes.map((_, i) => i)
    .sort((a, b) => numeric.compare(trial.processes[a], trial.processes[b]));
  const laneOf = new Uint32Array(count);
  order.forEach((process, lane) => { laneOf[process] = lane; });
  const from = new Uint32Array(count + 1);
  const lane = new Uint32Array(n);
  for (let i = 0; i < n; i++) from[(lane[i] = laneOf[trial.process[i]]) + 1]++;
  for (let l = 0; l < count; l++) from[l + 1] += from[l];
  const next = from.slice(), ops = new Uint32Array(n);
  for (let i = 0; i < n; i++) ops[next[lane[i]]++] = i;
  // An open operation is drawn until its process goes on, or to the end.
  const shown = trial.end.slice(), reach = new Float64Array(n);
  for (let l = 0; l < count; l++) {
    for (let at = from[l + 1] - 1; at >= from[l]; at--) {
      const i = ops[at];
      if (trial.open[i]) {
        shown[i] = at + 1 < from[l + 1] ? trial.start[ops[at + 1]] : trial.duration;
      }
    }
    for (let at = from[l], most = 0; at < from[l + 1]; at++) {
      reach[at] = most = Math.max(most, shown[ops[at]]);
    }
  }
  const names = order.map((process) => trial.processes[process]);
  return { count, names, from, ops, lane, shown, reach };
}

// The first position in [low, high) whose value is at least `wanted`.
function lowerBound(values, wanted, low, high) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < wanted) low = middle + 1; else high = middle;
  }
  return low;
}

// Which operations the reader wants to see.
function applyFilter(trial, filter) {
  const { n } = trial, mask = new Uint8Array(n).fill(1);
  const keep = (column, texts, wanted) => {
    if (wanted === "") return;
    const fits = Uint8Array.from(texts, (text) => (text === wanted ? 1 : 0));
    for (let i = 0; i < n; i++) mask[i] &= fits[column[i]];
  };
  keep(trial.key, trial.keys, filter.key);
  keep(trial.process, trial.processes, filter.process);
  keep(trial.kind, trial.kinds, filter.kind);
  keep(trial.node, trial.nodes, filter.node);
  const outcomes = OUTCOMES.map((name) => (filter[name] ? 1 : 0));
  for (let i = 0; i < n; i++) mask[i] &= outcomes[trial.outcome[i]];
  const needle = filter.text.toLowerCase();
  if (needle !== "") {
    const hit = (texts) => Uint8Array.from(texts, (t) => (t.toLowerCase().includes(needle) ? 1 : 0));
    const columns = ["process", "kind", "key", "node", "epoch", "input", "output"];
    const tables = ["processes", "kinds", "keys", "nodes", "epochs", "inputs", "outputs"];
    const hits = tables.map((table) => hit(trial[table]));
    for (let i = 0; i < n; i++) {
      if (mask[i]) mask[i] = columns.some((column, c) => hits[c][trial[column][i]] === 1) ? 1 : 0;
    }
  }
  return mask;
}

// Sums over the operations that pass the filter.
function makeIndex(trial, lanes, mask) {
  const { n } = trial;
  const slices = Math.max(256, Math.min(SLICES_MAX, Math.floor(CELLS_MAX / (lanes.count + 1))));
  const width = slices + 1, perNs = slices / (trial.duration + 1);
  // One row per lane and one for all together, each of running totals.
  const totals = OUTCOMES.map(() => new Uint32Array((lanes.count + 1) * width));
  const all = lanes.count * width;
  let matching = 0;
  for (let i = 0; i < n; i++) {
    if (!mask[i]) continue;
    matching++;
    const slice = Math.floor(trial.start[i] * perNs) + 1, total = totals[trial.outcome[i]];
    total[lanes.lane[i] * width + slice]++;
    total[all + slice]++;
  }
  for (const total of totals) {
    for (let row = 0; row <= lanes.count; row++) {
      for (let at = row * width + 1; at < (row + 1) * width; at++) total[at] += total[at - 1];
    }
  }
  const starts = new Float64Array(matching), ends = new Float64Array(matching);
  for (let i = 0, at = 0; i < n; i++) {
    if (mask[i]) { starts[at] = trial.start[i]; ends[at++] = lanes.shown[i]; }
  }
  ends.sort();
  return { slices, width, perNs, totals, all, matching, starts, ends,
    long: longest(trial, lanes, mask), latency: latencyIndex(trial, mask) };
}

// The longest operations are drawn even where the others melt into a density.
function longest(trial, lanes, mask) {
  const length = (i) => lanes.shown[i] - trial.start[i];
  let least = trial.duration / 1000, found;
  do {
    found = [];
    for (let i = 0; i < trial.n && found.length <= LONG_MAX; i++) {
      if (mask[i] && length(i) > least) found.push(i);
    }
    least *= 2;
  } while (found.length > LONG_MAX);
  return found;
}

// Classes grow by a sixth of a power of two; 256 of them reach beyond an hour.
const latencyClass = (ns) => Math.min(LATENCY_CLASSES - 1, Math.round(6 * Math.log2(ns + 1)));
const classLatency = (c) => 2 ** (c / 6) - 1;

function latencyIndex(trial, mask) {
  const perNs = LATENCY_SLICES / (trial.duration + 1);
  const histogram = new Uint32Array(LATENCY_SLICES * LATENCY_CLASSES);
  const most = new Float64Array(LATENCY_SLICES).fill(-1);
  const classes = new Uint8Array(trial.n);
  for (let i = 0; i < trial.n; i++) {
    const ns = trial.latency[i];
    if (ns < 0 || !mask[i]) continue;
    const slice = Math.floor(trial.start[i] * perNs);
    histogram[slice * LATENCY_CLASSES + (classes[i] = latencyClass(ns))]++;
    if (ns > most[slice]) most[slice] = ns;
  }
  return { perNs, histogram, most, classes };
}

// How many operations that pass the filter overlap a span of time.
function countIn(index, from, to) {
  const begun = lowerBound(index.starts, to, 0, index.matching);
  const over = lowerBound(index.ends, from, 0, index.matching);
  return Math.max(0, begun - over);
}
