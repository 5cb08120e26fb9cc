// Opens the reports of the runs below a folder in headless Chromium, by file:// and with
// every other request refused, and says what a reader could not do with them:
// node check.mjs RUNS [PICTURES]. The exit status is 1 when there is anything.
import { mkdirSync, readdirSync, readFileSync, statSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as inpage from './inpage.mjs';
import { runs, words } from './specs.mjs';

const require = createRequire(join(process.env.BROWSER_MODULES, 'at.js'));
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const [, , folder, pictures] = process.argv;

const wide = { width: 1280, height: 1000 }, narrow = { width: 390, height: 844 };
const mostBytes = 5_000_000, leastText = 11, mostTabs = 80;

// What was found of the page at hand, by what it was asked for.
let findings = new Map();
function expect(what, found) {
  if (found.length) findings.set(what, found);
}

// All that is asked of every page; its size and its words apart.
const asked = ['jobs without a box', 'boxes without a job, or twice', 'jobs without a row in the timeline', 'states that only colour tells apart',
  'boxes of the graph', 'not inert', 'wider than 1280', `text below ${leastText} px`, 'wider than 1280 with all open', 'fragments that lead nowhere', 'links',
  'what the page did by itself', 'a title that a job gave it', 'axe, light', 'axe, dark', 'light and dark are the same', 'not in print',
  'wider than 390', 'wider than 390 with all open', 'without JavaScript', 'by keyboard'];

// What popped up may close with its page before it is answered.
function gone(e) {
  if (e.name !== 'TargetCloseError') throw e;
}

// A page that is watched: what it logs, asks for and pops up is a finding.
async function open(browser, url, { colours = 'light', js = true, print = false, view = wide } = {}) {
  const page = await browser.newPage(), wrong = [];
  page.on('console', (m) => { if (['error', 'warn'].includes(m.type())) wrong.push(`console: ${m.text()}`); });
  page.on('pageerror', (e) => wrong.push(`error: ${e.message}`));
  page.on('dialog', (d) => { wrong.push(`dialog: ${d.message()}`); d.dismiss().catch(gone); });
  await page.setRequestInterception(true);
  page.on('request', (r) => {
    if (r.url().split('#')[0] === url) return r.continue();
    wrong.push(`request: ${r.url().slice(0, 200)}`);
    r.abort();
  });
  await page.setJavaScriptEnabled(js);
  await page.setViewport(view);
  // Each of the two undoes the other.
  if (print) await page.emulateMediaType('print');
  else await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours }]);
  await page.goto(url, { waitUntil: 'load' });
  return { page, wrong };
}

async function whole(browser, url, wanted, dir) {
  const { page, wrong } = await open(browser, url);
  const load = await page.evaluate(() => performance.getEntriesByType('navigation')[0].loadEventEnd);
  const drawn = await page.evaluate(inpage.jobs), listed = await page.evaluate(inpage.rows);
  expect('jobs without a box', wanted.filter((id) => !drawn.includes(id)));
  expect('boxes without a job, or twice', drawn.filter((id, i) => !wanted.includes(id) || drawn.indexOf(id) !== i));
  expect('jobs without a row in the timeline', wanted.filter((id) => !listed.includes(id)));
  expect('states that only colour tells apart', await page.evaluate(inpage.sameSigns));
  expect('boxes of the graph', await page.evaluate(inpage.overlaps));
  expect('not inert', await page.evaluate(inpage.alive));
  expect('wider than 1280', over(await page.evaluate(inpage.wider)));
  await page.evaluate(inpage.openAll);
  expect(`text below ${leastText} px`, await page.evaluate(inpage.smallText, leastText));
  expect('wider than 1280 with all open', over(await page.evaluate(inpage.wider)));
  expect('fragments that lead nowhere', await page.evaluate(inpage.brokenFragments));
  expect('links', badLinks(await page.evaluate(inpage.links), url, dir));
  await new Promise((done) => setTimeout(done, 200)); // what would act late has had its time
  expect('what the page did by itself', wrong);
  const text = await page.evaluate(inpage.said), title = await page.title();
  expect('a title that a job gave it', title.includes('hostile') ? [title] : []);
  await page.close();
  return { load, text };
}

const over = (px) => (px > 0 ? [`by ${px} px`] : []);

// Links lead to places in the page, or to files of the run that are there.
function badLinks(links, url, dir) {
  const bad = [];
  for (const l of links) {
    if (l.full.split('#')[0] === url) continue;
    const path = l.full.startsWith('file:') ? fileURLToPath(l.full.split('#')[0]) : '';
    if (!path.startsWith(dir + '/') || !existsSync(path)) bad.push(`<${l.tag}> ${l.as}`);
  }
  return bad;
}

// Returns the colours that the page begins with.
async function accessible(browser, name, url, colours) {
  const { page } = await open(browser, url, { colours });
  const ground = await page.evaluate(inpage.ground);
  await page.evaluate(inpage.openAll);
  await page.evaluate(axe);
  // Between the two only colours differ.
  const found = await page.evaluate((only) => globalThis.axe.run(document, only ? { runOnly: only } : {}).then((r) => r.violations
    .map((v) => ({ id: v.id, impact: v.impact, help: v.help, n: v.nodes.length, first: v.nodes[0].target.join(' '), why: v.nodes[0].failureSummary.split('\n').slice(1, 3).join(' ') }))), colours === 'dark' ? ['color-contrast'] : null);
  const serious = found.filter((v) => ['serious', 'critical'].includes(v.impact));
  expect(`axe, ${colours}`, serious.map((v) => `${v.impact}: ${v.id}, ${v.n} times, first ${v.first}: ${v.why}`));
  for (const v of name === 'faulty' ? [] : found.filter((f) => !serious.includes(f))) console.log(`pages: ${name}, ${colours}: axe, ${v.impact}: ${v.id}, ${v.n} times, first ${v.first}`);
  await page.close();
  return ground;
}

