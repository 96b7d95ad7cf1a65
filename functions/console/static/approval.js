/** An approval: the validated facts, what follows on yes and on no, the decision, and last the agent's own words. */

import { agreed, places, progress } from "./agreement.js";
import { h } from "./dom.js";
import { choices } from "./forms.js";
import { countdown, moment, over } from "./moments.js";
import { agentWords, argumentsOf, facts, link, notice, sagaLink, section, sentences } from "./parts.js";
import { Screen } from "./screen.js";
import { approvalBadge, plain, statusBadge } from "./states.js";
import { words } from "./text.js";

const EVERY = 5000;

/** The view of one approval. */
export function approvalView(page, id) {
  const path = `approvals/${encodeURIComponent(id)}`;
  return new Screen(page, {
    title: "Approval",
    every: EVERY,
    load: async () => {
      const approval = await page.api.get(path);
      // Once it is decided, what counts is what has become of the saga.
      const saga = approval.state === "open" ? null : await page.api.get(`sagas/${encodeURIComponent(approval.saga_id)}`);
      const late = over(approval.expires_at);
      return { approval, late, saga: saga && { status: saga.status, reason: saga.reason, final: saga.final } };
    },
    changed: (before, after) => told(before, after),
    done: ({ saga }) => Boolean(saga?.final),
    draw: (found, screen) => drawn(found, screen, path),
  });
}

function told(before, after) {
  const now = after.saga?.status ?? after.approval.state;
  if (now !== (before.saga?.status ?? before.approval.state)) return `It is now ${plain(now)}.`;
  return after.approval.decisions.length > before.approval.decisions.length ? `Somebody has answered: ${progress(after.approval)}.` : null;
}

function drawn({ approval, late, saga }, screen, path) {
  const open = approval.state === "open";
  return [
    h("p", { class: "sentence" }, words(approval.sentence)),
    h("p", {}, approvalBadge(approval.state), " ", saga ? ["Its saga: ", statusBadge(saga.status)] : null),
    saga?.reason ? h("p", {}, words(saga.reason)) : null,
    anew(approval),
    asked(approval),
    section("Exactly this would run", h("div", { class: "arguments" }, argumentsOf(approval.arguments))),
    h(
      "div",
      { class: "columns" },
      section("What exists already", sentences(approval.exists, "Nothing: no step has taken effect.")),
      section("On yes, this happens", sentences(approval.on_approve, "Nothing.", { ordered: true })),
      section("On no, this is undone", sentences(approval.on_reject, "Nothing has to be undone.", { ordered: true })),
    ),
    approval.decisions.length || (open && approval.needed > 1) ? section("Who has answered", places(approval)) : null,
    section("Your decision", decision(approval, late, screen, path)),
    agentWords(approval.agent),
  ];
}

function asked(approval) {
  const open = approval.state === "open";
  return facts([
    ["Why a person is asked", words(approval.reason)],
    ["Why it is asked again", approval.again ? words(approval.again) : null],
    ["To be decided", open ? [countdown(approval.expires_at, "– too late"), ", by ", moment(approval.expires_at)] : null],
    ["Approvals", [progress(approval), ", by members of ", words(approval.group)]],
    ["May not decide", approval.excluded.length ? words(approval.excluded.join(", ")) : null],
    ["Step", [words(approval.step), ", catalogue ", words(approval.catalogue)]],
    ["Saga", sagaLink(approval.saga_id)],
    ["Asked", moment(approval.created_at)],
  ]);
}

/** The way to the round that counts, from one that does not any more. */
function anew(approval) {
  if (!approval.superseded_by) return null;
  const way = link(`#/approvals/${encodeURIComponent(approval.superseded_by)}`, "Go to the question that counts");
  return notice("warn", "It is asked anew", h("p", {}, way));
}

function decision(approval, late, screen, path) {
  const me = screen.page.session.person;
  const mine = approval.decisions.find((d) => d.person === me?.name);
  if (approval.state !== "open") return h("p", {}, `Nothing is left to decide: it is ${plain(approval.state)}.`);
  if (late) return h("p", {}, "The time to decide is over. Nothing runs without an approval.");
  if (mine) {
    const more = approval.needed - agreed(approval);
    return notice("good", `You said: ${plain(mine.decision)}`, h("p", {}, `Different people are needed; ${more} more.`));
  }
  if (me && approval.excluded.includes(me.name)) {
    return notice("warn", "This is not yours to decide", h("p", {}, "You submitted the plan, or answer for the agent that did."));
  }
  if (me && !me.groups.includes(approval.group)) {
    return notice("warn", "This is not yours to decide", h("p", {}, `Members of ${approval.group} decide it.`));
  }
  const version = `${approval.approval_id} ${approval.state} ${approval.decisions.length}`;
  return choices([yes(approval, screen, path), no(approval, screen, path)], { keep: "decision", version });
}

function yes(approval, screen, path) {
  const more = approval.needed - agreed(approval) - 1;
  const next = more > 0 ? `Then ${more} more of you must agree.` : "Then it runs at once, and cannot be taken back.";
  return {
    id: "approve",
    label: "Approve",
    tone: "main",
    question: [h("p", {}, "You approve: ", h("strong", {}, words(approval.sentence))), h("p", {}, next)],
    confirm: "Yes, approve this",
    act: () => screen.attempt(() => screen.page.api.post(`${path}/decision`, { decision: "approve", binds: approval.binds }), "You approved."),
  };
}

function no(approval, screen, path) {
  return {
    id: "reject",
    label: "Reject",
    tone: "danger",
    question: [h("p", {}, "You reject: ", h("strong", {}, words(approval.sentence))), h("p", {}, "Then what was prepared is undone.")],
    text: { label: "Why? The agent and the operators read it.", required: true },
    confirm: "Yes, reject this",
    act: (reason) =>
      screen.attempt(() => screen.page.api.post(`${path}/decision`, { decision: "reject", reason, binds: approval.binds }), "You rejected."),
  };
}
