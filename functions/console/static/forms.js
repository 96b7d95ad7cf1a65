/** Doing something in two steps: choose, then confirm. Escape or Back leaves everything as it was. */

import { h } from "./dom.js";

const LONGEST = 500;

/**
 * Buttons, one for each option; a chosen one becomes a form that asks once more.
 * An option: `{id, label, tone, question, confirm, text?: {label, required}, fields?, act(text, values)}`; a field is
 * `{name, label, choices?}` and has to be filled in. `act` answers whether it was done.
 */
export function choices(options, { keep, version }) {
  const row = h("div", { class: "row" });
  const area = h("div", { class: "choices", "data-keep": keep, "data-version": version }, row);
  for (const option of options) {
    const open = () => {
      const close = () => area.replaceChildren(row);
      const back = () => {
        close();
        button.focus();
      };
      const form = asking(option, back, close);
      area.replaceChildren(form);
      form.querySelector("textarea, button").focus();
    };
    const attributes = { type: "button", class: option.tone, id: `choose-${option.id}`, click: open };
    const button = h("button", attributes, `${option.label} …`);
    row.append(button);
  }
  return area;
}

function asking(option, back, close) {
  const field = option.text ? textField(option) : null;
  const fields = (option.fields ?? []).map((each) => smallField(option.id, each));
  const submit = h("button", { type: "submit", class: option.tone }, option.confirm);
  const cancel = h("button", { type: "button", class: "quiet", click: back }, "Back");
  const send = async (event) => {
    event.preventDefault();
    const text = field?.value() ?? null;
    if (submit.disabled || fields.some((each) => !each.holds()) || (field && !field.holds())) return;
    const values = Object.fromEntries(fields.map((each) => [each.name, each.value()]));
    submit.disabled = cancel.disabled = true;
    submit.textContent = "Sending …";
    const done = await option.act(text, values);
    if (done) field?.sent();
    if (done && form.isConnected) close();
    if (done || !form.isConnected) return;
    submit.disabled = cancel.disabled = false;
    submit.textContent = option.confirm;
    submit.focus();
  };
  const leave = (event) => event.key === "Escape" && !submit.disabled && back();
  const title = h("h3", { id: `asking-${option.id}` }, option.label);
  const attributes = { class: `asking ${option.tone}`, novalidate: true, submit: send, keydown: leave, "aria-labelledby": title.id };
  const form = h("form", attributes, title, option.question, fields.map((each) => each.element), field?.element, h("div", { class: "row" }, submit, cancel));
  return form;
}

/** One line to fill in, or one of several to choose. */
function smallField(id, { name, label, choices: several }) {
  const wrong = h("p", { class: "wrong", id: `wrong-${id}-${name}`, role: "alert" });
  const attributes = { id: `${id}-${name}`, required: true, "aria-describedby": wrong.id };
  const input = several
    ? h("select", attributes, several.map((each) => h("option", { value: each }, each)))
    : h("input", { ...attributes, type: "text", maxlength: 100, autocomplete: "off", spellcheck: "false" });
  return {
    name,
    element: h("div", { class: "field" }, h("label", { for: input.id }, label), input, wrong),
    value: () => input.value.trim(),
    holds: () => {
      const filled = Boolean(input.value.trim());
      wrong.textContent = filled ? "" : "Please fill this in.";
      if (!filled) input.focus();
      return filled;
    },
  };
}

/** What is written is kept until it has been sent, also when the view changes or the sign-in has to be renewed. */
function textField({ id, text }) {
  const draft = `sagaplane.draft ${location.hash} ${id}`;
  const wrong = h("p", { class: "wrong", id: `wrong-${id}`, role: "alert" });
  const left = h("p", { class: "dim count" }, `${LONGEST} characters left`);
  const area = h("textarea", {
    id: `text-${id}`,
    rows: 3,
    maxlength: LONGEST,
    required: text.required,
    dir: "auto",
    "aria-describedby": wrong.id,
    input: () => {
      left.textContent = `${LONGEST - area.value.length} characters left`;
      sessionStorage.setItem(draft, area.value);
      if (!area.value.trim()) return;
      wrong.replaceChildren();
      area.removeAttribute("aria-invalid");
    },
  });
  area.value = sessionStorage.getItem(draft) ?? "";
  const label = h("label", { for: area.id }, text.label, text.required ? "" : " (may be left empty)");
  return {
    element: h("div", { class: "field" }, label, area, wrong, left),
    sent: () => sessionStorage.removeItem(draft),
    value: () => area.value.trim() || null,
    holds: () => {
      if (!text.required || area.value.trim()) return true;
      wrong.textContent = "Please write this down first: others read it.";
      area.setAttribute("aria-invalid", "true");
      area.focus();
      return false;
    },
  };
}
