//go:build linux

package client

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/acp"
)

// place is a folder to work in, with links, beside one that may be read and one
// that is nobody's.
func place(t *testing.T) (dir, reads, out string) {
	t.Helper()
	top := t.TempDir()
	dir, reads, out = top+"/work", top+"/docs", top+"/out"
	for _, d := range []string{dir + "/sub", dir + "/.git/hooks", reads, out, top + "/work2"} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{dir + "/a.txt": "a", out + "/secret": "s"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{dir + "/leads-out": out, dir + "/dangling": out + "/new", dir + "/inside": dir + "/sub", top + "/alias": dir} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	return dir, reads, out
}

func TestRule(t *testing.T) {
	dir, reads, out := place(t)
	type turn = acp.Turn
	read, edit, shell := turn{Access: runtime.AccessRead}, turn{Access: runtime.AccessEdit}, turn{Access: runtime.AccessShell}
	for _, c := range []struct {
		turn    turn
		kind    string
		paths   []string
		allowed bool
		says    string
	}{
		{read, "read", []string{dir + "/a.txt"}, true, "below"},
		{read, "read", []string{dir}, true, ""},
		{read, "search", []string{dir + "/sub"}, true, ""},
		{read, "read", []string{reads + "/x"}, true, ""},
		{read, "read", []string{dir + "/../alias/a.txt"}, false, ".. in it"},
		{read, "read", []string{filepath.Dir(dir) + "/alias/a.txt"}, true, ""},
		{read, "read", []string{dir + "/inside/x"}, true, ""},
		{read, "read", nil, false, "does not say which file"},
		{read, "read", []string{out + "/secret"}, false, out + "/secret is not"},
		{read, "read", []string{dir + "2/x"}, false, "is not"},
		{read, "read", []string{dir + "/leads-out/secret"}, false, "leads-out/secret is not"},
		{read, "read", []string{dir + "/a.txt", out + "/secret"}, false, "secret is not"},
		{read, "read", []string{"a.txt"}, false, "not an absolute path"},
		{read, "read", []string{""}, false, "not an absolute path"},
		{read, "read", []string{"file://" + dir + "/a.txt"}, false, "not an absolute path"},
		{read, "edit", []string{dir + "/a.txt"}, false, `no changes of files with "read" access`},
		{read, "delete", []string{dir + "/a.txt"}, false, "no changes"},
		{read, "execute", []string{dir}, false, `no commands with "read" access`},
		{turn{}, "edit", []string{dir + "/a.txt"}, false, `"read" access`},

		{edit, "edit", []string{dir + "/a.txt"}, true, "changes of files below"},
		{edit, "edit", []string{dir + "/new/deep/file"}, true, ""},
		{edit, "delete", []string{dir + "/a.txt"}, true, ""},
		{edit, "edit", nil, false, "does not say which file"},
		{edit, "edit", []string{reads + "/x"}, false, "is not"},
		{edit, "edit", []string{dir + "/leads-out/new"}, false, "is not"},
		{edit, "edit", []string{dir + "/dangling"}, false, "link to nowhere"},
		{edit, "edit", []string{dir + "/dangling/"}, false, "link to nowhere"},
		{edit, "edit", []string{dir + "/a.txt/x"}, false, "not a directory"},
		{edit, "edit", []string{dir + "/leads-out/../a.txt"}, false, ".. in it"},
		{edit, "edit", []string{dir + "/.git/hooks/pre-commit"}, false, "git's own files"},
		{edit, "edit", []string{dir + "/sub/.GIT/config"}, false, "git's own files"},
		{edit, "move", []string{dir + "/a.txt", dir + "/b.txt"}, true, ""},
		{edit, "move", []string{dir + "/a.txt"}, false, "where from and where to"},
		{edit, "move", []string{dir + "/a.txt", out + "/b.txt"}, false, "is not"},
		{edit, "execute", nil, false, `no commands with "edit" access`},
		{edit, "fetch", nil, false, "allowed_tools"},

		{shell, "execute", nil, true, "commands"},
		{shell, "edit", []string{dir + "/a.txt"}, true, ""},
		{shell, "edit", []string{out + "/x"}, false, "is not"},
		{shell, "other", []string{dir + "/a.txt"}, false, `kind "other" is never`},
		{shell, "", []string{dir + "/a.txt"}, false, `kind "other" is never`},
		{shell, "switch_mode", nil, false, "never"},
		{shell, "think", nil, false, "never"},
		{shell, "Execute", nil, false, "never"},

		{turn{Access: "root"}, "edit", []string{dir + "/a.txt"}, false, `"root" access`},
		{turn{AllowedTools: []string{"read"}}, "search", []string{dir}, false, `allowed_tools does not name "search"`},
		{turn{AllowedTools: []string{}}, "read", []string{dir}, false, "allowed_tools"},
		{turn{AllowedTools: []string{"edit", "execute"}}, "edit", []string{dir + "/x"}, false, `"read" access`},
		{turn{AllowedTools: []string{"fetch"}}, "fetch", nil, true, "names"},
		{turn{Access: runtime.AccessShell, DisallowedTools: []string{"execute"}}, "execute", nil, false, "disallowed_tools"},
	} {
		c.turn.Dir, c.turn.ReadDirs = dir, []string{reads}
		r, err := newRule(c.turn)
		if err != nil {
			t.Fatal(err)
		}
		call := toolCall{Kind: c.kind}
		for _, p := range c.paths {
			call.Locations = append(call.Locations, location{p})
		}
		if allowed, why := r.judge(call); allowed != c.allowed || !strings.Contains(why, c.says) {
			t.Errorf("%+v %s %q: %t, %s", c.turn, c.kind, c.paths, allowed, why)
		}
		call.Locations, call.Shown = call.Locations[:min(1, len(call.Locations))], nil
		for _, p := range c.paths {
			call.Shown = append(call.Shown, shown{Type: "diff", Path: p})
		}
		if allowed, why := r.judge(call); allowed != c.allowed {
			t.Errorf("%s with diffs of %q: %t, %s", c.kind, c.paths, allowed, why)
		}
	}
}

func TestAnswersAreForOnce(t *testing.T) {
	all := []answerOption{{"A", "allow_always"}, {"a", "allow_once"}, {"R", "reject_always"}, {"r", "reject_once"}}
	for _, c := range []struct {
		options []answerOption
		allowed bool
		option  string
		kept    bool
	}{
		{all, true, "a", true},
		{all, false, "r", true},
		{[]answerOption{all[0], all[3]}, true, "r", false},
		{[]answerOption{all[0], all[2]}, true, "", false},
		{all[:3], false, "", true},
		{nil, false, "", true},
	} {
		if option, kept := answer(c.options, c.allowed); option != c.option || kept != c.kept {
			t.Errorf("%v, allowed %t: %q, kept %t", c.options, c.allowed, option, kept)
		}
	}
}

const (
	once   = `{"optionId":"yes-once","kind":"allow_once","name":"Yes"}`
	always = `{"optionId":"yes-always","kind":"allow_always","name":"Always"}`
	reject = `{"optionId":"no-once","kind":"reject_once","name":"No"}`
	never  = `{"optionId":"no-always","kind":"reject_always","name":"Never"}`
)

// What the agent hears, and what is told of it.
func TestPermissionRequests(t *testing.T) {
	dir, _, out := place(t)
	for name, c := range map[string]struct {
		call, options string
		reply         string // part of it
		denied        string // part of the boundary; "" = permitted
	}{
		"permitted":           {`"kind":"edit","title":"Write a.txt","locations":[{"path":"` + dir + `/a.txt"}]`, always + "," + once + "," + reject, `"yes-once"`, ""},
		"refused":             {`"kind":"edit","title":"Write it","locations":[{"path":"` + out + `/b"}]`, always + "," + once + "," + reject, `"no-once"`, "Write it " + out + "/b: changes of files only below " + dir},
		"a command":           {`"kind":"execute","title":"rm -rf /"`, once + "," + reject, `"no-once"`, `rm -rf /: no commands with "edit" access`},
		"no way to refuse":    {`"kind":"execute","title":"ls"`, once + "," + always, `"cancelled"`, "no commands"},
		"refused for good":    {`"kind":"execute","title":"ls"`, once + "," + never, `"cancelled"`, "no commands"},
		"permitted for good":  {`"kind":"edit","title":"w","locations":[{"path":"` + dir + `/a.txt"}]`, always + "," + reject, `"no-once"`, "no permission for this once"},
		"no options":          {`"kind":"edit","title":"w","locations":[{"path":"` + dir + `/a.txt"}]`, "", `"cancelled"`, "no permission for this once"},
		"of no kind":          {`"title":"w","locations":[{"path":"` + dir + `/a.txt"}]`, once + "," + reject, `"no-once"`, `kind "other"`},
		"a diff elsewhere":    {`"kind":"edit","title":"w","locations":[{"path":"` + dir + `/a.txt"}],"content":[{"type":"diff","path":"` + out + `/b","newText":""}]`, once + "," + reject, `"no-once"`, out + "/b"},
		"odd types":           {`"kind":7,"title":["w"],"locations":{"path":1}`, once + "," + reject, `"no-once"`, `kind "other"`},
		"locations of no use": {`"kind":"edit","title":"w","locations":[{}]`, once + "," + reject, `"no-once"`, "not an absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := have(t, `{"turn":[{"ask":{"sessionId":"s","toolCall":{"toolCallId":"1",`+c.call+`},"options":[`+c.options+`]}},{"text":"{{reply}}"}]}`,
				acp.Turn{Dir: dir, Access: runtime.AccessEdit})
			if !strings.Contains(r.text(), c.reply) {
				t.Errorf("the agent heard %s, want %s", r.text(), c.reply)
			}
			denied := r.Outcome.Denials
			if (c.denied != "") != (len(denied) == 1) || len(denied) == 1 && !strings.Contains(denied[0].Boundary.Unshown(), c.denied) {
				t.Errorf("denials %+v, want %q", denied, c.denied)
			}
			if settled := r.Settled == runtime.ReasonPermission; settled != (c.denied != "") {
				t.Errorf("settled %q", r.Settled)
			}
			if c.denied == "" && !slices.ContainsFunc(r.Events, func(e runtime.Event) bool { return strings.HasPrefix(e.Text.Unshown(), "permitted once: Write a.txt") }) {
				t.Errorf("the permission is not told: %+v", r.Events)
			}
		})
	}
}

