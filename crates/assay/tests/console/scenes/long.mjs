// Ten thousand events: the end is there at once, the page holds a part of them, and older ones come
// when somebody asks.

import { assert, play, told } from "./stage.mjs";

/** More than a snapshot has, far less than the log. */
const ROWS_MAX = 400;

await play(async (stage) => {
  const { page } = stage;
  await stage.sign_in();
  const session = await stage.session("Long");
  const shown = () => page.locator(".log [data-event-id]").count();
  // Watched from its beginning, so that rows come and go.
  await stage.go(`/sessions/${session}`);
  await page.locator("#connection", { hasText: "live" }).waitFor();
  for (let turn = 0; turn < told.more.turns; turn += 1) await stage.send(session, `turn ${turn}`);
  await page.locator('.log [data-type="session.status_idle"]').waitFor();
  const events = await stage.events(session);
  assert.ok(events.length >= told.more.events_min, `${events.length} events`);
  assert.ok(await shown() < 3000, `old rows are taken away: ${await shown()}`);
  await page.getByRole("button", { name: "Load older events" }).waitFor();

  // Opened anew.
  await page.reload();
  const newest = page.locator(`[data-event-id="${events.at(-1).id}"]`);
  await newest.waitFor();
  await page.locator("#connection", { hasText: "live" }).waitFor();
  assert.ok(await newest.evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight), "the end is in sight");
  assert.equal(await shown(), 200);
  await stage.shot("end");
  const load = page.getByRole("button", { name: "Load older events" });
  await load.click();
  await page.waitForFunction(() => document.querySelectorAll(".log [data-event-id]").length === 300);
  await stage.shot("older");
  const ids = await page.locator(".log [data-event-id]").evaluateAll((all) => all.map((one) => one.dataset.eventId));
  assert.deepEqual([...ids].sort(), events.slice(-300).map((event) => event.id));
  assert.ok(ids.length <= ROWS_MAX);
  // It goes on at its end.
  await stage.send(session, "one more");
  await page.locator(".log .user", { hasText: "one more" }).waitFor({ state: "attached" });
  await page.getByRole("button", { name: "New events below" }).click();
  await page.locator(".log .user", { hasText: "one more" }).waitFor({ state: "attached" });
});
