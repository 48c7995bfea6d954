// Package fit fits a scorer on known pairs that were injected into two corpora.
//
// Terms. An example is a candidate of an injected sentence. It is true if it is a known pair and false otherwise.
// Examples form groups, one for each known pair; a fold of the cross-validation has whole groups. An unpaired sentence
// was injected without its translation, so all its examples are false. A set is the examples from one pair of corpora
// with the settings that they depend on. A set can be stored in a file, and a scorer can be fitted on several sets.
package fit
