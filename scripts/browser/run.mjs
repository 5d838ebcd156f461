// Everything a person does with the page, in Chromium. `--pictures` also makes the pictures of docs/paint.md, `--latency` prints times.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { DATA, Page, STROKES, folder, launch, program, segment } from "./harness.mjs";
import { latency } from "./latency.mjs";
import { pictures } from "./pictures.mjs";

const browser = await launch();
const tests = [];
const test = (name, run) => tests.push([name, run]);

/** A program on a photo and a page of it, both closed in the end. */
async function painting(words, run, options) {
  const cwd = folder();
  const server = await program(cwd, ...words);
  try {
    const page = await Page.open(browser, server.address, options);
    await run(page, cwd, server);
    await page.close();
  } finally {
    await server.stop();
    fs.rmSync(cwd, { recursive: true });
  }
}

const same = (cwd, a, b) => assert.ok(fs.readFileSync(path.join(cwd, a)).equals(fs.readFileSync(path.join(cwd, b))), `${a} and ${b} differ`);
const beetle = path.join(DATA, "beetle.png");
const { object, background } = STROKES.beetle;
const SCRIBBLES = ["--scribbles", "out/beetle.scribbles.png"];

test("strokes are proved, and saved as segment would", () =>
  painting([beetle, "-o", "out"], async (page, cwd) => {
    assert.equal((await page.state()).state, "empty");
    await page.answer(STROKES.beetle);
    assert.match(await page.save(), /beetle\.mask\.png/);
    const command = await page.page.textContent("#command");
    assert.equal(command, `lfield segment ${beetle} --scribbles out/beetle.scribbles.png -o out`);
    segment(cwd, beetle, ...SCRIBBLES, "-o", "again");
    for (const name of ["mask", "heatmap", "marginals"]) same(cwd, `out/beetle.${name}.png`, `again/beetle.${name}.png`);
  }));

test("undo to empty and redo", () =>
  painting([beetle, "-o", "out"], async (page, cwd) => {
    const { area } = await page.answer(STROKES.beetle);
    const file = fs.readFileSync(path.join(cwd, "out/beetle.scribbles.png"));
    await page.press("z");
    await page.press("Control+z");
    await page.until("empty", 4);
    assert.ok(!fs.existsSync(path.join(cwd, "out/beetle.scribbles.png")));
    assert.equal(await page.label(object[0]), "none");
    assert.ok(await page.page.isDisabled("[data-action=undo]"));
    await page.press("Shift+Z");
    await page.page.click("[data-action=redo]");
    const again = await page.until("proved", 6);
    assert.ok(Math.abs(again.area - area) < 1e-3, `${again.area} ${area}`);
    assert.ok(fs.readFileSync(path.join(cwd, "out/beetle.scribbles.png")).equals(file));
  }));

test("the eraser takes strokes away, also by Alt", () =>
  painting([beetle, "-o", "out"], async (page) => {
    await page.answer(STROKES.beetle);
    await page.page.keyboard.down("Alt");
    await page.draw([object[0], object[0]]);
    await page.page.keyboard.up("Alt");
    await page.until("proved", 3);
    assert.equal(await page.label(object[0]), "none");
    assert.equal(await page.label(object[3]), "object");
    await page.press("e");
    await page.draw([object[3], object[3]]);
    await page.until("proved", 4);
    assert.equal(await page.label(object[3]), "none");
  }));

test("the auto brush turns a wrong region", () =>
  painting([beetle, "-o", "out"], async (page) => {
    const before = (await page.answer(STROKES.beetle)).area;
    await page.press("a");
    const inside = [[290, 240], [330, 215]];
    await page.draw(inside);
    const after = await page.until("proved", 3);
    assert.equal(await page.label(inside[0]), "background");
    assert.ok(Number(after.area) < Number(before), `${after.area} ${before}`);
    const outside = [[60, 150], [60, 220]];
    await page.draw(outside);
    await page.until("proved", 4);
    assert.equal(await page.label(outside[0]), "object");
  }));

