// What a session has cost: shown where the engine has prices, and only there. What clients noted of it.

import { assert, play, told } from "./stage.mjs";

await play(async (stage) => {
  const { page } = stage;
  await stage.sign_in();
  const open = async (model) => {
    const agent = await stage.api("POST", "/v1/agents", { name: `of ${model}`, model });
    const metadata = { campaign: `of ${model}` };
    const wish = { agent: agent.id, environment_id: told.environment, title: `A ${model} one`, metadata };
    const session = await stage.api("POST", "/v1/sessions", wish);
    await stage.go(`/sessions/${session.id}`);
    await page.getByRole("heading", { name: `A ${model} one` }).waitFor();
    return session.id;
  };
  const fact = (name) => page.locator(".facts > div", { has: page.locator("dt", { hasText: name }) });

  const said = page.locator(".log").getByText("Worth every cent.").first();

  // Nothing was asked, so nothing is said of money; then each turn adds to it.
  const priced = await open("priced");
  await fact("Tokens").waitFor();
  await fact("campaign").getByText("of priced", { exact: true }).waitFor();
  assert.equal(await fact("Cost").count(), 0);
  await stage.say("What is this worth?");
  await said.waitFor();
  await fact("Cost").getByText("1.30 USD", { exact: true }).waitFor();
  await stage.say("And another one?");
  await fact("Cost").getByText("2.60 USD", { exact: true }).waitFor();
  await stage.shot("cost");
  const { usage } = await stage.api("GET", `/v1/sessions/${priced}`);
  assert.deepEqual(usage.list_cost, { amount: "260", currency: "USD" });

  // Without prices nobody knows.
  await open("unpriced");
  await stage.say("What is this worth?");
  await said.waitFor();
  await fact("Tokens").getByText("500").waitFor();
  assert.equal(await fact("Cost").count(), 0);
});
