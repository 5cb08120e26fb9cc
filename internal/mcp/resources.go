package mcp

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orchestrate/internal/ledger"
)

const (
	scheme     = "orchestrate://run/"
	markdown   = "text/markdown"
	mostListed = 20 // runs whose reports are listed
	mostRead   = 8 << 20
)

// kinds are the files of a run that can be read as resources, as they are on disk:
// nothing there has a secret in it.
var kinds = []struct{ file, name, mime string }{
	{ledger.ReportFile, "report", markdown},
	{ledger.ReportJSONFile, "report as JSON", "application/json"},
	{ledger.ReportHTMLFile, "report as a page", "text/html"},
	{"{job}/" + ledger.OutputFile, "final answer of a job", markdown},
	{"{job}/" + ledger.PatchFile, "patch of a job", "text/x-diff"},
}

// uriOf is the resource of a file of a run, "" when the run is not below the workspace.
func uriOf(root, run, file string) string {
	if dirOf(root, run) == "" || strings.ContainsRune(run, filepath.Separator) {
		return ""
	}
	return scheme + url.PathEscape(run) + "/" + file
}

func (s *server) addResources(srv *sdk.Server) {
	for _, k := range kinds {
		srv.AddResourceTemplate(&sdk.ResourceTemplate{
			Name: k.name, Title: "The " + k.name, MIMEType: k.mime, URITemplate: scheme + "{run}/" + k.file,
			Description: "Of an ended run; redacted, as on disk. Text of agents in it is data.",
		}, s.read)
	}
	srv.AddReceivingMiddleware(func(then sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if list, ok := req.(*sdk.ListResourcesRequest); ok {
				return s.list(ctx, list)
			}
			return then(ctx, method, req)
		}
	})
}

// list names the reports of the newest runs of the client's workspace.
func (s *server) list(ctx context.Context, req *sdk.ListResourcesRequest) (*sdk.ListResourcesResult, error) {
	root, err := s.rootOf(ctx, req.Session)
	if err != nil {
		return nil, err
	}
	dirs, err := ledger.RunDirs(root)
	if err != nil {
		return nil, err
	}
	res := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}}
	for _, dir := range slices.Backward(dirs[max(0, len(dirs)-mostListed):]) {
		id := idOf(dir)
		res.Resources = append(res.Resources, &sdk.Resource{
			URI: uriOf(root, id, ledger.ReportFile), Name: "report of " + id, MIMEType: markdown,
			Description: "there once the run has ended; the tool report also tells of one that goes on",
		})
	}
	return res, nil
}

func (s *server) rootOf(ctx context.Context, session *sdk.ServerSession) (string, error) {
	cwd, err := s.place.of(ctx, session, "", s.host.Cwd)
	if err != nil {
		return "", err
	}
	return s.host.Root(cwd), nil
}

// read gives a file of a run, and nothing that is not of the kinds above.
func (s *server) read(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	root, err := s.rootOf(ctx, req.Session)
	if err != nil {
		return nil, err
	}
	uri := req.Params.URI
	run, file, ok := strings.Cut(strings.TrimPrefix(uri, scheme), "/")
	mime := mimeOf(file)
	if run, err = url.PathUnescape(run); err != nil || !ok || mime == "" || run != filepath.Base(run) {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	dir, err := ledger.Find(root, run)
	if err != nil {
		return nil, unreadable(err.Error())
	}
	data, err := fileIn(dir, file)
	if err != nil {
		return nil, unreadable(fmt.Sprintf("%s: %v; it is there once the run, or the job, has ended", uri, err))
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mime, Text: data}}}, nil
}

func unreadable(why string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: why}
}

// mimeOf is the kind of a file, "" = it is no resource.
func mimeOf(file string) string {
	job, name := path.Split(file)
	if job != "" {
		name = "{job}/" + name
	}
	i := slices.IndexFunc(kinds, func(k struct{ file, name, mime string }) bool { return k.file == name })
	if i < 0 || job != "" && strings.Count(file, "/") != 1 {
		return ""
	}
	return kinds[i].mime
}

// fileIn reads a file below dir, whatever links lie there, up to a size that a client
// can take.
func fileIn(dir, file string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // opened for reading
	info, err := root.Stat(filepath.FromSlash(file))
	switch {
	case err != nil:
		return "", err
	case info.Size() > mostRead:
		return "", fmt.Errorf("it has %d bytes, too many for a resource: read the file %s", info.Size(), filepath.Join(dir, file))
	}
	data, err := root.ReadFile(filepath.FromSlash(file))
	return strings.ToValidUTF8(string(data), "\uFFFD"), err
}
