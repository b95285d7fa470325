/**
 * An element `name`.  `properties` are set as properties where the element has them, otherwise as attributes; undefined,
 * null and false leave an attribute out.  `children` are nodes or texts.
 */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key in made) made[key] = value;
    else if (value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** The cap of a key that is a shortcut. */
export function keyCap(key) {
  const cap = element("kbd", { "aria-hidden": "true" }, window.presenterBridge?.keyLabel(key) ?? key.toUpperCase());
  cap.dataset.key = key.toLowerCase();
  return cap;
}
document.addEventListener("crowdd:keys", () => {
  for (const cap of document.querySelectorAll("kbd[data-key]")) cap.textContent = window.presenterBridge.keyLabel(cap.dataset.key);
});
