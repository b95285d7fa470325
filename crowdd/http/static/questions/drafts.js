/* What was typed and not sent.  The page around the frame keeps it (sessionStorage), so it survives a reload. */
const NAME = /^questions-\d+$/;
const MAX = 3, MAX_TEXT = 9e4; // tasks; characters of all of them, which the page limits, too (presenter/limits.js)

export class Drafts {
  /** `types`: the type of each question by its name.  What was an answer to another type is none. */
  constructor(types) {
    this.types = types;
  }

  /** The answers that were begun for a task, null if there are none. */
  of(task) {
    try {
      const entries = Object.entries(JSON.parse(sessionStorage.getItem(`questions-${task.id}`)));
      return Object.fromEntries(entries.filter(([name, [type]]) => this.types.get(name) === type).map(([name, [, value]]) => [name, value]));
    } catch {
      return null;
    }
  }

  keep(task, answers) {
    const text = JSON.stringify(Object.fromEntries(Object.entries(answers).map(([name, value]) => [name, [this.types.get(name), value]])));
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
