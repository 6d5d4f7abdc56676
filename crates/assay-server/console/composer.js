// What one writes to a session with: a text, and the button that interrupts.

import { ApiError, once_key } from "./api.js";
import { busy, button, h } from "./dom.js";

const UNKNOWN = "It is not known whether this arrived. Sending it again is safe: it happens once.";

/** Sends events to a session, and says what went wrong. */
export class Sender {
  #context;
  #path;

  constructor(context, path) {
    this.#context = context;
    this.#path = path;
  }

  /** Runs something; gives nothing if it failed, and says why. */
  async guard(action, when_unknown) {
    try {
      return await action();
    } catch (error) {
      const is_unknown = when_unknown && error instanceof ApiError && error.may_pass;
      this.#context.toast(is_unknown ? `${error.message}. ${when_unknown}` : error.message, "fail");
      return undefined;
    }
  }

  /** Whether an event was taken. */
  async send(event, once = once_key()) {
    const post = () => this.#context.api.post(`${this.#path}/events`, { events: [event] }, once);
    return await this.guard(post, UNKNOWN) !== undefined;
  }
}

/** The form at the end of a session's page. `sent()` is called after each message. */
export class Composer {
  #sender;
  #sent;
  /** The name of the message that is being written, from the first attempt to send it. */
  #once;
  #text = h("textarea", { rows: 2, id: "message", placeholder: "Write to the agent" });
  #interrupt;
  element;

  constructor(sender, sent) {
    this.#sender = sender;
    this.#sent = sent;
    const send = h("button", { type: "submit", class: "primary" }, "Send ", h("kbd", {}, "Ctrl ↵"));
    this.#interrupt = button("Interrupt", () => this.#sender.send({ type: "user.interrupt" }), { id: "interrupt" });
    this.element = h("form", { class: "composer" },
      h("label", { class: "unseen", for: "message" }, "Message to the agent"),
      this.#text, h("div", { class: "row" }, send, this.#interrupt));
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      busy(send, () => this.#send());
    });
    this.#text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.element.requestSubmit();
    });
    // Another text is another message.
    this.#text.addEventListener("input", () => { this.#once = undefined; });
  }

  focus() { this.#text.focus(); }

  interrupt() { this.#interrupt.click(); }

  async #send() {
    const text = this.#text.value;
    if (text.trim() === "") return;
    // Whether a request that broke off arrived is not known; with the same name, sending it again
    // cannot make two messages of it.
    this.#once ??= once_key();
    const event = { type: "user.message", content: [{ type: "text", text }] };
    if (await this.#sender.send(event, this.#once)) {
      this.#text.value = "";
      this.#once = undefined;
      this.#sent();
    }
    this.focus();
  }
}
