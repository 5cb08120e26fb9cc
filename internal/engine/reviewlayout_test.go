package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Whose files need no more than an equal share has them there, and as many others as fit.
func TestWhatIsLaidOutIsShared(t *testing.T) {
	type job map[string]int64
	for name, c := range map[string]struct {
		jobs []job
		most int64
		want string // what is laid out of each job
		left int64
	}{
		"all fits":                        {[]job{{"a": 10}, {"b": 20}}, 30, "a|b", 0},
		"the small ones":                  {[]job{{"a": 90}, {"b": 10}, {"c": 10}}, 60, "|b|c", 40},
		"as many as there is room for":    {[]job{{"a": 27}, {"b": 27}, {"c": 27}, {"d": 27}, {"e": 27}, {"f": 27}}, 128, "a|b|c|d||", 20},
		"of one job what fits":            {[]job{{"one": 2, "two": 90}, {"one": 3, "two": 80}}, 100, "one|one,two", 15},
		"the share that one leaves":       {[]job{{"a": 5}, {"b": 70}, {"c": 20}}, 100, "a|b|c", 5},
		"the larger one waits":            {[]job{{"a": 80}, {"b": 70}}, 100, "|b", 30},
		"what is left out for itself":     {[]job{{"gone": -1}, {"b": 10}}, 10, "|b", 0},
		"no room for anything":            {[]job{{"a": 1}, {"b": 1}}, 0, "|", 0},
		"nothing there, nothing is asked": {nil, 10, "", 10},
	} {
		var files [][]*laidFile
		for _, j := range c.jobs {
			var of []*laidFile
			for name, size := range j {
				f := &laidFile{name: name, size: size}
				if size < 0 {
					f.size, f.why = 0, "it is no file"
				}
				of = append(of, f)
			}
			files = append(files, of)
		}
		left := allot(files, c.most)
		var got []string
		for _, of := range files {
			var names []string
			for _, f := range of {
				if f.why == "" {
					names = append(names, f.name)
				}
			}
			slices.Sort(names)
			got = append(got, strings.Join(names, ","))
		}
		if all := strings.Join(got, "|"); all != c.want || left != c.left {
			t.Errorf("%s: %s", name, fmt.Sprint(all, " and ", left, " left"))
		}
	}
}
