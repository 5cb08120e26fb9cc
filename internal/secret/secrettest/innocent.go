package secrettest

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Innocent is a text that looks like a secret and is none.
type Innocent struct {
	Class string
	Text  string
	// Never says that nothing of this class may be taken for a secret. Of the others
	// a few may: who writes password: "example-1" gets it redacted.
	Never bool
}

// Innocents makes up three hundred of them.
func Innocents(seed uint64) []Innocent {
	m := &innocents{maker: maker{Rand: rand.New(rand.NewPCG(seed, 58))}}
	m.locks()
	m.hashes()
	m.images()
	m.public()
	m.prose()
	return m.texts
}

type innocents struct {
	maker
	texts []Innocent
}

func (m *innocents) times(n int, class string, never bool, text func(i int) string) {
	for i := range n {
		m.texts = append(m.texts, Innocent{class, text(i), never})
	}
}

// bytes are n random ones.
func (m *innocents) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.IntN(256))
	}
	return b
}

func (m *innocents) hex(n int) string { return hex.EncodeToString(m.bytes(n)) }

func (m *innocents) b64(n int) string { return base64.StdEncoding.EncodeToString(m.bytes(n)) }

func (m *innocents) pick(words ...string) string { return words[m.IntN(len(words))] }

func (m *innocents) locks() {
	name := func() string {
		return m.pick("token", "secret-stack", "password-strength", "api-key-utils", "authy", "jsonwebtoken", "dotenv", "linear", "keyv", "sentry", "twitter-text", "left-pad")
	}
	m.times(60, "lock file", true, func(i int) string {
		n, v := name(), fmt.Sprintf("%d.%d.%d", m.IntN(20), m.IntN(30), m.IntN(9))
		return []string{
			fmt.Sprintf("    \"node_modules/%s\": {\n      \"version\": \"%s\",\n      \"resolved\": \"https://registry.npmjs.org/%s/-/%s-%s.tgz\",\n      \"integrity\": \"sha512-%s\",\n", n, v, n, n, v, m.b64(64)),
			fmt.Sprintf("github.com/%s/%s v%s h1:%s\ngithub.com/%s/%s v%s/go.mod h1:%s\n", n, n, v, m.b64(32), n, n, v, m.b64(32)),
			fmt.Sprintf("[[package]]\nname = \"%s\"\nversion = \"%s\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"%s\"\n", n, v, m.hex(32)),
			fmt.Sprintf("    {file = \"%s-%s-py3-none-any.whl\", hash = \"sha256:%s\"},\n", n, v, m.hex(32)),
			fmt.Sprintf("%s@^%s:\n  version \"%s\"\n  resolved \"https://registry.yarnpkg.com/%s/-/%s-%s.tgz#%s\"\n  integrity sha512-%s\n", n, v, v, n, n, v, m.hex(20), m.b64(64)),
			fmt.Sprintf("            \"name\": \"acme/%s\",\n            \"dist\": {\"type\": \"zip\", \"reference\": \"%s\", \"shasum\": \"%s\"},\n", n, m.hex(20), m.hex(20)),
		}[i%6]
	})
}

func (m *innocents) hashes() {
	m.times(40, "hash", true, func(i int) string {
		return []string{
			"commit " + m.hex(20), m.hex(32) + "  dist/app.tar.gz", "image: registry.example/app@sha256:" + m.hex(32),
			"ETag: \"" + m.hex(16) + "\"", "index " + m.hex(4)[:7] + ".." + m.hex(4)[:7] + " 100644",
			"MD5 (a.iso) = " + m.hex(16), "git merge-base main " + m.hex(20)[:12], "cache hit " + m.hex(32) + " in 3ms",
		}[i%8]
	})
	m.times(30, "UUID", true, func(i int) string {
		u := m.hex(16)
		u = u[:8] + "-" + u[8:12] + "-4" + u[13:16] + "-a" + u[17:20] + "-" + u[20:]
		return []string{"session_id: " + u, `{"id":"` + u + `"}`, "request " + u + " took 4 ms", "/var/lib/x/" + u + "/data", "urn:uuid:" + strings.ToUpper(u)}[i%5]
	})
}

func (m *innocents) images() {
	kind := []string{"png", "jpeg", "gif", "webp"}
	m.times(40, "base64 image", true, func(i int) string {
		img := "data:image/" + kind[i%4] + ";base64," + m.b64(200+m.IntN(3000))
		return []string{"![](" + img + ")", `<img src="` + img + `">`, ".a{background:url(" + img + ")}", `{"source":{"type":"base64","data":"` + img + `"}}`}[i/4%4]
	})
	m.times(20, "SRI", true, func(int) string {
		return `<script src="https://cdn.example/a.js" integrity="sha384-` + m.b64(48) + `" crossorigin="anonymous"></script>`
	})
}

