/* How much a frame may say, and what is left of a text that it says. */

export const MAX = {
  text: 4e6, // characters of one message
  burst: 200, // messages at once ...
  perSecond: 50, // ... and on the long run
  running: 6, // requests under way
  waiting: 60, // requests in the queue behind them
  height: 20000, // pixels
  memory: 1e5, // characters of a presenter's storage
  silence: 5, // pings without an answer before the page says so
  lives: 5, // reloads in a row
};

/** `value` cut to `length` characters; an empty string when it is no string. */
export function text(value, length) {
  return typeof value === "string" ? value.slice(0, length) : "";
}

/** A token bucket: `spend()` is false when more than `burst`, or more than `perSecond` for long, was spent. */
export class Budget {
  constructor(burst, perSecond) {
    Object.assign(this, { burst, perSecond });
    this.refill();
  }

  refill() {
    this.left = this.burst;
    this.filled = performance.now();
  }

  spend() {
    const now = performance.now();
    this.left = Math.min(this.burst, this.left + ((now - this.filled) / 1000) * this.perSecond);
    this.filled = now;
    return --this.left >= 0;
  }
}
