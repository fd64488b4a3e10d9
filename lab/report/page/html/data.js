// The page's data: gzip and base64 in the page, plain objects and typed arrays here.

/** Element with attributes and children; text children are text, never markup. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function bytes(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

const KINDS = { B: Uint8Array, H: Uint16Array, I: Uint32Array, f: Float32Array, d: Float64Array };

/** The numbers that `packed` wrote: a letter for their type, then base64 of little-endian bytes. */
function unpack(packed) {
  return new KINDS[packed[0]](bytes(packed.slice(1)).buffer);
}

/** The same for every column of a table, once. */
function unpackColumns(table) {
  for (const [key, packed] of Object.entries(table)) if (typeof packed === "string") table[key] = unpack(packed);
}

async function unzip(id) {
  const stream = new Blob([bytes(document.getElementById(id).textContent.trim())]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).text();
}

/** Decode the explorer's part once, in place. */
function decode(data) {
  const values = Float64Array.from(data.scores.values);
  data.scores = Float64Array.from(unpack(data.scores.codes), (code) => values[code]);
  data.complete = unpack(data.complete);
  if (data.causes) data.causes.codes = unpack(data.causes.codes);
  Object.values(data.rankings).forEach(unpackColumns);
  Object.values(data.curves).forEach(unpackColumns);
  const questions = data.questions.id.length;
  data.piecesOf = Array.from({ length: questions }, () => []);
  data.pieces.query.forEach((query, piece) => data.piecesOf[query].push(piece));
  data.place = new Map(data.questions.id.map((id, place) => [id, place]));
  data.systemPlace = new Map(data.systems.name.map((name, place) => [name, place]));
  data.haystack = data.questions.id.map((id, q) => `${id} ${data.questions.text[q]} ${data.questions.answer[q]}`.toLowerCase());
  return data;
}

function score(data, system, question, metric) {
  return data.scores[(system * data.questions.id.length + question) * data.metrics.length + metric];
}

function completeRank(data, system, piece) {
  return data.complete[system * data.pieces.query.length + piece];
}

/** What lost a piece under a system: its name, empty for a hit; null where the run knows no causes. */
function causeOf(data, system, piece) {
  return data.causes ? data.causes.names[data.causes.codes[system * data.pieces.query.length + piece]] : null;
}

/** Characters [start, end) of a document. Offsets count code points, so a segment is split into those once. */
function textOf(data, doc, start, end) {
  for (const segment of data.documents.segments[doc]) {
    if (segment.length === 2) segment.push(Array.from(segment[1]));
    if (segment[0] <= start && start < segment[0] + segment[2].length) {
      return segment[2].slice(start - segment[0], end - segment[0]).join("");
    }
  }
  return null;
}

function number(value, digits = 3) {
  return Number.isNaN(value) || value === null || value === undefined ? "–" : value.toFixed(digits);
}

function signed(value, digits = 3) {
  return Math.abs(value) < 5e-7 ? "0" : (value > 0 ? "+" : "−") + Math.abs(value).toFixed(digits);
}
