// Everything around the photo: buttons, status line, list of photos, notices. Built once, then only changed.

import * as api from "./api.js";

const get = (id) => document.getElementById(id);
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`;
const PROGRESS = { u: "new", s: "strokes", d: "saved" };

export class Panel {
  constructor() {
    this.state = get("state");
    this.buttons = Object.fromEntries([...document.querySelectorAll("[data-action]")].map((button) => [button.dataset.action, button]));
    this.views = [...document.querySelectorAll("[data-view]")];
    this.items = [];
  }

  /** Calls `act` with the name of a button or view; a click by pointer gives the focus back to the photo. */
  listen(act) {
    for (const button of document.querySelectorAll("[data-action], [data-view]")) {
      button.addEventListener("click", (event) => {
        act(button.dataset.action ?? button.dataset.view);
        if (event.detail > 0 && button.dataset.action !== "help") get("canvas").focus({ preventScroll: true });
      });
    }
  }

  showAlbum({ photos, emit }, open) {
    const isFolder = photos.length > 1;
    get("turn").hidden = get("album").hidden = !isFolder;
    this.buttons.save.title = `Write ${emit.join(", ")} (S)`;
    if (!isFolder) return;
    const item = (name, n) => {
      const [line, button, image, label, text, badge] = ["li", "button", "img", "span", "span", "span"].map((tag) => document.createElement(tag));
      button.type = "button";
      button.title = name;
      image.alt = "";
      text.textContent = name;
      label.className = "label";
      badge.className = "badge";
      label.append(text, badge);
      button.append(image, label);
      button.addEventListener("click", () => open(n));
      line.append(button);
      return { line, button, image, badge, n };
    };
    this.items = photos.map(item);
    get("list").append(...this.items.map(({ line }) => line));
    // A thumbnail is fetched when it comes into sight.
    const sight = new IntersectionObserver((entries) => {
      for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
        sight.unobserve(target);
        this.showThumbnail(this.items.find(({ line }) => line === target));
      }
    });
    this.items.forEach(({ line }) => sight.observe(line));
  }

  async showThumbnail({ image, n }) {
    try {
      image.src = URL.createObjectURL(await api.blob(`/api/photos/${n}/thumbnail`));
      image.addEventListener("load", () => URL.revokeObjectURL(image.src), { once: true });
    } catch {
      image.alt = "cannot be read";
    }
  }

  showPhoto(name, news, count) {
    get("name").textContent = name;
    get("size").textContent = news.size ? `${news.size[0]} × ${news.size[1]}` : "";
    document.title = `${name} · lfield paint`;
    this.buttons.previous.disabled = news.photo === 0;
    this.buttons.next.disabled = news.photo + 1 >= count;
    this.items.forEach(({ button, badge, n }) => {
      button.setAttribute("aria-current", String(n === news.photo));
      badge.dataset.progress = news.states[n];
      badge.textContent = PROGRESS[news.states[n]];
    });
    this.items[news.photo]?.line.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  showTool(tool, view, isHidden) {
    for (const name of ["object", "background", "auto", "eraser"]) this.buttons[name].setAttribute("aria-pressed", String(name === tool));
    for (const button of this.views) button.setAttribute("aria-pressed", String(button.dataset.view === (isHidden ? "photo" : view)));
  }

  /** The state in one word for tests, and in plain words for people. */
  showState(news, state, area, bias, isCertified) {
    const changed = this.state.dataset.state !== state || Number(this.state.dataset.generation) !== news.generation;
    this.state.dataset.state = state;
    this.state.dataset.generation = news.generation;
    const text = sentence(news, state, isCertified);
    if (changed || this.state.textContent !== text) this.state.textContent = text;
    get("facts").textContent = facts(news, state, area, bias);
    this.buttons.undo.disabled = news.strokes === 0;
    this.buttons.redo.disabled = news.undone === 0;
    this.buttons.doubt.disabled = area === null;
    this.buttons.save.disabled = news.isSaving;
    this.buttons.save.textContent = news.isSaving ? "Saving…" : "Save";
    get("hint").hidden = !news.size || news.strokes > 0 || news.classes[0] + news.classes[1] > 0 || state === "failed";
  }

  showCommand(text) {
    get("command").textContent = text;
  }

  async copyCommand() {
    const text = get("command").textContent;
    try {
      await navigator.clipboard.writeText(text);
      this.buttons.copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(get("command"));
      this.buttons.copy.textContent = "Press Ctrl-C";
    }
    setTimeout(() => (this.buttons.copy.textContent = "Copy"), 1500);
  }

  /** A sentence over the photo; none takes it away. */
  notify(text, isGood = false) {
    const notice = get("notice");
    clearTimeout(this.timer);
    notice.hidden = !text;
    notice.classList.toggle("good", isGood);
    if (text && notice.textContent !== text) notice.textContent = text;
    if (text && isGood) this.timer = setTimeout(() => (notice.hidden = true), 6000);
  }

  showSpot([x, y]) {
    const spot = get("spot");
    spot.hidden = true;
    spot.style.left = `${x}px`;
    spot.style.top = `${y}px`;
    void spot.offsetWidth; // starts the animation anew
    spot.hidden = false;
  }
}

function sentence(news, state, isCertified) {
  const [object, background] = news.classes;
  switch (state) {
    case "empty":
      if (object) return "Now paint on the background";
      return background ? "Now paint on the object" : "Paint on the object";
    case "solving":
      return object && background ? "Solving…" : "Opening…";
    case "provisional":
      if (!news.facts) return "First picture, refining…";
      return isCertified ? "Stopped before the proof was complete" : "Done; this method proves nothing";
    case "proved":
      return news.facts.isBestMask ? "Proved: the best mask for these strokes" : "Proved";
    default:
      return "Failed";
  }
}

function facts(news, state, area, bias) {
  const [width, height] = news.size ?? [0, 0];
  const parts = [];
  if (area !== null) parts.push(`object ${percent(area)} of the photo`);
  if (news.strokes) parts.push(`${news.strokes} ${news.strokes === 1 ? "stroke" : "strokes"}`);
  if (news.facts && state !== "empty") {
    if (news.facts.gap !== null) parts.push(`gap ${news.facts.gap.toExponential(1)} per pixel`);
    parts.push(`${news.facts.seconds.toFixed(2)} s`);
  }
  if (area !== null && bias !== 0) parts.push(`bias ${bias}`);
  if (news.working && news.working[0] !== width) parts.push(`shown and proved at ${news.working[0]} × ${news.working[1]}, saved at ${width} × ${height}`);
  return parts.join(" · ");
}
