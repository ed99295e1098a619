"use strict";
(() => {
  // Tooltips: of cells from the table of candidates, of points in charts from the text that they carry.
  const { score, rows } = JSON.parse(document.getElementById("candidates").textContent);
  const tip = document.getElementById("tip");
  const digits = (value, n) => String(Number(value.toPrecision(n)));

  function words(i) {
    const [params, value, error, rank, label, bound, seconds, status] = rows[i];
    const lines = [params];
    const spread = error === null ? "" : ` ± ${digits(error, 2)}`;
    lines.push(value === null ? `${score}: none` : `${score}: ${digits(value, 6)}${spread}, rank ${rank}`);
    lines.push(bound === null ? label : `${label}, error bound ${digits(bound, 2)}`);
    if (seconds !== null) lines.push(`${digits(seconds, 3)} s`);
    if (status !== "ok") lines.push(status);
    return lines.join("\n");
  }

  function show(target) {
    tip.textContent = target.dataset.tip ?? words(target.dataset.i);
    tip.hidden = false;
    const box = target.getBoundingClientRect();
    const left = box.left + box.width / 2 - tip.offsetWidth / 2;
    const above = box.top - tip.offsetHeight - 8;
    tip.style.left = `${Math.max(8, Math.min(left, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${above > 8 ? above : box.bottom + 8}px`;
  }

  const hide = () => { tip.hidden = true; };
  const told = (event) => event.target.closest?.("[data-i], [data-tip]");
  document.addEventListener("pointerover", (event) => { const target = told(event); target ? show(target) : hide(); });
  document.addEventListener("focusin", (event) => {
    const target = told(event);
    if (!target) return hide();
    target.setAttribute("aria-describedby", "tip");
    show(target);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, true);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });

  // Heat maps: one stop of the tab key each, arrow keys move between the cells.
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  for (const map of document.querySelectorAll("table.map")) {
    const lines = [...map.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);
    let current = map.querySelector("td.best") ?? map.querySelector("td[data-i]");
    current?.setAttribute("tabindex", "0");

    const move = (cell) => {
      current.setAttribute("tabindex", "-1");
      cell.setAttribute("tabindex", "0");
      current = cell;
    };
    map.addEventListener("focusin", (event) => { const cell = event.target.closest("td[data-i]"); if (cell) move(cell); });
    map.addEventListener("keydown", (event) => {
      const line = lines.findIndex((cells) => cells.includes(event.target));
      if (line < 0) return;
      const column = lines[line].indexOf(event.target);
      const next = event.key === "Home" ? lines[line].find((cell) => cell.dataset.i)
        : event.key === "End" ? lines[line].findLast((cell) => cell.dataset.i)
        : steps[event.key] && step(lines, line, column, steps[event.key]);
      if (!next) return;
      event.preventDefault();
      next.focus();
      if (tip.hidden) show(next); // scrolling it into view has hidden it
    });
  }

  // The next candidate in a direction; cells without one are passed over.
  function step(lines, line, column, [down, right]) {
    do { line += down; column += right; } while (lines[line]?.[column] && !lines[line][column].dataset.i);
    return lines[line]?.[column];
  }
})();
