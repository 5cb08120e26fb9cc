package exec

import "orchestrate/internal/runtime"

// NewDecoder returns the decoder of a plain program. It reads nothing: a program's
// output is its answer, never a sign of completion, so Completed stays false and
// the exit status decides. WorkBegun is always true, because a program may have
// changed something without a word.
func NewDecoder(runtime.DecoderSpec) runtime.Decoder { return decoder{} }

type decoder struct{}

func (decoder) Stdout([]byte) []runtime.Event  { return nil }
func (decoder) Stderr([]byte) []runtime.Event  { return nil }
func (decoder) Settle() (runtime.Reason, bool) { return "", false }
func (decoder) Outcome() runtime.Outcome       { return runtime.Outcome{WorkBegun: true} }

// LineBlind tells the supervisor that no line of this program needs framing.
func (decoder) LineBlind() bool { return true }
