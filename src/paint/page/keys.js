// The keys, in one table: what is pressed, what it does, what the list of keys says about it.

/** Pairs of a key and what it does; an empty name belongs to the line before. */
export const KEYS = [
  ["f", "object", "paint on the object"],
  ["b", "background", "paint on the background (right button: the other class)"],
  ["a", "auto", "“wrong here”: the opposite of the mask under the stroke"],
  ["e", "eraser", "eraser; hold Alt for a moment of it"],
  ["[", "smaller", "smaller brush (Shift and wheel)"],
  ["]", "larger", "larger brush"],
  ["z", "undo", "undo (also with Ctrl or Cmd)"],
  ["Z", "redo", "redo (Shift-Z)"],
  ["v", "hide", "hide or show the answer"],
  ["h", "heatmap", "view: probability of every pixel"],
  ["m", "mask", "view: outline of the mask"],
  ["c", "cutout", "view: the object alone"],
  ["u", "doubt", "go to the most doubtful place"],
  ["n", "next", "next photo"],
  ["p", "previous", "previous photo"],
  ["s", "save", "write the results"],
  ["+", "zoom-in", "zoom in (wheel, pinch)"],
  ["-", "zoom-out", "zoom out"],
  ["0", "zoom-fit", "whole photo"],
  ["?", "help", "this list"],
];

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Fills the list of keys. */
export function list(element) {
  const line = (key, text) => {
    const [term, description, name] = ["dt", "dd", "kbd"].map((tag) => document.createElement(tag));
    name.textContent = key;
    description.textContent = text;
    term.append(name);
    element.append(term, description);
  };
  for (const [key, , text] of KEYS) line(key === "Z" ? "⇧Z" : key.toUpperCase(), text);
  line("Space", "hold and drag: move the photo");
  line("Arrows", "move the brush, when the photo has the focus (Shift: one pixel)");
  line("Enter", "set the brush down, or lift it");
  line("Esc", "give up the stroke under way");
}

/** Listens: `act` does what a key is for, `brush` is moved by arrows, `hold` hears of Space. */
export function listen({ act, brush, hold, isBusy }) {
  addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    const onCanvas = event.target === brush.canvas || event.target === document.body;
    const isControl = event.ctrlKey || event.metaKey;
    if (event.key === "Alt") return event.preventDefault();
    if (event.key === " " && onCanvas) {
      event.preventDefault();
      return hold(true);
    }
    if (event.key in ARROWS && event.target === brush.canvas && !isBusy()) {
      event.preventDefault();
      return brush.step(...ARROWS[event.key], event.shiftKey);
    }
    if (event.key === "Enter" && event.target === brush.canvas && !isBusy()) {
      event.preventDefault();
      return event.repeat || brush.press();
    }
    if (event.key === "Escape") return brush.cancel();
    const name = event.key.toLowerCase() === "z" ? (event.shiftKey ? "Z" : "z") : event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const [key, action] = KEYS.find(([key]) => key === (name === "=" ? "+" : name)) ?? [];
    // With Ctrl or Cmd only undo and redo are ours; the rest is the browser's.
    if (!action || event.altKey || (isControl && !"zZ".includes(key))) return;
    event.preventDefault();
    act(action);
  });
  addEventListener("keyup", (event) => event.key === " " && hold(false));
  addEventListener("blur", () => hold(false));
}
