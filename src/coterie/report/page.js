(function () {
  "use strict";
  const rows = JSON.parse(document.getElementById("values").textContent);
  const controls = document.getElementById("controls");
  const plot = document.getElementById("plot");
  const readout = document.getElementById("readout");
  const buttons = [...document.querySelectorAll(".legend button")];
  const svgs = [...plot.querySelectorAll("svg")];
  let moment = null;

  const shown = () => svgs.find((svg) => !svg.parentNode.hidden);
  const visible = (index) => buttons[index].getAttribute("aria-pressed") === "true";
  const chosen = (name) => controls.querySelector(`input[name=${name}]:checked`).value;
  const digits = (value) => value.toLocaleString("en-US", value >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });

  function nearest(rounds, target) {
    let best = 0;
    rounds.forEach((round, place) => { if (Math.abs(round - target) < Math.abs(rounds[best] - target)) best = place; });
    return best;
  }

  function scale(svg) {
    const { left, right, first, last } = Object.fromEntries(Object.entries(svg.dataset).map(([key, text]) => [key, Number(text)]));
    const log = chosen("time") === "log";
    return {
      round: (x) => { const share = (x - left) / (right - left); return log ? first * (last / first) ** share : first + share * (last - first); },
      x: (round) => left + (right - left) * (log ? Math.log(round / first) / Math.log(last / first) : (round - first) / (last - first)),
    };
  }

  function line(text, className) {
    const element = document.createElement("div");
    element.className = className;
    element.textContent = text;
    return element;
  }

  function hide() {
    moment = null;
    readout.hidden = true;
    svgs.forEach((svg) => svg.querySelector(".guide").setAttribute("visibility", "hidden"));
  }

  function show(target) {
    const svg = shown(), first = rows.find((_, index) => visible(index));
    if (!first) return hide();
    moment = first.round[nearest(first.round, target)];
    const x = scale(svg).x(moment), guide = svg.querySelector(".guide"), perAgent = chosen("unit") === "agent";
    guide.setAttribute("x1", x); guide.setAttribute("x2", x); guide.setAttribute("visibility", "visible");
    const lines = rows.map((row, index) => {
      const place = nearest(row.round, moment), factor = perAgent ? row.share : 1;
      return { index, row, mean: row.mean[place] * factor, low: row.low[place] * factor, high: row.high[place] * factor };
    }).filter((entry) => visible(entry.index)).sort((one, other) => other.mean - one.mean);
    readout.replaceChildren(line(`Round ${moment.toLocaleString("en-US")}`, "moment"), ...lines.map((entry) => {
      const range = entry.low === entry.high ? "" : ` (${digits(entry.low)} to ${digits(entry.high)})`;
      const element = line(`${entry.row.label}: `, entry.row.colour);
      element.append(line(digits(entry.mean) + range, "value"));
      return element;
    }));
    readout.hidden = false;
    const box = svg.getBoundingClientRect(), place = x / svg.viewBox.baseVal.width * box.width;
    const left = place > box.width / 2;
    readout.style.left = left ? "" : `${place + 14}px`;
    readout.style.right = left ? `${box.width - place + 14}px` : "";
  }

  svgs.forEach((svg) => {
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      show(scale(svg).round((event.clientX - box.left) / box.width * svg.viewBox.baseVal.width));
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], first = rows.find((_, index) => visible(index));
      if (!step || !first) return;
      event.preventDefault();
      const place = moment === null ? (step > 0 ? -1 : first.round.length) : nearest(first.round, moment);
      show(first.round[Math.min(Math.max(place + step, 0), first.round.length - 1)]);
    });
  });

  controls.addEventListener("change", () => {
    const view = ["time", "regret", "unit"].map(chosen).join("-");
    hide();
    svgs.forEach((svg) => { svg.parentNode.hidden = svg.dataset.view !== view; });
  });

  buttons.forEach((button) => button.addEventListener("click", () => {
    const pressed = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", pressed);
    plot.querySelectorAll(`[data-row="${button.dataset.row}"]`).forEach((group) => { group.style.display = pressed ? "" : "none"; });
  }));

  controls.hidden = false;
})();
