// Numbers, times and names as a person says them.

const UNITS = [
  [365.25, "year"],
  [30.44, "month"],
  [7, "week"],
  [1, "day"],
  [1 / 24, "hour"],
  [1 / 1440, "minute"],
];

/** Milliseconds of a time as the server writes it: text, or seconds or milliseconds since 1970. */
export function moment(value) {
  if (value === null || value === undefined || value === "") return null;
  if (typeof value === "number") return value > 1e11 ? value : value * 1000;
  const parsed = Date.parse(value);
  return Number.isNaN(parsed) ? null : parsed;
}

/** "3 days", for a span in days. */
export function span(days) {
  const size = Math.abs(days);
  for (const [length, name] of UNITS) {
    const count = Math.floor(size / length + 1e-9);
    if (count >= 1) return `${count} ${name}${count === 1 ? "" : "s"}`;
  }
  return "a moment";
}

/** "3 days ago". */
export function age(time, now) {
  const days = (now - time) / 86_400_000;
  if (Math.abs(days) < 1 / 1440) return "just now";
  return days >= 0 ? `${span(days)} ago` : `in ${span(days)}`;
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const HOUR = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

export const day = (time) => DAY.format(time);
export const hour = (time) => `${HOUR.format(time)} UTC`;

/** A score with as many digits as are worth reading. */
export function number(value, digits = 3) {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(1);
  return size >= 100 ? value.toFixed(1) : value.toFixed(digits);
}

export const signed = (value, digits = 3) => (value < 0 ? "\u2212" : "+") + number(Math.abs(value), digits);
export const percent = (value) => `${Math.round(value * 100)}\u202f%`;
export const count = (value) => value.toLocaleString("en-GB").replaceAll(",", "\u202f");
export const many = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

/** "a, b and c". */
export function list(names) {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

const CHANNELS = { lexical: "words", dense: "meaning" };

/** What a list is called: `wiki/dense` is "meaning in wiki". */
export function channel(name) {
  const at = name.lastIndexOf("/");
  const known = CHANNELS[name.slice(at + 1)] ?? name.slice(at + 1);
  return at < 0 ? known : `${known} in ${name.slice(0, at)}`;
}

/** Which channel a list is of, for its colour. */
export function channelOf(name) {
  return CHANNELS[name.slice(name.lastIndexOf("/") + 1)] ?? "other";
}

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
