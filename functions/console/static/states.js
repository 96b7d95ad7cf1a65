/** How each state looks: a mark, a word and a tone. The word always stands beside the mark, so colour is never the only sign. */

import { h } from "./dom.js";

const STATUS = {
  admitted: ["○", "live"],
  running: ["▸", "live"],
  awaiting_approval: ["?", "person"],
  finishing: ["▸", "live"],
  post_pivot_retrying: ["↻", "warn"],
  completed: ["✔", "good"],
  compensating: ["↶", "warn"],
  compensation_blocked: ["✖", "bad"],
  compensated: ["↶", "warn"],
  awaiting_manual_resolution: ["!", "person"],
  resolved_manually: ["✔", "person"],
};
const APPROVAL = {
  open: ["?", "person"],
  approved: ["✔", "good"],
  rejected: ["✖", "bad"],
  expired: ["–", "dim"],
  closed: ["–", "dim"],
  consumed: ["✔", "good"],
};
const CASE = { open: ["!", "person"], settled: ["✔", "good"] };
const FORWARD = {
  prepared: ["·", "dim", "prepared"],
  started: ["▸", "live", "under way"],
  completed: ["✔", "good", "completed"],
  refused: ["✖", "bad", "refused"],
  released: ["↻", "warn", "to be tried again"],
  unknown: ["?", "warn", "outcome unknown"],
};
const UNDO = {
  pending: ["·", "dim", "prepared"],
  running: ["▸", "live", "under way"],
  unknown: ["?", "warn", "outcome unknown"],
  blocked: ["✖", "bad", "blocked"],
  needs_person: ["!", "person", "needs a person"],
  succeeded: ["✔", "good", "undone"],
  not_needed: ["–", "dim", "nothing to undo"],
  resolved: ["✔", "person", "undone by a person"],
  accepted: ["!", "person", "left in place by a person"],
};
const NEVER = ["–", "dim", "never started"];
const CASED = ["!", "person", "waits for a person"];
const PERSONS = {
  awaiting_approval: "An approver has to decide.",
  awaiting_manual_resolution: "An operator has to settle its case.",
  compensation_blocked: "An operator has to settle its case.",
};

/** `awaiting_approval` as `awaiting approval`. */
export function plain(word) {
  return String(word ?? "").replaceAll("_", " ");
}

export const statusBadge = (status) => badge(STATUS, status);
export const approvalBadge = (state) => badge(APPROVAL, state);
export const caseBadge = (state) => badge(CASE, state);

/** Whose turn it is, where that is a person's. */
export function whoseTurn(status) {
  return PERSONS[status] ?? null;
}

/** `{mark, tone, word}` of a step's effect; what had not started when the saga turned never will. */
export function forwardLook(step, saga) {
  const state = step.forward.state;
  const turned = saga.direction === "compensating";
  if (state === "prepared" && (turned || step.forward.barred)) return look(NEVER, state);
  if (step.case && !turned && !["prepared", "completed"].includes(state)) return look(CASED, state);
  return look(FORWARD[state], state);
}

/** The same for a step's compensation; past the point of no return none ever starts. */
export function undoLook(step, saga) {
  const state = step.undo.state;
  if (state === "pending" && saga.pivot === "crossed") return look(NEVER, state);
  const over = ["succeeded", "not_needed", "resolved", "accepted"].includes(state);
  if (step.case && saga.direction === "compensating" && !over) return look(CASED, state);
  return look(UNDO[state], state);
}

/** A state as a mark and a word. */
export function badge(table, state) {
  const { mark, tone, word } = look(table[state], state);
  return h("span", { class: `badge ${tone}` }, h("span", { "aria-hidden": "true" }, `${mark} `), word);
}

function look(known, state) {
  const [mark, tone, word] = known ?? ["*", "live"];
  return { mark, tone, word: word ?? plain(state) };
}