func (m *innocents) public() {
	block := func(title string, n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "-----BEGIN %s-----\n", title)
		text := m.b64(n)
		for len(text) > 64 {
			b.WriteString(text[:64] + "\n")
			text = text[64:]
		}
		fmt.Fprintf(&b, "%s\n-----END %s-----\n", text, title)
		return b.String()
	}
	m.times(20, "public part", true, func(i int) string {
		return []string{
			block("CERTIFICATE", 600), block("PUBLIC KEY", 294), block("PGP PUBLIC KEY BLOCK", 500), block("CERTIFICATE REQUEST", 400),
			"ssh-ed25519 " + "AAAAC3NzaC1lZDI1NTE5AAAAI" + m.b64(30) + " ann@host",
		}[i%5]
	})
	m.times(20, "minified code", false, func(i int) string {
		return []string{
			`!function(e,t){"object"==typeof exports?t(exports):t(e.tok={})}(this,function(e){var t=e.token||"",n=e.password=t.slice(2);e.apiKey=function(){return n+"` + m.hex(4) + `"}});`,
			`const n=r(9214),o={chunks:{7:"` + m.hex(10) + `",12:"` + m.hex(10) + `"}};export{n as secret,o as default};`,
			`a.secretToken=b.c;a.password=d(e.f,1024);if(a.apiKey!==void 0)throw Error("api_key: required");`,
			`//# sourceMappingURL=data:application/json;base64,` + m.b64(300),
		}[i%4]
	})
}

// prose is what is written about secrets: documentation, code, tests, translations.
func (m *innocents) prose() {
	lines := []string{
		"export OPENAI_API_KEY=sk-...", "Authorization: Bearer <YOUR_TOKEN>", "set ANTHROPIC_API_KEY to sk-ant-xxxxxxxx", "token: ${{ secrets.GITHUB_TOKEN }}",
		"password: changeme", "PGPASSWORD=postgres", "POSTGRES_PASSWORD: postgres", "curl -H \"Authorization: Bearer $TOKEN\" https://api.example/v1",
		"api_key = os.environ[\"API_KEY\"]", "const token = await getToken(user.id);", "if (password.length < 12) return error;", "private static final String SECRET_NAME = \"db/main\";",
		"login.password.label=Your password", "\"auth.token.expired\": \"Your session has ended\"", "errors.api_key.missing = An API key is needed", "\"password_reset_title\": \"Choose a new password\"",
		"max_tokens: 4096, input_tokens: 12345", "the token bucket holds 42 tokens", "secretName: app-tls", "secretKeyRef: {name: app, key: password}",
		"t.Setenv(\"API_KEY\", \"test\")", "expect(res.token).toBe('abc')", "password: 'password'", "user:pass@localhost in the docs means any user",
		"func (c *Client) WithToken(token string) *Client {", "type Credentials struct { AccessKey, SecretKey string }", "see https://example.com/docs/api-keys#rotate-2024", "AKIA... is how a key id begins",
		"ghp_xxxxxxxxxxxxxxxxxxxx", "-----BEGIN ... PRIVATE KEY----- marks the start", "jwt.verify(token, publicKey, {algorithms: ['RS256']})", "token_type: bearer, expires_in: 3600",
		"password=\"********\"", "passwd: files systemd", "key: value, other_key: 17", "ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519",
		"DATABASE_URL=postgres://localhost:5432/app", "redis://cache:6379/0", "git@github.com:acme/secret-santa.git", "AWS_REGION=eu-central-1 AWS_PROFILE=dev",
	}
	m.times(len(lines), "prose", false, func(i int) string { return lines[i] })
	m.times(300-len(m.texts), "fixture", false, func(i int) string {
		return []string{
			`{"user": "ann", "password": "` + m.pick("hunter2", "letmein", "test1234", "secret") + `"}`,
			"token: " + m.pick("fake-token", "test-token", "dummy", "xxx"),
			`api_key: "` + m.pick("YOUR_API_KEY", "<api key>", "abc123", "test") + `"`,
			"Feature: sign in with password " + m.pick("correct", "wrong", "empty"),
			"i18n.secret." + m.pick("title", "hint") + ": \"" + m.pick("Secret", "Geheim") + "\"",
		}[i%5]
	})
}
