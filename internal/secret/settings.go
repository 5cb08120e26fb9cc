package secret

import "bytes"

// FromText returns the usable values in a text of settings, by the rules for .env files:
// its NAME=value lines, which many formats have. Others are for FromSetting. why says
// what keeps the text from being looked through, "" = nothing.
func FromText(data []byte) (values []string, why string) {
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return nil, "it is no text"
	case len(data) > maxDotenv:
		return nil, "it is larger than 1 MiB"
	}
	return dotenvValues(string(data)), ""
}

// FromSetting returns what is secret of one setting, by the rules for a line of an .env
// file.
func FromSetting(name, value string) []string { return candidates(name, value) }
