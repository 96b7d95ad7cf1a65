/** The page's beginning: who is signed in, which view the address asks for, and where changes are announced. */

import { Api } from "./api.js";
import { approvalView } from "./approval.js";
import { caseView } from "./case.js";
import { h, put } from "./dom.js";
import { waitingView } from "./lists.js";
import { runCountdowns } from "./moments.js";
import { link, notice } from "./parts.js";
import { sagaView } from "./saga.js";
import { searchView } from "./search.js";
import { NotSignedIn, Session } from "./session.js";
import { words } from "./text.js";

const VIEWS = [
  [/^\/approvals\/([^/]+)$/, approvalView],
  [/^\/cases\/([^/]+)$/, caseView],
  [/^\/sagas\/([^/]+)$/, sagaView],
  [/^\/sagas$/, (page, _, asked) => searchView(page, asked)],
  // "main" is where the skip link leads whoever uses it before this script has come.
  [/^(?:main|\/?)$/, waitingView],
];
const PLACES = { "#/": "Waiting", "#/sagas": "Sagas" };

const page = {
  main: document.getElementById("main"),
  session: null,
  api: null,
  /** Say something to whoever listens to the page. */
  announce(text) {
    document.getElementById("said").textContent = text;
  },
  /** Show another view. */
  go(hash) {
    if (location.hash === hash) show();
    else location.hash = hash;
  },
};
let view = null;

async function start() {
  document.getElementById("skip").addEventListener("click", skip);
  try {
    page.session = new Session(await configuration());
  } catch {
    const again = h("button", { type: "button", click: () => location.reload() }, "Try again");
    return put(page.main, h("h1", {}, "sagaplane"), notice("bad", "The console could not be loaded", h("p", {}, "The API cannot be reached."), again));
  }
  page.api = new Api(page.session);
  let trouble = null;
  await page.session.finish().catch((error) => {
    if (!(error instanceof NotSignedIn)) throw error;
    trouble = error.message;
  });
  addEventListener("hashchange", show);
  runCountdowns();
  if (trouble) return signedOut(trouble);
  return show(null);
}

async function configuration() {
  // Beside this very file, wherever the page is served from.
  const answer = await fetch(new URL("config.json", import.meta.url));
  if (!answer.ok) throw new Error(`config.json: ${answer.status}`);
  return answer.json();
}

function show(event) {
  view?.stop();
  view = null;
  page.announce("");
  top();
  if (!page.session.token()) return signedOut();
  const [path, query = ""] = location.hash.slice(1).split("?");
  for (const [pattern, begin] of VIEWS) {
    const found = pattern.exec(path);
    if (found) view = begin(page, found[1] && decoded(found[1]), new URLSearchParams(query));
    if (found) break;
  }
  if (!view) put(page.main, h("h1", { tabindex: "-1" }, "Not found"), h("p", { class: "empty" }, "This page has no such view. ", link("#/", "See what waits for a person.")));
  const heading = page.main.querySelector("h1");
  document.title = `${heading.textContent} · sagaplane`;
  // Whoever follows a link goes on reading at the new view's beginning; at the page's first load nothing is taken away.
  if (event) heading.focus();
  return view;
}

function top() {
  const person = page.session.person;
  const here = location.hash.startsWith("#/sagas") ? "#/sagas" : "#/";
  const places = Object.entries(PLACES).map(([hash, name]) => h("li", {}, h("a", { href: hash, "aria-current": hash === here ? "page" : null }, name)));
  put(
    document.getElementById("top"),
    h("p", { class: "brand" }, "sagaplane"),
    person ? h("nav", { "aria-label": "Views" }, h("ul", {}, places)) : null,
    person ? h("p", { class: "who" }, words(person.name), " ", h("button", { type: "button", class: "quiet", id: "sign-out", click: () => page.session.end() }, "Sign out")) : null,
  );
}

function signedOut(trouble = null) {
  top();
  document.title = "Sign in · sagaplane";
  const begin = h("button", { type: "button", class: "main", id: "sign-in", click: () => page.session.begin() }, "Sign in");
  put(
    page.main,
    h("h1", { tabindex: "-1" }, "Sign in"),
    trouble ? notice("bad", trouble, h("p", {}, "Please sign in again.")) : null,
    h("p", {}, "Approvals, cases and sagas are shown to people who are signed in."),
    begin,
  );
}

function skip(event) {
  event.preventDefault();
  page.main.focus();
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

start();
