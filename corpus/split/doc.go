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
package split
