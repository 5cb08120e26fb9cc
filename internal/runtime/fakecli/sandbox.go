package fakecli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// codexSandbox acts out a sandbox without a kernel behind it. It understands a
// shell script of `echo WORDS` and `echo WORDS > FILE`, and writes only what the
// sandbox mode would let through.
func (c *call) codexSandbox() int {
	dir := workingFolder()
	if d, ok := c.value("-C"); ok {
		dir = d
	}
	line := strings.Join(c.args, " ")
	_, script, ok := strings.Cut(line, " -- /bin/sh -c ")
	if !ok {
		fmt.Fprintf(c.err, "error: the fake's sandbox understands only a script of echo, not %q\n", line)
		return 1
	}
	writable := strings.Contains(line, "sandbox_mode=workspace-write")
	code := 0
	for piece := range strings.SplitSeq(script, ";") {
		text, file, toFile := strings.Cut(strings.TrimPrefix(strings.TrimSpace(piece), "echo "), " > ")
		if !toFile {
			fmt.Fprintln(c.out, text)
			continue
		}
		target := filepath.Join(dir, file)
		inside := strings.HasPrefix(target, dir+string(filepath.Separator)) || strings.Contains(line, "writable_roots=[\""+filepath.Dir(target)+"\"]")
		err := fmt.Errorf("%s: Read-only file system", file)
		if c.scenario.OpenBox || (writable && inside) {
			err = os.WriteFile(target, []byte(text+"\n"), 0o600)
		}
		if err != nil {
			fmt.Fprintf(c.err, "/bin/sh: cannot create %v\n", err)
			code = 2
		}
	}
	return code
}
