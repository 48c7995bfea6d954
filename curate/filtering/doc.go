// Package filtering annotates a bitext file and applies rules to it. The rows stay: what a rule rejects has keep =
// false and the rule's name among its reasons.
//
// Annotations are computed in two passes over the file, of which the first learns what some of them must know of the
// whole (package filter/annotate). A file that has the annotations already is read once, and only the rules are
// applied.
package filtering
