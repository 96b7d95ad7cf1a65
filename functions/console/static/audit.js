/** Everything that happened to a saga, in order: asked for when somebody unfolds it. */

import { h } from "./dom.js";
import { clock, moment } from "./moments.js";
import { tree } from "./parts.js";
import { plain } from "./states.js";
import { words } from "./text.js";

/** The section, folded; what is in it is as of the saga's last change. */
export function auditOf(page, saga) {
  const list = h("div", {});
  const summary = h("summary", {}, "Everything that happened, in order");
  const unfolded = async () => {
    if (!section.open || list.firstChild) return;
    list.replaceChildren(h("p", { class: "loading" }, "Loading what happened."));
    try {
      const { entries } = await page.api.get(`sagas/${encodeURIComponent(saga.saga_id)}/audit`);
      list.replaceChildren(h("ol", { class: "attempts" }, entries.map(line)));
    } catch {
      list.replaceChildren();
      summary.textContent = "Everything that happened could not be loaded: unfold this again";
      section.open = false;
    }
  };
  const section = h(
    "details",
    { id: "audit", "data-keep": "audit", "data-version": saga.updated_at, class: "step-details", toggle: unfolded },
    summary,
    list,
  );
  return section;
}

function line(entry) {
  const until = entry.until ? ` to ${clock(entry.until)}` : "";
  const where = entry.step === null ? "" : ` ${entry.step} ${entry.name ?? ""}`;
  return h(
    "li",
    {},
    moment(entry.at),
    until,
    h("p", {}, h("strong", {}, `${plain(entry.kind)}${where}`), ": ", words(entry.what), entry.who ? [", ", words(entry.who)] : null),
    entry.text ? h("p", {}, words(entry.text)) : null,
    Object.keys(entry.facts).length || entry.ref ? tree({ ...entry.facts, ...(entry.ref ? { reference: entry.ref } : {}) }) : null,
  );
}
