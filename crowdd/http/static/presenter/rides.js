/* The page where the installed site opens: what this browser has with it, and answers that wait.  Read from its database. */
import { rowsOf } from "./store.js";

const list = document.getElementById("rides"), words = list.dataset, locale = document.documentElement.lang || "en";
const digits = (number) => new Intl.NumberFormat(locale).format(number);
const time = (moment) => new Intl.DateTimeFormat(locale, { timeStyle: "short" }).format(moment);

async function show() {
  const [rides, tasks, answers] = await Promise.all(["rides", "tasks", "answers"].map((name) => rowsOf(name).catch(() => [])));
  for (const { memory, project, until } of rides) {
    const mine = (row) => row.memory === memory, left = until > Date.now() ? tasks.filter(mine).length : 0;
    const item = document.createElement("li"), link = Object.assign(document.createElement("a"), { href: project.address, textContent: project.name });
    const said = [
      left ? words.tasks.replace("{count}", digits(left)).replace("{time}", time(until)) : tasks.some(mine) ? words.late : words.none,
      words.answers.replace("{count}", digits(answers.filter(mine).length)),
    ];
    item.className = "card stack tight";
    item.append(link, Object.assign(document.createElement("p"), { className: "small", textContent: said.join(" ") }));
    list.append(item);
  }
  document.getElementById("nothing").hidden = rides.length > 0;
  const waits = answers.length;
  (waits ? navigator.setAppBadge?.(waits) : navigator.clearAppBadge?.())?.catch(() => {});
}
show();
