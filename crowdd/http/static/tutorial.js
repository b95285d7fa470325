// The tutorial of a project over the task: it opens once by itself, and as often as somebody wants. Its frame is as fenced in
// as the presenter's, and its keys are its own.
import { ApiClient } from "./presenter/api_client.js";
import { project } from "./presenter/caller.js";
import { questions } from "./presenter/dialog.js";
import { PresenterFrame } from "./presenter/frame.js";
const $ = (id) => document.getElementById(id);
const dialog = $("tutorial"), seen = `tutorial-${project.id}`;
const AROUND = 220; // pixels of the window that the dialog and its buttons take
let frame = null;

function show() {
  dialog.showModal();
  frame = frame || new PresenterFrame({
    box: $("tutorial-frame"), notice: $("tutorial-notice"), questions, project,
    client: new ApiClient(project, () => {}), address: () => dialog.dataset.address, around: () => AROUND,
    hear: { key: ({ key }) => key === "Escape" && dialog.close() },
  });
  frame.anew();
}

if (dialog) {
  for (const button of document.querySelectorAll("[data-tutorial]")) button.addEventListener("click", show);
  dialog.addEventListener("close", () => {
    frame.close();
    try { localStorage.setItem(seen, "yes"); } catch { /* switched off */ }
  });
  let known = null;
  try { known = localStorage.getItem(seen); } catch { /* switched off */ }
  if (!known) show();
}
