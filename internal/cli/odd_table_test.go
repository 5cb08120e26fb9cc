//go:build linux

package cli_test

import (
	"slices"
	"strings"
)

const (
	lfs          = `printf '*.bin filter=lfs diff=lfs merge=lfs -text\n' > .gitattributes; printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 1\n' > a.bin; mkdir src; echo s > src/s.txt; git add .; git commit -qm lfs`
	superProject = `lib; start; git submodule -q add "$W/lib" "my lib"; git commit -qm sub; `
	inSub        = `command: [sh, -c, 'echo more >> f.txt; echo new > new.txt; test -f "my lib/l.txt" && git -C "my lib" log -1 --format=%s | grep -q lib']`
)

// odds are the odd repositories.
func odds() []odd {
	return slices.Concat(oddSubmodules(), oddFilters(), oddParts(), oddPlaces(), oddStores(), oddText(), oddNames(), oddRefused())
}

func oddSubmodules() []odd {
	return []odd{
		{name: "submodule", make: superProject, job: inSub},
		{
			name: "submodules in submodules",
			make: `lib; git init -q "$W/mid"; (cd "$W/mid"; echo m > m.txt; git add .; git submodule -q add "$W/lib" deep; git commit -qm mid); start; git submodule -q add "$W/mid" mid; git submodule -q update --init --recursive; git commit -qm sub`,
			job:  `command: [sh, -c, 'echo more >> f.txt; echo new > new.txt; cat mid/m.txt mid/deep/l.txt']`,
		},
		{
			name: "submodule with a .git folder of its own", job: inSub,
			make: `lib; start; git clone -q "$W/lib" "my lib"; git submodule -q add "$W/lib" "my lib"; git commit -qm sub`,
		},
		{
			name: "submodule with hooks, fsmonitor and a textconv",
			make: superProject + `mark "$W/prog"; m=".git/modules/my lib"; cp "$W/prog" "$m/hooks/post-checkout"; git -C "my lib" config core.fsmonitor "$W/prog"; git -C "my lib" config filter.x.smudge "$W/prog"; git -C "my lib" config diff.x.textconv "$W/prog"; printf '* filter=x diff=x\n' > "$m/info/attributes"`,
			job:  `command: [sh, -c, 'echo more >> f.txt; echo new > new.txt; cat "my lib/l.txt"']`,
			// Git itself reads the configuration of the person's submodule when its status is asked.
		},
		{
			name: "submodule that the checkout has not filled",
			make: superProject + `mv "$C" "$W/origin"; git clone -q "$W/origin" "$C"`,
			note: `submodules that are empty in the checkout are empty in worktrees too: my lib`, way: "git submodule update --init --recursive",
		},
		{
			name:    "submodule without the commit that is needed",
			make:    superProject + `git update-index --cacheinfo "160000,1234567890123456789012345678901234567890,my lib"; git commit -qm other`,
			refused: `the submodule my lib cannot be filled in it: [^;]*`, way: `git submodule update --init --recursive`,
		},
		{
			name: "a repository inside that no .gitmodules names", make: `lib; start; git clone -q "$W/lib" lib; git add lib 2> /dev/null; git commit -qm lib`,
			note: `repositories that git records and no \.gitmodules names are empty in worktrees: lib`, way: "git submodule add URL lib",
		},
		{
			name: "job that changes files inside a submodule", make: superProject,
			job:   `command: [sh, -c, 'echo more >> "my lib/l.txt"']`,
			fails: `files in the submodule my lib [^)]*\)`, way: "a job with its cwd in that repository",
		},
		{
			name: "job whose cwd is a submodule", make: superProject,
			job:     `cwd: "my lib", command: [sh, -c, 'echo more >> l.txt']`,
			refused: `what it is to change is inside the submodule my lib`, way: `run it from that repository: cd .* orchestrate run SPEC`,
		},
		{
			name: "a submodule as the checkout",
			make: superProject + `echo "$C/my lib" > "$W/checkout-is"`,
			job:  `command: [sh, -c, 'echo more >> l.txt; echo new > new.txt']`, files: "l.txt new.txt",
		},
	}
}

func oddFilters() []odd {
	return []odd{
		{
			name: "Git LFS, job that owns other files", make: `start; ` + lfs,
			job: `owned_paths: ["src/**"], command: [sh, -c, 'echo more >> src/s.txt; grep -q git-lfs a.bin']`, files: "src/s.txt",
			note: `a filter of git \(lfs\) that is off here applies to 1 file: [^;]*; a worktree holds what git stores`,
		},
		{
			name: "Git LFS, job that may change such a file", make: `start; ` + lfs,
			refused: `it may change a\.bin, which git passes through a filter \(lfs\)`, way: `narrow owned_paths [^.]*`,
		},
		{
			name: "Git LFS, job that adds such a file", make: `start; ` + lfs,
			job:   `owned_paths: ["src/**"], command: [sh, -c, 'echo x > src/new.bin']`,
			fails: `src/new\.bin, which git passes through the filter lfs[^)]*\)`, way: "add it by hand",
		},
		{
			name: "job that takes the filter's attribute away", make: `start; echo '*.bin filter=lfs' > .gitattributes; git add .; git commit -qm lfs`,
			job:   `command: [sh, -c, 'echo x > new.bin; rm .gitattributes']`,
			fails: `new\.bin, which git passes through the filter lfs[^)]*\)`, way: "add it by hand",
		},
		{
			name: "git-crypt, required and with programs that would run",
			make: `start; mkdir keys src; echo '/keys/** filter=git-crypt diff=git-crypt' > .gitattributes; echo k > keys/k; echo s > src/s.txt; git add .; git commit -qm crypt; mark "$W/prog"; git config filter.git-crypt.smudge "$W/prog"; git config filter.git-crypt.clean "$W/prog"; git config filter.git-crypt.required true; git config diff.git-crypt.textconv "$W/prog"`,
			job:  `owned_paths: ["src/**"], command: [sh, -c, 'echo more >> src/s.txt']`, files: "src/s.txt",
			note: `a filter of git \(git-crypt\) that is off here applies to 1 file: `,
		},
	}
}

