/** A case: what is owed, why automation stopped, what is known, and what a person may do about it. */

import { claimHeld, noted, noting } from "./claims.js";
import { h } from "./dom.js";
import { countdown, moment, over } from "./moments.js";
import { agentWords, facts, notice, sagaLink, section, tree } from "./parts.js";
import { proposed } from "./proposals.js";
import { Screen } from "./screen.js";
import { caseBadge, plain } from "./states.js";
import { words } from "./text.js";
import { waysOffered, waysTold } from "./ways.js";

const EVERY = 10_000;
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
  if (before.proposed !== after.proposed) return after.proposed ? `Something is proposed: ${plain(after.proposed)}.` : "Nothing is proposed any more.";
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
    attempted(found),
    proposed(found, screen, path),
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
    ["Handed over by", found.holder && found.handed_over_by ? words(found.handed_over_by) : null],
    ["Settled as", found.resolution ? [plain(found.resolution), ", ", moment(found.settled_at)] : null],
    ["Owned by", words(found.group)],
    ["Opened", moment(found.created_at)],
  ]);
}

/** Who was about to act by hand may have done it: the same key tells. */
function attempted(found) {
  const last = found.attempted;
  if (found.state !== "open" || !last) return null;
  const how = h("p", {}, "It may have been done: use the same key, which is in the evidence.");
  return notice("warn", ["Attempted by ", words(last.who), ", ", moment(last.at)], h("p", {}, words(last.text)), how);
}

function history(found) {
  if (!found.events.length) return null;
  const told = found.events.map((e) =>
    h("li", {}, moment(e.at), ", ", words(e.who), `: ${plain(e.what)}`, noted(e)),
  );
  return section("What has been done about it", h("ol", {}, told));
}

function work(found, screen, path) {
  if (found.state !== "open") return h("p", {}, "Nothing is left to do: it is settled.");
  const me = screen.page.session.person?.name;
  if (found.holder && found.holder !== me) {
    const until = h("p", {}, "The claim ends ", countdown(found.claimed_until, "now"), "; after that you may take it.");
    return [notice("warn", ["Claimed by ", words(found.holder)], until), noting(found, screen, path, false)];
  }
  const what = found.holder ? "renewal" : "claim";
  const claim = () => screen.attempt(() => screen.page.api.post(`${path}/${what}`), "The case is yours for fifteen minutes.");
  const take = h("button", { type: "button", class: found.holder ? "quiet" : "main", id: "claim", click: once(claim) }, found.holder ? "Renew the claim" : "Claim this case");
  const first = h("p", {}, "Claim it first, so that nobody else works on the same thing.");
  if (!found.holder) return [first, take, noting(found, screen, path, false), waysTold(found)];
  const left = h("p", {}, "It is yours; the claim ends ", countdown(found.claimed_until, "now"), ". ", take);
  return [left, claimHeld(found, screen, path), noting(found, screen, path, true), waysOffered(found, screen, path)];
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
