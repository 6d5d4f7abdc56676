// Titles, messages, inputs and results with markup in them: all of it is shown, none of it does
// anything.

import { assert, play, told } from "./stage.mjs";

const EVIL = "<img src=x onerror=\"window.harmed=9\"><script>window.harmed=8</script>";

await play(async (stage) => {
  const { page } = stage;
  await stage.sign_in();
  const session = await stage.session(`Title ${EVIL}`);
  await stage.api("POST", "/v1/agents", { name: `Agent ${EVIL}`, model: "scripted", system: EVIL, description: EVIL });
  await stage.api("POST", "/v1/environments", { name: `Environment ${EVIL}`, description: EVIL });

  await stage.go("/sessions?archived=yes");
  await page.getByRole("link", { name: `Title ${EVIL}` }).click();
  await page.getByRole("heading", { name: `Title ${EVIL}` }).waitFor();
  await stage.say(`markup ${EVIL}`);
  await page.locator(".tool.waiting").getByRole("button", { name: "Allow" }).click();
  await page.locator(".log .agent", { hasText: EVIL }).waitFor();
  await page.locator(".log .user", { hasText: EVIL }).waitFor();
  await page.locator(".tool", { hasText: "</pre><script>window.harmed=2</script>" }).waitFor();
  await page.locator(".diff", { hasText: "<b>a</b>" }).waitFor();
  await stage.shot("session");
  for (const [path, name] of [["/agents", `Agent ${EVIL}`], ["/environments", `Environment ${EVIL}`]]) {
    await stage.go(path);
    await page.getByRole("link", { name }).click();
    await page.getByRole("heading", { name }).waitFor();
    await stage.shot(path.slice(1));
  }
  await stage.go(`/sessions/${encodeURIComponent(EVIL)}`);
  await page.getByText("Nothing more comes").waitFor();

  const found = await page.evaluate(() => ({
    harmed: window.harmed,
    images: [...document.images].map((one) => one.getAttribute("src")),
    frames: document.querySelectorAll("iframe, object, embed, svg").length,
    scripts: [...document.scripts].map((one) => one.getAttribute("src")),
  }));
  assert.deepEqual(found, { harmed: undefined, images: ["favicon.svg"], frames: 0, scripts: ["app.js"] });

  // The browser itself refuses markup made of text, should one of us ever try.
  const refused = await page.evaluate(() => {
    try {
      document.createElement("div").innerHTML = "<b>x</b>";
      return "taken";
    } catch (error) {
      return error.name;
    }
  });
  assert.equal(refused, "TypeError");
  assert.equal(stage.trouble.filter((text) => /TrustedHTML/.test(text)).length, 1, "and says so");
  stage.trouble = stage.trouble.filter((text) => !/TrustedHTML/.test(text));
  assert.ok(told.key && !page.url().includes(told.key), "the key is in no address");
});
