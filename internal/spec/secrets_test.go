package spec

import (
	"regexp"
	"strings"
	"testing"
)

// planted is a detector of one made-up form.
func planted(text string) []Secret {
	var out []Secret
	for i, line := range strings.Split(text, "\n") {
		for _, at := range regexp.MustCompile(`PLANT-[0-9]{6}`).FindAllStringIndex(line, -1) {
			out = append(out, Secret{Rule: "plant", Line: i + 1, Col: at[0] + 1, Fingerprint: "plant:" + line[at[0]+6:at[1]]})
		}
	}
	return out
}

func TestSecretsAreRefusedAndNeverRepeated(t *testing.T) {
	root := workspace(t, map[string]string{"p.md": "fine\n\n  PLANT-000001 here\n"})
	for name, c := range map[string]struct {
		spec  string
		line  int
		field string
		file  string
	}{
		"plain":        {strings.Replace(job(), "Look.", "use PLANT-123456 now", 1), 5, "jobs[0].prompt", "jobs.yaml"},
		"block":        {strings.Replace(job(), "prompt: Look.", "prompt: |\n      one\n      PLANT-123456", 1), 7, "jobs[0].prompt", "jobs.yaml"},
		"escaped":      {strings.Replace(job(), "Look.", `"PLANT\u002d123456"`, 1), 5, "jobs[0].prompt", "jobs.yaml"},
		"comment":      {job("# PLANT-123456"), 8, "jobs[0].expected_output", "jobs.yaml"},
		"in an enum":   {job("effort: PLANT-123456"), 8, "jobs[0].effort", "jobs.yaml"},
		"as a key":     {job("PLANT-123456: x"), 8, "", "jobs.yaml"},
		"broken YAML":  {"version: 1\nx: [PLANT-123456\n", 2, "", "jobs.yaml"},
		"prompt file":  {strings.Replace(job(), "prompt: Look.", "prompt_file: p.md", 1), 3, "jobs[0].prompt_file", "p.md"},
		"instructions": {job("instructions: [p.md]"), 3, "jobs[0].instructions[0]", "p.md"},
		"set-up":       {job("worktree: {setup: [x PLANT-123456]}"), 8, "jobs[0].worktree.setup[0]", "jobs.yaml"},
		"skill":        {job("skill: p.md"), 3, "jobs[0].skill", "p.md"},
	} {
		t.Run(name, func(t *testing.T) {
			s, ds := Parse(root+"/jobs.yaml", []byte(c.spec), Options{Cwd: root, Secrets: planted})
			if s != nil {
				t.Error("accepted")
			}
			out := Format(ds, []byte(c.spec))
			if strings.Contains(out, "PLANT-") {
				t.Errorf("the value is repeated:\n%s", out)
			}
			found := false
			for _, d := range ds {
				if d.Rule != "secret" {
					continue
				}
				found = true
				if d.Pos.Line != c.line || !strings.HasSuffix(d.Pos.File, c.file) || (c.field != "" && d.Field != c.field) {
					t.Errorf("%s", d)
				}
				if !strings.Contains(d.Message, "rule plant") || !strings.Contains(d.Message, "plant:") || !strings.Contains(d.Message, "secrets.allow") {
					t.Errorf("no way on: %s", d.Message)
				}
			}
			if !found {
				t.Errorf("not refused: %v", ds)
			}
		})
	}
}
