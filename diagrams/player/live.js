// Shows sessions of a server while records arrive: reads their server-sent events, and plays the newest run.
// All text becomes text nodes, never markup. EventSource cannot send a token in a header, so `fetch` reads the stream.

const byId = (id) => document.getElementById(id);
const MOST_WAIT = 30; // seconds between two attempts to connect
const QUIET = 5; // seconds between two announcements, unless the verdict changes
const AGAIN = 5; // seconds between two looks at the list of sessions
let token = "";
let reading = new AbortController(); // of the present stream or list
let view = null; // the newest view
let shown = null; // the view that the player plays
let routed = ""; // the path that the page shows
let announced = { at: 0, verdict: "", timer: 0 };

function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) element[name] = value;
  element.append(...children);
  return element;
}

const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const pause = (seconds, signal) => new Promise((resolve) => {
  setTimeout(resolve, seconds * 1000);
  signal.addEventListener("abort", resolve);
});

function say(text) {
  if (byId("connection").textContent !== text) byId("connection").textContent = text;
}

// --- the server

/** The server's answer; null if it wants another token, and the page has asked for it. */
async function ask(path, signal) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(path, { headers, signal, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" });
  if (answer.status !== 401) return answer;
  say(token ? "The server refuses this token." : "The server asks for its token.");
  byId("token-form").hidden = false;
  byId("token").focus();
  return null;
}

async function problemOf(answer) {
  try {
    return (await answer.json()).message;
  } catch {
    return `status ${answer.status}`;
  }
}

/** Hands each event of a stream to `take`, as its name and its data. */
async function readEvents(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n");
      const part = (name) => lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2)).join("\n");
      if (part("event")) take(part("event"), part("data"));
    }
  }
}

/** Watches a session until it ends; connects again when the connection is lost. */
async function watch(name, signal) {
  let wait = 1;
  let ended = false;
  while (!signal.aborted && !ended) {
    let why = "The connection was lost";
    try {
      say(view ? "Connecting again." : "Connecting.");
      const answer = await ask(`/views/${encodeURIComponent(name)}`, signal);
      if (answer === null) return;
      if (answer.ok) {
        await readEvents(answer.body, (event, data) => {
          if (event === "end") ended = true;
          if (event === "view") {
            wait = 1;
            say("Connected.");
            take(JSON.parse(data));
          }
        });
      } else {
        why = await problemOf(answer);
        if (answer.status !== 503) return say(`${why}.`);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TypeError)) throw error; // `fetch` says with it that there is no connection
    }
    if (ended) return say("The session has ended. The page shows what it was last.");
    say(`${why}. The page tries again in ${count(wait, "second")}.`);
    await pause(wait, signal);
    wait = Math.min(2 * wait, MOST_WAIT);
  }
}

/** Shows the list of sessions, and looks again from time to time. */
async function list(signal) {
  while (!signal.aborted) {
    try {
      const answer = await ask("/views", signal);
      if (answer === null) return;
      if (!answer.ok) return say(`${await problemOf(answer)}.`);
      const { views } = await answer.json();
      say(views.length ? "" : "There are no sessions.");
      renderSessions(views);
    } catch (error) {
      if (signal.aborted) return;
      say("No connection to the server.");
    }
    await pause(AGAIN, signal);
  }
}

// --- the page

function renderSessions(views) {
  const box = byId("sessions");
  box.hidden = !views.length;
  const had = document.activeElement?.closest("#sessions a")?.pathname;
  const head = ["session", "verdict", "records", "last request"].map((title) => make("th", { scope: "col" }, title));
  const rows = views.map((each) => {
    const link = make("a", { href: `/live/${each.name}` }, `${each.system} ${each.variant}, ${each.name.slice(0, 6)}…`);
    return make("tr", {}, make("td", {}, link), make("td", {}, each.verdict), make("td", {}, String(each.records)),
      make("td", {}, `${count(each.idle_seconds, "second")} ago`));
  });
  box.replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
  if (had) box.querySelector(`a[href="${CSS.escape(had)}"]`)?.focus();
}

const position = () => Number.parseInt(new URLSearchParams(location.hash.slice(1)).get("step") ?? "0", 10);
const isAtEnd = () => shown === null || (position() >= shown.run.steps.length && !new URLSearchParams(location.hash.slice(1)).has("branch"));

function take(next) {
  view = next;
  renderStanding();
  if (isAtEnd() || !shown) follow(); else renderFollowing();
  announce();
}

function verdictText() {
  const records = count(view.records, "record");
  if (view.verdict === "conforms") return ["Conforms", view.records ? ` so far, after ${records}.` : `. There are no records yet.`];
  const at = view.nonconformance;
  if (view.verdict === "violates") return ["Nonconformance", at ? ` at record ${at.record.toLocaleString("en")}: ${at.reason}. Later records are not checked.` : ` within ${records}.`];
  return ["Undetermined", ` after ${records}${view.note ? `: ${view.note}` : ""}.`];
}

