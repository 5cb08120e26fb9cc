package cli

import (
	"fmt"
	"time"

	"orchestrate/internal/ledger"
	"orchestrate/internal/ui"
)

// glass is the view through which the command that started a run shows it. A nil one
// shows nothing: the engine prints lines then.
type glass struct {
	*onlooker
	results *progress // the engine's standard output
	pressed chan ui.Press
	tail    *ui.Tail // nil until the run has begun
	lost    bool     // it cannot be read on, which was said
	away    bool     // a question is being put, or the run is over: the terminal is not ours
}

// lookEvery is how often the journal and the events are read.
const lookEvery = 100 * time.Millisecond

func newGlass(sys System, how manner) *glass {
	if how.unattended() || how.tasks != nil {
		return nil
	}
	g := &glass{results: newProgress(sys.Out), pressed: make(chan ui.Press, 8)}
	g.onlooker = newOnlooker(sys, sys.Err, how.plain, "stop it", g.press)
	if g.onlooker == nil {
		return nil
	}
	g.results.hold() // until the summary is out, which they end
	return g
}

// press never waits: who presses more than can be taken presses in vain.
func (g *glass) press(p ui.Press) {
	select {
	case g.pressed <- p:
	default:
	}
}

func (g *glass) presses() <-chan ui.Press {
	if g == nil {
		return nil
	}
	return g.pressed
}

func (g *glass) broken() <-chan struct{} {
	if g == nil {
		return nil
	}
	return g.onlooker.broken()
}

// looks tells when to look again.
func (g *glass) looks() (<-chan time.Time, func()) {
	if g == nil {
		return nil, func() {}
	}
	t := time.NewTicker(lookEvery)
	return t.C, t.Stop
}

// begin starts to follow the run that the engine has begun.
func (g *glass) begin(w *watched) {
	if g == nil {
		return
	}
	w.how.sayBegun(g.sys, w.run.RunID, w.run.Dir)
	w.told.told = func(text string) { g.live.Say(text, g.sys.Now()) }
	run, err := ledger.Open(w.run.Dir)
	if err == nil {
		err = joined(g.onlooker.begin(run), run.Close())
	}
	if err == nil {
		g.tail, err = ui.OpenTail(w.run.Dir)
	}
	if err != nil {
		g.without(err)
	}
}

// look takes in what is new, and shows the view unless a person is being asked.
func (g *glass) look(w *watched) {
	if g.tail == nil {
		return
	}
	if err := g.tail.Next(g.record); err != nil && !g.lost {
		g.lost = true
		g.live.Say(fmt.Sprintf("the journal cannot be read on: %v", err), g.sys.Now())
	}
	g.listen()
	if g.screen == nil && !g.away && !g.live.Ended() {
		w.told.hold()
		g.show()
		if g.screen == nil {
			g.hide(w)
		}
	}
}

// asked says that a question is put, or is answered.
func (g *glass) asked(now bool) {
	if g != nil {
		g.away = now
	}
}

// hide takes the view off and shows what the engine said meanwhile.
func (g *glass) hide(w *watched) {
	if g == nil {
		return
	}
	g.onlooker.hide()
	w.told.let()
}

// end is called when the engine has gone and all that it said is there: the view makes
// room for how the run stands.
func (g *glass) end(w *watched) {
	if g == nil {
		return
	}
	g.away = true
	g.look(w)
	g.onlooker.hide()
	w.told.let()
	if g.tail != nil {
		g.summary(g.sys.Err)
	}
	g.results.let()
	w.broken = g.results.failure()
}

func (g *glass) close(w *watched) error {
	if g == nil {
		return nil
	}
	g.hide(w)
	g.results.let()
	err := g.onlooker.close()
	if g.tail != nil {
		err = joined(err, g.tail.Close())
	}
	return err
}