func oddParts() []odd {
	const parts = `start; mkdir in out; echo i > in/i.txt; echo o > out/o.txt; git add .; git commit -qm parts; `
	const partial = parts + `git config uploadpack.allowFilter true; git config uploadpack.allowAnySHA1InWant true; mv "$C" "$W/origin"; `
	const sparse = `command: [sh, -c, 'test ! -e out/o.txt && echo more >> f.txt && echo new > in/new.txt && mkdir -p out && echo x > out/x.txt']`
	return []odd{
		{name: "sparse checkout, cone", make: parts + `git sparse-checkout set in`, job: sparse, files: "f.txt in/new.txt out/x.txt"},
		{name: "sparse checkout, cone, sparse index", make: parts + `git sparse-checkout set --sparse-index in`, job: sparse, files: "f.txt in/new.txt out/x.txt"},
		{name: "sparse checkout, patterns", make: parts + `git sparse-checkout set --no-cone '/*' '!/out/'`, job: sparse, files: "f.txt in/new.txt out/x.txt"},
		{
			name: "partial clone without all files", make: partial + `git clone -q --filter=blob:none --no-checkout "file://$W/origin" "$C"`,
			refused: `this is a partial clone and \d+ objects of commit \w+ are not on this machine[^;]*`, way: `git checkout \w+ \(git fetches what it needs\), or once for all: git fetch --refetch --no-filter`,
		},
		{
			name: "partial clone without all folders", make: partial + `git clone -q --filter=tree:0 --no-checkout "file://$W/origin" "$C"`,
			status:  1,
			refused: `this is a partial clone, and something that is needed is not on this machine`, way: "`git checkout HEAD`, or once for all with `git fetch --refetch --no-filter`",
		},
		{name: "partial clone with the files of the base", make: partial + `git clone -q --filter=blob:none "file://$W/origin" "$C"`},
		{
			name: "partial clone, sparse checkout", make: partial + `git clone -q --filter=blob:none --sparse "file://$W/origin" "$C"; cd "$C"; git sparse-checkout set in`,
			job: sparse, files: "f.txt in/new.txt out/x.txt",
		},
		{name: "shallow clone", make: `start; echo two >> f.txt; git commit -qam two; mv "$C" "$W/origin"; git clone -q --depth 1 "file://$W/origin" "$C"`},
		{
			name: "empty first commit", make: `git init -q "$C"; cd "$C"; git commit -q --allow-empty -m start`,
			job: `command: [sh, -c, 'echo new > new.txt']`, files: "new.txt",
		},
	}
}

func oddPlaces() []odd {
	return []odd{
		{name: "detached HEAD", make: `start; git checkout -q --detach`},
		{name: "a linked worktree as the checkout", make: `start; git worktree add -q "$W/linked"; echo "$W/linked" > "$W/checkout-is"`},
		{name: "separate git directory", make: `start --separate-git-dir "$W/apart.git"`},
		{name: "core.worktree", make: `start; git config core.worktree "$C"`},
		{name: "extensions.worktreeConfig", make: `start; git config extensions.worktreeConfig true; git config --worktree core.quotePath false`},
		{name: "worktree.useRelativePaths", make: `start; git config worktree.useRelativePaths true`},
		{name: "a merge with conflicts under way", make: `start; git checkout -q -b x; echo x > f.txt; git commit -qam x; git checkout -q main; echo y > f.txt; git commit -qam y; git merge -q x || true`},
		{name: "hooks that fail, signing that hangs", make: `start; for h in post-checkout pre-commit reference-transaction post-index-change; do mark .git/hooks/$h; done; mark "$W/gpg"; git config commit.gpgSign true; git config gpg.program "$W/gpg"; git config core.fsmonitor "$W/gpg"`},
		{name: "the repository tracks plans/", make: `start; mkdir -p plans/reports/x; echo t > plans/reports/x/t.txt; echo p > plans/p.txt; git add .; git commit -qm plans`},
	}
}

