// --- steps that the run does not take

let leaving = null; // where the shown steps leave the run: { position, path }, with the positions of the steps taken there

const isAway = (position) => leaving !== null && position > leaving.position;

/** The enabled steps at a position; null where the page does not have them. */
function enabledAt(position) {
  if (!isAway(position)) return run.branches.states[run.branches.positions[position]] ?? null;
  const before = enabledAt(position - 1);
  return run.branches.states[before[leaving.path[position - leaving.position - 1]].state] ?? null;
}

/** Leaves the run at a position by a path of enabled steps, as far as there are such steps. */
function leave(position, path) {
  leaving = null;
  steps = run.steps;
  if (path.length && position >= 0 && position <= run.steps.length) {
    leaving = { position, path: [] };
    const taken = [];
    for (const number of path) {
      const next = enabledAt(position + taken.length)?.[number];
      if (next === undefined) break;
      taken.push(run.branches.steps[next.step]);
      leaving.path.push(number);
    }
    if (taken.length) steps = [...run.steps.slice(0, position), ...taken]; else leaving = null;
  }
  last = steps.length;
}

/** Takes an enabled step at the present position. */
function take(number) {
  if (!isAway(now) && number === run.branches.run_steps[now]) leave(0, []);
  else if (isAway(now)) leave(leaving.position, [...leaving.path.slice(0, now - leaving.position), number]);
  else leave(now, [number]);
  go(now + 1, selected);
  byId(leaving ? "rejoin" : "forward").focus();
}

/** Goes back to where the shown steps leave the run. */
function rejoin() {
  if (!leaving) return;
  const { position } = leaving;
  const hadFocus = document.activeElement === byId("rejoin");
  leave(0, []);
  go(Math.min(now, position), selected);
  if (hadFocus) byId("forward").focus();
}

const formulaTexts = new Map(); // the text of a formula of the property -> the expression, or null if the page refuses it

/** A formula of the property, its expression, and what it reads at a position; null where it is not evaluated. */
function formulaMoment(formula, position) {
  const step = steps[position - 1];
  if (formula.actions !== null && (step.ill_formed || !formula.actions.includes(step.action))) return null;
  if (!formulaTexts.has(formula.text)) {
    try {
      formulaTexts.set(formula.text, readExpression(formula.text, run.vocabulary));
    } catch (error) {
      if (!(error instanceof Mistake)) throw error;
      formulaTexts.set(formula.text, null);
    }
  }
  const read = formulaTexts.get(formula.text);
  return read && { read, moment: momentAt(position, formula.actions !== null) };
}

/** The value of a formula of the property at a position. */
function formulaAt(formula, position) {
  if (!isAway(position)) return valueAt(formula.part, position);
  const found = formulaMoment(formula, position);
  return found ? valueText(found.read, found.moment, run.vocabulary) : "";
}

/** A formula of the property with its parts at the present position. */
function formulaPart(formula) {
  if (!isAway(now)) return formula.part;
  if (!formulaMoment(formula, now)) return { ...formula.part, values: [[0, ""]], parts: [], fields: [] };
  let part = formula.part;
  for (let position = leaving.position + 1; position <= now; position++) {
    const found = formulaMoment(formula, position);
    if (found) part = continued(part, partsOf(found.read, found.moment, run.vocabulary, formula.part.required), position);
  }
  return part;
}

/** What a step changes, in words. */
function changedFields(step) {
  return step.firings.map((firing) => {
    const fields = Object.entries(firing.changes).map(([field, [before, after]]) => `${field} ${before} → ${after}`);
    return fields.length ? `${firing.object}: ${fields.join(", ")}` : "";
  }).filter(Boolean);
}

function nextItem(enabled, number) {
  const step = run.branches.steps[enabled.step];
  const isTaken = !isAway(now) && number === run.branches.run_steps[now];
  const effect = step.ill_formed ? `ill-formed: ${step.ill_formed}` : changedFields(step).join("; ") || "nothing changes";
  return make("li", { className: isTaken ? "taken" : "" },
    make("button", { type: "button", className: "link", onclick: () => take(number) }, step.says),
    isTaken ? make("strong", {}, " (the run takes it)") : "", make("div", { className: "line" }, effect));
}

/** How far the page goes from here, before the reader chooses. */
function reachWords(enabled, taken) {
  const others = enabled.filter((_, n) => n !== taken), ends = others.filter((each) => each.state === null).length;
  const end = ends === 0 ? "" : ends < others.length ? "; after some of these it goes no further" : taken === null ? "; after these it goes no further" : "; after these, but for the run's own, it goes no further";
  return make("p", { className: "line" }, run.branches.limit || `The page has steps up to ${run.branches.depth} away from the run${end}.`);
}

let showsAll = false;
const MOST_LISTED = 12;

function renderNext() {
  byId("rejoin").hidden = leaving === null;
  byId("away").hidden = leaving === null;
  if (leaving) byId("away").textContent = `↳ These steps leave the run after ${leaving.position ? `step ${leaving.position}` : "the start"}. Press Escape to go back to the run.`;
  byId("next-pane").hidden = run.branches.depth === 0;
  const enabled = enabledAt(now);
  const box = byId("next");
  if (enabled === null) {
    const isFar = isAway(now) && now - leaving.position >= run.branches.depth;
    const limit = `The page goes ${run.branches.depth === 1 ? "1 step" : `${run.branches.depth} steps`} away from the run.`;
    return box.replaceChildren(make("p", {}, isFar ? limit : run.branches.limit || "The page would be too large with the steps that are enabled here."));
  }
  if (!enabled.length) return box.replaceChildren(make("p", {}, run.branches.limit ? "No action of these objects is enabled." : "No action is enabled: this is a deadlock."));
  const number = enabled.length === 1 ? "1 step is" : `${enabled.length} steps are`;
  const taken = isAway(now) ? null : run.branches.run_steps[now] ?? null;
  const order = enabled.map((_, n) => n).sort((a, b) => (b === taken) - (a === taken)); // the run's own step first
  const listed = showsAll ? order : order.slice(0, MOST_LISTED);
  const showAll = () => {
    showsAll = true;
    renderNext();
    box.querySelectorAll("li button")[MOST_LISTED].focus();
  };
  const more = order.length > listed.length ? make("button", { type: "button", onclick: showAll }, `Show all ${order.length}`) : "";
  const items = listed.map((n) => nextItem(enabled[n], n));
  box.replaceChildren(make("p", {}, run.branches.limit ? "Enabled here:" : `${number} enabled here:`), reachWords(enabled, taken), make("ul", {}, ...items), more);
}

