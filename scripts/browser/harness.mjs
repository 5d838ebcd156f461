// The program and the browser, each test with a fresh page and folder; and a person's hands.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const { chromium } = createRequire(path.join(process.env.BROWSER_TOOLS, "x"))("playwright-core");

export const LFIELD = process.env.LFIELD;
export const DATA = path.resolve("data");
/** A folder with files of the page, to try them without building the program anew. */
const PAGE = process.env.LFIELD_PAGE;
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** A few strokes for each sample, in its pixels. */
export const STROKES = {
  beetle: { object: [[240, 230], [300, 190], [360, 180], [410, 165]], background: [[60, 50], [200, 70], [330, 30]] },
  tree: { object: [[300, 360], [302, 290], [310, 240]], background: [[30, 60], [180, 50], [380, 40], [600, 60]] },
  lamp: { object: [[235, 160], [260, 230], [330, 230]], background: [[30, 200], [25, 330], [150, 380], [330, 390]] },
  poppy: { object: [[140, 150], [200, 200], [280, 170]], background: [[30, 40], [200, 40], [390, 40], [380, 220]] },
};

export async function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
}

export function folder() {
  return fs.mkdtempSync(path.join(os.tmpdir(), "lfield-browser-"));
}

/** `lfield paint`, with its address; `stop` ends it. */
export async function program(cwd, ...words) {
  const child = spawn(LFIELD, ["paint", "--no-open", "--port", "0", ...words], { cwd, stdio: ["ignore", "ignore", "pipe"] });
  const address = await new Promise((resolve, reject) => {
    let text = "";
    child.stderr.on("data", (data) => {
      text += data;
      const found = text.match(/listening on (\S+)/);
      if (found) resolve(found[1]);
    });
    child.on("exit", () => reject(new Error(text)));
  });
  return { address, child, stop: (signal = "SIGINT") => new Promise((done) => (child.once("exit", done), child.kill(signal))) };
}

export function segment(cwd, ...words) {
  const { status, stderr } = spawnSync(LFIELD, ["segment", ...words], { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

/** A page that hears of everything that should not be. */
export class Page {
  static async open(browser, address, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const self = Object.assign(new Page(), { context, page: await context.newPage(), address, wrong: [] });
    self.page.on("console", (message) => message.type() === "error" && self.wrong.push(message.text()));
    self.page.on("pageerror", (error) => self.wrong.push(error.message));
    self.page.on("request", (request) => {
      const { protocol, host } = new URL(request.url());
      if (!["data:", "blob:"].includes(protocol) && host !== new URL(address).host) self.wrong.push(`asks ${request.url()}`);
    });
    if (PAGE) await self.page.route(/\/(\w+\.\w+)?$/, (route) => route.fulfill({ path: path.join(PAGE, new URL(route.request().url()).pathname.slice(1) || "index.html") }));
    await self.page.goto(address);
    await self.ready();
    return self;
  }

  /** Until the photo is there; its size in pixels. */
  async ready() {
    await this.page.waitForSelector("#canvas", { state: "visible" });
    await this.page.waitForFunction(() => document.getElementById("size").textContent !== "" && document.getElementById("command").textContent !== "");
    this.size = (await this.page.textContent("#size")).split(" × ").map(Number);
  }

  state() {
    return this.page.evaluate(() => ({ ...document.getElementById("state").dataset }));
  }

  /** Until the state is as wanted and answers at least so many strokes. */
  async until(state, generation = 0) {
    const is = ([state, generation]) => {
      const { dataset } = document.getElementById("state");
      return dataset.state === state && Number(dataset.generation) >= generation;
    };
    await this.page.waitForFunction(is, [state, generation], { timeout: 60000 });
    return this.state();
  }

  /** The place in the window of a pixel of the photo. */
  async at([x, y]) {
    const box = await this.page.locator("#canvas").boundingBox();
    return [box.x + (x / this.size[0]) * box.width, box.y + (y / this.size[1]) * box.height];
  }

  /** The pixel of the photo at a place in the window. */
  async pixel([x, y]) {
    const box = await this.page.locator("#canvas").boundingBox();
    return [((x - box.x) / box.width) * this.size[0], ((y - box.y) / box.height) * this.size[1]];
  }

  async draw(points, options = {}) {
    const { mouse } = this.page;
    await mouse.move(...(await this.at(points[0])));
    await mouse.down(options);
    for (const point of points.slice(1)) await mouse.move(...(await this.at(point)), { steps: 4 });
    await mouse.up(options);
  }

  press(key) {
    return this.page.keyboard.press(key);
  }

  /** Strokes on object and background, until they are answered. */
  async answer({ object, background }) {
    await this.press("f");
    await this.draw(object);
    await this.draw(background, { button: "right" });
    return this.until("proved", 2);
  }

  /** The label that is drawn at a pixel: none, object, background. */
  label([x, y]) {
    const look = ([x, y]) => {
      const canvas = document.getElementById("canvas");
      const [r, , b, a] = canvas.getContext("2d").getImageData(x, y, 1, 1).data;
      return a === 0 ? "none" : r > b ? "object" : "background";
    };
    return this.page.evaluate(look, [x, y]);
  }

  async area() {
    return Number((await this.state()).area);
  }

  async slide(bias) {
    await this.page.evaluate((value) => {
      const slider = document.getElementById("bias");
      slider.value = value;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    }, bias);
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }

  async save() {
    await this.press("s");
    await this.page.waitForSelector("#notice.good:not([hidden])", { timeout: 60000 });
    return this.page.textContent("#notice");
  }

  async close() {
    await this.context.close();
    if (this.wrong.length) throw new Error(`the browser complains: ${this.wrong.join("; ")}`);
  }
}