async function printed(browser, url) {
  const { page } = await open(browser, url, { print: true });
  expect('not in print', await page.evaluate(inpage.unprinted));
  await page.close();
}

async function onAPhone(browser, url) {
  const { page } = await open(browser, url, { view: narrow });
  expect('wider than 390', over(await page.evaluate(inpage.wider)));
  await page.evaluate(inpage.openAll);
  expect('wider than 390 with all open', over(await page.evaluate(inpage.wider)));
  await page.close();
}

async function withoutScripts(browser, url, text) {
  const { page, wrong } = await open(browser, url, { js: false });
  const same = (await page.evaluate(inpage.said)) === text;
  expect('without JavaScript', same ? wrong : [...wrong, 'another text than with it']);
  await page.close();
}

// Tab reaches a job's box, and Enter follows it to the job's section.
async function byKeyboard(browser, url) {
  const { page } = await open(browser, url);
  const at = () => page.evaluate(() => document.activeElement?.dataset?.job ?? document.activeElement?.closest?.('[data-job]')?.dataset.job ?? '');
  let tabs = 0;
  while (tabs < mostTabs && !(await at())) {
    await page.keyboard.press('Tab');
    tabs++;
  }
  const job = await at();
  if (job) await page.keyboard.press('Enter');
  const hash = await page.evaluate(() => decodeURIComponent(location.hash));
  expect('by keyboard', !job ? [`no job after ${mostTabs} Tabs`] : hash.includes(job) ? [] : [`Enter on ${job} leads to "${hash}"`]);
  await page.close();
  return tabs;
}

// What is kept in docs/pictures: where each page begins, from which place of it.
const views = { 3: [['report', 'body'], ['job', '#job-fix']], 40: [['graph', '#graph']], 200: [['graph', '#graph'], ['timeline', '#timeline']] };

async function take(browser, name, url) {
  mkdirSync(pictures, { recursive: true });
  for (const colours of ['light', 'dark']) {
    const { page } = await open(browser, url, { colours, view: wide });
    for (const [what, at] of views[name] ?? []) {
      await page.$eval(at, (el) => {
        for (const d of el.querySelectorAll('details')) d.open = el.id.startsWith('job') && /^(Answer|Patch|Output)/.test(d.innerText);
        el.scrollIntoView();
      });
      await page.screenshot({ path: join(pictures, `${what}-${name}-${colours}.png`) });
    }
    await page.close();
  }
}

// Asks everything of one page and returns what was found and a line of figures.
async function check(browser, name, file, dir, ids) {
  findings = new Map();
  const url = pathToFileURL(file).href, bytes = statSync(file).size;
  expect('its size', bytes < mostBytes ? [] : [`${bytes} bytes`]);
  const { load, text } = await whole(browser, url, ids, dir);
  const light = await accessible(browser, name, url, 'light'), dark = await accessible(browser, name, url, 'dark');
  expect('light and dark are the same', light === dark ? [light] : []);
  await printed(browser, url);
  await onAPhone(browser, url);
  await withoutScripts(browser, url, text);
  const tabs = await byKeyboard(browser, url);
  if (name === 'hostile') expect('words that are not shown', words.split('\n').slice(0, 13).filter((w) => !text.includes(w)));
  if (pictures) await take(browser, name, url);
  return `${ids.length} jobs, ${bytes} bytes, loaded in ${load.toFixed(0)} ms, the first job after ${tabs} Tabs`;
}

// A page with every fault must be found at fault in all that is asked, or a check has
// gone blind.
async function sighted(browser) {
  const here = import.meta.dirname;
  await check(browser, 'faulty', join(here, 'faulty.html'), here, ['one', 'two', 'missing']);
  const blind = asked.filter((what) => !findings.has(what));
  if (blind.length) console.error(`pages: browser/faulty.html is not found at fault: ${blind.join('; ')}`);
  return blind.length === 0;
}

async function ofRun(browser, name) {
  const at = join(resolve(folder), name, 'plans', 'reports');
  const dir = join(at, readdirSync(at).find((n) => n.startsWith('orchestrate-')));
  const report = JSON.parse(readFileSync(join(dir, 'report.json'), 'utf8'));
  const figures = await check(browser, name, join(dir, 'report.html'), dir, report.jobs.map((j) => j.status.id));
  console.log(`pages: ${name}: ${figures}`);
  for (const [what, found] of findings) {
    console.error(`pages: ${name}: ${what}:\n${found.slice(0, 12).map((f) => `    ${f}`).join('\n')}${found.length > 12 ? `\n    and ${found.length - 12} more` : ''}`);
  }
  return findings.size === 0;
}

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
});
let good = false;
try {
  good = await sighted(browser);
  for (const name of Object.keys(runs)) good = (await ofRun(browser, name)) && good;
} finally {
  await browser.close();
}
process.exit(good ? 0 : 1);
