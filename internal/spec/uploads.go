package spec

import (
	"regexp"
	"strings"
)

// Parts of what sends something out.
const (
	// within is what may stand between a program and one of its arguments: all but what
	// ends a command.
	within = `(?:[^;&|\n\\]|\\[\s\S]|&[^\s&;|])*?`
	// args is what may stand between it and an argument that begins right after.
	args = `(?:\s` + within + `)?\s["']?`
	// called is where a program's name is called and not only named: some names are words.
	called = `(?:^|[;&|({` + "`" + `\n]\s*|\s-\w*c\s+["']?|\b(?:then|do|else|if|while|until|sudo|exec|env|xargs|nohup|time|command)\s+|\btimeout\s+\S+\s+|!\s)` +
		`(?:-\S+\s+)*(?:\w+=\S*\s+)*(?:[\w.-]*/)*["']?`
	// loose is where a name that is no word of its own may stand.
	loose = `(?:^|[\s;&|("'/` + "`" + `])`
	// method is any but GET and HEAD.
	method = `["']?(?i:[^gh\s"']|g(?:[^e]|e(?:[^t]|t[^\s"'])|$)|h(?:[^e]|e(?:[^a]|a(?:[^d]|d[^\s"'])))|$)`
	// remote is a last word that names another host.
	remote = `\s["']?[\w.@$\[{][^\s:]+:\S*(?:\s+\d?[<>]\S*(?:\s+[^\s-]\S*)?)*\s*(?:$|[;&|)"'\n])`
)

// upload is a command that sends something out of this machine.
var upload = regexp.MustCompile(strings.Join([]string{
	loose + `curl` + args + `(?:--(?:data|json|form|upload-file|mail-)\S*|--request[=\s]+` + method +
		`|-[sSfLkviIgGnNORjJqalp#0-9:]*(?:[dFTQ]|X\s*` + method + `))`,
	loose + `wget` + args + `--(?:post-|body-|method[=\s]+` + method + `)`,
	called + `(?:https?|xhs?)\s+` + within + `(?:\b(?:POST|PUT|PATCH|DELETE)\s+\S|\s[^\s=:@/'"-][^\s=:@/'"]*(?:=[^=]|:=|@)|\s<|--raw\b)`,
	`(?i:\b(?:Invoke-(?:WebRequest|RestMethod)|iwr|irm)\s)` + within + `\s-(?i:body|infile|form|method\s+` + method + `)\b`,
	loose + `(?:scp|rsync)\s` + within + remote,
	loose + `rsync\s` + within + `\srsync://\S+\s*(?:$|[;&|)"'\n])`,
	called + `(?:sftp|lftp|ftp|tftp|ncftpput|sendmail|msmtp|swaks)\s+\S*[^\s-]`,
	called + `ssh\s+(?:-\S+\s+)*[\w$"'{]`,
	called + `(?:nc|ncat|netcat|telnet)\s+(?:-[^\sz]+\s+(?:\d+\s+)?)*[^-\s]\S*\s+[^-\s|;&<>]`,
	called + `(?:socat|openssl\s+s_client)\s` + within + `(?i:tcp|udp|openssl|connect)\S*[:\s]`,
	called + `(?:mail|mailx|mutt)\s` + within + `\S@\S`,
	`>\s*/dev/(?:tcp|udp)/`,
	loose + `gh\s+api` + args + `(?:--(?:field|raw-field|input)\b|--method[=\s]+` + method + `|-[fF]|-X\s*` + method + `)`,
	loose + `gh\s+(?:release|issue|pr|gist|repo|secret|variable)\s+(?:create|upload|comment|edit|review|set)\b`,
	loose + `(?:aws\s+s3\s+cp|gsutil\s` + within + `\scp|gcloud\s+storage\s+cp)\s` + within + `\s["']?(?:s3|gs)://\S*\s*(?:$|[;&|)"'\n]|--)`,
	loose + `aws\s+s3api\s+put-`, loose + `az\s+storage\s+` + within + `\bupload`,
	loose + `rclone\s+(?:copy|copyto|move|moveto|sync|rcat)\b`,
}, "|"))

// sendsOut is the first command of a text that sends something to another machine, "" =
// none that is noticed: a program can always hide what it does.
func sendsOut(text string) string {
	for _, at := range upload.FindAllStringIndex(text, -1) {
		rest := text[at[0]:]
		if end := commandEnd.FindStringIndex(rest[at[1]-at[0]:]); end != nil {
			rest = rest[:at[1]-at[0]+end[0]]
		}
		if !staysHere(rest) {
			return text[at[0]:at[1]]
		}
	}
	return ""
}

var (
	commandEnd = regexp.MustCompile(`[;|\n]|&(?:[\s&]|$)`)
	thisHost   = regexp.MustCompile(`^(?:https?://)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::(?:\d+|\$\{?\w+\}?))?(?:[/?][^\s` + "`" + `]*)?$`)
)

// staysHere reports whether a command talks to this machine and names nothing that may be
// another: a check of a server that it tests does.
func staysHere(command string) bool {
	here := false
	for _, word := range strings.Fields(command) {
		word = strings.Trim(word, `"'()`)
		switch {
		case thisHost.MatchString(word):
			here = true
		case strings.HasPrefix(word, "@"): // a file
		case strings.ContainsAny(word, ".$`") || strings.Contains(word, "://"):
			return false
		}
	}
	return here
}
