// Who was signed out while he was at a task signs in again where he is: what he typed stays, what waits is sent.
import { renew, volunteer } from "./presenter/caller.js";
const $ = (id) => document.getElementById(id);
const dialog = $("signed-out"), form = $("sign-in-again"), wrong = $("sign-in-wrong");
const JSON_ = { Accept: "application/json", "Content-Type": "application/json" };
let away = false;

async function read(path) {
  return (await fetch(path, { headers: JSON_ })).json();
}
function refuse(words) {
  wrong.textContent = words;
  wrong.hidden = false;
}

// Of a new session: who it is, and the token for what this page writes from now on.
async function lookAgain() {
  const { user } = await read("/account/profile");
  if (!user) return;
  if (String(user.id) !== volunteer) return refuse(wrong.dataset.other.replace("{name}", user.fullname || user.name));
  renew((await read(`/account/${encodeURIComponent(user.name)}/resetapikey`)).form.csrf);
  away = false;
  $("away").hidden = true;
  dialog.close();
  document.dispatchEvent(new CustomEvent("presenter:signed-in"));
}

async function signIn() {
  const token = (await read("/account/signin")).form?.csrf || "";
  const body = JSON.stringify({ ...Object.fromEntries(new FormData(form)), csrf: token });
  const answer = await fetch("/account/signin", { method: "POST", headers: { ...JSON_, "X-CSRFToken": token }, body });
  const { status, flash, exception_msg: message } = await answer.json();
  if (status !== "success") return refuse([flash || message].flat().join(" "));
  form.reset();
  await lookAgain();
}

function ask() {
  away = true;
  $("away").hidden = false;
  wrong.hidden = true;
  if (!dialog.open) dialog.showModal();
}

if (dialog) {
  document.addEventListener("presenter:signed-out", () => away || ask());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.hidden = true;
    await signIn().catch(() => refuse(wrong.dataset.line));
  });
  $("away-back").addEventListener("click", ask);
  $("stay-out").addEventListener("click", () => dialog.close());
  addEventListener("focus", () => away && lookAgain().catch(() => {})); // signed in again in another tab
}
