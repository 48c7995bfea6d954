// Package rule decides on pairs by rules that a person can read. A rule has a name, which is the reason it gives, and a
// condition on columns; a pair is rejected by the rules whose condition is true.
//
//	rules:
//	  long_word: longest_word > 60
//	  identical: identical and words_src >= 4
//	  language:  lid_src != src_lang and lid_src_p > 0.9
//
// A condition has comparisons (== != < <= > >=), and, or, not, parentheses, + - * /, abs(x), min(x, y), max(x, y),
// numbers, texts in quotation marks and the names of columns. A column of numbers alone is true if it is not 0. A value
// that is null is unknown, and so is what depends on it (unknown or true is true, unknown and false is false): a rule
// rejects only on what is known.
package rule
