package engine

import (
	"path/filepath"

	"orchestrate/internal/ledger"
)

// keptRuns are the folders below the workspace root in which runs are kept, of either form.
func (p *Plan) keptRuns() []string {
	return []string{
		filepath.Join(p.Root, filepath.FromSlash(ledger.ReportsDir)),
		filepath.Join(p.Root, filepath.FromSlash(ledger.WorkerRunsDir)),
	}
}

// runsDir is the folder that the directory of the plan's run is made in.
func (p *Plan) runsDir() string {
	if p.Request.Worker != "" {
		return filepath.Join(p.Request.Worker, ledger.CallsDir)
	}
	return filepath.Join(p.Root, filepath.FromSlash(ledger.ReportsDir))
}

// someRun is the longest name that the directory of the plan's run may get.
func (p *Plan) someRun() string {
	if p.Request.Worker != "" {
		return filepath.Join(p.runsDir(), someCall)
	}
	return filepath.Join(p.runsDir(), someRun)
}
