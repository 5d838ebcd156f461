// How long a person waits, measured in the page on the four samples, as a Markdown table.

import path from "node:path";

import { DATA, Page, STROKES, folder, program } from "./harness.mjs";

const ROUNDS = 6;

/** Notes in the page when what happened. */
function watch() {
  const log = (globalThis.log = { paint: [], frames: [], released: 0, first: 0, proved: 0 });
  const stage = document.getElementById("stage");
  stage.addEventListener("pointermove", (event) => event.buttons && requestAnimationFrame(() => log.paint.push(performance.now() - event.timeStamp)));
  stage.addEventListener("pointerup", () => Object.assign(log, { released: performance.now(), first: 0, proved: 0 }));
  const state = document.getElementById("state");
  let before = 0;
  const note = () => {
    const now = performance.now();
    const isNew = Number(state.dataset.generation) > before;
    if (isNew && ["provisional", "proved"].includes(state.dataset.state)) log.first ||= now;
    if (isNew && state.dataset.state === "proved") {
      log.proved ||= now;
      before = Number(state.dataset.generation);
    }
  };
  new MutationObserver(note).observe(state, { attributes: true });
  const tick = (now) => {
    if (["solving", "provisional"].includes(state.dataset.state)) log.frames.push(now);
    else log.frames.push(NaN);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

export async function latency(browser) {
  const all = { paint: [], first: [], proved: [], frame: [] };
  console.log("| sample | pointer to screen | first picture | proved | frames a second while solving |\n| --- | --- | --- | --- | --- |");
  const line = (name, { paint, first, proved, frame }) =>
    console.log(`| ${name} | ${median(paint).toFixed(1)} ms | ${median(first).toFixed(0)} ms | ${median(proved).toFixed(0)} ms | ${(1000 / median(frame)).toFixed(0)} |`);
  for (const [name, strokes] of Object.entries(STROKES)) {
    const server = await program(folder(), path.join(DATA, `${name}.png`), "-o", "out");
    const page = await Page.open(browser, server.address);
    await page.answer(strokes);
    await page.page.evaluate(watch);
    const own = { paint: [], first: [], proved: [], frame: [] };
    for (let round = 0; round < ROUNDS; round++) {
      const shift = (points) => points.slice(0, 2).map(([x, y]) => [x + 3 * round, y + 8 + 4 * round]);
      await page.draw(shift(round % 2 ? strokes.object : strokes.background), { button: "left" });
      await page.press(round % 2 ? "b" : "f");
      await page.until("proved", 3 + round);
      const log = await page.page.evaluate(() => ({ ...globalThis.log }));
      own.first.push(log.first - log.released);
      own.proved.push(log.proved - log.released);
    }
    const log = await page.page.evaluate(() => globalThis.log);
    own.paint = log.paint;
    own.frame = log.frames.map((now, i) => now - log.frames[i - 1]).filter((gap) => gap > 0);
    line(name, own);
    for (const key of Object.keys(all)) all[key].push(...own[key]);
    await page.close();
    await server.stop();
  }
  line("all", all);
}
