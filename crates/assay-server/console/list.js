// What all lists of the console have: pages, waiting, and being told when the server is away.

import { badge, button, fill, h } from "./dom.js";
import { ago, clock, short_id } from "./format.js";

const LOOK_MS = 3000;
const LOOK_MS_MAX = 30_000;

/** Something that is read again and again while the page is seen. */
export class Watch {
  #read;
  #show;
  #notice = h("div", { class: "gap", role: "alert", hidden: true });
  #timer;
  #misses = 0;
  #is_over = false;
  #last;

  /** `read()` gives what `show(found)` shows. */
  constructor(read, show) {
    this.#read = read;
    this.#show = show;
    document.addEventListener("visibilitychange", this.#seen);
  }

  /** Where to say that the server is away. */
  get notice() { return this.#notice; }

  #seen = () => { if (!document.hidden) this.now(); };

  /** Reads now; gives whether it worked. */
  async now() {
    clearTimeout(this.#timer);
    if (this.#is_over) return false;
    try {
      const found = await this.#read();
      if (this.#is_over) return false;
      this.#last = Date.now();
      this.#misses = 0;
      this.#notice.hidden = true;
      this.#show(found);
    } catch (error) {
      if (this.#is_over) return false;
      this.#misses += 1;
      this.#away(error);
    }
    clearTimeout(this.#timer);
    const wait = Math.min(LOOK_MS_MAX, LOOK_MS * 2 ** Math.min(this.#misses, 5));
    if (!document.hidden) this.#timer = setTimeout(() => this.now(), wait);
    return this.#misses === 0;
  }

  #away(error) {
    const since = this.#last ? ` What is shown is from ${clock(this.#last)}.` : "";
    this.#notice.hidden = false;
    fill(this.#notice, badge("not up to date", "unknown"), h("span", {}, `${error.message}.${since}`),
      button("Try now", () => this.now()));
  }

  stop() {
    this.#is_over = true;
    clearTimeout(this.#timer);
    document.removeEventListener("visibilitychange", this.#seen);
  }
}

/** Links to the pages before and behind. */
export function pager(found, link) {
  const one = (label, token, key) => token
    ? h("a", { class: "button", href: link(token), "data-page-key": key }, label)
    : h("span", { class: "button off", "aria-disabled": "true" }, label);
  return h("nav", { class: "pager row", "aria-label": "Pages of the list" },
    one("← Newer", found.prev_page, "["), one("Older →", found.next_page, "]"));
}

/** Moves the focus along the links in the rows of a table; true if the key was meant for it. */
export function row_key(root, key) {
  if (key === "[" || key === "]") {
    root.querySelector(`[data-page-key="${key}"]`)?.click();
    return true;
  }
  if (key !== "j" && key !== "k") return false;
  const links = [...root.querySelectorAll("tbody a.main, .cards a.main")];
  const at = links.indexOf(document.activeElement);
  const next = key === "j" ? Math.min(at + 1, links.length - 1) : Math.max(at - 1, 0);
  links[next]?.focus();
  return true;
}

/** A cell that says when something happened. */
export function when(text) {
  return h("time", { datetime: text, title: clock(text) }, ago(text));
}

/** The frame of a page with a list: `columns` are headings, `head` stands beside the title. */
export function list_frame(title, columns, { head, filters, notice, rows, below }) {
  return h("div", { class: "page" },
    h("header", { class: "page-head" },
      h("div", { class: "head-line" }, h("h1", { tabindex: -1 }, title), h("span", { class: "grow" }), head),
      filters),
    notice,
    h("div", { class: "card flush" }, h("table", { class: "list" },
      h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))), rows)),
    below);
}

/**
 * A page with all things of a kind, newest first: `{ name, title, path, columns, make }`. A column is
 * its heading and what it says about one thing; `make()` is the form for a new one.
 */
export function things_view(root, context, query, kind) {
  document.title = `${kind.title} · Assay`;
  const rows = h("tbody", {});
  const below = h("div", {});
  const address = `#/${kind.path}`;
  const row = (one) => h("tr", { "data-id": one.id },
    h("td", { class: "name" }, h("a", { class: "main", href: `${address}/${one.id}` }, one.name),
      h("code", { class: "muted" }, short_id(one.id))),
    kind.columns.map(([label, cell]) => h("td", { "data-label": label }, cell(one))));
  const show = (found) => {
    const focused = document.activeElement?.getAttribute("href");
    fill(rows, found.data.map(row));
    if (focused) rows.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    // These lists go one way; the way back leads to their beginning.
    const pages = { next_page: found.next_page, prev_page: query.has("page") && "first" };
    fill(below,
      found.data.length === 0 && h("p", { class: "empty" }, `Nothing here yet. Press n for a new ${kind.name}.`),
      (pages.next_page || pages.prev_page) && pager(pages,
        (page) => page === "first" ? address : `${address}?page=${encodeURIComponent(page)}`));
  };
  const read = () => context.api.get(`v1/${kind.path}`, { limit: 20, page: query.get("page") });
  const watch = new Watch(read, show);
  const head = button(`New ${kind.name}`, kind.make, { class: "primary" });
  const columns = [kind.name[0].toUpperCase() + kind.name.slice(1), ...kind.columns.map(([label]) => label)];
  fill(root, list_frame(kind.title, columns, { head, notice: watch.notice, rows, below }));
  watch.now();
  return {
    stop: () => watch.stop(),
    key(key) {
      if (key === "n") kind.make();
      return key === "n" || row_key(root, key);
    },
  };
}

/** Everything of a list that has pages, up to a bound: for lists of choices. */
export async function all_of(api, path, most = 500) {
  const all = [];
  let page;
  do {
    const found = await api.get(path, { limit: 100, page });
    all.push(...found.data);
    page = found.next_page;
  } while (page && all.length < most);
  return all;
}

/** The value at the end of a path, when it has come: an object with `stop` for the page. */
export function plain_page(run) {
  let is_over = false;
  run(() => is_over);
  return { stop() { is_over = true; }, key: () => false };
}
