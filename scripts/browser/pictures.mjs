// The pictures of docs/paint.md: three of the page, and frames of a short session that `animate.py` joins.

import fs from "node:fs";
import path from "node:path";

import { DATA, Page, STROKES, folder, program } from "./harness.mjs";

const DOCS = path.resolve("docs/pictures");
/** More strokes, for pictures that show a finished photo. */
const MORE = {
  poppy: [[[30, 280], [60, 400], [40, 560]], [[300, 600], [390, 560], [390, 330]]],
  tree: [[[30, 390], [200, 400]], [[450, 320], [620, 330]], [[520, 270], [620, 260]]],
};

/** A folder with the samples in it, so that the page shows short names. */
function samples() {
  const cwd = folder();
  fs.mkdirSync(path.join(cwd, "photos"));
  for (const name of Object.keys(STROKES)) fs.copyFileSync(path.join(DATA, `${name}.png`), path.join(cwd, "photos", `${name}.png`));
  return cwd;
}

async function finish(page, name) {
  await page.answer(STROKES[name]);
  await page.press("b");
  for (const [n, stroke] of MORE[name].entries()) {
    await page.draw(stroke);
    await page.until("proved", 3 + n);
  }
}

export async function pictures(browser) {
  const shot = (page, name) => page.page.screenshot({ path: path.join(DOCS, name), type: "jpeg", quality: 82 });

  const album = await program(samples(), "photos", "-o", "out");
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
  await finish(page, "poppy");
  await shot(page, "paint-folder.jpg");
  await page.close();
  await album.stop();

  const dark = await program(samples(), "photos/tree.png", "-o", "out");
  const night = await Page.open(browser, dark.address, { viewport: { width: 1200, height: 760 }, colorScheme: "dark" });
  await finish(night, "tree");
  await night.press("h");
  await shot(night, "paint-dark.jpg");
  await night.close();
  await dark.stop();

  const frames = path.join(folder(), "frames");
  fs.mkdirSync(frames);
  const server = await program(samples(), "photos/beetle.png", "-o", "out");
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
  await film.press("f");
  await slowly([[228, 145], [262, 168]]);
  await film.until("proved", 3);
  await frame();
  await film.press("b");
  await slowly([[170, 200], [160, 240], [220, 310], [280, 330]]);
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
