package record

import (
	"fmt"
	"strings"
)

// CutReport says how the cut between kept and other pairs came about, by the probabilities of the run's own pairs.
type CutReport struct {
	Name      string  `json:"cut"`   // f1, f0.5, f2, "precision P" or "threshold T"
	By        string  `json:"by"`    // how the probabilities came about: score.ByShift and the like
	Share     float64 `json:"share"` // expected translations, as a part of the smaller side's sentences
	Pairs     float64 `json:"expected_translations"`
	Precision float64 `json:"expected_precision"`
	// Recall is the share of the translations that the search found; 0: it cannot be told.
	Recall  float64  `json:"expected_recall,omitempty"`
	Assumed []string `json:"assumed,omitempty"`
}

// String is for people.
func (c *CutReport) String() string {
	line := fmt.Sprintf("about %.1f%% of the smaller side's sentences are translated", 100*c.Share)
	if c.Precision > 0 {
		line += fmt.Sprintf("; of the kept pairs %.1f%% are expected to be right", 100*c.Precision)
	}
	if c.Recall > 0 {
		line += fmt.Sprintf(", and they are %.1f%% of the translations that the search found", 100*c.Recall)
	}
	if len(c.Assumed) > 0 {
		line += " (" + strings.Join(c.Assumed, "; ") + ")"
	}
	return line
}
