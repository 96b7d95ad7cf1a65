/** How far the people who are asked have come: how many have agreed, who and when, and how many are missing. */

import { h } from "./dom.js";
import { moment } from "./moments.js";
import { plain } from "./states.js";
import { words } from "./text.js";

/** How many have said yes. */
export function agreed(approval) {
  return approval.decisions.filter((d) => d.decision === "approve").length;
}

/** `1 of 2 have approved`. */
export function progress(approval) {
  return `${agreed(approval)} of ${approval.needed} ${approval.needed === 1 ? "has" : "have"} approved`;
}

/** Every answer with who gave it and when, then a line for each person who is still needed. */
export function places(approval) {
  const free = approval.state === "open" ? Math.max(approval.needed - agreed(approval), 0) : 0;
  const missing = Array.from({ length: free }, (_, i) =>
    h("li", { class: "free" }, "○ ", i || agreed(approval) ? "another" : "a", " member of ", words(approval.group)),
  );
  return h("ol", { class: "places" }, approval.decisions.map(place), missing);
}

function place(decision) {
  const mark = decision.decision === "approve" ? "✓" : "✗";
  const reason = decision.reason ? [" – ", words(decision.reason)] : null;
  return h("li", {}, `${mark} `, words(decision.person), `: ${plain(decision.decision)}, `, moment(decision.at), reason);
}
