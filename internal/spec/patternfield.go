package spec

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v4"
)

// Two fields are only ever written by this program: pattern says in a run's jobs.yaml what
// a job is in its pattern, worker what the worker form says of a job. Both are written and
// read as JSON is.

// patternText is the field pattern.
type patternText struct {
	Part     *Part     `json:"part,omitempty"`
	Item     *itemText `json:"item,omitempty"`
	Round    *Round    `json:"round,omitempty"`
	Gather   *Gather   `json:"gather,omitempty"`
	Verdict  *Verdict  `json:"verdict,omitempty"`
	AfterAll bool      `json:"after_all,omitempty"`
	Require  int       `json:"require,omitempty"`
}

// itemText is an Item whose value is kept to the byte, as text.
type itemText struct {
	Item
	Value *string `json:"value,omitempty"`
}

// patternField is what the field pattern says of a job, nil where that is nothing.
func (j *Job) patternField() any {
	p := patternText{j.Part, nil, j.Round, j.Gather, j.Verdict, j.AfterAll, j.Require}
	if j.Item != nil {
		p.Item = &itemText{Item: *j.Item}
		if j.Item.Value != nil {
			text := string(j.Item.Value)
			p.Item.Value = &text
		}
	}
	if p == (patternText{}) {
		return nil
	}
	return asYAML(p)
}

// written is a job of a run's jobs.yaml.
func (r *reader) written(own value) made {
	m := made{own: own}
	var p patternText
	if v := own.field("pattern"); v.present() && r.readJSON(v, &p) {
		m.seed = Job{Part: p.Part, Round: p.Round, Gather: p.Gather, Verdict: p.Verdict, AfterAll: p.AfterAll, Require: p.Require}
		if p.Item != nil {
			item := p.Item.Item
			if p.Item.Value != nil {
				item.Value = json.RawMessage(*p.Item.Value)
			}
			m.seed.Item = &item
		}
	}
	return m
}

// worker is what the worker form says of a job.
func (r *reader) worker(v value) *Worker {
	if !v.present() || r.spoiled[v.path] {
		return nil
	}
	if !r.opt.Worker && !r.opt.Resolved {
		r.failf(v, "worker", "only the worker form (orchestrate dispatch and batch) writes this; remove it")
		return nil
	}
	w := &Worker{}
	if !r.readJSON(v, w) {
		return nil
	}
	return w
}

// readJSON reads a value that this program wrote.
func (r *reader) readJSON(v value, into any) bool {
	dec := json.NewDecoder(bytes.NewReader(v.t.json()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		r.failf(v, "value", "this is not what orchestrate writes here: %s", err)
		return false
	}
	return true
}

// asYAML is a value that is written as JSON is, in the order of its fields.
func asYAML(v any) *yaml.Node {
	data, err := json.Marshal(v)
	if err != nil {
		panic("a job's own fields cannot be written: " + err.Error())
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return nextNode(dec)
}

// nextNode is the next value of JSON that is known to be whole.
func nextNode(dec *json.Decoder) *yaml.Node {
	token, err := dec.Token()
	if err != nil {
		panic("a job's own fields cannot be written: " + err.Error())
	}
	switch token := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		if token == '{' {
			n.Kind = yaml.MappingNode
		}
		for dec.More() {
			n.Content = append(n.Content, nextNode(dec))
		}
		if _, err := dec.Token(); err != nil { // what closes it
			panic("a job's own fields cannot be written: " + err.Error())
		}
		return n
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: token.String()}
	case string:
		return text(token)
	default:
		return node(token)
	}
}
