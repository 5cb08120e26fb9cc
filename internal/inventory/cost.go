package inventory

import (
	"math"
	"time"

	"orchestrate/internal/runtime"
)

// Cost is what a round of probes took.
type Cost struct {
	Questions int     `json:"questions"`
	WallMs    int64   `json:"wallMs"`  // from the first question to the last answer
	CPUMs     *int64  `json:"cpuMs"`   // of the programs and all that they started, as far as it was measured; null = not at all
	SumMs     int64   `json:"sumMs"`   // the times of all questions added up
	Overlap   float64 `json:"overlap"` // sumMs / wallMs: how many were under way at a time
}

func (c *Cost) add(a runtime.Answer) {
	c.plus(Cost{Questions: 1, SumMs: a.Evidence.DurationMs, CPUMs: a.CPUMs})
}

func (c *Cost) plus(other Cost) {
	c.Questions += other.Questions
	c.SumMs += other.SumMs
	if other.CPUMs != nil {
		if c.CPUMs == nil {
			c.CPUMs = new(int64)
		}
		*c.CPUMs += *other.CPUMs
	}
}

func (c *Cost) over(wall time.Duration) {
	c.WallMs = wall.Milliseconds()
	if c.WallMs > 0 {
		c.Overlap = math.Round(100*float64(c.SumMs)/float64(c.WallMs)) / 100
	}
}
