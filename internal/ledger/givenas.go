package ledger

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
)

// CallFile says, beside the spec of a call of the worker form, what the call was made from.
const CallFile = "call.json"

// callMost is the most that is read of it, in bytes.
const callMost = 1 << 20

// CallGiven is the command line that does a call of the worker form once more, from the
// workspace root; spec is the absolute path of its spec. "" = that is not known any more.
func CallGiven(spec string) string {
	f, err := os.Open(filepath.Join(filepath.Dir(spec), CallFile))
	if err != nil {
		return ""
	}
	defer f.Close() // only read
	var call struct {
		Command string `json:"command"`
	}
	if json.NewDecoder(io.LimitReader(f, callMost)).Decode(&call) != nil {
		return ""
	}
	return call.Command
}
