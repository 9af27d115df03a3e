"use strict";
// Plays the run in the element "data" (diagrams/player/data.py has its shape). All text becomes text nodes, never markup.
(() => {
  const run = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const last = run.steps.length;
  const SNAPSHOT = 100; // positions from one stored state to the next
  const names = run.lanes.map((lane) => lane.name);
  const movers = new Set(run.steps.flatMap((step) => step.firings.map((firing) => firing.object)));
  let now = 0;
  let selected = names.find((name) => movers.has(name)) ?? names[0] ?? "";
  const opened = new Map(); // parts of formulas that the reader has opened or closed: path -> is open

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

  function applied(state, step) {
    for (const firing of step.firings) {
      for (const [field, [, after]] of Object.entries(firing.changes)) {
        if (state.has(firing.object)) state.set(firing.object, { ...state.get(firing.object), [field]: after });
      }
    }
    return state;
  }

  const snapshots = [new Map(run.lanes.map((lane) => [lane.name, lane.initial]))];
  let sofar = new Map(snapshots[0]);
  run.steps.forEach((step, n) => {
    applied(sofar, step);
    if ((n + 1) % SNAPSHOT === 0) snapshots.push(new Map(sofar));
  });

  /** The fields of each object at a position. */
  function stateAt(position) {
    const base = Math.floor(position / SNAPSHOT);
    const state = new Map(snapshots[base]);
    for (let n = base * SNAPSHOT; n < position; n++) applied(state, run.steps[n]);
    return state;
  }

  /** The changed fields of an object in the step that leads to a position: [field, before, after]. */
  function changesOf(name, position) {
    if (position === 0) return [];
    const firings = run.steps[position - 1].firings.filter((firing) => firing.object === name);
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

  // --- citations

  /** "line 12", which opens to the line's text where it is known. */
  function cite(line, fact) {
    const label = line !== null ? `line ${line}` : fact ? `fact ${fact}` : "";
    const text = line !== null ? run.quotes[line] : run.facts[fact];
    if (!label) return "";
    if (!text) return make("span", { className: "line" }, ` (${label})`);
    const title = line !== null ? `${run.document}, ${label}` : label;
    return make("details", { className: "cite" }, make("summary", {}, ` ${label}`), make("q", { title }, text));
  }

  function pick(name) {
    return names.includes(name)
      ? make("button", { type: "button", className: "link", onclick: () => go(now, name) }, name)
      : name;
  }

  // --- the panes

  function describe() {
    if (now === 0) return last ? `Start, before step 1 of ${last}.` : "The initial state. The run has no steps.";
    const step = run.steps[now - 1];
    const changed = step.firings.map((firing) => {
      const fields = Object.entries(firing.changes).map(([field, [before, after]]) => `${field} ${before} → ${after}`);
      return fields.length ? `${firing.object}: ${fields.join(", ")}` : "";
    }).filter(Boolean);
    const effect = step.ill_formed ? `The step is ill-formed: ${step.ill_formed}` : changed.length ? `Changes: ${changed.join("; ")}` : "Nothing changes";
    return [make("strong", {}, `Step ${now} of ${last}: ${step.says}.`), ` ${effect}. ${verdictAt(now)}`];
  }

  function verdictAt(position) {
    const required = run.formulas.filter((formula) => formula.part.required !== null);
    return required.map((formula) => {
      const value = valueAt(formula.part, position);
      return value === "true" ? "The property is true here." : value ? "The property is violated here." : "";
    }).join(" ");
  }

  function renderLoop() {
    const box = byId("loop");
    box.hidden = run.loops_from === null;
    if (box.hidden) return;
    const first = run.loops_from + 1;
    const text = first > last
      ? "The run may stay in the final state for ever."
      : `Loop: steps ${first} to ${last} repeat for ever. After step ${last} the run is back where it was before step ${first}.`;
    const inside = first <= last && now >= run.loops_from;
    box.replaceChildren("↻ ", text, inside ? " You are in the loop." : "");
  }

  /** The positions whose columns are drawn: those near the present one that fit. */
  function visible() {
    const width = byId("lanes-box").clientWidth || 800;
    const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const number = Math.max(3, Math.floor((width - 6 * size) / (9 * size)));
    const from = Math.max(0, Math.min(now - Math.floor(number / 2), last + 1 - number));
    return Array.from({ length: Math.min(number, last + 1) }, (_, n) => from + n);
  }

  function columnTitle(position) {
    const looped = run.loops_from !== null && position > run.loops_from ? "↻ " : "";
    const label = position === 0 ? "Start" : `${looped}Step ${position}`;
    const button = make("button", { type: "button", onclick: () => go(position, selected) }, label);
    if (position === now) button.setAttribute("aria-current", "step");
    const says = position ? make("div", { className: "says" }, run.steps[position - 1].says) : "";
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
      const value = valueAt(formula.part, position);
      const color = formula.part.required === null ? "" : value === "true" ? "true" : value ? "false" : "";
      const mark = color === "true" ? "✓ true" : color === "false" ? `✗ ${value}` : value || "–";
      return make("td", { className: `${color} ${position === now ? "here" : ""}`.trim() }, mark);
    });
    return make("tr", { className: "formula" }, make("th", { scope: "row" }, formula.title), ...cells);
  }

  function renderLanes() {
    const positions = visible();
    const states = positions.map(stateAt);
    const rows = run.lanes.map((lane) => make("tr", {},
      make("th", { scope: "row" },
        make("button", { type: "button", "aria-pressed": String(lane.name === selected), "data-object": lane.name,
          onclick: () => go(now, lane.name) }, lane.name), make("div", { className: "says" }, lane.text)),
      ...positions.map((position, n) => cell(lane.name, position, states[n]))));
    const [from, to] = [positions[0], positions[positions.length - 1]];
    const caption = make("caption", { className: "line" }, to - from < last ? `${from ? `Step ${from}` : "Start"} to step ${to} of ${last}` : "All steps");
    const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Object"), ...positions.map(columnTitle)));
    const body = make("tbody", {}, ...rows, ...run.formulas.map((formula) => formulaRow(formula, positions)));
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
    const step = run.steps[now - 1];
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
   * A part and its parts. One that keeps the whole from being as required is marked, down to the fields, and is open.
   * @param isCause whether the part above is marked; true for the whole formula.
   */
  function partItem(part, isCause, path) {
    const value = valueAt(part, now);
    const wrong = isCause && part.required !== null && value !== "" && value !== String(part.required);
    const isTop = !path.includes(".");
    const isGood = isTop && part.required === true && value === "true";
    const role = part.role ? make("span", { className: "role" }, `${part.role}: `) : "";
    const badge = make("span", { className: "value" }, value === "" ? "not evaluated here" : value);
    const hint = wrong && !part.parts.length ? make("span", { className: "hint" }, " ← violates it") : "";
    const fields = part.fields.map((field) => `${field.text}: ${valueAt(field, now)}`).filter((text) => !text.endsWith(": "));
    const line = [role, make("span", { className: "part" }, part.text), " ", badge,
      fields.length ? make("span", { className: "line" }, ` ${fields.join(", ")}`) : "", hint];
    const item = make("li", { className: wrong ? "bad" : isGood ? "good" : "" });
    if (!part.parts.length) return item.append(...line.filter(Boolean)), item;
    const summary = make("summary", {}, ...line);
    const open = opened.get(path) ?? (wrong || isTop);
    const details = make("details", { open, className: "part-of" }, summary,
      make("ul", {}, ...part.parts.map((each, n) => partItem(each, wrong, `${path}.${n}`))));
    summary.dataset.path = path;
    summary.onclick = () => opened.set(path, !details.open);
    item.append(details);
    return item;
  }

  function renderFormula() {
    byId("formula-pane").hidden = run.formulas.length === 0;
    const path = document.activeElement?.dataset.path;
    byId("formula").replaceChildren(...run.formulas.flatMap((formula, n) => [
      make("p", {}, `${formula.title}:`), make("ul", {}, partItem(formula.part, true, String(n)))]));
    if (path !== undefined) byId("formula").querySelector(`[data-path="${path}"]`)?.focus();
  }

  function renderObject() {
    const lane = run.lanes.find((each) => each.name === selected);
    byId("table").replaceChildren();
    byId("object-title").textContent = lane ? `${lane.name} at ${now ? `step ${now}` : "the start"}` : "Object";
    if (!lane) return byId("object").replaceChildren("The run has no objects.");
    const fields = stateAt(now).get(selected);
    const changed = new Set(changesOf(selected, now).map(([field]) => field));
    const machine = run.machines.find((each) => each.sort === lane.sort);
    const about = machine?.states[fields.state];
    byId("object").replaceChildren(make("p", {}, lane.text, about ? `. ${fields.state}: ${about}` : "", "."),
      make("dl", { className: "fields" }, ...Object.entries(fields).flatMap(([field, value]) => [
        make("dt", {}, field), make("dd", { className: changed.has(field) ? "changed" : "" }, `${value}${changed.has(field) ? " ●" : ""}`)])));
    const firing = now ? run.steps[now - 1].firings.find((each) => each.object === selected) : undefined;
    if (machine) renderMachine(machine, fields.state, firing);
  }

  function renderMachine(machine, state, firing) {
    const number = run.machines.indexOf(machine);
    const pictures = [...document.querySelectorAll(".picture")];
    pictures.forEach((each) => { each.hidden = each.dataset.sort !== machine.sort; });
    const picture = pictures.find((each) => !each.hidden);
    if (!picture) return renderTable(machine, state, firing);
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

  function renderTable(machine, state, firing) {
    const rows = machine.rows.map((row) => {
      const taken = firing && firing.event === `${machine.sort}.${row.event}` && firing.source === row.source;
      return make("tr", { className: taken ? "taken" : "" }, make("td", { className: row.source === state ? "lit" : "" }, row.source),
        make("td", {}, `${row.event}${taken ? " ● taken" : ""}`), make("td", {}, row.target), make("td", {}, cite(row.line, row.fact)));
    });
    const titles = ["from", "event", "to", "document"].map((title) => make("th", { scope: "col" }, title));
    byId("table").replaceChildren(make("div", { className: "scroll", role: "group", "aria-label": "State machine", tabIndex: 0 }, make("table", {},
      make("caption", {}, `The machine of ${machine.sort}; ${selected} is in ${state}`), make("thead", {}, make("tr", {}, ...titles)), make("tbody", {}, ...rows))));
  }

  // --- moving

  const loops = run.loops_from !== null && run.loops_from < last;

  function render() {
    const atEnd = now === last;
    // A disabled button would lose the focus, so these only say that they do nothing.
    for (const [id, isIdle] of [["first", now === 0], ["back", now === 0], ["last", atEnd], ["forward", atEnd && !loops]]) {
      byId(id).setAttribute("aria-disabled", String(isIdle));
    }
    byId("forward").textContent = atEnd && loops ? `↻ Again from step ${run.loops_from + 1}` : "Forward ▶";
    byId("now").replaceChildren(...[describe()].flat());
    document.querySelectorAll(".picture").forEach((each) => { each.hidden = true; });
    for (const pane of [renderLoop, renderLanes, renderWhy, renderFormula, renderObject]) pane();
  }

  /** In a report of one file a frame has the page, and the file's address has its path before the fragment. */
  const isFramed = location.protocol === "about:";
  const address = {
    path: isFramed ? `#${parent.location.hash.split("#")[1]}` : "",
    fragment: () => (isFramed ? parent.location.hash.slice(address.path.length) : location.hash),
    replace(fragment) {
      if (address.fragment() !== fragment) (isFramed ? parent : window).history.replaceState(null, "", address.path + fragment);
    },
  };

  /** Shows a position and an object, and names both in the address. */
  function go(position, object) {
    now = Math.max(0, Math.min(last, position));
    selected = object;
    const fragment = `#step=${now}&object=${encodeURIComponent(selected)}`;
    address.replace(fragment);
    render();
  }

  function forward() {
    go(now === last && loops ? run.loops_from + 1 : now + 1, selected);
  }

  function fromAddress() {
    const wish = new URLSearchParams(address.fragment().slice(1));
    const step = Number.parseInt(wish.get("step") ?? "", 10);
    const object = wish.get("object");
    go(Number.isNaN(step) ? now : step, names.includes(object) ? object : selected);
  }

  const moves = { ArrowRight: forward, ArrowLeft: () => go(now - 1, selected), Home: () => go(0, selected), End: () => go(last, selected) };
  // A page that goes on to play another run says so by the event "run".
  const stop = new AbortController();
  const listening = { signal: stop.signal };
  document.addEventListener("run", () => stop.abort(), listening);
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest("pre, .scroll[tabindex]")) return;
    if (!(event.key in moves)) return;
    event.preventDefault();
    moves[event.key]();
  }, listening);
  byId("first").onclick = moves.Home;
  byId("back").onclick = moves.ArrowLeft;
  byId("forward").onclick = forward;
  byId("last").onclick = moves.End;
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.onclick = async () => {
      const source = byId(button.dataset.of);
      try {
        await navigator.clipboard.writeText(source.textContent);
        byId("copied").textContent = "Copied.";
      } catch { // a page from the file system may not reach the clipboard
        getSelection().selectAllChildren(source);
        byId("copied").textContent = "Selected: press Ctrl+C to copy.";
      }
    };
  }
  addEventListener("beforeprint", () => { byId("text").closest("details").open = true; }, listening); // the lanes show a part of the run only
  addEventListener("hashchange", fromAddress, listening);
  document.addEventListener("place", fromAddress, listening);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; renderLanes(); } }, listening);
  byId("player").hidden = false;
  fromAddress();
})();
