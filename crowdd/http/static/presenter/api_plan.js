/* What a presenter may ask of the API.  Whatever it says is taken apart, checked piece by piece, and rewritten: nothing
   of its text becomes part of a request by itself.  The server checks X-Presenter again. */
import { MAX, text } from "./limits.js";

const PAGING = ["limit", "offset", "last_id", "orderby", "desc"];
const FILTERS = {
  task: ["id", "state", "priority_0", "n_answers", "created", "info", "fulltextsearch", "participated"],
  taskrun: ["id", "task_id", "user_id", "created", "finish_time", "info", "fulltextsearch", "related"],
  result: ["id", "task_id", "last_version", "created", "info", "fulltextsearch", "related"],
  helpingmaterial: ["id", "media_url", "priority", "created", "info", "fulltextsearch"],
};
const SETTLED = ["project_id", "all", "_", "api_key"]; // forced by the bridge, or of no use
const number = (word) => /^\d{1,15}$/.test(word);

/**
 * The request that stands for `message` {method, url, body}: {url, body?, saves?, releases?} of our own origin, {answer}
 * when no request is needed, or null when a presenter of `project` may not ask for this.  `asksFirst` stands in a newtask
 * only: whether it is one at offset 0.
 * Throws for what is no URL or no JSON.
 */
export function plan(message, project, origin) {
  const url = new URL(text(message.url, 2000), origin);
  const path = url.pathname.split("/").filter(Boolean);
  if (url.origin !== origin || path.shift() !== "api") return null;
  if (message.method === "GET") return planRead(path, url.searchParams, project);
  if (message.method !== "POST") return null;
  if (path.length === 1 && path[0] === "taskrun") return planAnswer(message.body, project);
  if (path.length === 3 && path[0] === "task" && number(path[1]) && path[2] === "release") return planRelease(path[1], message.body);
  return null;
}

function planRead(path, query, project) {
  const mine = (reference) => reference === String(project.id) || reference === project.short_name;
  const [kind, reference] = path;
  const end = path[path.length - 1];
  if (kind === "project" && path.length < 3) return planProject(path, query, project, mine);
  if (end === "newtask" && (path.length === 2 ? mine(kind) : path.length === 3 && kind === "project" && mine(reference))) {
    const kept = keep(query, ["limit", "offset", "orderby", "desc"]);
    return { url: `/api/project/${project.id}/newtask?${kept}`, asksFirst: !Number(query.get("offset")) };
  }
  if (end === "userprogress" && path.length === 3 && kind === "project" && mine(reference))
    return { url: `/api/project/${project.id}/userprogress` };
  if (!Object.hasOwn(FILTERS, kind)) return null;
  if (path.length === 2 && number(reference)) return { url: `/api/${kind}/${reference}` };
  return path.length === 1 ? planList(kind, query, project) : null;
}

/* The project is answered from the page's public view: the API would show its owner the secret key. */
function planProject(path, query, project, mine) {
  if (path.length === 2) return mine(path[1]) ? { answer: project } : null;
  return { answer: mine(query.get("short_name") || query.get("id")) ? [project] : [] };
}

/* A filter that we do not know is refused, not dropped: the presenter would take all rows for the ones it asked for. */
function planList(kind, query, project) {
  const names = [...PAGING, ...FILTERS[kind]];
  const foreign = query.has("project_id") && query.get("project_id") !== String(project.id);
  if (foreign || [...query.keys()].some((name) => !names.includes(name) && !SETTLED.includes(name))) return null;
  const kept = keep(query, names);
  kept.set("project_id", project.id);
  kept.set("all", "1"); // otherwise a signed-in volunteer would see only the rows of projects of his own
  return { url: `/api/${kind}?${kept}` };
}

/* Rewritten from the parsed value: no second `project_id` hides in the text. */
function planAnswer(body, project) {
  const run = JSON.parse(text(body, MAX.text));
  if (!run || String(run.project_id) !== String(project.id)) return null;
  return { url: "/api/taskrun", body: JSON.stringify(run), saves: run.task_id };
}

function planRelease(task, body) {
  const { skip } = JSON.parse(text(body, 1000) || "{}");
  return { url: `/api/task/${task}/release`, body: JSON.stringify({ skip: skip === true }), releases: Number(task) };
}

function keep(query, names) {
  const kept = new URLSearchParams();
  for (const name of names) if (query.has(name)) kept.set(name, query.get(name));
  return kept;
}
