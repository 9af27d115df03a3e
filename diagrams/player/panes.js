// --- citations

/** "line 12", which opens to the line's text where it is known, and a link to the line on the page of the document where there is one. */
function cite(line, fact) {
  const label = line !== null ? `line ${line}` : fact ? `fact ${fact}` : "";
  const text = line !== null ? run.quotes[line] : run.facts[fact];
  const href = line !== null ? run.links[line] : undefined;
  if (!label) return "";
  if (!text) return make("span", { className: "line" }, " (", href ? make("a", { href }, label) : label, ")");
  const title = line !== null ? `${run.document}, ${label}` : label;
  const details = make("details", { className: "cite" }, make("summary", {}, label), make("q", { title }, text));
  const link = href ? make("a", { href, className: "place", "aria-label": `${label} in the document`, title: `${run.document}, ${label}` }, "↗") : "";
  return make("span", {}, " ", details, href ? " " : "", link); // the spaces belong to no button
}

function pick(name) {
  return names.includes(name)
    ? make("button", { type: "button", className: "link", onclick: () => go(now, name) }, name)
    : name;
}

// --- the panes

function describe() {
  if (now === 0) return last ? `Start, before step 1 of ${last}.` : "The initial state. The run has no steps.";
  const step = steps[now - 1];
  const changed = changedFields(step);
  const effect = step.ill_formed ? `The step is ill-formed: ${step.ill_formed}` : changed.length ? `Changes: ${changed.join("; ")}` : "Nothing changes";
  return [make("strong", {}, isAway(now) ? `Step ${now}, which is not of the run: ${step.says}.` : `Step ${now} of ${last}: ${step.says}.`), ` ${effect}. ${verdictAt(now)}`];
}

function verdictAt(position) {
  const required = run.formulas.filter((formula) => formula.part.required !== null);
  return required.map((formula) => {
    const value = formulaAt(formula, position);
    return value === "true" ? "The property is true here." : value ? "The property is violated here." : "";
  }).join(" ");
}

function renderLoop() {
  const box = byId("loop");
  box.hidden = run.loops_from === null || leaving !== null;
  if (box.hidden) return;
  const first = run.loops_from + 1;
  const text = first > last
    ? "The run may stay in the final state for ever."
    : `Loop: steps ${first} to ${last} repeat for ever. After step ${last} the run is back where it was before step ${first}.`;
  const inside = first <= last && now >= run.loops_from;
  box.replaceChildren("↻ ", text, inside ? " You are in the loop." : "");
}

const isNarrow = matchMedia("(max-width: 45rem)");

/** The positions whose columns are drawn: those near the present one that fit. */
function visible() {
  const width = byId("lanes-box").clientWidth || 800;
  const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
  // As player.css has the columns: in a narrow window they share the width.
  const number = isNarrow.matches ? Math.max(2, Math.floor((width - 5 * size) / (7 * size))) : Math.max(3, Math.floor((width - 6 * size) / (9 * size)));
  const from = Math.max(0, Math.min(now - Math.floor(number / 2), last + 1 - number));
  return Array.from({ length: Math.min(number, last + 1) }, (_, n) => from + n);
}

function columnTitle(position) {
  const looped = isAway(position) ? "↳ " : run.loops_from !== null && position > run.loops_from && !leaving ? "↻ " : "";
  const label = position === 0 ? "Start" : `${looped}Step ${position}`;
  const button = make("button", { type: "button", onclick: () => go(position, selected) }, label);
  if (position === now) button.setAttribute("aria-current", "step");
  const says = position ? make("div", { className: "says" }, steps[position - 1].says) : "";
  return make("th", { scope: "col", className: position === now ? "here" : "" }, button, says);
}

function cell(name, position, state) {
  const changed = changesOf(name, position);
  const classes = [position === now ? "here" : "", changed.length ? "changed" : ""].join(" ").trim();
  const fields = state.get(name);
  const lines = changed.map(([field, before, after]) => make("li", {}, `● ${field === "state" ? "" : `${field} `}${before} → ${after}`));
  const unchanged = changed.some(([field]) => field === "state") ? "" : fields.state ?? "";
  return make("td", { className: classes }, unchanged, lines.length ? make("ul", {}, ...lines) : "");
}

function formulaRow(formula, positions) {
  const cells = positions.map((position) => {
    const value = formulaAt(formula, position);
    const color = formula.part.required === null ? "" : value === "true" ? "true" : value ? "false" : "";
    const mark = color === "true" ? "✓ true" : color === "false" ? `✗ ${value}` : value || "–";
    return make("td", { className: `${color} ${position === now ? "here" : ""}`.trim() }, mark);
  });
  return make("tr", { className: "formula" }, make("th", { scope: "row" }, formula.title), ...cells);
}

