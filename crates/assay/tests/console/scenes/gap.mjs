// The server dies while somebody watches, and comes back. What happened meanwhile is caught up, once.

import { assert, play } from "./stage.mjs";

await play(async (stage) => {
  const { page } = stage;
  await stage.sign_in();
  const session = await stage.session("Survives");
  await stage.go(`/sessions/${session}`);
  await page.locator("#connection", { hasText: "live" }).waitFor();
  await stage.say("hello");
  await page.locator(".log").getByText("Turn 1. You said: hello").waitFor();
  await stage.say("wait here");
  await page.locator("#session-status", { hasText: "running" }).waitFor();

  await stage.ask("kill");
  const notice = page.getByRole("alert").filter({ hasText: "No connection since" });
  await notice.waitFor();
  await page.locator("#connection", { hasText: "not connected" }).waitFor();
  await page.locator(".gap-mark", { hasText: "The connection was lost" }).waitFor();
  await page.waitForFunction(() => /Attempt [2-9]/.test(document.querySelector(".gap")?.textContent ?? ""));
  await stage.shot("gap");

  // What is written meanwhile is not lost, and not sent twice.
  await stage.say("said while nobody listened");
  await page.locator(".toast", { hasText: "Sending it again is safe" }).waitFor();
  assert.equal(await page.getByLabel("Message to the agent").inputValue(), "said while nobody listened");
  await stage.shot("unknown");

  await stage.ask("restart");
  await notice.waitFor({ state: "hidden" });
  await page.locator("#connection", { hasText: "live" }).waitFor();
  const mark = page.locator(".gap-mark", { hasText: "Connected again after" });
  await mark.waitFor();
  const caught_up = Number(await mark.getAttribute("data-caught-up"));
  assert.ok(caught_up >= 2, `the turn that was lost has an error and an end: ${caught_up}`);
  await page.locator('[data-type="session.error"]').waitFor();
  await stage.shot("closed");
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".log").getByText("You said: said while nobody listened").waitFor();
  await page.locator("#session-status", { hasText: "idle" }).waitFor();
  await stage.shows_all(session);
  const events = await stage.events(session);
  const said = events.filter((event) => event.type === "user.message");
  assert.equal(said.length, 3, "each message once");

  // A message that arrived, whose answer did not: sent again, it is still one message.
  let is_cut = false;
  await page.route("**/events", async (route) => {
    if (is_cut || route.request().method() !== "POST") return route.continue();
    is_cut = true;
    await route.fetch();
    return route.abort();
  });
  await stage.say("said once");
  await page.locator(".toast", { hasText: "Sending it again is safe" }).last().waitFor();
  await page.locator(".log").getByText("You said: said once").waitFor();
  await page.getByRole("button", { name: "Send" }).click();
  await page.waitForFunction(() => document.querySelector("#message").value === "");
  const again = (await stage.events(session)).filter((event) => event.type === "user.message");
  assert.equal(again.length, 4, "what was said once is there once");

  // Once more, while nothing happens: nothing is missed, and that is said.
  await stage.ask("kill");
  await notice.waitFor();
  await stage.ask("restart");
  await page.locator('.gap-mark[data-caught-up="0"]', { hasText: "nothing was missed" }).waitFor();
  await stage.shows_all(session);

  // Lists say that they are old, and come back by themselves.
  await stage.go("/sessions");
  await page.getByRole("link", { name: "Survives" }).waitFor();
  await stage.ask("kill");
  await page.getByRole("alert").filter({ hasText: "The server cannot be reached" }).waitFor();
  await stage.shot("list-away");
  await stage.ask("restart");
  await page.getByRole("button", { name: "Try now" }).click();
  await page.getByRole("alert").filter({ hasText: "cannot be reached" }).waitFor({ state: "hidden" });

  // A session that somebody else deletes ends here, too.
  await stage.go(`/sessions/${session}`);
  await page.locator("#connection", { hasText: "live" }).waitFor();
  await stage.api("DELETE", `/v1/sessions/${session}`);
  await page.getByRole("alert").filter({ hasText: "Nothing more comes" }).waitFor();
  await stage.shot("deleted");
});
