package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// mount is one line of /proc/self/mountinfo: a part of a file system, and where it is.
type mount struct{ device, root, point string }

// aliases are the other paths at which what is at path can be reached, because part of
// its file system is mounted more than once.
func aliases(path string, mounts []mount) (all []string) {
	var home mount
	for _, m := range mounts { // of mounts over one another the last is what is seen
		if within(path, m.point) && len(m.point) >= len(home.point) {
			home = m
		}
	}
	inFS := filepath.Join(home.root, strings.TrimPrefix(path, home.point))
	for _, m := range mounts {
		switch {
		case m.device != home.device || m == home:
		case within(inFS, m.root):
			all = append(all, filepath.Join(m.point, strings.TrimPrefix(inFS, m.root)))
		case within(m.root, inFS): // a part of it
			all = append(all, m.point)
		}
	}
	return all
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// mounts reads where file systems are mounted; none where that cannot be known.
func mounts() []mount {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return parseMounts(string(data))
}

func parseMounts(text string) (all []mount) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			continue
		}
		all = append(all, mount{device: fields[2], root: unescape.Replace(fields[3]), point: unescape.Replace(fields[4])})
	}
	return all
}

// unescape undoes what the kernel does to characters that would break a line.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
