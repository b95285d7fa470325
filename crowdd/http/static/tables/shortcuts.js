// Keys of one letter can be switched off (WCAG 2.1.4), once for all pages (task_keys.js keeps the same choice): a box in the list of keys.
const recall = () => { try { return localStorage.getItem("shortcuts"); } catch { return null; } };
const remember = value => { try { localStorage.setItem("shortcuts", value); } catch { /* switched off */ } };

// Whether letters are keys now; never without a box.
export function shortcuts(box) {
  if (box) {
    box.checked = recall() !== "off";
    box.addEventListener("change", () => remember(box.checked ? "on" : "off"));
  }
  return () => Boolean(box?.checked);
}