test("the slider changes the area monotonically, and Save there is segment --bias", () =>
  painting([beetle, "-o", "out"], async (page, cwd) => {
    await page.answer(STROKES.beetle);
    let last = Infinity;
    for (const bias of [-6, -3, -1, -0.5, 0, 0.5, 1, 3, 6]) {
      await page.slide(bias);
      const area = await page.area();
      assert.ok(area <= last, `${area} after ${last} at ${bias}`);
      last = area;
    }
    await page.slide(-1.5);
    await page.page.waitForFunction(() => document.getElementById("command").textContent.endsWith("--bias -1.5"));
    await page.save();
    segment(cwd, beetle, ...SCRIBBLES, "--bias", "-1.5", "-o", "again");
    for (const name of ["mask", "heatmap", "marginals"]) same(cwd, `out/beetle.${name}.png`, `again/beetle.${name}.png`);
  }));

test("zoom and pan keep strokes at their pixels", () =>
  painting([beetle, "-o", "out"], async (page) => {
    await page.draw(object);
    await page.until("empty", 1);
    // Browsers round the place of a wheel to whole pixels of the window.
    const place = (await page.at([320, 200])).map(Math.round);
    const before = await page.pixel(place);
    await page.page.mouse.move(...place);
    for (let i = 0; i < 6; i++) await page.page.mouse.wheel(0, -200);
    await page.page.waitForFunction((before) => document.getElementById("canvas").getBoundingClientRect().width > 3 * before, 640);
    const after = await page.pixel(place);
    assert.ok(Math.hypot(after[0] - before[0], after[1] - before[1]) < 0.5, `the pixel under the cursor stays there: ${before} ${after}`);
    const [x, y] = await page.at([320, 200]);
    await page.page.keyboard.down("Space");
    await page.draw([[320, 200], [300, 190]]);
    await page.page.keyboard.up("Space");
    const [u, v] = await page.at([320, 200]);
    assert.ok(u < x - 30 && v < y - 10, "the photo has moved");
    assert.equal((await page.state()).generation, "1", "a pan is no stroke");
    await page.press("[");
    await page.draw([[330.5, 210.5], [330.5, 210.5]]);
    await page.until("empty", 2);
    await page.press("0");
    assert.equal(await page.label([330, 210]), "object");
    assert.equal(await page.label(object[1]), "object");
    assert.equal(await page.label([330, 240]), "none");
  }));

test("a reload and a restart restore the strokes", async () => {
  const cwd = folder();
  let server = await program(cwd, beetle, "-o", "out");
  let page = await Page.open(browser, server.address);
  const { area } = await page.answer(STROKES.beetle);
  await page.page.reload();
  await page.ready();
  assert.equal((await page.until("proved", 2)).area, area);
  assert.equal(await page.label(object[0]), "object");
  await page.press("z");
  await page.until("empty", 3);
  await page.press("Shift+Z");
  await page.until("proved", 4);
  await page.close();
  await server.stop();
  server = await program(cwd, beetle, "-o", "out");
  page = await Page.open(browser, server.address);
  const restored = await page.until("proved", 1);
  assert.ok(Math.abs(restored.area - area) < 1e-3);
  assert.equal(await page.label(background[0]), "background");
  await page.close();
  await server.stop();
});

test("a folder: the next photo by key, each with its own strokes", () =>
  painting([DATA, "-o", "out"], async (page, cwd) => {
    await page.answer(STROKES.beetle);
    await page.press("n");
    await page.page.waitForFunction(() => document.getElementById("name").textContent === "lamp.png");
    await page.ready();
    await page.until("empty");
    await page.answer(STROKES.lamp);
    await page.page.click("[data-action=next]");
    await page.page.waitForFunction(() => document.getElementById("name").textContent === "poppy.png");
    await page.press("p");
    await page.page.waitForFunction(() => document.getElementById("name").textContent === "lamp.png");
    await page.until("proved", 2);
    await page.save();
    const states = await page.page.$$eval(".badge", (badges) => badges.map((badge) => badge.textContent));
    assert.deepEqual(states, ["strokes", "saved", "new", "new"]);
    await page.page.waitForFunction(() => [...document.querySelectorAll(".album img")].every((image) => image.naturalWidth > 0));
    assert.deepEqual(fs.readdirSync(path.join(cwd, "out")).filter((name) => name.includes("scribbles")), ["beetle.scribbles.png", "lamp.scribbles.png"]);
  }));

