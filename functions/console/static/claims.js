/** A claim of one's own: kept longer, given back, given to somebody else; and what one writes into a case. */

import { h } from "./dom.js";
import { choices } from "./forms.js";
import { words } from "./text.js";

/** What its holder may do with the claim. */
export function claimHeld(found, screen, path) {
  const post = (what, body, done) => screen.attempt(() => screen.page.api.post(`${path}/${what}`, body), done);
  const release = {
    id: "release",
    label: "Give it back",
    tone: "quiet",
    question: h("p", {}, "Others may take the case at once."),
    text: { label: "What should others know?", required: false },
    confirm: "Yes, give it back",
    act: (note) => post("release", note ? { note } : {}, "The case is free again."),
  };
  const handOver = {
    id: "handover",
    label: "Hand it over",
    tone: "quiet",
    question: h("p", {}, "It is the other person's for an hour, and stands on that person's list."),
    fields: [{ name: "to", label: "To whom? The name that this person signs in with." }],
    text: { label: "What should this person know?", required: false },
    confirm: "Yes, hand it over",
    act: (note, { to }) => post("handover", { to, ...(note ? { note } : {}) }, "The case is handed over."),
  };
  return choices([release, handOver], { keep: "claim", version: `${found.case_id} ${found.holder}` });
}

/** What anybody may add, and what its holder says before acting at the target. */
export function noting(found, screen, path, mine) {
  const post = (kind, done) => (text) => screen.attempt(() => screen.page.api.post(`${path}/observations`, { kind, text }), done);
  const observe = {
    id: "observe",
    label: "Add what you found",
    tone: "quiet",
    question: h("p", {}, "It is added to the case with your name, and never changed."),
    text: { label: "What did you find?", required: true },
    confirm: "Add it",
    act: post("observed", "It is added."),
  };
  const attempt = {
    id: "attempt",
    label: "Say what you are about to do",
    tone: "quiet",
    question: h("p", {}, "Do it with the key of the evidence. If nobody hears of you again, the next person goes on from here."),
    text: { label: "What will you do by hand?", required: true },
    confirm: "Put it on record",
    act: post("attempted", "It is on record."),
  };
  return choices(mine ? [attempt, observe] : [observe], { keep: "note", version: `${found.case_id} ${mine}` });
}

/** What an event says beside who and when. */
export function noted(event) {
  const pairs = Object.entries(event.facts).map(([name, value]) => [h("br"), words(name), ": ", words(value)]);
  return [event.text ? [" – ", words(event.text)] : null, pairs];
}
