/** What somebody has proposed for a case: shown to everybody who may answer it. */

import { h } from "./dom.js";
import { choices } from "./forms.js";
import { moment } from "./moments.js";
import { facts, section } from "./parts.js";
import { plain } from "./states.js";
import { words } from "./text.js";
import { wayLabel } from "./ways.js";

/** The proposal and what this person may answer; nothing where none waits. */
export function proposed(found, screen, path) {
  const proposal = found.proposal;
  if (!proposal || found.state !== "open") return null;
  const mine = proposal.by === screen.page.session.person?.name;
  const answers = mine ? [withdraw(proposal, screen, path)] : [confirm(proposal, screen, path), refuse(proposal, screen, path)];
  return section(
    "Proposed, and not done yet",
    facts([
      ["What", wayLabel(proposal.resolution)],
      ["Who takes over", proposal.alternate ? [words(proposal.alternate.alternate), ", role ", words(proposal.alternate.role)] : null],
      ["What is done instead", proposal.action ? [words(proposal.action.name), ": ", words(proposal.action.sentence), ", role ", words(proposal.action.authority.role)] : null],
      ["Why", words(proposal.reason)],
      ["Proposed", [words(proposal.by), ", ", moment(proposal.at)]],
    ]),
    mine ? h("p", {}, "Another person of the group has to confirm it.") : null,
    choices(answers, { keep: "proposal", version: proposal.proposal_id }),
  );
}

function answer(proposal, screen, path, said, done) {
  return (reason) => {
    const body = { proposal_id: proposal.proposal_id, answer: said, ...(reason ? { reason } : {}) };
    return screen.attempt(() => screen.page.api.post(`${path}/proposal/answer`, body), done);
  };
}

function about(proposal, what) {
  return [h("p", {}, `${what}: `, h("strong", {}, wayLabel(proposal.resolution))), h("p", {}, words(proposal.reason))];
}

function confirm(proposal, screen, path) {
  return {
    id: "confirm",
    label: "Confirm",
    tone: "main",
    question: [...about(proposal, "You agree to"), h("p", {}, "It is done with your answer.")],
    confirm: `Yes: ${plain(proposal.resolution)}`,
    act: answer(proposal, screen, path, "confirm", "The case is settled."),
  };
}

function refuse(proposal, screen, path) {
  return {
    id: "refuse",
    label: "Refuse",
    tone: "danger",
    question: about(proposal, "You refuse"),
    text: { label: "Why? It stays in the record.", required: true },
    confirm: "Yes, refuse this",
    act: answer(proposal, screen, path, "refuse", "You refused."),
  };
}

function withdraw(proposal, screen, path) {
  return {
    id: "withdraw",
    label: "Withdraw",
    tone: "quiet",
    question: about(proposal, "You take back"),
    confirm: "Yes, take it back",
    act: answer(proposal, screen, path, "withdraw", "You took it back."),
  };
}
