// Package split finds the sentences of a text by segmentation rules in SRX 2.0, the format of translation tools.
//
// A place between two characters is judged by the rules of the text's language, in order: the first rule whose pattern
// before the place and pattern after it match says whether there is a break. Where no rule matches, there is none.
// White space at a break belongs to neither sentence. A line end always ends a sentence, unless lines are wrapped; then
// an empty line does.
//
// Rules are regular expressions in Java's and ICU's dialect. What Go's engine has no equivalent for, lookaround and
// backreferences, is refused by the rule's name. Patterns that are only sequences of characters, classes and words,
// nearly all of them, are matched without an engine; a scan over bytes finds the places where any rule could break.
//
// # Spaces
//
// Spaces says which spaces end a sentence, for languages like Thai that write a space between sentences, but
// between clauses and around numbers and names, too, and no full stop.
//
// A space is described by the characters on either side of it, by the lengths of what stands between it and the spaces
// before and after, and by what stands around those. Each of these features has a weight, found by its hash; the space
// ends a sentence if their sum is above 0. Fit finds the weights by text without marked sentences: it knows the ends of
// paragraphs only (thai.md has the text and the figures).
package split
