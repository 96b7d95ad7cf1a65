/** What waits for people: open approvals and open cases. */

import { progress } from "./agreement.js";
import { h } from "./dom.js";
import { heldBy } from "./case.js";
import { countdown, moment } from "./moments.js";
import { link, section } from "./parts.js";
import { Screen } from "./screen.js";
import { plain } from "./states.js";
import { words } from "./text.js";
import { wayLabel } from "./ways.js";

const EVERY = 10_000;
const SHOWN = 100;

/** Both lists, each with what it is about and how long there is to act. */
export function waitingView(page) {
  return new Screen(page, {
    title: "Waiting for a person",
    every: EVERY,
    load: async () => {
      const [approvals, cases] = await Promise.all([all(page.api, "approvals"), all(page.api, "cases")]);
      return { approvals, cases };
    },
    changed: (before, after) => news(before, after),
    draw: ({ approvals, cases }) => [
      section(counted("Approvals", approvals), list(approvals, approvalRow, "No approval waits for one of your groups.")),
      section(counted("Cases", cases), list(cases, caseRow, "No open case belongs to one of your groups.")),
    ],
  });
}

/** The open ones of a kind. A page may be empty and another follow: other groups' are left out of it. */
async function all(api, kind) {
  const found = [];
  let cursor = null;
  do {
    const said = await api.get(kind, { limit: SHOWN, cursor });
    found.push(...said[kind]);
    cursor = said.next;
  } while (cursor && found.length < SHOWN);
  return { found, more: cursor !== null };
}

function news(before, after) {
  const fresh = (kind, id) => {
    const known = new Set(before[kind].found.map((each) => each[id]));
    return after[kind].found.filter((each) => !known.has(each[id])).length;
  };
  const [approvals, cases] = [fresh("approvals", "approval_id"), fresh("cases", "case_id")];
  const told = [approvals && `new approvals: ${approvals}`, cases && `new cases: ${cases}`].filter(Boolean);
  return told.length ? told.join(", ") : null;
}

function counted(title, { found, more }) {
  return `${title} (${found.length}${more ? "+" : ""})`;
}

function list({ found, more }, row, none) {
  if (!found.length) return h("p", { class: "empty" }, none);
  const rest = more ? h("p", { class: "dim" }, "There are more: these are the newest.") : null;
  return [h("ul", { class: "cards" }, found.map(row)), rest];
}

function approvalRow(each) {
  const who = each.decisions.map((d) => [words(d.person), `: ${plain(d.decision)}, `, moment(d.at), " "]);
  return h(
    "li",
    { class: "card" },
    link(`#/approvals/${encodeURIComponent(each.approval_id)}`, words(each.sentence)),
    h("p", {}, words(each.reason)),
    h("p", { class: "dim" }, "To be decided ", countdown(each.expires_at, "– too late"), ", ", progress(each), ", step ", words(each.step), ", asked ", moment(each.created_at)),
    who.length ? h("p", { class: "dim" }, "So far: ", who) : null,
  );
}

function caseRow(each) {
  const holder = heldBy(each);
  return h(
    "li",
    { class: "card" },
    link(`#/cases/${encodeURIComponent(each.case_id)}`, words(each.obligation)),
    h("p", {}, h("span", { class: "badge dim" }, plain(each.cause)), holder ? [" claimed by ", words(holder)] : " nobody works on it"),
    each.proposed ? h("p", {}, h("span", { class: "badge warn" }, "to be confirmed"), " ", wayLabel(each.proposed)) : null,
    h("p", { class: "dim" }, "Opened ", moment(each.created_at)),
  );
}
