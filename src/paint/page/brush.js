// The brush: pointer or keys become points in pixels of the photo, and hard pixels on the screen at once.
//
// The program rasterises the same stroke again and its raster takes the place of this one; both cover the pixels whose centre is
// within half the brush's size of the path, and those that the path runs through.

const COLOURS = { object: "#e8590c", background: "#1c7ed6", auto: "#9c36b5" };
const LABELS = [null, COLOURS.background, COLOURS.object];
const OPPOSITE = { object: "background", background: "object", auto: "auto", eraser: "object" };

/** The x within a radius of the piece from a to b on the line of a y, as [from, to]. */
function interval(a, b, radius, y) {
  let [from, to] = [Infinity, -Infinity];
  const take = (x) => {
    from = Math.min(from, x);
    to = Math.max(to, x);
  };
  for (const [cx, cy] of [a, b]) {
    const square = radius * radius - (y - cy) ** 2;
    if (square >= 0) {
      take(cx - Math.sqrt(square));
      take(cx + Math.sqrt(square));
    }
  }
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
  if (length > 0) {
    const across = [((b[1] - a[1]) * radius) / length, ((a[0] - b[0]) * radius) / length];
    const corner = ([x, yy], side) => [x + side * across[0], yy + side * across[1]];
    const corners = [corner(a, 1), corner(b, 1), corner(b, -1), corner(a, -1)];
    corners.forEach(([x0, y0], i) => {
      const [x1, y1] = corners[(i + 1) % 4];
      if (y0 <= y !== y1 <= y) take(x0 + ((y - y0) / (y1 - y0)) * (x1 - x0));
    });
  }
  return [from, to];
}

export class Brush {
  /** `host` says where the photo is, what the tools are, and takes finished strokes. */
  constructor(stage, canvas, ring, host) {
    Object.assign(this, { stage, canvas, ring, host, stroke: null, sent: [], pointers: new Map(), cursor: null });
    this.context = canvas.getContext("2d");
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) stage.addEventListener(name, (event) => this.up(event));
    stage.addEventListener("pointerleave", () => this.stroke || (this.ring.hidden = true));
    stage.addEventListener("contextmenu", (event) => event.preventDefault());
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  resize(width, height) {
    Object.assign(this.canvas, { width, height });
    this.sent = [];
    this.stroke = null;
    this.cursor = null;
  }

  down(event) {
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.stage.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    if (event.pointerType === "touch" && this.pointers.size === 2) {
      this.cancel();
      return;
    }
    if (event.button === 1 || this.host.isPanning()) {
      this.panning = true;
      return;
    }
    if (!this.host.isOpen() || this.pointers.size > 1) return;
    event.preventDefault();
    const isEraser = event.altKey || (event.buttons & 32) !== 0;
    const tool = this.host.tool();
    this.begin(isEraser ? "eraser" : event.button === 2 ? OPPOSITE[tool] : tool, this.at(event));
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    this.show(event.clientX, event.clientY);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    this.pointers.set(event.pointerId, now);
    if (this.pointers.size === 2) this.pinch(event.pointerId, before, now);
    else if (this.panning) this.host.camera.pan(now[0] - before[0], now[1] - before[1]);
    else if (this.stroke) {
      const all = event.getCoalescedEvents?.() ?? [];
      for (const part of all.length ? all : [event]) this.extend(this.at(part));
    }
  }

  up(event) {
    this.pointers.delete(event.pointerId);
    this.panning = this.panning && this.pointers.size > 0;
    if (!this.stroke || this.stroke.isByKeys) return;
    if (event.type === "pointercancel") this.cancel();
    else this.finish();
  }

  wheel(event) {
    event.preventDefault();
    if (event.shiftKey) return this.host.resizeBrush((event.deltaY || event.deltaX) < 0 ? 1 : -1);
    const speed = event.ctrlKey ? 0.01 : 0.0015;
    this.host.camera.zoom(Math.exp(-speed * event.deltaY * (event.deltaMode === 1 ? 30 : 1)), event.clientX, event.clientY);
  }

