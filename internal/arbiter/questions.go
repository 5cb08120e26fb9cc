package arbiter

// Question is one of the nine that every arbiter answers.
type Question struct {
	N      int
	Text   string
	Passes string // the answer that a pass needs; what does not apply is answered with it
}

// Questions are the nine, in their order.
func Questions() []Question {
	return []Question{
		{1, "every required artifact produced?", "yes"},
		{2, "any failure, timeout, permission request, uncertainty?", "no"},
		{3, "contradictions?", "no"},
		{4, "all checks run and passed?", "yes"},
		{5, "claims supported?", "yes"},
		{6, "floors met by every route?", "yes"},
		{7, "availability revalidated for this run?", "yes"},
		{8, "destructive actions approved and reversible?", "yes"},
		{9, "unresolved questions listed?", "yes"},
	}
}
