package engine

import "testing"

func TestTheNamesOfAnAttemptsEnvironment(t *testing.T) {
	got := environmentText(
		[]string{"PATH=/bin", "TMPDIR=/tmp", "CLAUDECODE=1", "OTHER_KEY=secret-value", "=odd"},
		[]string{"PATH=/bin", "TMPDIR=/private", "ORCHESTRATE_OUT=/out"},
	)
	if want := "passed PATH\nset ORCHESTRATE_OUT\nset TMPDIR\nwithheld CLAUDECODE\nwithheld OTHER_KEY\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
