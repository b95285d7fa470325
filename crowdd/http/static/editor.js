// The editor of a presenter: a frame shows what a volunteer would see, on a few tasks that are no more than shown. Nothing
// that happens in it reaches the server. The frame is opaque, and what it says is taken for what a stranger says.
const box = document.getElementById("preview");
const text = document.getElementById("editor");
const said = document.getElementById("preview-said");
const { project, tasks } = JSON.parse(box.dataset.preview);
const framed = (words) => (project.uploads ? words.replaceAll(`/uploads/project-${project.id}/`, project.uploads) : words);
const WAIT = 600, MAX_HEIGHT = 4000, MAX_TEXT = 1000000;
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
  size: (message) => { frame.style.height = Math.min(Math.max(Number(message.height) || 0, 150), MAX_HEIGHT) + "px"; },
};
function receive(event) {
  if (typeof event.data !== "string" || event.data.length > MAX_TEXT) return;
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
  if (event.data === "preview:ready") frame.contentWindow.postMessage(framed(source()), "*");
});

/* The page to show; "" when there is nothing to show. */
const source = () => text.value;

/* A new frame each time: nothing of the text before is left in it. */
function show() {
  if (port) port.close();
  port = null;
  at = 0;
  said.textContent = "";
  if (!source().trim()) { // a white box would say less
    frame = null;
    box.textContent = box.dataset.empty;
    return;
  }
  frame = document.createElement("iframe");
  frame.title = box.dataset.label;
  frame.setAttribute("sandbox", "allow-scripts allow-forms");
  const beginning = { project, shortcuts: false, room: 420, theme: document.documentElement.dataset.theme || "" };
  frame.name = JSON.stringify(beginning);
  frame.src = location.pathname + "?_presenter=1";
  box.replaceChildren(frame);
}

/* The words of a starter stand in its first lines; changed in their fields they are changed there, and the other way round. */
const BLOCK = /(<script type="application\/json" id="asked">)([^]*?)(<\/script>)/;
const words = document.getElementById("words").elements;
const COLUMNS = ["picture", "text", "caption"];
const lines = (text) => [...new Set(text.split("\n").map((line) => line.trim()).filter(Boolean))];
function asked() {
  const found = text.value.match(BLOCK);
  try { return found && JSON.parse(found[2]); } catch { return null; }
}
function reworded() {
  const said = asked();
  if (!said) return;
  said.question = words.question.value.trim();
  said.unsure = words.unsure.value.trim();
  if (said.answers) said.answers = lines(words.answers.value);
  for (const name of COLUMNS) if (words[name] && name in said) said[name] = words[name].value;
  const block = JSON.stringify(said).replaceAll("<", "\\u003c");
  text.value = text.value.replace(BLOCK, (_, first, __, last) => first + block + last);
}
function reread() {
  const said = words.question && asked();
  if (!said) return;
  words.question.value = said.question ?? "";
  words.unsure.value = said.unsure ?? "";
  if (Array.isArray(said.answers) && words.answers) words.answers.value = said.answers.join("\n");
  for (const name of COLUMNS) if (words[name] && name in said) words[name].value = said[name];
}
function later() {
  clearTimeout(waiting);
  waiting = setTimeout(show, WAIT);
}
text.form.addEventListener("input", ({ target }) => {
  if (target === text) reread(); else reworded();
  later();
});
show();
