package modelsim

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxBody bounds what the server reads of a request, in bytes.
const maxBody = 64 << 20

// Options configure a server. The zero value is good.
type Options struct {
	Addr   string            // "" = 127.0.0.1 with a free port; only the loopback is accepted
	Nonces map[string]string // name -> value
	Log    io.Writer         // gets each request as a line of JSON once it is answered; nil = none
	Asked  func(Request)     // is called with each model call before it is answered; nil = none
}

// Server answers model calls from a scenario until it is closed.
type Server struct {
	scenario Scenario
	nonces   map[string]string
	asked    func(Request)
	address  string
	http     *http.Server
	served   chan error
	stop     context.CancelFunc // ends answers that hang
	closing  func() error       // once

	mu       sync.Mutex
	log      io.Writer
	logErr   error
	requests []*Request
	uses     []int // of each rule
}

// Start checks the scenario and serves it.
func Start(scenario Scenario, opt Options) (*Server, error) {
	scenario.Rules = slices.Clone(scenario.Rules)
	if err := scenario.prepare(); err != nil {
		return nil, err
	}
	if opt.Addr == "" {
		opt.Addr = "127.0.0.1:0"
	}
	if host, _, err := net.SplitHostPort(opt.Addr); err != nil || !net.ParseIP(host).IsLoopback() {
		return nil, fmt.Errorf("address %q: it must be one of the loopback, such as 127.0.0.1:0", opt.Addr)
	}
	listener, err := net.Listen("tcp", opt.Addr)
	if err != nil {
		return nil, fmt.Errorf("model simulator: %w", err)
	}
	s := &Server{
		scenario: scenario, nonces: maps.Clone(opt.Nonces), asked: opt.Asked, address: listener.Addr().String(),
		served: make(chan error, 1), log: opt.Log, uses: make([]int, len(scenario.Rules)),
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.closing = stop, sync.OnceValue(s.shut)
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: 30 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// URL is where requests with this prefix go; "" is the server itself.
func (s *Server) URL(prefix string) string {
	if prefix == "" {
		return "http://" + s.address
	}
	return "http://" + s.address + "/" + prefix
}

// Requests are those that came in so far, in their order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.requests))
	for i, r := range s.requests {
		out[i] = *r
	}
	return out
}

// Close ends the server and every answer under way. It may be called again.
func (s *Server) Close() error { return s.closing() }

func (s *Server) shut() error {
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.logErr)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r := s.record(req)
	defer s.finish(r)
	body, err := readBody(req)
	if err != nil {
		s.refuse(w, r, http.StatusBadRequest, err)
		return
	}
	switch {
	case req.Header.Get("Upgrade") != "":
		s.refuse(w, r, http.StatusUpgradeRequired, errors.New("this server speaks no websocket"))
	case req.Method == http.MethodHead:
		s.note(func() { r.Status = http.StatusOK })
	case r.API != "":
		s.model(w, req, r, body)
	case strings.HasSuffix(req.URL.Path, "/count_tokens"):
		s.plain(w, r, map[string]any{"input_tokens": len(body) / 4})
	case strings.HasSuffix(req.URL.Path, ":countTokens"):
		s.plain(w, r, map[string]any{"totalTokens": len(body) / 4})
	default:
		s.list(w, req, r)
	}
}

// list answers who asks which models there are.
func (s *Server) list(w http.ResponseWriter, req *http.Request, r *Request) {
	switch body, ok, err := s.models(req, r.dialect == Gemini); {
	case err != nil:
		s.refuse(w, r, http.StatusNotFound, err)
	case ok:
		s.plain(w, r, body)
	default:
		s.refuse(w, r, http.StatusNotFound, errors.New("this server knows no such path"))
	}
}

func (s *Server) record(req *http.Request) *Request {
	prefix, _, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	r := &Request{
		At: time.Now().UTC(), Method: req.Method, Path: req.URL.Path, Prefix: prefix, UserAgent: req.UserAgent(),
		API: spoken(req), Signed: signed(req),
	}
	r.dialect = r.API
	if r.API == "" && asksGemini(req) {
		r.dialect = Gemini
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.requests) + 1
	s.requests = append(s.requests, r)
	return r
}

// signed reports whether a request carries a key, wherever its protocol has it.
func signed(req *http.Request) bool {
	for _, name := range [...]string{"X-Api-Key", "Authorization", "X-Goog-Api-Key", "Api-Key"} {
		if req.Header.Get(name) != "" {
			return true
		}
	}
	return req.URL.Query().Get("key") != ""
}

// note changes a record that others may read meanwhile.
func (s *Server) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *Server) finish(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log == nil {
		return
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = s.log.Write(append(line, '\n'))
	}
	s.logErr = errors.Join(s.logErr, err)
}

func readBody(req *http.Request) ([]byte, error) {
	reader := io.Reader(req.Body)
	switch encoding := req.Header.Get("Content-Encoding"); encoding {
	case "":
	case "gzip":
		unpacked, err := gzip.NewReader(reader)
		if err != nil {
			return nil, err
		}
		reader = unpacked
	default:
		return nil, fmt.Errorf("content encoding %q is not understood", encoding)
	}
	return io.ReadAll(io.LimitReader(reader, maxBody))
}

// model answers a model call by the first rule that fits.
func (s *Server) model(w http.ResponseWriter, req *http.Request, r *Request, body []byte) {
	var parse error
	s.note(func() { parse = r.read(req.URL, body, s.nonces) })
	if parse != nil {
		s.refuse(w, r, http.StatusBadRequest, parse)
		return
	}
	rule, ok := s.pick(r)
	if !ok {
		s.refuse(w, r, http.StatusBadRequest, errors.New("no rule of the scenario fits this request"))
		return
	}
	steps := rule.Do
	if !r.has(rule.Require) {
		steps = rule.Otherwise
		s.note(func() { r.Otherwise = true })
	}
	if s.asked != nil {
		s.asked(*r)
	}
	begun := func(status int) { s.note(func() { r.Status = status }) }
	switch err := s.play(req.Context(), w, r, rule, steps, begun); {
	case err == nil:
	case req.Context().Err() != nil, errors.Is(err, errCut): // the client went, or shall see it break
		panic(http.ErrAbortHandler)
	case r.Status == 0:
		s.refuse(w, r, http.StatusBadRequest, err)
	default:
		s.note(func() { r.Error = err.Error() })
		panic(http.ErrAbortHandler)
	}
}

// pick finds the rule and counts its use.
func (s *Server) pick(r *Request) (Rule, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, rule := range s.scenario.Rules {
		if rule.fits(r) && (rule.Times == 0 || s.uses[i] < rule.Times) {
			s.uses[i]++
			r.Rule = rule.Name
			return rule, true
		}
	}
	return Rule{}, false
}

func (s *Server) plain(w http.ResponseWriter, r *Request, body any) {
	s.note(func() { r.Status = http.StatusOK })
	if err := writeJSON(w, http.StatusOK, body); err != nil {
		s.note(func() { r.Error = err.Error() })
	}
}

// refuse answers for the server itself; the record says why.
func (s *Server) refuse(w http.ResponseWriter, r *Request, code int, why error) {
	s.note(func() { r.Status, r.Error = code, why.Error() })
	body := errorBody(r.dialect, r.Model, Status{Code: code, Message: "modelsim: " + why.Error()})
	if err := writeJSON(w, code, body); err != nil {
		s.note(func() { r.Error += "; " + err.Error() })
	}
}
