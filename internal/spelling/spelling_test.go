package spelling

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"status", "submit", "claude", "prompt_file"}
	for found, want := range map[string]string{
		"statsu": "status", "STATUS": "status", "sbmit": "submit", "claud": "claude", "promptfile": "prompt_file",
		"integrate": "", "": "", "x": "",
	} {
		if got := Nearest(found, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", found, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"ab", "ba", 1}, {"plan", "plann", 1}, {"hihg", "high", 1}, {"größe", "grosse", 3}, {"", "abc", 3}} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
