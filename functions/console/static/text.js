/**
 * Texts that others wrote. What would be invisible, or would turn the text around it, is shown as what it is; what would
 * push everything else away is counted instead.
 */

import { h } from "./dom.js";

const NAMES = new Map([
  [0x00, "null"],
  [0x07, "bell"],
  [0x08, "backspace"],
  [0x1b, "escape, begins a terminal command"],
  [0xad, "soft hyphen"],
  [0x61c, "Arabic letter mark"],
  [0x200b, "zero-width space"],
  [0x200c, "zero-width non-joiner"],
  [0x200d, "zero-width joiner"],
  [0x200e, "left-to-right mark"],
  [0x200f, "right-to-left mark"],
  [0x202a, "left-to-right embedding"],
  [0x202b, "right-to-left embedding"],
  [0x202c, "end of directional formatting"],
  [0x202d, "left-to-right override"],
  [0x202e, "right-to-left override"],
  [0x2060, "word joiner"],
  [0x2066, "left-to-right isolate"],
  [0x2067, "right-to-left isolate"],
  [0x2068, "first strong isolate"],
  [0x2069, "end of isolate"],
  [0x2800, "blank braille pattern"],
  [0xfeff, "zero-width no-break space"],
]);
/** Controls, format characters, halves of pairs, private use, not assigned, all that has no width, and odd spaces. */
const UNSEEN = String.raw`(?![\n \u00a0\u202f])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]`;
const HIDDEN = new RegExp(`^(?:${UNSEEN})+$`, "u");
/** Where a text is taken apart: runs of line breaks, letters with a pile of marks on them, and runs of what is unseen. */
const SPLIT = new RegExp(String.raw`(\n(?: *\n)+|\n|\p{M}{4,}|(?:${UNSEEN})+)`, "u");
const SAME = /(.)\1*/gsu;
const PILE = /^\p{M}+$/u;
/** How much of a longer text is shown at first, in characters; a line break takes as much room as a line. */
const ROOM = 600;
const LINE = 60;

/** A short text inside a line: its direction is its own and reaches nothing around it. */
export function words(text) {
  return h("bdi", { dir: "auto" }, pieces(String(text ?? "")));
}

/** The text as nodes: text, line breaks, and marks for what could not be seen. */
export function pieces(text) {
  const clean = text.replace(/\r\n?/g, "\n").replace(/\t/g, " ");
  return clean.split(SPLIT).filter(Boolean).map(piece).flat();
}

/** A longer text, cut where it gets long, with a button that shows all of it. `label` says whose text it is. */
export function cappedText(text, label) {
  const all = String(text ?? "");
  const { shown, whole } = beginning(pieces(all));
  const body = h("div", { class: "words", dir: "auto" }, shown);
  if (whole) return body;
  const offer = `Show all ${[...all].length.toLocaleString("en")} characters`;
  const toggle = () => {
    const open = button.getAttribute("aria-expanded") !== "true";
    body.replaceChildren(...(open ? pieces(all) : beginning(pieces(all)).shown));
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? "Show less" : offer;
  };
  const attributes = { type: "button", class: "quiet", "aria-expanded": "false", "aria-label": `${label}: show all`, click: toggle };
  const button = h("button", attributes, offer);
  return h("div", { class: "capped" }, body, button);
}

/** As many pieces as there is room for, and whether that is all of them. */
function beginning(nodes) {
  let room = ROOM;
  const shown = [];
  for (const node of nodes) {
    const cost = typeof node === "string" ? node.length : node.localName === "br" ? LINE : node.textContent.length + 4;
    if (cost > room) {
      const part = typeof node === "string" ? [...node].slice(0, room).join("") : "";
      return { shown: [...shown, part, " …"], whole: false };
    }
    room -= cost;
    shown.push(node);
  }
  return { shown, whole: true };
}

function piece(part) {
  if (part === "\n") return h("br");
  if (part.startsWith("\n")) {
    const lines = part.split("\n").length - 1;
    return lines > 2 ? [mark(`${lines} line breaks`), h("br")] : [h("br"), h("br")];
  }
  if (PILE.test(part) && !HIDDEN.test(part)) {
    const [first, ...others] = [...part];
    return [first, mark(`${others.length} more marks on it`)];
  }
  return HIDDEN.test(part) ? part.match(SAME).map(named) : part;
}

/** One unseen character, however often it stands there. */
function named(run) {
  const point = run.codePointAt(0);
  const times = [...run].length;
  const code = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  return mark(times > 1 ? `${code} ×${times}` : code, NAMES.get(point) ?? "a character that cannot be seen");
}

function mark(text, title) {
  return h("span", { class: "mark", title, dir: "ltr" }, text);
}
