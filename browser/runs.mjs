// Makes the runs whose reports are opened: node runs.mjs FOLDER. Each is a rehearsal, so
// that graph, trees, patches, checks and the report are real and no agent is needed.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs, words } from './specs.mjs';

const into = process.argv[2];

for (const [name, make] of Object.entries(runs)) {
  const at = join(into, name), { spec, script } = make();
  mkdirSync(join(at, 'src'), { recursive: true });
  const file = (path, text) => writeFileSync(join(at, path), text);
  file('README.md', '# A project to run in\n');
  file('lines.sh', 'grep -n changed "src/$1.txt"\n');
  file('words.sh', `cat <<'OVER'\n${words}\nOVER\n`);
  file('flood.sh', 'head -c 10000000 /dev/zero | tr "\\0" "<"\n');
  for (const job of spec.jobs) {
    if (job.task === 'implement') file(`src/${job.id}.txt`, Array.from({ length: 12 }, (_, i) => `line ${i} of ${job.id}\n`).join(''));
  }
  file('jobs.yaml', JSON.stringify(spec, null, 1));
  file('jobs.yaml.standin', JSON.stringify({ version: 1, jobs: script }, null, 1));
  const git = (...args) => execFileSync('git', args, { cwd: at });
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=pages', '-c', 'user.email=pages@example.invalid', 'commit', '-q', '-m', 'a project');
  const begin = Date.now();
  const run = spawnSync('orchestrate', ['rehearse', 'jobs.yaml'], { cwd: at, encoding: 'utf8' });
  // 1: some jobs are meant to fail.
  if (run.status !== 0 && run.status !== 1) {
    console.error(`pages: the run of ${name} jobs ended with ${run.status}:\n${run.stdout}\n${run.stderr}`);
    process.exit(1);
  }
  console.log(`pages: run ${name}: ${((Date.now() - begin) / 1000).toFixed(1)} s, ${run.stdout.match(/Jobs: \S+/)?.[0] ?? run.stdout}`);
}
