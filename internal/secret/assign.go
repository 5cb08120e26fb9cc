package secret

import "bytes"

// assignments lists the rules for `name = value`: names that say what they hold,
// and names of services whose keys have no shape of their own.
func assignments() []rule {
	return []rule{
		{id: "password", fold: true, need: 160, match: matchPassword, lits: []string{
			"password", "passwd", "passphrase", "_pwd", "db_pass", "_pass=",
		}},
		{id: "assigned-secret", fold: true, plain: true, encoded: keyNames(), need: 160, match: matchAssigned, lits: []string{
			"secret", "token", "api_key", "apikey", "api-key", "access_key", "access-key", "accesskey",
			"private_key", "private-key", "privatekey", "auth_key", "authkey", "encryption_key", "signing_key",
			"master_key", "account_key", "accountkey", "service_key", "deploy_key", "credential", "client_secret",
			"authorization", "_auth", "sharedaccesskey",
		}},
		{id: "service-key", fold: true, plain: true, match: matchService, lits: services()},
	}
}

// keyNames are those that are looked for in base64 too, as they are spelled most: each
// costs time wherever its encoding seems to begin.
func keyNames() []string {
	return []string{
		"secret", "Secret", "SECRET", "token", "Token", "TOKEN", "api_key", "API_KEY", "apiKey", "ApiKey", "Api-Key",
		"access_key", "ACCESS_KEY", "accessKey", "AccessKey", "private_key", "PRIVATE_KEY", "privateKey", "AccountKey",
	}
}

func services() []string {
	return []string{
		"adafruit", "adobe", "airtable", "algolia", "alibaba", "asana", "atlassian", "confluence", "jira", "beamer",
		"bitbucket", "bittrex", "meraki", "cloudflare", "codecov", "cohere", "coinbase", "confluent", "contentful",
		"datadog", "dnkey", "discord", "droneci", "dropbox", "etsy", "facebook", "fastly", "finicity", "finnhub",
		"flickr", "freshbooks", "gitter", "gocardless", "heroku", "hubspot", "intercom", "jfrog", "artifactory",
		"bintray", "xray", "kraken", "kucoin", "launchdarkly", "linear", "linkedin", "linked-in", "linked_in", "lob", "looker", "mailchimp",
		"mailgun", "mapbox", "mattermost", "messagebird", "message-bird", "message_bird", "netlify", "newrelic",
		"new-relic", "new_relic", "nytimes", "new-york-times", "newyorktimes", "okta", "plaid", "privateai",
		"private_ai", "private-ai", "rapidapi", "sendbird", "sendinblue", "sentry", "snyk", "sonar", "squarespace",
		"sumo", "telegr", "travis", "twitch", "twitter", "yandex", "zendesk", "co_api_key", "contribsys__com",
	}
}

// A passage is where the value of an assignment stands.
type passage struct {
	start, end int
	quoted     bool
	spaced     bool // white space between name and value
	operator   byte
}

// passageAt reads what follows a name: the rest of the name, then quotes, blanks
// and at least one operator in any order, then the value. All within the line.
func passageAt(b []byte, i int) (passage, bool) {
	var p passage
	i = run(b, i, 36, nameRest)
	p.start = run(b, i, 16, leadIn)
	if bytes.HasPrefix(b[p.start:], []byte("value=")) { // <add key="Password" value="…"/>
		p.start = run(b, p.start+len("value"), 16, leadIn)
	}
	for _, c := range b[i:p.start] {
		if operator[c] && p.operator == 0 {
			p.operator = c
		}
		p.quoted = p.quoted || c == '"' || c == '\'' || c == '`'
		p.spaced = p.spaced || c == ' '
	}
	if p.operator == 0 {
		return p, false
	}
	p.end = valueEnd(b, p.start)
	return p, p.end > p.start
}

