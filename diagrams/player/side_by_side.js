// Plays two runs that the reader chooses: one in the player, and one beside it. All text becomes text nodes, never markup.

const byId = (id) => document.getElementById(id);
const runs = new Map(JSON.parse(byId("runs").textContent).map((each) => [each.key, each]));
const isInReport = window.name === "schedproof-report"; // in a report of one file, a frame has the page
let chosen = ""; // the two keys

async function unpacked(run) {
  const bytes = Uint8Array.from(atob(run.data), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

/** The two runs that the address names; of what it leaves out, the first ones. */
function wish() {
  const fragment = isInReport ? parent.location.hash.split("#")[2] ?? "" : location.hash.slice(1);
  const asked = new URLSearchParams(fragment), keys = [...runs.keys()];
  const run = runs.has(asked.get("run")) ? asked.get("run") : keys[0];
  const same = keys.find((each) => each !== run && runs.get(each).property === runs.get(run).property);
  return [run, runs.has(asked.get("beside")) ? asked.get("beside") : same ?? keys.find((each) => each !== run)];
}

const kept = (run, beside) => `run=${encodeURIComponent(run)}&beside=${encodeURIComponent(beside)}&`;

function described(title, run, data) {
  const element = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const link = element("a", { href: run.address }, data.about.title);
  return element("div", {}, element("h2", {}, `${title}: `, link), element("p", {}, data.about.verdict),
    data.about.says ? element("p", {}, element("strong", {}, "Property: "), `${data.about.says}.`) : "",
    element("p", {}, element("strong", {}, "What the run shows: "), `${data.problem}.`));
}

/** Plays what the address names, unless the page plays it. */
async function playChosen() {
  const [run, beside] = wish(), keys = kept(run, beside);
  if (keys === chosen) return;
  chosen = keys;
  document.dispatchEvent(new Event("run")); // the page plays the run before no longer
  [byId("run").value, byId("beside").value] = [run, beside];
  const [data, other] = await Promise.all([run, beside].map((key) => unpacked(runs.get(key))));
  if (keys !== chosen) return; // the reader has chosen again
  byId("chosen").replaceChildren(described("This run", runs.get(run), data), described("Beside it", runs.get(beside), other));
  const names = new Set(data.lanes.map((lane) => lane.name));
  data.comparison = { variant: other.variant, lanes: other.lanes.filter((lane) => names.has(lane.name)), steps: other.steps, stops: "", property: runs.get(beside).property };
  byId("data").textContent = JSON.stringify(data);
  byId("data").dataset.kept = keys;
  play();
}

/** Plays the runs in the two lists, at their start. */
function choose() {
  const path = isInReport ? `#${parent.location.hash.split("#")[1]}` : "", at = isInReport ? parent : window;
  at.history.replaceState(null, "", `${path}#${kept(byId("run").value, byId("beside").value)}step=0`);
  playChosen();
}

byId("choice").hidden = false;
byId("choice").addEventListener("change", choose);
byId("choice").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", playChosen);
document.addEventListener("place", playChosen);
playChosen();