test("the keyboard is enough", () =>
  painting([beetle, "-o", "out"], async (page, cwd) => {
    const { keyboard } = page.page;
    await page.page.focus("#canvas");
    const go = async (key, n) => {
      for (let i = 0; i < n; i++) await keyboard.press(key);
    };
    await keyboard.press("f");
    await keyboard.press("Enter");
    await go("ArrowRight", 8);
    await keyboard.press("Enter");
    await page.until("empty", 1);
    await keyboard.press("b");
    await go("ArrowUp", 45);
    await keyboard.press("Enter");
    await go("ArrowLeft", 60);
    await keyboard.press("Enter");
    await page.until("proved", 2);
    assert.equal(await page.label([320, 213]), "object");
    assert.equal(await page.label([200, 10]), "background");
    // Buttons by Tab, each with a name.
    await page.page.focus("[data-action=save]");
    await keyboard.press("Enter");
    await page.page.waitForSelector("#notice.good:not([hidden])", { timeout: 60000 });
    assert.ok(fs.existsSync(path.join(cwd, "out/beetle.mask.png")));
    await keyboard.press("?");
    assert.ok(await page.page.isVisible("#keys"));
    await keyboard.press("Escape");
    assert.ok(!(await page.page.isVisible("#keys")));
    for (const key of ["h", "m", "c", "v", "v", "u", "+", "-", "0", "[", "]"]) await keyboard.press(key);
    const nameless = await page.page.$$eval("button, input, canvas[tabindex]", (all) =>
      all.filter((one) => !(one.title || one.getAttribute("aria-label") || one.textContent.trim() || one.closest("label[title]"))).map((one) => one.outerHTML));
    assert.deepEqual(nameless, []);
  }));

test("touch draws, pinch zooms, a pen draws", () =>
  painting(
    [beetle, "-o", "out"],
    async (page) => {
      const client = await page.context.newCDPSession(page.page);
      const touch = async (type, ...points) => {
        const touchPoints = [];
        for (const [id, point] of points.entries()) {
          const [x, y] = await page.at(point);
          touchPoints.push({ x, y, id });
        }
        await client.send("Input.dispatchTouchEvent", { type, touchPoints });
      };
      await touch("touchStart", object[0]);
      for (const point of object.slice(1)) await touch("touchMove", point);
      await touch("touchEnd");
      await page.until("empty", 1);
      assert.equal(await page.label(object[1]), "object");
      const width = () => page.page.evaluate(() => document.getElementById("canvas").getBoundingClientRect().width);
      const before = await width();
      const middle = await page.at([320, 213]);
      const two = (gap) => [{ x: middle[0] - gap, y: middle[1], id: 0 }, { x: middle[0] + gap, y: middle[1], id: 1 }];
      await client.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: two(40).slice(0, 1) });
      await client.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: two(40) });
      for (const gap of [60, 80, 100]) await client.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: two(gap) });
      await client.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
      assert.ok((await width()) > 1.8 * before, `${await width()} ${before}`);
      assert.equal((await page.state()).generation, "1", "a pinch is no stroke");
      await page.press("0");
      await page.press("b");
      const pen = async (type, point, buttons) => {
        const [x, y] = await page.at(point);
        await client.send("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons, clickCount: 1, pointerType: "pen", force: 0.5 });
      };
      await pen("mousePressed", background[0], 1);
      for (const point of background.slice(1)) await pen("mouseMoved", point, 1);
      await pen("mouseReleased", background[2], 0);
      await page.until("proved", 2);
      assert.equal(await page.label(background[0]), "background");
    },
    { hasTouch: true },
  ));

