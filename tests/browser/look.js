// What a reader would stumble over on the page as it stands, as a list of sentences. All details are to be open.
(() => {
  const SMALLEST = 12, CONTRAST = 4.5;
  const NO_TEXT = new Set(["SCRIPT", "STYLE", "TITLE", "title", "desc", "TEMPLATE", "NOSCRIPT"]);
  const found = [];
  const short = (text) => text.trim().replace(/\s+/g, " ").slice(0, 40);
  function once(make) {
    const known = new Map();
    return (key) => { if (!known.has(key)) known.set(key, make(key)); return known.get(key); };
  }
  const styleOf = once((element) => getComputedStyle(element));
  const inSvg = once((element) => Boolean(element.closest("svg")));

  // --- texts: one box for each line of each visible text, without what a scrolled box cuts off

  const EVERYWHERE = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
  const meet = (one, other) => ({
    left: Math.max(one.left, other.left), right: Math.min(one.right, other.right),
    top: Math.max(one.top, other.top), bottom: Math.min(one.bottom, other.bottom),
  });
  const NOWHERE = { left: 0, right: 0, top: 0, bottom: 0 };
  const frame = once((element) => {
    if (element === document.body || inSvg(element)) return element === document.body ? EVERYWHERE : frame(element.closest("svg").parentElement);
    if (styleOf(element).clipPath !== "none") return NOWHERE;
    const outer = frame(element.parentElement);
    return styleOf(element).overflow === "visible" ? outer : meet(outer, element.getBoundingClientRect());
  });
  const seen = once((element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true }));

  function* texts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
    while (walker.nextNode()) {
      const node = walker.currentNode, element = node.parentElement;
      if (!node.data.trim() || NO_TEXT.has(element.tagName) || element.closest("defs, symbol")) continue;
      if (!seen(element)) continue;
      range.selectNodeContents(node);
      const boxes = inSvg(element) ? [element.getBoundingClientRect()] : [...range.getClientRects()];
      for (const whole of boxes) {
        const box = meet(whole, frame(element));
        if (box.right - box.left > 1 && box.bottom - box.top > 1) yield { text: short(node.data), element, box };
      }
    }
  }

  // --- colours: what lies below a text, and the text on it

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = once((colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  });
  const over = (below, colour, opacity = 1) => {
    const [r, g, b, a] = rgba(colour), share = a * opacity;
    return [r, g, b].map((value, part) => share * value + (1 - share) * below[part]);
  };
  const opacity = once((element) => element ? Number(styleOf(element).opacity) * opacity(element.parentElement) : 1);
  const light = (colour) => colour.map((value) => value / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, part) => sum + v * [0.2126, 0.7152, 0.0722][part], 0);
  function contrast(one, other) {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }
  const root = document.createElement("i");
  root.style.backgroundColor = "Canvas"; document.body.append(root);
  const CANVAS = getComputedStyle(root).backgroundColor; root.remove();

  const ground = once((element) => element ? over(ground(element.parentElement), styleOf(element).backgroundColor) : rgba(CANVAS).slice(0, 3));

  // Of a text in a picture: the shapes drawn before it that lie under the point.
  const shapes = once((svg) => [...svg.querySelectorAll("rect, circle, ellipse, path, line, polygon, polyline")].filter(seen)
    .map((shape) => ({ shape, box: shape.getBoundingClientRect(), matrix: shape.getScreenCTM(), style: styleOf(shape) })));

  function painted(below, text, svg, x, y) {
    for (const { shape, box, matrix, style } of shapes(svg)) {
      const wide = parseFloat(style.strokeWidth), near = wide + 1;
      if (x < box.left - near || x > box.right + near || y < box.top - near || y > box.bottom + near || !(matrix.a * matrix.d)) continue;
      if (!(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
      const point = new DOMPoint(x, y).matrixTransform(matrix.inverse());
      if (style.fill !== "none" && shape.isPointInFill(point)) below = over(below, style.fill, style.fillOpacity * opacity(shape));
      if (style.stroke !== "none" && wide >= 4 && shape.isPointInStroke(point)) below = over(below, style.stroke, style.strokeOpacity * opacity(shape));
    }
    return below;
  }

  function contrasts({ element, box }) {
    const style = styleOf(element), svg = element.closest("svg");
    const ink = svg ? style.fill : style.color, strength = opacity(element) * (svg ? style.fillOpacity : 1);
    const paper = ground(svg ? svg.parentElement : element);
    if (!svg) return [contrast(over(paper, ink, strength), paper)];
    let top = svg;
    while (top.parentElement.closest("svg")) top = top.parentElement.closest("svg");
    const halo = style.paintOrder.startsWith("stroke") && style.stroke !== "none" && parseFloat(style.strokeWidth) >= 3;
    const middle = (box.top + box.bottom) / 2, inset = Math.min(2, (box.right - box.left) / 4);
    return [box.left + inset, (box.left + box.right) / 2, box.right - inset].map((x) => {
      let below = painted(ground(top.parentElement), element, top, x, middle);
      if (halo) below = over(below, style.stroke, style.strokeOpacity);
      return contrast(over(below, ink, strength), below);
    });
  }

  // --- the checks

  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) found.push(`the page is ${document.documentElement.scrollWidth} px wide and scrolls sideways`);

  const all = [...texts()];
  for (const one of all) {
    const matrix = inSvg(one.element) ? one.element.getScreenCTM() : null;
    const scale = matrix ? Math.min(Math.hypot(matrix.a, matrix.b), Math.hypot(matrix.c, matrix.d)) : 1;
    const size = parseFloat(styleOf(one.element).fontSize) * scale;
    if (size < SMALLEST - 0.01) found.push(`text of ${size.toFixed(1)} px: “${one.text}”`);
    const least = Math.min(...contrasts(one));
    if (least < CONTRAST) found.push(`contrast of ${least.toFixed(2)}: “${one.text}”`);
    if (one.box.right > wide + 1 || one.box.left < -1) found.push(`text beyond the edge of the page: “${one.text}”`);
  }

  // Letters fill the middle of their line: a sixth above and below may touch.
  const tight = ({ left, right, top, bottom }) => ({ left: left + 0.5, right: right - 0.5, top: top + (bottom - top) / 6, bottom: bottom - (bottom - top) / 6 });
  const boxes = all.map((one) => ({ ...one, ...tight(one.box) })).sort((a, b) => a.top - b.top);
  boxes.forEach((one, place) => {
    for (const other of boxes.slice(place + 1)) {
      if (other.top >= one.bottom) break;
      if (one.left < other.right && other.left < one.right) found.push(`“${one.text}” and “${other.text}” overlap`);
    }
  });
  return [...new Set(found)];
})()
