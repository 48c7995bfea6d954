package filter

// Rejection is the set of rules that reject a pair, whatever its score.
type Rejection uint8

// The rules.
const (
	SourceLanguage Rejection = 1 << iota // the source is surely in another language than the corpus
	TargetLanguage                       // the target is
	Untranslated                         // both sides are the same text, see Copied
	Label                                // a person rejected it
)

// names are the reasons in a bitext, in the order of the rules.
var names = []string{"src_language", "tgt_language", "untranslated", "label"}

// Reasons returns the names of the rules.
func (r Rejection) Reasons() (reasons []string) {
	for i, name := range names {
		if r&(1<<i) != 0 {
			reasons = append(reasons, name)
		}
	}
	return reasons
}