test("the most doubtful place, views and opacity", () =>
  painting([beetle, "-o", "out"], async (page) => {
    await page.answer(STROKES.beetle);
    const overlay = () => page.page.evaluate(() => document.getElementById("overlay").toDataURL().length + String(document.getElementById("overlay").hidden));
    const seen = new Set();
    for (const key of ["m", "h", "c", "v"]) {
      await page.press(key);
      seen.add(await overlay());
    }
    assert.equal(seen.size, 4);
    await page.press("v");
    const width = () => page.page.evaluate(() => document.getElementById("canvas").getBoundingClientRect().width);
    const before = await width();
    await page.press("u");
    assert.ok((await width()) > before && (await page.page.isVisible("#spot")));
  }));

test("a photo that fails and a program that ends are said in the page", async () => {
  const cwd = folder();
  fs.mkdirSync(path.join(cwd, "photos"));
  fs.copyFileSync(beetle, path.join(cwd, "photos/a.png"));
  fs.writeFileSync(path.join(cwd, "photos/b.png"), "no photo");
  const server = await program(cwd, "photos", "-o", "out");
  const page = await Page.open(browser, server.address);
  await page.press("n");
  await page.until("failed");
  assert.match(await page.page.textContent("#notice"), /b\.png/);
  await page.press("p");
  await page.until("empty");
  await page.draw(object);
  await page.until("empty", 1);
  await server.stop();
  await page.until("failed");
  assert.match(await page.page.textContent("#notice"), /start it again/i);
  await page.context.close();
  const other = await browser.newPage();
  const again = await program(cwd, "photos", "-o", "out");
  await other.goto(again.address.replace(/#.*/, "#wrong"));
  await other.waitForSelector("#notice:not([hidden])");
  assert.match(await other.textContent("#notice"), /whole address/);
  await other.close();
  await again.stop();
});

test("a large photo: working size on the page, full size on disk, tiles in between", () =>
  painting([path.join(process.env.LARGE_PHOTO ?? "large.png"), "-o", "out"], async (page, cwd) => {
    assert.deepEqual(page.size, [1920, 1281]);
    const working = await page.page.evaluate(() => [document.getElementById("canvas").width, document.getElementById("canvas").height]);
    assert.ok(working[0] * working[1] <= 1.1e6 && working[0] < 1920);
    const scaled = (points) => points.map(([x, y]) => [3 * x, 3 * y]);
    await page.answer({ object: scaled(object), background: scaled(background) });
    for (let i = 0; i < 4; i++) await page.press("+");
    await page.page.waitForFunction(() => document.querySelectorAll("#tiles canvas").length > 1);
    assert.equal(fs.readFileSync(path.join(cwd, "out", fs.readdirSync(path.join(cwd, "out"))[0])).readUInt32BE(16), 1920);
  }));

const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const options = process.argv.slice(2).filter((word) => word.startsWith("--"));
let failed = 0;
let passed = 0;
process.env.LARGE_PHOTO = await large();
for (const [name, run] of tests.filter(([name]) => wanted.every((word) => name.includes(word)))) {
  const began = Date.now();
  try {
    await run();
    passed++;
    console.log(`ok      ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
if (options.includes("--latency")) await latency(browser);
if (options.includes("--pictures")) await pictures(browser);
await browser.close();
fs.rmSync(path.dirname(process.env.LARGE_PHOTO), { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

/** The sample, three times as large, made by the browser. */
async function large() {
  const page = await browser.newPage();
  const data = await page.evaluate(async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 3 * image.width, height: 3 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/jpeg", 0.95);
  }, `data:image/png;base64,${fs.readFileSync(beetle, "base64")}`);
  await page.close();
  const file = path.join(folder(), "large.jpg");
  fs.writeFileSync(file, Buffer.from(data.split(",")[1], "base64"));
  return file;
}
