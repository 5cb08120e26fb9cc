package cli

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// A probe before the run is told once it takes its time, by the runtime's name and with
// the time; a quick one never.
func TestSlowProbesBeforeARunAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		begun := tellSlow(System{Err: &out, Now: time.Now})
		quick, slow, other := begun("pi"), begun("claude"), begun("codex")
		quick()
		time.Sleep(1900 * time.Millisecond)
		synctest.Wait()
		if out.Len() > 0 {
			t.Errorf("too early: %s", out.String())
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		slow()
		other()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := out.String(), "      2s  probing claude, codex …\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
