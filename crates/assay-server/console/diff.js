// What changed between two texts, line by line. Pure.

/** Lines times lines that are compared; larger texts are shown as one block taken, one put. */
const CELLS_MAX = 4_000_000;

/** `[{ kind: "same" | "gone" | "new", text }]`, by a longest common subsequence. */
export function diff_lines(old_text, new_text) {
  const a = lines_of(old_text);
  const b = lines_of(new_text);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const middle = changed(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const same = (text) => ({ kind: "same", text });
  return [...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)];
}

function lines_of(text) {
  if (text === "") return [];
  const lines = String(text).split("\n");
  // A last line that ends is not followed by an empty one.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function changed(a, b) {
  const gone = (text) => ({ kind: "gone", text });
  const put = (text) => ({ kind: "new", text });
  if (a.length === 0 || b.length === 0 || a.length * b.length > CELLS_MAX) {
    return [...a.map(gone), ...b.map(put)];
  }
  // best[i][j]: how many lines a[i..] and b[j..] have in common, in order.
  const width = b.length + 1;
  const best = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      best[i * width + j] = a[i] === b[j]
        ? best[(i + 1) * width + j + 1] + 1
        : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      found.push({ kind: "same", text: a[i] });
      i += 1;
      j += 1;
    } else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) {
      found.push(gone(a[i]));
      i += 1;
    } else {
      found.push(put(b[j]));
      j += 1;
    }
  }
  return [...found, ...a.slice(i).map(gone), ...b.slice(j).map(put)];
}

const KINDS = { " ": "same", "-": "gone", "+": "new" };

/** The files of a unified diff: `[{ path, lines: [{ kind, text }] }]`; none if the text is no such diff. */
export function unified_files(text) {
  if (!/^--- .*\n\+\+\+ /.test(text)) return [];
  const files = [];
  // Lines of the hunk that are still to come: a line taken away can begin with `-- `, too.
  let [olds, news] = [0, 0];
  for (const line of lines_of(text)) {
    const kind = KINDS[line[0] ?? " "];
    const hunk = /^@@ -\d+,(\d+) \+\d+,(\d+) @@/.exec(line);
    if ((olds > 0 || news > 0) && kind) {
      files.at(-1)?.lines.push({ kind, text: line.slice(1) });
      if (kind !== "new") olds -= 1;
      if (kind !== "gone") news -= 1;
    } else if (hunk) {
      [olds, news] = [Number(hunk[1]), Number(hunk[2])];
    } else if (line.startsWith("+++ ")) {
      files.push({ path: line.slice(4), lines: [] });
    } else if (line.startsWith("[")) {
      // That the rest was left out.
      files.at(-1)?.lines.push({ kind: "same", text: line });
    }
  }
  return files;
}
