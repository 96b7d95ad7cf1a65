/**
 * Elements are made here and nowhere else. A text becomes a text node and nothing else, a link leads to a view of this
 * page and nowhere else, and a listener is a function: no text that anybody wrote can become markup, address or script.
 */

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element: `h("p", {class: "sum", click: listener}, "text", element)`. Nothing, null and false are left out. */
export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same for a drawing. */
export function s(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

/** Everything in `parent` is replaced, save what is marked to be kept: a form somebody is writing in, what has the focus, what was unfolded. */
export function put(parent, ...children) {
  const kept = new Map([...parent.querySelectorAll("[data-keep]")].map((e) => [keeping(e), e]));
  const unfolded = [...parent.querySelectorAll("details[open][id]")].map((e) => e.id);
  const held = parent.contains(document.activeElement) ? document.activeElement : null;
  const fresh = document.createDocumentFragment();
  fresh.append(...present(children));
  for (const element of fresh.querySelectorAll("[data-keep]")) {
    const before = kept.get(keeping(element));
    if (before) element.replaceWith(before);
  }
  parent.replaceChildren(fresh);
  for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
  if (!held || held === document.activeElement) return;
  const again = held.isConnected ? held : parent.querySelector(described(held));
  if (again) again.focus({ preventScroll: true });
}

/** Where to find what had the focus among what is new: by its id, or by where it leads. */
function described(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  return `a[href="${CSS.escape(element.getAttribute("href") ?? "")}"]`;
}

function keeping(element) {
  return `${element.dataset.keep} ${element.dataset.version ?? ""}`;
}

function present(children) {
  return children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false && c !== "");
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(safe(name, value), value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

function safe(name, value) {
  const lead = name === "href" && !String(value).startsWith("#");
  if (lead || /^(on|src|style|action|formaction|xlink)/i.test(name)) {
    throw new Error(`an element of this page has no ${name}="${value}"`);
  }
  return name;
}
