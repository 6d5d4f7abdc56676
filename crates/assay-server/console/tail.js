// A session's log as it grows: a snapshot of its end, then everything that follows, through lost
// connections. Events come in their order and once each: ids only grow, so what is not behind the
// last one was here before.

import { ApiError } from "./api.js";

/** Events of a snapshot, and of each older page. */
export const PAGE = 100;
const SNAPSHOT_PAGES = 2;
/** Waiting between attempts: doubled each time, up to a bound. */
const WAIT_MS_MIN = 500;
const WAIT_MS_MAX = 15_000;

/** How long to wait before an attempt, counted from 0; `chance` is in [0, 1). */
export function wait_ms(attempt, chance) {
  const whole = Math.min(WAIT_MS_MAX, WAIT_MS_MIN * 2 ** Math.min(attempt, 10));
  return Math.round(whole * (0.75 + chance / 4));
}

export class Tail {
  #api;
  #session;
  #hears;
  #stop = new AbortController();
  #wake;
  #oldest;
  #last;
  /** Since when nobody is heard, attempts so far, and events that came since. */
  #lost;

  /**
   * `hears` has: `snapshot(events, has_older)`, `events(events)`, `live(is_late)`,
   * `lost({ since, attempt, wait_ms, error })`, `caught_up({ since, events })`, `ended(error)`.
   */
  constructor(api, session, hears) {
    this.#api = api;
    this.#session = session;
    this.#hears = hears;
  }

  #list(query) {
    const path = `v1/sessions/${encodeURIComponent(this.#session)}/events`;
    return this.#api.get(path, { order: "desc", ...query }, this.#stop.signal);
  }

  /** Runs until it is stopped, or nothing more can come. */
  async run() {
    while (!this.#stop.signal.aborted) {
      try {
        if (this.#last === undefined) await this.#snapshot();
        await this.#follow();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (!(error instanceof ApiError) || !error.may_pass) return this.#hears.ended(error);
        this.#lost ??= { since: Date.now(), attempt: 0, events: 0 };
        const wait = wait_ms(this.#lost.attempt, Math.random());
        this.#hears.lost({ ...this.#lost, wait_ms: wait, error });
        await this.#pause(wait);
        this.#lost.attempt += 1;
      }
    }
  }

  async #snapshot() {
    let events = [];
    let page;
    let next;
    for (let read = 0; read < SNAPSHOT_PAGES; read += 1) {
      const found = await this.#list({ limit: PAGE, page });
      events = events.concat(found.data);
      next = found.next_page;
      if (!next) break;
      page = next;
    }
    events.reverse();
    this.#oldest = events[0]?.id;
    this.#last = events.at(-1)?.id ?? "";
    this.#hears.snapshot(events, Boolean(next));
  }

  /** Follows the stream until it breaks. */
  async #follow() {
    // What is newest now tells when everything that was missed has come.
    const newest = this.#lost ? (await this.#list({ limit: 1 })).data[0]?.id ?? "" : "";
    let is_open = false;
    for await (const frames of this.#api.stream(this.#session, this.#last, this.#stop.signal)) {
      if (!is_open) this.#hears.live(this.#lost !== undefined);
      is_open = true;
      this.#take(frames);
      if (this.#lost && this.#last >= newest) {
        const { since, events } = this.#lost;
        this.#lost = undefined;
        this.#hears.caught_up({ since, events });
      }
    }
    throw new ApiError(0, "the server ended the stream");
  }

  #take(frames) {
    const events = [];
    for (const frame of frames) {
      if (frame.id <= this.#last) continue;
      this.#last = frame.id;
      events.push(JSON.parse(frame.data));
    }
    if (events.length === 0) return;
    if (this.#lost) this.#lost.events += events.length;
    this.#hears.events(events);
    if (events.at(-1).type === "session.deleted") throw new ApiError(404, "the session was deleted");
  }

  /** Events before those that are here: `{ events, has_older }`. */
  async older() {
    const found = await this.#list({ limit: PAGE, page: this.#oldest });
    const events = found.data.reverse();
    this.#oldest = events[0]?.id ?? this.#oldest;
    return { events, has_older: Boolean(found.next_page) };
  }

  /** Forgets events before this one: they can be read again. */
  forget_before(id) { this.#oldest = id; }

  #pause(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => { clearTimeout(timer); resolve(); };
    });
  }

  /** Tries again at once. */
  retry() { this.#wake?.(); }

  stop() {
    this.#stop.abort();
    this.#wake?.();
  }
}
