/* What can be undone. */
const MAX = 100, TOGETHER = 1000; // states; milliseconds within which changes of one kind are one

export class History {
  constructor() {
    this.clear();
  }
  get empty() {
    return !this.states.length;
  }
  /** Keeps a state before it changes.  Changes of the same `name` at short intervals are undone together. */
  keep(state, name) {
    const now = performance.now(), follows = name && name === this.name && now - this.at < TOGETHER;
    Object.assign(this, { name, at: now });
    if (follows) return;
    this.states.push(state);
    if (this.states.length > MAX) this.states.shift();
  }
  /** The state before the last change, undefined if there is none. */
  back() {
    this.name = null;
    return this.states.pop();
  }
  clear() {
    Object.assign(this, { states: [], name: null, at: 0 });
  }
}
