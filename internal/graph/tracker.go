package graph

import "slices"

// Tracker follows one run through the graph. It belongs to one goroutine.
type Tracker struct {
	g       *Graph
	pending []int // per list: dependencies that have not done yet what it waits for
	phase   []phase
	ready   []int // sorted by place in the spec
	held    map[string]int
}

type phase uint8

const (
	waiting phase = iota
	ready
	started
	settled
)

// Blocked is a job that can no longer run because of another.
type Blocked struct {
	ID     string
	Root   string // the job whose own failure is the cause
	Detail string // for a person: "scout failed: timeout"
}

// Track starts following a run in which nothing has begun.
func (g *Graph) Track() *Tracker {
	t := &Tracker{
		g: g, pending: g.pending(), phase: make([]phase, len(g.jobs)),
		held: map[string]int{},
	}
	for i := range g.jobs {
		if g.listOf[i] == none {
			t.makeReady(i)
		}
	}
	return t
}

// ReadyIf lists, in the spec's order, the first most jobs that may start now and that
// the caller can start: everything they depend on has succeeded and no begun job holds
// their serialize key. Of several with the same key only the first is listed, so all
// that is listed may start; one that the caller cannot start (its runtime is paused)
// does not stand in the way of another.
func (t *Tracker) ReadyIf(most int, can func(id string) bool) []string {
	var out []string
	var taken map[string]bool
	for _, i := range t.ready {
		if len(out) == most {
			break
		}
		j := &t.g.jobs[i]
		if key := j.Serialize; key != "" {
			if t.held[key] > 0 || taken[key] || !can(j.ID) {
				continue
			}
			if taken == nil {
				taken = map[string]bool{}
			}
			taken[key] = true
		} else if !can(j.ID) {
			continue
		}
		out = append(out, j.ID)
	}
	return out
}

// Released lists all jobs, not begun, whose dependencies have done what they wait for, in the
// spec's order.
func (t *Tracker) Released() []string { return t.g.ids(t.ready) }

// Start marks a ready job as begun; it is not ready any more and holds its serialize key
// until it settles or is put back. Any other job is left as it is.
func (t *Tracker) Start(id string) {
	i, ok := t.g.index[id]
	if !ok || t.phase[i] != ready {
		return
	}
	t.dropReady(i)
	t.phase[i] = started
	if key := t.g.jobs[i].Serialize; key != "" {
		t.held[key]++
	}
}

// Return puts a begun job back: it is ready again, and holds no serialize key until it
// is started anew. Any other job is left as it is.
func (t *Tracker) Return(id string) {
	if i, ok := t.begun(id); ok {
		t.freeKey(i)
		t.makeReady(i)
	}
}

// Leave is for a begun job that nobody goes on with in this run: it holds no key, is
// not ready, and blocks nobody.
func (t *Tracker) Leave(id string) {
	if i, ok := t.begun(id); ok {
		t.freeKey(i)
		t.phase[i] = waiting
	}
}

// Keep is Leave for a job of which something may still run: nobody else ever gets its
// key. It can be settled after that.
func (t *Tracker) Keep(id string) {
	if i, ok := t.begun(id); ok {
		t.phase[i] = waiting
	}
}

func (t *Tracker) begun(id string) (i int, ok bool) {
	i, ok = t.g.index[id]
	return i, ok && t.phase[i] == started
}

func (t *Tracker) freeKey(i int) {
	if key := t.g.jobs[i].Serialize; key != "" {
		t.held[key]--
	}
}

// Settle marks a job, begun or not, as ended. why tells a person how a job that
// did not succeed ended ("failed: timeout"). The result names every job that can
// no longer run because of it; those are settled too. A second call is ignored.
func (t *Tracker) Settle(id string, ok bool, why string) []Blocked {
	i, known := t.g.index[id]
	if !known || t.phase[i] == settled {
		return nil
	}
	t.end(i)
	if ok {
		t.release(i, true)
		return nil
	}
	return t.block(i, id+" "+why)
}

// end takes a job out of whatever phase it is in.
func (t *Tracker) end(i int) {
	if t.phase[i] == ready {
		t.dropReady(i)
	}
	if t.phase[i] == started {
		t.freeKey(i)
	}
	t.phase[i] = settled
}

// release counts a job in every list that waits for it: one that succeeded in all, any
// other in those that only wait for its end.
func (t *Tracker) release(i int, ok bool) {
	for _, n := range t.g.feeds[i] {
		if !ok && !t.g.lists[n].ended {
			continue
		}
		if t.pending[n]--; t.pending[n] > 0 {
			continue
		}
		for _, m := range t.g.lists[n].members {
			if t.phase[m] == waiting {
				t.makeReady(m)
			}
		}
	}
}

// block settles everything that depends on root, directly or not, and cannot do without its
// success. A list that waits for that can never become complete, so none of its members
// has begun.
func (t *Tracker) block(root int, detail string) []Blocked {
	var out []Blocked
	queue := []int{root}
	for at := 0; at < len(queue); at++ {
		t.release(queue[at], false)
		for _, n := range t.g.feeds[queue[at]] {
			if t.g.lists[n].ended {
				continue
			}
			for _, m := range t.g.lists[n].members {
				if t.phase[m] == settled {
					continue
				}
				t.end(m)
				queue = append(queue, m)
				out = append(out, Blocked{ID: t.g.jobs[m].ID, Root: t.g.jobs[root].ID, Detail: detail})
			}
		}
	}
	return out
}

func (t *Tracker) makeReady(i int) {
	t.phase[i] = ready
	at, _ := slices.BinarySearch(t.ready, i)
	t.ready = slices.Insert(t.ready, at, i)
}

func (t *Tracker) dropReady(i int) {
	if at, ok := slices.BinarySearch(t.ready, i); ok {
		t.ready = slices.Delete(t.ready, at, at+1)
	}
}
