// What is laid over the photo, made from 16-bit log-odds: one table over all levels, then one pass over the pixels.
//
// A pixel is in the mask when its level is above 1000 times the threshold; the program rounds so that this is exact.

const LEVELS = 1000;
const OUTLINE = 0xff00d4ff; // yellow, as 0xAABBGGRR
const SHADE = 0x99140c08;

export class Overlay {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.heat = new Uint32Array(256);
    this.table = new Uint32Array(1 << 16);
    this.levels = null;
  }

  setHeat(colours) {
    this.heat.set(colours.map(([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0));
  }

  resize(width, height) {
    Object.assign(this.canvas, { width, height });
    this.image = this.context.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.levels = null;
  }

  clear() {
    this.levels = null;
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  /** Draws the answer; returns the share of the photo that is in the mask. */
  draw(view, threshold) {
    const { levels, pixels } = this;
    if (!levels) return null;
    const least = Math.round(threshold * LEVELS);
    let area = 0;
    for (const level of levels) area += level > least ? 1 : 0;
    if (view !== "photo") {
      this.fill(view, threshold, least);
      for (let i = 0; i < pixels.length; i++) pixels[i] = this.table[levels[i] + 32768];
      if (view === "cutout") this.checker();
      if (view === "mask") this.outline(least);
      this.context.putImageData(this.image, 0, 0);
    }
    return area / levels.length;
  }

  fill(view, threshold, least) {
    const { table, heat } = this;
    const outside = view === "mask" ? SHADE : 1;
    for (let i = 0; i < table.length; i++) {
      const level = i - 32768;
      if (view === "heatmap") table[i] = heat[Math.round(255 / (1 + Math.exp(threshold - level / LEVELS)))];
      else table[i] = level > least ? 0 : outside;
    }
  }

  checker() {
    const { pixels, canvas } = this;
    const light = matchMedia("(prefers-color-scheme: dark)").matches ? [0xff2a2624, 0xff3a3532] : [0xfff2f2f2, 0xffd8d8d8];
    for (let y = 0, i = 0; y < canvas.height; y++) {
      for (let x = 0; x < canvas.width; x++, i++) if (pixels[i]) pixels[i] = light[((x >> 3) + (y >> 3)) & 1];
    }
  }

  outline(least) {
    const { levels, pixels } = this;
    const { width, height } = this.canvas;
    const is = (i) => levels[i] > least;
    for (let y = 0, i = 0; y < height; y++) {
      for (let x = 0; x < width; x++, i++) {
        if (!is(i)) continue;
        const edge =
          (x > 0 && !is(i - 1)) || (x + 1 < width && !is(i + 1)) || (y > 0 && !is(i - width)) || (y + 1 < height && !is(i + width));
        if (edge) pixels[i] = OUTLINE;
      }
    }
  }

  /** The middle of the square with the most entropy, in pixels of the working size; null where nothing is in doubt. */
  doubtful(threshold) {
    const { levels } = this;
    if (!levels) return null;
    const { width, height } = this.canvas;
    const entropy = Float32Array.from({ length: 1 << 16 }, (_, i) => {
      const p = 1 / (1 + Math.exp(threshold - (i - 32768) / LEVELS));
      return p <= 0 || p >= 1 ? 0 : -p * Math.log2(p) - (1 - p) * Math.log2(1 - p);
    });
    const sums = new Float64Array((width + 1) * (height + 1));
    for (let y = 0; y < height; y++) {
      for (let x = 0, row = 0; x < width; x++) {
        row += entropy[levels[y * width + x] + 32768];
        sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row;
      }
    }
    const side = Math.max(3, Math.round(0.05 * Math.min(width, height)));
    let best = { value: side, x: 0, y: 0 };
    for (let y = 0; y + side <= height; y++) {
      for (let x = 0; x + side <= width; x++) {
        const at = (u, v) => sums[(y + v) * (width + 1) + x + u];
        const value = at(side, side) - at(0, side) - at(side, 0) + at(0, 0);
        if (value > best.value) best = { value, x, y };
      }
    }
    return best.value > side ? [best.x + side / 2, best.y + side / 2] : null;
  }
}
