package supervise

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/secret"
)

// spot shows chunks to a spotter and returns what it told of.
func spot(red *secret.Redactor, chunks ...string) (told []string) {
	d := newDenied(redactWith(red), func(text string) { told = append(told, text) })
	var s spotter
	for _, c := range chunks {
		s.look([]byte(c), d)
	}
	return told
}

func TestRefusalsAreSpotted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf("file %d: Permission denied\n", i)
	}
	for name, tc := range map[string]struct {
		chunks []string
		want   []string
	}{
		"none":         {[]string{"all is well\n", ""}, nil},
		"a line":       {[]string{"before\nsh: 1: cannot create /x: Permission denied\nafter\n"}, []string{"sh: 1: cannot create /x: Permission denied"}},
		"equal ones":   {[]string{"a: Permission denied\na: Permission denied\n", "a: Permission denied\n"}, []string{"a: Permission denied"}},
		"two words":    {[]string{"EACCES: permission denied, open '/x'\n"}, []string{"EACCES: permission denied, open '/x'"}},
		"split":        {[]string{"touch: /x: Operation not per", "mitted\n"}, []string{"touch: /x: Operation not permitted"}},
		"split thrice": {[]string{"touch: /x: Oper", "ation not per", "mitted\n"}, []string{"touch: /x: Operation not permitted"}},
		"a link out":   {[]string{"ln: failed to create hard link: Invalid cross-device link\n"}, []string{"ln: failed to create hard link: Invalid cross-device link"}},
		"byte by byte": {strings.Split("\nmkdir /x: EACCES\n", ""), []string{"mkdir /x: EACCES"}},
		"escaped":      {[]string{`{"text":"one\nopen /x: permission denied\nthree"}` + "\n"}, []string{"open /x: permission denied"}},
		"no end yet":   {[]string{"/x: Permission denied: and", " more\n"}, []string{"/x: Permission denied"}},
		"long line":    {[]string{long + "/x: EACCES " + long + "\n"}, []string{long[:deniedText-4] + "/x: EACCES " + long[:deniedText-1]}},
		"too many":     {[]string{strings.Join(many, "")}, trimmed(many[:maxDenied])},
	} {
		if got := spot(nil, tc.chunks...); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func trimmed(lines []string) (all []string) {
	for _, l := range lines {
		all = append(all, strings.TrimSpace(l))
	}
	return all
}

// A secret is redacted before the line is cut, wherever reads end.
func TestRefusalsTellNoSecret(t *testing.T) {
	t.Parallel()
	const value = "kfh3iuh4kjhr98y4rfkjhsd98yf4ihfkuwhef98y4hroiweyhr98"
	red := secret.New([]string{value})
	for name, line := range map[string]string{
		"before": value + ": Permission denied\n",
		"after":  "Permission denied: " + value + "\n",
		"far":    value + strings.Repeat("y", deniedText-10) + " EACCES " + strings.Repeat("y", deniedText-20) + value + "\n",
		"again":  "EACCES " + value + "\nEACCES and " + value + "\n",
	} {
		for cut := range len(line) {
			told := spot(red, line[:cut], line[cut:])
			if len(told) == 0 {
				t.Errorf("%s, cut at %d: nothing told", name, cut)
			}
			for _, text := range told {
				for at := 0; at+8 <= len(value); at++ {
					if strings.Contains(text, value[at:at+8]) {
						t.Fatalf("%s, cut at %d: a part of the secret is in %q", name, cut, text)
					}
				}
			}
		}
	}
}

// BenchmarkSpotter reads what a busy program prints, and one that is refused everything.
func BenchmarkSpotter(b *testing.B) {
	for name, line := range map[string]string{
		"zeros":   string(make([]byte, 64)),
		"text":    "ok   example.com/some/package/with/a/name   0.123s  coverage: 84.2%\n",
		"refused": "cp: cannot create regular file '/usr/lib/x': Permission denied\n",
	} {
		b.Run(name, func(b *testing.B) {
			chunk := []byte(strings.Repeat(line, (256<<10)/len(line)))
			d := newDenied(redactWith(nil), func(string) {})
			var s spotter
			b.SetBytes(int64(len(chunk)))
			for b.Loop() {
				s.look(chunk, d)
			}
		})
	}
}
