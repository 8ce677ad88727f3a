// Puts buttons below each picture that save it as SVG, as it stands on the page, and its numbers as CSV.
(function () {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const USUAL = {
    fill: "rgb(0, 0, 0)", "fill-opacity": "1", stroke: "none", "stroke-width": "1px", "stroke-opacity": "1", "stroke-dasharray": "none",
    "stroke-linejoin": "miter", opacity: "1", "paint-order": "normal", "vector-effect": "none",
  };
  const LETTERS = { "font-family": "", "font-size": "", "font-weight": "400", "text-anchor": "start", "letter-spacing": "normal" };

  function draw(tag, attributes, text = "") {
    const element = document.createElementNS(SVG, tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.textContent = text;
    return element;
  }

  // A picture by itself: what the style sheet says of each of its elements is written into it.
  function copied(svg, x, y) {
    const copy = svg.cloneNode(true), size = svg.getBoundingClientRect(), copies = [copy, ...copy.querySelectorAll("*")];
    [svg, ...svg.querySelectorAll("*")].forEach((element, place) => {
      const style = getComputedStyle(element), twin = copies[place];
      const wanted = twin.tagName === "text" || twin.tagName === "tspan" ? { ...USUAL, ...LETTERS } : USUAL;
      if (style.display === "none" || twin.classList.contains("guide")) return twin.remove();
      ["class", "style", "tabindex", ...element.getAttributeNames().filter((name) => name.startsWith("data-"))].forEach((name) => twin.removeAttribute(name));
      if (twin.tagName === "svg") return twin.setAttribute("overflow", "visible");
      Object.entries(wanted).forEach(([name, usual]) => { if (style.getPropertyValue(name) !== usual) twin.setAttribute(name, style.getPropertyValue(name)); });
    });
    Object.entries({ x, y, width: size.width, height: size.height }).forEach(([name, value]) => copy.setAttribute(name, value));
    return copy;
  }

  // The lines in which a text is set on the page: [words, box].
  function lines(node) {
    const range = document.createRange(), found = [];
    [...node.data].reduce((at, letter) => {
      range.setStart(node, at); range.setEnd(node, at + letter.length);
      const box = range.getBoundingClientRect(), last = found.at(-1);
      if (last && Math.abs(last.box.bottom - box.bottom) < 3) last.words += letter;
      else if (box.width) found.push({ words: letter, box });
      return at + letter.length;
    }, 0);
    return found;
  }

  function framed(element, left, top) {
    const style = getComputedStyle(element), box = element.getBoundingClientRect(), sides = ["Top", "Left", "Bottom", "Right"];
    const whole = sides.every((side) => parseFloat(style[`border${side}Width`]) > 0), filled = !/(, 0\)|transparent)$/.test(style.backgroundColor);
    if (!whole && !filled) return [];
    const inset = whole ? 0.5 : 0;
    return [draw("rect", {
      x: box.left - left + inset, y: box.top - top + inset, width: box.width - 2 * inset, height: box.height - 2 * inset,
      rx: Math.min(parseFloat(style.borderRadius) || 0, box.height / 2), fill: filled ? style.backgroundColor : "none", stroke: whole ? style.borderTopColor : "none",
    })];
  }

  function whole(figure) {
    const { left, top, width } = figure.getBoundingClientRect(), height = figure.querySelector(".save").getBoundingClientRect().top - top, edge = 12;
    const sheet = draw("svg", { xmlns: SVG, width: width + 2 * edge, height: height + 2 * edge });
    sheet.append(draw("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
    const group = sheet.appendChild(draw("g", { transform: `translate(${edge} ${edge})` }));
    const walker = document.createTreeWalker(figure, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
      const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
      const skipped = !element.checkVisibility() || element.closest(".save, .readout, .unseen, script");
      return skipped || element.parentElement.closest("svg") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
    });
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.nodeType === Node.TEXT_NODE) {
        const style = getComputedStyle(node.parentElement), drop = parseFloat(style.fontSize) * 0.29;
        lines(node).forEach(({ words, box }) => group.append(draw("text", {
          x: box.left - left, y: box.bottom - top - drop, fill: style.color, "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight,
        }, words.trim())));
      } else if (node.tagName === "svg") {
        const box = node.getBoundingClientRect();
        group.append(copied(node, box.left - left, box.top - top));
      } else group.append(...framed(node, left, top));
    }
    return new XMLSerializer().serializeToString(sheet);
  }

  function save(name, type, text) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  document.querySelectorAll("figure[data-name]").forEach((figure) => {
    const name = figure.dataset.name, bar = Object.assign(document.createElement("p"), { className: "save" });
    const forms = { SVG: ["image/svg+xml", () => whole(figure)], CSV: ["text/csv", () => JSON.parse(figure.querySelector("script[type='application/json']").textContent)] };
    Object.entries(forms).forEach(([form, [type, text]]) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: form, title: `Save ${form === "SVG" ? "this picture" : "its numbers"} as ${form}` });
      button.addEventListener("click", () => save(`${name}.${form.toLowerCase()}`, type, text()));
      bar.append(button);
    });
    figure.append(bar);
  });
})();
