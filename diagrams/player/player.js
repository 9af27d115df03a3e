// --- moving

const loops = () => leaving === null && run.loops_from !== null && run.loops_from < last;

function render() {
  const atEnd = now === last;
  // A disabled button would lose the focus, so these only say that they do nothing.
  for (const [id, isIdle] of [["first", now === 0], ["back", now === 0], ["last", atEnd], ["forward", atEnd && !loops()]]) {
    byId(id).setAttribute("aria-disabled", String(isIdle));
  }
  byId("forward").textContent = atEnd && loops() ? `↻ Again from step ${run.loops_from + 1}` : "Forward ▶";
  byId("where").textContent = now === 0 ? "Start" : isAway(now) ? `↳ Step ${now}` : `Step ${now} of ${last}`;
  byId("now").replaceChildren(...[describe()].flat());
  document.querySelectorAll(".picture").forEach((each) => { each.hidden = true; });
  for (const pane of [renderLoop, renderLanes, renderComparison, renderWhy, renderNext, renderObject]) pane();
  keepingPart(() => { renderFormula(); renderExpression(); });
}

/** In a report of one file, a frame has the page: the file's address has the page's path before the fragment. In a frame of a notebook, it has no address. */
const isInReport = window.name === "schedproof-report", isFramed = location.protocol === "about:";
const address = {
  path: isInReport ? `#${parent.location.hash.split("#")[1]}` : "",
  fragment: () => (isInReport ? parent.location.hash.slice(address.path.length) : isFramed ? "" : location.hash),
  replace(fragment) {
    if (isFramed && !isInReport) return;
    if (address.fragment() !== fragment) (isInReport ? parent : window).history.replaceState(null, "", address.path + fragment);
  },
};

/** Shows a position and an object, and names both in the address. */
function go(position, object) {
  now = Math.max(0, Math.min(last, position));
  selected = object;
  const shown = expression ? `&expression=${encodeURIComponent(expression.text)}` : "";
  const branch = leaving ? `&branch=${[leaving.position, ...leaving.path].join(".")}` : "";
  const fragment = `#${byId("data").dataset.kept ?? ""}step=${now}&object=${encodeURIComponent(selected)}${branch}${shown}`;
  address.replace(fragment);
  render();
}

function forward() {
  go(now === last && loops() ? run.loops_from + 1 : now + 1, selected);
}

function fromAddress() {
  const wish = new URLSearchParams(address.fragment().slice(1));
  const step = Number.parseInt(wish.get("step") ?? "", 10);
  const object = wish.get("object");
  useExpression(wish.get("expression") ?? "");
  const [position, ...path] = (wish.get("branch") ?? "").split(".").map((text) => /^\d+$/.test(text) ? Number(text) : NaN);
  leave(position, path);
  go(Number.isNaN(step) ? now : step, names.includes(object) ? object : selected);
}

const moves = { ArrowRight: forward, ArrowLeft: () => go(now - 1, selected), Home: () => go(0, selected), End: () => go(last, selected), Escape: rejoin };
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest("pre, input, .scroll[tabindex]")) return;
  if (!(event.key in moves)) return;
  event.preventDefault();
  moves[event.key]();
}, listening);
byId("rejoin").onclick = rejoin;
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
addEventListener("beforeprint", () => { if (byId("text")) byId("text").closest("details").open = true; }, listening); // the lanes show a part of the run only
addEventListener("hashchange", fromAddress, listening);
document.addEventListener("place", fromAddress, listening);
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; renderLanes(); } }, listening);
byId("player").hidden = false;
byId("expression-pane").hidden = !Object.keys(run.vocabulary.sorts).length;
placePictures();
renderHelp();
fromAddress();
