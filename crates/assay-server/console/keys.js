// The keyboard: what keys do, and a page that says so.

import { dialog, h } from "./dom.js";

const HELP = [
  ["Everywhere", [["?", "this help"], ["g s", "sessions"], ["g a", "agents"], ["g e", "environments"],
    ["g r", "campaigns and runs"], ["t", "light, dark or as the system says"], ["Esc", "leave a field or close a dialog"]]],
  ["Lists", [["j k", "next and previous row"], ["Enter", "open it"], ["n", "new"], ["[ ]", "newer and older page"],
    ["/", "to the filters of sessions"]]],
  ["A session", [["i", "write"], ["Ctrl Enter", "send (Cmd Enter, too)"], ["j k", "next and previous event"],
    ["y", "to the tool that waits: Enter allows it"], ["d", "to the reason why not: Enter denies it"],
    ["x", "interrupt"],
    ["v", "hide or show model requests and status"], ["G", "to the newest event"]]],
];
const STORED = "assay-single-keys";
/** A `g` waits this long for its second key. */
const SECOND_KEY_MS = 1500;

/** Whether keys without Ctrl do something: people who dictate want to turn them off. */
function are_on() {
  return localStorage.getItem(STORED) !== "off";
}

export function help() {
  if (document.querySelector("dialog[open]")) return;
  const on = h("input", { type: "checkbox", checked: are_on(),
    onchange: (event) => localStorage.setItem(STORED, event.target.checked ? "on" : "off") });
  const close = h("button", { type: "button", class: "primary" }, "Close");
  const made = dialog("Keyboard", h("div", { class: "help" }, HELP.map(([title, rows]) => h("section", {},
    h("h3", {}, title),
    h("dl", {}, rows.map(([keys, what]) => [
      h("dt", {}, keys.split(" ").map((key) => [h("kbd", {}, key), " "])), h("dd", {}, what)]))))),
  h("div", { class: "row end" }, h("label", { class: "check" }, on, "single keys do something"),
    h("span", { class: "grow" }), close));
  made.classList.add("wide");
  close.addEventListener("click", () => made.close());
  close.focus();
}

/** Listens. `act(key)` is asked about keys that mean nothing everywhere; `go` changes the page. */
export function listen({ go, theme, act }) {
  let g_until = 0;
  const places = { s: "/sessions", a: "/agents", e: "/environments", r: "/reports" };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select");
    if (event.key === "Escape" && typing && !event.target.closest("dialog")) {
      typing.blur();
      document.querySelector("#main").focus();
      return;
    }
    const is_busy = typing || document.querySelector("dialog[open]");
    if (is_busy || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "?") { event.preventDefault(); return help(); }
    if (!are_on()) return;
    if (Date.now() < g_until && places[event.key]) {
      g_until = 0;
      event.preventDefault();
      return go(places[event.key]);
    }
    g_until = event.key === "g" ? Date.now() + SECOND_KEY_MS : 0;
    if (event.key === "t") return theme();
    if (event.key.length === 1 && act(event.key)) event.preventDefault();
  });
}