function renderLanes() {
  const positions = visible();
  const states = positions.map(stateAt);
  const moved = new Set(leaving ? steps.slice(leaving.position).flatMap((step) => step.firings.map((firing) => firing.object)) : []);
  const lanes = [...run.lanes, ...run.branches.lanes.filter((lane) => lane.name === selected || moved.has(lane.name))];
  const rows = lanes.flatMap((lane) => [make("tr", {},
    make("th", { scope: "row" },
      make("button", { type: "button", "aria-pressed": String(lane.name === selected), "data-object": lane.name,
        onclick: () => go(now, lane.name) }, lane.name), make("div", { className: "says" }, lane.text)),
    ...positions.map((position, n) => cell(lane.name, position, states[n]))), ...otherRow(lane, positions, states)]);
  const [from, to] = [positions[0], positions[positions.length - 1]];
  const caption = make("caption", { className: "line" },
    make("span", {}, to - from < last ? `${from ? `Step ${from}` : "Start"} to step ${to} of ${last}` : "All steps"));
  const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Object"), ...positions.map(columnTitle)));
  const body = make("tbody", {}, ...rows, ...run.formulas.map((formula) => formulaRow(formula, positions)), ...(expression ? [expressionRow(positions)] : []));
  keepingFocus(byId("lanes"), () => byId("lanes").replaceChildren(caption, head, body));
  reveal(byId("lanes-box"), byId("lanes").querySelector("th.here"), byId("lanes").querySelector("tbody th")?.offsetWidth ?? 0);
}

/** Scrolls a box sideways, and not the page, so that an element in it is seen right of what sticks to its edge. */
function reveal(box, element, stuck = 0) {
  if (!element) return;
  const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
  if (inner.right > outer.right) box.scrollLeft += inner.right - outer.right;
  if (inner.left < outer.left + stuck) box.scrollLeft += inner.left - outer.left - stuck;
}

/** Redraws, and puts the focus back on the button of the same object or of the present step. */
function keepingFocus(root, redraw) {
  const had = root.contains(document.activeElement) ? document.activeElement : null;
  const object = had?.dataset.object;
  redraw();
  if (!had) return;
  const buttons = [...root.querySelectorAll("button")];
  const next = object !== undefined ? buttons.find((each) => each.dataset.object === object) : root.querySelector("[aria-current]");
  next?.focus();
}

function renderWhy() {
  if (now === 0) return byId("why").replaceChildren(make("p", {}, "The initial state has no cause. Go forward to the first step."));
  const step = steps[now - 1];
  const effects = (cause) => {
    const items = step.firings.map((firing, n) => [firing, n]).filter(([firing]) => firing.cause.firing === cause);
    return items.length ? make("ul", {}, ...items.map(([firing, n]) => firingItem(firing, effects(n)))) : "";
  };
  byId("why").replaceChildren(make("ul", {}, make("li", {},
    make("strong", {}, `action ${step.action}`), `: ${step.says}`, cite(step.line, step.fact),
    step.ill_formed ? make("p", {}, `No state follows: ${step.ill_formed}.`) : effects(null))));
}

function firingItem(firing, effects) {
  const cause = firing.cause;
  const rule = cause.is_rule
    ? make("div", {}, `rule “${cause.name}”`, cite(cause.line, cause.fact), cause.condition ? make("span", { className: "line" }, ` because ${cause.condition}`) : "")
    : "";
  const changed = Object.entries(firing.changes);
  const move = firing.source ? ` (${firing.source} → ${firing.target})` : "";
  const list = changed.map(([field, [before, after]]) => make("li", {}, `${field}: ${before} → ${after}`));
  return make("li", {}, rule,
    make("div", {}, `event ${firing.event} on `, pick(firing.object), move, cite(firing.line, firing.fact)),
    make("ul", { className: "effect" }, ...(list.length ? list : [make("li", {}, "nothing changes")])), effects);
}

/**
 * A part and its parts. Those that decide are marked where they keep the whole from being as required, down to the fields, and are open.
 * @param decides whether the part decides among those beside it; true for the whole formula.
 */
function partItem(part, decides, path, hintText = " ← violates it") {
  const value = valueAt(part, now);
  const wrong = decides && isWrong(part, now);
  const causes = wrong ? deciding(part.parts, now) : [];
  const from = since(part, now);
  const isTop = !path.includes(".");
  const isGood = isTop && part.required === true && value === "true";
  const role = part.role ? make("span", { className: "role" }, `${part.role}: `) : "";
  const badge = make("span", { className: "value" }, value === "" ? "not evaluated here" : value);
  const hint = wrong && !causes.length ? make("span", { className: "hint" }, hintText, from === null ? "" : `, ${value} since step ${from}`) : "";
  const fields = part.fields.map((field) => `${field.text}: ${valueAt(field, now)}`).filter((text) => !text.endsWith(": "));
  const line = [role, make("span", { className: "part" }, part.text), " ", badge,
    fields.length ? make("span", { className: "line" }, ` ${fields.join(", ")}`) : "", hint];
  const item = make("li", { className: wrong ? "bad" : isGood ? "good" : "" });
  if (!part.parts.length) return item.append(...line.filter(Boolean)), item;
  const summary = make("summary", {}, ...line);
  const open = opened.get(path) ?? (wrong || isTop);
  const details = make("details", { open, className: "part-of" }, summary,
    make("ul", {}, ...part.parts.map((each, n) => partItem(each, causes.includes(each), `${path}.${n}`, hintText))));
  summary.dataset.path = path;
  summary.onclick = () => opened.set(path, !details.open);
  item.append(details);
  return item;
}

