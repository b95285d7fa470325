// Bars of long work move while somebody looks at them; when something ends, the page is loaded once more.
const rows = [...document.querySelectorAll("[data-item]")];
const moving = new Set(["waiting", "running"]);
const number = new Intl.NumberFormat(document.documentElement.lang || "en");
const EVERY = 1500; // milliseconds

function show(row, item) {
  const bar = row.querySelector("progress");
  if (bar) Object.assign(bar, { max: item.total || 1, value: item.done });
  for (const place of row.querySelectorAll("[data-part]")) {
    const value = item[place.dataset.part];
    if (value !== null && value !== undefined) place.textContent = number.format(Math.ceil(value));
  }
}

async function look() {
  if (document.hidden) return setTimeout(look, EVERY);
  const answer = await fetch(location.href, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!answer) return setTimeout(look, 10 * EVERY);
  if (!answer.ok) return undefined;
  const items = new Map((await answer.json()).items.map((item) => [String(item.id), item]));
  for (const row of rows) {
    const item = items.get(row.dataset.item);
    if (!item || item.state !== row.dataset.state) return location.reload();
    show(row, item);
  }
  return setTimeout(look, EVERY);
}

if (rows.some((row) => moving.has(row.dataset.state))) setTimeout(look, EVERY);
