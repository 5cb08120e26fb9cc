//go:build linux

package supervise_test

import (
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

// pieceDecoder knows pieces, such as {"piece":"it is "}, which it gathers.
type pieceDecoder struct {
	wordDecoder
	said string
}

const opens, closes = `{"piece":"`, `"}`

func (d *pieceDecoder) Stdout(line []byte) []runtime.Event {
	if piece, ok := strings.CutPrefix(string(line), opens); ok {
		d.said += strings.TrimSuffix(piece, closes)
		return nil
	}
	return append(d.Unfinished(), d.wordDecoder.Stdout(line)...)
}

func (d *pieceDecoder) Stderr([]byte) []runtime.Event { return nil }

func (d *pieceDecoder) Piece(line []byte) bool {
	if strings.Contains(string(line), "fails") {
		panic("a bug in the decoder")
	}
	return strings.HasPrefix(string(line), opens)
}

func (d *pieceDecoder) Unfinished() []runtime.Event {
	said := d.said
	if d.said = ""; said == "" {
		return nil
	}
	return []runtime.Event{{Kind: runtime.EventText, Text: untrusted.From(said)}}
}

func TestASecretInPieces(t *testing.T) {
	const first, second = "ghp_Ab3dEf6hIj9kL", "m2nOp5qRs8tUv1wXy4zAb7d"
	pieces := "printf '" + opens + "it is " + closes + "\\n" + opens + first + closes + "\\n" + opens + second + "." + closes + "\\n'; "
	for name, c := range map[string]struct{ script, stdout, told string }{
		"on standard output":           {pieces + "echo answer yes", "[… 3 lines with pieces of texts left out, 86 bytes …]\nanswer yes\n", "it is [REDACTED:github-token]."},
		"on standard error":            {pieces[:len(pieces)-2] + " >&2; echo answer yes", "answer yes\n", ""},
		"of what was never finished":   {pieces + "kill -KILL $$", "[… 3 lines with pieces of texts left out, 86 bytes …]\n", "it is [REDACTED:github-token]."},
		"before the decoder's failure": {pieces + `echo '{fails}'; echo answer yes`, "[… 4 lines with pieces of texts left out, 94 bytes …]\nanswer yes\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inv := job(t, c.script)
			inv.Decoder = runtime.DecoderSpec{Runtime: "pieces"}
			exit, err := start(t).Run(t.Context(), inv, nil, nil)
			if fails := strings.Contains(c.script, "fails"); (err != nil) != fails {
				t.Fatal(err)
			}
			stdout, log := read(t, inv, "stdout.txt"), read(t, inv, "events.jsonl")
			if stdout != c.stdout || exit.Truncated.Stdout != 0 {
				t.Errorf("%d bytes are dropped, kept is %q, want %q", exit.Truncated.Stdout, stdout, c.stdout)
			}
			if !strings.Contains(log, c.told) {
				t.Errorf("the whole text is not told: %s", log)
			}
			if all := stdout + log + read(t, inv, "stderr.txt"); strings.Contains(all, first) || strings.Contains(all, second) {
				t.Errorf("half a secret is on disk: %s", all)
			}
		})
	}
}
