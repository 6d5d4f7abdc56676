// Campaigns of the desk and runs of plans, with their reports. They are read, never changed.

import { badge, button, fill, h } from "./dom.js";
import { plural } from "./format.js";
import { Watch, plain_page, row_key, when } from "./list.js";

/** Parts (stories, scenarios) that are shown before the rest is only counted. */
const PARTS_SHOWN = 12;

export function reports_view(root, context) {
  document.title = "Campaigns and runs · Assay";
  const cards = h("div", { class: "cards" });
  const watch = new Watch(() => context.api.get("console/api/shows"), (found) => {
    const focused = document.activeElement?.getAttribute("href");
    const group = (kind, title) => {
      const all = found.data.filter((one) => one.kind === kind);
      return all.length > 0 && h("section", {}, h("h2", {}, title), all.map(card));
    };
    fill(cards, group("campaign", "Campaigns"), group("run", "Runs"),
      found.data.length === 0 && h("div", { class: "card empty" },
        h("p", {}, found.is_shown ? "Nothing is in the directories this server shows."
          : "This server shows no directories."),
        h("p", {}, "Start it with ", h("code", {}, "assay serve --show DIR"),
          ": campaigns of ", h("code", {}, "assay desk"), " and runs of ", h("code", {}, "assay run"),
          " below DIR are listed here, with their reports.")),
      !found.is_complete && h("p", { class: "muted" }, "There are more; only the first were looked at."));
    if (focused) cards.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  });
  fill(root, h("div", { class: "page" },
    h("header", { class: "page-head" }, h("div", { class: "head-line" },
      h("h1", { tabindex: -1 }, "Campaigns and runs"))),
    watch.notice, cards));
  watch.now();
  return { stop: () => watch.stop(), key: (key) => row_key(root, key) };
}

function card(one) {
  const more = one.parts.length - PARTS_SHOWN;
  return h("article", { class: "card show", "data-kind": one.kind, "data-id": one.id },
    h("div", { class: "head-line" },
      h("h3", {}, one.has_report ? h("a", { class: "main", href: `#/reports/${one.id}` }, one.name) : one.name),
      badge(one.state, one.tone), h("span", { class: "grow" }),
      one.changed_at && h("span", { class: "muted" }, when(one.changed_at))),
    one.summary && h("p", {}, one.summary),
    h("ul", { class: "parts" }, one.parts.slice(0, PARTS_SHOWN).map((part) => h("li", {},
      badge(part.state, part.tone), " ", part.name))),
    more > 0 && h("p", { class: "muted" }, `and ${plural(more, "more part")}`),
    h("p", { class: "muted" }, h("code", {}, one.place), !one.has_report && " · no report yet"));
}

export function report_view(root, context, id) {
  document.title = "Report · Assay";
  const ticket = () => context.api.post(`console/api/shows/${encodeURIComponent(id)}/ticket`);
  const failed = (error) => fill(root, h("p", { class: "empty" }, error.message));
  fill(root, h("p", { class: "empty" }, "Loading…"));
  return plain_page(async (is_over) => {
    const made = await ticket().catch(failed);
    if (is_over() || !made?.path) return;
    const open = button("Open in a tab", async () => {
      // Opened at once, so that it counts as asked for; it leads to the report when that is ready.
      const tab = window.open("about:blank", "_blank");
      const other = await ticket().catch((error) => { context.toast(error.message, "fail"); });
      if (!tab || !other) { tab?.close(); return; }
      tab.opener = null;
      tab.location.replace(new URL(other.path, document.baseURI));
    });
    document.title = `${made.name} · Assay`;
    fill(root, h("div", { class: "report" },
      h("header", { class: "page-head" }, h("div", { class: "head-line" },
        h("h1", { tabindex: -1 }, made.name), badge(made.state, made.tone), h("span", { class: "grow" }),
        open, h("a", { class: "button", href: "#/reports" }, "All"))),
      // Nothing in a report can reach the console: it has an origin of its own, without network.
      h("iframe", { src: made.path, title: `The report of ${made.name}`,
        sandbox: "allow-scripts", referrerpolicy: "no-referrer" })));
  });
}
