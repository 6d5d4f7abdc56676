// The official TypeScript client against a server under test: node smoke.mjs BASE_URL KEY
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";

const [baseURL, apiKey] = process.argv.slice(2);
const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
const { agents, environments, sessions } = client.beta;
const done = [];

const agent = await agents.create({
  name: "smoke",
  model: "scripted",
  tools: [
    { type: "agent_toolset_20260401" },
    { type: "custom", name: "get_weather", description: "d", input_schema: { type: "object" } },
  ],
});
const environment = await environments.create({ name: "smoke" });
const session = await sessions.create({ agent: agent.id, environment_id: environment.id });
assert.equal(session.status, "idle");
assert.equal((await sessions.retrieve(session.id)).id, session.id);
done.push("session");

const text = (message) => [{ type: "text", text: message }];
const send = (...events) => sessions.events.send(session.id, { events });
const say = async (message) =>
  (await send({ type: "user.message", content: text(message) })).data[0].id;

// Everything after an event, up to the first that is wanted.
async function until(after, isWanted) {
  const seen = [];
  const stream = await sessions.events.stream(session.id);
  for await (const event of stream) {
    if (event.id <= after) continue;
    seen.push(event);
    if (isWanted(event)) break;
  }
  return seen;
}
const ended = (event) =>
  event.type === "session.status_idle" && event.stop_reason.type !== "requires_action";
const waits = (event) =>
  event.type === "session.status_idle" && event.stop_reason.type === "requires_action";

let seen = await until(await say("hello"), ended);
assert.ok(seen.some((event) => event.type === "agent.message"));
const listed = [];
for await (const event of sessions.events.list(session.id)) listed.push(event.id);
assert.deepEqual(listed.slice(1), seen.map((event) => event.id), "the list is the stream");
done.push("stream");

seen = await until(await say("weather"), waits);
const use = seen.find((event) => event.type === "agent.custom_tool_use");
assert.equal(use.name, "get_weather");
const answer = { type: "user.custom_tool_result", custom_tool_use_id: use.id, content: text("snow") };
const sent = (await send(answer)).data[0].id;
seen = await until(sent, ended);
const said = seen.filter((event) => event.type === "agent.message").at(-1);
assert.match(said.content[0].text, /snow/);
done.push("tool");

await until(await say("forever"), (event) => event.type === "span.model_request_start");
assert.equal((await sessions.retrieve(session.id)).status, "running");
const interrupt = (await send({ type: "user.interrupt" })).data[0].id;
await until(interrupt, ended);
await until(await say("and on"), ended);
assert.equal((await sessions.retrieve(session.id)).status, "idle");
done.push("interrupt");

console.log(done.join(" "));
