package report

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSON is all that JSONParts hands on.
func (r Report) JSON() ([]byte, error) {
	var b bytes.Buffer
	err := r.JSONParts(func(part []byte) error {
		b.Write(part)
		return nil
	})
	return b.Bytes(), err
}

// JSONParts hands on report.json's content in parts, none of which ends within a string
// and each of which is good until the next is there: what there is of every job is much,
// all of it together. The document is indented, with each job on one line.
func (r Report) JSONParts(hand func(part []byte) error) error {
	jobs, commands := r.Jobs, r.Reproduce
	r.Jobs, r.Reproduce = []Job{}, []Command{}
	var frame bytes.Buffer
	if err := encoder(&frame, "", " ").Encode(r); err != nil {
		return err
	}
	p := jsonParts{rest: frame.Bytes(), hand: hand}
	p.upTo("jobs")
	each(&p, jobs, "", "")
	p.upTo("reproduce")
	if each(&p, commands, "  ", " "); len(commands) > 0 {
		p.give([]byte("\n "))
	}
	p.give(p.rest)
	return p.err
}

// jsonParts fills in what was left out of a document, from its beginning to its end.
type jsonParts struct {
	rest []byte
	hand func(part []byte) error
	err  error // the first
}

func (p *jsonParts) give(part []byte) {
	if p.err == nil {
		p.err = p.hand(part)
	}
}

// upTo gives what comes before the items of an empty list of the document itself.
func (p *jsonParts) upTo(name string) {
	// No text can hold a bare line break, so this is the one field of that name.
	begin := fmt.Appendf(nil, "\n %q: [", name)
	i := bytes.Index(p.rest, append(begin, ']'))
	if i < 0 {
		if p.err == nil {
			p.err = fmt.Errorf("report.json: no list of %s", name)
		}
		return
	}
	n := i + len(begin)
	p.give(p.rest[:n])
	p.rest = p.rest[n:]
}

// each gives the items of a list, on lines of their own.
func each[T any](p *jsonParts, items []T, prefix, indent string) {
	var b bytes.Buffer
	enc := encoder(&b, prefix, indent)
	for i := range items {
		b.Reset()
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		if err := enc.Encode(&items[i]); err != nil && p.err == nil {
			p.err = err
		}
		p.give(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	}
}

func encoder(b *bytes.Buffer, prefix, indent string) *json.Encoder {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, indent)
	return enc
}
