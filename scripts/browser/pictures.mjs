// The pictures of docs/paint.md: three of the page, and frames of a short session that `animate.py` joins.

import fs from "node:fs";
import path from "node:path";

import { DATA, Page, STROKES, folder, program } from "./harness.mjs";

const DOCS = path.resolve("docs/pictures");

export async function pictures(browser) {
  const shot = (page, name) => page.page.screenshot({ path: path.join(DOCS, name), type: "jpeg", quality: 82 });

  const album = await program(folder(), DATA, "-o", "out");
  const page = await Page.open(browser, album.address, { viewport: { width: 1200, height: 760 } });
  await page.answer(STROKES.beetle);
  await page.press("n");
  await page.page.waitForFunction(() => document.getElementById("name").textContent === "lamp.png");
  await page.ready();
  await page.answer(STROKES.lamp);
  await page.save();
  await page.press("n");
  await page.page.waitForFunction(() => document.getElementById("name").textContent === "poppy.png");
  await page.ready();
  await page.answer(STROKES.poppy);
  await page.page.waitForTimeout(300);
  await shot(page, "paint-folder.jpg");
  await page.close();
  await album.stop();

  const dark = await program(folder(), path.join(DATA, "tree.png"), "-o", "out");
  const night = await Page.open(browser, dark.address, { viewport: { width: 1200, height: 760 }, colorScheme: "dark" });
  await night.answer(STROKES.tree);
  await night.press("h");
  await shot(night, "paint-dark.jpg");
  await night.close();
  await dark.stop();

  const frames = path.join(folder(), "frames");
  fs.mkdirSync(frames);
  const server = await program(folder(), path.join(DATA, "beetle.png"), "-o", "out");
  const film = await Page.open(browser, server.address, { viewport: { width: 900, height: 620 } });
  let count = 0;
  const frame = () => film.page.screenshot({ path: path.join(frames, `${String(count++).padStart(3, "0")}.png`) });
  const slowly = async (points, options = {}) => {
    await film.page.mouse.move(...(await film.at(points[0])));
    await film.page.mouse.down(options);
    for (const point of points.slice(1)) {
      await film.page.mouse.move(...(await film.at(point)), { steps: 5 });
      await frame();
    }
    await film.page.mouse.up(options);
  };
  await frame();
  await slowly(STROKES.beetle.object);
  await film.until("empty", 1);
  await slowly(STROKES.beetle.background, { button: "right" });
  await film.until("proved", 2);
  await frame();
  await slowly([[310, 120], [318, 140]]);
  await film.until("proved", 3);
  await frame();
  await slowly([[372, 280], [384, 310]]);
  await film.until("proved", 4);
  await shot(film, "paint-proved.jpg");
  await frame();
  await film.press("h");
  await frame();
  await film.press("c");
  await frame();
  await film.close();
  await server.stop();
  console.log(`frames in ${frames}`);
}
