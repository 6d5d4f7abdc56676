// The list of sessions, with their state as it changes, and the form for a new one.

import { once_key } from "./api.js";
import { badge, button, dialog, field, fill, h, select } from "./dom.js";
import { short_id, status_words, usage_words } from "./format.js";
import { form_dialog } from "./forms.js";
import { Watch, all_of, list_frame, pager, row_key, when } from "./list.js";

const STATUSES = [["", "any status"], ["running", "running"], ["idle", "idle"],
  ["rescheduling", "trying again"], ["terminated", "terminated"]];
const PAGE = 20;
/** Sessions that are asked at once whether they wait for somebody. */
const ASKED_MAX = 20;

export function sessions_view(root, context, query) {
  return new SessionsPage(root, context, query);
}

class SessionsPage {
  #root;
  #context;
  #api;
  #query;
  #watch;
  #rows = h("tbody", {});
  #below = h("div", {});
  #agents = select([["", "any agent"]], "", { id: "by-agent" });
  /** What is known about sessions that rest: whether they wait, for the state they were in. */
  #waits = new Map();

  constructor(root, context, query) {
    this.#root = root;
    this.#context = context;
    this.#api = context.api;
    this.#query = query;
    document.title = "Sessions · Assay";
    this.#watch = new Watch(() => this.#read(), (found) => this.#show(found));
    fill(root, this.#frame());
    this.#fill_agents();
    this.#watch.now();
  }

  stop() { this.#watch.stop(); }

  key(key) {
    if (key === "n") { this.#new(); return true; }
    if (key === "/") { this.#root.querySelector("#by-status").focus(); return true; }
    return row_key(this.#root, key);
  }

  #link(changes) {
    const query = new URLSearchParams(this.#query);
    for (const [name, value] of Object.entries(changes)) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    return `#/sessions?${query}`;
  }

  #filter(name, value) {
    location.hash = this.#link({ [name]: value, page: undefined });
  }

  #frame() {
    const status = select(STATUSES, this.#query.get("status") ?? "", { id: "by-status" });
    status.addEventListener("change", () => this.#filter("status", status.value));
    this.#agents.addEventListener("change", () => this.#filter("agent", this.#agents.value));
    const archived = h("input", { type: "checkbox", checked: this.#query.has("archived"),
      onchange: (event) => this.#filter("archived", event.target.checked ? "yes" : "") });
    const filters = h("div", { class: "row filters", role: "group", "aria-label": "Filters" },
      h("label", { class: "unseen", for: "by-status" }, "Status"), status,
      h("label", { class: "unseen", for: "by-agent" }, "Agent"), this.#agents,
      h("label", { class: "check" }, archived, "archived, too"));
    const head = button("New session", () => this.#new(), { class: "primary" });
    return list_frame("Sessions", ["Session", "State", "Agent", "Tokens", "Begun"],
      { head, filters, notice: this.#watch.notice, rows: this.#rows, below: this.#below });
  }

  async #fill_agents() {
    const chosen = this.#query.get("agent") ?? "";
    const agents = await all_of(this.#api, "v1/agents").catch(() => []);
    const choices = agents.map((agent) => [agent.id, agent.name]);
    if (chosen && !choices.some(([id]) => id === chosen)) choices.push([chosen, short_id(chosen)]);
    for (const [value, label] of choices) {
      this.#agents.append(h("option", { value, selected: value === chosen }, label));
    }
  }

  async #read() {
    const query = this.#query;
    const found = await this.#api.get("v1/sessions", {
      limit: PAGE,
      page: query.get("page"),
      agent_id: query.get("agent"),
      "statuses[]": query.get("status"),
      // What is terminated is archived, and would not be listed without.
      include_archived: query.has("archived") || query.get("status") === "terminated" ? "true" : undefined,
    });
    await Promise.all(found.data.slice(0, ASKED_MAX).map((session) => this.#ask_waits(session)));
    return found;
  }

  /** A session that rests may have ended its turn or wait for somebody: its last rest says which. */
  async #ask_waits(session) {
    if (session.status !== "idle") { this.#waits.delete(session.id); return; }
    const state = `${session.usage?.active_seconds} ${session.usage?.output_tokens}`;
    if (this.#waits.get(session.id)?.state === state) return;
    const path = `v1/sessions/${encodeURIComponent(session.id)}/events`;
    const last = await this.#api.get(path, { order: "desc", limit: 1, "types[]": "session.status_idle" });
    const waits = last.data[0]?.stop_reason?.type === "requires_action";
    this.#waits.set(session.id, { state, waits });
  }

  #show(found) {
    // Nothing is newer: this is the beginning of the list, and goes on as such.
    if (this.#query.has("page") && !found.prev_page) {
      this.#query.delete("page");
      history.replaceState(null, "", this.#link({}));
    }
    const focused = document.activeElement?.dataset?.session;
    fill(this.#rows, found.data.map((session) => this.#row(session)));
    if (focused) this.#rows.querySelector(`a[data-session="${CSS.escape(focused)}"]`)?.focus();
    const filtered = ["status", "agent", "archived", "page"].some((name) => this.#query.has(name));
    const nothing = filtered ? "No session fits these filters." : "No sessions yet. Press n for a new one.";
    fill(this.#below, found.data.length === 0 && h("p", { class: "empty" }, nothing),
      (found.next_page || found.prev_page) && pager(found, (page) => this.#link({ page })));
  }

  #row(session) {
    const [word, tone] = status_words(session.status);
    const waits = this.#waits.get(session.id)?.waits;
    return h("tr", { "data-id": session.id },
      h("td", { class: "name" },
        h("a", { class: "main", href: `#/sessions/${session.id}`, "data-session": session.id },
          session.title || "Untitled session"),
        h("code", { class: "muted" }, short_id(session.id))),
      h("td", { "data-label": "State" }, waits ? badge("waits for you", "unknown") : badge(word, tone),
        session.archived_at && [" ", badge("archived")]),
      h("td", { "data-label": "Agent" }, session.agent?.name ?? "", h("span", { class: "muted" }, ` v${session.agent?.version}`)),
      h("td", { "data-label": "Tokens", class: "number" }, usage_words(session.usage)),
      h("td", { "data-label": "Begun" }, when(session.created_at)));
  }

  async #new() {
    const lists = await Promise.all([all_of(this.#api, "v1/agents"), all_of(this.#api, "v1/environments")])
      .catch((error) => { this.#context.toast(error.message, "fail"); });
    if (!lists) return;
    new_session(this.#context, ...lists, this.#query.get("agent"));
  }
}

function new_session(context, agents, environments, preferred) {
  if (agents.length === 0 || environments.length === 0) {
    const what = agents.length === 0 ? "agent" : "environment";
    const made = dialog(`First make an ${what}`,
      h("p", {}, `A session needs an agent and an environment, and there is no ${what} yet.`),
      h("div", { class: "row end" }, h("a", { class: "button primary", href: `#/${what}s`, onclick: () => made.close() },
        `Go to the ${what}s`)));
    return;
  }
  const agent = select(agents.map((one) => [one.id, `${one.name} · ${one.model?.id} · v${one.version}`]), preferred);
  const environment = select(environments.map((one) => [one.id, one.name]));
  const title = h("input", { type: "text", maxlength: 500, placeholder: "optional" });
  const first = h("textarea", { rows: 3, placeholder: "optional" });
  const fields = [field("Agent", agent), field("Environment", environment), field("Title", title),
    field("First message", first)];
  const once = once_key();
  form_dialog(context, "New session", "Begin", fields, async (form) => {
    const text = first.value.trim();
    const content = [{ type: "text", text }];
    const session = await context.api.post("v1/sessions", {
      agent: agent.value,
      environment_id: environment.value,
      ...(title.value.trim() && { title: title.value.trim() }),
      ...(text && { initial_events: [{ type: "user.message", content }] }),
    }, `${once}-${form_print(form)}`);
    context.go(`/sessions/${session.id}`);
  });
}

/** The same form makes the same session, however often it is sent; a changed one another. */
function form_print(form) {
  let print = 0;
  for (const control of form.elements) {
    for (const unit of String(control.value ?? "")) print = (print * 31 + unit.codePointAt(0)) >>> 0;
  }
  return print.toString(16);
}
