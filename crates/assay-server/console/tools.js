// Calls of tools: what was asked, what came out, and what somebody has to decide.

import { badge, button, field, fill, h } from "./dom.js";
import { diff_lines, unified_files } from "./diff.js";
import { clock, plural, span_of, text_of } from "./format.js";

/** Lines of a result that are shown before somebody asks for the rest. */
const LINES_SHOWN = 14;

const STATES = {
  called: ["called", "plain"],
  waits: ["waits for you", "unknown"],
  allowed: ["allowed", "ok"],
  denied: ["denied", "fail"],
  done: ["done", "ok"],
  failed: ["failed", "fail"],
};

/** One call on the page. `answers` sends: `answers.confirm(id, …)`, `answers.result(id, …)`. */
export class ToolCard {
  #use;
  #answers;
  #badge = badge("called");
  #took = h("span", { class: "took" });
  #form = h("div", { class: "answer" });
  #outcome = h("div", { class: "outcome" });
  #is_answered = false;

  constructor(use, answers) {
    this.#use = use;
    this.#answers = answers;
    const kind = { "agent.custom_tool_use": "custom tool", "agent.mcp_tool_use": "MCP tool" }[use.type];
    const server = use.mcp_server_name && ` · ${use.mcp_server_name}`;
    this.body = h("div", { class: "tool" },
      h("header", {},
        h("span", { class: "tool-name" }, use.name),
        h("span", { class: "muted" }, kind ?? "tool", server),
        this.#took, this.#badge),
      input_of(use), this.#form, this.#outcome);
    if (use.evaluated_permission === "deny") this.#state("denied");
  }

  get is_custom() { return this.#use.type === "agent.custom_tool_use"; }

  get name() { return this.#use.name; }

  #state(name) {
    const [word, tone] = STATES[name];
    this.#badge.textContent = word;
    this.#badge.className = `badge ${tone}`;
  }

  /** Somebody has to answer. */
  wait() {
    if (this.#is_answered || this.#form.firstChild) return;
    this.#state("waits");
    this.body.classList.add("waiting");
    fill(this.#form, this.is_custom ? this.#result_form() : this.#confirm_form());
  }

  /** Nobody has to, any more. */
  no_wait() {
    this.body.classList.remove("waiting");
    if (this.#form.firstChild) {
      fill(this.#form);
      if (!this.#is_answered) this.#state("called");
    }
  }

  #confirm_form() {
    const reason = h("input", { type: "text", maxlength: 2000, placeholder: "why not (optional)", "data-do": "why" });
    const id = this.#use.id;
    const allow = button("Allow", () => this.#answers.confirm(id, "allow"), { class: "primary", "data-do": "allow" });
    const deny = button("Deny", () => this.#answers.confirm(id, "deny", reason.value.trim()));
    reason.addEventListener("keydown", (event) => { if (event.key === "Enter") deny.click(); });
    return h("div", { class: "row", role: "group", "aria-label": `May ${this.name} run?` },
      h("span", { class: "ask" }, `May ${this.name} run?`), allow, deny,
      h("label", { class: "unseen-label" }, h("span", { class: "unseen" }, "Reason for denying"), reason));
  }

  #result_form() {
    const text = h("textarea", { rows: 3, "data-do": "answer" });
    const failed = h("input", { type: "checkbox" });
    const send = button("Send the result",
      () => this.#answers.result(this.#use.id, text.value, failed.checked), { class: "primary" });
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send.click();
    });
    return h("div", {},
      field(`What did ${this.name} give?`, text, "This tool is yours: run it, and say what came out."),
      h("div", { class: "row" }, send, h("label", { class: "check" }, failed, "it failed")));
  }

  /** A user decided. */
  confirm(event) {
    this.#is_answered = true;
    this.no_wait();
    this.#state(event.result === "allow" ? "allowed" : "denied");
    const why = event.deny_message ? `: ${event.deny_message}` : "";
    this.#outcome.append(h("p", { class: "decision", "data-event-id": event.id },
      event.result === "allow" ? "You allowed it" : `You denied it${why}`,
      h("time", { datetime: event.processed_at }, clock(event.processed_at))));
  }

  /** What came out. */
  result(event) {
    this.#is_answered = true;
    this.no_wait();
    this.#state(event.is_error ? "failed" : "done");
    const took = (new Date(event.processed_at) - new Date(this.#use.processed_at)) / 1000;
    if (took >= 0) this.#took.textContent = span_of(took);
    this.#outcome.append(h("div", { class: "result", "data-event-id": event.id },
      given(event.content, event.is_error)));
  }
}

/** What a tool gave; changes of files are shown as such. */
function given(content, is_error) {
  const blocks = Array.isArray(content) ? content : [];
  const files = blocks.map((block) => unified_files(String(block?.text ?? "")));
  if (files.every((some) => some.length === 0)) return output(text_of(content), is_error);
  return h("div", {}, blocks.map((block, index) =>
    files[index].length > 0 ? files[index].map(shown_diff) : output(text_of([block]), is_error)));
}

/** A result, with its end behind a button if it is long. */
export function output(text, is_error) {
  if (text === "") return h("p", { class: "muted" }, "no output");
  const lines = text.split("\n");
  const pre = h("pre", { class: is_error ? "output fail" : "output", tabindex: 0 });
  if (lines.length <= LINES_SHOWN + 2) return fill(pre, text);
  fill(pre, lines.slice(0, LINES_SHOWN).join("\n"));
  const more = h("button", { type: "button", class: "link" },
    `Show ${plural(lines.length - LINES_SHOWN, "more line")}`);
  more.addEventListener("click", () => { fill(pre, text); more.remove(); pre.focus(); });
  return h("div", {}, pre, more);
}

function input_of(use) {
  const input = use.input ?? {};
  const path = input.path ?? input.file_path;
  if (use.name === "edit" && typeof input.old_string === "string") {
    return diff_of(path, input.old_string, String(input.new_string ?? ""), input.replace_all && "everywhere");
  }
  const written = input.content ?? input.file_text;
  if (use.name === "write" && typeof written === "string") return diff_of(path, "", written);
  if (use.name === "bash" && typeof input.command === "string") {
    return h("pre", { class: "code command", tabindex: 0 }, input.command);
  }
  // What a program of the Agent Client Protocol is about to change.
  const files = typeof input.diff === "string" ? unified_files(input.diff) : [];
  const entries = Object.entries(input).filter(([name]) => name !== "diff" || files.length === 0);
  if (files.length > 0) return h("div", {}, fields_of(entries), files.map(shown_diff));
  if (entries.length === 0) return h("p", { class: "muted" }, "no input");
  return fields_of(entries);
}

function fields_of(entries) {
  return h("dl", { class: "input" }, entries.map(([name, value]) => [
    h("dt", {}, name),
    h("dd", {}, typeof value === "string" ? value : JSON.stringify(value, null, 1)),
  ]));
}

const SIGNS = { same: " ", gone: "−", new: "+" };
const WORDS = { same: "", gone: "taken away: ", new: "added: " };

/** A change of a file. Signs stand beside the colours. */
export function diff_of(path, old_text, new_text, note) {
  return shown_diff({ path, lines: diff_lines(old_text, new_text), note });
}

function shown_diff({ path, lines, note }) {
  const number = (kind) => lines.filter((line) => line.kind === kind).length;
  return h("figure", { class: "diff" },
    h("figcaption", {}, h("code", {}, path ?? "a file"),
      h("span", { class: "muted" }, `+${number("new")} −${number("gone")}`, note && ` · ${note}`)),
    h("div", { class: "lines", tabindex: 0, role: "group", "aria-label": `Change of ${path ?? "a file"}` },
      lines.map((line) => h("div", { class: `line ${line.kind}` },
        h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[line.kind]),
        h("span", { class: "unseen" }, WORDS[line.kind]),
        h("span", { class: "text" }, line.text)))));
}
