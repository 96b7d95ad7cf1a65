/** What several views are made of. */

import { h } from "./dom.js";
import { moment } from "./moments.js";
import { plain } from "./states.js";
import { cappedText, words } from "./text.js";

/** Names and values; a value of null or "" is left out with its name. */
export function facts(pairs) {
  const given = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, given.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** A part of a view with its heading. */
export function section(title, ...content) {
  return h("section", {}, h("h2", {}, title), ...content);
}

/** Sentences as a list; `none` where there are none. */
export function sentences(texts, none, { ordered = false } = {}) {
  if (!texts?.length) return h("p", { class: "dim" }, none);
  return h(ordered ? "ol" : "ul", {}, texts.map((text) => h("li", {}, words(text))));
}

/** Something a person should know: `tone` is good, warn or bad. */
export function notice(tone, title, ...content) {
  const role = tone === "bad" ? "alert" : null;
  return h("div", { class: `notice ${tone}`, role }, h("p", { class: "title" }, title), ...content);
}

/** What an agent wrote, fenced and labelled: its words, no facts, and never above them. */
export function agentWords(agent) {
  if (!agent || (!agent.rationale && !agent.notes?.length)) return null;
  const notes = (agent.notes ?? []).map((note, i) => h("li", {}, cappedText(note, `Note ${i + 1}`)));
  return h(
    "section",
    { class: "agent", "aria-labelledby": "agent-title" },
    h("h2", { id: "agent-title" }, "Written by the agent, not checked"),
    h("p", { class: "dim" }, "Nothing in this frame has been verified, and nothing in it decides what runs."),
    h("h3", {}, "Its reasons"),
    agent.rationale ? cappedText(agent.rationale, "Its reasons") : h("p", { class: "dim" }, "none given"),
    notes.length ? [h("h3", {}, "Its notes"), h("ul", { class: "notes" }, notes)] : null,
  );
}

/** A text of canonical JSON, or a value, as names and values. Numbers are shown digit for digit as they were sent. */
export function argumentsOf(text) {
  try {
    const exact = (_, value, from) => (typeof value === "number" && from?.source ? { digits: from.source } : value);
    return tree(JSON.parse(text, exact));
  } catch {
    return cappedText(text, "Arguments");
  }
}

/** Any bounded JSON value: objects as names and values, lists as lists. */
export function tree(value, name = "") {
  if (value === null || value === undefined) return "–";
  if (typeof value === "object" && typeof value.digits === "string" && Object.keys(value).length === 1) return value.digits;
  if (Array.isArray(value)) return value.length ? h("ul", { class: "tree" }, value.map((v) => h("li", {}, flat(v) ?? tree(v)))) : "none";
  if (typeof value === "object") {
    return facts(Object.entries(value).map(([key, inner]) => [words(plain(key)), tree(inner, key)]));
  }
  if (name === "arguments" && typeof value === "string") return argumentsOf(value);
  if (name.endsWith("_at") && typeof value === "number") return moment(new Date(value).toISOString());
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? cappedText(value, plain(name)) : String(value);
}

/** An entry of a list in a few words, where it holds plain values only: a history stays readable. */
function flat(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const given = Object.entries(value).filter(([, inner]) => inner !== null);
  if (given.some(([, inner]) => typeof inner === "object")) return null;
  return given.map(([key, inner]) => h("span", { class: "pair" }, h("span", { class: "dim" }, words(plain(key)), " "), tree(inner, key)));
}

/** A link to a view of this page. */
export function link(hash, ...content) {
  return h("a", { href: hash }, ...content);
}

/** An id as a link to its saga. */
export function sagaLink(id) {
  return id ? link(`#/sagas/${encodeURIComponent(id)}`, h("code", {}, id)) : null;
}
