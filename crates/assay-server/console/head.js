// The head of a session's page: what it is, how it stands, and what can be done with it.

import { badge, button, confirm_dialog, field, fill, h } from "./dom.js";
import { money, short_id, span_of, status_words, usage_words } from "./format.js";
import { form_dialog } from "./forms.js";
import { when } from "./list.js";

export class Head {
  #context;
  #path;
  #sender;
  #act;
  #session;
  #waits = false;
  #shows_details = true;
  #connection = h("span", { class: "badge plain", id: "connection", role: "status" }, "connecting");
  element = h("header", { class: "page-head session-head" });

  /** `act` has: `changed()`, `deleting(is_on)`, `details(is_on)`. */
  constructor(context, path, id, sender, act) {
    this.#context = context;
    this.#path = path;
    this.#sender = sender;
    this.#act = act;
    fill(this.element, h("div", { class: "head-line" },
      h("h1", { tabindex: -1 }, short_id(id)), h("span", { class: "grow" }), this.#connection));
  }

  connection(word, tone) {
    this.#connection.textContent = word;
    this.#connection.className = `badge ${tone}`;
  }

  /** Shows a session; `waits` says whether it waits for somebody. */
  show(session, waits) {
    this.#session = session ?? this.#session;
    this.#waits = waits;
    this.#draw();
  }

  get details() { return this.#shows_details; }

  set details(is_on) {
    this.#shows_details = is_on;
    this.#act.details(is_on);
    this.#draw();
  }

  #draw() {
    const session = this.#session;
    if (!session) return;
    const title = session.title || "Untitled session";
    document.title = `${title} · Assay`;
    const [word, tone] = status_words(session.status);
    const waits = session.status === "idle" && this.#waits;
    const state = waits ? badge("waits for you", "unknown") : badge(word, tone);
    state.id = "session-status";
    const active = document.activeElement;
    const kept = this.element.contains(active) ? active.dataset.keep ?? active.tagName.toLowerCase() : undefined;
    fill(this.element,
      h("div", { class: "head-line" },
        h("h1", { tabindex: -1 }, title), state, session.archived_at && badge("archived"),
        h("span", { class: "grow" }), this.#connection),
      facts(session), this.#actions(session));
    if (kept) this.element.querySelector(kept === "h1" ? "h1" : `[data-keep="${kept}"]`)?.focus();
  }

  #actions(session) {
    const is_at_work = session.status === "running" || session.status === "rescheduling";
    const why = is_at_work ? "Interrupt it first" : undefined;
    const details = h("input", { type: "checkbox", "data-keep": "details", checked: this.#shows_details,
      onchange: (event) => { this.details = event.target.checked; } });
    return h("div", { class: "row" },
      !session.archived_at && button("Rename", () => this.#rename(), { "data-keep": "rename" }),
      !session.archived_at && button("Archive", () => this.#archive(),
        { "data-keep": "archive", disabled: is_at_work, title: why }),
      button("Delete", () => this.#delete(),
        { "data-keep": "delete", disabled: is_at_work, title: why, class: "danger" }),
      h("span", { class: "grow" }),
      h("label", { class: "check" }, details, "model requests and status"));
  }

  #rename() {
    const title = h("input", { type: "text", maxlength: 500, value: this.#session.title ?? "" });
    form_dialog(this.#context, "Rename the session", "Rename", [field("Title", title)], async () => {
      await this.#context.api.post(this.#path, { title: title.value });
      this.#act.changed();
    });
  }

  async #archive() {
    const text = "An archived session can be read, and takes no more messages.";
    if (!await confirm_dialog("Archive this session?", text, "Archive")) return;
    const archive = () => this.#context.api.post(`${this.#path}/archive`);
    if (await this.#sender.guard(archive)) this.#context.toast("Archived.");
    this.#act.changed();
  }

  async #delete() {
    const text = "All of its events go with it. This cannot be undone.";
    if (!await confirm_dialog("Delete this session?", text, "Delete")) return;
    this.#act.deleting(true);
    if (await this.#sender.guard(() => this.#context.api.delete(this.#path))) {
      this.#context.go("/sessions");
      this.#context.toast("Deleted.");
    } else {
      this.#act.deleting(false);
    }
  }
}

function facts(session) {
  const cost = money(session.usage?.list_cost);
  const agent = session.agent ?? {};
  const fact = (name, ...value) => h("div", {}, h("dt", {}, name), " ", h("dd", {}, ...value));
  return h("dl", { class: "facts" },
    fact("Agent", h("a", { href: `#/agents/${agent.id}` }, agent.name ?? short_id(agent.id)),
      h("span", { class: "muted" }, ` version ${agent.version}`)),
    fact("Environment", h("a", { href: `#/environments/${session.environment_id}` }, short_id(session.environment_id))),
    fact("Tokens", h("span", { id: "usage" }, usage_words(session.usage))),
    cost && fact("Cost", cost),
    fact("Active", span_of(session.usage?.active_seconds ?? 0)),
    fact("Begun", when(session.created_at)),
    ...Object.entries(session.metadata ?? {}).map(([name, value]) => fact(name, value)),
    session.workspace && fact("Works in", h("code", {}, session.workspace.path)),
    fact("Id", h("code", { class: "muted" }, session.id)));
}
