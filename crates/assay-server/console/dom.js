// Builds elements. Whatever comes from data becomes a text node or an attribute that cannot run:
// there is no markup made of strings anywhere in this console, and the page's policy
// (require-trusted-types-for 'script') lets the browser refuse any that slips in.

/** An element: `h("p", { class: "a", onclick: f }, "text", other)`. Empty children are left out. */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Puts other children in place of those that are there. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** A word in a colour; the word alone says everything. */
export function badge(word, tone = "plain", props = {}) {
  return h("span", { class: `badge ${tone}`, ...props }, word);
}

/** A button that cannot be pressed twice while what it does goes on. */
export function button(label, action, props = {}) {
  const made = h("button", { type: "button", ...props }, label);
  made.addEventListener("click", () => busy(made, action));
  return made;
}

/** Runs something with an element disabled, and keeps the keyboard's place. */
export async function busy(element, action) {
  if (element.disabled) return;
  const had_focus = document.activeElement === element;
  element.disabled = true;
  try {
    await action();
  } finally {
    element.disabled = false;
    if (had_focus && element.isConnected && document.activeElement === document.body) {
      element.focus();
    }
  }
}

let names = 0;

/** A labelled field. */
export function field(label, control, hint) {
  const id = `field-${++names}`;
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", `${id}-hint`);
  return h("div", { class: "field" },
    h("label", { for: id }, label),
    control,
    hint && h("p", { class: "hint", id: `${id}-hint` }, hint));
}

/** A list of choices: `[[value, label], …]`. */
export function select(choices, chosen, props = {}) {
  const made = h("select", props);
  for (const [value, label] of choices) {
    made.append(h("option", { value, selected: value === chosen }, label));
  }
  return made;
}

/** A dialog with a heading. It closes with Escape, and is taken away when it is closed. */
export function dialog(title, ...children) {
  const id = `dialog-${++names}`;
  const made = h("dialog", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
  made.addEventListener("close", () => made.remove());
  document.body.append(made);
  made.showModal();
  return made;
}

/** Asks before something that cannot be undone; true if it is wanted. */
export function confirm_dialog(title, text, verb) {
  return new Promise((resolve) => {
    let wanted = false;
    const yes = h("button", { type: "button", class: "danger" }, verb);
    const no = h("button", { type: "button" }, "Cancel");
    const made = dialog(title, h("p", {}, text), h("div", { class: "row end" }, no, yes));
    yes.addEventListener("click", () => { wanted = true; made.close(); });
    no.addEventListener("click", () => made.close());
    made.addEventListener("close", () => resolve(wanted));
    no.focus();
  });
}
