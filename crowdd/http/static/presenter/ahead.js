/* Tasks that were handed out before they are needed: without a line, the volunteer goes on with them.  They are here for as long as
   their leases, and no more of them than a few megabytes. */
const FEW = 5, SOME = 10, MANY = 20; // below how many more are asked for, how many then, and how many can be taken along
const PRELOADED = 600; // seconds that a task is leased until somebody reaches it
const MAX_BYTES = 5e6, MAX_ADDRESSES = 60;
const MEDIUM = /^(https?:\/\/|\/)\S+\.(jpe?g|png|gif|webp|avif|svg|mp3|ogg|oga|opus|wav|m4a|flac|mp4|webm)([?#]|$)/i;
const ADDRESS = /^(https?:\/\/|\/)\S/;

export class TasksAhead {
  /**
   * `columns` of tasks have addresses of pictures and sounds; `lease` is how many seconds a task that was reached is leased.  `isRide`: these
   * tasks are all that this page shows (ride.js).  `bring(tasks)` is awaited before tasks are shown, `ended(id)` is told of each
   * that is over, and whose answer is safe.
   */
  constructor({ columns, lease, isRide = false, bring = async () => {}, ended = () => {} }) {
    Object.assign(this, { columns, lease, isRide, bring, ended, tasks: new Map(), over: new Set(), asked: 0 });
  }

  /** The number of tasks to ask for now, 0 for none: once in a while, and not while somebody saves bytes. */
  wanted() {
    return this.asked || navigator.connection?.saveData || this.list().length >= FEW ? 0 : SOME;
  }
  get many() {
    return MANY;
  }

  /** Takes tasks that the volunteer holds, in their order, and answers those that are new. */
  add(tasks, seconds = Math.min(PRELOADED, this.lease)) {
    const fresh = tasks.filter(({ id }) => !this.tasks.has(id)), until = Date.now() + 1000 * seconds;
    for (const task of tasks) this.tasks.set(task.id, { task, until, bytes: JSON.stringify(task).length });
    let bytes = 0;
    for (const [id, kept] of this.tasks) if ((bytes += kept.bytes) > MAX_BYTES) this.tasks.delete(id);
    return fresh.filter(({ id }) => this.tasks.has(id));
  }

  /** Takes tasks {task, until} that were taken along before. */
  unpack(rows) {
    for (const { task, until } of rows) this.tasks.set(task.id, { task, until, bytes: JSON.stringify(task).length });
  }

  /** A task that was answered or given back. */
  end(id) {
    this.over.add(Number(id));
    this.tasks.delete(Number(id));
  }

  list() {
    const now = Date.now();
    return [...this.tasks.values()].filter(({ task, until }) => until > now && !this.over.has(task.id)).map(({ task }) => task);
  }

  /** What a request for tasks gets without a line, null if there is nothing. */
  answer(address) {
    const query = new URL(address, location.origin).searchParams, offset = Number(query.get("offset")), limit = query.get("limit");
    const tasks = this.list().slice(offset, offset + (Number(limit) || 1));
    if (!this.isRide && (!tasks.length || query.has("orderby"))) return null;
    const value = limit === null ? tasks[0] ?? {} : tasks;
    return { status: 200, headers: new Headers(), body: JSON.stringify(value), value, retryAfter: 0, code: "" };
  }

  /** The media of tasks, by what their values look like. */
  addresses(tasks) {
    const values = tasks.flatMap(({ info }) => Object.entries(Object(info)).filter(([column, value]) => MEDIUM.test(value) || (this.columns.includes(column) && ADDRESS.test(value))));
    return [...new Set(values.map(([, value]) => value))].slice(0, MAX_ADDRESSES);
  }
}
