/** One saga: where it stands, its picture, and every step with both of its histories. */

import { auditOf } from "./audit.js";
import { h } from "./dom.js";
import { clock, moment } from "./moments.js";
import { agentWords, argumentsOf, facts, link, notice, section, tree } from "./parts.js";
import { Screen } from "./screen.js";
import { forwardLook, plain, statusBadge, undoLook, whoseTurn } from "./states.js";
import { words } from "./text.js";
import { timeline } from "./timeline.js";

const EVERY = 3000;

/** The view of one saga; it follows the saga until that has ended. */
export function sagaView(page, id) {
  return new Screen(page, {
    title: "Saga",
    every: EVERY,
    load: () => page.api.get(`sagas/${encodeURIComponent(id)}`),
    changed: (before, after) => (before.status === after.status ? null : `The saga is now ${plain(after.status)}.`),
    done: (saga) => saga.final,
    draw: (saga) => drawn(saga, page),
  });
}

function drawn(saga, page) {
  return [
    h("p", { class: "lead" }, h("code", {}, saga.saga_id), " ", statusBadge(saga.status)),
    saga.reason ? h("p", {}, "Reason: ", words(saga.reason)) : null,
    turn(saga),
    timeline(saga),
    facts([
      ["Request", link(`#/sagas?${new URLSearchParams({ by: "request", id: saga.request_id })}`, words(saga.request_id))],
      ["Catalogue", words(saga.catalogue)],
      ["Admitted", moment(saga.created_at)],
      ["Last change", moment(saga.updated_at)],
      ["Ended", saga.ended_at ? moment(saga.ended_at) : null],
    ]),
    section("Steps", saga.steps.map((step) => details(step, saga))),
    auditOf(page, saga),
    section("Where it comes from", origin(saga)),
    agentWords({ rationale: saga.rationale, notes: saga.notes }),
  ];
}

/** Whose turn it is, with the way to what has to be decided or settled. */
function turn(saga) {
  const whose = whoseTurn(saga.status);
  if (!whose) return null;
  const asked = saga.steps.filter((step) => step.approval && step.forward.state === "prepared" && saga.status === "awaiting_approval");
  const links = [
    ...asked.map((step) => link(`#/approvals/${encodeURIComponent(step.approval)}`, `Approval of ${step.name}`)),
    ...saga.steps.filter((step) => step.case).map((step) => link(`#/cases/${encodeURIComponent(step.case)}`, `Case of ${step.name}`)),
  ];
  return notice("warn", whose, links.length ? h("ul", {}, links.map((each) => h("li", {}, each))) : null);
}

function details(step, saga) {
  const look = forwardLook(step, saga);
  const head = h("summary", { id: `step-${step.index}-head` }, `${step.index} ${step.name} `, h("span", { class: `badge ${look.tone}` }, `${look.mark} ${look.word}`));
  return h(
    "details",
    { id: `step-${step.index}`, class: "step-details" },
    head,
    h("p", {}, words(step.sentence)),
    facts([
      ["Kind", `${plain(step.kind)}, version ${step.version}`],
      ["Arguments", argumentsOf(step.arguments)],
      ["Digest", h("code", {}, step.arguments_digest)],
      ["Needs", needs(step)],
      ["Approval", step.approval ? link(`#/approvals/${encodeURIComponent(step.approval)}`, step.approval) : null],
      ["Open case", step.case ? link(`#/cases/${encodeURIComponent(step.case)}`, step.case) : null],
    ]),
    command("Forward", look, step.forward, step.forward.receipt),
    step.undo ? command(`Undo: ${step.undo.operation}`, undoLook(step, saga), step.undo, step.undo.result) : null,
  );
}

function needs(step) {
  return Object.entries(step.requires).map(([name, index]) => `${plain(name)} of step ${index}`).join(", ");
}

function command(title, look, told, receipt) {
  const role = told.authority;
  return [
    h("h3", {}, title),
    facts([
      ["State", [`${look.mark} ${look.word}`, told.unsettled ? ", the outcome of a call is not known" : "", told.by_hand ? ", by a person" : ""]],
      ["Attempts", `${told.attempts} of ${told.budget}`],
      ["Key", h("code", {}, told.key)],
      ["Authority", `role ${role.role}, scope ${role.scope}${role.credential ? `, credential ${role.credential}` : ""}`],
      ["Waits for", told.waits_for?.length ? `the undo of step ${told.waits_for.join(", ")}` : null],
      ["Inputs", told.inputs ? tree(told.inputs) : null],
      ["Condition", told.condition ? words(told.condition) : null],
      ["Receipt", receipt ? tree(receipt) : null],
      ["Notice", told.notice ? words(told.notice) : null],
    ]),
    told.history.length ? h("ol", { class: "attempts" }, told.history.map(attempt)) : h("p", { class: "dim" }, "No attempt so far."),
  ];
}

function attempt(entry) {
  const until = entry.ended_at ? ` to ${clock(entry.ended_at)}` : "";
  const outcome = `${plain(entry.outcome ?? "not reported")}${entry.cause ? ` (${plain(entry.cause)})` : ""}`;
  return h("li", { value: entry.fence }, `${plain(entry.purpose)}, ${clock(entry.started_at)}${until}: ${outcome}`, entry.reason ? [" – ", words(entry.reason)] : null);
}

function origin(saga) {
  const from = saga.provenance;
  const claimed = h("span", { class: "dim" }, " (as the agent says)");
  const document = link(`#/sagas?${new URLSearchParams({ by: "document", id: from.source_document_id })}`, words(from.source_document_id));
  return facts([
    ["Submitted by", [`${from.actor_type} `, words(from.actor), from.owner ? [", for which ", words(from.owner), " answers"] : null]],
    ["Source document", [document, claimed]],
    ["Agent run", [words(from.run_id), ", prompt ", words(from.prompt_version), claimed.cloneNode(true)]],
    ["Tenant", words(saga.tenant)],
    ["Versions", h("code", {}, `catalogue ${saga.catalogue_version}, policy ${saga.policy_version}`)],
    ["Machine", saga.machine ? h("code", {}, saga.machine) : null],
    ["Execution", saga.execution ? h("code", {}, saga.execution) : null],
  ]);
}
