package pattern

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Items is the list that answers hold at a path, in their order. A path that can find one
// thing only must find an array, whose elements are the items; one with a wildcard, range or
// filter finds the items themselves, perhaps none, or the one array that holds them. What
// nothing can be filled in with, null or a list, is no item, which is an error.
func Items(answers []string, path string) (items []json.RawMessage, err error) {
	at, err := ParsePath(path)
	if err != nil {
		return nil, err
	}
	for _, answer := range answers {
		doc, err := Answer(answer)
		if err != nil {
			return nil, err
		}
		found, err := at.elements(doc, path)
		if err != nil {
			return nil, err
		}
		for _, v := range found {
			raw, err := item(v)
			if err != nil {
				return nil, fmt.Errorf("item %d of the list at %s: %w", len(items)+1, path, err)
			}
			items = append(items, raw)
		}
	}
	return items, nil
}

func (p Path) elements(doc any, path string) ([]any, error) {
	found := p.Select(doc)
	if len(found) == 1 {
		if list, ok := found[0].([]any); ok {
			return list, nil
		}
	}
	switch {
	case !p.Single():
		return found, nil
	case len(found) == 0:
		return nil, fmt.Errorf("the answer has nothing at %s", path)
	}
	return nil, fmt.Errorf("what the answer has at %s is no list", path)
}

func item(v any) (json.RawMessage, error) {
	switch v.(type) {
	case nil:
		return nil, errors.New("it is null")
	case []any:
		return nil, errors.New("it is a list; an item is a text, a number, true, false or a mapping")
	}
	return Compact(v)
}

// Compact is a decoded value as JSON on one line, with nothing escaped that need not be.
func Compact(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
