// One session: its log as it grows, and everything one can say to it.

import { ApiError } from "./api.js";
import { Composer, Sender } from "./composer.js";
import { badge, button, fill, h } from "./dom.js";
import { clock, plural, span_of } from "./format.js";
import { Head } from "./head.js";
import { Log, spoken } from "./log.js";
import { Tail } from "./tail.js";

/** Closer to the end than this means that the end is watched. */
const AT_END_PX = 80;
/** Events that are read out of those that come at once. */
const SPOKEN_MAX = 5;

export function session_view(root, context, id) {
  return new SessionPage(root, context, id);
}

class SessionPage {
  #context;
  #path;
  #tail;
  #log;
  #head;
  #composer;
  #is_over = false;
  /** Whether the end is watched: then it stays in sight, whatever grows or shrinks. */
  #at_end = true;
  #timer;
  #sizes;
  #older = h("div", { class: "older" });
  #gap = h("div", { class: "gap", role: "alert", hidden: true });
  #need = h("div", { class: "need", role: "status", hidden: true });
  #scroller = h("div", { class: "scroller", tabindex: -1 });
  #newest = h("button", { type: "button", class: "newest", hidden: true }, "New events below");

  constructor(root, context, id) {
    this.#context = context;
    this.#path = `v1/sessions/${encodeURIComponent(id)}`;
    const sender = new Sender(context, this.#path);
    this.#composer = new Composer(sender, () => this.#to_end());
    this.#head = new Head(context, this.#path, id, sender, {
      changed: () => this.#refresh(),
      deleting: (is_on) => { this.#is_over = is_on; },
      details: (is_on) => this.#log.element.classList.toggle("brief", !is_on),
    });
    const answer = async (event) => { if (await sender.send(event)) this.#composer.focus(); };
    this.#log = new Log({
      confirm: (call, result, why) => answer({
        type: "user.tool_confirmation", tool_use_id: call, result, ...(why && { deny_message: why }),
      }),
      result: (call, text, is_error) => answer({
        type: "user.custom_tool_result", custom_tool_use_id: call, is_error,
        content: text === "" ? [] : [{ type: "text", text }],
      }),
    });
    this.#tail = new Tail(context.api, id, {
      snapshot: (events, has_older) => this.#snapshot(events, has_older),
      events: (events) => this.#events(events),
      live: (is_late) => this.#head.connection(is_late ? "catching up" : "live", is_late ? "unknown" : "ok"),
      lost: (how) => this.#lost(how),
      caught_up: (what) => this.#caught_up(what),
      ended: (error) => this.#ended(error),
    });
    fill(root, h("div", { class: "session" }, this.#head.element, this.#gap,
      this.#scroller, this.#newest, this.#need, this.#composer.element));
    this.#begin();
  }

  #begin() {
    this.#scroller.append(this.#older, this.#log.element);
    this.#watch_hands();
    this.#sizes = new ResizeObserver(() => { if (this.#at_end) this.#to_end(); });
    this.#sizes.observe(this.#scroller);
    this.#sizes.observe(this.#log.element);
    this.#newest.addEventListener("click", () => this.#to_end());
    this.#timer = setInterval(() => this.#tick(), 1000);
    addEventListener("online", this.#online);
    this.#tail.run();
    this.#refresh();
  }

  stop() {
    this.#tail.stop();
    this.#sizes.disconnect();
    clearInterval(this.#timer);
    removeEventListener("online", this.#online);
  }

  #online = () => this.#tail.retry();

  #refreshing;

  /** Reads the session again; what comes while one reading is on its way is one more. */
  async #refresh() {
    if (this.#refreshing) { this.#refreshing = "again"; return; }
    this.#refreshing = "once";
    try {
      this.#head.show(await this.#context.api.get(this.#path), this.#log.waiting.length > 0);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) this.#ended(error);
    }
    const again = this.#refreshing === "again";
    this.#refreshing = undefined;
    if (again) this.#refresh();
  }

  // ---- the log ------------------------------------------------------------------------------

  /**
   * The end is no longer watched when somebody moves away from it. Positions alone do not say so:
   * they change as well when rows grow, come and go.
   */
  #watch_hands() {
    const scroller = this.#scroller;
    const away = () => { this.#at_end = false; };
    const look = () => {
      const below = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
      if (below >= AT_END_PX) return;
      this.#at_end = true;
      this.#newest.hidden = true;
    };
    scroller.addEventListener("scroll", look);
    scroller.addEventListener("wheel", (event) => { if (event.deltaY < 0) away(); }, { passive: true });
    for (const begins of ["touchmove", "pointerdown", "focusin"]) {
      scroller.addEventListener(begins, away, { passive: true });
    }
    for (const ends of ["touchend", "pointerup", "focusin"]) {
      scroller.addEventListener(ends, () => requestAnimationFrame(look));
    }
    scroller.addEventListener("keydown", (event) => {
      if (["ArrowUp", "PageUp", "Home"].includes(event.key)) away();
    });
  }

  #to_end() {
    this.#at_end = true;
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#newest.hidden = true;
  }

  #empty;

  #snapshot(events, has_older) {
    this.#log.append(events);
    this.#show_older(has_older);
    if (events.length === 0) {
      this.#empty = this.#log.note(h("p", { class: "empty" }, "Nothing was said yet. Write below."));
    }
    this.#show_need();
    this.#to_end();
  }

  #events(events) {
    this.#empty?.remove();
    this.#log.append(events);
    if (this.#at_end) {
      const kept = this.#log.trim();
      if (kept) {
        this.#tail.forget_before(kept);
        this.#show_older(true);
      }
    } else {
      this.#newest.hidden = false;
    }
    this.#show_need();
    for (const event of events.slice(-SPOKEN_MAX)) this.#context.speak(spoken(event));
    if (events.some((event) => /^session\.|^span\.model_request_end/.test(event.type))) this.#refresh();
  }

  #show_older(has_older) {
    if (!has_older) return fill(this.#older, h("p", { class: "muted" }, "The session begins here."));
    const load = button("Load older events", async () => {
      const found = await this.#tail.older().catch((error) => { this.#context.toast(error.message, "fail"); });
      if (!found) return;
      this.#at_end = false;
      const height = this.#scroller.scrollHeight;
      this.#log.prepend(found.events);
      this.#show_older(found.has_older);
      // What was read stays where it was.
      this.#scroller.scrollTop += this.#scroller.scrollHeight - height;
      this.#older.querySelector("button")?.focus({ preventScroll: true });
    }, { id: "older" });
    fill(this.#older, load);
  }

  #show_need() {
    const waiting = this.#log.waiting;
    this.#head.show(undefined, waiting.length > 0);
    this.#need.hidden = waiting.length === 0 || this.#is_over;
    if (waiting.length === 0) return;
    const cards = this.#log.waiting_cards();
    const names = cards.map((card) => card.name).join(", ");
    const go = button("Go to it", () => {
      const form = this.#log.element.querySelector(".tool.waiting [data-do]");
      form?.scrollIntoView({ block: "center" });
      form?.focus();
    });
    fill(this.#need, badge("waits for you", "unknown"),
      h("span", {}, `${plural(waiting.length, "call")} without an answer${names ? `: ${names}` : "; load older events to see them"}`),
      cards.length > 0 && go);
  }

  // ---- the connection -----------------------------------------------------------------------

  #lost_row;
  #retry_at = 0;

  #lost({ since, attempt, wait_ms }) {
    this.#head.connection("not connected", "unknown");
    this.#retry_at = Date.now() + wait_ms;
    this.#lost_row ??= this.#log.note(h("div", { class: "gap-mark" },
      badge("gap", "unknown"), ` The connection was lost at ${clock(since)}. What follows is not shown yet.`));
    const retry = this.#gap.querySelector("button") ?? button("Try now", () => this.#tail.retry());
    this.#gap.hidden = false;
    fill(this.#gap, badge("not connected", "unknown"),
      h("span", {}, `No connection since ${clock(since)}; what happens meanwhile is missing here. `,
        `Attempt ${attempt + 1}`, h("span", { id: "retry-in" })), retry);
    this.#tick();
  }

  #tick() {
    const line = this.#gap.querySelector("#retry-in");
    if (!line || this.#gap.hidden) return;
    const seconds = Math.ceil((this.#retry_at - Date.now()) / 1000);
    line.textContent = seconds > 0 ? ` in ${seconds} s` : " now";
  }

  #caught_up({ since, events }) {
    this.#head.connection("live", "ok");
    this.#gap.hidden = true;
    const text = `Connected again after ${span_of((Date.now() - since) / 1000)}: `
      + (events === 0 ? "nothing was missed." : `${plural(events, "event")} caught up.`);
    if (this.#lost_row) {
      fill(this.#lost_row, h("div", { class: "gap-mark", "data-caught-up": events }, badge("gap closed", "ok"), ` ${text}`));
      this.#lost_row = undefined;
    }
    this.#context.speak(text);
    this.#refresh();
  }

  #ended(error) {
    if (this.#is_over) return;
    this.#is_over = true;
    this.#tail.stop();
    this.#head.connection("ended", "plain");
    this.#gap.hidden = false;
    fill(this.#gap, badge("ended", "fail"), h("span", {}, `Nothing more comes: ${error.message}.`),
      h("a", { href: "#/sessions" }, "All sessions"));
    this.#need.hidden = true;
  }

  // ---- the keyboard -------------------------------------------------------------------------

  /** What a key does here; true if it does something. */
  key(key) {
    switch (key) {
      case "j": return this.#step(1);
      case "k": return this.#step(-1);
      case "i": this.#composer.focus(); return true;
      case "G": this.#to_end(); return true;
      case "y": return this.#point_to("allow", "answer");
      case "d": return this.#point_to("why");
      case "x": this.#composer.interrupt(); return true;
      case "v": this.#head.details = !this.#head.details; return true;
      default: return false;
    }
  }

  #step(by) {
    const rows = [...this.#log.element.querySelectorAll(":scope > [data-event-id]")]
      .filter((row) => row.offsetParent !== null);
    const at = rows.indexOf(document.activeElement?.closest?.(".event"));
    const to = at < 0 ? rows.length - 1 : Math.max(0, Math.min(at + by, rows.length - 1));
    rows[to]?.focus();
    return true;
  }

  /** Puts the focus on what decides; nothing is decided by a single key. */
  #point_to(...names) {
    const selector = names.map((name) => `.tool.waiting [data-do="${name}"]`).join(", ");
    const found = this.#log.element.querySelector(selector);
    found?.scrollIntoView({ block: "center" });
    found?.focus();
    return Boolean(found);
  }
}
