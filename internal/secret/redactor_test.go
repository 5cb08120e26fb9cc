package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

const rsaKey = "-----BEGIN RSA PRIVATE KEY-----\n" +
	"MIIEowIBAAKCAQEAx3qRk7Yh0aPzPqKk2Z9mG8e1xPqKk2Z9mG8e1Yh0aPzPqKk2\n" +
	"Z9mG8e1xPqKk2Z9mG8e1Yh0aPzPqKk2Z9mG8e1xPqKk2Z9mG8e1Yh0aPzPqKk2ab\n" +
	"-----END RSA PRIVATE KEY-----"

// shapes are texts, and the part of each that must not be seen.
var shapes = []struct{ text, hidden string }{
	{"push with ghp_16C7e42F292c6912E7710c838347Ae178B4a now", "16C7e42F292c6912E7710c838347Ae178B4a"},
	{"github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ", "aBcDeFgHiJkL"},
	{"glpat-xYz12345AbCdEfGh6789", "xYz12345AbCdEfGh6789"},
	{"key AKIAQWERTYUIOP234567", "QWERTYUIOP234567"},
	{"AIzaSyA-1234567890abcdefghijklmnopqrstuv", "SyA-1234567890"},
	{"xoxb-123456789012-123456789012-AbCdEfGhIjKlMnOp", "AbCdEfGhIjKlMnOp"},
	{"sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-AA", "AbCdEfGhIjKlMnOp"},
	{"sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789", "AbCdEfGhIjKlMnOp"},
	{"sk_live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWDarjtT1zdp7dc"},
	{"//registry/:_authToken=npm_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789", "aBcDeFgHiJkLmNoPqRs"},
	{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozsar3jY3Hh7Ks9P2mXq4Tw8Rn6", "dozsar3jY3Hh7Ks9P2mXq4Tw8Rn6"},
	{rsaKey, "xPqKk2Z9mG8e1Yh0aPzPqKk2"},
	{"Authorization: Bearer a1b2c3d4e5f6a7b8c9d0", "a1b2c3d4e5f6a7b8c9d0"},
	{"authorization: basic ZGVwbG95Okh1bnRlcjIh", "ZGVwbG95Okh1bnRlcjIh"},
	{"password=hunter2xyz", "hunter2xyz"},
	{`"password": "Tr0ub4dor&3"`, "Tr0ub4dor"},
	{"DB_PASSWORD: s3cr3t-db-pass", "s3cr3t-db-pass"},
	{`api_key = "9f8e7d6c5b4a39281706"`, "9f8e7d6c5b4a39281706"},
	{"postgres://app:pa55w0rd@db.example/x", "pa55w0rd"},
	{"\x1b[31mghp_16C7e42F292c6912E7710c838347Ae178B4a\x1b[0m", "16C7e42F292c6912E7710c838347Ae178B4a"},
	{"5123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"},
}

func TestShapes(t *testing.T) {
	red := New(nil)
	for _, s := range shapes {
		got := red.String("before " + s.text + " after")
		if strings.Contains(got, s.hidden) || !strings.Contains(got, Mark[:len(Mark)-1]+":") {
			t.Errorf("shown: %q", got)
		}
		if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("took more than the secret: %q", got)
		}
		if again := red.String(got); again != got {
			t.Errorf("redacting twice changes %q to %q", got, again)
		}
	}
}

func TestShapesInJSON(t *testing.T) {
	red := New(nil)
	for _, s := range shapes {
		once, err := json.Marshal(map[string]string{"text": "a\n" + s.text + "\nb"})
		if err != nil {
			t.Fatal(err)
		}
		twice, err := json.Marshal(string(once))
		if err != nil {
			t.Fatal(err)
		}
		hidden, _, _ := strings.Cut(s.hidden, "\n")
		for _, text := range [][]byte{once, twice} {
			got := red.Bytes(text)
			if bytes.Contains(got, []byte(hidden)) {
				t.Errorf("shown: %s", got)
			}
			if !json.Valid(got) {
				t.Errorf("no longer JSON: %s", got)
			}
		}
	}
}

// TestShapesInBase64 takes those whose literal is looked for in base64, at every
// alignment and broken over lines.
func TestShapesInBase64(t *testing.T) {
	red := New(nil)
	for _, s := range shapes[:12] {
		for lead := range 4 {
			plain := strings.Repeat("-", lead) + "# " + s.text + " and more text behind it"
			enc := base64.StdEncoding.EncodeToString([]byte(plain))
			for _, text := range []string{enc, fold(enc, 76, "\n"), fold(enc, 64, `\n`), base64.RawURLEncoding.EncodeToString([]byte(plain))} {
				got := red.String(text)
				if shows(got, s.hidden) {
					t.Errorf("lead %d: shown: %q", lead, got)
				}
			}
		}
	}
}

// shows decodes every stretch of base64 in text, at every alignment, and looks
// for hidden.
func shows(text, hidden string) bool {
	text = strings.NewReplacer("\n", "", `\n`, "", "-", "+", "_", "/").Replace(text)
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r > 127 || !base64Set[byte(r)] || r == '=' }) {
		for k := range 4 {
			if k >= len(part) {
				break
			}
			plain := part[k:]
			if len(plain)%4 == 1 {
				plain = plain[:len(plain)-1]
			}
			out, err := base64.RawStdEncoding.DecodeString(plain)
			if err == nil && strings.Contains(string(out), hidden) {
				return true
			}
		}
	}
	return strings.Contains(text, hidden)
}

