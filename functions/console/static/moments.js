/** Times: shown in the reader's own zone with UTC beside them, and counted by the API's clock. */

import { h } from "./dom.js";

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const URGENT = 5 * 60 * 1000;
let ahead = 0;

/** Learn how far this machine's clock is from the API's, from the Date of an answer. */
export function learn(date) {
  const at = Date.parse(date ?? "");
  if (!Number.isNaN(at) && Math.abs(at - Date.now()) > 2000) ahead = at - Date.now();
}

/** Milliseconds since the epoch, by the API's clock. */
export function now() {
  return Date.now() + ahead;
}

/** `30 Nov 2026, 16:53:12` as a time element; `date: false` leaves the day out. */
export function moment(iso, { date = true } = {}) {
  if (!iso) return "–";
  return h("time", { datetime: iso, title: iso }, date ? `${day(iso)}, ${clock(iso)}` : clock(iso));
}

/** `16:53:12`. */
export function clock(iso) {
  return CLOCK.format(new Date(iso));
}

function day(iso) {
  return DAY.format(new Date(iso));
}

/** Time left until `iso`, counting down; `past` once it is over. */
export function countdown(iso, past) {
  const element = h("span", { class: "countdown", role: "timer", "data-until": iso, "data-past": past });
  tick(element);
  return element;
}

/** Keeps every countdown of the page going. */
export function runCountdowns() {
  setInterval(() => document.querySelectorAll("[data-until]").forEach(tick), 1000);
}

/** Whether that moment is over, by the API's clock. */
export function over(iso) {
  return !iso || Date.parse(iso) <= now();
}

function tick(element) {
  const left = Date.parse(element.dataset.until) - now();
  const text = left > 0 ? `in ${spelled(left)}` : element.dataset.past;
  if (element.textContent !== text) element.textContent = text;
  element.classList.toggle("urgent", left < URGENT);
}

function spelled(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  const [days, hours] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24];
  const minutes = Math.floor(seconds / 60) % 60;
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${String(seconds % 60).padStart(2, "0")} s` : `${seconds} s`;
}
