/* Shows the questions of a project (docs/projects/questions.md) in its presenter frame, one task after the other.  The page has
     <script type="application/json" id="questions">    {list, version, language, suggested?, max_file_bytes}: the document, its number, the project's language
     <script type="application/json" id="questions-words">   {locale, words}: what we say ourselves, in the volunteer's language

   A type is a module in types/ or media/, loaded when the list uses it (modules.js names shared ones).  A type of question is

     export function create(question, context)   → field
       field    {element, value(), set(value), problem()?, focus(), keys()?, key(key)?, turn()?, isDrawn()?, unfinished()?, destroy()?}
         value()    as in docs/projects/questions.md, undefined while there is no answer; null only from types with ownUnsure
         set(value) fills in an answer; undefined empties the field
         problem()  a sentence about an answer that cannot be sent, or ""
         keys()     {key: label} of its shortcuts now; key(key) is true when it has used one; of two fields
                    with a key, the one that isDrawn() has it, or the first
         turn()     is called after each change of an answer, for questions inside that may depend on it
         unfinished()   whether something was begun that is no answer yet
     export const ownUnsure = (question) => true   where the field itself has an answer "can't tell" (null); others get a box
     export const unnamed = (question, context) => true   where its inputs do not say the question: their group then does

   A field is made for each task when its step is first shown, after the medium it is `on` has loaded, and destroyed after it.
   context  {text(t), write(element, t), word(name, values), language, languageDirection, task, medium(name), changed(), newId(),
             id, labelledBy, describedBy, errorId, name, immediate, maxFileBytes, finish(), announce(words), group(questions, changed),
             writeUnsure(element), keyed, digits, keysChanged()}
     write        puts a text into an element with its language; text gives the words alone; word is one of ours
     changed      to be called after each change
     labelledBy, describedBy   ids for aria-labelledby and aria-describedby of inputs; errorId says what is wrong
     keyed, digits   whether it may have shortcuts, and the digits that no question of the step has
     immediate    the question is the only one, and a click answers it: by finish()
     group        shows other questions (`each`): {element, value(), set(answers), problem(), focus(), destroy()}

   A medium is

     export function create(medium, context)     → {element, show(task): Promise, prepare(task)?: Promise, surface?, keys()?, key(key)?, destroy()?}
       show      shows another task, or rejects; surface is valid afterwards
       prepare   loads what the task needs before it is shown
     context  {source(task, source?), description(task), text, write, word, language, languageDirection, marked}; marked: a question
              is `on` it */
import { Circumstances } from "./circumstances.js";
import { Drafts } from "./drafts.js";
import { element } from "./element.js";
import { Form } from "./form.js";
import { load } from "./modules.js";
import { keepFocus, keepPresses } from "./pointer.js";
import { Stage } from "./stage.js";
import { Texts } from "./texts.js";

const read = (id) => JSON.parse(document.getElementById(id)?.textContent || "{}");

async function begin() {
  const { list, version, language = "", suggested, max_file_bytes: maxFileBytes = 1e7 } = read("questions"), { locale = "en", words = {} } = read("questions-words");
  const texts = new Texts({ locale, language, words });
  Object.assign(document.documentElement, { lang: locale, dir: texts.direction });
  const { types, media } = await load(list), { suggest } = suggested ? await import("./suggestions.js") : {};
  run({ list, version, texts, types, maxFileBytes, kinds: media, suggest: suggest?.(list, suggested) });
}

/* How large the original is, where the picture of a task is a reduced copy. */
function originals({ info }) {
  const { original_width, original_height } = Object(info);
  return [original_width, original_height].every((size) => Number.isSafeInteger(size) && size > 0) ? { original_width, original_height } : {};
}

function run({ list, version, texts, types, maxFileBytes, kinds, suggest }) {
  const frame = element("main", { className: "frame questions" }), trouble = element("p", { className: "bad outside", role: "alert" });
  const news = element("p", { className: "sr", role: "status" });
  const stage = new Stage({ list, kinds, texts, changed: () => form?.seen(), skip: () => presenterBridge.skip() });
  const thanks = element("div", { className: "say", hidden: true }, element("h1", { tabIndex: -1 }, texts.word("thanks")), element("p", {}, texts.word("nothing_left")));
  frame.append(stage.element, thanks);
  document.body.append(frame, trouble, news);
  keepPresses(frame);
  keepFocus(frame, () => frame.querySelector("form h1"));
  const start = sessionStorage.getItem("start"); // name of a step, from the preview of the builder
  const circumstances = new Circumstances();
  let form = null, shown = 0;

  const drafts = new Drafts(new Map(list.steps.flatMap(({ questions = [] }) => questions.map(({ name, type }) => [name, type]))));

  function end() {
    form?.destroy();
    form = null;
  }

  function present(task, deferred) {
    end();
    trouble.textContent = "";
    const suggestions = suggest?.(task);
    const sent = (answers) => {
      drafts.drop(task);
      const unseen = stage.unseen();
      presenterBridge.work(false);
      const info = { ...answers, ...(unseen.length ? { unseen } : {}), ...originals(task), questions_version: version };
      pybossa.saveTask(task, info, { circumstances: { ...circumstances.of(stage.addresses(), texts.locale), ...suggestions?.told(answers, form) } }).fail((refused) => {
        trouble.textContent = [texts.word("not_saved"), refused.responseJSON?.exception_msg].filter(Boolean).join(" ");
      });
      end();
      deferred.resolve(); // the next task does not wait for this answer: the page sends it until it is saved
    };
    thanks.hidden = true;
    circumstances.begin();
    stage.show(task, -1);
    const draft = drafts.of(task), first = start ?? (draft && sessionStorage.getItem("step")); // after a reload people go on where they were
    form = new Form({
      list, task, texts, types, stage, maxFileBytes, place: frame, suggestions, answers: draft ?? task.answer ?? suggestions?.answers(), send: sent,
      changed(answers) {
        drafts.keep(task, answers);
        presenterBridge.work(Object.keys(answers).length > 0 || Boolean(form?.unfinished()));
      },
      went: (name) => sessionStorage.setItem("step", name), // also for the preview of the builder, which goes back there
      shown: () => presenterBridge.shown(),
      announce: (words) => news.replaceChildren(element("span", {}, words)), // a new node, because the same words are said again
      offer: (keys) => presenterBridge.offer(keys),
    });
    form.start(shown > 0 || document.hasFocus(), shown++ ? undefined : first);
  }

  function finish() {
    end();
    presenterBridge.offer({});
    stage.element.hidden = true;
    thanks.hidden = false;
    thanks.firstElementChild.focus({ preventScroll: true });
  }

  document.addEventListener("crowdd:key", (event) => {
    if (!form?.key(event.detail.key)) return;
    circumstances.press();
    event.preventDefault();
  });
  pybossa.taskLoaded((task, deferred) => {
    if (!task.id) return deferred.resolve(task);
    stage.prepare(task).then(() => deferred.resolve(task));
  });
  pybossa.presentTask((task, deferred) => (task.id ? present(task, deferred) : finish()));
  pybossa.run(decodeURIComponent(location.pathname.split("/")[2]), { again: true });
}

begin().catch((error) => {
  const { words = {} } = read("questions-words");
  document.body.append(element("p", { className: "say bad", role: "alert" }, words.broken ?? ""));
  console.error(error);
});
