// Latency and rate over the span on screen, with the faults behind them.

const BUCKET_PIXELS = 6;

// Buckets over the span on screen. Where it is wide they are sums of slices prepared before, and
// begin and end where those do; where it is narrow the few operations are counted one by one.
function bucketsOf(viewer, inner) {
  const { index, view } = viewer, wanted = Math.max(8, Math.floor(inner / BUCKET_PIXELS));
  const { perNs } = index.latency, slices = (view.to - view.from) * perNs;
  return slices >= wanted ? fromSlices(viewer, Math.ceil(slices / wanted)) : oneByOne(viewer, wanted);
}

function emptyBucket(from, to) {
  return { from, to, count: [0, 0, 0], classes: new Uint32Array(LATENCY_CLASSES), most: -1 };
}

function fromSlices(viewer, step) {
  const { trial, index, view } = viewer, { perNs, histogram, most } = index.latency, out = [];
  const first = Math.max(0, Math.floor(view.from * perNs / step) * step);
  for (let slice = first; slice / perNs < view.to && slice < LATENCY_SLICES; slice += step) {
    const end = Math.min(LATENCY_SLICES, slice + step);
    const bucket = emptyBucket(slice / perNs, Math.min(end / perNs, trial.duration));
    for (let s = slice; s < end; s++) {
      const base = s * LATENCY_CLASSES;
      for (let k = 0; k < LATENCY_CLASSES; k++) bucket.classes[k] += histogram[base + k];
      if (most[s] > bucket.most) bucket.most = most[s];
    }
    out.push(bucket);
  }
  for (const bucket of out) {
    const [a, b] = [sliceOf(index, bucket.from), sliceOf(index, bucket.to)];
    bucket.count = index.totals.map((total) => total[index.all + b] - total[index.all + a]);
  }
  return out;
}

function oneByOne(viewer, wanted) {
  const { trial, index, view, mask } = viewer, span = view.to - view.from;
  const out = Array.from({ length: wanted }, (_, b) =>
    emptyBucket(view.from + span * b / wanted, view.from + span * (b + 1) / wanted));
  for (let i = lowerBound(trial.start, view.from, 0, trial.n); i < trial.n; i++) {
    if (trial.start[i] > view.to) break;
    if (!mask[i]) continue;
    const at = Math.floor((trial.start[i] - view.from) / span * wanted);
    const bucket = out[Math.min(wanted - 1, at)];
    bucket.count[trial.outcome[i]]++;
    if (trial.latency[i] < 0) continue;
    bucket.classes[index.latency.classes[i]]++;
    bucket.most = Math.max(bucket.most, trial.latency[i]);
  }
  return out;
}

// The latency below which a part of a bucket lies, to a twelfth of a power of two; never more than
// the maximum, which is exact.
function quantile(bucket, part) {
  let left = 0;
  for (const n of bucket.classes) left += n;
  if (left === 0) return -1;
  left = Math.ceil(left * part);
  for (let k = 0; k < LATENCY_CLASSES; k++) {
    left -= bucket.classes[k];
    if (left <= 0) return Math.min(classLatency(k), bucket.most);
  }
  return bucket.most;
}

function drawLatency(viewer, c, buckets) {
  const { trial, view } = viewer, plane = prepare(viewer.canvas.latency, 150), { g } = plane;
  const top = 20, bottom = 140;
  const points = buckets.filter((b) => b.most >= 0).map((b) => ({ x: (b.from + b.to) / 2,
    p50: quantile(b, 0.5), p99: quantile(b, 0.99), max: b.most }));
  const low = Math.floor(Math.log10(Math.max(1, Math.min(...points.map((p) => p.p50)))));
  const high = Math.ceil(Math.log10(Math.max(10, ...points.map((p) => p.max))));
  drawGrid(plane, view, c, top, bottom, false);
  drawFaults(plane, view, c, trial.windows, trial.duration, top, bottom, false);
  if (points.length === 0) {
    g.fillStyle = c.soft;
    g.fillText("No operation on screen got an answer.", LEFT + 10, 80);
    return;
  }
  const y = (ns) => bottom - (Math.log10(Math.max(1, ns)) - low) / Math.max(1, high - low)
    * (bottom - top);
  for (let power = low; power <= high; power++) {
    g.fillStyle = c.rule;
    g.fillRect(LEFT, Math.round(y(10 ** power)), plane.inner, 1);
    g.fillStyle = c.soft;
    g.fillText(readable(10 ** power), 2, y(10 ** power));
  }
  clipped(plane, top - 4, bottom + 4, () => {
    for (const [name, dash, width] of [["p50", [], 2], ["p99", [5, 3], 1.5]]) {
      g.strokeStyle = c.ink;
      g.lineWidth = width;
      g.setLineDash(dash);
      g.beginPath();
      points.forEach((p, at) => g[at ? "lineTo" : "moveTo"](xOf(view, plane, p.x), y(p[name])));
      g.stroke();
    }
    g.setLineDash([]);
    g.fillStyle = c.broken;
    for (const p of points) g.fillRect(xOf(view, plane, p.x) - 1.5, y(p.max) - 1.5, 3, 3);
  });
  legend(plane, c, "━ p50   ╍ p99   ▪ max");
}

