package mcp

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// rootsLimit is how long a client may take to say which folders it works in.
const rootsLimit = 2 * time.Second

// places knows the folder that the client works in.
type places struct {
	mu    sync.Mutex
	asked bool
	root  string // "" = it did not say
}

func (p *places) changed(context.Context, *sdk.RootsListChangedRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = false
}

// of is where a call works: the folder that it names, else the client's, else ours.
func (p *places) of(ctx context.Context, session *sdk.ServerSession, named, own string) (string, error) {
	if named == "" {
		if root := p.rootOf(ctx, session, own); root != "" {
			return root, nil
		}
		return own, nil
	}
	dir := named
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(own, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("cwd %q is no folder on this machine; give the absolute path of one, or leave it out for %s", named, own)
	}
	return dir, nil
}

// rootOf is the folder that the client says it works in: of several the one that this
// process is in, else the first. It is asked once.
func (p *places) rootOf(ctx context.Context, session *sdk.ServerSession, own string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked {
		return p.root
	}
	said := session.InitializeParams()
	if said == nil || said.Capabilities == nil || said.Capabilities.RootsV2 == nil { //nolint:staticcheck // roots are what clients have today
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, rootsLimit)
	defer cancel()
	list, err := session.ListRoots(ctx, nil) //nolint:staticcheck // roots are what clients have today
	if ctx.Err() != nil && err != nil {
		return "" // perhaps it can the next time
	}
	p.asked, p.root = true, ""
	if err != nil {
		return ""
	}
	for _, r := range list.Roots {
		dir := folderOf(r.URI)
		if dir != "" && (p.root == "" || within(own, dir)) {
			p.root = dir
		}
	}
	return p.root
}

// folderOf is the folder that a file URI names, "" = none here.
func folderOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !filepath.IsAbs(u.Path) {
		return ""
	}
	if info, err := os.Stat(u.Path); err != nil || !info.IsDir() {
		return ""
	}
	return filepath.Clean(u.Path)
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
