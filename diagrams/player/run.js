// The run: what the page shows of it, and its states. All text becomes text nodes, never markup.

const run = JSON.parse(document.getElementById("data").textContent);
// A page that goes on to play another run says so by the event "run".
const stop = new AbortController();
const listening = { signal: stop.signal };
document.addEventListener("run", () => stop.abort(), listening);
const byId = (id) => document.getElementById(id);
const SNAPSHOT = 100; // positions from one stored state to the next
const allLanes = [...run.lanes, ...run.branches.lanes];
const names = allLanes.map((lane) => lane.name);
const movers = new Set(run.steps.flatMap((step) => step.firings.map((firing) => firing.object)));
let steps = run.steps; // the steps that the page shows
let last = steps.length;
let now = 0;
let selected = violating() ?? names.find((name) => movers.has(name)) ?? names[0] ?? "";
const opened = new Map(); // parts of formulas that the reader has opened or closed: path -> is open

/** The first object that the violation names: a value of the formula's variables, or a word of what the run shows. */
function violating() {
  const values = run.formulas.flatMap((formula) => formula.bound.map(({ value }) => value));
  return [...values, ...run.problem.split(/[^\p{L}\p{N}_.-]+/u)].find((each) => names.includes(each));
}

/** An element with properties, attributes ("aria-" and "data-" names) and children, which may be strings. */
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name.includes("-") || name === "role" || name === "scope" || name === "colspan") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

// --- states: one snapshot of each SNAPSHOT positions, and the changes from there

/** The states at positions: `apply` changes a state by a step, `copy` copies one; `shown` gives the steps that the page shows. */
function statesBy(initial, copy, apply, all = run.steps, shown = () => steps) {
  const snapshots = [initial];
  const current = copy(initial);
  all.forEach((step, n) => {
    apply(current, step);
    if ((n + 1) % SNAPSHOT === 0) snapshots.push(copy(current));
  });
  return (position) => {
    const base = Math.floor(Math.min(position, leaving?.position ?? position) / SNAPSHOT);
    const state = copy(snapshots[base]);
    for (let n = base * SNAPSHOT; n < position; n++) apply(state, shown()[n]);
    return state;
  };
}

const textsOf = (lanes) => new Map(lanes.map((lane) => [lane.name, lane.initial]));

function applyTexts(state, step) {
  for (const firing of step.firings) {
    for (const [field, [, after]] of Object.entries(firing.changes)) {
      if (state.has(firing.object)) state.set(firing.object, { ...state.get(firing.object), [field]: after });
    }
  }
}

/** The fields of each object at a position, as text. */
const stateAt = statesBy(textsOf(allLanes), (state) => new Map(state), applyTexts);

/** The state of the model at a position, as expressions read it. */
const slotsAt = statesBy(run.vocabulary.initial, (state) => [...state], (state, step) => {
  for (const [slot, value] of step.writes) state[slot] = value;
});

/** What an expression reads at a position: its state, or the step that leads to it. */
function momentAt(position, isOfStep) {
  const step = position > 0 ? steps[position - 1] : null;
  const isStep = isOfStep && step !== null && !step.ill_formed;
  return isStep
    ? { state: slotsAt(position - 1), after: slotsAt(position), fired: step.firings, parameters: step.parameters, bound: {} }
    : { state: slotsAt(position), after: null, fired: null, parameters: null, bound: {} };
}

/** The changed fields of an object in the step that leads to a position: [field, before, after]. */
function changesOf(name, position) {
  if (position === 0) return [];
  const firings = steps[position - 1].firings.filter((firing) => firing.object === name);
  return firings.flatMap((firing) => Object.entries(firing.changes).map(([field, [before, after]]) => [field, before, after]));
}

/** The value of a part of a formula at a position. */
function valueAt(part, position) {
  let low = 0, high = part.values.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (part.values[middle][0] <= position) low = middle; else high = middle - 1;
  }
  return part.values[low][1];
}

