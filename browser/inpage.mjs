// What is asked of a page from inside: each of these runs in the browser, sees nothing
// but the document, and returns what it found as lines.

// Small text, with the scale of the picture that it stands in.
export function smallText(least) {
  const found = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let t = walk.nextNode(); t; t = walk.nextNode()) {
    const el = t.parentElement;
    if (!t.data.trim() || el.closest('style,title,desc')) continue;
    const scale = el.ownerSVGElement ? el.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(el).fontSize) * scale;
    if (size < least - 0.01) found.set(`${size.toFixed(2)} px: <${el.tagName} class="${el.getAttribute('class') ?? ''}">`, t.data.trim().slice(0, 40));
  }
  return [...found].map(([what, text]) => `${what} "${text}"`);
}

// Boxes of the graph that overlap, or whose text leaves them.
export function overlaps() {
  const all = [...document.querySelectorAll('[data-job]')].map((el) => ({ id: el.dataset.job, el, r: el.querySelector('rect').getBoundingClientRect() }));
  const found = [];
  all.forEach((a, i) => {
    for (const b of all.slice(i + 1)) {
      if (a.r.left < b.r.right && b.r.left < a.r.right && a.r.top < b.r.bottom && b.r.top < a.r.bottom) found.push(`${a.id} lies over ${b.id}`);
    }
    for (const t of a.el.querySelectorAll('text')) {
      const r = t.getBoundingClientRect();
      if (r.right > a.r.right || r.left < a.r.left || r.bottom > a.r.bottom || r.top < a.r.top) found.push(`${a.id}: "${t.textContent}" leaves its box`);
    }
  });
  return found;
}

export const jobs = () => [...document.querySelectorAll('[data-job]')].map((el) => el.dataset.job);
export const rows = () => [...document.querySelectorAll('[data-row]')].map((el) => el.dataset.row);
export const ground = () => `${getComputedStyle(document.body).color} on ${getComputedStyle(document.body).backgroundColor}`;
export const wider = () => document.scrollingElement.scrollWidth - document.documentElement.clientWidth;
export const openAll = () => document.querySelectorAll('details').forEach((d) => { d.open = true; });
export const said = () => document.body.textContent;

// Where the page's links lead, as they stand and as the browser takes them.
export const links = () => [...document.querySelectorAll('[href],[src]')].map((el) => {
  const as = el.getAttribute('href') ?? el.getAttribute('src');
  return { tag: el.tagName.toLowerCase(), as, full: new URL(as, document.baseURI).href };
});

export function brokenFragments() {
  return [...document.querySelectorAll('a[href^="#"]')].map((a) => a.getAttribute('href'))
    .filter((h) => h.length > 1 && !document.getElementById(decodeURIComponent(h.slice(1))));
}

// What nobody but the page's author may have put there, and what acts on a reader.
export function alive() {
  const found = [];
  for (const el of document.querySelectorAll('script,iframe,object,embed,base,form,img,video,audio,link,meta[http-equiv=refresh],#hostile')) found.push(`<${el.tagName.toLowerCase()}>`);
  for (const el of document.querySelectorAll('*')) {
    for (const a of el.attributes) if (/^on/i.test(a.name) || /^\s*javascript:/i.test(a.value)) found.push(`${el.tagName.toLowerCase()} ${a.name}="${a.value}"`);
  }
  if (window.hostile !== undefined) found.push(`window.hostile is ${window.hostile}`);
  const acts = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;
  const bad = document.documentElement.outerHTML.match(acts);
  if (bad) found.push(`a character that acts: U+${bad[0].codePointAt(0).toString(16)} before "${document.documentElement.outerHTML.slice(bad.index + 1, bad.index + 30)}"`);
  return found;
}

// What a reader of the printed page would miss.
export function unprinted() {
  const found = [];
  for (const el of document.querySelectorAll('main section, main h2, main h3, main pre, main table, main svg, details > *')) {
    if (!el.checkVisibility({ contentVisibilityAuto: false, visibilityProperty: true })) found.push(`<${el.tagName.toLowerCase()} class="${el.getAttribute('class') ?? ''}"> "${el.textContent.trim().slice(0, 40)}"`);
  }
  return found;
}

// Whether a picture's signs tell the states apart without colour.
export function sameSigns() {
  const shapes = new Map();
  for (const g of document.querySelectorAll('[data-job]')) {
    const state = g.getAttribute('class').match(/s-([a-z]+)/)?.[1], sign = g.querySelector('.glyph')?.innerHTML;
    shapes.set(state, sign);
  }
  return new Set(shapes.values()).size === shapes.size ? [] : [`${shapes.size} states, ${new Set(shapes.values()).size} signs`];
}
