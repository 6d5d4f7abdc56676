// Agents: a list, a form, and one agent with its versions.

import { badge, button, confirm_dialog, field, fill, h, select } from "./dom.js";
import { clock } from "./format.js";
import { form_dialog } from "./forms.js";
import { all_of, plain_page, things_view, when } from "./list.js";

const TOOLSET = "agent_toolset_20260401";
const ASK = { type: "always_ask" };
/** Tools that most agents begin with. */
const PRESETS = [
  ["none", "no tools", []],
  ["ask", "all built-in tools, asking before bash, edit and write", [{ type: TOOLSET,
    configs: ["bash", "edit", "write"].map((name) => ({ name, permission_policy: ASK })) }]],
  ["all", "all built-in tools, without asking", [{ type: TOOLSET }]],
  ["custom", "a custom tool, which you answer", [{ type: "custom", name: "get_weather",
    description: "The weather in a city",
    input_schema: { type: "object", properties: { city: { type: "string" } } } }]],
];

/** What an agent may use, in words. */
function tool_words(tools) {
  const words = (tools ?? []).map((tool) => {
    if (tool.type === "custom") return tool.name;
    if (tool.type !== TOOLSET) return tool.type;
    const asks = (tool.configs ?? []).filter((config) => config.permission_policy?.type === "always_ask");
    return asks.length ? `built-in (asks: ${asks.map((config) => config.name).join(", ")})` : "built-in";
  });
  return words.length ? words.join(", ") : "none";
}

export function agents_view(root, context, query) {
  return things_view(root, context, query, {
    name: "agent", title: "Agents", path: "agents",
    columns: [["Model", (agent) => agent.model?.id], ["Version", (agent) => agent.version],
      ["Tools", (agent) => tool_words(agent.tools)], ["Changed", (agent) => when(agent.updated_at)]],
    make: () => agent_form(context, undefined, (agent) => context.go(`/agents/${agent.id}`)),
  });
}

/** A form for a new agent, or for the next version of one. */
async function agent_form(context, agent, done) {
  const models = await all_of(context.api, "v1/models").catch((error) => {
    context.toast(error.message, "fail");
  });
  if (!models) return;
  const choices = models.map((model) => [model.id, model.display_name ? `${model.display_name} (${model.id})` : model.id]);
  if (agent && !choices.some(([id]) => id === agent.model.id)) choices.push([agent.model.id, agent.model.id]);
  const name = h("input", { type: "text", required: true, maxlength: 256, value: agent?.name ?? "" });
  const model = select(choices, agent?.model?.id);
  const description = h("input", { type: "text", maxlength: 2048, value: agent?.description ?? "" });
  const system = h("textarea", { rows: 4, value: agent?.system ?? "" });
  const tools = h("textarea", { rows: 8, class: "mono", spellcheck: "false" });
  const preset = select([["", agent ? "as they are" : "choose…"], ...PRESETS], "");
  const write = (value) => { tools.value = JSON.stringify(value, null, 2); };
  write(agent?.tools ?? []);
  preset.addEventListener("change", () => {
    const found = PRESETS.find(([key]) => key === preset.value);
    write(found ? found[2] : agent?.tools ?? []);
  });
  const fields = [field("Name", name), field("Model", model), field("Description", description),
    field("System prompt", system), field("Tools to begin with", preset),
    field("Tools", tools, "As the API takes them, in JSON.")];
  const verb = agent ? "Save a new version" : "Make the agent";
  const made = form_dialog(context, agent ? `Change ${agent.name}` : "New agent", verb, fields, async () => {
    done(await context.api.post(agent ? `v1/agents/${agent.id}` : "v1/agents", {
      name: name.value, model: model.value, description: description.value || null,
      system: system.value || null, tools: parsed(tools.value),
      ...(agent && { version: agent.version }),
    }));
  });
  made.classList.add("wide");
}

function parsed(text) {
  try {
    return JSON.parse(text || "[]");
  } catch (error) {
    throw new Error(`The tools are no JSON: ${error.message}`);
  }
}

export function agent_view(root, context, id) {
  document.title = "Agent · Assay";
  fill(root, h("p", { class: "empty" }, "Loading…"));
  return plain_page(async (is_over) => {
    try {
      const path = `v1/agents/${encodeURIComponent(id)}`;
      const [agent, versions] = await Promise.all([context.api.get(path), all_of(context.api, `${path}/versions`)]);
      if (!is_over()) show_agent(root, context, agent, versions);
    } catch (error) {
      if (!is_over()) fill(root, h("p", { class: "empty" }, error.message));
    }
  });
}

function show_agent(root, context, agent, versions) {
  document.title = `${agent.name} · Assay`;
  const again = () => context.reload();
  const shown = h("div", {});
  const show = (version) => fill(shown, version_card(version, version.version === agent.version));
  const list = h("ul", { class: "versions" }, versions.map((version) => h("li", {},
    button([`Version ${version.version}`, h("span", { class: "muted" }, ` ${clock(version.updated_at)}`)],
      () => show(version), { class: "link", "data-version": version.version }))));
  fill(root, h("div", { class: "page" },
    h("header", { class: "page-head" },
      h("div", { class: "head-line" }, h("h1", { tabindex: -1 }, agent.name), badge(`version ${agent.version}`),
        agent.archived_at && badge("archived"), h("span", { class: "grow" }),
        !agent.archived_at && h("div", { class: "row" },
          button("Change", () => agent_form(context, agent, again)),
          button("Archive", async () => {
            const text = "No more sessions can begin with it; those that have go on.";
            if (!await confirm_dialog(`Archive ${agent.name}?`, text, "Archive")) return;
            await context.api.post(`v1/agents/${agent.id}/archive`).then(again, (error) => context.toast(error.message, "fail"));
          }, { class: "danger" }))),
      h("p", { class: "muted" }, h("code", {}, agent.id), " · ",
        h("a", { href: `#/sessions?agent=${encodeURIComponent(agent.id)}` }, "its sessions"))),
    h("div", { class: "columns" }, shown, h("section", { class: "card" }, h("h2", {}, "Versions"), list))));
  show(agent);
}

function version_card(version, is_latest) {
  const fact = (name, value) => [h("dt", {}, name), h("dd", {}, value)];
  return h("section", { class: "card", "aria-live": "polite" },
    h("h2", {}, `Version ${version.version}`, is_latest && h("span", { class: "muted" }, " · the latest")),
    h("dl", { class: "facts tall" },
      fact("Model", version.model?.id), fact("Description", version.description || "none"),
      fact("Tools", tool_words(version.tools)), fact("Saved", clock(version.updated_at))),
    version.system && [h("h3", {}, "System prompt"), h("pre", { class: "code", tabindex: 0 }, version.system)],
    h("h3", {}, "Tools"), h("pre", { class: "code", tabindex: 0 }, JSON.stringify(version.tools ?? [], null, 2)));
}
