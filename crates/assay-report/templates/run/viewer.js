// One timeline with its plots: what is loaded, what part is on screen, what is chosen.

const NAMES_MAX = 500, SPAN_NS_MIN = 1000;

function makeViewer(root) {
  const find = (selector) => root.querySelector(selector);
  const viewer = {
    root, trial: null, selected: -1, mark: -1, queued: false,
    view: { from: 0, to: 1, top: 0 },
    stage: find(".stage"), form: find("form"), status: find("[data-status]"),
    detail: find(".detail"), tip: find(".tip"), span: find("[data-span]"),
    tabs: [...root.querySelectorAll(".tab")],
    canvas: { strip: find(".strip"), lanes: find(".lanes"), latency: find(".latency"),
      rate: find(".rate") },
  };
  for (const tab of viewer.tabs) tab.addEventListener("click", () => load(viewer, tab));
  listen(viewer);
  return viewer;
}

// The tab a reader most likely wants: one with an anomaly, else the first.
function firstTab(viewer) {
  const there = viewer.tabs.filter((tab) => tab.dataset.block !== undefined);
  return there.find((tab) => tab.dataset.marks !== "0") ?? there[0];
}

function open(viewer) {
  if (viewer.root.dataset.state !== "waiting") return viewer.loaded;
  const tab = firstTab(viewer);
  if (!tab) {
    viewer.root.dataset.state = "empty";
    return Promise.resolve();
  }
  return load(viewer, tab);
}

function load(viewer, tab) {
  viewer.loaded = loadBlock(viewer, tab);
  return viewer.loaded;
}

async function loadBlock(viewer, tab) {
  const { root, stage, status } = viewer, block = tab.dataset.block;
  if (block === undefined) return;
  viewer.tabs.forEach((t) => t.setAttribute("aria-pressed", String(t === tab)));
  root.dataset.state = "loading";
  stage.hidden = false;
  status.textContent = "Reading the operations…";
  try {
    const trial = await unpack(document.getElementById(`block-${block}`).textContent);
    viewer.trial = trial;
    viewer.lanes = makeLanes(trial);
    viewer.selected = viewer.mark = -1;
    viewer.view = { from: 0, to: trial.duration, top: 0 };
    viewer.detail.replaceChildren();
    fillNames(viewer);
    refilter(viewer);
    root.dataset.block = block;
    root.dataset.state = "ready";
  } catch (error) {
    root.dataset.state = "failed";
    status.textContent = `The operations could not be read: ${error}`;
  }
}

function fillNames(viewer) {
  const { trial, form, lanes } = viewer;
  form.reset();
  const options = (parent, names, first) => {
    const made = names.slice(0, NAMES_MAX).map((name) => new Option(name, name));
    parent.replaceChildren(...(first ? [new Option("all", "")] : []), ...made);
  };
  const sorted = (names) => [...names].sort(numeric.compare);
  options(form.key.list, sorted(trial.keys));
  options(form.process.list, lanes.names);
  options(form.kind, sorted(trial.kinds), true);
  options(form.node, sorted(trial.nodes), true);
  const title = viewer.root.querySelector("[data-latency-title]");
  title.textContent = `Latency of what was answered, from the time it ${
    trial.schedule ? "should have been sent" : "was sent"}`;
  const marks = viewer.root.querySelector(".marks");
  marks.hidden = trial.marks.length === 0;
}

function readFilter(form) {
  const filter = { text: form.text.value.trim(), key: form.key.value.trim(),
    process: form.process.value.trim(), kind: form.kind.value, node: form.node.value };
  for (const name of OUTCOMES) filter[name] = form[name].checked;
  return filter;
}

function refilter(viewer) {
  viewer.mask = applyFilter(viewer.trial, readFilter(viewer.form));
  viewer.index = makeIndex(viewer.trial, viewer.lanes, viewer.mask);
  draw(viewer);
}

function redraw(viewer) {
  if (viewer.queued || !viewer.trial) return;
  viewer.queued = true;
  requestAnimationFrame(() => {
    viewer.queued = false;
    draw(viewer);
  });
}

