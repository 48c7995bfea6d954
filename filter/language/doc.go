// Package language identifies the language of a sentence by CLD2, the detector of Chrome's first years (Debian packages
// libcld2-dev and libcld2-0), with its tables for 160 languages (libcld2_full).
//
// An Identifier knows what language a corpus is said to be in. Identify gives the language of a text and the share of
// its letters that are in it; Foreign says whether a guess is sure enough to reject a sentence. docs/languages.md has
// the choice of the library, with accuracy and speed.
package language
