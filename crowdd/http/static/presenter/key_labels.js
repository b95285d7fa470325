/* What is printed on keys, where their layout has no Latin letters: there a shortcut is pressed where its letter is on others. */

/** A promise of labels by letter, `{s: "ы"}`: only letters that no key types, and only where the browser tells. */
export const keyLabels = labels();

async function labels() {
  const layout = await navigator.keyboard?.getLayoutMap?.().catch(() => null);
  if (!layout) return {};
  const typed = new Set(layout.values());
  const places = [...layout].map(([code, label]) => [(/^Key([A-Z])$/.exec(code)?.[1] ?? "").toLowerCase(), label]);
  return Object.fromEntries(places.filter(([letter]) => letter && !typed.has(letter)));
}
