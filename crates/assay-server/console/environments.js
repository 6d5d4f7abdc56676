// Environments: where agents run.

import { badge, button, confirm_dialog, field, fill, h } from "./dom.js";
import { clock } from "./format.js";
import { form_dialog } from "./forms.js";
import { plain_page, things_view, when } from "./list.js";

function network_words(config) {
  const network = config?.networking;
  if (network?.type !== "limited") return network?.type ?? config?.type ?? "";
  const hosts = network.allowed_hosts ?? [];
  return hosts.length ? `only ${hosts.join(", ")}` : "no network";
}

export function environments_view(root, context, query) {
  return things_view(root, context, query, {
    name: "environment", title: "Environments", path: "environments",
    columns: [["Description", (one) => one.description], ["Network", (one) => network_words(one.config)],
      ["Changed", (one) => when(one.updated_at)]],
    make: () => environment_form(context),
  });
}

function environment_form(context) {
  const name = h("input", { type: "text", required: true, maxlength: 256 });
  const description = h("input", { type: "text", maxlength: 2048 });
  const hint = h("p", { class: "hint" }, "It is closed: tools in it reach no network.");
  const fields = [field("Name", name), field("Description", description), hint];
  form_dialog(context, "New environment", "Make the environment", fields, async () => {
    const body = { name: name.value, ...(description.value && { description: description.value }) };
    const saved = await context.api.post("v1/environments", body);
    context.go(`/environments/${saved.id}`);
  });
}

export function environment_view(root, context, id) {
  document.title = "Environment · Assay";
  fill(root, h("p", { class: "empty" }, "Loading…"));
  const path = `v1/environments/${encodeURIComponent(id)}`;
  return plain_page(async (is_over) => {
    try {
      const one = await context.api.get(path);
      if (!is_over()) show(root, context, path, one);
    } catch (error) {
      if (!is_over()) fill(root, h("p", { class: "empty" }, error.message));
    }
  });
}

function show(root, context, path, one) {
  document.title = `${one.name} · Assay`;
  const act = async (title, text, verb, action, then) => {
    if (!await confirm_dialog(title, text, verb)) return;
    await action().then(then, (error) => context.toast(error.message, "fail"));
  };
  fill(root, h("div", { class: "page" },
    h("header", { class: "page-head" },
      h("div", { class: "head-line" }, h("h1", { tabindex: -1 }, one.name), one.archived_at && badge("archived"),
        h("span", { class: "grow" }),
        h("div", { class: "row" },
          !one.archived_at && button("Archive", () => act(`Archive ${one.name}?`,
            "No more sessions can begin in it; those that have go on.", "Archive",
            () => context.api.post(`${path}/archive`), () => context.reload())),
          button("Delete", () => act(`Delete ${one.name}?`, "This cannot be undone. Sessions that use it keep it alive.",
            "Delete", () => context.api.delete(path), () => context.go("/environments")), { class: "danger" }))),
      h("p", { class: "muted" }, h("code", {}, one.id), one.description && ` · ${one.description}`,
        ` · made ${clock(one.created_at)}`)),
    h("section", { class: "card" }, h("h2", {}, "Configuration"),
      h("pre", { class: "code", tabindex: 0 }, JSON.stringify(one.config, null, 2)))));
}
