// The parts of the page that are functions of their input, on inputs by chance: a diff gives both
// texts back and keeps as much as can be kept, a stream is the same however it is cut, waiting has
// a bound, and Markdown loses no word.

import { assert, play, told } from "./stage.mjs";

const ROUNDS = 300;

await play(async (stage) => {
  const { page } = stage;
  await stage.sign_in();
  const seed = told.more.seed;
  console.log(`seed ${seed}`);
  const wrong = await page.evaluate(async ([first, rounds]) => {
    const { diff_lines, unified_files } = await import("/console/diff.js");
    const { Frames } = await import("/console/sse.js");
    const { wait_ms } = await import("/console/tail.js");
    const { markdown } = await import("/console/markdown.js");
    let state = first >>> 0;
    const below = (limit) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor(state / 2 ** 32 * limit);
    };
    const some = (count, make) => Array.from({ length: below(count) }, make);
    const found = [];
    const same = (what, got, expected) => {
      if (JSON.stringify(got) !== JSON.stringify(expected)) found.push({ what, got, expected });
    };

    // The slow twin of the diff: try everything.
    const common = (a, b) => {
      if (a.length === 0 || b.length === 0) return 0;
      const [[x, ...as], [y, ...bs]] = [a, b];
      return x === y ? 1 + common(as, bs) : Math.max(common(as, b), common(a, bs));
    };
    for (let round = 0; round < rounds; round += 1) {
      const [a, b] = [some(8, () => "abc"[below(3)]), some(8, () => "abc"[below(3)])];
      const lines = diff_lines(a.join("\n"), b.join("\n"));
      const text = (kind) => lines.filter((line) => line.kind !== kind).map((line) => line.text);
      same("the old text", text("new"), a);
      same("the new text", text("gone"), b);
      same("lines that stay", lines.filter((line) => line.kind === "same").length, common(a, b));
    }
    const many = Array.from({ length: 3000 }, (_, line) => `line ${line}`);
    const other = many.map((line) => `${line}!`);
    same("a large diff", diff_lines(many.join("\n"), other.join("\n")).length, 6000);

    // Changes as programs write them; lines may look like heads.
    const change = "--- a\n+++ a\n@@ -1,2 +1,1 @@\n-- x\n same\n--- /dev/null\n+++ b\n@@ -0,0 +1,2 @@\n+++ y\n+z\n\\ No newline at end of file\n";
    const line = (kind, text) => ({ kind, text });
    same("a change of two files", unified_files(change), [
      { path: "a", lines: [line("gone", "- x"), line("same", "same")] },
      { path: "b", lines: [line("new", "++ y"), line("new", "z")] },
    ]);
    same("no change", unified_files("--- a rule\nand text"), []);

    // A stream in pieces.
    for (let round = 0; round < rounds; round += 1) {
      const frames = some(6, (_, at) => ({ id: `sevt_${at}`, event: "agent.message", data: JSON.stringify({ at, text: "é\\n" }) }));
      const end = below(2) ? "\n" : "\r\n";
      let text = frames.map(({ id, event, data }) =>
        `${below(3) ? "" : `: still here${end}${end}`}id: ${id}${end}event: ${event}${end}data: ${data}${end}${end}`).join("");
      const reader = new Frames();
      const got = [];
      while (text !== "") {
        // A line end is not cut in two: nobody sends one of ours so.
        let size = 1 + below(20);
        if (text[size - 1] === "\r") size += 1;
        got.push(...reader.push(text.slice(0, size)));
        text = text.slice(size);
      }
      same("frames", got, frames);
    }

    for (let attempt = 0; attempt < 100; attempt += 1) {
      const [least, most] = [wait_ms(attempt, 0), wait_ms(attempt, 0.999)];
      if (!(least >= 375 && most <= 15_000 && least <= most)) found.push({ what: "waits", attempt, least, most });
    }

    const words = ["# a", "- b", "1. c", "> d", "```", "`e`", "**f**", "g", "", "<h>", "*", "`", "**"];
    for (let round = 0; round < rounds; round += 1) {
      const text = some(10, () => words[below(words.length)]).join("\n");
      const shown = document.createElement("div");
      shown.append(...markdown(text));
      for (const word of ["a", "b", "c", "d", "e", "f", "g", "<h>"]) {
        const count = (all) => all.split(word).length;
        if (count(shown.textContent) !== count(text)) found.push({ what: "words", text, shown: shown.textContent });
      }
    }
    return found.slice(0, 3);
  }, [seed, ROUNDS]);
  assert.deepEqual(wrong, []);
});