function renderStanding() {
  byId("standing").hidden = false;
  const title = `${view.system} ${view.variant}, live`;
  byId("title").textContent = document.title = title;
  const [verdict, rest] = verdictText();
  byId("verdict").className = view.verdict;
  byId("verdict").replaceChildren(make("strong", {}, `${view.verdict === "violates" ? "✗ " : view.verdict === "conforms" ? "✓ " : ""}${verdict}`), rest);
  const coming = view.verdict === "undetermined" ? [] : view.next?.events ?? [];
  const items = coming.map((event) => make("li", {}, make("strong", {}, event.action), `: ${event.says}`));
  const many = view.verdict === "undetermined" ? "It is not known: the records are not checked to the end." : !view.next ? "It takes too long to compute." : view.verdict === "violates" ? "Nothing: the records do not conform."
    : view.next.complete ? (items.length ? `${count(items.length, "step")}:` : "Nothing: no step is possible.") : `At least ${count(items.length, "step")}:`;
  byId("coming").replaceChildren(many, ...(items.length ? [make("ul", {}, ...items)] : []));
}

/** What the run on the page explains. */
function fitsText() {
  const run = shown.run;
  const last = shown.last_record;
  if (!last) return "The lanes show the objects before the first record.";
  const first = shown.records_before + 1;
  if (first > last) return `No run is shown: ${shown.states ? `record ${last} has too many explanations` : "too many states explain the records"}.${run.lanes.length ? ` The lanes show the objects after record ${last}.` : ""}`;
  const number = (n) => n.toLocaleString("en");
  const explained = first === last ? `record ${number(first)}` : `records ${number(first)} to ${number(last)}`;
  const left = first > 1 ? ` The page leaves out the records before record ${number(first)}.` : "";
  const which = shown.is_only_one ? "It is the only run that fits" + (first > 1 ? " from there on." : ".")
    : shown.states > 1 ? `Several runs fit; this is one of them, and leads to one of ${shown.states} possible states.` : "Several runs fit; this is one of them.";
  const hidden = shown.objects - run.lanes.length;
  return `The run explains ${explained}. ${which}${left}${hidden > 0 ? ` ${count(hidden, "object")} without a part in it ${hidden === 1 ? "has" : "have"} no lane.` : ""}`;
}

/** Plays the newest run, at its end. */
function follow() {
  if (!view.run) {
    byId("fits").textContent = view.note_on_run ? `No run is shown: ${view.note_on_run}.` : byId("fits").textContent;
    return renderFollowing();
  }
  shown = view;
  const before = new URLSearchParams(location.hash.slice(1));
  const kept = ["object", "expression"].filter((name) => before.has(name)).map((name) => `&${name}=${encodeURIComponent(before.get(name))}`);
  const place = `#step=${shown.run.steps.length}${kept.join("")}`;
  history.replaceState(history.state, "", place);
  byId("data").textContent = JSON.stringify(shown.run);
  byId("text").textContent = shown.run.steps.map((step, n) => `${n + 1}. ${step.says}`).join("\n");
  byId("copies").hidden = false;
  byId("fits").textContent = fitsText();
  document.dispatchEvent(new Event("run"));
  play();
  renderFollowing();
}

function renderFollowing() {
  const isFollowing = isAtEnd();
  // While the page follows, each new record would be read aloud.
  byId("now").setAttribute("aria-live", isFollowing ? "off" : "polite");
  byId("follow").setAttribute("aria-pressed", String(isFollowing));
  const records = shown && view !== shown ? view.records - shown.records : 0;
  byId("pending").textContent = isFollowing ? "" : records > 0
    ? `The lanes stay as they are; there ${records === 1 ? "is" : "are"} ${count(records, "new record")}.` : "The lanes stay as they are.";
}

/** Says the verdict to a screen reader: at once if it is another one, else from time to time. */
function announce() {
  clearTimeout(announced.timer);
  const wait = view.verdict === announced.verdict ? announced.at + QUIET * 1000 - Date.now() : 0;
  if (wait > 0) {
    announced.timer = setTimeout(announce, wait);
    return;
  }
  announced = { at: Date.now(), verdict: view.verdict, timer: 0 };
  const last = view.run?.steps.at(-1);
  byId("announced").textContent = `${verdictText().join("")}${last ? ` Last step: ${last.says}.` : ""}`;
}

// --- going from page to page

function route() {
  routed = location.pathname;
  reading.abort();
  reading = new AbortController();
  clearTimeout(announced.timer);
  view = shown = null;
  document.dispatchEvent(new Event("run"));
  for (const id of ["token-form", "sessions", "standing", "player", "copies"]) byId(id).hidden = true;
  for (const id of ["announced", "fits"]) byId(id).textContent = "";
  const [, name] = location.pathname.match(/^\/live\/([A-Za-z0-9_-]+)$/) ?? [];
  byId("all").hidden = !name;
  byId("title").textContent = document.title = name ? "Live session" : "Live sessions";
  say("");
  (name ? watch(name, reading.signal) : list(reading.signal)).catch((error) => { if (error.name !== "AbortError") throw error; });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='/live']");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    event.preventDefault(); // another page would not have the token
    history.pushState(null, "", link.pathname);
    route();
  }
});
for (const moved of ["click", "keydown"]) {
  document.addEventListener(moved, () => setTimeout(() => {
    if (!shown) return;
    if (isAtEnd() && shown !== view) follow(); else renderFollowing();
  }));
}
addEventListener("popstate", () => { if (location.pathname !== routed) route(); });
byId("follow").onclick = () => { if (view) follow(); };
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value.trim();
  byId("token").value = "";
  route();
});
// The fragment of an address is not sent; the page takes the token out of it, so that it stays in no history.
const given = new URLSearchParams(location.hash.slice(1));
token = given.get("token") ?? "";
if (token) history.replaceState(null, "", location.pathname);
route();
