package secret

// Mark is what a reader can search for to see that something was taken out.
// The text put in a secret's place has the form [REDACTED:rule].
const Mark = "[REDACTED]"

// minWindow is the longest match of a pattern, in bytes: a private key of 16384
// bits in its armour is shorter.
const minWindow = 16 << 10

// Redactor replaces secrets in text. It is immutable and safe for concurrent
// use. A nil Redactor replaces nothing.
type Redactor struct {
	scan   *scanner
	window int
}

// New returns a redactor for the exact values given, beside the built-in
// patterns. Values that are not Usable are ignored.
func New(exact []string) *Redactor { return NewAllowing(exact, nil) }

// NewAllowing is New, except that values whose Fingerprint, of whatever rule, is
// in allow are left alone.
func NewAllowing(exact, allow []string) *Redactor {
	base, pass := patterns(), newAllowed(allow)
	forms := formsOf(exact, pass)
	if len(forms) == 0 && len(pass) == 0 {
		return &Redactor{scan: base, window: minWindow}
	}
	s, window := base.clone(), minWindow
	s.allow = pass
	for _, f := range forms {
		s.addForm(f)
		// A wrapped form carries a line break every few dozen characters.
		window = max(window, 2*len(f.text))
	}
	return &Redactor{scan: s, window: window}
}

// OnlyExact is a redactor of the same exact values and of nothing that merely
// looks like a secret: in a program or an archive any bytes may.
func (r *Redactor) OnlyExact() *Redactor {
	if r == nil {
		return nil
	}
	s := &scanner{allow: r.scan.allow, decode: r.scan.decode}
	for _, f := range r.scan.forms {
		s.addForm(f)
	}
	return &Redactor{scan: s, window: r.window}
}

// Window is the length in bytes of the longest secret that is recognised. A
// caller that must cut a text without having seen its end holds back this much.
func (r *Redactor) Window() int {
	if r == nil {
		return 0
	}
	return r.window
}

// Bytes returns b with every secret replaced; b itself, without an allocation,
// when there is none.
func (r *Redactor) Bytes(b []byte) []byte {
	spans := r.AppendSpans(nil, b)
	if len(spans) == 0 {
		return b
	}
	out := make([]byte, 0, len(b)+16*len(spans))
	at := 0
	for _, s := range spans {
		out = append(out, b[at:s.Start]...)
		out = s.AppendMark(out)
		at = s.End
	}
	return append(out, b[at:]...)
}

// String is Bytes for strings.
func (r *Redactor) String(s string) string {
	b := []byte(s)
	if len(r.AppendSpans(nil, b)) == 0 {
		return s
	}
	return string(r.Bytes(b))
}

// Span is one secret found in a text: bytes Start to End are to be replaced.
// From is where its match begins (From <= Start): a text cut between From and
// End is no longer recognised.
type Span struct {
	From, Start, End int
	Rule             string
}

// AppendMark appends the text that stands in the secret's place.
func (s Span) AppendMark(dst []byte) []byte {
	dst = append(dst, Mark[:len(Mark)-1]...)
	dst = append(dst, ':')
	dst = append(dst, s.Rule...)
	return append(dst, ']')
}

// AppendSpans appends the secrets in b, in order and without overlap.
func (r *Redactor) AppendSpans(dst []Span, b []byte) []Span {
	if r == nil {
		return dst
	}
	return r.scan.spans(dst, b)
}
