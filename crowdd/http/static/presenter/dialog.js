/* Messages of a presenter for people: text only, one at a time, in a dialog that says whose words they are. */
import { text } from "./limits.js";

/** Shows `alert`, `confirm` and `prompt` in the element `dialog`. */
class Questions {
  constructor(dialog) {
    Object.assign(this, { dialog, queue: [], muted: false });
    [this.field] = dialog.getElementsByTagName("input");
    this.no = dialog.querySelector("button[value=no]");
    dialog.addEventListener("close", () => this.close());
  }

  /** Answers `message` {kind, text, value} by `answer(value)`: true or the text after a yes, else null. */
  ask(message, answer) {
    if (this.muted || this.queue.length >= 3) return;
    this.queue.push({ message, answer });
    if (this.queue.length === 1) this.show();
  }

  show() {
    const { message } = this.queue[0];
    this.dialog.querySelector("p").textContent = text(message.text, 1000);
    this.field.hidden = message.kind !== "prompt";
    this.field.value = text(message.value, 1000);
    this.no.hidden = message.kind === "alert";
    this.dialog.returnValue = "no";
    this.dialog.showModal();
  }

  close() {
    const { message, answer } = this.queue.shift();
    if (this.dialog.returnValue === "mute") {
      this.muted = true;
      this.queue.length = 0;
    }
    const yes = this.dialog.returnValue === "yes";
    answer(!yes ? null : message.kind === "prompt" ? this.field.value : true);
    if (this.queue.length) this.show();
  }
}

/** The one dialog of a page, for all its frames. */
export const questions = new Questions(document.getElementById("presenter-dialog"));
