// The specs of the runs that the browser check opens, with what the stand-in plays for
// them. JSON is YAML, so they are written as they are.

const answer = (id) => `${id}: what was asked for is done.

- Where: \`src/${id}.txt\`, one line for each of the cases that the outcome names.
- Why so: the reader takes the first line that fits, and the others stay for the next.
- Not done: nothing that was asked for. What was seen beside it is in the list below.

| case | before | after |
| --- | --- | --- |
${Array.from({ length: 12 }, (_, i) => `| ${id}-${i} | refused | taken, as line ${i + 1} |`).join('\n')}
`;

const scout = (id, more = {}) => ({
  id, task: 'scout', prompt: `Where is ${id} decided? Name files and lines. Change nothing.`,
  expected_output: 'Files and lines.', ...more,
});

const writer = (id, more = {}) => ({
  id, task: 'implement', effect: 'scoped-write', isolation: 'worktree', owned_paths: [`src/${id}.txt`],
  prompt: `Make src/${id}.txt what its first line promises.`, expected_output: 'The change, in a sentence.', ...more,
});

const lines = (id) => ({ name: 'lines', run: ['sh', 'lines.sh', id] });
const usage = (n) => ({ usage: { input: 9000 + n * 37, output: 700 + n * 11, usd: 0.04 + (n % 9) / 100 } });
const reads = (id, n) => [{ read: 'README.md' }, { tool: { name: 'Grep', input: `case ${id}` } }, { sleep: `${20 + (n % 7) * 30}ms` }, usage(n), { answer: answer(id) }];
const writes = (id, n) => [
  { read: `src/${id}.txt` },
  { write: { path: `src/${id}.txt`, content: Array.from({ length: 14 }, (_, i) => `${i === 3 ? 'changed' : 'line'} ${i} of ${id}\n`).join('') } },
  { sleep: `${40 + (n % 5) * 60}ms` }, usage(n), { answer: answer(id) },
];
const breaks = (id) => [{ say: 'looking' }, { error: { reason: 'crash', text: `the model service ended the session of ${id}` } }, { exit: 1 }];
const again = (steps, id) => [...breaks(id).map((s) => ({ ...s, attempt: 1 })), ...steps.map((s) => ({ ...s, attempt: 2 }))];
const retry = { retry: { max_attempts: 2, backoff: '10ms' } };

const spec = (outcome, jobs, more = {}) => ({
  version: 1, outcome, acceptance: ['Each file keeps its first line.'], concurrency: 8, defaults: { timeout: '2m' }, jobs, ...more,
});

function three() {
  return {
    spec: spec('The parser accepts trailing commas.', [
      scout('scout'),
      writer('fix', { inputs: [{ from_job: 'scout' }], checks: [lines('fix')] }),
      scout('review', { task: 'review', depends_on: ['fix'] }),
    ]),
    script: { scout: reads('scout', 1), fix: writes('fix', 2), review: reads('review', 3) },
  };
}

function forty() {
  const jobs = [], script = {};
  const add = (job, steps) => { jobs.push(job); script[job.id] = steps; };
  for (let i = 0; i < 6; i++) add(scout(`scout-${i}`), reads(`scout-${i}`, i));
  for (let i = 0; i < 12; i++) {
    const id = `part-${i}`, depends_on = [`scout-${i % 6}`, `scout-${(i * 5 + 1) % 6}`].filter((d, n, all) => all.indexOf(d) === n);
    const check = { name: 'lines', run: i === 7 ? ['sh', '-c', 'cat src/part-7.txt; echo the third line is wrong >&2; exit 1'] : lines(id).run };
    add(writer(id, { depends_on, checks: [check], ...retry }), i === 4 ? again(writes(id, i), id) : i === 9 ? breaks(id) : writes(id, i));
  }
  for (let i = 0; i < 12; i++) {
    const id = `review-of-part-${i}`;
    add(scout(id, { task: 'review', depends_on: [`part-${i}`] }), reads(id, i));
  }
  for (let i = 0; i < 6; i++) {
    const id = `docs-${i}`;
    add(scout(id, { depends_on: [`review-of-part-${i * 2}`, `review-of-part-${i * 2 === 4 ? 3 : i}`, `scout-${i}`] }), reads(id, i));
  }
  for (let i = 0; i < 3; i++) add(scout(`gather-${i}`, { depends_on: [`docs-${i}`, `docs-${i + 3}`] }), reads(`gather-${i}`, i));
  add(scout('a-job-with-a-name-that-is-far-too-long-for-any-box-of-a-graph', { depends_on: ['gather-0', 'gather-1', 'scout-0'] }), reads('long', 1));
  return { spec: spec('Twelve parts do what their first lines promise.', jobs), script };
}

