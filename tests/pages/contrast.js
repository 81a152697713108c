// Computes the legibility of texts in a page from two pictures (PNG in base64), with and without
// its letters. `texts` are those of Layout. The contrast of a letter compares its colour with the
// background at each of its pixels, as in WCAG 2: at least 4.5, or 3 for large letters.
//
// https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
async function Contrast(withLetters, withoutLetters, texts) {
  // The fraction of a letter's pixels that may be on another background, such as a line.
  const CROSSED = 0.1;
  // A letter's pixel differs at least this much in a channel from the picture without letters.
  const INK = 16;

  const pixelsOf = async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [front, back] = await Promise.all([pixelsOf(withLetters), pixelsOf(withoutLetters)]);

  const linear = (c) => (c <= 10.314 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

  const problems = [];
  for (const { text, left, top, right, bottom, colour, font, bold, hidden } of texts) {
    if (hidden) continue;
    const x0 = Math.max(Math.floor(left), 0);
    const x1 = Math.min(Math.ceil(right), front.width);
    const y0 = Math.max(Math.floor(top), 0);
    const y1 = Math.min(Math.ceil(bottom), front.height);
    const alpha = colour[3];
    const ratios = [];
    for (let y = y0; y < y1; ++y) {
      for (let x = x0; x < x1; ++x) {
        const at = 4 * (y * front.width + x);
        const behind = back.data.subarray(at, at + 3);
        const difference = behind.map((c, i) => Math.abs(c - front.data[at + i]));
        if (Math.max(...difference) < INK) continue;
        const letter = [0, 1, 2].map((i) => behind[i] + (colour[i] - behind[i]) * alpha);
        ratios.push(ratio(luminance(letter), luminance(behind)));
      }
    }
    if (ratios.length === 0) {
      problems.push(`'${text}' cannot be seen`);
      continue;
    }
    ratios.sort((a, b) => a - b);
    const contrast = ratios[Math.floor(CROSSED * ratios.length)];
    const large = font >= 24 || (bold && font >= 18.66);
    const least = large ? 3 : 4.5;
    if (contrast < least) {
      problems.push(`'${text}' has a contrast of ${contrast.toFixed(2)}, expected ${least}`);
    }
  }
  return problems;
}
