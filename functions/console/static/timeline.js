/**
 * A saga as a picture: forward above, undo below, and the point of no return as a line that is crossed once and never back.
 * On a wide page it runs from left to right, on a narrow one from top to bottom.
 */

import { h, s } from "./dom.js";
import { clock } from "./moments.js";
import { forwardLook, undoLook } from "./states.js";

const BOX = { width: 172, height: 98, gap: 34 };
const NARROW = { width: 300, height: 90, gap: 26 };
const LINES = {
  ahead: "point of no return, not reached",
  never: "point of no return, never reached",
  crossing: "point of no return, being crossed",
  crossed: "point of no return, crossed",
};
/** Room for the line where it lies across. */
const ACROSS = 40;
let drawn = 0;

/** The picture, in a frame that scrolls by itself where the plan is long. */
export function timeline(saga) {
  const frame = h("div", { class: "picture", tabindex: "0", role: "region", "aria-label": "Timeline of the saga" });
  const wide = matchMedia("(min-width: 760px)");
  const draw = () => frame.replaceChildren(wide.matches ? across(saga) : down(saga));
  wide.addEventListener("change", () => frame.isConnected && draw());
  draw();
  return frame;
}

/** The same in words, for whoever does not see it. */
export function told(saga) {
  const forward = saga.steps.map((step) => `${step.index} ${step.name}: ${forwardLook(step, saga).word}`);
  const undo = undoable(saga).map((step) => `${step.index} ${step.undo.operation}: ${undoLook(step, saga).word}`);
  const line = boundary(saga);
  const where = line < 0 ? "There is no point of no return" : `${lineWords(saga)}, before step ${line}`;
  return `Forward: ${forward.join("; ")}. ${where}. Undo, last step first: ${undo.join("; ") || "none"}.`;
}

function across(saga) {
  const { width, height, gap } = BOX;
  const top = 34;
  const below = top + height + 46;
  const place = (index) => 8 + index * (width + gap);
  const line = boundary(saga);
  const edge = line < 0 ? null : line === 0 ? 4 : place(line) - gap / 2;
  const turned = turning(saga);
  const parts = [label("forward →", 8, 20), label(undoTitle(saga), 8, below + height + 26)];
  saga.steps.forEach((step, i) => {
    if (i > 0) parts.push(arrow(place(i) - gap + 2, top + height / 2, place(i) - 3, top + height / 2, reached(step)));
    parts.push(forwardBox(step, saga, place(i), top, BOX));
    if (!step.undo) return;
    const [x, y] = [place(i) + width / 2, top + height];
    parts.push(turned === step ? arrow(x, y + 2, x, below - 3, true) : tie(x, y, x, below));
    parts.push(undoBox(step, saga, place(i), below, BOX));
  });
  parts.push(...waits(saga, place, below));
  const lowest = below + height + 36;
  if (edge !== null) parts.push(...standing(saga, edge, 4, lowest - 2, line, place));
  return picture(saga, place(saga.steps.length) - gap + 16, lowest, parts);
}

function down(saga) {
  const { width, height, gap } = NARROW;
  const line = boundary(saga);
  const parts = [label("forward ↓", 4, 16)];
  let y = 26;
  saga.steps.forEach((step, i) => {
    if (i === line) {
      parts.push(...lying(saga, y + 4, width));
      y += ACROSS;
    }
    const crossing = i === line;
    const [x, from] = crossing ? [width - 30, y - gap - ACROSS + 3] : [width / 2, y - gap + 3];
    if (i > 0) parts.push(arrow(x, from, x, y - 3, reached(step)));
    parts.push(forwardBox(step, saga, 4, y, NARROW));
    y += height + gap;
  });
  parts.push(label(undoTitle(saga, "↓"), 4, y + 8));
  y += 20;
  undoable(saga).forEach((step, i) => {
    if (i > 0) parts.push(arrow(width / 2, y - gap + 3, width / 2, y - 3, undone(step)));
    parts.push(undoBox(step, saga, 4, y, NARROW));
    y += height + gap;
  });
  return picture(saga, width + 8, y, parts);
}

