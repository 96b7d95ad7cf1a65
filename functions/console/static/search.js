/** Sagas: by their id, by request, by source document, by status. What is asked for stands in the address. */

import { h, put } from "./dom.js";
import { moment } from "./moments.js";
import { link } from "./parts.js";
import { Screen } from "./screen.js";
import { plain, statusBadge } from "./states.js";
import { words } from "./text.js";

const PAGE = 25;
const BY = { saga: "Saga id", request: "Request id", document: "Source document" };
const STATUSES = [
  "admitted", "running", "awaiting_approval", "finishing", "post_pivot_retrying", "completed", "compensating",
  "compensation_blocked", "compensated", "awaiting_manual_resolution", "resolved_manually",
];

/** The list of sagas that `asked` (by, id, status) describes, newest first. */
export function searchView(page, asked) {
  const query = {
    status: asked.get("status"),
    request_id: asked.get("by") === "request" ? asked.get("id") : null,
    source_document_id: asked.get("by") === "document" ? asked.get("id") : null,
    limit: PAGE,
  };
  return new Screen(page, {
    title: "Sagas",
    load: () => page.api.get("sagas", query),
    draw: (found, screen) => [form(asked, page), results(found, query, screen)],
  });
}

function form(asked, page) {
  const by = choice("by", "Look for", BY, asked.get("by") ?? "saga");
  const id = h("input", { id: "sought", type: "search", maxlength: 200, autocomplete: "off", spellcheck: "false", value: asked.get("id") ?? "" });
  const names = Object.fromEntries([["", "any"], ...STATUSES.map((s) => [s, plain(s)])]);
  const status = choice("status", "Status", names, asked.get("status") ?? "");
  const submit = (event) => {
    event.preventDefault();
    page.go(address(by.select.value, id.value.trim(), status.select.value));
  };
  return h(
    "form",
    { class: "search", role: "search", submit },
    by.field,
    h("div", { class: "field wide" }, h("label", { for: "sought" }, "Id"), id),
    status.field,
    h("div", { class: "row" }, h("button", { type: "submit", class: "main" }, "Search"), link("#/sagas", "Show all")),
  );
}

function address(by, id, status) {
  if (by === "saga" && id) return `#/sagas/${encodeURIComponent(id)}`;
  const given = Object.entries({ by: id && by, id, status }).filter(([, value]) => value);
  return given.length ? `#/sagas?${new URLSearchParams(given)}` : "#/sagas";
}

function choice(id, label, names, chosen) {
  const options = Object.entries(names).map(([value, name]) => h("option", { value, selected: value === chosen }, name));
  const select = h("select", { id }, options);
  return { select, field: h("div", { class: "field" }, h("label", { for: id }, label), select) };
}

function results(found, query, screen) {
  const list = h("ul", { class: "cards" }, found.sagas.map(row));
  const rest = h("div", {});
  const offer = (cursor) => put(rest, cursor ? h("button", { type: "button", id: "more", click: () => more(cursor) }, "Show more") : null);
  const more = async (cursor) => {
    const next = await screen.page.api.get("sagas", { ...query, cursor }).catch((error) => error);
    if (next instanceof Error) return screen.tell("bad", "The next page could not be loaded", h("p", {}, "Try again."));
    list.append(...next.sagas.map(row));
    screen.page.announce(`${next.sagas.length} more sagas.`);
    return offer(next.next);
  };
  offer(found.next);
  const none = found.sagas.length ? null : h("p", { class: "empty" }, found.next ? "None so far: older ones may be further on." : "There is no saga like this, or none that is yours to see.");
  return [none, list, rest];
}

function row(saga) {
  return h(
    "li",
    { class: "card" },
    link(`#/sagas/${encodeURIComponent(saga.saga_id)}`, h("code", {}, saga.saga_id)),
    " ",
    statusBadge(saga.status),
    saga.reason ? h("p", {}, words(saga.reason)) : null,
    h("p", { class: "dim" }, "Request ", words(saga.request_id), ", document ", words(saga.source_document_id), ", ", moment(saga.created_at)),
  );
}