/** Redraws the parts of a formula, and puts the focus back on the same part. */
function keepingPart(redraw) {
  const path = document.activeElement?.dataset.path;
  redraw();
  if (path !== undefined) document.querySelector(`[data-path="${path}"]`)?.focus();
}

/** The variables of a formula with their values; a sort stands where it differs from the one before. */
function bindings(formula) {
  const texts = formula.bound.map(({ name, value, sort }, n) => `${name} = ${value}${sort && sort !== formula.bound[n - 1]?.sort ? ` (${sort})` : ""}`);
  return texts.length ? make("p", { className: "line" }, `for ${texts.join(", ")}`) : "";
}

function renderFormula() {
  byId("formula-pane").hidden = run.formulas.length === 0;
  byId("formula").replaceChildren(...run.formulas.flatMap((formula, n) => [
    make("p", { className: "sentence" }, `${formula.title}: ${formula.sentence}.`), bindings(formula), make("ul", {}, partItem(formulaPart(formula), true, String(n)))]));
}

function renderObject() {
  const lane = allLanes.find((each) => each.name === selected);
  byId("object-title").textContent = lane ? `${lane.name} at ${now ? `step ${now}` : "the start"}` : "Object";
  if (!lane) return byId("object").replaceChildren("The run has no objects.");
  const fields = stateAt(now).get(selected);
  const changed = new Set(changesOf(selected, now).map(([field]) => field));
  const machine = run.machines.find((each) => each.sort === lane.sort);
  const about = machine?.states[fields.state];
  byId("object").replaceChildren(make("p", {}, lane.text, about ? `. ${fields.state}: ${about}` : "", "."),
    make("dl", { className: "fields" }, ...Object.entries(fields).flatMap(([field, value]) => [
      make("dt", {}, field), make("dd", { className: changed.has(field) ? "changed" : "" }, `${value}${changed.has(field) ? " ●" : ""}`)])), meanings(lane));
  const firing = now ? steps[now - 1].firings.find((each) => each.object === selected) : undefined;
  if (machine) renderMachine(machine, fields.state, firing);
}

/** What the attributes of an object are. */
function meanings(lane) {
  const known = Object.entries(run.fields[lane.sort] ?? {});
  return known.length ? make("ul", { className: "meanings line" }, ...known.map(([name, about]) => make("li", {}, make("strong", {}, name), `: ${about}`))) : "";
}

function renderMachine(machine, state, firing) {
  const number = run.machines.indexOf(machine);
  const pictures = [...document.querySelectorAll(".picture")];
  pictures.forEach((each) => { each.hidden = each.dataset.sort !== machine.sort; });
  const picture = pictures.find((each) => !each.hidden);
  if (!picture.firstElementChild) picture.append(drawGraph(graphOf(machine, number)));
  picture.querySelectorAll(".lit, .taken").forEach((each) => each.classList.remove("lit", "taken"));
  const states = Object.keys(machine.states);
  const id = (name) => `s${states.indexOf(name)}`;
  const lit = byId(`m${number}_${id(state)}`);
  lit?.classList.add("lit");
  reveal(picture, lit);
  if (firing) byId(`m${number}_${id(firing.source)}_${id(firing.target)}`)?.classList.add("taken");
  const svg = picture.querySelector("svg");
  svg.setAttribute("role", "img");
  const arrow = firing ? ` The step took the arrow ${firing.event.slice(machine.sort.length + 1)} from ${firing.source} to ${firing.target}.` : "";
  svg.setAttribute("aria-label", `State machine of ${machine.sort}. ${selected} is in ${state}.${arrow}`);
}

/** Places for the pictures of the machines, where the page plays another model than before. */
function placePictures() {
  const box = byId("object"), pictures = [...document.querySelectorAll(".picture")], wanted = JSON.stringify(run.machines);
  const areDrawn = box.machines === undefined && pictures.length > 0; // the page has them
  if (!areDrawn && box.machines !== wanted) {
    pictures.forEach((each) => each.remove());
    box.after(...run.machines.map((machine) => make("div", { className: "picture scroll", hidden: true, tabIndex: 0,
      role: "group", "aria-label": "State machine", "data-sort": machine.sort })));
  }
  box.machines = wanted;
}

/** The machine as a graph; the ids are those of the pictures that graphviz draws. */
function graphOf(machine, number) {
  const states = Object.keys(machine.states), id = (name) => `s${states.indexOf(name)}`, arrows = new Map();
  for (const { source, event, target } of machine.rows) {
    const arrow = `m${number}_${id(source)}_${id(target)}`;
    const edge = arrows.get(arrow) ?? { source: id(source), target: id(target), element: arrow, lines: [], notes: "" };
    arrows.set(arrow, { ...edge, lines: [...new Set([...edge.lines, event])] });
  }
  return { nodes: states.map((name) => ({ id: id(name), label: name, details: [], element: `m${number}_${id(name)}` })), edges: [...arrows.values()] };
}
