// Describes a page: the ink rectangles and colours of its texts, and elements that exceed their
// bounds.
//
// Called in a page, of HTML or a picture (SVG) by itself. Everything is in CSS pixels from the
// page's upper left corner. Returns
//   width, height  of the page, which may be larger than the window
//   texts          [{text, left, top, right, bottom, colour: [r, g, b, alpha], font, bold, hidden}],
//                  one for each line of each text; `font` is its size as it is seen, `hidden` says
//                  that one has to scroll inside of the page to see all of it
//   problems       lines of text
function Layout() {
  const TOLERANCE = 1.5;
  // Smaller letters are hard to read.
  const SMALLEST_FONT = 10;
  const root = document.documentElement;
  const problems = [];
  const texts = [];
  const pen = new OffscreenCanvas(1, 1).getContext('2d');

  const shift = (box) => ({
    left: box.left + scrollX,
    top: box.top + scrollY,
    right: box.right + scrollX,
    bottom: box.bottom + scrollY,
  });
  const name = (element) => {
    const text = element.textContent.trim().replace(/\s+/g, ' ').slice(0, 40);
    return `<${element.localName}> '${text}'`;
  };
  const hides = (style) => ['hidden', 'clip'].includes(style.overflowX);
  const scrolls = (style) => ['auto', 'scroll'].includes(style.overflowX);
  const shown = (element) => element.checkVisibility({ visibilityProperty: true });

  // Returns the rectangle that an element or a text may fill: the nearest block around it, or the
  // picture; null if it can be scrolled. Inline elements have the shape of their text and are no
  // bounds.
  const boundsOf = (node) => {
    for (let e = node.parentElement; e !== null; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (e.localName === 'svg') return e;
      if (e.namespaceURI.endsWith('/svg') || style.display.startsWith('inline')) continue;
      if (style.display === 'contents') continue;
      return scrolls(style) ? null : e;
    }
    return null;
  };

  const checkInside = (box, node, what) => {
    const bounds = boundsOf(node);
    if (bounds === null) return;
    const outer = shift(bounds.getBoundingClientRect());
    const out = Math.max(outer.left - box.left, box.right - outer.right, outer.top - box.top,
      box.bottom - outer.bottom);
    if (out > TOLERANCE) {
      problems.push(`${what} sticks out of <${bounds.localName}> by ${out.toFixed(1)}`);
    }
  };

  const scrolledAway = (box, element) => {
    for (let e = element.parentElement; e !== null; e = e.parentElement) {
      if (!scrolls(getComputedStyle(e))) continue;
      const window = shift(e.getBoundingClientRect());
      if (box.left < window.left || box.right > window.right) return true;
    }
    return false;
  };

  // Returns the colour of letters with this style, [r, g, b, alpha], with the opacity of all
  // elements around them.
  const colourOf = (element, style) => {
    const svg = element.namespaceURI.endsWith('/svg');
    const parts = (svg ? style.fill : style.color).match(/[\d.]+/g);
    if (parts === null) return [0, 0, 0, 0]; // fill: none
    const colour = parts.map(Number);
    let alpha = colour.length > 3 ? colour[3] : 1;
    if (svg) alpha *= Number(style.fillOpacity);
    for (let e = element; e !== null; e = e.parentElement) alpha *= getComputedStyle(e).opacity;
    return [...colour.slice(0, 3), alpha];
  };

  const addText = (node) => {
    const element = node.parentElement;
    if (!shown(element)) return;
    const style = getComputedStyle(element);
    const range = document.createRange();
    range.selectNodeContents(node);
    pen.font = style.font;
    const size = pen.measureText(node.data);
    // The magnification of a picture.
    const scale = element.namespaceURI.endsWith('/svg') ? element.getScreenCTM().d : 1;
    const space = 1.5 * pen.measureText(' ').width;
    const rects = [...range.getClientRects()];
    for (const rect of rects) {
      // A trailing space of a line may have a rectangle of its own.
      if (rect.width === 0 || (rects.length > 1 && rect.width <= space)) continue;
      const box = shift(rect);
      box.top += (size.fontBoundingBoxAscent - size.actualBoundingBoxAscent) * scale;
      box.bottom -= (size.fontBoundingBoxDescent - size.actualBoundingBoxDescent) * scale;
      const font = parseFloat(style.fontSize) * scale;
      const text = node.data.trim().replace(/\s+/g, ' ').slice(0, 60);
      texts.push({
        text,
        ...box,
        colour: colourOf(element, style),
        font,
        bold: Number(style.fontWeight) >= 600,
        hidden: scrolledAway(box, element),
      });
      checkInside(box, node, `'${text}'`);
      // The viewer determines the size of a picture that is shown by itself.
      if (font < SMALLEST_FONT && root.localName !== 'svg') {
        problems.push(`'${text}' has letters of ${font.toFixed(1)} px`);
      }
    }
  };

  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.data.trim() === '' || node.parentElement.closest('head, title, style')) continue;
    addText(node);
  }

  for (const element of root.querySelectorAll('*')) {
    if (element.closest('head, title, style') || element === document.body) continue;
    if (!shown(element)) continue;
    const rect = element.getBoundingClientRect();
    if (rect.width === 0 && rect.height === 0) continue;
    const style = getComputedStyle(element);
    if (element.localName !== 'text') checkInside(shift(rect), element, name(element));
    if (hides(style) && element.scrollWidth > element.clientWidth + 1) {
      problems.push(`${name(element)} is cut off`);
    }
  }

  const overlap = (a, b) =>
    Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left),
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  texts.forEach((a, i) => {
    for (const b of texts.slice(0, i)) {
      const by = overlap(a, b);
      if (by > 0.5) problems.push(`'${a.text}' overlaps '${b.text}' by ${by.toFixed(1)}`);
    }
  });
  if (root.localName !== 'svg' && root.scrollWidth > root.clientWidth) {
    problems.push(`the page is ${root.scrollWidth} wide in a window of ${root.clientWidth}`);
  }
  if (texts.length === 0) problems.push('there is no text');
  const height = Math.max(root.scrollHeight, root.clientHeight);
  return { width: Math.max(root.scrollWidth, root.clientWidth), height, texts, problems };
}
