// What all canvases share: sharp pixels, colours of the page, the time axis, shaded faults.

const LEFT = 78, RIGHT = 10;

function colours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["paper", "sheet", "ink", "soft", "rule", "broken", "ok", "unknown", "fail",
    "fault", "fault-ink", "edge"];
  return Object.fromEntries(names.map((n) => [n, style.getPropertyValue(`--${n}`).trim()]));
}

// A canvas ready to be drawn on, in CSS pixels; its height is given, its width is that of the page.
function prepare(canvas, height) {
  const width = Math.max(200, canvas.clientWidth), ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.height = `${height}px`;
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  g.textAlign = "left";
  return { g, width, height, inner: width - LEFT - RIGHT };
}

const xOf = (view, plane, ns) => LEFT + (ns - view.from) / (view.to - view.from) * plane.inner;
const nsOf = (view, inner, x) => view.from + (x - LEFT) / inner * (view.to - view.from);

const grouped = (n) => Math.round(n).toLocaleString("en-US");

// A duration in the unit that suits it; `step` says how fine it has to be.
function readable(ns, step = Math.abs(ns) / 1000) {
  const size = Math.abs(ns);
  const [unit, scale] = size >= 1e9 || step >= 1e8 ? ["s", 1e9]
    : size >= 1e6 ? ["ms", 1e6] : size >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.max(step, 1) / scale))));
  const value = (ns / scale).toFixed(digits);
  return `${digits ? value.replace(/\.?0+$/, "") : value} ${unit}`;
}

// Round steps of time, about one for each hundred pixels.
function ticks(view, inner) {
  const raw = (view.to - view.from) / Math.max(2, inner / 110);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw));
  const out = [];
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) out.push(at);
  return { step, out };
}

function drawGrid(plane, view, c, top, bottom, labels) {
  const { g } = plane, { step, out } = ticks(view, plane.inner);
  g.fillStyle = c.rule;
  for (const at of out) g.fillRect(Math.round(xOf(view, plane, at)), top, 1, bottom - top);
  if (!labels) return;
  g.fillStyle = c.soft;
  g.textAlign = "center";
  for (const at of out) {
    const x = Math.max(LEFT + 14, Math.min(plane.width - RIGHT - 18, xOf(view, plane, at)));
    g.fillText(readable(at, step), x, bottom + 9);
  }
  g.textAlign = "left";
}

// Times in which a fault was on. One whose landing is not proven is hatched, not filled.
function drawFaults(plane, view, c, windows, duration, top, bottom, labels) {
  const { g } = plane;
  g.save();
  g.beginPath();
  g.rect(LEFT, 0, plane.inner, plane.height);
  g.clip();
  let free = -Infinity;
  for (const fault of windows) {
    const x = xOf(view, plane, fault.start), end = xOf(view, plane, fault.end ?? duration);
    if (end < LEFT || x > LEFT + plane.inner) continue;
    const width = Math.max(2, end - x);
    g.globalAlpha = 0.16;
    g.fillStyle = c.fault;
    if (fault.landed === "landed") g.fillRect(x, top, width, bottom - top);
    else hatch(g, c, Math.max(x, LEFT), top, Math.min(end, LEFT + plane.inner), bottom);
    g.globalAlpha = 1;
    g.fillRect(x, top, 1.5, bottom - top);
    if (fault.end !== null) g.fillRect(end - 1.5, top, 1.5, bottom - top);
    const at = Math.max(x, LEFT) + 4;
    if (!labels || at < free) continue;
    g.fillStyle = c["fault-ink"];
    g.font = "600 11px system-ui, sans-serif";
    const words = `${fault.label} (${fault.landed})`;
    g.fillText(words, at, 9);
    free = at + g.measureText(words).width + 12;
  }
  g.restore();
}

function hatch(g, c, left, top, right, bottom) {
  g.save();
  g.beginPath();
  g.rect(left, top, right - left, bottom - top);
  g.clip();
  g.globalAlpha = 0.45;
  g.strokeStyle = c.fault;
  g.beginPath();
  for (let x = left - (bottom - top); x < right; x += 8) {
    g.moveTo(x, bottom);
    g.lineTo(x + bottom - top, top);
  }
  g.stroke();
  g.restore();
}
