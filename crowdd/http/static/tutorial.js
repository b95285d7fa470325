// The tutorial of a project opens once by itself, before the first task: bridge.js begins the task's frame when the dialog is
// closed. A guided one takes the place of the task; others open over it. Afterwards it is a page of its own (a link in the help), so that the frame with somebody's work never has to go.
import { ApiClient } from "./presenter/api_client.js";
import { project } from "./presenter/caller.js";
import { PresenterFrame } from "./presenter/frame.js";
const $ = (id) => document.getElementById(id);
const dialog = $("tutorial"), seen = $("presenter").dataset.tutorial;
const AROUND = 220; // pixels of the window that the dialog and its buttons take
const guided = "guided" in dialog.dataset;
const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* switched off */ } };

function show() {
  const frame = new PresenterFrame({
    box: $("tutorial-frame"), notice: $("tutorial-notice"), project,
    client: new ApiClient(project, () => {}), address: () => dialog.dataset.address, around,
    hear: { key: ({ key }) => key === "Escape" && dialog.close(), done: () => dialog.close() },
    greeted: () => guided && frame.focus(),
  });
  dialog.addEventListener("close", () => {
    frame.close();
    remember(seen, "yes");
    if (guided) focusTask();
  });
  $("presenter").replaceChildren();
  if (guided) beside();
  else dialog.showModal();
  frame.open();
}

/* What the page keeps around the frame: its bars, and the head of the tutorial. */
function around() {
  if (!guided) return AROUND;
  const parts = [...document.querySelectorAll("[data-around-presenter]"), $("tutorial-head")].map((part) => part.offsetHeight);
  return parts.reduce((sum, part) => sum + part, 0);
}

/* In the place of the task: the page around it stays in reach. */
function beside() {
  dialog.addEventListener("keydown", ({ key }) => key === "Escape" && dialog.close());
  dialog.show();
}

/* The frame of the task that comes now, for people who go on by keyboard. */
function focusTask() {
  const focus = () => $("presenter").querySelector("iframe")?.focus();
  document.addEventListener("presenter:task", focus, { once: true });
  $("main").focus({ preventScroll: true });
}

// It comes before the first task there is: now, or when one has come free.
let over = Boolean(recall(seen));
function first() {
  if (over) return;
  over = true;
  show();
}
document.addEventListener("presenter:begins", first);
document.addEventListener("presenter:restart", first);
