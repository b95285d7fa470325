/* Tries a template: its questions in a frame, on its sample tasks. Nothing that happens in it reaches the server; the frame is
   opaque, and what it says is taken for what a stranger says. */
import { show } from "./answer_words.js";

const box = document.getElementById("trial"), panel = document.getElementById("trial-answer"), again = document.getElementById("trial-again");
const MAX_HEIGHT = 4000, MIN_HEIGHT = 150, MAX_TEXT = 1000000;
let frame = null, port = null, at = 0;

if (box) {
  const { project, tasks, list } = JSON.parse(box.dataset.told);
  const json = (status, value) => ({ status, body: JSON.stringify(value) });

  /* What the API would answer to a volunteer who is alone with these tasks. */
  const answer = (method, address, body) => {
    const url = new URL(address, location.origin), path = url.pathname.replace(/\/+$/, "");
    if (method === "POST" && path === "/api/taskrun") return stored(body);
    if (method === "POST" && /^\/api\/task\/\d+\/release$/.test(path)) return at++, json(200, {});
    if (method !== "GET") return json(403, { exception_msg: "" });
    if (path === "/api/project") return json(200, [project]);
    if (/\/newtask$/.test(path)) return json(200, tasks[at + (Number(url.searchParams.get("offset")) || 0)] || {});
    if (/\/userprogress$/.test(path)) return json(200, { done: Math.min(at, tasks.length), total: tasks.length });
    return json(200, /^\/api\/project\//.test(path) ? project : []);
  };
  const stored = (body) => {
    let run = {};
    try { run = JSON.parse(body) ?? {}; } catch { /* shown as nothing */ }
    at++;
    again.hidden = false;
    show(panel, list, run.info);
    return json(200, { id: at, ...run });
  };

  const heard = {
    api: (message) => ({ id: message.id, ...answer(String(message.method), String(message.url), String(message.body)) }),
    size: (message) => { frame.style.height = `${Math.min(Math.max(Number(message.height) || 0, MIN_HEIGHT), MAX_HEIGHT)}px`; },
  };
  const receive = (event) => {
    if (typeof event.data !== "string" || event.data.length > MAX_TEXT) return;
    let message = null;
    try { message = JSON.parse(event.data); } catch { return; }
    if (!message || !Object.hasOwn(heard, message.op)) return;
    const reply = heard[message.op](message);
    if (reply && Number.isSafeInteger(reply.id)) port.postMessage(JSON.stringify(reply));
  };

  const questions = JSON.stringify({ list, version: 1, language: "" }).replaceAll("<", "\\u003c");
  const page = `<link rel="stylesheet" href="/static/questions/questions.css"><script type="application/json" id="questions">${questions}</script>
    <script type="module" src="/static/questions/questions.js"></script>`;
  addEventListener("message", (event) => {
    if (!frame || event.source !== frame.contentWindow || event.origin !== "null") return;
    if (event.data === "presenter:hello" && event.ports.length === 1 && !port) {
      port = event.ports[0];
      port.onmessage = receive;
    }
    if (event.data === "preview:ready") frame.contentWindow.postMessage(page, "*");
  });

  const begin = () => {
    port?.close();
    port = null;
    at = 0;
    panel.hidden = again.hidden = true;
    frame = document.createElement("iframe");
    frame.title = box.dataset.label;
    frame.setAttribute("sandbox", "allow-scripts allow-forms");
    frame.name = JSON.stringify({ project, shortcuts: false, room: 420, theme: document.documentElement.dataset.theme || "" });
    frame.src = `${box.dataset.page}?_presenter=1`;
    box.replaceChildren(frame);
  };
  again.addEventListener("click", () => { begin(); frame.focus(); });
  begin();
}
