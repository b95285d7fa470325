/* The pointer, the focus and buttons: what people do with their hands while they type, and while the page changes. */
const TYPED = "textarea, input:not([type=radio], [type=checkbox], [type=range])";
const PRESSED = "button, summary, label:has(> :is([type=radio], [type=checkbox]))";
const SLIP = 10; // pixels that a hand may move while it presses

const RELEASED = 50; // milliseconds: the click comes a little after the release
let isPressed = false;
const waiting = [];
for (const [name, on] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
  addEventListener(name, ({ isPrimary }) => {
    if (!isPrimary) return;
    isPressed = on;
    if (!on) setTimeout(() => { if (!isPressed) for (const act of waiting.splice(0)) act(); }, RELEASED);
  }, true);
}

/** Does what moves things on the page when nothing is pressed on it. */
export function whenReleased(act) {
  if (isPressed) waiting.push(act);
  else act();
}

/** Makes an element take the focus where it is: libraries call focus(), and the browser would scroll the page around the frame. */
export function focusStill(element) {
  element.focus = () => HTMLElement.prototype.focus.call(element, { preventScroll: true });
}

/**
 * A button of `place` acts on the press that began on it, also when something moves it away before the release.  A pointer that
 * leaves it means something else.
 */
export function keepPresses(place) {
  let press = null;
  place.addEventListener("pointerdown", ({ target, isPrimary, button, pointerId, clientX, clientY }) => {
    const pressed = isPrimary && !button ? target.closest?.(PRESSED) : null;
    press = pressed ? { pressed, pointerId, clientX, clientY } : null;
    pressed?.setPointerCapture(pointerId);
  });
  place.addEventListener("pointermove", ({ pointerId, clientX, clientY }) => {
    if (press?.pointerId !== pointerId || Math.hypot(clientX - press.clientX, clientY - press.clientY) <= SLIP) return;
    if (press.pressed.hasPointerCapture(pointerId)) press.pressed.releasePointerCapture(pointerId);
    press = null;
  });
}

/**
 * Keeps the focus in `place` while it has fields for text: after a press on what takes no focus, or on a medium, people go on
 * typing where they were.  `home()` is what has the focus otherwise: a finger that leaves a field puts the keyboard away.
 */
export function keepFocus(place, home) {
  let before = null, finger = false;
  const typing = () => [...place.querySelectorAll(TYPED)].some((field) => field.checkVisibility());
  const back = () => {
    const { activeElement: now, body } = document, typed = before?.matches(TYPED);
    if (now !== body && !(typed && now.closest(".see"))) return;
    if (!typing() || (typed && String(document.getSelection()))) return; // words that are selected stay so
    if (before?.isConnected && before !== body && !(finger && typed)) before.focus({ preventScroll: true });
    if (document.activeElement === body || (finger && typed)) home()?.focus({ preventScroll: true });
  };
  addEventListener("pointerdown", ({ isPrimary, pointerType }) => {
    if (!isPrimary) return;
    before = document.activeElement;
    finger = pointerType === "touch";
  }, true);
  for (const name of ["pointerup", "click"]) addEventListener(name, () => setTimeout(back), true); // a finger's click comes later
}
