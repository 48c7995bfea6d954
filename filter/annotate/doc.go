// Package annotate describes pairs of sentences by numbers on which a filter decides. It decides nothing itself.
//
// An annotation is one value: the name, type and documented range of a column, what it means, and a function of a
// pair. All lists them. A Reader reads a pair once, and all annotations are computed from what it found. Some need
// to know the whole bitext (how long translations usually are, how often a sentence stands in it): they are computed
// from Known, which a first pass over the bitext gives. NaN means that a value is unknown, for instance the script
// of a language that was not named; it becomes a null.
//
// The width of a text is its length in characters that are comparable between scripts: a Chinese character or a kana
// counts as three letters, a Hangul syllable as two.
package annotate
