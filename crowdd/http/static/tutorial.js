// The tutorial of a project opens once by itself, before the first task: bridge.js begins the task's frame when the dialog is
// closed. Afterwards it is a page of its own (a link in the help), so that the frame with somebody's work never has to go.
import { ApiClient } from "./presenter/api_client.js";
import { project } from "./presenter/caller.js";
import { PresenterFrame } from "./presenter/frame.js";
const $ = (id) => document.getElementById(id);
const dialog = $("tutorial"), seen = $("presenter").dataset.tutorial;
const AROUND = 220; // pixels of the window that the dialog and its buttons take
const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* switched off */ } };

function show() {
  const frame = new PresenterFrame({
    box: $("tutorial-frame"), notice: $("tutorial-notice"), project,
    client: new ApiClient(project, () => {}), address: () => dialog.dataset.address, around: () => AROUND,
    hear: { key: ({ key }) => key === "Escape" && dialog.close() },
  });
  dialog.addEventListener("close", () => {
    frame.close();
    remember(seen, "yes");
  });
  $("presenter").replaceChildren();
  dialog.showModal();
  frame.open();
}

// It comes before the first task there is: now, or when one has come free.
let over = Boolean(recall(seen));
function first() {
  if (over) return;
  over = true;
  show();
}
document.addEventListener("presenter:begins", first);
document.addEventListener("presenter:anew", first);
