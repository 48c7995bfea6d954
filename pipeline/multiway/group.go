package multiway

import (
	"bytes"
	"cmp"
	"slices"
)

// MaxLanguages bounds the languages of a table: a group's are a bit set.
const MaxLanguages = 64

// sentence is one of a language, by its key.
type sentence struct {
	language int // place among the table's
	key      [16]byte
}

// link is a kept pair, by places among the sentences.
type link struct {
	a, b  int32
	score float32
}

// Group is sentences that are translations of each other, at most one of a language.
type group struct {
	members []int32 // places among the sentences, in the order of the languages
	links   int     // kept pairs among them; n(n-1)/2 if every pair of them was kept
	score   float32 // of the weakest link that holds it together
}

// conflict is a kept pair that would bring two sentences of one language together.
type conflict struct {
	link
	first, second int32 // those sentences
}

// closure joins sentences by their links, best first: what is joined stays, and a link that would bring two sentences
// of one language into a group is a conflict. Equal scores go by languages and keys, so that the order of the links
// does not matter.
func closure(sentences []sentence, links []link) (groups []group, conflicts []conflict) {
	slices.SortFunc(links, func(x, y link) int {
		return cmp.Or(cmp.Compare(y.score, x.score), compare(sentences[x.a], sentences[y.a]), compare(sentences[x.b], sentences[y.b]))
	})
	f := newForest(sentences)
	for _, l := range links {
		a, b := f.root(l.a), f.root(l.b)
		switch shared := f.languages[a] & f.languages[b]; {
		case a == b:
			f.groups[a].links++
		case shared != 0:
			conflicts = append(conflicts, f.conflict(l, a, b, shared))
		default:
			f.join(a, b, l.score)
		}
	}
	for i := range sentences {
		if g := f.groups[i]; f.root(int32(i)) == int32(i) && len(g.members) > 1 {
			slices.SortFunc(g.members, func(x, y int32) int { return cmp.Compare(sentences[x].language, sentences[y].language) })
			groups = append(groups, g)
		}
	}
	slices.SortFunc(groups, func(x, y group) int {
		return cmp.Or(cmp.Compare(len(y.members), len(x.members)), cmp.Compare(y.score, x.score),
			compare(sentences[x.members[0]], sentences[y.members[0]]))
	})
	return groups, conflicts
}

func compare(x, y sentence) int {
	return cmp.Or(cmp.Compare(x.language, y.language), bytes.Compare(x.key[:], y.key[:]))
}

// forest is the groups so far.
type forest struct {
	parents   []int32
	languages []uint64 // of a root's group, as bits
	groups    []group  // by root
	sentences []sentence
}

func newForest(sentences []sentence) *forest {
	f := &forest{make([]int32, len(sentences)), make([]uint64, len(sentences)), make([]group, len(sentences)), sentences}
	for i := range sentences {
		f.parents[i] = int32(i)
		f.languages[i] = 1 << sentences[i].language
		f.groups[i] = group{members: []int32{int32(i)}}
	}
	return f
}

func (f *forest) root(i int32) int32 {
	for f.parents[i] != i {
		f.parents[i] = f.parents[f.parents[i]]
		i = f.parents[i]
	}
	return i
}

// join puts the smaller of two groups into the larger.
func (f *forest) join(a, b int32, score float32) {
	if len(f.groups[a].members) < len(f.groups[b].members) {
		a, b = b, a
	}
	into, from := &f.groups[a], &f.groups[b]
	into.members = append(into.members, from.members...)
	into.links += from.links + 1
	into.score = score // the links come by falling score
	f.languages[a] |= f.languages[b]
	f.parents[b] = a
	*from = group{}
}

// conflict names the sentences of the first language that two groups share.
func (f *forest) conflict(l link, a, b int32, shared uint64) conflict {
	of := func(root int32) int32 {
		for _, m := range f.groups[root].members {
			if shared&(1<<f.sentences[m].language) != 0 && 1<<f.sentences[m].language == shared&-shared {
				return m
			}
		}
		panic("a group's languages are not those of its sentences")
	}
	return conflict{l, of(a), of(b)}
}
