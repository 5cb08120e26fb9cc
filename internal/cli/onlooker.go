package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/ui"
)

// onlooker shows a run on a terminal while somebody carries it on. The zero value shows
// nothing.
type onlooker struct {
	sys    System
	term   ui.Terminal // without its input, which is open only while the view is
	press  func(ui.Press)
	live   *ui.Live
	lines  *ui.Lines // in its place, once it has turned out that there can be no view
	events *ui.Events
	screen *ui.Screen
}

// newOnlooker looks at a run on the terminal that out is, nil where it is none on which
// a view can be: one of somebody else, one that a coding agent reads, a dumb one. stops
// says what Ctrl-C does.
func newOnlooker(sys System, out io.Writer, plain bool, stops string, press func(ui.Press)) *onlooker {
	if o, ok := out.(*outlet); ok {
		out = o.to
	}
	f, ok := out.(*os.File)
	if !ok || !foreground(f) || environ.HostedBy(sys.Env) != "" {
		return nil
	}
	switch environ.Value(sys.Env, "TERM") {
	case "", "dumb":
		return nil
	}
	return &onlooker{sys: sys, press: press, live: ui.NewLive(), term: ui.Terminal{
		Out: f, Env: sys.Env, Stops: stops, Colour: !plain && environ.Value(sys.Env, "NO_COLOR") == "", ASCII: !utf8Terminal(sys.Env),
	}}
}

// utf8Terminal reports whether the locale says that the terminal shows UTF-8.
func utf8Terminal(env []string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(environ.Value(env, name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// begin learns what the run's spec says.
func (o *onlooker) begin(run *ledger.Run) error {
	plan, err := outline(run)
	if err != nil {
		return err
	}
	o.live.Plan(plan)
	o.events, err = ui.OpenEvents(run.Dir)
	return err
}

// record takes in the next record of the run.
func (o *onlooker) record(r ledger.Record) {
	o.live.Record(r)
	if o.lines != nil {
		o.lines.Record(r)
	}
}

// listen takes in what the running attempts have said since.
func (o *onlooker) listen() {
	if o.events != nil {
		o.events.Next(o.live.Running(), o.live.Event)
		o.events.Holders(o.live.Away(), o.live.Taken)
	}
}

// show puts the view on the terminal, unless it is there or there can be none.
func (o *onlooker) show() {
	if o.screen != nil || o.lines != nil {
		return
	}
	in, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err == nil {
		o.term.In = in
		o.screen, err = ui.OpenScreen(o.term, o.live, o.sys.Now, o.press)
	}
	if err != nil {
		o.without(err)
	}
}

// without goes on by lines.
func (o *onlooker) without(err error) {
	fmt.Fprintf(o.sys.Err, "note: there is no live view: %v\n", err)
	o.lines = ui.NewLines(o.sys.Err)
}

// broken is closed when the view has ended by itself; nil while there is none.
func (o *onlooker) broken() <-chan struct{} {
	if o == nil || o.screen == nil {
		return nil
	}
	return o.screen.Done()
}

// hide takes the view off the terminal and forgets what was typed meanwhile: it was not
// meant for what comes after.
func (o *onlooker) hide() {
	if o.screen == nil {
		return
	}
	err := o.screen.Close()
	o.screen = nil
	if err = errors.Join(err, forget(o.term.In), o.term.In.Close()); err != nil {
		o.without(err)
	}
}

// summary leaves on the screen how the run stands, if the view has told of it so far.
func (o *onlooker) summary(w io.Writer) {
	if o.lines != nil {
		return
	}
	for _, text := range o.live.Summary(o.sys.Now(), o.term.ASCII) {
		fmt.Fprintln(w, text)
	}
}

func (o *onlooker) close() error {
	o.hide()
	if o.events == nil {
		return nil
	}
	return o.events.Close()
}
