// --- beside the run: the same actions in another variant, or another run

const other = run.comparison;
const otherName = other && (other.property ? `${other.property} (${other.variant})` : other.variant);
const otherLanes = new Map((other?.lanes ?? []).map((lane) => [lane.name, lane]));
const otherStateAt = other && statesBy(textsOf(other.lanes), (state) => new Map(state), applyTexts, other.steps, () => other.steps);

/** Whether the page compares the runs at a position: both have it. */
const isCompared = (position) => other !== null && position <= other.steps.length && !isAway(position);

/** The fields that both runs have and that differ: [field, value here, value there]. */
function differences(here, there) {
  return Object.keys(here ?? {}).filter((field) => there !== undefined && Object.hasOwn(there, field) && here[field] !== there[field])
    .map((field) => [field, here[field], there[field]]);
}

/** The objects that differ at some position, and the first position with a difference; null if there is none. */
function compareRuns() {
  const [here, there] = [textsOf(run.lanes), textsOf(other.lanes)];
  const found = new Set();
  let first = null;
  const compare = (named, position) => {
    for (const name of named) {
      if (!otherLanes.has(name) || !differences(here.get(name), there.get(name)).length) continue;
      found.add(name);
      first ??= position;
    }
  };
  compare(otherLanes.keys(), 0);
  other.steps.slice(0, run.steps.length).forEach((step, n) => {
    applyTexts(here, run.steps[n]);
    applyTexts(there, step);
    compare(new Set([...run.steps[n].firings, ...step.firings].map((firing) => firing.object)), n + 1);
  });
  return { found, first };
}

const compared = other && compareRuns();

/** The second row of an object that differs somewhere. */
function otherRow(lane, positions, states) {
  if (!other || leaving || !compared.found.has(lane.name)) return [];
  const cells = positions.map((position, n) => {
    const place = position === now ? " here" : "";
    if (!isCompared(position)) return make("td", { className: `beside${place}` }, "–");
    const there = otherStateAt(position).get(lane.name);
    const unlike = differences(states[n].get(lane.name), there);
    const lines = unlike.map(([field, , value]) => make("li", {}, `≠ ${field === "state" ? "" : `${field} `}${value}`));
    const same = unlike.some(([field]) => field === "state") ? "" : there.state ?? "";
    return make("td", { className: `beside${place}${unlike.length ? " differs" : ""}` }, same, lines.length ? make("ul", {}, ...lines) : "");
  });
  return [make("tr", { className: "beside" }, make("th", { scope: "row" }, `${lane.name} in ${otherName}`), ...cells)];
}

const MOST_ROWS = 20; // steps side by side

/** The steps of two runs side by side, near the present one if they are many. */
function stepsSideBySide() {
  const all = Math.max(run.steps.length, other.steps.length);
  const from = Math.max(0, Math.min(now - MOST_ROWS / 2, all - MOST_ROWS)), to = Math.min(all, from + MOST_ROWS);
  const says = (step) => step?.says ?? "–";
  const rows = Array.from({ length: to - from }, (_, n) => from + n).map((n) => {
    const [here, there] = [run.steps[n], other.steps[n]];
    const isUnlike = says(here) !== says(there);
    const number = n < run.steps.length ? make("button", { type: "button", className: "link", onclick: () => go(n + 1, selected) }, String(n + 1)) : String(n + 1);
    return make("tr", { className: n + 1 === now ? "here" : "" }, make("th", { scope: "row", ...(n + 1 === now ? { "aria-current": "step" } : {}) }, number), make("td", {}, says(here)),
      make("td", { className: isUnlike ? "differs" : "" }, `${isUnlike ? "≠ " : ""}${says(there)}`));
  });
  const title = to - from < all ? `Steps ${from + 1} to ${to} of ${all}` : "Steps";
  return table("Steps side by side", title, ["step", `this run (${run.variant})`, otherName], rows);
}

function table(label, title, heads, rows) {
  return make("div", { className: "scroll", role: "group", "aria-label": label, tabIndex: 0 }, make("table", {}, make("caption", {}, title),
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, ...rows)));
}

const countedSteps = (number) => number === 1 ? "1 step" : `${number} steps`;

/** What both runs have in common, and where they differ now. */
function renderComparison() {
  const isShown = other !== null && leaving === null;
  byId("comparison-pane").hidden = byId("differs-key").hidden = !isShown;
  if (!isShown) return;
  byId("comparison-title").textContent = other.property ? `Beside it: the run of ${otherName}` : `Beside it: the same actions in ${otherName}`;
  byId("differs-key").textContent = `≠ differs in ${otherName}`;
  const count = other.steps.length;
  const lines = [compared.first === null
    ? `As far as both go, the ${other.property ? "objects that both runs have" : "two runs"} are the same: ${countedSteps(Math.min(count, run.steps.length))}.`
    : compared.first === 0 ? "The two runs differ from the start." : `The two runs differ from step ${compared.first} on.`];
  if (other.property) lines.push(`This run has ${countedSteps(run.steps.length)}, the other one ${countedSteps(count)}. Objects with the same name are compared, step by step.`);
  if (other.stops) lines.push(`In ${otherName} the run cannot take step ${count + 1}, “${run.steps[count].says}”: ${other.stops}.`);
  const unlike = isCompared(now)
    ? run.lanes.flatMap((lane) => differences(stateAt(now).get(lane.name), otherStateAt(now).get(lane.name)).map((each) => [lane.name, ...each])) : [];
  const cells = unlike.map(([name, field, here, there]) => make("tr", { className: "unlike" }, make("th", { scope: "row" }, pick(name), `.${field}`), make("td", {}, here), make("td", { className: "differs" }, `≠ ${there}`)));
  const differing = unlike.length ? table("What differs", `What differs at ${now ? `step ${now}` : "the start"}`, ["field", other.property ? `this run (${run.variant})` : run.variant, otherName], cells)
    : make("p", { className: "line" }, isCompared(now) ? "Nothing differs here." : `The run in ${otherName} has ended before.`);
  byId("comparison").replaceChildren(...lines.map((line) => make("p", {}, line)), differing, other.property ? stepsSideBySide() : "");
}

