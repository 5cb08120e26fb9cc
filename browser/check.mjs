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

let failed = 0;
function expect(what, found) {
  if (found.length === 0) return;
  failed++;
  console.error(`pages: ${what}:\n${found.slice(0, 12).map((f) => `    ${f}`).join('\n')}${found.length > 12 ? `\n    and ${found.length - 12} more` : ''}`);
}

// A page that is watched: what it logs, asks for and pops up is a finding.
async function open(browser, url, { media = [], js = true, type = 'screen', view = wide } = {}) {
  const page = await browser.newPage(), wrong = [];
  page.on('console', (m) => { if (['error', 'warn'].includes(m.type())) wrong.push(`console: ${m.text()}`); });
  page.on('pageerror', (e) => wrong.push(`error: ${e.message}`));
  page.on('dialog', (d) => { wrong.push(`dialog: ${d.message()}`); d.dismiss(); });
  await page.setRequestInterception(true);
  page.on('request', (r) => {
    if (r.url().split('#')[0] === url) return r.continue();
    wrong.push(`request: ${r.url().slice(0, 200)}`);
    r.abort();
  });
  await page.setJavaScriptEnabled(js);
  await page.setViewport(view);
  await page.emulateMediaFeatures(media);
  await page.emulateMediaType(type);
  await page.goto(url, { waitUntil: 'load' });
  return { page, wrong };
}

const scheme = (value) => [{ name: 'prefers-color-scheme', value }];

async function whole(browser, name, url, report, dir) {
  const { page, wrong } = await open(browser, url);
  const load = await page.evaluate(() => performance.getEntriesByType('navigation')[0].loadEventEnd);
  const title = await page.title();
  if (title === 'hostile') wrong.push('the title is what a job wanted');
  const wanted = report.jobs.map((j) => j.status.id), drawn = await page.evaluate(inpage.jobs), listed = await page.evaluate(inpage.rows);
  expect(`${name}: jobs without a box`, wanted.filter((id) => !drawn.includes(id)));
  expect(`${name}: boxes without a job, or twice`, drawn.filter((id, i) => !wanted.includes(id) || drawn.indexOf(id) !== i));
  expect(`${name}: jobs without a row in the timeline`, wanted.filter((id) => !listed.includes(id)));
  expect(`${name}: states that only colour tells apart`, await page.evaluate(inpage.sameSigns));
  expect(`${name}: boxes of the graph`, await page.evaluate(inpage.overlaps));
  expect(`${name}: not inert`, await page.evaluate(inpage.alive));
  expect(`${name}: the page is wider than 1280`, over(await page.evaluate(inpage.wider)));
  await page.evaluate(inpage.openAll);
  expect(`${name}: text below ${leastText} px`, await page.evaluate(inpage.smallText, leastText));
  expect(`${name}: with all open, the page is wider than 1280`, over(await page.evaluate(inpage.wider)));
  expect(`${name}: fragments that lead nowhere`, await page.evaluate(inpage.brokenFragments));
  expect(`${name}: links`, badLinks(await page.evaluate(inpage.links), url, dir));
  await new Promise((done) => setTimeout(done, 200)); // what would act late has had its time
  expect(`${name}: what the page did by itself`, wrong);
  expect(`${name}: its title changed`, (await page.title()) === title ? [] : [await page.title()]);
  const text = await page.evaluate(inpage.said);
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

async function accessible(browser, name, url, colours) {
  const { page } = await open(browser, url, { media: scheme(colours) });
  await page.evaluate(inpage.openAll);
  await page.evaluate(axe);
  // Between the two only colours differ.
  const found = await page.evaluate((only) => globalThis.axe.run(document, only ? { runOnly: only } : {}).then((r) => r.violations
    .map((v) => ({ id: v.id, impact: v.impact, help: v.help, n: v.nodes.length, first: v.nodes[0].target.join(' '), why: v.nodes[0].failureSummary.split('\n').slice(1, 3).join(' ') }))), colours === 'dark' ? ['color-contrast'] : null);
  const serious = found.filter((v) => ['serious', 'critical'].includes(v.impact));
  expect(`${name}, ${colours}: axe`, serious.map((v) => `${v.impact}: ${v.id}, ${v.n} times, first ${v.first}: ${v.why}`));
  for (const v of found.filter((f) => !serious.includes(f))) console.log(`pages: ${name}, ${colours}: axe, ${v.impact}: ${v.id}, ${v.n} times, first ${v.first}`);
  await page.close();
}

async function printed(browser, name, url) {
  const { page } = await open(browser, url, { type: 'print' });
  expect(`${name}: not in print`, await page.evaluate(inpage.unprinted));
  await page.close();
}

async function onAPhone(browser, name, url) {
  const { page } = await open(browser, url, { view: narrow });
  expect(`${name}: the page is wider than 390`, over(await page.evaluate(inpage.wider)));
  await page.evaluate(inpage.openAll);
  expect(`${name}: with all open, the page is wider than 390`, over(await page.evaluate(inpage.wider)));
  await page.close();
}

async function withoutScripts(browser, name, url, text) {
  const { page, wrong } = await open(browser, url, { js: false });
  const same = (await page.evaluate(inpage.said)) === text;
  expect(`${name}: without JavaScript`, same ? wrong : [...wrong, 'another text than with it']);
  await page.close();
}

// Tab reaches a job's box, and Enter follows it to the job's section.
async function byKeyboard(browser, name, url) {
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
  expect(`${name}: by keyboard`, !job ? [`no job after ${mostTabs} Tabs`] : hash.includes(job) ? [] : [`Enter on ${job} leads to "${hash}"`]);
  await page.close();
  return tabs;
}

async function take(browser, name, url) {
  mkdirSync(pictures, { recursive: true });
  for (const colours of ['light', 'dark']) {
    const { page } = await open(browser, url, { media: scheme(colours), view: { width: 1280, height: 1400 } });
    await page.screenshot({ path: join(pictures, `report-${name}-${colours}.png`) });
    await page.close();
  }
}

async function check(browser, name) {
  const at = join(resolve(folder), name, 'plans', 'reports');
  const dir = join(at, readdirSync(at).find((n) => n.startsWith('orchestrate-')));
  const file = join(dir, 'report.html'), url = pathToFileURL(file).href;
  const report = JSON.parse(readFileSync(join(dir, 'report.json'), 'utf8'));
  const bytes = statSync(file).size;
  expect(`${name}: its size`, bytes < mostBytes ? [] : [`${bytes} bytes`]);
  const { load, text } = await whole(browser, name, url, report, dir);
  for (const colours of ['light', 'dark']) await accessible(browser, name, url, colours);
  await printed(browser, name, url);
  await onAPhone(browser, name, url);
  await withoutScripts(browser, name, url, text);
  const tabs = await byKeyboard(browser, name, url);
  if (name === 'hostile') expect('hostile: words that are not shown', words.split('\n').slice(0, 13).filter((w) => !text.includes(w)));
  if (pictures) await take(browser, name, url);
  console.log(`pages: ${name}: ${report.jobs.length} jobs, ${bytes} bytes, loaded in ${load.toFixed(0)} ms, the first job after ${tabs} Tabs`);
}

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
});
try {
  for (const name of Object.keys(runs)) await check(browser, name);
} finally {
  await browser.close();
}
if (failed) console.error(`pages: ${failed} findings`);
process.exit(failed ? 1 : 0);
