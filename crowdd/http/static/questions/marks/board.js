/* What all media have in common on which marks are drawn: several questions (layers) share one board, and one of them at a
   time is `active`: it gets what is drawn.  A layer has
     kind, created(geometry, id?), changed(id, geometry), selected(id), turned(on), stroking(on), undo() */
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
    Object.assign(this, { surface, layers: new Set(), marks: new Map(), chosen: null, armed: true, active: null });
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
    this.arm(this.armed);
  }

  /** Whether a pointer draws; otherwise it chooses marks, and scrolls or moves the medium. */
  arm(armed) {
    this.armed = armed;
    this.active?.turned(armed);
  }

  /** Keeps the marks of a layer, and says which there are no longer: [{id, geometry, name, colour}], `selected` an id or null. */
  keep(layer, marks, selected) {
    const ids = new Set(marks.map(({ id }) => id)), gone = [...this.marks].filter(([id, mark]) => mark.layer === layer && !ids.has(id)).map(([id]) => id);
    for (const id of gone) this.marks.delete(id);
    for (const mark of marks) this.marks.set(mark.id, { ...mark, layer });
    if (selected || this.marks.get(this.chosen)?.layer === layer || !this.marks.has(this.chosen)) this.chosen = selected;
    return gone;
  }
}
