// Unpacks the operations of a trial. The layout is described where it is written, in columns.rs.

const OK = 0, FAIL = 1, UNKNOWN = 2;
const OUTCOMES = ["ok", "fail", "unknown"];

async function unpack(base64) {
  const packed = typeof Uint8Array.fromBase64 === "function"
    ? Uint8Array.fromBase64(base64)
    : Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return decode(new Uint8Array(await new Response(stream).arrayBuffer()));
}

function decode(raw) {
  const headLength = new DataView(raw.buffer).getUint32(0, true);
  const text = new TextDecoder();
  const head = JSON.parse(text.decode(raw.subarray(4, 4 + headLength)));
  const part = {};
  let at = 4 + headLength;
  for (const [name, length] of head.columns) {
    part[name] = raw.subarray(at, at + length);
    at += length;
  }
  const n = head.ops;
  const trial = { n, windows: head.windows, outcome: part.outcome, schedule: "late" in part };
  times(trial, head, part);
  trial.row = rows(part.row, n);
  for (const [ids, texts] of [["process", "processes"], ["kind", "kinds"], ["key", "keys"],
    ["node", "nodes"], ["epoch", "epochs"], ["input", "inputs"], ["output", "outputs"]]) {
    trial[ids] = firstUse(part[ids], n);
    trial[texts] = text.decode(part[texts]).split("\n").slice(0, -1);
  }
  const place = new Map(head.marks.map((mark) => [mark.row, -1]));
  for (let i = 0; i < n; i++) if (place.has(trial.row[i])) place.set(trial.row[i], i);
  trial.marks = head.marks.map((mark) => ({ op: place.get(mark.row), title: mark.title }))
    .sort((a, b) => a.op - b.op);
  return trial;
}

function varints(bytes, out) {
  let at = 0;
  for (let i = 0; i < out.length; i++) {
    let byte = bytes[at++], value = byte & 127, scale = 128;
    while (byte > 127) {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    }
    out[i] = value;
  }
  return out;
}

// Start, end, whether the end is open, and the latency of what was answered.
function times(trial, head, part) {
  const n = trial.n;
  const start = varints(part.start, new Float64Array(n));
  const end = varints(part.span, new Float64Array(n));
  const late = "late" in part ? varints(part.late, new Float64Array(n)) : null;
  const open = new Uint8Array(n), latency = new Float64Array(n);
  let sum = 0, last = 0;
  for (let i = 0; i < n; i++) {
    sum += start[i];
    start[i] = sum;
    const span = end[i];
    open[i] = span === 0 ? 1 : 0;
    end[i] = span === 0 ? NaN : sum + span - 1;
    const answered = span > 0 && trial.outcome[i] !== UNKNOWN;
    latency[i] = answered ? span - 1 + (late ? late[i] : 0) : -1;
    last = Math.max(last, span === 0 ? sum : end[i]);
  }
  for (const fault of trial.windows) last = Math.max(last, fault.end ?? fault.start);
  Object.assign(trial, { start, end, open, latency, late });
  trial.duration = Math.max(head.duration, last, 1);
}

function rows(bytes, n) {
  const out = varints(bytes, new Float64Array(n));
  for (let i = 0, expected = 0; i < n; i++) {
    const folded = out[i];
    out[i] = expected + (folded % 2 ? -(folded + 1) / 2 : folded / 2);
    expected = out[i] + 1;
  }
  return out;
}

function firstUse(bytes, n) {
  const out = varints(bytes, new Uint32Array(n));
  for (let i = 0, next = 0; i < n; i++) out[i] = out[i] === 0 ? next++ : out[i] - 1;
  return out;
}
