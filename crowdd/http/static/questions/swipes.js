/* A finger that goes across the task to the left or right gives the answer that stands there. */
const BEGUN = 12, FAR = 72; // pixels: until it is known which way a finger goes, and until it means an answer
const OTHERS = "input, select, textarea, .waves, .player-bar, video, .map, .viewer.zoomed, .viewer .tools, .marked"; // what hears fingers itself

/** Listens in `place`; `sides()` are the buttons on the left and on the right, or nothing.  end() stops it. */
export function swipes(place, sides) {
  const over = new AbortController();
  let from = null, aimed = null;

  const aim = (button) => {
    aimed?.classList.remove("aimed");
    aimed = button;
    aimed?.classList.add("aimed");
  };
  const stop = () => {
    from = null;
    aim(null);
  };
  const on = (name, act) => place.addEventListener(name, act, { signal: over.signal, capture: true });

  on("pointerdown", ({ isPrimary, pointerType, target, clientX, clientY }) => {
    stop();
    const zoomed = window.visualViewport.scale > 1.01;
    if (isPrimary && pointerType === "touch" && !zoomed && !target.shadowRoot && !target.closest(OTHERS) && sides()) from = { clientX, clientY, across: false };
  });
  on("pointermove", ({ isPrimary, clientX, clientY }) => {
    if (!from || !isPrimary) return;
    const right = clientX - from.clientX, down = clientY - from.clientY;
    if (!from.across && Math.hypot(right, down) < BEGUN) return;
    from.across ||= Math.abs(right) > 1.5 * Math.abs(down);
    if (!from.across) return stop();
    const buttons = sides();
    aim(buttons && Math.abs(right) >= FAR ? buttons[Number(right > 0)] : null);
  });
  on("pointerup", ({ isPrimary }) => {
    const button = isPrimary ? aimed : null;
    stop();
    button?.click();
  });
  on("pointercancel", stop);
  return { end: () => over.abort() };
}
