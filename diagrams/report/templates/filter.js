"use strict";
(() => {
  const form = document.getElementById("filter");
  const control = (name) => document.getElementById(name);
  const cells = [...document.querySelectorAll("td[data-verdict]")];
  const isOn = (name) => control(name) !== null && control(name).checked;

  const variants = new Map();
  for (const cell of cells) {
    const system = cell.closest("table").dataset.system;
    variants.set(system, (variants.get(system) ?? new Set()).add(cell.dataset.variant));
  }

  /** A variant that the chosen system lacks cannot be chosen, and is chosen no longer. */
  function offerVariants() {
    const offered = variants.get(control("system").value);
    for (const option of control("variant").options) option.disabled = option.value !== "" && offered !== undefined && !offered.has(option.value);
    if (control("variant").selectedOptions[0]?.disabled) control("variant").value = "";
  }

  function fits(cell) {
    const row = cell.parentElement, table = row.closest("table"), text = row.dataset.text.toLowerCase();
    const words = control("text").value.toLowerCase().split(/\s+/);
    return words.every((word) => text.includes(word))
      && (!control("system").value || table.dataset.system === control("system").value)
      && (!control("variant").value || cell.dataset.variant === control("variant").value)
      && (!control("verdict").value || cell.dataset.verdict === control("verdict").value)
      && (!isOn("odd") || "odd" in cell.dataset)
      && (!isOn("changed") || "changed" in cell.dataset);
  }

  function filter() {
    offerVariants();
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
    control("count").textContent = shown.length === 0 ? "No verdict fits these filters." : all
      ? `${cells.length.toLocaleString("en")} verdicts`
      : `${shown.length.toLocaleString("en")} of ${cells.length.toLocaleString("en")} verdicts`;
  }

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  addEventListener("pageshow", filter); // a browser that goes back restores the controls before this event
  filter();
})();
