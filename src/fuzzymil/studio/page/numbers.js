// Numbers as text, scales and ticks.

/**
 * A number with a few significant digits, as the library prints it.
 * @param {number | null | undefined} value
 * @param {number} [digits]
 */
export function show(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const text = Number(value.toPrecision(digits)).toString();
  return text.replace("-", "−");
}

/**
 * A number with its sign.
 * @param {number} value
 * @param {number} [digits]
 */
export const signed = (value, digits = 3) => (value > 0 ? "+" : "") + show(value, digits);

/**
 * A degree or a share from 0 to 1 with two decimals.
 * @param {number | null | undefined} value
 */
export function degree(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value > 0 && value < 0.005) return "<0.01";
  return value.toFixed(2);
}

/** @param {number} value */
export const percent = (value) => `${(100 * value).toFixed(1)}%`;

/**
 * A count with its noun: "1 bag", "1,204 bags".
 * @param {number} count
 * @param {string} noun
 * @param {string} [plural]
 */
export const counted = (count, noun, plural = `${noun}s`) =>
  `${count.toLocaleString("en-US")} ${count === 1 ? noun : plural}`;

/**
 * Read a number that a person typed; a decimal comma and a typographic minus are understood.
 * @param {string} text
 * @returns {number | null}
 */
export function typed(text) {
  const plain = text
    .trim()
    .replace("−", "-")
    .replace(/^([+-]?\d*),(\d+)$/, "$1.$2");
  const value = Number(plain);
  return plain === "" || !Number.isFinite(value) ? null : value;
}

/**
 * @typedef {((value: number) => number) & {invert: (place: number) => number, low: number, high: number}} Scale
 */

/**
 * Map values from low to high onto places from start to end.
 * @param {number} low
 * @param {number} high
 * @param {number} start
 * @param {number} end
 * @returns {Scale}
 */
export function linear(low, high, start, end) {
  const top = high > low ? high : low + 1;
  const scale = (/** @type {number} */ value) => start + ((value - low) / (top - low)) * (end - start);
  const invert = (/** @type {number} */ place) => low + ((place - start) / (end - start)) * (top - low);
  return Object.assign(scale, { invert, low, high: top });
}

/**
 * Round values between two ends, about as many as wanted.
 * @param {number} low
 * @param {number} high
 * @param {number} [wanted]
 * @returns {number[]}
 */
export function ticks(low, high, wanted = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= rough * 0.999) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}

/**
 * Smallest and greatest of numbers; nothing (null) is passed over.
 * @param {Iterable<number | null>} values
 * @returns {[number, number]}
 */
export function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null || Number.isNaN(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}
