// SPDX-License-Identifier: Apache-2.0
// Numbers are kept as the decimal text that the JSON has: what a table shows was never a float.

// Every number becomes a string; everything else is what JSON says.
function read_exact(json) {
  const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
  return JSON.parse(json.replace(token, (found) => (found[0] === '"' ? found : `"${found}"`)));
}

function is_number(text) {
  return typeof text === 'string' && /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text);
}

// {value, places}: value * 10^-places.
function scaled(text) {
  const [digits, exponent = '0'] = text.toLowerCase().split('e');
  const [whole, fraction = ''] = digits.split('.');
  const places = fraction.length - Number(exponent);
  const value = BigInt(whole + fraction);
  return places < 0 ? { value: value * 10n ** BigInt(-places), places: 0 } : { value, places };
}

function decimal(value, places) {
  const sign = value < 0n ? '-' : '';
  const digits = String(value < 0n ? -value : value).padStart(places + 1, '0');
  if (places === 0) return sign + digits;
  return `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

// The exact sum of decimals.
function sum_text(texts) {
  const numbers = texts.map(scaled);
  const places = Math.max(0, ...numbers.map((each) => each.places));
  let sum = 0n;
  for (const each of numbers) sum += each.value * 10n ** BigInt(places - each.places);
  return decimal(sum, places);
}

function trimmed(text) {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

// 100 * part / whole with one decimal, of decimals of the same unit.
function percent_text(part, whole) {
  const of = Number(whole);
  return of === 0 ? '0.0' : ((100 * Number(part)) / of).toFixed(1);
}

const kTimeUnits = [['s', 12], ['ms', 9], ['us', 6], ['ns', 3], ['ps', 0]];

// The largest unit in which `ps` picoseconds are at least one, and its power of ten.
function time_unit(ps) {
  return kTimeUnits.find(([, power]) => Math.abs(ps) >= 10 ** power) || kTimeUnits[4];
}

// Whole picoseconds in a unit that people read, without rounding.
function time_text(ps) {
  const [unit, power] = time_unit(Number(ps));
  const { value, places } = scaled(ps);
  return `${trimmed(decimal(value, power + places))} ${unit}`;
}

// The same with four significant digits, for labels.
function short_time(ps) {
  const [unit, power] = time_unit(Number(ps));
  return `${short_number(Number(ps) / 10 ** power)} ${unit}`;
}

function short_number(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-6) return value.toExponential(2);
  return size >= 1000 ? grouped(String(Math.round(value))) : String(Number(value.toPrecision(4)));
}

function grouped(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

const kByteUnits = [['TiB', 40], ['GiB', 30], ['MiB', 20], ['KiB', 10]];

function byte_unit(bytes) {
  return kByteUnits.find(([, power]) => bytes >= 2 ** power) || ['B', 0];
}

function short_bytes(bytes) {
  const [unit, power] = byte_unit(bytes);
  return `${short_number(bytes / 2 ** power)} ${unit}`;
}

// "64B", "4KiB": sizes as names of metrics spell them. Null if it is none.
function size_of(name) {
  const found = /^(\d+)(B|KiB|MiB|GiB)$/.exec(name);
  if (found === null) return null;
  const power = { B: 0, KiB: 10, MiB: 20, GiB: 30 }[found[2]];
  return Number(found[1]) * 2 ** power;
}

// A name of the JSON for people.
function words(name) {
  return String(name).replace(/_/g, ' ');
}
