"use strict";
(() => {
  const form = document.getElementById("filter");
  const control = (name) => document.getElementById(name);
  const cells = [...document.querySelectorAll("td[data-verdict]")];
  const isOn = (name) => control(name) !== null && control(name).checked;

  function fits(cell) {
    const row = cell.parentElement, table = row.closest("table");
    const text = control("text").value.trim().toLowerCase();
    return (!text || row.dataset.text.toLowerCase().includes(text))
      && (!control("system").value || table.dataset.system === control("system").value)
      && (!control("variant").value || cell.dataset.variant === control("variant").value)
      && (!control("verdict").value || cell.dataset.verdict === control("verdict").value)
      && (!isOn("odd") || "odd" in cell.dataset)
      && (!isOn("changed") || "changed" in cell.dataset);
  }

  function filter() {
    const shown = cells.filter(fits), rows = new Set(shown.map((cell) => cell.parentElement));
    for (const table of document.querySelectorAll("table.matrix")) {
      let some = false;
      for (const row of table.tBodies[0].rows) {
        row.hidden = !rows.has(row);
        some ||= !row.hidden;
      }
      table.parentElement.hidden = !some;
    }
    const fit = new Set(shown), all = shown.length === cells.length;
    for (const cell of cells) cell.classList.toggle("faint", !fit.has(cell));
    control("count").textContent = all
      ? `${cells.length.toLocaleString("en")} verdicts`
      : `${shown.length.toLocaleString("en")} of ${cells.length.toLocaleString("en")} verdicts`;
  }

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  filter();
})();
