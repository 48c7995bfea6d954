package inject

import (
	"slices"
	"strings"
	"unicode/utf8"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/corpus/surface"
	"bitextmine/score"
)

// NearMisses makes near misses of known pairs: one sentence of a pair gets another number or another name in place of
// one that both sentences have. Text has few of them, but a scorer that has seen none does not learn what they look
// like.
type NearMisses struct {
	pairs     []exchange.Pair
	languages [2]string
}

// NewNearMisses returns the near misses of pairs.
func NewNearMisses(languages [2]string, pairs []exchange.Pair) *NearMisses {
	return &NearMisses{pairs, languages}
}

// Of returns pair i with one side changed. ok is false if the sentences have neither a number nor a name in common.
func (n *NearMisses) Of(i, side int) (changed exchange.Pair, ok bool) {
	changed = n.pairs[i]
	text := [2]*string{&changed.Source, &changed.Target}[side]
	numbers, names := sharedDigits(changed), n.sharedNames(i)
	if len(numbers) > 0 && (len(names) == 0 || i%2 == 0) {
		old := numbers[i%len(numbers)]
		*text = replaceWord(*text, old, otherDigits(old, i))
		return changed, true
	}
	if len(names) == 0 {
		return changed, false
	}
	for j := range len(n.pairs) - 1 {
		for _, other := range n.sharedNames((i + 1 + j) % len(n.pairs)) {
			if !slices.ContainsFunc(names, func(name surface.Name) bool { return name.Stem == other.Stem }) {
				*text = replaceWord(*text, names[0].Text, other.Text)
				return changed, changed != n.pairs[i] // the name may be written in full width
			}
		}
	}
	return changed, false
}

// sharedNames are the names of pair i's source that its target has too.
func (n *NearMisses) sharedNames(i int) []surface.Name {
	source, target := surface.Of(n.languages[0], n.pairs[i].Source).Names, surface.Of(n.languages[1], n.pairs[i].Target).Names
	return slices.DeleteFunc(source, func(name surface.Name) bool {
		return !slices.ContainsFunc(target, func(other surface.Name) bool { return other.Text == name.Text })
	})
}

// sharedDigits are the runs of digits of a pair's source that its target has too.
func sharedDigits(pair exchange.Pair) []string {
	target := digitRuns(pair.Target)
	return slices.DeleteFunc(digitRuns(pair.Source), func(run string) bool { return !slices.Contains(target, run) })
}

func digitRuns(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

// otherDigits changes one digit. The first one does not become 0.
func otherDigits(digits string, i int) string {
	at := i % len(digits)
	changed := '0' + (digits[at]-'0'+byte(1+i%8))%10
	if at == 0 && changed == '0' {
		changed = '0' + (digits[at]-'0'+9)%10
	}
	return digits[:at] + string(changed) + digits[at+1:]
}

// replaceWord replaces a run of digits or a word wherever it stands alone.
func replaceWord(text, old, by string) string {
	var b strings.Builder
	for rest := text; ; {
		at := strings.Index(rest, old)
		if at < 0 {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(rest[:at])
		rest = rest[at+len(old):]
		before, _ := utf8.DecodeLastRuneInString(b.String())
		after, _ := utf8.DecodeRuneInString(rest)
		if partOfWord(before) || partOfWord(after) {
			b.WriteString(old)
		} else {
			b.WriteString(by)
		}
	}
}

func partOfWord(r rune) bool { return surface.IsWordLetter(r) || surface.IsDigit(r) }

// Order is how the sentences of an injection are numbered. Numbers decide ties, which sentences of the same words give.
type Order uint8

// The orders.
const (
	Appended Order = iota // the injected sentences after the host's, in the order of the pairs
	ByKey                 // all in the order of their keys, as a run numbers them
)

// numbers are the numbers in a side's sentences.
type numbers struct {
	own, added []int32
	order      []int32 // places of the injected sentences in key order; nil if they are not in that order
}

// newNumbers numbers a host's texts, which are in key order, and injected ones.
func newNumbers(host, injected []string, order Order) numbers {
	if order == Appended {
		return numbers{own: score.Numbers(0, len(host)), added: score.Numbers(len(host), len(injected))}
	}
	keys := make([]corpus.Key, len(injected))
	for i, text := range injected {
		keys[i] = corpus.KeyOf(text)
	}
	sorted := score.Numbers(0, len(injected))
	slices.SortFunc(sorted, func(a, b int32) int { return keys[a].Compare(keys[b]) })
	n := numbers{own: make([]int32, len(host)), added: make([]int32, len(injected)), order: make([]int32, len(injected))}
	next := 0
	for i, text := range host {
		for key := corpus.KeyOf(text); next < len(sorted) && keys[sorted[next]].Compare(key) < 0; next++ {
			n.added[sorted[next]] = int32(i + next)
		}
		n.own[i] = int32(i + next)
	}
	for ; next < len(sorted); next++ {
		n.added[sorted[next]] = int32(len(host) + next)
	}
	for place, i := range sorted {
		n.order[i] = int32(place)
	}
	return n
}
