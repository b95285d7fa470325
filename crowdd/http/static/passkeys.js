// Passkeys: a form with data-passkey asks the browser for one and sends what it answers as the field "credential".
const JSON_ = { Accept: "application/json", "Content-Type": "application/json" };

function bytes(text) {
  const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}
function text(buffer) {
  if (!buffer) return undefined;
  const plain = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(plain).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

// The options as the browser takes them: what the server writes in base64url becomes bytes.
function taken(options) {
  const list = (descriptors) => descriptors?.map((each) => ({ ...each, id: bytes(each.id) }));
  const made = { ...options, challenge: bytes(options.challenge) };
  if (options.user) made.user = { ...options.user, id: bytes(options.user.id) };
  if (options.allowCredentials) made.allowCredentials = list(options.allowCredentials);
  if (options.excludeCredentials) made.excludeCredentials = list(options.excludeCredentials);
  return made;
}

// What the browser answered as JSON.
function sent(credential) {
  const { response } = credential;
  const parts = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
  const packed = Object.fromEntries(parts.map((name) => [name, text(response[name])]));
  if (response.getTransports) packed.transports = response.getTransports();
  return JSON.stringify({
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    response: packed,
    clientExtensionResults: credential.getClientExtensionResults(),
  });
}

async function asked(form) {
  const purpose = form.dataset.passkey;
  const token = form.elements.csrf_token.value;
  const answer = await fetch("/account/passkey/options", {
    method: "POST",
    headers: { ...JSON_, "X-CSRFToken": token },
    body: JSON.stringify({ purpose }),
  });
  if (!answer.ok) throw new Error(answer.statusText);
  const publicKey = taken((await answer.json()).options);
  return purpose === "register"
    ? navigator.credentials.create({ publicKey })
    : navigator.credentials.get({ publicKey });
}

function attend(form) {
  const wrong = form.querySelector("[data-passkey-error]");
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.hidden = true;
    try {
      form.elements.credential.value = sent(await asked(form));
      form.submit();
    } catch (error) {
      wrong.textContent = error.name === "SecurityError" ? wrong.dataset.host : wrong.dataset.words;
      wrong.hidden = false;
    }
  });
}

if (window.PublicKeyCredential) document.querySelectorAll("form[data-passkey]").forEach(attend);
else document.querySelectorAll("[data-no-passkeys]").forEach((words) => (words.hidden = false));
