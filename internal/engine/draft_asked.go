package engine

import (
	"errors"
	"fmt"
	"io/fs"

	"orchestrate/internal/gate"
	"orchestrate/internal/ledger"
	"orchestrate/internal/policy"
	"orchestrate/internal/route"
	"orchestrate/internal/runtime"
)

// recordedRequest is that of a run that goes on.
func recordedRequest(info ledger.RunInfo) *madeFrom {
	if info.RequestDigest == "" {
		return nil
	}
	return &madeFrom{digest: info.RequestDigest}
}

func (m *madeFrom) sha256() string {
	if m == nil {
		return ""
	}
	return m.digest
}

// keepRequest leaves the request in the run directory: of a run that plans it where the
// spec will be, of one that carries it out beside its spec.
func (r *run) keepRequest() error {
	if d := r.plan.draft; d != nil {
		r.plan.Spec.Path = r.led.Path(draftFile(ledger.RequestMDFile))
		return errors.Join(r.led.MkdirAll(ledger.DraftDir), r.led.WriteFile(draftFile(ledger.RequestMDFile), []byte(d.req.Text)))
	}
	if made := r.plan.asked; made != nil && made.words != nil {
		return r.led.WriteFile(ledger.RequestMDFile, made.words)
	}
	return nil
}

// NoFurther refuses to go on with a run that only planned a request: what it would be told
// may be another by now, and nothing of it is lost. nil = it can be resumed.
func NoFurther(led *ledger.Run) error {
	_, err := led.ReadFile(draftFile(ledger.RequestMDFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("run %s planned a request, and such a run is not gone on with: give the request again; its words are in %s, and `orchestrate cancel %s` ends what may still run of it", led.ID, led.Path(draftFile(ledger.RequestMDFile)), led.ID)
}

// ownWord reports whether a job is approved only by a person who was shown it: a planner
// wrote what goes beyond this machine, and --yes was said to something else.
func (p *Plan) ownWord(risk string) bool { return p.asked != nil && risk == string(policy.R3) }

// uncovered says of a job that waits for an approval that --yes was none for it.
func (p *Plan) uncovered(block *route.Block, word gate.Word) *route.Block {
	if block != nil && block.Reason == runtime.BlockedApproval && p.asked != nil && p.Request.Yes && !word.Refused {
		block.Detail = "a planner wrote this spec, so --yes does not cover it. " + block.Detail
	}
	return block
}

// noteRequest says what a spec that a planner made has of its own.
func (p *Plan) noteRequest() {
	if p.asked == nil {
		return
	}
	if p.asked.doubt != "" {
		p.Notes = append(p.Notes, p.asked.doubt)
	}
	for i := range p.Jobs {
		if p.Jobs[i].Tiers.Risk == policy.R3 {
			p.Notes = append(p.Notes, fmt.Sprintf("a planner wrote this spec, so job %s (R3) needs an approval of its own at a terminal; --yes does not cover it", p.Jobs[i].Job.ID))
		}
	}
}
