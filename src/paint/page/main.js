// The page: one object that knows what is shown, a loop that follows the program, and actions.

import * as api from "./api.js";
import { Brush } from "./brush.js";
import { Camera } from "./camera.js";
import * as keys from "./keys.js";
import { Overlay } from "./overlay.js";
import { Panel } from "./panel.js";

const get = (id) => document.getElementById(id);
const MOST_BRUSH = 0.25; // of the shorter side

const panel = new Panel();
const camera = new Camera(get("stage"), get("paper"), get("tiles"));
const overlay = new Overlay(get("overlay"));
const app = {
  album: null,
  news: null,
  photo: null, // the one whose picture is shown
  tool: "object",
  view: "mask",
  isHidden: false,
  isPanning: false,
  brush: 1, // diameter in pixels of the photo
  revision: -1, // of the strokes shown
  answer: null, // the number of the answer shown
  area: null,
  expected: 0, // the generation that the last edit made
  edits: Promise.resolve(),
  pending: 0,
  saves: null,
  isFitted: true,
};

const brush = new Brush(get("stage"), get("canvas"), get("ring"), {
  camera,
  tool: () => app.tool,
  size: () => app.brush,
  isPanning: () => app.isPanning,
  isOpen: () => app.photo !== null && app.news?.photo === app.photo && Boolean(app.news.size),
  began: () => (get("hint").hidden = true),
  finished: (stroke) => send(stroke),
  repaint: () => showStrokes().catch(() => {}),
  resizeBrush,
});
camera.moved = () => brush.refreshRing();

const bias = () => Number(get("bias").value);
/** The bias asked for: none while the slider follows the one that fits. */
const wish = () => (app.isFitted ? null : bias());
/** The log-odds above which a pixel is in the mask: the temperature divides the bias like the rest of the energy. */
const threshold = () => bias() / (app.news?.facts?.temperature ?? app.album.temperature);

/** One edit after the other, in the order in which they were made. */
function edit(run) {
  app.pending++;
  showState();
  app.edits = app.edits.then(run).then(
    ({ generation }) => (app.expected = Math.max(app.expected, generation)),
    (error) => {
      panel.notify(error.message);
      if (app.photo !== null) showStrokes().catch(() => {});
    },
  );
  app.edits = app.edits.then(() => {
    app.pending--;
    showState();
  });
}

function send(stroke) {
  const photo = app.photo;
  edit(async () => {
    const { tool, size, points } = stroke;
    try {
      const answer = await api.post(`/api/photos/${photo}/strokes`, { tool, size, points, threshold: threshold() });
      stroke.generation = answer.generation;
      return answer;
    } catch (error) {
      stroke.generation = 0;
      throw error;
    }
  });
}

/** Follows the program: whatever changes there is shown here. */
async function follow() {
  let after = 0;
  for (;;) {
    try {
      const news = await api.json(`/api/news?after=${after}`);
      after = news.sequence;
      await show(news);
      if (news.isStopping) throw new Error("lfield was stopped");
    } catch (error) {
      const text = error.status === 401 || error.status === 403 ? error.message : "lfield does not answer. Start it again and open the address it prints; the strokes are on disk.";
      panel.notify(text);
      get("state").dataset.state = "failed";
      get("state").textContent = "Not connected";
      await new Promise((resolve) => setTimeout(resolve, 1500));
      after = 0;
    }
  }
}

async function show(news) {
  const isOther = !app.news || app.news.photo !== news.photo;
  if (isOther) {
    get("paper").hidden = true;
    Object.assign(app, { photo: null, revision: -1, answer: null, area: null, expected: 0 });
  }
  app.news = news;
  panel.showPhoto(app.album.photos[news.photo], news, app.album.photos.length);
  if (news.size && app.photo !== news.photo) await openPhoto(news);
  if (app.photo === news.photo && app.revision !== news.revision) await showStrokes();
  if (app.photo === news.photo && app.answer !== news.answer) await showAnswer(news);
  if (app.saves !== null && news.saves > app.saves && news.save) showSave(news.save);
  else if (news.failure ?? news.unkept) panel.notify(news.failure ?? news.unkept);
  else if (isOther || !get("notice").classList.contains("good")) panel.notify(null);
  app.saves = news.saves;
  showState();
}

