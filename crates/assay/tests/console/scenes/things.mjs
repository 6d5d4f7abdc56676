// Agents with versions, environments, and the list of sessions with its filters and pages.

import { assert, play, told } from "./stage.mjs";

await play(async (stage) => {
  const { page } = stage;
  await stage.sign_in();

  // An agent, and a second version of it.
  await stage.go("/agents");
  await page.getByRole("button", { name: "New agent" }).click();
  await page.getByLabel("Name").fill("helper");
  await page.getByLabel("System prompt").fill("Be brief.");
  await page.getByLabel("Tools to begin with").selectOption("ask");
  await stage.shot("agent-form");
  await page.getByRole("button", { name: "Make the agent" }).click();
  await page.getByRole("heading", { name: "helper" }).waitFor();
  await page.getByText("built-in (asks: bash, edit, write)").waitFor();
  const agent = await page.evaluate(() => location.hash.split("/").pop());
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("System prompt").fill("Be very brief.");
  await page.getByLabel("Tools", { exact: true }).fill("{ no json");
  await page.getByRole("button", { name: "Save a new version" }).click();
  await page.locator(".toast", { hasText: "The tools are no JSON" }).waitFor();
  await page.getByLabel("Tools to begin with").selectOption("none");
  await page.getByRole("button", { name: "Save a new version" }).click();
  await page.getByRole("heading", { name: "Version 2" }).waitFor();
  await page.getByText("Be very brief.").waitFor();
  await page.getByRole("button", { name: /^Version 1/ }).click();
  await page.getByText("Be brief.", { exact: true }).waitFor();
  await stage.shot("agent-versions");

  // An environment.
  await stage.go("/environments");
  await page.getByRole("button", { name: "New environment" }).click();
  await page.getByLabel("Name").fill("closed room");
  await page.getByRole("button", { name: "Make the environment" }).click();
  await page.getByRole("heading", { name: "closed room" }).waitFor();
  await page.getByText("\"limited\"").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "Environments" }).waitFor();
  await page.getByRole("link", { name: "demo" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "closed room" }).count(), 0);

  // Pages of sessions, both ways.
  const rows = page.locator("tbody tr");
  for (let number = 1; number <= 25; number += 1) await stage.session(`Number ${number}`);
  await stage.go("/sessions");
  await page.getByRole("link", { name: "Number 25" }).waitFor();
  assert.equal(await rows.count(), 20);
  await page.getByRole("link", { name: "Older →" }).click();
  await page.getByRole("link", { name: "Number 5", exact: true }).waitFor();
  assert.equal(await rows.count(), 5);
  await page.getByRole("link", { name: "← Newer" }).click();
  await page.getByRole("link", { name: "Number 25" }).waitFor();
  assert.equal(await rows.count(), 20);

  // Filters, and states that change while one looks.
  const made = await stage.api("POST", "/v1/sessions", { agent, environment_id: told.environment, title: "Of the helper" });
  await page.getByRole("link", { name: "Of the helper" }).waitFor();
  await page.getByLabel("Agent", { exact: true }).selectOption(agent);
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
  const row = page.locator("tr", { hasText: "Of the helper" });
  await row.locator(".badge", { hasText: "idle" }).waitFor();
  await stage.send(made.id, "wait");
  await row.locator(".badge", { hasText: "running" }).waitFor();
  await page.getByLabel("Status").selectOption("running");
  await row.locator(".badge", { hasText: "running" }).waitFor();
  await stage.shot("filtered");
  await stage.api("POST", `/v1/sessions/${made.id}/events`, { events: [{ type: "user.interrupt" }] });
  await page.getByText("No session fits these filters.").waitFor();
  await stage.go("/sessions");
  const other = page.locator("tr", { hasText: "Number 25" });
  const listed = await stage.api("GET", "/v1/sessions?limit=2");
  await stage.send(listed.data.find((one) => one.title === "Number 25").id, "list files");
  await other.locator(".badge", { hasText: "waits for you" }).waitFor();
  await stage.shot("list");

  // What has ended is listed by its state, without another word.
  await stage.api("POST", `/v1/sessions/${made.id}/archive`);
  await page.getByLabel("Status").selectOption("terminated");
  const ended = page.locator("tr", { hasText: "Of the helper" });
  await ended.locator(".badge", { hasText: "archived" }).waitFor();
  assert.equal(await rows.count(), 1);
  await stage.shot("terminated");

  // An archived agent begins nothing any more.
  await stage.go(`/agents/${agent}`);
  await page.getByRole("button", { name: "Archive" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
  await page.locator(".page-head .badge", { hasText: "archived" }).waitFor();
});
