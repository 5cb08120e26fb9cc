package dispatch

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// way is how an attempt of a paced backend gets on.
type way struct {
	intends, begins time.Duration // how long what comes before each step takes
	first           func(*Turn)   // what it does with its place before that, nil = nothing
	then            func(*Turn)   // and once it is intended
	goesBack        bool          // it ends before it is intended
}

// paced is a script whose attempts get on as told, and which keeps who took a step when.
type paced struct {
	*script
	ways  map[string]way
	steps map[Step][]string
}

func (p *paced) took(job string, step Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps[step] = append(p.steps[step], fmt.Sprintf("%s@%v", job, time.Since(p.begin)))
}

func (p *paced) Attempt(ctx context.Context, s Start) Ended {
	w := p.ways[s.Job]
	if w.first != nil {
		w.first(s.Turn)
	}
	time.Sleep(w.intends)
	if w.goesBack {
		return Ended{}
	}
	s.Turn.Await(ctx, StepIntended)
	p.took(s.Job, StepIntended)
	s.Turn.Took(StepIntended)
	if w.then != nil {
		w.then(s.Turn)
	}
	time.Sleep(w.begins)
	s.Turn.Await(ctx, StepBegun)
	p.took(s.Job, StepBegun)
	return p.script.Attempt(ctx, s) // it takes a second, and leaves its place only with its end
}

func TestStepsAreTakenInTheOrderOfTheStarts(t *testing.T) {
	const sec = time.Second
	aside, leave := (*Turn).StepAside, (*Turn).Leave
	for name, c := range map[string]struct {
		ways            map[string]way
		carry           []string
		end             time.Duration // of the context, 0 = never
		intended, begun []string
	}{
		"all alike": {
			intended: []string{"a@0s", "b@0s", "c@0s"},
			begun:    []string{"a@0s", "b@1s", "c@2s"},
		},
		"what is ready earlier waits": {
			ways:     map[string]way{"a": {intends: 2 * sec}, "b": {begins: 3 * sec}},
			intended: []string{"a@2s", "b@2s", "c@2s"},
			begun:    []string{"a@2s", "b@5s", "c@6s"},
		},
		"whoever goes back is not waited for": {
			ways:     map[string]way{"a": {intends: sec, goesBack: true}},
			intended: []string{"b@1s", "c@1s"},
			begun:    []string{"b@1s", "c@2s"},
		},
		"whoever leaves is not waited for": {
			ways:     map[string]way{"a": {intends: 5 * sec, first: leave}},
			intended: []string{"b@0s", "c@0s", "a@5s"},
			begun:    []string{"b@0s", "c@1s", "a@5s"},
		},
		"whoever steps aside is passed": {
			ways:     map[string]way{"a": {begins: 5 * sec, then: aside}},
			intended: []string{"a@0s", "b@0s", "c@0s"},
			begun:    []string{"b@0s", "c@1s", "a@5s"},
		},
		"those who step aside keep their order": {
			ways:     map[string]way{"a": {begins: 5 * sec, then: aside}, "b": {begins: 2 * sec, then: aside}},
			intended: []string{"a@0s", "b@0s", "c@0s"},
			begun:    []string{"c@0s", "a@5s", "b@6s"},
		},
		"what is under way is in no line": {
			ways: map[string]way{"b": {intends: sec, begins: 4 * sec}}, carry: []string{"b"},
			intended: []string{"a@0s", "c@0s", "b@1s"},
			begun:    []string{"a@0s", "c@1s", "b@5s"},
		},
		"nobody waits when the run ends": {
			ways: map[string]way{"a": {begins: 5 * sec}}, end: 3 * sec,
			intended: []string{"a@0s", "b@0s", "c@0s"},
			begun:    []string{"a@5s", "b@3s", "c@3s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.end > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.end)
					defer cancel()
				}
				p := &paced{script: &script{begin: time.Now()}, ways: c.ways, steps: map[Step][]string{}}
				made := map[string]int{}
				for _, job := range c.carry {
					made[job] = 1
				}
				(&Loop{Graph: newLine(nil, "a", "b", "c"), Backend: p, Slots: 3, Attempts: made, Carry: c.carry}).Run(ctx)
				if c.end > 0 { // those that it found waiting are in no order
					slices.Sort(p.steps[StepBegun])
				}
				if in, begun := p.steps[StepIntended], p.steps[StepBegun]; !slices.Equal(in, c.intended) || !slices.Equal(begun, c.begun) {
					t.Errorf("intended %v, begun %v\nwant %v and %v", in, begun, c.intended, c.begun)
				}
			})
		})
	}
}

// A place that was left keeps nobody, however many there were.
func TestNobodyStaysInTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Loop{
			Graph: newLine(nil, "a", "b", "c", "d", "e"), Slots: 2,
			Backend: &paced{script: &script{begin: time.Now()}, steps: map[Step][]string{}, ways: map[string]way{"b": {goesBack: true}, "d": {first: (*Turn).StepAside}}},
		}
		l.Run(t.Context())
		if n := len(l.line.turns); n > 0 {
			t.Errorf("%d are still in it", n)
		}
	})
}
