package record

import "fmt"

// GoldReport compares the kept pairs with those of a file of known pairs.
type GoldReport struct {
	Path      string  `json:"path"`
	SHA256    string  `json:"sha256"`
	Pairs     int     `json:"pairs"` // pairs in it, of different texts
	Kept      int     `json:"kept"`
	Correct   int     `json:"correct"`
	Precision float64 `json:"precision"` // a share, as the others
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// String is for people.
func (g *GoldReport) String() string {
	return fmt.Sprintf("%s: precision %.2f, recall %.2f, F1 %.2f (%d of %d kept are gold, %d gold in all)",
		g.Path, 100*g.Precision, 100*g.Recall, 100*g.F1, g.Correct, g.Kept, g.Pairs)
}
