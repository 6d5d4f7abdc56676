// The console begins here: the key, the pages and how one gets from one to the other.

import { agent_view, agents_view } from "./agents.js";
import { Api } from "./api.js";
import { busy, field, fill, h } from "./dom.js";
import { environment_view, environments_view } from "./environments.js";
import { help, listen } from "./keys.js";
import { report_view, reports_view } from "./reports.js";
import { session_view } from "./session.js";
import { sessions_view } from "./sessions.js";

/** In this tab only, and gone with it. */
const KEY = "assay-key";
const THEME = "assay-theme";
const TOAST_MS = 8000;
/** Sentences that wait to be read out; more at once help nobody. */
const SPOKEN_MAX = 5;

const main = document.querySelector("#main");
const side = document.querySelector("#side");
const toasts = document.querySelector("#toasts");
const live = document.querySelector("#live");
let api;
let page;

const PAGES = {
  sessions: [sessions_view, session_view],
  agents: [agents_view, agent_view],
  environments: [environments_view, environment_view],
  reports: [reports_view, report_view],
};

const context = {
  get api() { return api; },
  go(path) { location.hash = `#${path}`; },
  reload() { show(); },
  toast(text, tone = "plain") {
    const made = h("div", { class: `toast ${tone}` }, text);
    const close = h("button", { type: "button", class: "quiet", "aria-label": "Dismiss" }, "×");
    close.addEventListener("click", () => made.remove());
    made.append(close);
    toasts.append(made);
    setTimeout(() => made.remove(), TOAST_MS);
  },
  speak(text) {
    if (!text) return;
    live.append(h("p", {}, text));
    while (live.children.length > SPOKEN_MAX) live.firstChild.remove();
  },
};

/** Shows what the address says. */
function show() {
  page?.stop();
  page = undefined;
  toasts.replaceChildren();
  document.querySelectorAll("dialog[open]").forEach((one) => one.close());
  side.hidden = !api;
  if (!api) return sign_in();
  const [path, query] = location.hash.replace(/^#/, "").split("?");
  const [, name, id] = path.split("/");
  const [list, one] = PAGES[name] ?? [];
  if (!list) { location.replace("#/sessions"); return; }
  for (const link of side.querySelectorAll("[data-page]")) {
    if (link.dataset.page === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  page = id ? one(main, context, decodeURIComponent(id)) : list(main, context, new URLSearchParams(query));
  main.querySelector("h1")?.focus({ preventScroll: true });
}

function sign_in(reason) {
  document.title = "Sign in · Assay";
  const key = h("input", { type: "password", required: true, autocomplete: "off", spellcheck: "false", placeholder: "asy_…" });
  const enter = h("button", { type: "submit", class: "primary" }, "Sign in");
  const wrong = h("p", { class: "wrong", role: "alert" }, reason);
  const form = h("form", { class: "card" },
    h("img", { src: "favicon.svg", alt: "", width: 48, height: 48 }),
    h("h1", {}, "Assay console"),
    field("Key", key, "It stays in this tab and goes with it."),
    wrong, enter,
    h("p", { class: "hint" }, h("code", {}, "assay keys create"), " makes one; ",
      h("code", {}, "assay serve --demo"), " prints one."));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(enter, async () => {
      wrong.textContent = "";
      const typed = key.value.trim();
      try {
        // A header takes nothing else; without this the browser's own words would be shown.
        if (!/^[\x21-\x7e]+$/.test(typed)) throw new Error("This is no key.");
        await new Api(typed, () => {}).get("v1/sessions", { limit: 1 });
        sessionStorage.setItem(KEY, typed);
        begin(typed);
      } catch (error) {
        wrong.textContent = error.status === 401 ? "This key opens nothing here." : error.message;
        key.focus();
      }
    });
  });
  fill(main, h("div", { class: "sign-in" }, form));
  key.focus();
}

function begin(key) {
  api = new Api(key, () => sign_out("The key opens nothing any more."));
  show();
}

function sign_out(reason) {
  sessionStorage.removeItem(KEY);
  api = undefined;
  show();
  const wrong = main.querySelector(".wrong");
  if (reason && wrong) wrong.textContent = reason;
}

const THEMES = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" };
const theme_button = document.querySelector("#theme");

function set_theme(name) {
  const known = THEMES[name] ? name : "auto";
  if (known === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", known);
  theme_button.textContent = THEMES[known];
  localStorage.setItem(THEME, known);
}

function next_theme() {
  const names = Object.keys(THEMES);
  set_theme(names[(names.indexOf(localStorage.getItem(THEME)) + 1) % names.length]);
}

set_theme(localStorage.getItem(THEME));
theme_button.addEventListener("click", next_theme);
document.querySelector("#help").addEventListener("click", help);
document.querySelector("#sign-out").addEventListener("click", () => sign_out());
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
listen({ go: context.go, theme: next_theme, act: (key) => page?.key(key) ?? false });
addEventListener("hashchange", show);
const known = sessionStorage.getItem(KEY);
if (known) begin(known);
else show();
