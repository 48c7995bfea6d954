package annotate

import (
	"sync"

	"bitextmine/filter/language"
)

// languages compare what language the sides are in with what they are said to be in.
var languages = []Annotation{
	name("lid_src", "language that the source is identified as; null if it is not identified, as most texts of one or two words are",
		func(p *Pair) string { return p.Source.guess.Code }),
	value("lid_src_p", Float, 0, 1, "share of the source's letters that are in that language", ofSource(identified)),
	name("lid_tgt", "the same of the target", func(p *Pair) string { return p.Target.guess.Code }),
	value("lid_tgt_p", Float, 0, 1, "the same of the target", ofTarget(identified)),
	value("foreign", Count, 0, 2, "sides that are surely in another language than they are said to be (languages.md)", either(func(s *Sentence) int {
		return int(truth(s.identifier != nil && s.identifier.Foreign(s.Text, s.guess)))
	})),
}

func identified(s *Sentence) float64 {
	if s.guess.Code == "" {
		return unknown
	}
	return float64(s.guess.Share)
}

var identifiers sync.Map // language -> *language.Identifier

// identify sets the language of the text.
func (s *Sentence) identify() {
	found, ok := identifiers.Load(s.Language)
	if !ok {
		found, _ = identifiers.LoadOrStore(s.Language, language.For(s.Language))
	}
	s.identifier = found.(*language.Identifier)
	s.guess = s.identifier.Identify(s.Text)
}
