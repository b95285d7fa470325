/* For which project and for whom this page speaks: what each of its requests carries. */
const page = document.getElementById("presenter").dataset;
const PATIENCE = 20000; // milliseconds
let token = page.csrf;

export const project = JSON.parse(page.project);

/** The account that this page was made for, "" without one. */
export const volunteer = page.volunteer || "";

/** Under which name what presenters store is kept: apart per project and account. ui.js clears it at sign-out. */
export const memory = `presenter-${project.id}-${volunteer}`;

/** Takes the token of a new session. */
export function renew(csrf) {
  token = csrf;
}

/** Headers of a request: as a presenter may ask, or (`own`) as our page does. */
export function headers(own = false) {
  const said = { Accept: "application/json", "X-CSRFToken": token };
  if (!own) said["X-Presenter"] = String(project.id);
  if (volunteer) said["X-Volunteer"] = volunteer;
  return said;
}

/** What the server answers, as {status, value}; without the server a TypeError. `more` are names of fetch. */
export async function ask(method, path, body, { own = false, ...more } = {}) {
  const said = headers(own);
  if (body !== undefined) said["Content-Type"] = "application/json";
  const sent = { method, headers: said, body: body && JSON.stringify(body), signal: AbortSignal.timeout(PATIENCE), ...more };
  const answer = await fetch(path, sent);
  return { status: answer.status, value: await answer.json().catch(() => null) };
}
