package secret

import (
	"net/url"
	"slices"
	"strings"
)

// LooksSecretName reports whether a variable of this name is likely to hold a
// secret: …_KEY, …_TOKEN, …SECRET…, …PASSWORD… and their like, but not the path,
// the socket or the size of one.
func LooksSecretName(name string) bool {
	n := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	n = strings.TrimRight(n, "0123456789_")
	if n == "PWD" || n == "OLDPWD" || strings.Contains(n, "PUBLIC") {
		return false
	}
	last := n[strings.LastIndexByte(n, '_')+1:]
	if slices.Contains([]string{"PATH", "FILE", "DIR", "HOME", "SOCK", "NAME", "COUNT", "LENGTH", "TTL", "TIMEOUT", "EXPIRY", "ENABLED"}, last) {
		return false
	}
	for _, part := range []string{"SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"} {
		if strings.Contains(n, part) {
			return true
		}
	}
	if strings.HasSuffix(n, "TOKEN") || strings.HasSuffix(n, "APIKEY") || strings.HasSuffix(n, "WEBHOOK_URL") {
		return true
	}
	return slices.Contains([]string{"KEY", "PASS", "PWD", "AUTH", "PAT", "COOKIE", "DSN", "JWT"}, last)
}

// FromEnv returns the values to redact of an environment (NAME=value): those of
// secret-looking names, and the passwords in URLs of any name.
func FromEnv(env []string) []string {
	var values []string
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok {
			continue
		}
		if LooksSecretName(name) && Usable(value) && !looksPath(value) {
			values = append(values, value)
		}
		values = append(values, urlPasswords(value)...)
	}
	return values
}

// Holds reports whether a value has a secret in it, by its shape or by what it is assigned
// to, or a URL with a password.
func Holds(value string) bool { return len(patterns().spans(nil, []byte(value))) > 0 }

// urlPasswords returns the passwords in the URLs of a value, as written and
// unescaped.
func urlPasswords(value string) []string {
	var found []string
	for rest := value; ; {
		_, after, ok := strings.Cut(rest, "://")
		if !ok {
			return found
		}
		rest = after
		user, _, ok := strings.Cut(after[:strings.IndexAny(after+"/", "/?# ")], "@")
		_, pass, has := strings.Cut(user, ":")
		if !ok || !has {
			continue
		}
		for _, p := range []string{pass, unescaped(pass)} {
			if Usable(p) && !slices.Contains(found, p) {
				found = append(found, p)
			}
		}
	}
}

func unescaped(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}

// looksPath reports whether a value is the path of a file: redacting that would
// only spoil text. A random key may hold slashes too, but then also parts that
// mix cases and digits.
func looksPath(v string) bool {
	if !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "~/") && !strings.HasPrefix(v, "./") {
		return false
	}
	for part := range strings.SplitSeq(v, "/") {
		p := []byte(part)
		if len(p) >= 8 && has(p, lowerCase) && has(p, upperCase) && has(p, digits) {
			return false
		}
	}
	return true
}
