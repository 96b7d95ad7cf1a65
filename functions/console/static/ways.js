/** How a case may be settled: by whoever holds it, or proposed by that person and confirmed by another one. */

import { h } from "./dom.js";
import { choices } from "./forms.js";
import { facts } from "./parts.js";
import { plain } from "./states.js";
import { words } from "./text.js";

/** What each way means; a way that is not told of here is offered by its name. */
const WAYS = {
  retry: ["Try it again", "Whatever kept it from working is repaired: it is called again, with the same key."],
  retry_with_alternate: ["Let somebody else undo it", "Another principal that the catalogue declares tries the same undo, with the same key."],
  another_action: ["Undo it by other means", "Another action that the catalogue declares is done instead, under a key of its own."],
  done: ["Done by hand", "You did it yourself, or found it done. Your evidence becomes part of the record."],
  did_not_happen: ["It did not happen", "You made sure that it took no effect and never will."],
  accept: ["Leave the effect in place", "What is left is accepted as it is, and nothing undoes it any more."],
  close: ["Close the request", "The request ends here; no further plan is accepted for it."],
  reopen: ["Let the agent try again", "The agent may send so many more plans for this request."],
};
const FIELDS = { alternate: "Who takes over?", action: "What is done instead?", attempts: "How many more plans?" };
const TWO = "Two people have to agree: you propose, and another one of the group confirms.";

/** A way's name for people. */
export function wayLabel(resolution) {
  return WAYS[resolution]?.[0] ?? plain(resolution);
}

/** What could be done, for those who do not hold the case. */
export function waysTold(found) {
  return facts(found.ways.map((way) => [wayLabel(way.resolution), [WAYS[way.resolution]?.[1] ?? "As the catalogue says.", way.people > 1 ? ` ${TWO}` : ""]]));
}

/** What may be done, for whoever holds it. While something is proposed nothing else is. */
export function waysOffered(found, screen, path) {
  const open = found.ways.filter((way) => !(found.proposal && way.people > 1));
  const version = `${found.case_id} ${found.proposal?.proposal_id ?? ""} ${found.allowed.join(" ")}`;
  return choices(open.map((way) => option(way, found, screen, path)), { keep: "resolution", version });
}

function option(way, found, screen, path) {
  const { resolution, people, inputs } = way;
  const [label, meaning] = WAYS[resolution] ?? [plain(resolution), ""];
  const [said, ...more] = inputs;
  const done = people > 1 ? "It is proposed. Another person has to confirm." : "The case is settled.";
  return {
    id: resolution,
    label,
    tone: resolution === "retry" ? "main" : "plain",
    question: [h("p", {}, words(found.obligation)), meaning ? h("p", {}, meaning) : null, people > 1 ? h("p", {}, TWO) : null],
    text: { label: asked(way), required: said.required },
    fields: more.map(({ name, choices: several }) => ({ name, label: FIELDS[name] ?? plain(name), choices: several })),
    confirm: people > 1 ? `Propose: ${label.toLowerCase()}` : `Yes: ${label.toLowerCase()}`,
    act: (text, values) => {
      const body = { resolution, ...(text ? { [said.name]: text } : {}), ...numbered(values) };
      return screen.attempt(() => screen.page.api.post(`${path}/${people > 1 ? "proposal" : "resolution"}`, body), done);
    },
  };
}

function asked({ people, resolution }) {
  if (people > 1) return "Why? It stays in the record.";
  return resolution === "retry" ? "What was repaired?" : "What was done or found?";
}

function numbered(values) {
  return "attempts" in values ? { ...values, attempts: Number(values.attempts) } : values;
}
