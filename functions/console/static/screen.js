/** A view of the page: it says that it is loading, shows what it found, says what failed, and goes on looking. */

import { Refused, SignedOut, Unreachable } from "./api.js";
import { h, put } from "./dom.js";
import { clock } from "./moments.js";
import { notice } from "./parts.js";
import { words } from "./text.js";

export class Screen {
  #shown = null;
  #readAt = null;
  #timer = null;
  #stopped = false;

  /**
   * `load` asks the API, `draw` answers what is shown of it; every `every` milliseconds it is asked again while somebody
   * looks, until `done` says that nothing will change any more. `changed(before, after)` says in words what is new.
   */
  constructor(page, { title, load, draw, every = 0, done = () => false, changed = () => null }) {
    Object.assign(this, { page, load, draw, every, done, changed });
    this.news = h("div", { class: "news", tabindex: "-1" });
    this.trouble = h("div", { class: "news" });
    this.body = h("div", { class: "body" }, h("p", { class: "loading" }, `Loading ${title.toLowerCase()}.`));
    this.heading = h("h1", { tabindex: "-1" }, title);
    page.main.replaceChildren(this.heading, this.news, this.trouble, this.body);
    this.seen = () => document.visibilityState === "visible" && this.look();
    document.addEventListener("visibilitychange", this.seen);
    this.look();
  }

  /** Ask again now. */
  async look() {
    clearTimeout(this.#timer);
    let wait = this.every;
    try {
      const found = await this.load();
      if (this.#stopped) return;
      this.#show(found);
      if (this.done(found)) wait = 0;
    } catch (error) {
      if (this.#stopped) return;
      // A sign-in that is over has been said already where somebody was about to do something.
      if (!(error instanceof SignedOut && this.trouble.firstChild)) put(this.trouble, this.#explained(error));
      if (this.#shown === null) this.body.replaceChildren();
      if (!passing(error)) wait = 0;
    }
    if (wait && document.visibilityState === "visible") this.#timer = setTimeout(() => this.look(), wait);
  }

  /** Say what came of something that a person did; it stays until they do something else. */
  tell(tone, title, ...content) {
    put(this.news, notice(tone, title, ...content));
    if (tone !== "bad") this.page.announce(title);
  }

  /** Do something for a person; whatever comes of it is said, and the view looks again. Answers whether it was done. */
  async attempt(act, done) {
    this.news.replaceChildren();
    try {
      await act();
      this.tell("good", done);
      return true;
    } catch (error) {
      const signedOut = error instanceof SignedOut;
      put(signedOut ? this.trouble : this.news, this.#explained(error, true));
      return false;
    } finally {
      if (!this.#stopped && this.page.session.token()) await this.look();
      // What had the focus may be gone: reading goes on where the answer stands.
      if (document.activeElement === document.body) this.news.focus();
    }
  }

  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    document.removeEventListener("visibilitychange", this.seen);
  }

  #show(found) {
    this.trouble.replaceChildren();
    this.#readAt = clock(new Date().toISOString());
    const text = JSON.stringify(found);
    if (text === this.#shown) return;
    const news = this.#shown && this.changed(JSON.parse(this.#shown), found);
    if (news) this.page.announce(news);
    this.#shown = text;
    put(this.body, this.draw(found, this));
  }

  #explained(error, acted = false) {
    const again = h("button", { type: "button", click: () => this.look() }, "Try again");
    if (error instanceof SignedOut) {
      this.page.announce("You are signed out.");
      const said = acted ? "Nothing was sent. " : "";
      const go = h("button", { type: "button", class: "main", click: () => this.page.session.begin() }, "Sign in");
      return notice("warn", "You are signed out", h("p", {}, `${said}Your sign-in is over: sign in again to go on here.`), go);
    }
    if (error instanceof Unreachable) {
      const said = acted ? "It may have been recorded all the same: what is shown below is read anew." : this.#age();
      return notice("bad", error.message, h("p", {}, said), again);
    }
    if (!(error instanceof Refused)) throw error;
    const told = [h("p", {}, words(error.message)), error.hint ? h("p", { class: "dim" }, words(error.hint)) : null];
    return notice("bad", refusal(error, acted), told, error.passing ? again : null);
  }

  #age() {
    return this.#readAt ? `What is shown was read at ${this.#readAt}. It is tried again.` : "It is tried again.";
  }
}

function passing(error) {
  return error instanceof Unreachable || (error instanceof Refused && error.passing);
}

function refusal(error, acted) {
  if (error.status === 403) return acted ? "You may not do this" : "You may not see this";
  if (error.status === 404) return "There is no such thing";
  if (error.status === 410) return "Too late: the time to decide is over";
  if (error.status === 409) return "Not done: something has changed meanwhile";
  if (error.passing) return "The service cannot answer just now";
  return "Not done";
}
