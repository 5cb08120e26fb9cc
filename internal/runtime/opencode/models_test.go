package opencode

import "testing"

// TestATornListIsNotWhole: what stands in it can be asked for, what does not stand in it
// is not known to be missing.
func TestATornListIsNotWhole(t *testing.T) {
	models, torn := parseModels([]byte("a/b\n{\"variants\":{}}\nc/d\n{\"variants\":{\"hi"))
	if len(models) != 1 || models[0].ID != "a/b" || !torn {
		t.Errorf("%+v, torn %t", models, torn)
	}
	if models, torn := parseModels([]byte("a/b\n{}\n\nc/d\n{\n}\n")); len(models) != 2 || torn {
		t.Errorf("%+v, torn %t", models, torn)
	}
}
