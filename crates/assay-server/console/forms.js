// Dialogs with a form: fields, a button that sends it, and what went wrong.

import { busy, dialog, h } from "./dom.js";

/**
 * Opens a dialog with a form. `submit(form)` sends it; the dialog closes when that works, and stays
 * with what was typed when it does not.
 */
export function form_dialog(context, title, verb, fields, submit) {
  const send = h("button", { type: "submit", class: "primary" }, verb);
  const cancel = h("button", { type: "button" }, "Cancel");
  const form = h("form", {}, fields, h("div", { class: "row end" }, cancel, send));
  const made = dialog(title, form);
  cancel.addEventListener("click", () => made.close());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(send, async () => {
      try {
        await submit(form);
        made.close();
      } catch (error) {
        context.toast(error.message, "fail");
      }
    });
  });
  return made;
}
