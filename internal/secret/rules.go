package secret

// maxRun bounds every look ahead, in bytes; Window is at least as long.
const maxRun = minWindow / 4

// A rule is one class of secrets. match is called where one of the literals
// starts; n is the literal's length.
type rule struct {
	id      string
	lits    []string
	fold    bool     // literals are lower case and match any case
	encoded []string // further spellings that are looked for in base64
	plain   bool     // too common to be looked for in base64 as well
	whole   bool     // in base64 the whole run is the secret, not the matched part
	need    int      // bytes behind the literal that decide
	back    int      // bytes before the literal that decide
	match   matcher
}

type matcher func(b []byte, at, n int) (Span, bool)

// builtin lists the built-in rules.
func builtin() []rule {
	rules := append(tokens(), structured()...)
	return append(rules, assignments()...)
}

// structured lists the secrets that are more than a literal and a run.
func structured() []rule {
	return []rule{
		{id: "private-key", lits: []string{"-----BEGIN"}, need: 60, whole: true, match: matchPEM},
		{id: "jwt", lits: []string{"eyJ", "eyA"}, need: 400, match: matchJWT},
		{id: "authorization", lits: []string{"bearer ", "basic ", "apikey ", "token "}, fold: true, need: 200, match: matchScheme},
		{id: "authorization", lits: []string{"authorization:", "-token:", "-key:", "apikey:", "proxy-authorization:"}, fold: true, encoded: []string{"Api-Key:"}, need: 200, back: 24, match: matchHeader},
		{id: "url-credentials", lits: []string{"://", `:\/\/`}, need: 256, match: matchURL},
		{id: "curl-user", lits: []string{" -u ", " -u\"", " -u'", " --user ", " --user=", " --proxy-user "}, need: 128, back: 96, match: matchCurlUser},
		{id: "azure-client-secret", lits: digitsBefore("Q~"), need: 40, match: matchAzure},
		{id: "hashicorp-token", need: 60, back: 14, lits: []string{".atlasv1."}, match: around(14, 14, alnum, 50, tokenSet)},
		{id: "maxmind-key", back: 37, lits: []string{"_mmk"}, match: matchMaxmind},
		{id: "authress-key", need: 60, back: 60, lits: []string{".acc_", ".acc-"}, match: around(10, 60, wordDot, 42, tokenSet)},
		{id: "telegram-token", need: 40, back: 17, lits: []string{":AA"}, match: around(8, 16, digits, 32, wordDash)},
		{id: "airtable-token", lits: []string{"pat"}, match: segments(".", seg{alnum, 14}, seg{hexDigits, 64}), plain: true},
		{id: "harness-key", lits: []string{"pat.", "sat."}, match: segments(".", seg{wordDash, 22}, seg{alnum, 24}, seg{alnum, 20}), plain: true},
	}
}

func digitsBefore(tail string) []string {
	var lits []string
	for d := byte('0'); d <= '9'; d++ {
		lits = append(lits, string(d)+tail)
	}
	return lits
}

// token matches a literal followed by at least least members of c.
func token(id string, c *charset, least int, lits ...string) rule {
	return rule{id: id, lits: lits, need: least, match: func(b []byte, at, n int) (Span, bool) {
		if run(b, at+n, least, c)-at-n < least {
			return Span{}, false
		}
		return Span{From: at, Start: at, End: run(b, at+n, maxRun, c)}, true
	}}
}

// weak is token for literals that also occur within words: a boundary before,
// and digits or real variety in what follows.
func weak(id string, c *charset, least int, lits ...string) rule {
	r := token(id, c, least, lits...)
	strong := r.match
	r.match = func(b []byte, at, n int) (Span, bool) {
		sp, ok := strong(b, at, n)
		if !ok || !starts(b, at) || entropy(b[at+n:sp.End]) < 2.8 {
			return Span{}, false
		}
		return sp, true
	}
	return r
}

// folded makes a rule match its literals in any case.
func folded(r rule) rule {
	r.fold = true
	return r
}
