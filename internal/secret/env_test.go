package secret

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestUsable(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "test": false, "password": false, "production": false, "aaaaaaaaaaaa": false, "12345": false,
		"hunter2xyz": true, "s3cr3t-Value": true, "correcthorsebatterystaple": true, "0123456789abcdef": true,
	} {
		if Usable(value) != want {
			t.Errorf("Usable(%q) = %v", value, !want)
		}
	}
}

func TestLooksSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"GITHUB_TOKEN": true, "OPENAI_API_KEY": true, "api-key": true, "AWS_SECRET_ACCESS_KEY": true, "DB_PASSWORD": true,
		"MYSQL_PWD": true, "SESSION_SECRET": true, "OPENAI_API_KEY_2": true, "SECRET_ID": true, "SENTRY_DSN": true, "githubToken": true,
		"PATH": false, "HOME": false, "PWD": false, "OLDPWD": false, "SSH_AUTH_SOCK": false, "KEYBOARD": false, "MONKEY": false,
		"MAX_OUTPUT_TOKENS": false, "SSL_CERT_FILE": false, "PASSWORD_FILE": false, "TOKEN_COUNT": false, "SSH_PUBLIC_KEY": false, "AUTHOR": false,
	} {
		if LooksSecretName(name) != want {
			t.Errorf("LooksSecretName(%q) = %v", name, !want)
		}
	}
}

func TestFromEnv(t *testing.T) {
	got := FromEnv([]string{
		"HOME=/home/someone1", "GITHUB_TOKEN=a1b2c3d4e5f6", "API_KEY=test", "SIGNING_KEY=/home/u/.ssh/id_ed25519",
		"DATABASE_URL=postgres://app:p%40ssw0rd99@db/x", "malformed", "EMPTY_TOKEN=", "AWS_SECRET_ACCESS_KEY=/aB3dE6gH9jK2mN5pQ8sT1vW4yZ7/cF0hJ3lO6",
	})
	want := []string{"a1b2c3d4e5f6", "p%40ssw0rd99", "p@ssw0rd99", "/aB3dE6gH9jK2mN5pQ8sT1vW4yZ7/cF0hJ3lO6"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHolds(t *testing.T) {
	slack := "https://hooks.slack.com/services/" + "T0AB12CD3/B0EF45GH6/aB3dE6gH9jK2mN5pQ8sT1vW4"
	for value, want := range map[string]bool{
		"postgres://u:Hx72kdPq91zz@h/db": true, slack: true, "-Dpassword=Kd82jsPq01x -Xmx2g": true,
		"Endpoint=sb://x/;AccountKey=Kd82jsPq01xZ7vBn4mWq93Lz==": true,
		"postgres://u@localhost/db":                              false, "-Xmx2g -Dfile.encoding=UTF-8": false, "on": false, "": false,
		"https://proxy.golang.org,direct": false, "-O2 -g -I/usr/include/openssl": false, "/opt/go/bin:/usr/bin": false,
	} {
		if Holds(value) != want {
			t.Errorf("Holds(%q) = %v", value, !want)
		}
	}
}

func TestFromDotenv(t *testing.T) {
	root := filepath.Join(t.TempDir(), "odd[name]*")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, ".env.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(".env", "# A_TOKEN=not-this-value1\nexport A_TOKEN=first-Value-1 # comment\nNODE_ENV=production\nURL=http://localhost:3000/app\n"+
		"B='second Value 2'\nB_SECRET='third Value 3'\nTITLE=\"A title with 4 words\"\nbroken line\n")
	write(".env.local", "KEY=\"line-A-1234567\nline-B-7654321\"\nESC_KEY=\"with\\nnewline-55\"\n")
	write("env", "C_TOKEN=not-an-env-file-1")
	got, notes, err := FromDotenv(root)
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	want := []string{"first-Value-1", "line-A-1234567\nline-B-7654321", "third Value 3", "with\\nnewline-55", "with\nnewline-55"}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFromDotenvTooLarge(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, ".env"), bytes.Repeat([]byte("A=1\n"), maxDotenv/4+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := FromDotenv(root); err == nil {
		t.Error("a file that is not read whole must be an error")
	}
}

// TestWhatIsOrdinaryInDotenv: only what can be nothing but a secret is one under a name
// that does not say so.
func TestWhatIsOrdinaryInDotenv(t *testing.T) {
	for line, want := range map[string]bool{
		"AWS_REGION=eu-central-1": false, "APP_NAME=shop-backend": false, "MODEL=some-large-4-20250514": false,
		"DB_HOST=localhost:5432": false, "LOG_FORMAT=json-pretty": false, "HOST=db01.internal.example.com": false,
		"IMAGE=registry.example.com/acme/app:1.24.3": false, "TZ=Europe/Berlin": false, "SINCE=2026-11-30T09:26:57Z": false,
		"TENANT=3f2b8c1e-9d4a-4f6b-8e7c-1a2b3c4d5e6f": false, "BUCKET=shop-backend-prod-eu-central-1": false,
		"MAIL=Kd82jsPq01xZ7vBn4m": true, "SALT=9f86d081884c7d659a2feaa0c55ad015": true, "CONN=Kd82jsPq-Vw93LmQz-77": true,
		"DB=postgres://u:Hx72kdPq91zz@h/db": true, "DEPLOY_TOKEN=shop-backend-7": true,
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, ".env"), []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _, err := FromDotenv(root); err != nil || len(got) > 0 != want {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
}

// TestExamplesAreNoSecrets, nor what only begins like an environment file.
func TestExamplesAreNoSecrets(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		".env.example": "A_TOKEN=first-Value-1\n", ".env.local.sample": "A_TOKEN=second-Value-2\n", ".env.dist": "A_TOKEN=third-Value-3\n",
		".env-template": "A_TOKEN=fourth-Value-4\n", ".env.zip": "PK\x03\x04\x00A_TOKEN=fifth-Value-5\n", ".env.distant": "A_TOKEN=sixth-Value-6\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, notes, err := FromDotenv(root)
	if err != nil || !slices.Equal(got, []string{"sixth-Value-6"}) || len(notes) != 1 || !strings.Contains(notes[0], ".env.zip") {
		t.Errorf("%q, %q, %v", got, notes, err)
	}
}
