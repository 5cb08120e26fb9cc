package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// indented is JSON as the rest of report.json has it.
func indented(t *testing.T, v any, prefix, indent string) string {
	t.Helper()
	var b bytes.Buffer
	if err := encoder(&b, prefix, indent).Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestPartsOfJSONAreTheDocument(t *testing.T) {
	in := sample()
	in.Notes = append(in.Notes, "\n \"jobs\": []", "\n \"reproduce\": []")
	for name, r := range map[string]Report{"sample": Build(in), "no jobs": Build(Input{}), "no commands": {Jobs: Build(in).Jobs}} {
		jobs, all := []string{}, r
		for _, j := range r.Jobs {
			jobs = append(jobs, "\n  "+indented(t, j, "", ""))
		}
		if all.Jobs = []Job{}; all.Reproduce == nil {
			all.Reproduce = []Command{}
		}
		want := strings.Replace(indented(t, all, "", " ")+"\n", "\n \"jobs\": []", "\n \"jobs\": ["+strings.Join(jobs, ",")+"]", 1)
		got, err := r.JSON()
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
		var parts int
		if err := r.JSONParts(func(part []byte) error {
			if parts++; bytes.Count(part, []byte(`{"status":{`)) > 1 {
				t.Errorf("%s: more than a job is held at a time: %s", name, part)
			}
			return nil
		}); err != nil || parts < len(jobs)+len(r.Reproduce) {
			t.Errorf("%s: %d parts, %v", name, parts, err)
		}
		if !json.Valid(got) {
			t.Errorf("%s: no JSON", name)
		}
	}
}
