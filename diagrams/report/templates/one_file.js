"use strict";
(async () => {
  const data = (id) => JSON.parse(document.getElementById(id).textContent);
  const frame = document.getElementById("page"), pages = data("pages"), shared = {};
  let current = "";

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  }

  for (const [mark, text] of Object.entries(data("shared"))) shared[mark] = await unpacked(text);

  /* The address of this file names the page and a place on it: #hived/findings.html#placements */
  function wish() {
    const [path, place = ""] = decodeURI(location.hash.slice(1)).split("#");
    return [path in pages ? path : "index.html", place];
  }

  function go(place) {
    const inside = frame.contentDocument;
    inside.dispatchEvent(new CustomEvent("place", { detail: place }));
    const element = place && inside.getElementById(decodeURIComponent(place));
    if (element) element.scrollIntoView();
  }

  async function show() {
    const [path, place] = wish();
    if (path === current) return go(place);
    current = path;
    let text = await unpacked(pages[path]);
    for (const [mark, part] of Object.entries(shared)) text = text.replaceAll(mark, () => part);
    frame.onload = () => {
      const inside = frame.contentDocument;
      document.title = inside.title;
      inside.addEventListener("click", follow);
      go(place);
    };
    frame.srcdoc = text;
  }

  /* Links between pages are relative; a page in the frame has no address of its own. */
  function follow(event) {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    const [path, place] = link.getAttribute("href").split("#");
    const goal = path ? new URL(path, `x:///${current}`).pathname.slice(1) : current;
    location.hash = place ? `${goal}#${place}` : goal;
  }

  addEventListener("hashchange", show);
  await show();
})();
