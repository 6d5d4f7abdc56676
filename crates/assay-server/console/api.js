// The API as the console uses it. Every request has the key that was typed in; nothing else on the
// network is ever asked.

import { Frames } from "./sse.js";

const BETA = "managed-agents-2026-04-01";
const VERSION = "2023-06-01";
/** How long an answer may take. */
const ANSWER_MS_MAX = 30_000;
/** The server says something every 15 s; after this much silence nobody is there any more. */
const SILENCE_MS_MAX = 40_000;

/** An answer that says no, or none at all (status 0). */
export class ApiError extends Error {
  constructor(status, message, request_id) {
    super(message);
    this.status = status;
    this.request_id = request_id;
  }

  /** Whether trying again can help. */
  get may_pass() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** A name for a request that may be sent again and shall happen once. */
export function once_key() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Api {
  #key;
  #root = new URL("..", document.baseURI);
  #refused;

  /** `refused` is called when the key opens nothing any more. */
  constructor(key, refused) {
    this.#key = key;
    this.#refused = refused;
  }

  #headers(more) {
    return {
      "x-api-key": this.#key,
      "anthropic-version": VERSION,
      "anthropic-beta": BETA,
      ...more,
    };
  }

  /** Asks. `query` may have lists; `once` makes a repeated request happen once. */
  async ask(method, path, { query, body, once, signal } = {}) {
    const url = new URL(path.replace(/^\//, ""), this.#root);
    for (const [name, value] of Object.entries(query ?? {})) {
      for (const one of [value].flat()) {
        if (one !== undefined && one !== null && one !== "") url.searchParams.append(name, one);
      }
    }
    const headers = this.#headers({
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(once && { "idempotency-key": once }),
    });
    const until = AbortSignal.timeout(ANSWER_MS_MAX);
    const options = {
      method, headers, cache: "no-store", credentials: "omit",
      signal: signal ? AbortSignal.any([signal, until]) : until,
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    const answer = await this.#fetch(url, options, signal);
    const text = await answer.text().catch(() => { throw unreachable(signal); });
    if (!answer.ok) throw this.#refusal(answer, text);
    return JSON.parse(text);
  }

  get(path, query, signal) { return this.ask("GET", path, { query, signal }); }

  post(path, body = {}, once) { return this.ask("POST", path, { body, once }); }

  delete(path) { return this.ask("DELETE", path); }

  async #fetch(url, options, signal) {
    try {
      return await fetch(url, options);
    } catch {
      throw unreachable(signal);
    }
  }

  #refusal(answer, text) {
    let message = `The server answered ${answer.status}`;
    try {
      message = JSON.parse(text).error.message;
    } catch {
      // Not one of ours: a proxy, perhaps. The status says enough.
    }
    if (answer.status === 401) this.#refused();
    return new ApiError(answer.status, message, answer.headers.get("request-id"));
  }

  /** The frames of a session's stream from behind `last`, as many at a time as have come: none to
   * begin with, when the stream is open. Ends when the server ends it. */
  async *stream(session, last, signal) {
    const silence = new AbortController();
    let timer;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
    };
    const url = new URL(`v1/sessions/${encodeURIComponent(session)}/events/stream`, this.#root);
    const headers = this.#headers({ accept: "text/event-stream", ...(last && { "last-event-id": last }) });
    heard();
    try {
      const answer = await this.#fetch(url, {
        headers, cache: "no-store", credentials: "omit",
        signal: AbortSignal.any([signal, silence.signal]),
      }, signal);
      if (!answer.ok) throw this.#refusal(answer, await answer.text().catch(() => ""));
      const frames = new Frames();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      yield [];
      for (;;) {
        const { value, done } = await reader.read().catch(() => { throw unreachable(signal); });
        if (done) return;
        heard();
        yield frames.push(value);
      }
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }
}

function unreachable(signal) {
  if (signal?.aborted) return new DOMException("no longer wanted", "AbortError");
  return new ApiError(0, "The server cannot be reached");
}