function twoHundred() {
  const jobs = [scout('prepare')], script = { prepare: reads('prepare', 0) };
  const leaves = [];
  for (let g = 0; g < 14; g++) {
    const group = [];
    for (let i = 0; i < 13; i++) {
      const id = `shard-${g}-${i}`, n = g * 13 + i;
      group.push(id);
      const writing = n % 9 === 4;
      jobs.push(writing ? writer(id, { depends_on: ['prepare'], checks: [lines(id)], ...retry }) : scout(id, { depends_on: ['prepare'], ...retry }));
      const steps = writing ? writes(id, n) : reads(id, n);
      script[id] = n % 61 === 60 ? breaks(id) : n % 23 === 11 ? again(steps, id) : steps;
    }
    leaves.push(`gather-${g}`);
    jobs.push(scout(`gather-${g}`, { depends_on: group }));
    script[`gather-${g}`] = reads(`gather-${g}`, g);
  }
  for (let i = 0; i < 2; i++) jobs.push(scout(`alone-${i}`));
  jobs.push(scout('end', { depends_on: leaves }));
  script.end = reads('end', 1);
  return { spec: spec('Two hundred pieces are looked at.', jobs, { concurrency: 16 }), script };
}

// What a hostile job says: markup, ends of what it might stand in, escapes, marks that
// turn text around, and addresses that act.
export const words = [
  '<script>window.hostile = 1; alert(1)</script>', '</pre></details></section></main><h1 id="hostile">taken over</h1>', ']]>',
  '--><img src=x onerror="window.hostile=2">', '<svg onload=window.hostile=3>', '</style><style>body{display:none}</style>', '</title><title>hostile</title>',
  '"onmouseover="window.hostile=4" \'onfocus=\'window.hostile=5\' autofocus tabindex=1', '[click](javascript:window.hostile=6)', '<a href="javascript:window.hostile=7">x</a>',
  '<meta http-equiv="refresh" content="0;url=http://hostile.example/">', '<iframe src="http://hostile.example/"></iframe>', '![x](http://hostile.example/a.png)', '<base href="http://hostile.example/">',
  '\u001b[2J\u001b]0;hostile\u0007\u001b[31m', 'good\rbad', '\u202egnp.exe\u2066 and \u200bback', '{{.}} ${x} <%= 1 %> &lt;script&gt;', '```\n~~~\n<!--',
].join('\n');

function hostile() {
  const name = '<img src=x onerror=window.hostile=8>&"\'.txt';
  return {
    spec: spec(`Nothing happens. ${words.split('\n')[0]}`, [
      scout('says', { prompt: `Say what you like. ${words.split('\n').slice(0, 13).join('\n')}`, outputs: [{ path: name }] }),
      writer('edits', { owned_paths: ['src/**'], checks: [{ name: 'words', run: ['sh', 'words.sh'] }, { assert: 'No <i>page</i> is hurt.' }] }),
      { id: 'floods', runtime: 'exec', effect: 'observe', command: ['sh', 'flood.sh'], expected_output: 'ten million bytes on one line' },
      writer('fails', { depends_on: ['edits'], checks: [{ name: '<b>', run: ['sh', '-c', 'sh words.sh >&2; exit 3'] }] }),
      scout('waits', { depends_on: ['fails'] }),
    ], { acceptance: ['Nothing acts. <b onclick="window.hostile=9">x</b>'] }),
    script: {
      says: [{ say: words }, { tool: { name: '<b>Read</b>\u001b[31m', input: words } }, { stderr: words }, { answer: words }],
      edits: [
        { write: { path: `src/${name}`, content: words } },
        { write: { path: 'src/line.txt', content: 'x'.repeat(2000000) } }, { answer: words },
      ],
      fails: [{ write: { path: 'src/fails.txt', content: words } }, { answer: words }],
    },
  };
}

export const runs = { 3: three, 40: forty, 200: twoHundred, hostile };
