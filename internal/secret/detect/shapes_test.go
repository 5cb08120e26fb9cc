package detect

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"orchestrate/internal/secret"
	"orchestrate/internal/secret/secrettest"
)

// knowing is a redactor and a detector of the values that have no shape.
func knowing(t *testing.T, all []secrettest.Shape) (*secret.Redactor, *Detector) {
	t.Helper()
	var exact []string
	for _, s := range all {
		if s.Known != secrettest.FromShape {
			exact = append(exact, s.Hidden)
		}
	}
	return secret.New(exact), mustNew(t, exact, nil)
}

// TestNoShapePassesTheStream as it is, within JSON and in base64, whole and in two
// writes at each place.
func TestNoShapePassesTheStream(t *testing.T) {
	for seed := range uint64(5) {
		all := secrettest.Shapes(seed)
		if len(all) != 60 {
			t.Fatalf("%d shapes", len(all))
		}
		red, _ := knowing(t, all)
		for _, s := range all {
			quoted, err := json.Marshal(map[string]string{"text": s.Text})
			if err != nil {
				t.Fatal(err)
			}
			encoded := base64.StdEncoding.EncodeToString([]byte("user:" + s.Text))
			for form, text := range map[string]string{"plain": s.Text, "JSON": string(quoted), "base64": encoded, "folded": fold(encoded, 76)} {
				if shows(red.String(text), s) {
					t.Errorf("seed %d: %s is shown as %s: %q", seed, s.Class, form, text)
				}
				if cut := firstShown(red, text, s); cut >= 0 {
					t.Errorf("seed %d: %s is shown as %s when it comes in two parts, the first %q", seed, s.Class, form, text[:cut])
				}
			}
		}
	}
}

// firstShown is the first place at which a text can be cut in two so that what is
// written of both parts, one after the other, shows the secret.
func firstShown(red *secret.Redactor, text string, s secrettest.Shape) int {
	for cut := 1; cut < len(text); cut += 1 + len(text)/100 {
		first := []byte(text[:cut])
		safe := red.SafeCut(first, red.AppendSpans(nil, first))
		if shows(red.String(text[:safe])+red.String(text[safe:]), s) {
			return cut
		}
	}
	return -1
}

func fold(text string, width int) string {
	var b strings.Builder
	for len(text) > width {
		b.WriteString(text[:width] + "\n")
		text = text[width:]
	}
	return b.String() + text
}

func shows(text string, s secrettest.Shape) bool {
	return len(secrettest.InText("", []byte(text), s.Halves())) > 0
}

// TestMostShapesAreRefused when a person hands them in. What is not is what a person
// may have chosen, and is redacted.
func TestMostShapesAreRefused(t *testing.T) {
	all := secrettest.Shapes(1)
	_, d := knowing(t, all)
	refused := 0
	for _, s := range all {
		found := d.Find(s.Text)
		switch {
		case len(found) > 0:
			refused++
		case s.Class != "assigned" && s.Class != "header":
			t.Errorf("%s is not refused: %q", s.Class, s.Text)
		}
	}
	t.Logf("%d of %d are refused", refused, len(all))
}

// TestInnocentTextPasses at intake, in a stream and in a patch.
func TestInnocentTextPasses(t *testing.T) {
	all := secrettest.Innocents(1)
	if len(all) != 300 {
		t.Fatalf("%d texts", len(all))
	}
	red, d := secret.New(nil), mustNew(t, nil, nil)
	taken := map[string]int{}
	for _, in := range all {
		patch, err := d.FindContext(context.Background(), in.Text)
		if err != nil {
			t.Fatal(err)
		}
		for place, hit := range map[string]bool{
			"intake": len(d.Find(in.Text)) > 0, "stream": red.String(in.Text) != in.Text, "patch": len(patch) > 0,
		} {
			if !hit {
				continue
			}
			taken[in.Class+" in "+place]++
			if in.Never {
				t.Errorf("%s: a %s is taken for a secret: %.200q -> %.200q %+v", place, in.Class, in.Text, red.String(in.Text), d.Find(in.Text))
			} else {
				t.Logf("%s: a %s is taken for a secret: %.100q", place, in.Class, in.Text)
			}
		}
	}
	t.Logf("taken for secrets, of %d texts: %v", len(all), taken)
}

// TestAWeakPasswordShredsNothing where it is the value of a variable or an .env file.
func TestAWeakPasswordShredsNothing(t *testing.T) {
	values := secret.FromEnv([]string{"PGPASSWORD=postgres", "MYSQL_PASSWORD=root", "API_KEY=test", "SECRET=production"})
	red, d := secret.New(values), mustNew(t, values, nil)
	for _, text := range []string{
		"PGPASSWORD=postgres psql -U postgres -h localhost", "the postgres image is started", "run the test in production as root",
	} {
		if got := red.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if found := d.Find(text); len(found) > 0 {
			t.Errorf("%q is refused: %+v", text, found)
		}
	}
}
