// --- the same actions in another variant

const other = run.comparison;
const otherLanes = new Map((other?.lanes ?? []).map((lane) => [lane.name, lane]));
const otherStateAt = other && statesBy(textsOf(other.lanes), (state) => new Map(state), applyTexts, other.steps, () => other.steps);

/** Whether the page compares the runs at a position: both have it. */
const isCompared = (position) => other !== null && position <= other.steps.length && !isAway(position);

/** The fields that both variants have and that differ: [field, value here, value there]. */
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
  other.steps.forEach((step, n) => {
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
  return [make("tr", { className: "beside" }, make("th", { scope: "row" }, `${lane.name} in ${other.variant}`), ...cells)];
}

/** What both runs have in common, and where they differ now. */
function renderComparison() {
  byId("comparison-pane").hidden = other === null || leaving !== null;
  if (byId("comparison-pane").hidden) return;
  const count = other.steps.length;
  const lines = [compared.first === null
    ? `As far as both go, the two runs are the same: ${count === 1 ? "1 step" : `${count} steps`}.`
    : compared.first === 0 ? "The two runs differ from the start." : `The two runs differ from step ${compared.first} on.`];
  if (other.stops) lines.push(`In ${other.variant} the run cannot take step ${count + 1}, “${run.steps[count].says}”: ${other.stops}.`);
  const unlike = isCompared(now)
    ? run.lanes.flatMap((lane) => differences(stateAt(now).get(lane.name), otherStateAt(now).get(lane.name)).map((each) => [lane.name, ...each])) : [];
  const cells = unlike.map(([name, field, here, there]) => make("tr", {}, make("th", { scope: "row" }, pick(name), `.${field}`), make("td", {}, here), make("td", { className: "differs" }, `≠ ${there}`)));
  const titles = ["field", run.variant, other.variant].map((title) => make("th", { scope: "col" }, title));
  byId("comparison").replaceChildren(...lines.map((line) => make("p", {}, line)),
    unlike.length ? make("div", { className: "scroll", role: "group", "aria-label": "What differs", tabIndex: 0 }, make("table", {}, make("caption", {}, `What differs at ${now ? `step ${now}` : "the start"}`), make("thead", {}, make("tr", {}, ...titles)), make("tbody", {}, ...cells)))
      : make("p", { className: "line" }, isCompared(now) ? "Nothing differs here." : `The run in ${other.variant} has ended before.`));
}

