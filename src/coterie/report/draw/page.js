// Reads values off pictures, by pointer and by arrow keys, and opens what a link or a printer asks for.
(function () {
  "use strict";
  const main = document.querySelector("main");

  function board(figure) {
    let box = figure.querySelector(".readout");
    if (!box) {
      box = document.createElement("div");
      box.className = "readout";
      box.setAttribute("role", "status");
      box.hidden = true;
      figure.append(box);
    }
    return box;
  }

  function show(svg, x, y, lines) {
    const figure = svg.closest("figure"), box = board(figure), outer = figure.getBoundingClientRect(), own = svg.getBoundingClientRect();
    box.replaceChildren(...lines.map((text) => Object.assign(document.createElement("div"), { textContent: text })));
    box.hidden = false;
    const left = own.left - outer.left + x + 14, fits = left + box.offsetWidth <= outer.width;
    box.style.left = `${Math.max(0, fits ? left : left - box.offsetWidth - 28)}px`;
    box.style.top = `${own.top - outer.top + y}px`;
  }

  const pick = (row) => {
    main.classList.toggle("picking", row !== null);
    document.querySelectorAll("[data-row]").forEach((one) => one.classList.toggle("hot", one.dataset.row === row));
  };

  function hide(svg) {
    board(svg.closest("figure")).hidden = true;
    svg.querySelectorAll(".guide").forEach((line) => line.remove());
    pick(null);
  }

  // What a picture can be asked, in order: dots with their titles, or steps along a line.
  function stops(svg) {
    if (svg.dataset.steps) {
      return JSON.parse(svg.dataset.steps).map(([across, ...lines]) => ({ at: () => [across / 100 * svg.getBoundingClientRect().width, 12], lines, across }));
    }
    return [...svg.querySelectorAll(".pt")].map((dot) => {
      const title = dot.querySelector("title"), text = title.textContent;
      title.remove();
      const at = () => { const box = dot.getBoundingClientRect(), own = svg.getBoundingClientRect(); return [box.left - own.left + box.width / 2, box.top - own.top + box.height / 2]; };
      return { at, lines: [text], dot };
    });
  }

  document.querySelectorAll("[data-readout]").forEach((svg) => {
    const found = stops(svg);
    let here = -1;
    function go(index) {
      hide(svg);
      here = index;
      const stop = found[here];
      if (!stop) return;
      if (stop.across !== undefined) {
        const guide = document.createElementNS(svg.namespaceURI, "line"), x = `${stop.across}%`;
        Object.entries({ x1: x, x2: x, y1: 0, y2: svg.dataset.plot, class: "guide" }).forEach(([name, value]) => guide.setAttribute(name, value));
        svg.append(guide);
      } else if (stop.dot.dataset.row) pick(stop.dot.dataset.row);
      show(svg, ...stop.at(), stop.lines);
    }
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") hide(svg);
      if (!step || !found.length) return;
      event.preventDefault();
      go(here < 0 ? (step > 0 ? 0 : found.length - 1) : Math.min(Math.max(here + step, 0), found.length - 1));
    });
    svg.addEventListener("blur", () => { hide(svg); here = -1; });
    svg.addEventListener("pointerleave", () => hide(svg));
    svg.addEventListener("pointermove", (event) => {
      const own = svg.getBoundingClientRect(), x = event.clientX - own.left, y = event.clientY - own.top;
      const away = found.map((stop) => { const [left, top] = stop.at(); return stop.dot ? Math.hypot(left - x, top - y) : Math.abs(left - x); });
      const nearest = away.indexOf(Math.min(...away));
      if (nearest >= 0 && (away[nearest] < 24 || !found[nearest].dot)) go(nearest); else hide(svg);
    });
  });

  document.querySelectorAll(".key [data-row], .key > li[data-row]").forEach((line) => {
    line.addEventListener("pointerenter", () => pick(line.dataset.row));
    line.addEventListener("pointerleave", () => pick(null));
  });

  const open = () => { const asked = location.hash && document.getElementById(location.hash.slice(1)); if (asked && asked.tagName === "DETAILS") asked.open = true; };
  addEventListener("hashchange", open);
  open();
  addEventListener("beforeprint", () => document.querySelectorAll("section > details").forEach((one) => { one.open = true; }));
})();
