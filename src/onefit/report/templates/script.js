"use strict";
(() => {
  // Tooltips: of cells from the table of candidates, of points in charts from the text that they carry.
  const { score, rows, order, larger, thresholds } = JSON.parse(document.getElementById("candidates").textContent);
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
  let dismissed = false; // by the escape key, until something else is focused
  const told = (event) => event.target.closest?.("[data-i], [data-tip]");
  document.addEventListener("pointerover", (event) => { const target = told(event); target ? show(target) : hide(); });
  document.addEventListener("focusin", (event) => {
    const target = told(event);
    if (!target) return hide();
    dismissed = false;
    target.setAttribute("aria-describedby", "tip");
    show(target);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", () => { // the tab key scrolls to what it focuses: the text goes along
    const focused = document.activeElement?.closest("[data-i], [data-tip]");
    focused && !dismissed ? show(focused) : hide();
  }, true);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") { dismissed = true; hide(); } });

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

  // The table of candidates: sorted by a click on a heading, filtered by words and bounds, some rows at a time.
  const table = document.getElementById("table");
  if (table) {
    const PAGE = 50;
    const fields = [3, 0, 1, 2, 4, 5, 6, 7]; // of a candidate's details, in the order of the columns
    const figures = [0, 0, 6, 3, 0, 2, 3, 0];
    const count = document.getElementById("table-count");
    const more = document.getElementById("more");
    let column = 0, falling = false, limit = PAGE, wanted = "";

    const key = (i) => rows[i][fields[column]];
    const before = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === y) return 0;
      if (x === null) return 1;
      if (y === null) return -1;
      const less = typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
      return falling ? -less : less;
    };
    const fits = (i) => wanted.split(/[\s,]+/).filter(Boolean).every((word) => {
      const bound = /^([<>])=?(-?[\d.]+(?:e-?\d+)?)$/i.exec(word);
      if (bound) return rows[i][1] !== null && (bound[1] === ">" ? rows[i][1] >= +bound[2] : rows[i][1] <= +bound[2]);
      return `${rows[i][0]} ${rows[i][4]} ${rows[i][7]}`.toLowerCase().includes(word);
    });
    const draw = () => {
      const found = order.filter(fits).sort(before);
      table.tBodies[0].replaceChildren(...found.slice(0, limit).map((i) => {
        const line = document.createElement("tr");
        fields.forEach((field, k) => {
          const value = rows[i][field];
          const text = value === null ? "–" : figures[k] ? digits(value, figures[k]) : String(value);
          line.insertCell().textContent = text;
        });
        return line;
      }));
      more.hidden = found.length <= limit;
      count.textContent = `${Math.min(limit, found.length)} of ${found.length} candidates`;
    };
    [...table.tHead.rows[0].cells].forEach((cell, k) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        falling = column === k ? !falling : k === 2 && larger;
        column = k;
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
        draw();
      });
    });
    document.getElementById("filter").addEventListener("input", (event) => {
      wanted = event.target.value.toLowerCase();
      limit = PAGE;
      draw();
    });
    more.addEventListener("click", () => { limit += 4 * PAGE; draw(); });
    document.getElementById("table-tools").hidden = false;
    draw();
  }

  // The cheapest threshold for the costs of the two errors.
  const tool = document.getElementById("cost-tool");
  if (tool && thresholds) {
    const { places, caught, alarms, positives, negatives } = thresholds;
    const slider = document.getElementById("cost-ratio");
    const choose = () => {
      const ratio = 10 ** Number(slider.value);
      const costs = places.map((_, k) => ratio * (positives - caught[k]) + alarms[k]);
      const k = costs.indexOf(Math.min(...costs));
      document.getElementById("cost-ratio-out").textContent = digits(ratio, 2);
      document.getElementById("cost-answer").textContent =
        `Threshold ${digits(places[k], 3)}: finds ${caught[k]} of ${positives}, with ${alarms[k]} false alarms among ` +
        `${negatives} others; precision ${digits(caught[k] / Math.max(1, caught[k] + alarms[k]), 3)}, ` +
        `cost ${digits(1000 * costs[k] / (positives + negatives), 3)} false alarms per 1000 rows.`;
    };
    slider.addEventListener("input", choose);
    tool.hidden = false;
    choose();
  }

  // Buttons that copy code, where the browser lets them.
  for (const button of document.querySelectorAll("button.copy")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  // The next candidate in a direction; cells without one are passed over.
  function step(lines, line, column, [down, right]) {
    do { line += down; column += right; } while (lines[line]?.[column] && !lines[line][column].dataset.i);
    return lines[line]?.[column];
  }
})();
