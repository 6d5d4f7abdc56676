// What every scene begins with: a browser with a profile of its own and no way out of this machine,
// eyes for whatever goes wrong in the page, and a way to ask the test for things.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

/** Longer than anything takes on a busy machine. */
const PATIENCE_MS = 60_000;
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"];

export const told = JSON.parse(process.argv[2]);
const { chromium } = createRequire(told.modules)("playwright-core");

/** Plays a scene and closes everything, whatever happens. */
export async function play(scene, options = {}) {
  const context = await chromium.launchPersistentContext(told.profile, {
    executablePath: told.chromium, headless: true, args: FLAGS,
    viewport: { width: 1280, height: 860 }, reducedMotion: "reduce", ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = context.pages()[0] ?? await context.newPage();
  const stage = new Stage(context, page);
  try {
    await scene(stage);
    assert.deepEqual(stage.trouble, [], "the page complained");
    assert.deepEqual(stage.strangers, [], "the page asked somebody else");
  } catch (error) {
    await stage.shot("failed").catch(() => {});
    console.error(error);
    console.error("the page complained about:", stage.trouble);
    process.exitCode = 1;
  } finally {
    await context.close();
    process.stdin.destroy();
  }
}

class Stage {
  trouble = [];
  strangers = [];
  #shots = 0;
  #answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

  constructor(context, page) {
    this.context = context;
    this.page = page;
    const home = new URL(told.console).origin;
    page.on("pageerror", (error) => this.trouble.push(String(error)));
    page.on("console", (message) => {
      // The browser itself reports each request that fails; scenes that cause some look for that.
      const is_network = /Failed to load resource/.test(message.text());
      if (message.type() === "error" && !is_network) this.trouble.push(message.text());
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(home) && !url.startsWith("about:")) this.strangers.push(url);
    });
  }

  /** Asks the test for something, and waits until it is done. */
  async ask(command) {
    console.log(`@${command}`);
    const { value } = await this.#answers.next();
    assert.equal(value, "done");
  }

  async shot(name) {
    this.#shots += 1;
    const path = `${told.shots}/${String(this.#shots).padStart(2, "0")}-${name}.png`;
    await this.page.screenshot({ path });
  }

  /** Opens the console and signs in. */
  async sign_in() {
    await this.page.goto(told.console);
    await this.page.getByLabel("Key").fill(told.key);
    await this.page.getByRole("button", { name: "Sign in" }).click();
    await this.page.getByRole("heading", { name: "Sessions" }).waitFor();
  }

  async go(path) {
    await this.page.evaluate((hash) => { location.hash = hash; }, path);
  }

  /** A session that is begun behind the page's back. */
  async session(title) {
    return (await this.api("POST", "/v1/sessions", {
      agent: told.agent, environment_id: told.environment, title,
    })).id;
  }

  async api(method, path, body) {
    const answer = await fetch(new URL(path, told.console), {
      method,
      headers: {
        "x-api-key": told.key, "anthropic-version": "2023-06-01",
        "anthropic-beta": "managed-agents-2026-04-01", "content-type": "application/json",
      },
      body: body && JSON.stringify(body),
    });
    const said = await answer.json();
    assert.equal(answer.status, 200, JSON.stringify(said));
    return said;
  }

  /** All events of a session, as the API lists them. */
  async events(session) {
    const all = [];
    let page = "";
    do {
      const found = await this.api("GET", `/v1/sessions/${session}/events?limit=100${page && `&page=${page}`}`);
      all.push(...found.data);
      page = found.next_page;
    } while (page);
    return all;
  }

  async send(session, text) {
    const event = { type: "user.message", content: [{ type: "text", text }] };
    await this.api("POST", `/v1/sessions/${session}/events`, { events: [event] });
  }

  /** Writes into the box of the page and sends it as people do. */
  async say(text) {
    await this.page.getByLabel("Message to the agent").fill(text);
    await this.page.keyboard.press("Control+Enter");
  }

  /** Waits until the page shows every event of the log, each once. */
  async shows_all(session) {
    const wanted = (await this.events(session)).map((event) => event.id);
    await this.page.waitForFunction(
      (count) => document.querySelectorAll(".log [data-event-id]").length >= count, wanted.length)
      .catch(() => {});
    const ids = await this.page.locator(".log [data-event-id]")
      .evaluateAll((all) => all.map((one) => one.dataset.eventId));
    assert.deepEqual([...ids].sort(), wanted, "the page shows what the log has, once each");
  }
}

export { assert };
