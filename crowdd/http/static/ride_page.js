// What the page says of tasks that were taken along (presenter/ride.js), and the badge of the installed site: how many answers wait.
const box = document.getElementById("ride"), said = document.getElementById("ride-said"), more = document.getElementById("ride-more");
const locale = document.documentElement.lang || "en";
const on = (name, act) => document.addEventListener(name, (event) => act(event.detail || {}));
const figures = { time: "", late: 0, tardy: 0 }, told = new Set();

function say(word) {
  told.add(word);
  const sentences = ["with", "over", "late", "tardy"].filter((each) => told.has(each)).map((each) => said.dataset[each]);
  const written = (name) => (typeof figures[name] === "number" ? new Intl.NumberFormat(locale).format(figures[name]) : figures[name]);
  said.textContent = sentences.join(" ").replace(/\{(\w+)\}/g, (_, name) => written(name));
  box.hidden = false;
}

on("presenter:ride", ({ count, until, late }) => {
  figures.late = late;
  if (late) say("late");
  if (!count) return;
  figures.time = new Intl.DateTimeFormat(locale, { timeStyle: "short" }).format(until);
  say("with");
});
on("presenter:ride-over", () => {
  told.delete("with");
  more.hidden = false;
  say("over");
});
on("presenter:saved", ({ late, waited }) => {
  if (!late || !waited) return;
  figures.tardy++;
  say("tardy");
});
on("presenter:waiting", ({ count }) => (count ? navigator.setAppBadge?.(count) : navigator.clearAppBadge?.())?.catch(() => {}));