  /** Two fingers: the pixel under each stays under it. */
  pinch(moved, before, now) {
    const [other] = [...this.pointers].filter(([id]) => id !== moved).map(([, place]) => place);
    const distance = ([x, y]) => Math.max(1, Math.hypot(x - other[0], y - other[1]));
    this.host.camera.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    this.host.camera.zoom(distance(now) / distance(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  /** A place in the photo; beside it, the nearest one. */
  at(event) {
    return this.inside(this.host.camera.toPhoto(event.clientX, event.clientY));
  }

  inside([x, y]) {
    const [width, height] = this.host.camera.full;
    const round = (value, most) => Math.min(Math.max(0, Math.round(100 * value) / 100), most);
    return [round(x, width), round(y, height)];
  }

  begin(tool, point, isByKeys = false) {
    this.stroke = { tool, size: this.host.size(), points: [point], isByKeys };
    this.paint(this.stroke, point, point);
    this.host.began();
  }

  extend(point) {
    const { points } = this.stroke;
    const last = points[points.length - 1];
    if (last[0] === point[0] && last[1] === point[1]) return;
    points.push(point);
    this.paint(this.stroke, last, point);
    // The program takes so many points; what follows is another stroke from here on.
    if (points.length >= 10000) {
      const { tool, isByKeys } = this.stroke;
      this.finish();
      this.begin(tool, point, isByKeys);
    }
  }

  finish() {
    const { tool, size, points } = this.stroke;
    const sent = { tool, size, points, generation: Infinity };
    this.stroke = null;
    this.sent.push(sent);
    this.host.finished(sent);
  }

  /** Gives up the stroke under way. */
  cancel() {
    if (!this.stroke) return;
    this.stroke = null;
    this.host.repaint();
  }

  /** Shows the raster of the program, and on top of it what it does not know yet. */
  showRaster(labels, generation) {
    const { width, height } = this.canvas;
    const image = this.context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const colour = LABELS.map((text) => (text ? (0xff000000 | parseInt(text.slice(5, 7) + text.slice(3, 5) + text.slice(1, 3), 16)) >>> 0 : 0));
    for (let i = 0; i < pixels.length; i++) pixels[i] = colour[labels[i]];
    this.context.putImageData(image, 0, 0);
    this.sent = this.sent.filter((stroke) => stroke.generation > generation);
    for (const stroke of [...this.sent, this.stroke].filter(Boolean)) {
      stroke.points.forEach((point, i) => this.paint(stroke, stroke.points[Math.max(0, i - 1)], point));
    }
  }

  /** Hard pixels along one piece of a path. */
  paint({ tool, size }, from, to) {
    const { ratio } = this.host.camera;
    const [a, b, radius] = [from.map((v) => v / ratio), to.map((v) => v / ratio), size / 2 / ratio];
    const { context, canvas } = this;
    context.fillStyle = COLOURS[tool] ?? "#000";
    const put = (x, y, n) => (tool === "eraser" ? context.clearRect(x, y, n, 1) : context.fillRect(x, y, n, 1));
    // Pixels i of a line of n with from < i + ½ ≤ to.
    const centres = (from, to, n) => [Math.max(0, Math.floor(from - 0.5) + 1), Math.min(n, Math.floor(to + 0.5))];
    const [first, end] = centres(Math.min(a[1], b[1]) - radius, Math.max(a[1], b[1]) + radius, canvas.height);
    for (let y = first; y < end; y++) {
      const [start, stop] = centres(...interval(a, b, radius, y + 0.5), canvas.width);
      if (start < stop) put(start, y, stop - start);
    }
    const steps = Math.max(1, Math.ceil(2 * Math.hypot(b[0] - a[0], b[1] - a[1])));
    for (let i = 0; i <= steps; i++) {
      const [x, y] = [0, 1].map((k) => Math.floor(a[k] + (i / steps) * (b[k] - a[k])));
      put(Math.min(x, canvas.width - 1), Math.min(y, canvas.height - 1), 1);
    }
  }

  /** Shows the ring at a place of the window. */
  show(clientX, clientY) {
    this.last = [clientX, clientY];
    const [x, y] = this.host.camera.inStage(clientX, clientY);
    this.showRing(x, y);
  }

  showRing(x, y) {
    const { camera } = this.host;
    if (!this.host.isOpen()) return;
    const size = Math.max(3, (this.host.size() / camera.ratio) * camera.scale);
    this.ring.hidden = this.host.isPanning();
    this.ring.style.width = this.ring.style.height = `${size}px`;
    this.ring.style.transform = `translate(${x - size / 2}px, ${y - size / 2}px)`;
    this.ring.classList.toggle("down", Boolean(this.stroke?.isByKeys));
  }

  refreshRing() {
    if (this.ring.hidden) return;
    if (this.cursor) this.showRing(...this.host.camera.toStage(this.cursor));
    else if (this.last) this.show(...this.last);
  }

  /** The brush by keys: moves by its own radius, or by one pixel. */
  step(dx, dy, isFine) {
    const [width, height] = this.host.camera.full;
    const length = isFine ? 1 : Math.max(1, this.host.size() / 2);
    const [x, y] = this.cursor ?? [width / 2, height / 2];
    this.cursor = this.inside([x + dx * length, y + dy * length]);
    if (this.stroke?.isByKeys) this.extend(this.cursor);
    this.showRing(...this.host.camera.toStage(this.cursor));
  }

  /** Sets the brush down, or lifts it. */
  press() {
    if (!this.cursor) this.step(0, 0, true);
    if (this.stroke?.isByKeys) this.finish();
    else this.begin(this.host.tool(), this.cursor, true);
    this.showRing(...this.host.camera.toStage(this.cursor));
  }
}
