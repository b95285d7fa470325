// The editor of a presenter: a frame shows what a volunteer would see, on a few tasks that are no more than shown. Nothing
// that happens in it reaches the server. The frame is opaque, and what it says is taken for what a stranger says.
const box = document.getElementById("preview");
const text = document.getElementById("editor");
const said = document.getElementById("preview-said");
const { project, tasks } = JSON.parse(box.dataset.preview);
const WAIT = 600, MOST_HEIGHT = 4000, MOST_TEXT = 1000000;
let frame = null, port = null, waiting = 0, at = 0;

const json = (status, value) => ({ status, body: JSON.stringify(value) });

/* What the API would answer to a volunteer who is alone with these tasks. */
function answer(method, address, body) {
  const url = new URL(address, location.origin), path = url.pathname.replace(/\/+$/, "");
  const [, one] = path.match(/^\/api\/task\/(\d+)$/) || [];
  if (method === "POST" && path === "/api/taskrun") return saved(body);
  if (method === "POST" && /^\/api\/task\/\d+\/release$/.test(path)) return at++, json(200, {});
  if (method !== "GET") return json(403, { exception_msg: "" });
  if (path === "/api/project") return json(200, [project]);
  if (path === "/api/project/" + project.id) return json(200, project);
  if (/\/newtask$/.test(path)) return json(200, tasks[at + (Number(url.searchParams.get("offset")) || 0)] || {});
  if (/\/userprogress$/.test(path)) return json(200, { done: Math.min(at, tasks.length), total: tasks.length });
  if (one) return json(200, tasks.find((task) => task.id === Number(one)) || {});
  return json(200, []);
}
function saved(body) {
  let run = {};
  try { run = JSON.parse(body); } catch { /* shown as nothing */ }
  at++;
  said.textContent = said.dataset.words.replace("{answer}", JSON.stringify(run.info).slice(0, 300));
  return json(200, { id: at, ...run });
}

const HEARD = {
  api: (message) => ({ id: message.id, ...answer(String(message.method), String(message.url), String(message.body)) }),
  size: (message) => { frame.style.height = Math.min(Math.max(Number(message.height) || 0, 150), MOST_HEIGHT) + "px"; },
};
function receive(event) {
  if (typeof event.data !== "string" || event.data.length > MOST_TEXT) return;
  let message = null;
  try { message = JSON.parse(event.data); } catch { return; }
  if (!message || !Object.hasOwn(HEARD, message.op)) return;
  const reply = HEARD[message.op](message);
  if (reply && Number.isSafeInteger(reply.id)) port.postMessage(JSON.stringify(reply));
}
addEventListener("message", (event) => {
  if (!frame || event.source !== frame.contentWindow || event.origin !== "null") return;
  if (event.data === "presenter:hello" && event.ports.length === 1 && !port) {
    port = event.ports[0];
    port.onmessage = receive;
  }
  if (event.data === "preview:ready") frame.contentWindow.postMessage(text.value, "*");
});

/* A new frame each time: nothing of the text before is left in it. */
function show() {
  if (port) port.close();
  port = null;
  at = 0;
  said.textContent = "";
  frame = document.createElement("iframe");
  frame.title = box.dataset.label;
  frame.setAttribute("sandbox", "allow-scripts allow-forms");
  const beginning = { project, shortcuts: false, room: 420, theme: document.documentElement.dataset.theme || "" };
  frame.name = JSON.stringify(beginning);
  frame.src = location.pathname + "?_presenter=1";
  box.replaceChildren(frame);
}

/* The words of a starter stand in its first lines; changed in their fields they are changed there. */
const BLOCK = /(<script type="application\/json" id="asked">)([^]*?)(<\/script>)/;
const words = document.getElementById("words");
function reworded() {
  const found = text.value.match(BLOCK);
  if (!found) return;
  let asked;
  try { asked = JSON.parse(found[2]); } catch { return; }
  const fields = new FormData(words);
  asked.question = fields.get("question").trim();
  asked.unsure = fields.get("unsure").trim();
  if (asked.answers) asked.answers = [...new Set(fields.get("answers").split("\n").map((line) => line.trim()).filter(Boolean))];
  const block = JSON.stringify(asked).replaceAll("<", "\\u003c");
  text.value = text.value.replace(BLOCK, (_, first, __, last) => first + block + last);
}
function later() {
  clearTimeout(waiting);
  waiting = setTimeout(show, WAIT);
}
text.addEventListener("input", later);
if (words) words.addEventListener("input", () => { reworded(); later(); });
show();
