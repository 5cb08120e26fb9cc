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
	over context.Context // ends with the client
	mu   sync.Mutex
	last *inquiry // nil = the client is yet to be asked
}

// inquiry is a question to the client for its folders.
type inquiry struct {
	answered chan struct{}
	late     <-chan struct{} // closed when it is not waited for any longer
	root     string          // once it is answered; "" = it did not say
}

func (p *places) changed(context.Context, *sdk.RootsListChangedRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = nil
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

// rootOf is the folder that the client says it works in, "" = it does not say. It is asked
// once, for all calls; an answer that comes late counts from then on.
func (p *places) rootOf(ctx context.Context, session *sdk.ServerSession, own string) string {
	said := session.InitializeParams()
	if said == nil || said.Capabilities == nil || said.Capabilities.RootsV2 == nil { //nolint:staticcheck // roots are what clients have today
		return ""
	}
	q := p.inquire(session, own)
	select {
	case <-q.answered:
	case <-q.late:
	case <-ctx.Done():
	}
	select {
	case <-q.answered:
		return q.root
	default:
		return ""
	}
}

// inquire asks the client unless it was asked already.
func (p *places) inquire(session *sdk.ServerSession, own string) *inquiry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last != nil {
		return p.last
	}
	limit, cancel := context.WithTimeout(p.over, rootsLimit)
	q := &inquiry{answered: make(chan struct{}), late: limit.Done()}
	p.last = q
	go func() {
		defer cancel()
		list, err := session.ListRoots(p.over, nil) //nolint:staticcheck // roots are what clients have today
		if err == nil {
			q.root = chosen(list.Roots, own)
		}
		close(q.answered)
	}()
	return q
}

// chosen is of several folders the one that this process is in, else the first.
func chosen(roots []*sdk.Root, own string) (root string) { //nolint:staticcheck // roots are what clients have today
	for _, r := range roots {
		if dir := folderOf(r.URI); dir != "" && (root == "" || within(own, dir)) {
			root = dir
		}
	}
	return root
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
