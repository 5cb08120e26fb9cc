package history

// Summary is what `history --json` prints.
type Summary struct {
	SchemaVersion int      `json:"schemaVersion"`
	File          string   `json:"file"` // from the workspace root
	Read          Read     `json:"read"`
	Filter        Filter   `json:"filter"`
	By            []string `json:"by"`
	Confidence    float64  `json:"confidence"` // of the intervals, by Wilson's score
	QuantileType  int      `json:"quantileType"`
	Groups        []Group  `json:"groups"`
	Total         Group    `json:"total"`
	Suggestions   []string `json:"suggestions"`
}
