package engine

import (
	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
)

// aboutSession is for what the hosting session carried out, or did not: there is no stream
// and no process to look at.
func (t trouble) aboutSession() string {
	switch t.status.Reason {
	case runtime.ReasonSessionFailed:
		return "the hosting session could not do it (" + t.evidence() + "): put that right" + t.then()
	case runtime.ReasonStaleResult:
		return "its result came after what it builds on had changed (" + t.evidence() + "): " + t.resume() + " gives the job out anew; `orchestrate next " + t.run + " --lease 1h` keeps it longer"
	case runtime.ReasonLeaseLapsed:
		return t.resume() + " gives the job out anew; who takes it can keep it longer (`orchestrate next " + t.run + " --lease 1h`)"
	}
	if t.status.Runtime == runtime.Internal && t.status.Reason == runtime.ReasonEmptyOutput {
		return "the result that was handed in is empty (" + t.file(ledger.ResultFile) + "): have the final answer handed in, after " + t.resume()
	}
	return ""
}
