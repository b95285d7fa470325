// The page of an import follows its work, and tells when what is chosen differs from what was counted.
const place = document.querySelector("[data-import]");
const number = new Intl.NumberFormat(document.documentElement.lang || "en");
const EVERY = 1000; // milliseconds
const MOVING = new Set(["reading", "waiting", "running"]);

function show(found) {
  const work = found.work;
  const bar = place.querySelector("progress");
  if (bar && work && work.total) Object.assign(bar, { max: work.total, value: work.done });
  for (const part of place.querySelectorAll("[data-part]")) {
    const value = found[part.dataset.part];
    if (typeof value === "number") part.textContent = number.format(value);
  }
}

async function look() {
  if (document.hidden) return setTimeout(look, EVERY);
  const answer = await fetch(location.href, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!answer) return setTimeout(look, 10 * EVERY);
  if (!answer.ok) return undefined;
  const found = (await answer.json()).import;
  if (found.state !== place.dataset.state) return location.reload();
  show(found);
  return setTimeout(look, EVERY);
}

if (place && MOVING.has(place.dataset.state)) setTimeout(look, EVERY);

const form = document.querySelector("form[data-counted]");
if (form) {
  const begin = form.querySelector("[data-begin]");
  const anew = form.querySelector("[name=check]");
  form.addEventListener("change", (event) => {
    if (event.target.name === "on_error") return;
    begin.classList.remove("main");
    anew.classList.add("main");
  });
}
