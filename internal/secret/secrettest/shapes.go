package secrettest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Known says from where the engine knows a value that has no shape of its own.
type Known string

// The places from which exact values come.
const (
	FromShape  Known = ""       // it is found by how it looks, or by what stands before it
	FromEnv    Known = "env"    // a variable of the environment
	FromDotenv Known = "dotenv" // a line of an .env file
)

// Shape is one made-up secret, as it may stand in a text.
type Shape struct {
	Class  string
	Text   string // with what stands around it
	Hidden string // the part that nobody may see
	Known  Known
	Name   string // of the variable, where Known says so
}

// Halves are the two halves of what is hidden: half a secret is a leak too. A
// value that goes over several lines is known by its longest.
func (s Shape) Halves() []string {
	longest := ""
	for line := range strings.Lines(s.Hidden) {
		if line = strings.TrimSpace(line); len(line) > len(longest) && !strings.HasPrefix(line, "-----") {
			longest = line
		}
	}
	if len(longest) < 16 {
		return []string{longest}
	}
	return []string{longest[:len(longest)/2], longest[len(longest)/2:]}
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	hexes  = digits + "abcdef"
	alnum  = lower + upper + digits
)

// maker makes secrets up. Nothing of them is in the source, so that no scanner of
// sources stops at it.
type maker struct {
	*rand.Rand
	all []Shape
}

// of is n random characters, a letter and a digit at least.
func (m *maker) of(n int, set string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[m.IntN(len(set))]
	}
	if n > 3 && strings.Contains(set, digits) {
		b[n/3], b[n/3+1] = digits[m.IntN(10)], set[m.IntN(6)]
	}
	return string(b)
}

// put adds a secret that stands between before and after.
func (m *maker) put(class, before, value, after string) {
	m.all = append(m.all, Shape{Class: class, Text: before + value + after, Hidden: value})
}

// token is one that is known by how it begins.
func (m *maker) token(class, prefix string, n int, set string) {
	m.put(class, "the key is ", prefix+m.of(n, set), " as of today")
}

// Shapes makes up sixty secrets, of every class that is known.
func Shapes(seed uint64) []Shape {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 57))}
	m.forges()
	m.clouds()
	m.services()
	m.structured()
	m.named()
	m.values()
	return m.all
}

func (m *maker) forges() {
	m.token("github", "gh"+"p_", 36, alnum)
	m.token("github", "gh"+"o_", 36, alnum)
	m.token("github", "gh"+"s_", 36, alnum)
	m.put("github", "clone with ", "github"+"_pat_"+m.of(22, alnum)+"_"+m.of(59, alnum), " please")
	m.token("gitlab", "gl"+"pat-", 20, alnum)
	m.token("gitlab", "gl"+"rt-", 20, alnum)
	m.put("npm", "//registry.example/:_authToken=", "np"+"m_"+m.of(36, alnum), "\n")
	m.token("pypi", "pypi-"+"AgEIcHlwaS5vcmc", 60, alnum)
	m.token("rubygems", "ruby"+"gems_", 48, hexes)
	m.token("atlassian", "ATA"+"TT3", 186, alnum)
}

func (m *maker) clouds() {
	m.token("aws", "AK"+"IA", 16, upper[:22]+"234567")
	m.put("aws", "aws_secret_access_key = ", m.of(40, alnum+"+/"), "\n")
	m.token("google", "AI"+"za", 35, alnum)
	m.token("google", "GOC"+"SPX-", 28, alnum)
	m.token("digitalocean", "dop"+"_v1_", 64, hexes)
	m.token("databricks", "da"+"pi", 32, hexes)
	m.token("vault", "hv"+"s.", 95, alnum)
	m.put("azure", "the secret ", m.of(3, alnum)+"8Q"+"~"+m.of(34, alnum), " is it")
	m.put("azure", "DefaultEndpointsProtocol=https;AccountKey=", m.of(86, alnum+"+/")+"==", ";EndpointSuffix=x")
	m.token("doppler", "dp"+".pt.", 43, alnum)
	m.put("hashicorp", "credentials ", m.of(14, alnum)+".atlas"+"v1."+m.of(64, alnum), " for it")
}