func fold(s string, width int, sep string) string {
	var out strings.Builder
	for len(s) > width {
		out.WriteString(s[:width] + sep)
		s = s[width:]
	}
	return out.String() + s
}

func TestOrdinaryTextIsLeftAlone(t *testing.T) {
	red := New([]string{"test", "production", "11111111111"})
	for _, text := range []string{
		"the token bucket is empty; token_count=1234 max_tokens: 4096",
		`{"input_tokens":12345,"cache_read_input_tokens":99,"session_id":"5b1f8c52-7a37-4d53-9a35-0f3d2b1c4e5f"}`,
		"password := os.Getenv(\"DB_PASSWORD\")",
		"func setPassword(password string) error {",
		"password: ${DB_PASSWORD} and token=$GITHUB_TOKEN, api_key: <your key>",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"commit 875f79c0a1b2c3d4e5f60718293a4b5c6d7e8f90",
		"https://example.com:8443/path?x=a@b see http://localhost:3000/@scope/pkg",
		"git@github.com:owner/repo.git", "bearer of bad news, basic authentication is documented",
		"docker run -u 1000:1000 image", "const key = \"production\" // test",
		"path/to/pattern.test.go: patch applied", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"tokens = 2*maxCompilerConcurrency1", "type PrivateKey = ed25519.PrivateKey",
		"task-secretary: the secret of success is work", "linear time, sonar: ping, sentry = duty", "",
		"ok", "11111111111",
	} {
		if got := red.String(text); got != text {
			t.Errorf("changed %q\n     to %q", text, got)
		}
	}
	text := agentText(1 << 20)
	if got := red.Bytes(text); &got[0] != &text[0] {
		t.Error("ordinary text was changed or copied")
	}
}

func TestExactValueInEveryForm(t *testing.T) {
	for _, value := range []string{
		"s3cr3t-Value-42", `quo"te\back/slash&<tag>`, "schlüssel-äöü-42", "line one of it 1\nline two of it 2\nline 3 of it 33",
	} {
		red := New([]string{value})
		jsonOf := func(v string) string {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(b[1 : len(b)-1])
		}
		texts := []string{value, jsonOf(value), jsonOf(jsonOf(value)), inner(strconv.QuoteToASCII(value)), url.QueryEscape(value)}
		for _, text := range texts {
			got := red.String("<" + text + ">")
			if got != "<[REDACTED:exact]>" {
				t.Errorf("%q became %q", text, got)
			}
		}
		for lead := range 4 {
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
				b64 := enc.EncodeToString([]byte(strings.Repeat("=", lead) + value + "xx"))
				for _, text := range []string{b64, fold(b64, 7, "\n"), fold(b64, 8, "\r\n"), fold(b64, 9, `\n`)} {
					if got := red.String(text); shows(got, value) || !strings.Contains(got, "[REDACTED:exact]") {
						t.Errorf("lead %d: %q became %q", lead, text, got)
					}
				}
			}
		}
	}
}

func TestKeyWithLineNumbers(t *testing.T) {
	var numbered strings.Builder
	for k, line := range strings.Split(rsaKey, "\n") {
		numbered.WriteString("     " + strconv.Itoa(k+1) + "→" + line + "\n")
	}
	red := New(nil)
	for n := range numbered.Len() {
		if got := red.String(numbered.String()[:n]); strings.Contains(got, "MIIE") || strings.Contains(got, "Z9mG") {
			t.Fatalf("shown: %q", got)
		}
	}
}

func TestExactWinsOverShape(t *testing.T) {
	red := New([]string{"abcdefgh12 with words behind"})
	if got := red.String("password=abcdefgh12 with words behind."); got != "password=[REDACTED:exact]." {
		t.Error(got)
	}
}

func TestManyExactValues(t *testing.T) {
	var values []string
	for k := range 3000 {
		values = append(values, "value-"+strconv.Itoa(k*7919+1000003)+"-x/+")
	}
	red := New(values)
	for _, v := range values {
		if got := red.String(v); got != "[REDACTED:exact]" {
			t.Fatalf("%q became %q", v, got)
		}
	}
}

func TestNilRedactor(t *testing.T) {
	var red *Redactor
	if red.String("ghp_16C7e42F292c6912E7710c838347Ae178B4a")[:4] != "ghp_" || red.Window() != 0 || red.SafeCut([]byte("abc"), nil) != 3 {
		t.Error("a nil redactor must change nothing")
	}
}

// TestHostileTextIsNotSlow would not end in time if a match were tried again from
// every place of a long run.
func TestHostileTextIsNotSlow(t *testing.T) {
	red := New([]string{"s3cr3t-Value-42"})
	for _, unit := range []string{
		"eyJ", "-----BEGIN RSA PRIVATE KEY-----\n", "password=", "://a:", "ghp_", "token=a1", "Z2hwX", "LS0tLS1CRUdJTi", "a", "sk-ant-", "bearer ",
	} {
		red.Bytes([]byte(strings.Repeat(unit, (256<<10)/len(unit))))
	}
}

// TestAPathIsNoKey of the service whose name is a part of a variable's.
func TestAPathIsNoKey(t *testing.T) {
	for _, text := range []string{
		"YARN_GLOBAL_FOLDER=/tmp/orchestrate-2697e18c06cc/orchestrate-1887166766/yarn",
		"sentry: /srv/builds/2697e18c06cc/1887166766",
	} {
		if got := New(nil).String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
