// The board of a group on a screen: it is asked for again while somebody may look at it.
const EVERY = 10000, MOST = 300000; // milliseconds
let wait = EVERY;

async function renew() {
  if (!document.hidden) {
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(answer.statusText);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.getElementById("board").replaceWith(page.getElementById("board"));
      wait = EVERY;
    } catch {
      wait = Math.min(2 * wait, MOST);
    }
  }
  setTimeout(renew, wait);
}

setTimeout(renew, wait);
