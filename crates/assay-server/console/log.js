// The events of a session as a list on the page. Each event has one element with its id. Results
// and decisions go into the card of their call, ends of model requests into the row of their
// beginning; whatever comes before its partner (older pages come last) waits as a row of its own.

import { badge, fill, h } from "./dom.js";
import { clock, span_of, text_of, usage_words } from "./format.js";
import { markdown } from "./markdown.js";
import { ToolCard, output } from "./tools.js";

/** Rows on the page while its end is watched; older ones are taken away and can be loaded again. */
const ROWS_MAX = 1500;
const ROWS_KEPT = 1000;

const TOOL_USES = ["agent.tool_use", "agent.custom_tool_use", "agent.mcp_tool_use"];

/** The call that an event belongs to. */
function call_of(event) {
  return event.tool_use_id ?? event.custom_tool_use_id ?? event.mcp_tool_use_id;
}

export class Log {
  #answers;
  #cards = new Map();
  #requests = new Map();
  /** Rows that wait for their partner, by its id. */
  #orphans = new Map();
  #waiting = [];
  #newest = "";
  element = h("ol", { class: "log", "aria-label": "Events" });

  constructor(answers) { this.#answers = answers; }

  /** Puts events in front. */
  prepend(events) {
    const rows = document.createDocumentFragment();
    for (const event of events) this.#place(event, rows);
    this.element.prepend(rows);
    this.#show_waiting();
  }

  /** Puts events behind. */
  append(events) {
    for (const event of events) this.#place(event, this.element);
    this.#show_waiting();
  }

  /** A row that is no event. */
  note(...children) {
    const row = h("li", { class: "row-note" }, ...children);
    this.element.append(row);
    return row;
  }

  /** Takes the oldest rows away if there are very many; gives the id of the first that stays. */
  trim() {
    const rows = this.element.children;
    if (rows.length <= ROWS_MAX) return undefined;
    while (rows.length > ROWS_KEPT || (rows[0] && !rows[0].dataset.eventId)) {
      for (const gone of [rows[0], ...rows[0].querySelectorAll("[data-event-id]")]) {
        const id = gone.dataset.eventId;
        this.#cards.delete(id);
        this.#requests.delete(id);
      }
      rows[0].remove();
    }
    return rows[0]?.dataset.eventId;
  }

  /** Cards of calls that wait for an answer. */
  waiting_cards() {
    return this.#waiting.map((id) => this.#cards.get(id)).filter((card) => card);
  }

  /** Calls that wait, also those that are not on the page. */
  get waiting() { return this.#waiting; }

  #place(event, rows) {
    this.#follow_waits(event);
    if (this.#fold(event)) return;
    const row = h("li", { "data-event-id": event.id, "data-type": event.type, tabindex: -1 });
    const [kind, label, ...body] = this.#render(event);
    row.className = `event ${kind}`;
    row.append(h("div", { class: "gutter" },
      h("span", { class: "who" }, label),
      h("time", { datetime: event.processed_at, title: event.processed_at }, clock(event.processed_at))),
    fill(h("div", { class: "body" }), ...body));
    rows.append(row);
    this.#adopt(event.id);
  }

  /** What waits for an answer is what the last rest says, without what was answered since. */
  #follow_waits(event) {
    if (event.id <= this.#newest) return;
    this.#newest = event.id;
    const call = call_of(event);
    if (event.type === "session.status_idle") {
      this.#waiting = event.stop_reason?.type === "requires_action" ? [...event.stop_reason.event_ids] : [];
    } else if (event.type.startsWith("session.status_") || event.type === "session.error") {
      this.#waiting = [];
    } else if (call) {
      this.#waiting = this.#waiting.filter((id) => id !== call);
    }
  }

  #show_waiting() {
    for (const [id, card] of this.#cards) {
      if (this.#waiting.includes(id)) card.wait();
      else card.no_wait();
    }
  }

  /** Puts an event into the row of its partner, if that is here. */
  #fold(event) {
    const card = this.#cards.get(call_of(event));
    const request = this.#requests.get(event.model_request_start_id);
    if (card && event.type === "user.tool_confirmation") card.confirm(event);
    else if (card) card.result(event);
    else if (request) request(event);
    else return false;
    return true;
  }

  /** Takes in what came before its partner. */
  #adopt(id) {
    for (const [event, row] of this.#orphans.get(id) ?? []) {
      if (this.#fold(event)) row().remove();
    }
    this.#orphans.delete(id);
  }

  #orphan(partner, event) {
    const row = () => this.element.querySelector(`:scope > [data-event-id="${CSS.escape(event.id)}"]`);
    this.#orphans.set(partner, [...this.#orphans.get(partner) ?? [], [event, row]]);
  }

