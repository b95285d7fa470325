// How good a new password is: asked of the server, which decides in the end. Without it the form says the same when sent.
const PAUSE = 400;

for (const box of document.querySelectorAll("[data-strength]")) {
  const input = document.getElementById(box.dataset.strength), meter = box.querySelector("meter"), words = box.querySelector("p");
  let timer, asked = 0;

  const show = answer => {
    box.hidden = !answer;
    if (!answer) return;
    meter.value = answer.score;
    words.textContent = answer.words;
  };

  const ask = async () => {
    const number = ++asked, form = new FormData(input.form), body = new URLSearchParams({ password: input.value });
    for (const name of ["csrf_token", "name", "fullname", "email_addr"]) if (form.has(name)) body.set(name, form.get(name));
    const headers = { Accept: "application/json" };
    const answer = await fetch("/account/password-strength", { method: "POST", body, headers }).catch(() => null);
    const said = answer?.ok ? await answer.json().catch(() => null) : null;
    if (number === asked) show(said);   // an older answer tells of another password
  };

  input.form.addEventListener("submit", () => { asked++; clearTimeout(timer); }); // the token ends with the session
  input.addEventListener("input", () => {
    clearTimeout(timer);
    if (!input.value) { asked++; show(null); } else timer = setTimeout(ask, PAUSE);
  });
}
