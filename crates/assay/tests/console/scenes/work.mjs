// A day with a session: signing in, beginning, watching, allowing, denying, answering, interrupting,
// renaming, archiving, deleting.

import { assert, play, told } from "./stage.mjs";

await play(async (stage) => {
  const { page } = stage;
  const log = page.locator(".log");
  const status = page.locator("#session-status");

  // A wrong key opens nothing and is not kept.
  await page.goto(told.console);
  await page.getByLabel("Key").fill("asy_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This key opens nothing here.").waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  await stage.shot("wrong-key");
  await stage.sign_in();
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), ["assay-theme"], "no key is kept");

  // A new session.
  await page.getByRole("button", { name: "New session" }).click();
  const form = page.getByRole("dialog", { name: "New session" });
  await form.getByLabel("Agent").selectOption(told.agent);
  await form.getByLabel("Environment").selectOption(told.environment);
  await form.getByLabel("Title").fill("A day of work");
  await stage.shot("new-session");
  await page.getByRole("button", { name: "Begin" }).click();
  await page.getByRole("heading", { name: "A day of work" }).waitFor();
  await page.locator("#connection", { hasText: "live" }).waitFor();
  const session = await page.evaluate(() => location.hash.split("/").pop());

  // It streams, and counts what it costs.
  await stage.say("hello");
  await log.getByText("Turn 1. You said: hello").waitFor();
  await page.locator("#usage", { hasText: "2 in · 6 out" }).waitFor();
  await log.getByText("model request · tokens 2 in · 6 out").waitFor();
  await page.locator("#live", { hasText: "Agent: Turn 1." }).waitFor({ state: "attached" });

  // Tool calls with what they gave, and changes of files as changes.
  await stage.say("mend the function");
  await log.getByText("Nothing panics any more.").waitFor();
  await page.locator(".diff", { hasText: "src/lib.rs" }).locator(".line.gone", { hasText: "xs[xs.len()]" }).waitFor();
  await page.locator(".diff", { hasText: "src/lib.rs" }).locator(".line.new", { hasText: "xs.last().copied()" }).waitFor();
  assert.equal(await page.locator(".diff", { hasText: "tests/last.rs" }).locator(".line.new").count(), 4);
  await page.locator(".tool", { hasText: "grep" }).locator(".badge.fail", { hasText: "failed" }).waitFor();
  await stage.shot("tools-and-diffs");

  // A tool that asks: denied with a reason, then allowed.
  const bash = page.locator(".tool", { hasText: "ls -la" });
  await stage.say("list files");
  await status.filter({ hasText: "waits for you" }).waitFor();
  await bash.getByLabel("Reason for denying").fill("not today");
  await stage.shot("asks");
  await bash.getByRole("button", { name: "Deny" }).click();
  await log.getByText("There is: not today").waitFor();
  await bash.getByText("You denied it: not today").waitFor();
  await stage.say("list files");
  await bash.nth(1).getByRole("button", { name: "Allow" }).click();
  await log.getByText("There is: README.md").waitFor();
  await bash.nth(1).locator(".badge", { hasText: "done" }).waitFor();
  assert.equal(await page.locator(".tool.waiting").count(), 0);

  // A tool that the person runs.
  await stage.say("the weather, please");
  await page.getByLabel("What did get_weather give?").fill("rain\nand wind");
  await stage.shot("custom-tool");
  await page.getByRole("button", { name: "Send the result" }).click();
  await log.getByText("The weather, as you tell me: rain").waitFor();

  // An interrupt, and errors with what becomes of them.
  await stage.say("wait for me");
  await status.filter({ hasText: "running" }).waitFor();
  assert.ok(await page.getByRole("button", { name: "Delete" }).isDisabled(), "not while it runs");
  await page.getByRole("button", { name: "Interrupt" }).click();
  await log.locator('[data-type="user.interrupt"]').waitFor();
  await status.filter({ hasText: "idle" }).waitFor();
  await stage.say("overload");
  await log.getByText("Trying again helped.").waitFor();
  await log.getByText("it will be tried again").waitFor();
  await stage.say("break");
  await log.getByText("the model said no").waitFor();
  await status.filter({ hasText: "idle" }).waitFor();
  await stage.shot("errors");
  await stage.shows_all(session);

  // Renamed, archived, seen in the list, deleted.
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("Title").fill("A good day");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { name: "A good day" }).waitFor();
  await page.getByRole("button", { name: "Archive" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
  await page.locator(".session-head .badge", { hasText: "archived" }).waitFor();
  await stage.go("/sessions");
  await page.getByText("No sessions yet").waitFor();
  await page.getByLabel("archived, too").check();
  await page.getByRole("link", { name: "A good day" }).waitFor();
  await stage.shot("list");
  await page.getByRole("link", { name: "A good day" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await stage.shot("confirm");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "Sessions" }).waitFor();
  const left = await stage.api("GET", "/v1/sessions?include_archived=true");
  assert.deepEqual(left.data, []);

  // Signing out forgets the key.
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Key").waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});
