// Times, numbers and names as people read them.

const STATUS = {
  running: ["running", "ok"],
  idle: ["idle", "plain"],
  rescheduling: ["trying again", "unknown"],
  terminated: ["terminated", "fail"],
};

/** The word and the tone of a session's status. */
export function status_words(status) {
  return STATUS[status] ?? [String(status), "plain"];
}

/** `12:03:04`, and the date if it was not today. */
export function clock(text) {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return "";
  const time = at.toLocaleTimeString("en-GB");
  return at.toDateString() === new Date().toDateString()
    ? time : `${at.toLocaleDateString("en-CA")} ${time}`;
}

/** `3 min ago`. */
export function ago(text, now = Date.now()) {
  const seconds = Math.max(0, (now - new Date(text).getTime()) / 1000);
  if (Number.isNaN(seconds)) return "";
  if (seconds < 5) return "just now";
  for (const [limit, unit, size] of [[60, "s", 1], [3600, "min", 60], [86400, "h", 3600]]) {
    if (seconds < limit) return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  return `${Math.floor(seconds / 86400)} d ago`;
}

/** `12 ms`, `1.2 s`, `3 min 4 s`. */
export function span_of(seconds) {
  if (!Number.isFinite(seconds)) return "";
  if (seconds > 0 && seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds > 0 && seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `1,234`. */
export function count(number) {
  return Number(number ?? 0).toLocaleString("en-US");
}

/** `1 event`, `2 events`. */
export function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** The end of an id: its beginning is the time, and all of them look alike there. */
export function short_id(id) {
  const text = String(id ?? "");
  const at = text.indexOf("_");
  return text.length <= 20 ? text : `${text.slice(0, at + 1)}…${text.slice(-8)}`;
}

/** Tokens of a request or a session, in words. */
export function usage_words(usage) {
  const written = usage?.cache_creation_input_tokens
    ?? (usage?.cache_creation?.ephemeral_5m_input_tokens ?? 0)
      + (usage?.cache_creation?.ephemeral_1h_input_tokens ?? 0);
  const words = [`${count(usage?.input_tokens)} in`, `${count(usage?.output_tokens)} out`];
  if (usage?.cache_read_input_tokens) words.push(`${count(usage.cache_read_input_tokens)} from cache`);
  if (written) words.push(`${count(written)} to cache`);
  return words.join(" · ");
}

/** `$0.42`; cents come as text. */
export function money(amount) {
  if (!amount) return undefined;
  const units = Number(amount.amount) / 100;
  return Number.isFinite(units) ? `${units.toFixed(2)} ${amount.currency ?? ""}`.trim() : undefined;
}

/** The text in blocks of content. */
export function text_of(content) {
  if (typeof content === "string") return content;
  const one = (block) => block?.type === "text" ? String(block.text ?? "") : `[${block?.type ?? "?"}]`;
  return (Array.isArray(content) ? content : []).map(one).join("\n");
}
