"use strict";
(async () => {
  const data = (id) => JSON.parse(document.getElementById(id).textContent);
  const frame = document.getElementById("page"), pages = data("pages");
  const file = location.href.split("#")[0];
  let current = "", copy = null;

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  }

  const shared = await Promise.all(data("shared").map(unpacked));

  /* A page is stored in pieces: its own text, and numbers of shared ones. */
  async function textOf(path) {
    const pieces = JSON.parse(await unpacked(pages[path]));
    return pieces.map((piece) => typeof piece === "number" ? shared[piece] : piece).join("");
  }

  /* A reader may write any address. */
  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  /* The address of this file names the page and a place on it: #hived/findings.html#placements */
  function wish() {
    const [path, place = ""] = location.hash.slice(1).split("#");
    return [Object.hasOwn(pages, decoded(path)) ? decoded(path) : "index.html", place];
  }

  function go(place) {
    const inside = frame.contentDocument;
    inside.dispatchEvent(new CustomEvent("place", { detail: place }));
    const element = place && inside.getElementById(decoded(place));
    inside.querySelectorAll(".target").forEach((each) => each.classList.remove("target")); // :target is for a page with an address
    if (!element) return;
    element.classList.add("target");
    element.scrollIntoView();
  }

  async function show() {
    const [path, place] = wish();
    if (path === current) return go(place);
    current = path;
    const text = await textOf(path);
    if (path !== current) return; // the address changed meanwhile
    frame.onload = () => {
      const inside = frame.contentDocument;
      document.title = inside.title;
      inside.querySelectorAll("a[href]").forEach(readdress);
      inside.addEventListener("click", follow);
      for (const before of ["pointerdown", "focusin"]) inside.addEventListener(before, readdressNew); // a page makes links as it is played
      frame.contentWindow.focus(); // its keys step a run
      go(place);
    };
    frame.srcdoc = text;
  }

  /* Links between pages are relative; a page in the frame has no address of its own. With this file's, a new tab opens the page. */
  function readdress(link) {
    const href = link.getAttribute("href");
    if (/^[a-z]+:/i.test(href)) return;
    const [path, place] = href.split("#");
    const goal = path ? new URL(path, `x:///${current}`).pathname.slice(1) : current;
    link.setAttribute("href", place ? `${file}#${goal}#${place}` : `${file}#${goal}`);
  }

  function readdressNew(event) {
    const link = event.target.closest("a[href]");
    if (link) readdress(link);
  }

  function follow(event) {
    const link = event.target.closest("a[href]");
    if (!link) return;
    readdress(link);
    if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (!link.href.startsWith(`${file}#`)) return;
    event.preventDefault();
    location.hash = link.href.slice(file.length);
  }

  /* A frame prints only what it shows, so what is printed is a copy of its page. */
  addEventListener("beforeprint", () => {
    if (!frame.contentDocument?.body) return;
    frame.contentWindow.dispatchEvent(new Event("beforeprint")); // the page prepares itself
    const inside = frame.contentDocument;
    copy = document.createElement("div");
    copy.append(...[...inside.querySelectorAll("head style"), ...inside.body.children].map((each) => document.importNode(each, true)));
    copy.querySelectorAll("script").forEach((each) => each.remove());
    document.body.append(copy);
    document.body.className = "printing";
  });
  addEventListener("afterprint", () => {
    copy?.remove();
    copy = null;
    document.body.className = "";
  });

  addEventListener("hashchange", show);
  await show();
})();
