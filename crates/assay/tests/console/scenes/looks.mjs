// Every page in light and dark, on a desk and in a hand: the words can be read on their grounds,
// nothing runs out of the window, and each theme is the one that was asked for.

import { assert, play } from "./stage.mjs";

/** What the rules for readable text ask for, of words of ordinary size. */
const CONTRAST_MIN = 4.5;

/** Words whose contrast with their ground is too small. */
function faint(least) {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = color;
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const part = (value) => value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(color[0]) + 0.7152 * part(color[1]) + 0.0722 * part(color[2]);
  };
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = rgba(getComputedStyle(one).backgroundColor);
      if (color[3] > 250) return color;
    }
    return rgba(getComputedStyle(document.body).backgroundColor);
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const is_off = element.closest("[disabled], .off, .unseen, .skip");
    if (!words || is_off || !element.checkVisibility()) continue;
    const pair = [light(rgba(getComputedStyle(element).color)), light(ground(element))].sort((a, b) => b - a);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (contrast < least) found.push(`${element.textContent.slice(0, 40)}: ${contrast.toFixed(2)}`);
  }
  return found;
}

const body_color = () => getComputedStyle(document.body).backgroundColor;

await play(async (stage) => {
  const { page } = stage;
  await stage.sign_in();
  const session = await stage.session("Looks");
  await stage.go(`/sessions/${session}`);
  await page.locator("#connection", { hasText: "live" }).waitFor();
  await stage.say("mend it");
  await page.locator(".log").getByText("Nothing panics any more.").waitFor();
  await stage.say("break");
  await page.locator('[data-type="session.error"]').waitFor();
  await stage.say("list files");
  await page.locator(".tool.waiting").waitFor();
  const agent = (await stage.api("GET", "/v1/agents")).data[0].id;
  const pages = [["sessions", "Looks"], [`sessions/${session}`, "waits for you"], ["agents", "demo"],
    [`agents/${agent}`, "Versions"], ["environments", "demo"], ["reports", "shows no directories"]];
  const colors = {};
  const top = async (name) => (await page.getByRole("button", { name, exact: true }).boundingBox()).y;
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    colors[theme] = await page.evaluate(body_color);
    for (const [width, height] of [[1280, 860], [400, 800]]) {
      await page.setViewportSize({ width, height });
      for (const [path, words] of pages) {
        await stage.go(`/${path}`);
        await page.locator("main", { hasText: words }).waitFor();
        if (path.startsWith("sessions/")) await page.locator("#connection", { hasText: "live" }).waitFor();
        await stage.shot(`${theme}-${width}-${path.split("/").length > 1 ? "one-" : ""}${path.split("/")[0]}`);
        assert.deepEqual(await page.evaluate(faint, CONTRAST_MIN), [], `${theme} ${path}`);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${theme} ${width} ${path} is ${over} px too wide`);
        if (path === `agents/${agent}`) assert.equal(await top("Change"), await top("Archive"), "buttons stay together");
        if (path === `sessions/${session}` && width > 1000) {
          const field = await page.locator("#message").boundingBox();
          assert.equal(field.y, await top(/^Send/), "what one writes begins where its buttons do");
        }
      }
    }
  }
  assert.notEqual(colors.light, colors.dark);

  // The button goes before the system, and is remembered.
  await page.setViewportSize({ width: 1280, height: 860 });
  const button = page.getByRole("button", { name: /^Theme/ });
  await button.click();
  assert.equal(await button.textContent(), "Theme: light");
  assert.equal(await page.evaluate(body_color), colors.light, "the system says dark, the button light");
  await page.reload();
  await page.getByRole("heading", { name: "Campaigns and runs" }).waitFor();
  assert.equal(await page.evaluate(body_color), colors.light);
  await button.click();
  assert.equal(await button.textContent(), "Theme: dark");
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  assert.equal(await page.evaluate(body_color), colors.dark);
});
