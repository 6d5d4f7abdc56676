// Campaigns and runs, and a report that would like to know more than it may.

import { assert, play, told } from "./stage.mjs";

await play(async (stage) => {
  const { page } = stage;
  await stage.sign_in();
  await stage.go("/reports");
  const card = (text) => page.locator("article", { hasText: text });
  await card("honest").locator(".badge.ok", { hasText: "COMPLETE" }).waitFor();
  await card("lying").locator(".badge.fail", { hasText: "BLOCKED" }).waitFor();
  await card("runs/2026").locator(".head-line .badge", { hasText: told.more.verdict }).waitFor();
  await card("runs/real").getByText("(2 scenarios, 0 findings)").waitFor();
  await stage.shot("list");

  // A campaign's report, made from its record.
  await card("honest").getByRole("link").click();
  const campaign = page.frameLocator("iframe");
  await campaign.getByRole("heading", { name: "Campaign basket" }).waitFor();
  await campaign.locator("strong", { hasText: "COMPLETE" }).waitFor();
  await stage.shot("campaign");

  // The page that `assay run` wrote: its timelines are drawn by its own script.
  await stage.go("/reports");
  await card("runs/real").getByRole("link").click();
  const real = page.frameLocator("iframe");
  await real.locator("h1").waitFor();
  await real.locator("canvas").first().waitFor({ state: "attached" });
  await stage.shot("run");

  // One that tries what it must not.
  await stage.go("/reports");
  await card("runs/2026").getByRole("link").click();
  const curious = page.frameLocator("iframe");
  await curious.locator('[data-name="health"]').waitFor();
  const found = await curious.locator("li").allTextContents();
  assert.deepEqual(found, ["storage: refused SecurityError", "cookie: refused SecurityError",
    "console: refused SecurityError", "origin: refused OpaqueOrigin", "script: runs",
    "network: refused", "health: refused"]);
  await stage.shot("curious");
  stage.trouble = stage.trouble.filter((text) => !/Content Security Policy/.test(text));

  // In a tab of its own it may do no more.
  const [tab] = await Promise.all([stage.context.waitForEvent("page"),
    page.getByRole("button", { name: "Open in a tab" }).click()]);
  await tab.locator('[data-name="health"]').waitFor();
  assert.equal(await tab.locator('[data-name="storage"]').textContent(), "storage: refused SecurityError");
  assert.equal(await tab.locator('[data-name="network"]').textContent(), "network: refused");
  const address = tab.url();
  assert.ok(!address.includes(told.key), "the key is in no address");
  const posted = await fetch(address, { method: "POST" });
  assert.equal(posted.status, 405);
});
