/** A case: what is owed, why automation stopped, what is known, and what a person may do about it. */

import { h } from "./dom.js";
import { choices } from "./forms.js";
import { countdown, moment, over } from "./moments.js";
import { agentWords, facts, notice, sagaLink, section, tree } from "./parts.js";
import { Screen } from "./screen.js";
import { caseBadge, plain } from "./states.js";
import { words } from "./text.js";

const EVERY = 10_000;
/** What each way means; a way that is not told of here is offered by its name. */
const WAYS = {
  retry: ["Try it again", "Whatever kept it from working is repaired: it is called again, with the same key."],
  done: ["Done by hand", "You did it yourself, or found it done. Your evidence becomes part of the record."],
  did_not_happen: ["It did not happen", "You made sure that it took no effect and never will."],
  accept: ["Leave the effect in place", "What is left is accepted as it is, and nothing undoes it any more."],
  close: ["Close the request", "The request ends here; no further plan is accepted for it."],
};
const WITHOUT_EVIDENCE = new Set(["retry"]);

/** The view of one case. */
export function caseView(page, id) {
  const path = `cases/${encodeURIComponent(id)}`;
  return new Screen(page, {
    title: "Case",
    every: EVERY,
    load: async () => {
      const found = await page.api.get(path);
      return { ...found, holder: heldBy(found) };
    },
    changed: (before, after) => told(before, after),
    done: (found) => found.state === "settled",
    draw: (found, screen) => drawn(found, screen, path),
  });
}

function told(before, after) {
  if (before.state !== after.state) return `The case is now ${plain(after.state)}.`;
  if (before.holder === after.holder) return null;
  return after.holder ? `The case is claimed by ${after.holder}.` : "The claim has ended.";
}

/** Who works on it, where somebody does. */
export function heldBy(found) {
  return found.state === "open" && found.claimed_by && !over(found.claimed_until) ? found.claimed_by : null;
}

function drawn(found, screen, path) {
  return [
    h("p", { class: "sentence" }, words(found.obligation)),
    h("p", {}, caseBadge(found.state), " ", h("span", { class: "badge dim" }, plain(found.cause))),
    about(found),
    section("What you can do", work(found, screen, path)),
    section("What is known", h("p", { class: "dim" }, "As it was when the case was opened."), h("div", { class: "evidence" }, tree(found.evidence))),
    history(found),
    agentWords(found.agent),
  ];
}

function about(found) {
  return facts([
    ["Why a person is needed", words(found.why)],
    ["Saga", sagaLink(found.saga_id)],
    ["Step", found.step === null ? null : `${found.step} (${found.direction === "undo" ? "its undo" : "its effect"})`],
    ["Request", found.request_id ? words(found.request_id) : null],
    ["Claimed", found.holder ? [words(found.holder), ", ends ", countdown(found.claimed_until, "now")] : null],
    ["Settled as", found.resolution ? [plain(found.resolution), ", ", moment(found.settled_at)] : null],
    ["Owned by", words(found.group)],
    ["Opened", moment(found.created_at)],
  ]);
}

function history(found) {
  if (!found.events.length) return null;
  const told = found.events.map((e) =>
    h("li", {}, moment(e.at), ", ", words(e.who), `: ${plain(e.what)}`, e.text ? [" – ", words(e.text)] : null),
  );
  return section("What has been done about it", h("ol", {}, told));
}

function work(found, screen, path) {
  if (found.state !== "open") return h("p", {}, "Nothing is left to do: it is settled.");
  const me = screen.page.session.person?.name;
  if (found.holder && found.holder !== me) {
    const until = h("p", {}, "The claim ends ", countdown(found.claimed_until, "now"), "; after that you may take it.");
    return notice("warn", ["Claimed by ", words(found.holder)], until);
  }
  const claim = () => screen.attempt(() => screen.page.api.post(`${path}/claim`), "The case is yours for fifteen minutes.");
  const take = h("button", { type: "button", class: found.holder ? "quiet" : "main", id: "claim", click: once(claim) }, found.holder ? "Renew the claim" : "Claim this case");
  if (!found.holder) return [h("p", {}, "Claim it first, so that nobody else works on the same thing."), take, ways(found)];
  const left = h("p", {}, "It is yours; the claim ends ", countdown(found.claimed_until, "now"), ". ", take);
  const version = `${found.case_id} ${found.allowed.join(" ")}`;
  return [left, choices(found.allowed.map((way) => option(way, found, screen, path)), { keep: "resolution", version })];
}

function ways(found) {
  return facts(found.allowed.map((way) => [WAYS[way]?.[0] ?? plain(way), WAYS[way]?.[1] ?? "As the catalogue says."]));
}

function option(way, found, screen, path) {
  const [label, meaning] = WAYS[way] ?? [plain(way), ""];
  const required = !WITHOUT_EVIDENCE.has(way);
  return {
    id: way,
    label,
    tone: way === "retry" ? "main" : "plain",
    question: [h("p", {}, words(found.obligation)), meaning ? h("p", {}, meaning) : null],
    text: { label: required ? "What was done or found?" : "What was repaired?", required },
    confirm: `Yes: ${label.toLowerCase()}`,
    act: (evidence) => {
      const body = { resolution: way, ...(evidence ? { evidence } : {}) };
      return screen.attempt(() => screen.page.api.post(`${path}/resolution`, body), "The case is settled.");
    },
  };
}

/** A click counts once until it has been answered. */
function once(act) {
  return async (event) => {
    const button = event.currentTarget;
    button.disabled = true;
    await act();
    button.disabled = false;
  };
}
