// The state of a project whenever it changes, for the page that is looked at: a browser has few connections to a site.
const SOONEST = 10000, LATEST = 300000; // milliseconds

/** Calls `show(state)` with each state that `address` tells, at once with the present one. */
export function watch(address, show) {
  let source = null, again = 0, wait = SOONEST;

  function open() {
    clearTimeout(again);
    if (source || document.hidden) return;
    source = new EventSource(address);
    source.addEventListener("state", (event) => {
      wait = SOONEST;
      show(JSON.parse(event.data));
    });
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) return; // it comes back by itself
      close();
      again = setTimeout(open, wait);
      wait = Math.min(2 * wait, LATEST);
    });
  }
  function close() {
    if (source) source.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
}
