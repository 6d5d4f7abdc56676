// The operations of each process as bars; where they are too many, as a density.

const HEAD = 20, FOOT = 20, LANES_HEIGHT_MAX = 480, BARS_MAX = 6000, TAILS_MAX = 300;

function laneLayout(lanes) {
  const height = lanes.count <= 20 ? 22 : 15;
  const fit = Math.floor((LANES_HEIGHT_MAX - HEAD - FOOT) / height);
  const rows = Math.max(1, Math.min(lanes.count, fit));
  return { height, rows, total: HEAD + rows * height + FOOT };
}

function drawLanes(viewer, c) {
  const { trial, lanes, index, view } = viewer, layout = laneLayout(lanes);
  const plane = prepare(viewer.canvas.lanes, layout.total), { g } = plane;
  const bottom = HEAD + layout.rows * layout.height;
  view.top = Math.max(0, Math.min(view.top, lanes.count - layout.rows));
  for (let row = 0; row < layout.rows; row++) {
    const y = HEAD + row * layout.height;
    g.fillStyle = row % 2 ? c.paper : c.sheet;
    g.fillRect(LEFT, y, plane.inner, layout.height);
    g.fillStyle = c.soft;
    let name = lanes.names[view.top + row] ?? "";
    if (name.length > 11) name = `${name.slice(0, 10)}…`;
    g.fillText(name, 2, y + layout.height / 2);
  }
  g.fillStyle = c.soft;
  g.fillText("process", 2, 9);
  drawGrid(plane, view, c, HEAD, bottom, true);
  drawFaults(plane, view, c, trial.windows, trial.duration, HEAD, bottom, true);
  g.save();
  g.beginPath();
  g.rect(LEFT, HEAD - 1, plane.inner, bottom - HEAD + 2);
  g.clip();
  const inView = countIn(index, view.from, view.to);
  const dense = inView > BARS_MAX && slicesPerPixel(index, view, plane) >= 1;
  if (dense) drawDensity(viewer, plane, layout, c);
  else drawBars(viewer, plane, layout, c, visibleOps(viewer, layout), inView <= BARS_MAX);
  drawMarks(viewer, plane, layout, c);
  g.restore();
  viewer.root.dataset.detail = dense ? "density" : "bars";
}

const slicesPerPixel = (index, view, plane) => (view.to - view.from) * index.perNs / plane.inner;

// Operations of the lanes on screen that overlap the span on screen and pass the filter.
function visibleOps(viewer, layout) {
  const { trial, lanes, view, mask } = viewer, found = [];
  for (let row = 0; row < layout.rows; row++) {
    const lane = view.top + row, end = lanes.from[lane + 1];
    for (let at = lowerBound(lanes.reach, view.from, lanes.from[lane], end); at < end; at++) {
      const i = lanes.ops[at];
      if (trial.start[i] > view.to) break;
      if (mask[i] && lanes.shown[i] >= view.from) found.push(i);
    }
  }
  return found;
}

function box(viewer, plane, layout, i) {
  const { trial, lanes, view } = viewer;
  const left = Math.max(LEFT - 4, xOf(view, plane, trial.start[i]));
  const right = Math.min(LEFT + plane.inner + 4, xOf(view, plane, lanes.shown[i]));
  const y = HEAD + (lanes.lane[i] - view.top) * layout.height + 3;
  return { x: left, y, w: Math.max(1.5, right - left), h: layout.height - 6 };
}

function drawBars(viewer, plane, layout, c, ops, rich) {
  const { trial } = viewer, { g } = plane;
  const fill = [c.ok, c.fail, c.unknown];
  const byOutcome = [[], [], []];
  for (const i of ops) byOutcome[trial.outcome[i]].push(i);
  if (rich && byOutcome[UNKNOWN].length <= TAILS_MAX) {
    tails(viewer, plane, layout, c, byOutcome[UNKNOWN]);
  }
  byOutcome.forEach((group, outcome) => {
    g.fillStyle = fill[outcome];
    g.beginPath();
    for (const i of group) {
      const b = box(viewer, plane, layout, i);
      g.rect(b.x, b.y, b.w, b.h);
    }
    g.fill();
    if (rich) outline(viewer, plane, layout, c, group, outcome);
  });
  if (!rich) return;
  g.fillStyle = "#0b1622";
  for (const i of ops) {
    const b = box(viewer, plane, layout, i);
    if (b.w < 44 || layout.height < 20) continue;
    const x = Math.max(b.x, LEFT), room = Math.floor((b.x + b.w - x - 6) / 6.2);
    const words = label(trial, i);
    g.fillText(words.length > room ? `${words.slice(0, Math.max(0, room - 1))}…` : words,
      x + 4, b.y + b.h / 2 + 0.5);
  }
}

// The shape says what the colour says: fail is dashed, unknown has no right edge.
function outline(viewer, plane, layout, c, group, outcome) {
  const { g } = plane;
  g.strokeStyle = c.edge;
  g.lineWidth = 1;
  g.setLineDash(outcome === FAIL ? [3, 2] : []);
  g.beginPath();
  for (const i of group) {
    const b = box(viewer, plane, layout, i);
    if (b.w < 5) continue;
    if (outcome !== UNKNOWN) {
      g.rect(b.x + 0.5, b.y + 0.5, b.w - 1, b.h - 1);
      continue;
    }
    g.moveTo(b.x + b.w, b.y + 0.5);
    g.lineTo(b.x + 0.5, b.y + 0.5);
    g.lineTo(b.x + 0.5, b.y + b.h - 0.5);
    g.lineTo(b.x + b.w, b.y + b.h - 0.5);
  }
  g.stroke();
  g.setLineDash([]);
}