func (m *maker) services() {
	m.put("slack", "bot ", "xo"+"xb-"+m.of(12, digits)+"-"+m.of(12, digits)+"-"+m.of(24, alnum), " said")
	m.put("slack", "post to https://hooks.slack"+".com/services/", "T"+m.of(9, upper+digits)+"/B"+m.of(9, upper+digits)+"/"+m.of(24, alnum), " then")
	m.put("telegram", "bot ", m.of(10, digits)+":AA"+m.of(33, alnum), " said")
	m.token("stripe", "sk"+"_live_", 24, alnum)
	m.token("stripe", "rk"+"_live_", 24, alnum)
	m.token("stripe", "wh"+"sec_", 32, alnum)
	m.token("square", "sq0"+"atp-", 22, alnum)
	m.token("shopify", "shp"+"at_", 32, hexes)
	m.token("anthropic", "sk-"+"ant-api03-", 80, alnum)
	m.token("openai", "sk-"+"proj-", 48, alnum)
	m.token("huggingface", "h"+"f_", 34, lower+upper)
	m.token("groq", "gs"+"k_", 52, alnum)
	m.token("sendgrid", "S"+"G."+m.of(22, alnum)+".", 43, alnum)
	m.token("grafana", "gl"+"sa_", 41, alnum)
	m.token("linear", "lin_"+"api_", 40, alnum)
	m.token("newrelic", "NR"+"AK-", 27, upper+digits)
	m.token("twilio", "S"+"K", 32, hexes)
}

func (m *maker) structured() {
	part := func(json string) string { return base64.RawURLEncoding.EncodeToString([]byte(json)) }
	m.put("jwt", "cookie ", part(`{"alg":"HS256"}`)+"."+part(fmt.Sprintf(`{"sub":"%s"}`, m.of(12, digits)))+"."+m.of(43, alnum), " set")
	for _, kind := range []string{"RSA ", "EC ", "OPENSSH "} {
		var key strings.Builder
		fmt.Fprintf(&key, "-----BEGIN %sPRIVATE"+" KEY-----\n", kind)
		for range 6 {
			key.WriteString(m.of(64, alnum+"+/") + "\n")
		}
		fmt.Fprintf(&key, "-----END %sPRIVATE"+" KEY-----", kind)
		m.put("pem", "found:\n", key.String(), "\nand no more")
	}
	m.put("url", "postgres://app:", "p"+m.of(14, alnum), "@db.example/x")
	m.put("url", "git clone https://ann:", m.of(20, alnum), "@git.example/x.git")
	m.put("header", "Authorization: Bearer ", m.of(32, alnum), "\n")
	m.put("header", "authorization: Basic ", base64.StdEncoding.EncodeToString([]byte("deploy:"+m.of(15, alnum))), "\n")
	m.put("header", "X-Api-Key: ", m.of(32, hexes), "\n")
}

func (m *maker) named() {
	m.put("assigned", "password=", m.of(14, alnum), "\n")
	m.put("assigned", `{"password": "`, m.of(16, alnum), `"}`)
	m.put("assigned", "DB_PASSWORD: ", m.of(14, alnum), "\n")
	m.put("assigned", `api_key = "`, m.of(32, hexes), `"`)
	m.put("assigned", "client_secret: ", m.of(40, alnum), "\n")
	m.put("assigned", "curl -u deploy:", m.of(18, alnum), " https://host.example/x")
}

func (m *maker) values() {
	known := func(from Known, name, value string) {
		m.all = append(m.all, Shape{Class: string(from), Text: "it says " + value + " here", Hidden: value, Known: from, Name: name})
	}
	known(FromEnv, "SERVICE_TOKEN", m.of(9, alnum)+"-"+m.of(9, alnum))
	known(FromEnv, "OTHER_SECRET", `q"uo\te-`+m.of(16, alnum))
	known(FromEnv, "THIRD_KEY", "schlüssel-"+m.of(16, alnum))
	known(FromDotenv, "DEPLOY_TOKEN", m.of(9, alnum)+"-"+m.of(9, alnum))
	known(FromDotenv, "SIGNING_KEY", m.of(12, alnum)+"&<"+m.of(12, alnum)+">")
	known(FromDotenv, "SMTP_PASSWORD", "correct "+m.of(8, alnum)+" battery "+m.of(8, alnum))
	known(FromDotenv, "WIDE_SECRET", m.of(60, alnum)+"\n"+m.of(60, alnum))
}
