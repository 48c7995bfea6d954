// Package decide scores the candidates of a pair of languages, rejects by rules and labels, matches one-to-one and
// cuts. It reads what the run has computed through package view, and encodes nothing. The stages of matching and of
// two-stage mining, explanations, evidence and the page all decide here, so that they agree.
//
// Probabilities are adapted to the text (score.Adapt) once the candidates are matched, and the threshold is found among
// them. docs/scoring.md says how.
package decide