function clipped(plane, top, bottom, draw) {
  plane.g.save();
  plane.g.beginPath();
  plane.g.rect(LEFT, top, plane.inner, bottom - top);
  plane.g.clip();
  draw();
  plane.g.restore();
}

function legend(plane, c, words) {
  const { g } = plane;
  g.fillStyle = c.soft;
  g.textAlign = "right";
  g.fillText(words, plane.width - RIGHT, 8);
  g.textAlign = "left";
}

function drawRate(viewer, c, buckets) {
  const { trial, view } = viewer, plane = prepare(viewer.canvas.rate, 110), { g } = plane;
  const top = 18, bottom = 88;
  const rate = (b, outcome) => b.count[outcome] / Math.max(1e-9, (b.to - b.from) / 1e9);
  const sum = (b) => rate(b, OK) + rate(b, FAIL) + rate(b, UNKNOWN);
  const most = Math.max(1, ...buckets.map(sum));
  drawGrid(plane, view, c, top, bottom, true);
  drawFaults(plane, view, c, trial.windows, trial.duration, top, bottom, false);
  clipped(plane, top, bottom, () => {
    for (const b of buckets) {
      const x = xOf(view, plane, b.from), width = xOf(view, plane, b.to) - x - 0.6;
      let y = bottom;
      for (const [outcome, colour] of [[OK, c.ok], [FAIL, c.fail], [UNKNOWN, c.unknown]]) {
        const share = rate(b, outcome) / most * (bottom - top);
        // What happened at all is seen, however little it was.
        const height = share > 0 ? Math.max(1.5, share) : 0;
        g.fillStyle = colour;
        g.fillRect(x, y - height, Math.max(1, width), height);
        y -= height;
      }
    }
  });
  g.fillStyle = c.soft;
  g.fillText(`${grouped(most)}/s`, 2, top + 2);
  g.fillText("0", 2, bottom);
  legend(plane, c, "stacked: ok, fail, unknown");
}

// The whole trial in a strip, with the part on screen framed.
function drawStrip(viewer, c) {
  const { trial, index, view } = viewer, plane = prepare(viewer.canvas.strip, 34), { g } = plane;
  const whole = { from: 0, to: trial.duration }, columns = Math.floor(plane.inner / 2);
  const counts = OUTCOMES.map(() => new Float64Array(columns));
  let most = 1;
  for (let x = 0; x < columns; x++) {
    const a = Math.floor(x * index.slices / columns), b = Math.floor((x + 1) * index.slices / columns);
    let sum = 0;
    index.totals.forEach((total, o) => {
      sum += counts[o][x] = total[index.all + b] - total[index.all + a];
    });
    most = Math.max(most, sum);
  }
  drawFaults(plane, whole, c, trial.windows, trial.duration, 2, 32, false);
  const lift = new Float64Array(columns);
  [[OK, c.ok], [FAIL, c.fail], [UNKNOWN, c.unknown]].forEach(([o, colour]) => {
    g.fillStyle = colour;
    for (let x = 0; x < columns; x++) {
      if (!counts[o][x]) continue;
      const height = Math.max(1.5, counts[o][x] / most * 24);
      g.fillRect(LEFT + x * 2, 30 - lift[x] - height, 2, height);
      lift[x] += height;
    }
  });
  g.fillStyle = c.broken;
  for (const { op } of trial.marks) {
    g.fillRect(xOf(whole, plane, trial.start[op]) - 1, 0, 2.5, 34);
  }
  g.fillStyle = c.soft;
  g.fillText("whole trial", 2, 17);
  g.strokeStyle = c.ink;
  g.lineWidth = 1.5;
  const x = xOf(whole, plane, view.from), end = xOf(whole, plane, view.to);
  g.strokeRect(x, 1, Math.max(3, end - x), 32);
}