  /** `[class, label, ...elements]` of an event. */
  #render(event) {
    if (TOOL_USES.includes(event.type)) {
      const card = new ToolCard(event, this.#answers);
      this.#cards.set(event.id, card);
      return ["call", "Tool", card.body];
    }
    const partner = call_of(event) ?? event.model_request_start_id;
    if (partner) this.#orphan(partner, event);
    return (RENDER[event.type] ?? unknown)(event, this);
  }

  /** A request to a model: its row, and how its end is put there. */
  request(event) {
    const words = h("span", { class: "muted" }, "asked the model…");
    this.#requests.set(event.id, (end) => {
      const took = (new Date(end.processed_at) - new Date(event.processed_at)) / 1000;
      fill(words, `model request · tokens ${usage_words(end.model_usage)} ${took > 0 ? ` · ${span_of(took)}` : ""}`);
      words.dataset.eventId = end.id;
      if (end.is_error) words.append(" ", badge("failed", "fail"));
    });
    return words;
  }
}

function blocks(event) {
  return h("div", { class: "text" }, markdown(text_of(event.content)));
}

const STOPS = {
  end_turn: ["idle", "plain", "the turn has ended"],
  requires_action: ["paused", "plain", "for an answer"],
  retries_exhausted: ["idle", "fail", "trying again did not help"],
};

const RETRIES = { retrying: "it will be tried again", exhausted: "tried often enough", terminal: "not tried again" };

function status(word, tone, text) {
  return ["status detail", "Status", badge(word, tone), " ", h("span", { class: "muted" }, text)];
}

const RENDER = {
  "user.message": (event) => ["user", "You", blocks(event)],
  "agent.message": (event) => ["agent", "Agent", blocks(event)],
  "agent.thinking": (event) => {
    const text = event.thinking ?? text_of(event.content);
    return ["thinking detail", "Agent", text
      ? h("details", {}, h("summary", { class: "muted" }, "thinks"), h("p", { class: "plain" }, text))
      : h("span", { class: "muted" }, "thinks")];
  },
  "user.interrupt": () => ["interrupt", "You", badge("interrupt", "unknown"), " you asked the agent to stop"],
  "user.custom_tool_result": (event) => ["call", "You", output(text_of(event.content), event.is_error)],
  "agent.tool_result": (event) => ["call", "Tool", output(text_of(event.content), event.is_error)],
  "agent.mcp_tool_result": (event) => ["call", "Tool", output(text_of(event.content), event.is_error)],
  "user.tool_confirmation": (event) => ["call", "You",
    event.result === "allow" ? "You allowed a tool" : `You denied a tool${event.deny_message ? `: ${event.deny_message}` : ""}`],
  "session.status_running": () => status("running", "ok", "the agent works"),
  "session.status_rescheduled": () => status("trying again", "unknown", "the turn will be tried again"),
  "session.status_idle": (event) => status(...STOPS[event.stop_reason?.type] ?? ["idle", "plain", ""]),
  "session.status_terminated": () => status("terminated", "fail", "nothing will run here again"),
  "session.deleted": () => status("deleted", "fail", "this session is gone"),
  "session.error": (event) => ["error", "Error",
    h("p", {}, badge(String(event.error?.type ?? "error"), "fail"), " ", event.error?.message),
    h("p", { class: "muted" }, RETRIES[event.error?.retry_status?.type] ?? "")],
  "span.model_request_start": (event, log) => ["request detail", "Model", log.request(event)],
  "span.model_request_end": (event) => ["request detail", "Model",
    h("span", { class: "muted" }, `model request · tokens ${usage_words(event.model_usage)}`)],
};

/** A type this console does not know is shown as it is. */
function unknown(event) {
  return ["other detail", "Event", h("details", {}, h("summary", {}, event.type),
    h("pre", { class: "code", tabindex: 0 }, JSON.stringify(event, null, 2)))];
}

/** What to read out about an event; nothing for what only fills the page. */
export function spoken(event) {
  const text = (prefix) => `${prefix}: ${text_of(event.content).slice(0, 300)}`;
  if (TOOL_USES.includes(event.type)) return `The agent calls ${event.name}`;
  switch (event.type) {
    case "agent.message": return text("Agent");
    case "user.message": return text("You");
    case "agent.tool_result": return event.is_error ? "The tool failed" : "The tool is done";
    case "session.error": return `Error: ${event.error?.message}`;
    case "session.status_idle":
      return event.stop_reason?.type === "requires_action" ? "The session waits for your answer" : "The session is idle";
    case "session.status_terminated": return "The session is terminated";
    default: return undefined;
  }
}
