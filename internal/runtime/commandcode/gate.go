package commandcode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// searcher is the tool that looks for further tools. It stays when others go, and
// what it finds is refused.
const searcher = "search_tools"

// gate is a file for --mod: at the start of the session it takes away every tool
// that is not granted and says which are left; to a tool that comes later, such as
// one of a tool server, it answers with a refusal. %[1]s are the granted tools, %[2]s
// is what happens next.
//
// It also keeps the program itself from leaving notes on the user's taste in the
// project, for which no flag is known.
const gate = `import fs, {writeSync} from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';
import {resolve} from 'node:path';
export default function (cmd) {
  const own = resolve('.commandcode');
  for (const name of ['mkdir', 'writeFile']) {
    const real = fs.promises[name];
    fs.promises[name] = async (path, ...rest) => {
      if (resolve(String(path)).startsWith(own)) throw new Error('This job may not write to ' + own);
      return real.call(fs.promises, path, ...rest);
    };
  }
  syncBuiltinESMExports();
  const granted = new Set(%[1]s);
  cmd.hooks({
    onSessionStart: async () => {
      const all = cmd.getAllTools();
      cmd.setActiveTools(all.filter((tool) => granted.has(tool)));
      writeSync(1, JSON.stringify({type: 'gate', all, active: cmd.getActiveTools()}) + '\n');
%[2]s    },
    beforeToolCall: async ({toolName}) => granted.has(toolName) || toolName === '` + searcher + `' ? undefined :
      {block: true, additionalContext: 'This job may not use the tool ' + toolName + '.'},
  });
}
`

// andLeave ends the program before it calls a model.
const andLeave = "      process.exit(0);\n"

func gateFor(tools []string, next string) string {
	granted, err := json.Marshal(tools)
	if err != nil { // a list of strings always encodes
		panic(err)
	}
	return fmt.Sprintf(gate, granted, next)
}

// withGate puts the gate "$1" into a file of its own and runs the program "$2" with
// it. Nothing starts unless the file was written, and it goes with the program, as
// does the program's scratch space.
const withGate = `dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap : INT TERM HUP
printf '%s' "$1" >"$dir/gate.mjs" || exit 1
program=$2
shift 2
TMPDIR=$dir COMMANDCODE_SCRATCHPAD_BASE=$dir "$program" ` + flagMod + `="$dir/gate.mjs" "$@"`

const shell = "/bin/sh"

// gated are the words after the shell that run program behind a gate.
func gated(gate, program string, args []string) []string {
	return append([]string{"-c", withGate, Name, gate, program}, args...)
}

// reading are the tools that a job may get.
func reading() []string { return []string{"read_file", "read_directory", "glob", "grep"} }

// researching are the tools that a job may get beside those.
func researching() []string { return []string{"web_search", "web_fetch"} }

// grantFor maps a request to tools, or says what cannot be mapped.
func grantFor(req runtime.Request) ([]string, error) {
	wanted := req.AllowedTools
	if wanted == nil {
		wanted = reading()
		if req.Task == "research" {
			wanted = append(wanted, researching()...)
		}
	}
	possible := append(reading(), researching()...)
	granted := []string{}
	for _, tool := range wanted {
		if !slices.Contains(possible, tool) {
			return nil, fmt.Errorf("allowed_tools: %q is not a tool that command-code may get; possible are %s", tool, strings.Join(possible, ", "))
		}
		if !slices.Contains(req.DisallowedTools, tool) {
			granted = append(granted, tool)
		}
	}
	return granted, nil
}

// bringsPrograms refuses a folder with files from which the program would start
// hooks and tool servers, unasked, and trust them from then on. It looks for them in
// its working folder only.
func bringsPrograms(dir string) error {
	for _, name := range []string{".mcp.json", ".commandcode/settings.json", ".commandcode/settings.local.json"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		_, err := os.Lstat(file)
		switch {
		case err == nil:
			return fmt.Errorf("command-code cannot be bounded in %s: it would start what %s names without asking, and no flag keeps that out; let the job work elsewhere or use another runtime", dir, file)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("command-code cannot be bounded in %s: whether the folder brings hooks or tool servers is not known: %w", dir, err)
		}
	}
	return nil
}