// valueEnd is the end of the value at start: its closing quote when it is quoted
// and has no blanks, else the end of the run.
func valueEnd(b []byte, start int) int {
	if q := b[start-1]; q == '"' || q == '\'' || q == '`' {
		line := b[start:min(len(b), start+256)]
		if k := bytes.IndexByte(line, q); k >= 0 && !bytes.ContainsAny(line[:k], " \t\r\n") {
			return start + len(bytes.TrimRight(line[:k], `\`))
		}
	}
	return run(b, start, 256, valueSet)
}

var (
	nameRest = set(" \ta-zA-Z0-9_.-")
	leadIn   = set(" \t\"'`\\=>:|?,")
	operator = set("=>:|?,")
	valueSet = func() *charset {
		c := &charset{}
		for i := '!'; i < 256; i++ {
			c[i] = true
		}
		for _, stop := range "\"'`\\,;(){}<>[]&" {
			c[stop] = false
		}
		return c
	}()
)

// code reports whether the value is an expression rather than a literal.
func (p passage) code(b []byte) bool {
	if p.end < len(b) && (b[p.end] == '(' || b[p.end] == '[' || b[p.end] == '{') {
		return true
	}
	return placeholder(b[p.start:]) || p.fingerprint(b) || Digest(b[:p.start], b[p.start:p.end])
}

// fingerprint reports whether the value is what we print of one that was found, as
// "fingerprint rule:digits": it has to stay readable to be of use.
func (p passage) fingerprint(b []byte) bool {
	if p.operator != ':' || b[p.start-1] != ':' || p.end-p.start != fingerprintDigits || run(b, p.start, fingerprintDigits, hexDigits) != p.end {
		return false
	}
	name := runBack(b, p.start-1, 64, wordDash)
	return bytes.HasSuffix(b[:name], []byte("fingerprint "))
}

// span is the whole value; what decided was its front.
func (p passage) span(b []byte, at int) Span {
	return Span{From: at, Start: p.start, End: max(p.end, run(b, p.start, maxRun, valueSet))}
}

// matchPassword takes values that a person may have chosen: 8 bytes are enough,
// when they are more than one word.
func matchPassword(b []byte, at, n int) (Span, bool) {
	p, ok := passageAt(b, at+n)
	if !ok || p.code(b) {
		return Span{}, false
	}
	v := b[p.start:p.end]
	if p.operator == ',' && (!p.quoted || !has(v, digits) || entropy(v) < 3) {
		return Span{}, false
	}
	if len(v) < minLength || classes(v) < 2 || entropy(v) < minEntropy {
		return Span{}, false
	}
	if p.spaced && !p.quoted && !has(v, digits) {
		return Span{}, false // prose, or the name of a variable
	}
	return p.span(b, at), true
}

// matchAssigned takes values that a machine has made: letters and digits mixed.
func matchAssigned(b []byte, at, n int) (Span, bool) {
	p, ok := passageAt(b, at+n)
	if !ok || p.operator == ',' || p.code(b) {
		return Span{}, false
	}
	v := b[p.start:p.end]
	if len(v) < 10 || !has(v, digits) || !has(v, letters) || entropy(v) < 3.1 {
		return Span{}, false
	}
	if p.operator == '=' && p.spaced && !p.quoted && bytes.ContainsAny(v, ".*") {
		return Span{}, false // an expression: x.Token = ed25519.PrivateKey
	}
	return p.span(b, at), true
}

// matchService takes long random values only: the names are ordinary words too.
func matchService(b []byte, at, n int) (Span, bool) {
	p, ok := passageAt(b, at+n)
	if !ok || p.code(b) || looksPath(string(b[p.start:p.end])) { // YARN_GLOBAL_FOLDER=/tmp/…
		return Span{}, false
	}
	v := b[p.start:p.end]
	if len(v) < 14 || !has(v, digits) || !has(v, letters) || entropy(v) < 2.9 {
		return Span{}, false
	}
	return p.span(b, at), true
}
