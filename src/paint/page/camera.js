// Where the photo lies in the window: zoom at a point, pan, and tiles of large photos when one looks closely.

import * as api from "./api.js";

const TILE = 512;
const MAX_TILES = 32;
const MAX_SCALE = 40;

export class Camera {
  constructor(stage, paper, tiles) {
    Object.assign(this, { stage, paper, tiles, x: 0, y: 0, scale: 1, fitted: true });
    this.known = new Map();
    this.moved = () => {};
    new ResizeObserver(() => (this.fitted ? this.fit() : this.apply())).observe(stage);
  }

  /** A photo of a full size, shown at a working size. */
  open(photo, full, working) {
    Object.assign(this, { photo, full, working, ratio: full[0] / working[0] });
    this.known.clear();
    this.tiles.replaceChildren();
    this.paper.style.width = `${working[0]}px`;
    this.paper.style.height = `${working[1]}px`;
    this.fit();
  }

  fit() {
    if (!this.working) return;
    const { clientWidth: width, clientHeight: height } = this.stage;
    const [w, h] = this.working;
    const margin = Math.min(16, width / 10, height / 10);
    this.scale = Math.max(0.02, Math.min((width - 2 * margin) / w, (height - 2 * margin) / h, 8));
    this.x = (width - this.scale * w) / 2;
    this.y = (height - this.scale * h) / 2;
    this.fitted = true;
    this.apply();
  }

  /** Zooms so that what is under a point of the window stays there. */
  zoom(factor, clientX, clientY) {
    if (!this.working) return;
    const [x, y] = this.inStage(clientX, clientY);
    const least = 0.25 * Math.min(1, this.stage.clientWidth / this.working[0]);
    const scale = Math.min(MAX_SCALE, Math.max(least, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.fitted = false;
    this.apply();
  }

  zoomMiddle(factor) {
    const { left, top, width, height } = this.stage.getBoundingClientRect();
    this.zoom(factor, left + width / 2, top + height / 2);
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.fitted = false;
    this.apply();
  }

  /** Brings a pixel of the photo to the middle, not further away than a scale. */
  goTo(point, scale) {
    const { clientWidth: width, clientHeight: height } = this.stage;
    this.scale = Math.max(this.scale, Math.min(scale, MAX_SCALE));
    this.x = width / 2 - (point[0] / this.ratio) * this.scale;
    this.y = height / 2 - (point[1] / this.ratio) * this.scale;
    this.fitted = false;
    this.apply();
  }

  inStage(clientX, clientY) {
    const { left, top } = this.stage.getBoundingClientRect();
    return [clientX - left, clientY - top];
  }

  /** The place in pixels of the photo, also outside of it. */
  toPhoto(clientX, clientY) {
    const [x, y] = this.inStage(clientX, clientY);
    return [((x - this.x) / this.scale) * this.ratio, ((y - this.y) / this.scale) * this.ratio];
  }

  /** The place in the stage of a pixel of the photo. */
  toStage([x, y]) {
    return [(x / this.ratio) * this.scale + this.x, (y / this.ratio) * this.scale + this.y];
  }

  apply() {
    if (!this.working) return;
    this.paper.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
    this.paper.classList.toggle("pixels", this.scale * devicePixelRatio >= 2);
    this.moved();
    this.showTiles();
  }

  /** Fetches what is in the window at full size, where that is more than what is shown. */
  showTiles() {
    if (this.ratio <= 1 || this.scale * devicePixelRatio <= 1.1) return;
    const [left, top] = this.toPhoto(...this.corner(0, 0));
    const [right, bottom] = this.toPhoto(...this.corner(1, 1));
    const clamp = (value, most) => Math.min(Math.max(0, Math.floor(value / TILE)), Math.ceil(most / TILE) - 1);
    for (let row = clamp(top, this.full[1]); row <= clamp(bottom, this.full[1]); row++) {
      for (let column = clamp(left, this.full[0]); column <= clamp(right, this.full[0]); column++) {
        this.showTile(column, row);
      }
    }
    // Those asked for longest ago go first.
    for (const [name, tile] of this.known) {
      if (this.known.size <= MAX_TILES) break;
      tile.remove();
      this.known.delete(name);
    }
  }

  async showTile(column, row) {
    const name = `${column},${row}`;
    const [photo, old] = [this.photo, this.known.get(name)];
    if (old) {
      this.known.delete(name);
      this.known.set(name, old);
      return;
    }
    const tile = document.createElement("canvas");
    this.known.set(name, tile);
    try {
      const picture = await api.picture(`/api/photos/${photo}/tile?column=${column}&row=${row}`);
      if (this.photo !== photo || this.known.get(name) !== tile) return;
      tile.width = picture.width;
      tile.height = picture.height;
      tile.getContext("2d").drawImage(picture, 0, 0);
      tile.style.left = `${(column * TILE) / this.ratio}px`;
      tile.style.top = `${(row * TILE) / this.ratio}px`;
      tile.style.width = `${picture.width / this.ratio}px`;
      tile.style.height = `${picture.height / this.ratio}px`;
      this.tiles.append(tile);
    } catch {
      this.known.delete(name);
    }
  }

  corner(right, bottom) {
    const { left, top, width, height } = this.stage.getBoundingClientRect();
    return [left + right * width, top + bottom * height];
  }
}