func oddStores() []odd {
	return []odd{
		{name: "objects named by SHA-256", make: `start --object-format=sha256`},
		{name: "packed refs and objects", make: `start; git branch orchestrate/old; git gc -q; git pack-refs --all`},
		{name: "index version 4", make: `start; git config index.version 4; git update-index --index-version 4`},
		{name: "split index", make: `start; git config core.splitIndex true; git update-index --split-index`},
		{name: "untracked cache", make: `start; git config core.untrackedCache true; git update-index --untracked-cache`},
		{name: "objects borrowed from elsewhere (alternates)", make: `start; mv "$C" "$W/origin"; git clone -q --shared "$W/origin" "$C"`},
		{name: "refs/replace (worktrees hold what was replaced)", make: `start; echo two >> f.txt; git commit -qam two; git replace HEAD HEAD^`},
	}
}

func oddText() []odd {
	const crlf = `git init -q "$C"; cd "$C"; git config %s core.autocrlf true; printf 'one\r\ntwo\r\n' > f.txt; printf 'other\r\n' > g.txt; git add . 2> /dev/null; git commit -qm start; rm f.txt g.txt; git checkout -q .`
	const ends = `command: [sh, -c, 'printf "more\r\n" >> f.txt; printf "new\r\n" > new.txt; touch g.txt']`
	return []odd{
		{name: "core.autocrlf in the repository", make: strings.ReplaceAll(crlf, "%s", ""), job: ends},
		{name: "core.autocrlf of the person", make: strings.ReplaceAll(crlf, "%s", "--global"), job: ends},
		{
			name: "eol, ident and working-tree-encoding",
			make: `start; printf '*.crlf text eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16LE eol=lf\n' > .gitattributes; printf 'a\r\n' > a.crlf; echo '$Id$' > a.id; printf 'a\000\n\000' > a.u16; git add . ; git commit -qm attrs; rm a.*; git checkout -q .`,
			job:  `command: [sh, -c, 'touch a.*; echo more >> f.txt; echo new > new.txt']`,
		},
		{name: "core.symlinks=false", make: `start; ln -s f.txt link; git add .; git commit -qm link; git config core.symlinks false; rm link; git checkout -q .`},
		{name: "core.fileMode=false", make: `start; git config core.fileMode false; chmod +x f.txt`, job: `command: [sh, -c, 'chmod +x f.txt; echo more >> f.txt; echo new > new.txt']`},
		{name: "a tracked file that is ignored too", make: `start; echo 'f.txt' > .gitignore; git add .; git commit -qm ignore`},
		{
			name: "ignored files that a worktree lacks", make: `start; printf '.env\nnode_modules/\n' > .gitignore; git add .; git commit -qm ignore; echo A=b > .env; mkdir node_modules; echo x > node_modules/x`,
			note: `git ignores \.env, node_modules/, so the worktrees of w do not have it`, way: "`worktree: {copy: [\".env\"], setup: [\"the command that installs them\"]}`",
		},
	}
}

func oddNames() []odd {
	const oddly = "$W/-it's \"a\" dir: naïve \\$HOME\ttab"
	return []odd{
		{name: "names that differ in case only", make: `start; echo A > F.txt; git add .; git commit -qm twins`},
		{name: "odd characters in the checkout's path", make: `d="` + oddly + `"; start; mv "$C" "$d"; echo "$d" > "$W/checkout-is"`},
		{
			name: "odd characters in file names and cwd", at: "",
			make: `start; d="-a b:c'\"é"; mkdir -- "$d"; echo x > "$d/- x	y.txt"; git add .; git commit -qm odd`,
			job:  `cwd: "-a b:c'\"é", command: [sh, -c, 'for f in ./*; do echo more >> "$f"; done; echo new > "./-n: ö"']`, files: "-a b:c'\"é/- x\ty.txt -a b:c'\"é/-n: ö",
		},
		{
			name: "long paths", make: `start; d=a; for i in 1 2 3 4 5 6 7; do d=$d/$(printf '%0200d' $i); done; mkdir -p $d; echo x > $d/x.txt; git add .; git commit -qm long`,
		},
	}
}

func oddRefused() []odd {
	const none = `be neither told nor captured: `
	return []odd{
		{name: "no commit yet", make: `git init -q "$C"`, refused: none + `the repository has no commit yet`, way: `git commit --allow-empty -m start`},
		{name: "bare repository", make: `git init -q --bare "$C"`, refused: none + `.* is a bare repository`, way: `run from a checkout of it \(git worktree add\)`},
		{name: "not a repository", make: `mkdir "$C"`, refused: none + `.*: not a git repository`, way: `git init[^.]*`},
		{
			name: "a newline in the checkout's path", make: `d="$W/new
line"; start; mv "$C" "$d"; echo "$d" > "$W/checkout-is"`,
			refused: none + `(?s).* a repository at a path with a newline is not supported`, way: `rename the folder`,
		},
		{name: "repository of somebody else (safe.directory)", make: `start; chown -R 12345 "$C"`, by: "ruled", refused: none + `(?s).*dubious ownership`, way: `git config --global --add safe.directory \S+`},
		{name: "git directory that cannot be written", make: `start; chmod a-w .git .git/objects`, by: "ruled", refused: `the git directory cannot be written: .*permission denied`, way: `make it writable for you`},
	}
}