function draw(viewer) {
  const begun = performance.now(), c = colours(), { trial, view, index, root } = viewer;
  drawStrip(viewer, c);
  drawLanes(viewer, c);
  const inner = Math.max(200, viewer.canvas.latency.clientWidth) - LEFT - RIGHT;
  const buckets = bucketsOf(viewer, inner);
  drawLatency(viewer, c, buckets);
  drawRate(viewer, c, buckets);
  const visible = countIn(index, view.from, view.to), layout = laneLayout(viewer.lanes);
  const step = (view.to - view.from) / 100;
  viewer.span.textContent = `${readable(view.from, step)} to ${readable(view.to, step)}`
    + (layout.rows < viewer.lanes.count ? `, processes ${view.top + 1} to ${
      view.top + layout.rows} of ${viewer.lanes.count} (shift and wheel, or ↑ ↓)` : "");
  viewer.status.textContent = index.matching === 0
    ? `None of ${grouped(trial.n)} operations passes the filter.`
    : `${grouped(index.matching)} of ${grouped(trial.n)} operations pass the filter, `
      + `${grouped(visible)} of them on screen.${title(viewer)}`;
  Object.assign(root.dataset, { ops: trial.n, matchingOps: index.matching, visibleOps: visible,
    fromNs: Math.round(view.from), toNs: Math.round(view.to), selectedOp: viewer.selected,
    drawMs: (performance.now() - begun).toFixed(1) });
}

function title(viewer) {
  const mark = viewer.trial.marks[viewer.mark];
  return mark ? ` Anomaly ${viewer.mark + 1} of ${viewer.trial.marks.length}: ${mark.title}.` : "";
}

// Shows a span of time, moved and stretched so that it lies within the trial.
function show(viewer, from, to) {
  const { trial, view } = viewer, whole = trial.duration;
  const span = Math.max(Math.min(SPAN_NS_MIN, whole), Math.min(to - from, whole));
  view.from = Math.max(0, Math.min(from, whole - span));
  view.to = view.from + span;
  redraw(viewer);
}

function zoom(viewer, factor, at) {
  const { view } = viewer, middle = at ?? (view.from + view.to) / 2;
  show(viewer, middle - (middle - view.from) * factor, middle + (view.to - middle) * factor);
}

function pan(viewer, part) {
  const { view } = viewer, by = (view.to - view.from) * part;
  const room = by < 0 ? Math.max(by, -view.from) : Math.min(by, viewer.trial.duration - view.to);
  show(viewer, view.from + room, view.to + room);
}

// Goes to the next operation of an anomaly, or the one before.
function jump(viewer, step) {
  const { trial, form } = viewer, count = trial.marks.length;
  if (count === 0) return;
  viewer.mark = viewer.mark < 0 ? (step > 0 ? 0 : count - 1) : (viewer.mark + step + count) % count;
  const { op } = trial.marks[viewer.mark];
  if (!viewer.mask[op]) {
    form.reset();
    refilter(viewer);
  }
  goTo(viewer, op);
}

function goTo(viewer, op) {
  const { trial, lanes, view } = viewer, layout = laneLayout(lanes);
  const length = Math.max(SPAN_NS_MIN, lanes.shown[op] - trial.start[op]);
  const middle = (trial.start[op] + lanes.shown[op]) / 2;
  const lane = lanes.lane[op];
  if (lane < view.top || lane >= view.top + layout.rows) view.top = lane - (layout.rows >> 1);
  choose(viewer, op);
  show(viewer, middle - length * 8, middle + length * 8);
}

function choose(viewer, op) {
  viewer.selected = op;
  const list = document.createElement("dl");
  for (const [name, value] of op < 0 ? [] : fields(viewer, op)) {
    const row = document.createElement("div"), dt = document.createElement("dt"),
      dd = document.createElement("dd");
    dt.textContent = name;
    dd.textContent = value;
    dd.dir = "auto";
    row.append(dt, dd);
    list.append(row);
  }
  viewer.detail.replaceChildren(...(op < 0 ? [] : [list]));
  redraw(viewer);
}

function fields(viewer, i) {
  const { trial } = viewer, start = trial.start[i], ended = !trial.open[i];
  const all = [
    ["Operation", `${trial.kinds[trial.kind[i]]} #${trial.row[i]}`],
    ["Outcome", OUTCOMES[trial.outcome[i]]
      + (trial.outcome[i] === UNKNOWN ? ": may take effect at any later time" : "")],
    ["Key", trial.keys[trial.key[i]]],
    ["Input", trial.inputs[trial.input[i]]],
    ["Output", trial.outputs[trial.output[i]]],
    ["Process", trial.processes[trial.process[i]]],
    ["Node", trial.nodes[trial.node[i]]],
    ["Epoch", trial.epochs[trial.epoch[i]]],
    ["Sent at", `${readable(start, 1000)}`],
    ["Took", ended ? readable(trial.end[i] - start) : "no end was seen"],
    ["Late by", trial.late ? readable(trial.late[i]) : ""],
    ["Faults on", trial.windows.filter((w) => w.start <= viewer.lanes.shown[i]
      && (w.end ?? trial.duration) >= start).slice(0, 5).map((w) => w.label).join("; ")],
    ["Anomaly", trial.marks.filter((m) => m.op === i).map((m) => m.title).join("; ")],
  ];
  return all.filter(([, value]) => value !== "" && value !== undefined);
}
