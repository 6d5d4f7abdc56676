// Server-sent events from pieces of text. Pure: bytes and time are somebody else's.

/** More than any event has; a stream that sends more without an end is not one of ours. */
const BUFFER_MAX = 16 * 1024 * 1024;

/** Collects pieces and gives the frames that are whole: `{ id, event, data }`. */
export class Frames {
  #rest = "";

  push(piece) {
    const lines = (this.#rest + piece).replaceAll("\r\n", "\n");
    const parts = lines.split("\n\n");
    this.#rest = parts.pop();
    if (this.#rest.length > BUFFER_MAX) throw new Error("the stream sends an event without end");
    return parts.map(frame).filter((found) => found.data !== "");
  }
}

function frame(text) {
  const found = { id: "", event: "message", data: "" };
  const data = [];
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    // A comment: somebody is still there.
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "id" || name === "event") found[name] = value;
  }
  found.data = data.join("\n");
  return found;
}
