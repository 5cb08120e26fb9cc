//go:build linux

package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// pieceRuntimes are two whose answers come in pieces: one of the Agent Client Protocol,
// and one that prints lines of JSON.
const pieceRuntimes = `runtimes:
  talker:
    custom:
      argv: [talker, --acp]
      output: acp
  teller:
    custom:
      argv: [teller]
      output: json-last-line
      completion: type=done
      answer: text
`

const talker = `#!/bin/sh
say() { printf '%%s\n' "$1"; }
answer() { say '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'; }
while IFS= read -r line; do
	id=$(printf '%%s' "$line" | sed -n 's/.*"id":\([0-9]*\)[,}].*/\1/p')
	case $line in
	*'"method":"initialize"'*) answer '{"protocolVersion":1,"agentInfo":{"name":"talker","version":"7.1"},"agentCapabilities":{},"authMethods":[]}' ;;
	*'"method":"session/new"'*) answer '{"sessionId":"s-1"}' ;;
	*'"method":"session/prompt"'*)
		cat %[1]s/chunks
		case $line in *DIE*) exit 3 ;; *HANG*) sleep 60 ;; esac
		answer '{"stopReason":"end_turn"}' ;;
	esac
done
`

const teller = `#!/bin/sh
case $(cat) in
*DIE*) cat %[1]s/deltas; exit 3 ;;
*) cat %[1]s/deltas %[1]s/done ;;
esac
`

// fillPieces writes what the two say: each secret in two pieces.
func (p *planted) fillPieces() {
	var chunks, deltas, whole strings.Builder
	for _, s := range p.shapes {
		half := strings.Index(s.Text, s.Hidden) + len(s.Hidden)/2
		whole.WriteString(s.Text + "\n\n")
		for _, piece := range []string{s.Text[:half], s.Text[half:] + "\n\n"} {
			text, err := json.Marshal(piece)
			p.check(err)
			fmt.Fprintf(&chunks, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}}}`+"\n", text)
			fmt.Fprintf(&deltas, `{"type":"text_delta","delta":%s}`+"\n", text)
		}
	}
	text, err := json.Marshal(whole.String())
	p.check(err)
	p.file("vault/chunks", chunks.String())
	p.file("vault/deltas", deltas.String())
	p.file("vault/done", fmt.Sprintf(`{"type":"done","text":%s}`+"\n", text))
	for name, script := range map[string]string{"talker": talker, "teller": teller} {
		p.file("agents/"+name, fmt.Sprintf(script, filepath.Join(p.base, "vault")))
		p.program(0, "chmod", "+x", filepath.Join(p.base, "agents", name))
	}
}

// TestNoSecretInPiecesIsLeft lets agents say sixty secrets piece by piece, and end well,
// in the midst of it and not at all. None can be put together from what is on disk.
func TestNoSecretInPiecesIsLeft(t *testing.T) {
	t.Parallel()
	p := plant(t, pieceRuntimes)
	p.fillPieces()
	p.file("work/jobs.yaml", `version: 1
concurrency: 5
defaults: {timeout: 2m, task: scout, expected_output: x, cwd: pkg}
arbiter: {mode: checks-only}
jobs:
  - {id: talk, runtime: talker, prompt: go on}
  - {id: talk-dies, runtime: talker, prompt: DIE}
  - {id: talk-hangs, runtime: talker, prompt: HANG, timeout: 10s}
  - {id: tell, runtime: teller, prompt: go on}
  - {id: tell-dies, runtime: teller, prompt: DIE}
`)
	p.none("the run's output", p.program(0, "alone", "1", "orchestrate", "run", "jobs.yaml"))
	p.search()
	p.ended(map[string]string{"talk": "success", "tell": "success", "talk-dies": "crash", "tell-dies": "no_completion", "talk-hangs": "timeout"})
	for _, id := range []string{"talk", "tell"} {
		answer := p.program(0, "orchestrate", "output", p.run(), id)
		p.none("the answer", answer)
		if said := strings.Count(answer, "[REDACTED:"); said < len(p.shapes)/2 {
			t.Errorf("job %s answered with %d secrets taken out", id, said)
		}
		stdout := p.program(0, "cat", filepath.Join(p.run(), id, "stdout.txt"))
		if want := fmt.Sprintf("[… %d lines with pieces of texts left out", 2*len(p.shapes)); !strings.Contains(stdout, want) {
			t.Errorf("job %s does not say %q: %.500s", id, want, stdout)
		}
	}
}
