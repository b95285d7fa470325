/* What all media have in common on which marks are drawn: several questions (layers) share one board, and one of them at a
   time is `active`: it gets what is drawn.  A layer has
     kind, only (whether there may be one mark), created(geometry, id?), changed(id, geometry), selected(id), turned(on),
     stroking(corners), refused(word), undo()
   One mark is `current`: the last one drawn, or one that was selected.  It is `edited`, with handles, only if it was selected and
   nothing is drawn: otherwise what is drawn next may begin on its edge. */
const boards = new WeakMap(); // by surface

/** The board of a surface, made by `make()` for the first question; `layer` joins it. */
export async function boardOn(surface, layer, make) {
  if (!boards.has(surface)) {
    const making = Promise.resolve(make());
    boards.set(surface, making);
    making.catch(() => boards.delete(surface));
  }
  const board = await boards.get(surface);
  board.join(layer);
  return board;
}

export class Board {
  constructor(surface) {
    Object.assign(this, { surface, layers: new Set(), marks: new Map(), current: null, selected: false, armed: true, active: null });
  }

  join(layer) {
    this.layers.add(layer);
    if (!this.active) this.activate(layer);
  }

  leave(layer) {
    this.draw(layer, [], null);
    this.layers.delete(layer);
    if (this.active === layer) this.active = null;
    if (this.layers.size) return;
    boards.delete(this.surface);
    this.destroy();
  }

  /** Gives a layer what is drawn from now on. */
  activate(layer) {
    if (this.active === layer) return;
    const before = this.active;
    this.active = layer;
    before?.selected(null);
    before?.turned(false);
    before?.stroking(0);
    this.arm(this.armed);
  }

  /** Whether a pointer draws; otherwise it chooses marks, and scrolls or moves the medium. */
  arm(armed) {
    this.armed = armed;
    this.active?.turned(armed);
    if (!armed) this.active?.stroking(0);
  }

  /* The line or outline that is being drawn, {busy, points, finish(), cancel(), shorten()}, where a board draws them. */
  get outline() {
    return undefined;
  }
  /** Ends it: "finish", "cancel" or "shorten". */
  stroke(what) {
    this.outline?.[what]();
    this.stroked();
  }
  stroked() {
    this.active?.stroking(this.outline?.points.length ?? 0);
  }

  /** Takes keys for the line that is being drawn, and for undo, until the board is destroyed. */
  listenToKeys() {
    this.key = (event) => {
      const typed = event.target.closest?.("textarea, select, input:not([type=checkbox], [type=radio])");
      if ((event.ctrlKey || event.metaKey) && /^[zy]$/i.test(event.key)) {
        event.stopImmediatePropagation(); // a library would undo by itself what the list of marks does not know of
        if (typed) return;
        event.preventDefault();
        if (event.key.toLowerCase() === "z") this.active?.undo();
      } else if (this.outline?.busy && !typed && /^(Escape|Enter|Backspace)$/.test(event.key) && !event.target.closest?.("button, summary")) {
        event.preventDefault();
        event.stopImmediatePropagation();
        this.stroke({ Escape: "cancel", Enter: "finish", Backspace: "shorten" }[event.key]);
      }
    };
    addEventListener("keydown", this.key, true);
  }
  destroy() {
    removeEventListener("keydown", this.key, true);
  }

  get edited() {
    return this.selected && !(this.armed && this.active) ? this.current : null;
  }

  /** Keeps the marks of a layer, [{id, geometry, name, colour}], `current` an id or null; says which there are no longer. */
  keep(layer, marks, current, selected) {
    const ids = new Set(marks.map(({ id }) => id)), gone = [...this.marks].filter(([id, mark]) => mark.layer === layer && !ids.has(id)).map(([id]) => id);
    for (const id of gone) this.marks.delete(id);
    for (const mark of marks) this.marks.set(mark.id, { ...mark, layer });
    if (current || this.marks.get(this.current)?.layer === layer || !this.marks.has(this.current)) Object.assign(this, { current, selected });
    return gone;
  }
}
