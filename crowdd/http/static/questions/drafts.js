/* What was typed and not sent.  The page around the frame keeps it (sessionStorage), so it survives a reload. */
const NAME = /^questions-\d+$/, LABELS = " labels"; // no question has that name
const MAX = 3, MAX_TEXT = 9e4; // tasks; characters of all of them, which the page limits, too (presenter/limits.js)

export class Drafts {
  /** `types`: the type of each question by its name.  What was an answer to another type is none. */
  constructor(types) {
    this.types = types;
  }

  /** The answers that were begun for a task, null if there are none. */
  of(task) {
    try {
      const entries = Object.entries(this.read(task));
      return Object.fromEntries(entries.filter(([name, [type]]) => this.types.get(name) === type).map(([name, [, value]]) => [name, value]));
    } catch {
      return null;
    }
  }

  /** The labels that were chosen for the next marks of a task, by question. */
  labelsOf(task) {
    return this.read(task)?.[LABELS]?.[1] ?? {};
  }

  read(task) {
    return JSON.parse(sessionStorage.getItem(`questions-${task.id}`));
  }

  keep(task, answers, labels) {
    const entries = Object.entries(answers).map(([name, value]) => [name, [this.types.get(name), value]]);
    const text = JSON.stringify(Object.fromEntries([...entries, [LABELS, ["", labels]]]));
    this.drop(task); // the last one comes last
    if (text.length > MAX_TEXT) return;
    sessionStorage.setItem(`questions-${task.id}`, text);
    const names = Object.keys(sessionStorage).filter((name) => NAME.test(name));
    for (let size = 0, nth = names.length; nth--;) {
      size += sessionStorage.getItem(names[nth]).length;
      if (names.length - nth > MAX || size > MAX_TEXT) sessionStorage.removeItem(names[nth]);
    }
  }

  drop(task) {
    sessionStorage.removeItem(`questions-${task.id}`);
  }
}
