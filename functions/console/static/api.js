/** The same public API that everybody uses. Every refusal is a problem with a code (RFC 9457). */

import { learn } from "./moments.js";

const PATIENCE = 20_000;
/** The page lies at `<API>/console`, so its own address is where the API is, with or without a path before it. */
const BASE = new URL(".", location.href);

/** The API said no: `status`, `problems` and what else was said with it. */
export class Refused extends Error {
  constructor(status, body) {
    const problems = Array.isArray(body?.problems) ? body.problems : [];
    super(problems[0]?.message ?? body?.detail ?? body?.message ?? `The API answered ${status}.`);
    this.status = status;
    this.problems = problems;
    this.sagaId = body?.saga_id ?? null;
  }

  get hint() {
    return this.problems[0]?.hint ?? null;
  }

  /** Whether the same call may succeed in a moment. */
  get passing() {
    return this.status === 429 || this.status >= 500;
  }
}

/** Nobody is signed in, or the sign-in is over. */
export class SignedOut extends Error {}

/** No answer came: the network, or the API, is down. What was asked may have been done. */
export class Unreachable extends Error {}

export class Api {
  constructor(session) {
    this.session = session;
  }

  /** `path` begins without a slash; `query` leaves out what is empty. */
  get(path, query = {}) {
    const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
    const asked = new URLSearchParams(given).toString();
    return this.#call("GET", asked ? `${path}?${asked}` : path);
  }

  post(path, body = {}) {
    return this.#call("POST", path, JSON.stringify(body));
  }

  async #call(method, path, body) {
    const token = this.session.token();
    if (!token) throw new SignedOut();
    const headers = { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) };
    const answer = await sent(new URL(path, BASE), { method, headers, body });
    learn(answer.headers.get("date"));
    if (answer.status === 401) {
      this.session.forget();
      throw new SignedOut();
    }
    const said = await answer.json().catch(() => null);
    if (!answer.ok) throw new Refused(answer.status, said);
    if (said === null) throw new Unreachable("The answer was cut off.");
    return said;
  }
}

async function sent(url, options) {
  try {
    const signal = AbortSignal.timeout(PATIENCE);
    return await fetch(url, { ...options, signal, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch (error) {
    throw new Unreachable(error.name === "TimeoutError" ? "No answer came in time." : "The API cannot be reached.");
  }
}