function picture(saga, width, height, parts) {
  const id = `picture-${(drawn += 1)}`;
  const attributes = { class: "timeline", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-labelledby": id };
  const end = (name) => s("marker", { id: `${id}-${name}`, class: name, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0 0 8 4 0 8z" }));
  const drawing = s("svg", attributes, s("title", { id }, told(saga)), s("defs", {}, end("tip"), end("tip-on")), parts);
  for (const way of drawing.querySelectorAll(".way")) way.setAttribute("marker-end", `url(#${id}-${way.classList.contains("on") ? "tip-on" : "tip"})`);
  return drawing;
}

function forwardBox(step, saga, x, y, size) {
  const look = forwardLook(step, saga);
  return box(x, y, size, look, `${step.index} ${step.name}`, step.forward, step.boundary ? "boundary" : "");
}

function undoBox(step, saga, x, y, size) {
  return box(x, y, size, undoLook(step, saga), `${step.index} ${step.undo.operation}`, step.undo, "undo");
}

function box(x, y, { width, height }, look, name, command, kind) {
  const line = (height - 14) / 4;
  const text = (row, attributes, said) => s("text", { x: 14, y: line * row + 2, ...attributes }, fitting(said, width - 28, 6.9));
  const [tried, when] = tries(command);
  return s(
    "g",
    { class: `step ${look.tone} ${kind}`, transform: `translate(${x} ${y})` },
    s("title", {}, [`${name}: ${look.word}`, tried, when].filter(Boolean).join(", ")),
    s("rect", { width, height, rx: kind === "undo" ? 20 : 6 }),
    text(1, { class: "name" }, name),
    text(2, { class: "state" }, `${look.mark} ${look.word}`),
    text(3, { class: "more" }, tried),
    text(4, { class: "more" }, when),
  );
}

/** How many attempts, and when the last one was; nothing where there was none. */
function tries(command) {
  const last = command.history.at(-1);
  if (!last) return ["", ""];
  const times = [last.started_at, last.ended_at].filter(Boolean).map(clock);
  return [`${command.attempts} of ${command.budget} attempts`, [...new Set(times)].join(" – ")];
}

function fitting(text, room, each) {
  const most = Math.floor(room / each);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function standing(saga, x, from, to, line, place) {
  const chevrons = [0.16, 0.38, 0.6, 0.82].map((part) => {
    const y = from + (to - from) * part;
    return s("path", { class: "chevron", d: `M${x - 4} ${y - 6} ${x + 4} ${y} ${x - 4} ${y + 6}` });
  });
  const beyond = place(saga.steps.length) - BOX.gap;
  const words = s("text", { class: "line-words", x: x + 12, y: to - BOX.height / 2 - 34 }, fitting(lineWords(saga), beyond - x, 6.6));
  const none = s("text", { class: "line-words dim", x: x + 12, y: to - BOX.height / 2 - 14 }, "no undo on this side");
  return [s("path", { class: `no-return ${saga.pivot}`, d: `M${x} ${from}V${to}` }), ...chevrons, words, none];
}

function lying(saga, y, width) {
  const chevrons = [0.15, 0.5].map((part) => {
    const x = width * part;
    return s("path", { class: "chevron", d: `M${x - 6} ${y - 4} ${x} ${y + 4} ${x + 6} ${y - 4}` });
  });
  const words = s("text", { class: "line-words", x: 4, y: y + 20 }, lineWords(saga));
  return [s("path", { class: `no-return ${saga.pivot}`, d: `M0 ${y}H${width + 8}` }), ...chevrons, words];
}

/** Which undo waits for which: straight to a neighbour, around below to one further away. */
function waits(saga, place, y) {
  const bottom = y + BOX.height;
  const arrows = [];
  for (const step of undoable(saga)) {
    for (const later of step.undo.waits_for) {
      const on = undone(step);
      const [from, to] = [place(later), place(step.index) + BOX.width];
      if (later === step.index + 1) arrows.push(arrow(from - 2, y + BOX.height / 2, to + 3, y + BOX.height / 2, on));
      else if (!step.undo.waits_for.includes(step.index + 1)) {
        const middle = [from + BOX.width / 2, to - BOX.width / 2];
        arrows.push(way(`M${middle[0]} ${bottom}v12H${middle[1]}V${bottom + 3}`, on));
      }
    }
  }
  return arrows;
}

function arrow(x1, y1, x2, y2, on) {
  return way(`M${x1} ${y1}L${x2} ${y2}`, on);
}

function way(d, on) {
  return s("path", { class: `way${on ? " on" : ""}`, d });
}

function tie(x1, y1, x2, y2) {
  return s("path", { class: "tie", d: `M${x1} ${y1}L${x2} ${y2}` });
}

function label(text, x, y) {
  return s("text", { class: "row-title", x, y }, text);
}

function undoTitle(saga, sign = "←") {
  if (!undoable(saga).length) return "no step of this plan can be undone";
  return `${sign === "←" ? "← " : ""}undo, last step first${sign === "←" ? "" : ` ${sign}`}`;
}

function lineWords(saga) {
  const turned = saga.pivot === "ahead" && saga.direction === "compensating";
  return LINES[turned ? "never" : saga.pivot] ?? `point of no return: ${saga.pivot}`;
}

function boundary(saga) {
  return saga.steps.findIndex((step) => step.boundary);
}

function undoable(saga) {
  return saga.steps.filter((step) => step.undo).reverse();
}

/** The step from which a saga that is being undone goes down and back; none while it goes forward. */
function turning(saga) {
  return saga.direction === "compensating" ? undoable(saga).find(reached) : null;
}

function reached(step) {
  return step.forward.state !== "prepared";
}

function undone(step) {
  return ["running", "succeeded", "unknown", "blocked"].includes(step.undo.state);
}