async function openPhoto(news) {
  const picture = await api.picture(`/api/photos/${news.photo}/picture`);
  const [width, height] = news.working;
  Object.assign(get("photo"), { width, height });
  get("photo").getContext("2d").drawImage(picture, 0, 0);
  overlay.resize(width, height);
  brush.resize(width, height);
  camera.open(news.photo, news.size, news.working);
  app.photo = news.photo;
  get("paper").hidden = false;
  if (document.activeElement === document.body) get("canvas").focus({ preventScroll: true });
  setBrush(Math.max(1, Math.round(0.02 * Math.min(...news.size))));
  showCommand();
}

async function showStrokes() {
  const { photo, revision } = app.news;
  const labels = new Uint8Array(await api.bytes(`/api/photos/${photo}/strokes`));
  if (app.photo !== photo) return;
  brush.showRaster(labels, revision);
  app.revision = revision;
}

async function showAnswer({ photo, answer, facts }) {
  if (answer === null) {
    overlay.clear();
    app.area = null;
  } else {
    const levels = new Int16Array(await api.bytes(`/api/photos/${photo}/answer?id=${answer}`));
    // None: a newer one is on its way.
    if (app.photo !== photo || levels.length === 0) return;
    overlay.levels = levels;
    if (app.isFitted && typeof facts?.bias === "number") get("bias").value = facts.bias;
    draw();
    // After the first result most strokes are corrections.
    if (app.tool !== "eraser" && !app.hasAnswer) act("auto");
    app.hasAnswer = true;
  }
  app.answer = answer;
}

let isDrawing = false;
function drawSoon() {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    draw();
    showState();
  });
}

function draw() {
  const view = app.isHidden ? "photo" : app.view;
  get("overlay").hidden = view === "photo";
  get("overlay").style.opacity = get("opacity").value / 100;
  app.area = overlay.draw(view, threshold());
  get("state").dataset.area = app.area ?? "";
}

function showState() {
  const { news } = app;
  if (!news) return;
  const isBehind = app.pending > 0 || news.revision < app.expected;
  const isAnswered = news.state === "proved" || news.state === "provisional";
  const isOld = isAnswered && (isBehind || app.answer !== news.answer);
  const isOpening = app.photo !== news.photo && news.state !== "failed";
  const state = isOld || isOpening ? "solving" : news.state;
  panel.showState(news, state, app.area, bias(), app.album.isCertified);
}

function showSave(save) {
  if (save.error) panel.notify(`Not saved: ${save.error}`);
  else panel.notify(`Saved ${save.files.join(", ")}`, true);
}

let commandTimer = 0;
function showCommand() {
  clearTimeout(commandTimer);
  commandTimer = setTimeout(async () => {
    const { photo } = app;
    if (photo === null) return;
    const { command } = await api.json(`/api/photos/${photo}/command?bias=${wish() ?? "auto"}`).catch(() => ({ command: "" }));
    if (app.photo === photo) panel.showCommand(command);
  }, 80);
}

function setBrush(size) {
  const [width, height] = app.news.size;
  const most = Math.max(2, MOST_BRUSH * Math.min(width, height));
  app.brush = Math.min(Math.max(1, Math.round(size)), Math.round(most));
  get("brush").value = (100 * Math.log(app.brush)) / Math.log(most);
  get("brush-size").textContent = `${app.brush} px`;
  brush.refreshRing();
}

function resizeBrush(direction) {
  if (app.news?.size) setBrush(direction > 0 ? Math.max(app.brush + 1, app.brush * 1.2) : Math.min(app.brush - 1, app.brush / 1.2));
}

