package modelsim_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/modelsim"
)

func (l *lab) get(path string, headers ...string) said {
	l.t.Helper()
	req, err := http.NewRequest(http.MethodGet, l.URL("")+path, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := l.client.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return said{resp.StatusCode, resp.Header, string(data), err}
}

func TestModelsAreListedInTheDialectOfWhoAsks(t *testing.T) {
	l := start(t, `{models: [maker/m-1, m-2], rules: [{do: [{text: x}]}]}`, modelsim.Options{})
	for _, path := range []string{"/v1/models", "/p/v1/models?limit=1000", "/models", "/v1beta/openai/models"} {
		got := decoded(t, l.get(path).body)
		ids := []any{at(got, "data", 0, "id"), at(got, "data", 1, "id"), at(got, "data", 2)}
		if d := cmp.Diff([]any{"maker/m-1", "m-2", nil}, ids); d != "" || at(got, "object") != "list" || at(got, "has_more") != false || at(got, "last_id") != "m-2" {
			t.Errorf("%s: %v", path, got)
		}
	}
	for _, ask := range [][]string{{"/p/v1beta/models?pageSize=50"}, {"/v1/models", "X-Goog-Api-Key", "made-up"}} {
		got := decoded(t, l.get(ask[0], ask[1:]...).body)
		names := []any{at(got, "models", 0, "name"), at(got, "models", 1, "name"), at(got, "data")}
		if d := cmp.Diff([]any{"models/maker/m-1", "models/m-2", nil}, names); d != "" || at(got, "models", 0, "supportedGenerationMethods", 0) != "generateContent" {
			t.Errorf("%s: %v", ask[0], got)
		}
	}
	if r := l.Requests(); r[0].Signed || !r[len(r)-1].Signed {
		t.Errorf("signed: %+v", r)
	}
}

func TestOneModelIsDescribed(t *testing.T) {
	l := start(t, `{models: [maker/m-1], rules: [{do: [{text: x}]}]}`, modelsim.Options{})
	if got := l.get("/v1/models/maker/m-1"); got.code != http.StatusOK || at(decoded(t, got.body), "id") != "maker/m-1" {
		t.Errorf("%+v", got)
	}
	if got := l.get("/v1beta/models/maker/m-1?key=made-up"); got.code != http.StatusOK || at(decoded(t, got.body), "name") != "models/maker/m-1" {
		t.Errorf("%+v", got)
	}
	if !l.Requests()[1].Signed {
		t.Error("a key in the address is not seen")
	}
	if got := l.get("/v1/models/m-9"); got.code != http.StatusNotFound || at(decoded(t, got.body), "error", "type") != "not_found_error" {
		t.Errorf("%+v", got)
	}
	if got := l.get("/v1beta/models/m-9"); got.code != http.StatusNotFound || at(decoded(t, got.body), "error", "status") != "NOT_FOUND" {
		t.Errorf("%+v", got)
	}
	if got := l.get("/v1/other"); got.code != http.StatusNotFound {
		t.Errorf("%+v", got)
	}
}

func TestAServiceWithoutModelsListsNone(t *testing.T) {
	l := start(t, `rules: [{do: [{text: x}]}]`, modelsim.Options{})
	if got := l.get("/v1/models").body; got != `{"data":[],"first_id":null,"has_more":false,"last_id":null,"object":"list"}` {
		t.Error(got)
	}
	if got := l.get("/v1beta/models").body; got != `{"models":[]}` {
		t.Error(got)
	}
}
