// The little Markdown that agents write, as elements: fences, headings, lists, quotes, `code`,
// **strong**. Everything else stands as it was written. Links are shown, not made: an agent's text
// leads nowhere by itself.

import { h } from "./dom.js";

/** Longer texts are shown as they are. */
const CHARS_MAX = 200_000;

/** The elements of a text. */
export function markdown(text) {
  if (text.length > CHARS_MAX) return [h("pre", { class: "plain" }, text)];
  const lines = text.split("\n");
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const [block, next] = block_at(lines, at);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

function block_at(lines, at) {
  const line = lines[at];
  const fence = line.match(/^\s*(```+|~~~+)\s*([\w+#.-]*)/);
  if (fence) return fenced(lines, at, fence);
  if (line.trim() === "") return [undefined, at + 1];
  const heading = line.match(/^(#{1,6})\s+(.*)$/);
  if (heading) return [h("p", { class: "heading" }, inline(heading[2])), at + 1];
  const lists = [[/^\s*[-*+]\s+(.*)$/, "ul"], [/^\s*\d{1,9}[.)]\s+(.*)$/, "ol"]];
  for (const [pattern, tag] of lists) {
    if (pattern.test(line)) return gathered(lines, at, pattern, (items) =>
      h(tag, {}, items.map((item) => h("li", {}, inline(item)))));
  }
  if (/^>/.test(line)) {
    return gathered(lines, at, /^>\s?(.*)$/, (quoted) =>
      h("blockquote", {}, quoted.map((one) => h("p", {}, inline(one)))));
  }
  const is_text = (other) => other.trim() !== "" && !/^(\s*(```|~~~|[-*+]\s|\d+[.)]\s)|#{1,6}\s|>)/.test(other);
  let end = at + 1;
  while (end < lines.length && is_text(lines[end])) end += 1;
  return [h("p", {}, inline(lines.slice(at, end).join("\n"))), end];
}

function fenced(lines, at, [, fence, language]) {
  let end = at + 1;
  while (end < lines.length && !lines[end].trimStart().startsWith(fence)) end += 1;
  const code = h("pre", { class: "code", tabindex: 0 }, lines.slice(at + 1, end).join("\n"));
  if (language) code.setAttribute("data-language", language);
  return [code, end + 1];
}

function gathered(lines, at, pattern, make) {
  const items = [];
  let end = at;
  for (; end < lines.length && pattern.test(lines[end]); end += 1) {
    items.push(lines[end].match(pattern)[1]);
  }
  return [make(items), end];
}

/** `code` and **strong** within a line. */
function inline(text) {
  // Every second part is one of the two; what stands between them is text, whatever it looks like.
  const parts = text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/);
  return parts.map((part, index) => {
    if (index % 2 === 0) return part;
    return part.startsWith("`") ? h("code", {}, part.slice(1, -1)) : h("strong", {}, part.slice(2, -2));
  });
}
