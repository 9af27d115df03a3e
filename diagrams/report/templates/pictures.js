"use strict";
for (const data of document.querySelectorAll("script.graph")) {
  const box = data.previousElementSibling, svg = drawGraph(JSON.parse(data.textContent));
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", box.parentElement.querySelector("p").textContent);
  box.append(svg);
  box.hidden = false;
}
