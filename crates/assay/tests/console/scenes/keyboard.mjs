// Without a mouse: from the key to an answered tool, and everything is reached by Tab.

import { assert, play, told } from "./stage.mjs";

await play(async (stage) => {
  const { page } = stage;
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  const focused = () => page.evaluate(() => {
    const one = document.activeElement;
    return one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent.trim().slice(0, 60);
  });

  await page.goto(told.console);
  await page.getByLabel("Key").waitFor();
  await page.keyboard.type(told.key);
  await press("Enter");
  await page.getByRole("heading", { name: "Sessions" }).waitFor();
  assert.equal(await focused(), "Sessions", "a new page begins at its heading");

  // Help, and the page behind it does nothing meanwhile.
  await press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await stage.shot("help");
  await press("n", "Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  // A new session, by its letter and Tab alone.
  await press("n");
  await page.getByRole("dialog", { name: "New session" }).waitFor();
  for (const label of ["Agent", "Environment", "Title"]) {
    assert.equal(await focused(), label);
    if (label === "Title") await page.keyboard.type("By keyboard");
    await press("Tab");
  }
  assert.equal(await focused(), "First message");
  await page.keyboard.type("hello");
  await press("Tab", "Tab");
  assert.equal(await focused(), "Begin");
  await stage.shot("focus");
  await press("Enter");
  await page.getByRole("heading", { name: "By keyboard" }).waitFor();
  await page.locator(".log").getByText("You said: hello").waitFor();

  // Writing, allowing, answering, denying, interrupting.
  const write = async (text) => {
    await press("i");
    await page.keyboard.type(text);
    await press("Control+Enter");
    await page.waitForFunction(() => document.querySelector("#message").value === "");
    await press("Escape");
  };
  await write("list files");
  await page.locator(".tool.waiting").waitFor();
  await press("y");
  assert.equal(await focused(), "Allow", "a single key decides nothing");
  await press("Enter");
  await page.locator(".log").getByText("There is: README.md").waitFor();
  await press("Escape");
  await write("list files");
  await page.locator(".tool.waiting").waitFor();
  await press("d");
  await page.keyboard.type("never");
  await press("Enter");
  await page.locator(".log").getByText("There is: never").waitFor();
  await press("Escape");
  await write("weather");
  await page.locator(".tool.waiting").waitFor();
  await press("y");
  assert.equal(await focused(), "What did get_weather give?");
  await page.keyboard.type("snow");
  await press("Control+Enter");
  await page.locator(".log").getByText("as you tell me: snow").waitFor();
  await press("Escape");
  await write("wait");
  await page.locator("#session-status", { hasText: "running" }).waitFor();
  await press("x");
  await page.locator("#session-status", { hasText: "idle" }).waitFor();

  // Along the events.
  await press("k");
  const last = await page.evaluate(() => document.activeElement.dataset.eventId);
  await press("k");
  const before = await page.evaluate(() => document.activeElement.dataset.eventId);
  assert.ok(before < last, `${before} is before ${last}`);
  await stage.shot("event-focus");
  await press("v");
  assert.equal(await page.locator(".event.detail").first().isVisible(), false);
  await press("v");

  // Everything on the page is reached by Tab, and shows where one is.
  await page.evaluate(() => document.activeElement.blur());
  const reached = new Set();
  for (let step = 0; step < 60; step += 1) {
    await press("Tab");
    reached.add(await focused());
    const outline = await page.evaluate(() => {
      const one = document.activeElement;
      return one === document.body ? "page" : getComputedStyle(one).outlineStyle;
    });
    assert.notEqual(outline, "none", await focused());
  }
  for (const name of ["Skip to the content", "Sessions", "Agents", "Environments", "Campaigns and runs",
    "Rename", "Archive", "Delete", "Message to the agent", "Interrupt", "Sign out"]) {
    assert.ok(reached.has(name), `${name} is reached by Tab: ${[...reached].join(" | ")}`);
  }

  // Lists, and back.
  await press("Escape", "g", "s");
  await page.getByRole("heading", { name: "Sessions" }).waitFor();
  await page.getByRole("link", { name: "By keyboard" }).waitFor();
  await press("j", "Enter");
  await page.getByRole("heading", { name: "By keyboard" }).waitFor();
  await press("g", "a");
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  await press("g", "e");
  await page.getByRole("heading", { name: "Environments" }).waitFor();
  await press("g", "r");
  await page.getByRole("heading", { name: "Campaigns and runs" }).waitFor();

  // Single keys can be turned off; help stays.
  await press("?");
  await page.getByLabel("single keys do something").uncheck();
  await press("Escape", "g", "s", "?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  assert.ok(page.url().endsWith("#/reports"), page.url());
});
