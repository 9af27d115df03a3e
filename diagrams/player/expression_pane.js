// --- the reader's expression

let expression = null; // the one that the page shows, as `readExpression` reads it

const MOST_AT_ALL = 20_000; // evaluations of an expression at all steps

const expressionAt = (position) => valueText(expression, momentAt(position, expression.isOfStep), run.vocabulary);

/** Reads the text, and shows its value or the mistake in it. Empty text shows none. */
function useExpression(text) {
  const input = byId("expression");
  let problem = "", marked = "";
  expression = null;
  try {
    if (text.trim()) expression = readExpression(text, run.vocabulary);
  } catch (error) {
    problem = error instanceof Mistake ? error.message : error instanceof RangeError ? "The expression is too long; write a shorter one." : null;
    if (problem === null) throw error;
    if (error instanceof Mistake) marked = excerpt(text, error.at);
  }
  if (input.value !== text && document.activeElement !== input) input.value = text; // a reader who types goes on when a live run does
  input.setAttribute("aria-invalid", String(problem !== ""));
  byId("expression-problem").textContent = problem;
  byId("expression-excerpt").textContent = marked;
  byId("expression-excerpt").hidden = !marked;
}

/** Positions in words: "the start, steps 4, 7 to 9". */
function positionWords(positions) {
  const ranges = [];
  for (const position of positions.filter((each) => each > 0)) {
    const range = ranges[ranges.length - 1];
    if (range?.[1] === position - 1) range[1] = position; else ranges.push([position, position]);
  }
  const texts = ranges.map(([from, to]) => from === to ? `${from}` : to === from + 1 ? `${from}, ${to}` : `${from} to ${to}`);
  const isOne = ranges.length === 1 && ranges[0][0] === ranges[0][1];
  return [positions.includes(0) ? "the start" : "", texts.length ? `step${isOne ? "" : "s"} ${texts.join(", ")}` : ""].filter(Boolean).join(" and ");
}

/** The value at the present step; of a formula also where it is true, among the drawn steps if it is costly. */
function resultWords() {
  const here = expressionAt(now) || "not evaluated";
  if (expression.type.kind !== "bool") return `${here} here`;
  const isCostly = expression.cost * (last + 1) > MOST_AT_ALL;
  const positions = isCostly ? visible() : Array.from({ length: last + 1 }, (_, n) => n);
  const words = positionWords(positions.filter((position) => expressionAt(position) === "true"));
  return `${here} here; true at ${words || "no step"}${isCostly ? ", of the steps shown above" : ""}`;
}

/** The value of the expression at the present step, with its parts. */
function renderExpression() {
  const box = byId("expression-value");
  byId("expression-result").textContent = expression ? resultWords() : "";
  if (!expression) return box.replaceChildren();
  const partAt = (position) => partsOf(expression, momentAt(position, expression.isOfStep), run.vocabulary);
  const from = expression.cost * (now + 1) <= MOST_AT_ALL ? 0 : now; // a costly one is not computed at the steps before
  let part = null;
  for (let position = from; position <= now; position++) part = continued(part, partAt(position), position);
  box.replaceChildren(make("ul", {}, partItem(part, true, "e", " ← makes it false")));
}

function expressionRow(positions) {
  const cells = positions.map((position) => {
    const value = expressionAt(position);
    const color = expression.type.kind !== "bool" ? "" : value === "true" ? "true" : value ? "false" : "";
    const mark = color === "true" ? "✓ true" : color === "false" ? `✗ ${value}` : value || "–";
    return make("td", { className: `${color} ${position === now ? "here" : ""}`.trim() }, mark);
  });
  return make("tr", { className: "expression" }, make("th", { scope: "row" }, "Your expression"), ...cells);
}

/** What an expression may say of this run. */
function renderHelp() {
  const codes = run.examples.flatMap((each, n) => [n ? ", " : "For example: ", make("code", {}, each)]);
  byId("expression-examples").replaceChildren(...codes, codes.length ? "." : "");
  byId("expression-words").replaceChildren(...Object.entries(run.vocabulary.sorts).map(([sort, words]) => {
    const state = words.states.length ? `state (${words.states.join(", ")})` : "", fields = Object.keys(words.fields), events = Object.keys(words.events);
    const has = [[state, ...fields].filter(Boolean).join(", "), events.length ? `events ${events.join(", ")}` : ""].filter(Boolean);
    return make("li", {}, `${sort} (${words.objects.join(", ")}): ${has.join("; ")}.`);
  }));
}

byId("expression-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useExpression(byId("expression").value);
  go(now, selected);
}, listening);