// What may still take effect: an arrow, and a thin line for as long as it may.
function tails(viewer, plane, layout, c, group) {
  const { g } = plane, edge = LEFT + plane.inner;
  g.strokeStyle = g.fillStyle = c.unknown;
  g.setLineDash([2, 4]);
  for (const i of group) {
    const b = box(viewer, plane, layout, i), x = b.x + b.w, y = b.y + b.h - 1;
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(edge, y);
    g.stroke();
    g.beginPath();
    g.moveTo(x, b.y);
    g.lineTo(x + 6, b.y + b.h / 2);
    g.lineTo(x, b.y + b.h);
    g.fill();
  }
  g.setLineDash([]);
}

// Four strengths of blue say how many; fail and unknown are seen however few they are, and take
// the more room the larger their share is.
function drawDensity(viewer, plane, layout, c) {
  const { trial, index, view } = viewer, { g } = plane, column = 2;
  const strengths = [[], [], [], []], fails = [[], [], []], unknowns = [[], [], []];
  const step = (part, of) => (part * 50 < of ? 0 : part * 10 < of ? 1 : 2);
  const spread = Math.log2(2 + index.matching / plane.inner);
  for (let row = 0; row < layout.rows; row++) {
    const base = (view.top + row) * index.width, y = HEAD + row * layout.height + 3;
    let from = sliceOf(index, nsOf(view, plane.inner, LEFT));
    for (let x = LEFT; x < LEFT + plane.inner; x += column) {
      const to = sliceOf(index, nsOf(view, plane.inner, x + column));
      const count = (o) => index.totals[o][base + to] - index.totals[o][base + from];
      const ok = count(OK), fail = count(FAIL), unknown = count(UNKNOWN);
      const sum = ok + fail + unknown;
      if (ok) strengths[Math.min(3, Math.floor(3 * Math.log2(1 + ok) / spread))].push(x, y);
      if (fail) fails[step(fail, sum)].push(x, y);
      if (unknown) unknowns[step(unknown, sum)].push(x, y);
      from = to;
    }
  }
  const paint = (at, colour, alpha, top, height) => {
    g.fillStyle = colour;
    g.globalAlpha = alpha;
    g.beginPath();
    for (let i = 0; i < at.length; i += 2) g.rect(at[i], at[i + 1] + top, column, height);
    g.fill();
    g.globalAlpha = 1;
  };
  const h = layout.height - 6;
  strengths.forEach((at, s) => paint(at, c.ok, [0.35, 0.55, 0.78, 1][s], 0, h));
  for (const [s, part] of [0.15, 0.3, 0.48].entries()) {
    paint(fails[s], c.fail, 1, h * (1 - part), h * part);
    paint(unknowns[s], c.unknown, 1, 0, h * part);
  }
  const wide = (i) => {
    const b = box(viewer, plane, layout, i);
    const lane = viewer.lanes.lane[i] - view.top;
    const meets = trial.start[i] <= view.to && viewer.lanes.shown[i] >= view.from;
    return meets && b.w > 3 && lane >= 0 && lane < layout.rows;
  };
  drawBars(viewer, plane, layout, c, index.long.filter(wide), false);
}

const sliceOf = (index, ns) => Math.max(0, Math.min(index.slices, Math.floor(ns * index.perNs)));

function drawMarks(viewer, plane, layout, c) {
  const { trial, lanes, view, selected } = viewer, { g } = plane;
  const onScreen = (i) => lanes.lane[i] >= view.top && lanes.lane[i] < view.top + layout.rows
    && trial.start[i] <= view.to && lanes.shown[i] >= view.from;
  const frame = (i, colour, out, width) => {
    const b = box(viewer, plane, layout, i);
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.strokeRect(b.x - out, b.y - out, b.w + 2 * out, b.h + 2 * out);
    return b;
  };
  for (const { op } of trial.marks) {
    if (!onScreen(op)) continue;
    const b = frame(op, c.broken, 1, 2.5);
    if (b.w > 44) continue;
    g.strokeStyle = c.broken;
    const x = b.x + b.w / 2, y = b.y + b.h / 2;
    g.beginPath();
    g.moveTo(x - 4, y - 4);
    g.lineTo(x + 4, y + 4);
    g.moveTo(x + 4, y - 4);
    g.lineTo(x - 4, y + 4);
    g.stroke();
  }
  if (selected >= 0 && onScreen(selected)) frame(selected, c.ink, 3, 1.5);
}

function label(trial, i) {
  const input = trial.inputs[trial.input[i]], output = trial.outputs[trial.output[i]];
  const key = trial.keys[trial.key[i]], kind = trial.kinds[trial.kind[i]];
  return `${kind} ${key} ${input}${output ? ` → ${output}` : ""}`.replace(/ +/g, " ").trim();
}
