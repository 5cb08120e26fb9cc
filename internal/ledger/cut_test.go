package ledger

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAJournalCutAtEveryByteReplaysToItsLastWholeRecord(t *testing.T) {
	w := wholeRun(t)
	if n := bytes.Count(w.journal, []byte("\n")); n != len(w.states)-1 {
		t.Fatalf("%d records for %d states", n, len(w.states)-1)
	}
	// From the beginning to every byte would take minutes: each line is read, to each of
	// its bytes, on top of those before it, and every so often all of them.
	var before folder
	from := 0
	for cut := range len(w.journal) + 1 {
		w.replayCut(t, &before, from, cut)
		if cut%101 == 0 {
			w.replayCut(t, &folder{}, 0, cut)
		}
		if cut > 0 && w.journal[cut-1] == '\n' {
			from = cut
		}
	}
}

// replayCut goes on with the records of the journal between two of its bytes.
func (w *whole) replayCut(t *testing.T, f *folder, from, to int) {
	want := w.states[bytes.Count(w.journal[:to], []byte("\n"))]
	cut := w.journal[from:to]
	whole, err := f.replay("journal", bytes.NewReader(cut), nil)
	if err != nil || whole != int64(bytes.LastIndexByte(cut, '\n')+1) || !reflect.DeepEqual(want, f.state) {
		t.Fatalf("cut at byte %d: %v\n%s", to, err, cmp.Diff(want, f.state))
	}
}

// cuts are every record boundary of the journal and one byte either side.
func (w *whole) cuts() map[int]int {
	at := map[int]int{0: 0}
	for n := 1; n < len(w.states); n++ {
		end := w.lines(n)
		at[end-1], at[end] = n-1, n
		if end < len(w.journal) {
			at[end+1] = n
		}
	}
	return at
}

func TestAJournalAloneIsReopenedWhereverItWasCut(t *testing.T) {
	w := wholeRun(t)
	for cut, n := range w.cuts() {
		must(t, os.RemoveAll(w.dir))
		must(t, os.Mkdir(w.dir, 0o700))
		must(t, os.WriteFile(w.dir+"/"+JournalFile, w.journal[:cut], 0o600))
		seen := 0
		r, err := Reopen(w.dir, func(Record) error { seen++; return nil })
		if n == 0 {
			if !errors.Is(err, ErrNotBegun) {
				t.Errorf("cut at byte %d: %v", cut, err)
			}
			continue
		}
		must(t, err)
		if diff := cmp.Diff(w.states[n], r.State()); diff != "" || seen != n {
			t.Errorf("cut at byte %d, %d of %d records seen:\n%s", cut, seen, n, diff)
		}
		must(t, r.Append(Resumed(false)))
		must(t, r.Close())
		s, err := Replay(w.dir)
		if err != nil || s.Seq != int64(n+1) || s.Resumes != w.states[n].Resumes+1 || s.Phase != PhaseRunning {
			t.Errorf("cut at byte %d and gone on with: %+v, %v", cut, s, err)
		}
	}
}

// TestACutJournalIsRefusedBesideFilesThatKnowMore: with the snapshot every cut shows;
// without it the files of the jobs tell of most, and what they do not tell of has left
// nothing behind.
func TestACutJournalIsRefusedBesideFilesThatKnowMore(t *testing.T) {
	w := wholeRun(t)
	for _, snapshot := range []bool{true, false} {
		if !snapshot {
			must(t, os.Remove(w.dir+"/"+StateFile))
		}
		restore := keep(t, w.dir)
		refused := 0
		for cut, n := range w.cuts() {
			must(t, os.WriteFile(w.dir+"/"+JournalFile, w.journal[:cut], 0o600))
			before := tree(t, w.dir)
			r, err := Reopen(w.dir, nil)
			var loss *LossError
			switch {
			case errors.As(err, &loss):
				refused++
				if diff := cmp.Diff(before, tree(t, w.dir)); diff != "" {
					t.Fatalf("refused, and changed:\n%s", diff)
				}
			case err != nil:
				t.Errorf("cut at byte %d: %v", cut, err)
			case snapshot && n < len(w.states)-1:
				t.Errorf("cut after record %d goes unnoticed", n)
				fallthrough
			default:
				if diff := cmp.Diff(w.states[n], r.State()); diff != "" {
					t.Errorf("cut at byte %d:\n%s", cut, diff)
				}
				must(t, r.Close())
				restore()
			}
		}
		if refused < len(w.cuts())*9/10 {
			t.Errorf("snapshot %v: only %d of %d cuts were refused", snapshot, refused, len(w.cuts()))
		}
	}
}

func TestASnapshotCutAtAnyByteIsMadeAgain(t *testing.T) {
	w, run := begin(t, "a", "b")
	w.attempt(t, run, "a", 1)
	w.end(t, run, settled("a", 1, Success, ""))
	w.stop(t, run)
	whole, err := os.ReadFile(w.dir + "/" + StateFile)
	must(t, err)
	cuts := []int{-1} // missing
	for cut := range len(whole) {
		cuts = append(cuts, cut)
	}
	for _, cut := range cuts {
		if cut < 0 {
			must(t, os.Remove(w.dir+"/"+StateFile))
		} else {
			must(t, os.WriteFile(w.dir+"/"+StateFile, whole[:cut], 0o600))
		}
		r, err := Reopen(w.dir, nil)
		must(t, err)
		torn := cut < len(whole)-1 // without its last newline it still is whole
		if told := strings.Contains(strings.Join(r.Notes(), "\n"), StateFile); told != torn {
			t.Errorf("cut at byte %d: notes %q", cut, r.Notes())
		}
		must(t, r.Close())
		if got, err := os.ReadFile(w.dir + "/" + StateFile); err != nil || !bytes.Equal(got, whole) {
			t.Fatalf("cut at byte %d: it became\n%s\n%v", cut, got, err)
		}
	}
}