async function open(photo) {
  if (photo < 0 || photo >= app.album.photos.length) return;
  try {
    await app.edits;
    await api.post(`/api/photos/${photo}/open`);
  } catch (error) {
    panel.notify(error.message);
  }
}

function goToDoubt() {
  const place = overlay.doubtful(threshold());
  if (!place) return panel.notify("Nothing is in doubt", true);
  const point = place.map((value) => value * camera.ratio);
  camera.goTo(point, 3);
  brush.cursor = brush.inside(point);
  brush.showRing(...camera.toStage(point));
  panel.showSpot(camera.toStage(point));
}

function setView(view, isHidden = false) {
  app.isHidden = isHidden;
  if (view !== "photo") app.view = view;
  draw();
  panel.showTool(app.tool, app.view, app.isHidden);
}

async function save() {
  const { photo } = app;
  if (photo === null) return;
  try {
    await app.edits;
    await api.post(`/api/photos/${photo}/save`, { bias: wish() });
  } catch (error) {
    panel.notify(`Not saved: ${error.message}`);
  }
}

/** Does what a button or key is for. */
function act(name) {
  const { photo } = app;
  const step = (what) => photo !== null && edit(() => api.post(`/api/photos/${photo}/${what}`));
  const actions = {
    undo: () => app.news?.strokes + app.pending > 0 && step("undo"),
    redo: () => app.news?.undone + app.pending > 0 && step("redo"),
    save,
    next: () => open(app.news.photo + 1),
    previous: () => open(app.news.photo - 1),
    help: () => get("keys").showModal(),
    doubt: goToDoubt,
    hide: () => setView(app.view, !app.isHidden),
    photo: () => setView("photo", true),
    smaller: () => resizeBrush(-1),
    larger: () => resizeBrush(1),
    copy: () => panel.copyCommand(),
    reset: () => setBias(app.album.bias),
    "zoom-in": () => camera.zoomMiddle(1.4),
    "zoom-out": () => camera.zoomMiddle(1 / 1.4),
    "zoom-fit": () => camera.fit(),
  };
  if (name in actions) actions[name]();
  else if (["heatmap", "mask", "cutout"].includes(name)) setView(name);
  else {
    app.tool = name;
    panel.showTool(app.tool, app.view, app.isHidden);
  }
}

/** Without a value the slider follows the bias that fits. */
function setBias(value) {
  app.isFitted = value === null;
  get("bias").value = value ?? app.news?.facts?.bias ?? 0;
  drawSoon();
  showCommand();
}

async function start() {
  keys.list(get("key-list"));
  panel.listen(act);
  keys.listen({ act, brush, hold, isBusy: () => !app.news?.size });
  get("bias").addEventListener("input", () => setBias(bias()));
  get("opacity").addEventListener("input", drawSoon);
  get("brush").addEventListener("input", () => {
    const most = Math.max(2, MOST_BRUSH * Math.min(...(app.news?.size ?? [8, 8])));
    if (app.news?.size) setBrush(most ** (get("brush").value / 100));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawSoon);
  for (;;) {
    try {
      app.album = await api.json("/api/album");
      break;
    } catch (error) {
      panel.notify(error.status ? error.message : "lfield does not answer: start it again and open the address it prints");
      get("state").dataset.state = "failed";
      get("state").textContent = "Not connected";
      if (error.status) return;
      await new Promise((resolve) => setTimeout(resolve, 1500));
    }
  }
  app.isFitted = app.album.bias === null;
  get("bias").value = app.album.bias ?? 0;
  overlay.setHeat(app.album.heat);
  panel.showAlbum(app.album, open);
  follow();
}

function hold(isDown) {
  app.isPanning = isDown;
  get("stage").classList.toggle("pan", isDown);
  brush.refreshRing();
}

start();
