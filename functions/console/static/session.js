/**
 * Signing in on Cognito's own page: authorization code with PKCE (RFC 7636). The token stays in this tab, until it is
 * closed; what would renew it is never kept, so after an hour a person signs in again.
 */

const TOKEN = "sagaplane.token";
const ATTEMPT = "sagaplane.attempt";
const EARLY = 30_000;

/** Why nobody is signed in, in words that a person can act on. */
export class NotSignedIn extends Error {}

export class Session {
  constructor(config) {
    this.auth = config.auth_url;
    this.client = config.client_id;
    this.held = read(TOKEN);
  }

  /** The access token; null where nobody is signed in any more. */
  token() {
    if (this.held && Date.now() > this.held.expires - EARLY) this.forget();
    return this.held?.access ?? null;
  }

  /** Whose token it is, as it says: for showing. The API verifies. */
  get person() {
    const claims = decoded(this.token());
    return claims && { name: String(claims.username ?? claims.sub ?? ""), groups: claims["cognito:groups"] ?? [] };
  }

  /** Leave for the sign-in page; the person comes back to the view that they are at. */
  async begin() {
    const attempt = { state: random(24), verifier: random(48), view: location.hash };
    sessionStorage.setItem(ATTEMPT, JSON.stringify(attempt));
    location.assign(
      this.#at("oauth2/authorize", {
        response_type: "code",
        client_id: this.client,
        redirect_uri: here(),
        scope: "openid profile",
        state: attempt.state,
        code_challenge: encoded(await sha256(attempt.verifier)),
        code_challenge_method: "S256",
      }),
    );
  }

  /** Take up an answer of the sign-in page, if the address holds one. Throws NotSignedIn where it is not for us. */
  async finish() {
    const said = new URLSearchParams(location.search);
    if (!said.has("code") && !said.has("error")) return;
    const attempt = read(ATTEMPT);
    sessionStorage.removeItem(ATTEMPT);
    // A code is good once, and belongs in no history.
    history.replaceState(null, "", location.pathname + (attempt?.view ?? ""));
    if (!attempt || said.get("state") !== attempt.state) {
      throw new NotSignedIn("The answer belongs to another sign-in. Nobody was signed in.");
    }
    if (said.has("error")) throw new NotSignedIn("The sign-in was refused or broken off.");
    await this.#exchange(said.get("code"), attempt.verifier);
  }

  /** The token is no longer of use. */
  forget() {
    this.held = null;
    sessionStorage.removeItem(TOKEN);
  }

  /** Sign out here and at the sign-in page; nothing that was written stays for whoever comes next. */
  end() {
    this.held = null;
    sessionStorage.clear();
    location.assign(this.#at("logout", { client_id: this.client, logout_uri: here() }));
  }

  async #exchange(code, verifier) {
    const form = new URLSearchParams({
      grant_type: "authorization_code",
      client_id: this.client,
      redirect_uri: here(),
      code,
      code_verifier: verifier,
    });
    const request = { method: "POST", body: form, credentials: "omit" };
    const answer = await fetch(this.#at("oauth2/token"), request).catch(() => null);
    const said = await answer?.json().catch(() => null);
    if (!answer?.ok || typeof said?.access_token !== "string") {
      throw new NotSignedIn("The sign-in could not be completed. Nobody was signed in.");
    }
    this.held = { access: said.access_token, expires: Date.now() + Number(said.expires_in ?? 0) * 1000 };
    sessionStorage.setItem(TOKEN, JSON.stringify(this.held));
  }

  #at(path, query) {
    const asked = query ? `?${new URLSearchParams(query)}` : "";
    return `${this.auth.replace(/\/$/, "")}/${path}${asked}`;
  }
}

function here() {
  return location.origin + location.pathname;
}

function read(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name));
  } catch {
    return null;
  }
}

function decoded(token) {
  try {
    const payload = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(payload), (c) => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

function random(bytes) {
  return encoded(crypto.getRandomValues(new Uint8Array(bytes)));
}

async function sha256(text) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function encoded(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