// A request may leave out what an update has told before.
func TestAPermissionRequestGoesOnFromWhatWasTold(t *testing.T) {
	_, _, out := place(t)
	told := `{"update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"Write","kind":"edit","status":"pending","locations":[{"path":%q}]}},`
	ask := `{"ask":{"sessionId":"s","toolCall":{"toolCallId":"1"},"options":[` + once + `,` + reject + `]}},{"text":"{{reply}}"}`
	r := have(t, `{"turn":[`+fmt.Sprintf(told, "{{cwd}}/x")+ask+`]}`, acp.Turn{Access: runtime.AccessEdit})
	r.completed(t, r.text())
	if len(r.Outcome.Denials) != 0 || len(r.of(acp.LineTool)) != 1 {
		t.Errorf("%s", r.stdout)
	}
	r = have(t, `{"turn":[`+fmt.Sprintf(told, out+"/x")+ask+`]}`, acp.Turn{Access: runtime.AccessEdit})
	if len(r.Outcome.Denials) != 1 || r.Outcome.Reason != runtime.ReasonPermission {
		t.Errorf("%+v", r.Outcome)
	}
}

// Some agents do what they like in the mode that they start in.
func TestWhatIsDoneWithoutAskingIsTold(t *testing.T) {
	did := `{"turn":[{"update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"Write x","kind":"edit","status":"completed","locations":[{"path":"{{cwd}}/x"}]}},{"text":"ok"}]}`
	r := have(t, did, acp.Turn{Access: runtime.AccessRead})
	if w := r.of(acp.LineWarning); len(w) != 1 || !strings.Contains(w[0].Text, "did not ask") || !strings.Contains(w[0].Text, `"read" access`) {
		t.Errorf("warnings %+v", w)
	}
	r.completed(t, "ok")
	if r = have(t, did, acp.Turn{Access: runtime.AccessEdit}); len(r.of(acp.LineWarning)) != 0 {
		t.Errorf("%s", r.stdout)
	}
}

// No bytes of a request permit what the rule of a reader does not.
func FuzzPermissionRequest(f *testing.F) {
	f.Add([]byte(`{"toolCall":{"toolCallId":"1","kind":"edit","locations":[{"path":"/x"}]},"options":[` + once + `]}`))
	f.Add([]byte(`{"toolCall":null,"options":{}}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := newRule(acp.Turn{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		var asked permissionRequest
		if decode(raw, &asked) != nil {
			return
		}
		call, err := readCall(asked.Call)
		if err != nil {
			return
		}
		if allowed, _ := r.judge(call); allowed && call.Kind != "read" && call.Kind != "search" {
			t.Errorf("%s permits a use of kind %q", raw, call.Kind)
		}
		option, _ := answer(asked.Options, true)
		for _, o := range asked.Options {
			if o.ID == option && option != "" && strings.HasSuffix(o.Kind, "_always") && !slices.ContainsFunc(asked.Options, func(p answerOption) bool { return p.ID == option && !strings.HasSuffix(p.Kind, "_always") }) {
				t.Errorf("%s is answered for good", raw)
			}
		}
		if _, err := json.Marshal(call.line(acp.LinePermission)); err != nil {
			t.Error(err)
		}
	})
}
