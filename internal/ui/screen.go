package ui

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// Terminal is where a view is shown.
type Terminal struct {
	In, Out *os.File
	Env     []string
	Colour  bool
	ASCII   bool   // it shows no signs beside those of ASCII
	Stops   string // what Ctrl-C does here, in a word or two
}

// Press is a key that the view does not carry out itself.
type Press int

// What a person can ask for.
const (
	PressLeave     Press = iota // to stop looking
	PressInterrupt              // what Ctrl-C means
)

// Screen shows a run on the alternate screen of a terminal until it is closed.
type Screen struct {
	program *tea.Program
	in      *os.File
	before  *term.State
	done    chan struct{}
	err     error
}

// redrawn is the least time between two pictures.
const redrawn = 100 * time.Millisecond

// OpenScreen begins to show a run. press is told of keys, and must not wait.
func OpenScreen(t Terminal, live *Live, now func() time.Time, press func(Press)) (*Screen, error) {
	before, err := term.GetState(t.In.Fd())
	if err != nil {
		return nil, fmt.Errorf("the terminal cannot be asked for its state: %w", err)
	}
	m := &shown{live: live, now: now, press: press, frame: Frame{Colour: t.Colour, ASCII: t.ASCII, At: Following, Keys: keys + t.Stops}}
	s := &Screen{in: t.In, before: before, done: make(chan struct{}), program: tea.NewProgram(m,
		tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Env), tea.WithoutSignalHandler(),
		tea.WithFPS(int(2*time.Second/redrawn)))}
	go func() {
		defer close(s.done)
		_, s.err = s.program.Run()
		s.err = errors.Join(s.err, m.fault)
	}()
	return s, nil
}

// Done is closed when the view has ended, by Close or because it could not go on.
func (s *Screen) Done() <-chan struct{} { return s.done }

// How long a terminal may take to be given back.
const givenBack = 2 * time.Second

// Close gives the terminal back as it was. It says why the view had ended before.
func (s *Screen) Close() error {
	go s.program.Quit()
	if !s.within(givenBack) {
		go s.program.Kill()
		if !s.within(givenBack) {
			return errors.Join(errors.New("the terminal takes nothing any more"), term.Restore(s.in.Fd(), s.before))
		}
	}
	return errors.Join(s.err, term.Restore(s.in.Fd(), s.before))
}

func (s *Screen) within(limit time.Duration) bool {
	select {
	case <-s.done:
		return true
	case <-time.After(limit):
		return false
	}
}

// shown is what the library asks for the picture and tells of keys.
type shown struct {
	live  *Live
	now   func() time.Time
	press func(Press)
	frame Frame
	text  string
	first int // row that is shown first
	page  int
	drawn int   // version of the run in the picture
	at    int64 // second of the picture
	fault error // why no picture could be made
}

// look asks for the next look at the run.
type look struct{}

func later() tea.Msg {
	time.Sleep(redrawn)
	return look{}
}

// Init begins to look.
func (s *shown) Init() tea.Cmd { return later }

// Update takes what happened at the terminal.
func (s *shown) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	switch m := m.(type) {
	case look:
		s.draw(false)
		if s.fault != nil {
			return s, tea.Quit
		}
		return s, later
	case tea.WindowSizeMsg:
		s.frame.Width, s.frame.Height = m.Width, m.Height
		s.draw(true)
	case tea.KeyPressMsg:
		return s, s.key(m.String())
	}
	return s, nil
}

// draw makes the picture, unless it must not and the run is as it was within the second.
// A fault in that ends the view in order, and not the command: the next look sees to it.
func (s *shown) draw(must bool) {
	defer func() {
		if r := recover(); r != nil {
			s.fault = fmt.Errorf("a fault in the view: %v", r)
		}
	}()
	now, version := s.now(), s.live.Version()
	if !must && version == s.drawn && now.Unix() == s.at {
		return
	}
	s.frame.Now, s.drawn, s.at = now, version, now.Unix()
	lines, at, first, page := s.live.View(s.frame)
	s.frame.At, s.first, s.page = at, first, page
	s.text = strings.Join(lines, "\n")
}

const keys = "arrows, PgUp, PgDn: all   f: what moves   q: leave it running   Ctrl-C: "

// key carries out a key.
func (s *shown) key(name string) tea.Cmd {
	step := 0
	switch name {
	case "ctrl+c":
		s.press(PressInterrupt)
		return nil
	case "q", "Q":
		s.press(PressLeave)
		return nil
	case "ctrl+z":
		return tea.Exec(suspension{}, nil)
	case "ctrl+l":
		return tea.ClearScreen
	case "up", "k":
		step = -1
	case "down", "j":
		step = 1
	case "pgup", "b":
		step = -max(1, s.page-2)
	case "pgdown", "space":
		step = max(1, s.page-2)
	case "home", "g":
		s.frame.At = 0
	case "end", "G":
		s.frame.At = 1 << 30
	case "f", "esc":
		s.frame.At = Following
	default:
		return nil
	}
	if step != 0 {
		s.frame.At = max(0, max(s.first, s.frame.At)+step)
	}
	s.draw(true)
	return nil
}

// View is the picture.
func (s *shown) View() tea.View {
	v := tea.NewView(s.text)
	v.AltScreen, v.DisableBracketedPasteMode = true, true
	return v
}
