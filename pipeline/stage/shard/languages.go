package shard

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"

	"bitextmine/filter/language"
	"bitextmine/pipeline/plan"
)

const (
	// sampleLetters is how long a sentence must be to count, in bytes of letters.
	sampleLetters = 30
	// keptLanguages and keptTexts bound what is recorded, keptLetters the text of a sentence.
	keptLanguages, keptTexts, keptLetters = 5, 2, 120
	// minSampled is how many sentences a file must have for its language to be doubted.
	minSampled = 20
	// minOwn is the share of a file's sampled sentences that must be in its language.
	minOwn = 0.5
	// minOther is the share of another language from which a file has enough sentences in it to be told of, and
	// minOtherSampled how many of the sample these must be.
	minOther, minOtherSampled = 0.1, 5
)

// Languages are the languages of a sample of a file's sentences, without regard to what the file is said to be.
type Languages struct {
	Sampled int      `json:"sampled"` // sentences long enough to be identified
	Found   []Spoken `json:"found"`   // the most frequent first
}

// Spoken is a language of a sample.
type Spoken struct {
	Code      string   `json:"language"`
	Sentences int      `json:"sentences"`
	Texts     []string `json:"texts"` // some of them
}

// Doubt says that a file is not, or not all, in the language that it is said to be in.
type Doubt struct {
	Share float64 // share of its sampled sentences that are in Most
	Most  Spoken
	Mixed bool // most of it is in the language that it is said to be in
}

// Others lists the languages that many sentences of a file are in instead of the stated one, the most frequent first.
func (s *Languages) Others(stated string) (others []Spoken) {
	if s == nil || s.Sampled < minSampled || !language.For(stated).Judges() {
		return nil
	}
	for _, spoken := range s.Found {
		enough := spoken.Sentences >= minOtherSampled && float64(spoken.Sentences) >= minOther*float64(s.Sampled)
		if enough && !language.Same(stated, spoken.Code) {
			others = append(others, spoken)
		}
	}
	return others
}

// Doubt compares a sample with what its file is said to be in. It is nil if the sample agrees, or cannot tell.
func (s *Languages) Doubt(stated string) *Doubt {
	others := s.Others(stated)
	if len(others) == 0 {
		return nil
	}
	own := 0
	for _, spoken := range s.Found {
		if language.Same(stated, spoken.Code) {
			own += spoken.Sentences
		}
	}
	d := &Doubt{Most: others[0], Share: float64(others[0].Sentences) / float64(s.Sampled)}
	d.Mixed = float64(own) >= minOwn*float64(s.Sampled) || d.Most.Sentences <= own
	return d
}

// languagesOf identifies the sentences of a sample.
func languagesOf(sample []string) *Languages {
	s, by, identifier := &Languages{Found: []Spoken{}}, map[string]*Spoken{}, language.For("")
	for _, text := range sample {
		guess := identifier.Identify(text)
		if guess.Letters < sampleLetters {
			continue
		}
		s.Sampled++
		if guess.Code == "" {
			continue
		}
		found := by[guess.Code]
		if found == nil {
			found = &Spoken{Code: guess.Code}
			by[guess.Code] = found
		}
		found.Sentences++
		if len(found.Texts) < keptTexts {
			found.Texts = append(found.Texts, cut(text))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(by)) {
		s.Found = append(s.Found, *by[code])
	}
	slices.SortStableFunc(s.Found, func(a, b Spoken) int { return cmp.Compare(b.Sentences, a.Sentences) })
	s.Found = s.Found[:min(len(s.Found), keptLanguages)]
	return s
}

// cut is the start of a text, of whole words where it has spaces.
func cut(text string) string {
	letters, space := 0, 0
	for at, r := range text {
		if r == ' ' {
			space = at
		}
		if letters++; letters > keptLetters {
			if space == 0 {
				space = at
			}
			return text[:space] + " ..."
		}
	}
	return text
}

// Small files of a language are cut together, because every pair of shards is a cell, which costs milliseconds however
// few sentences it has. Groups are runs of files in the order of their paths, so that the first occurrence of a
// sentence stays as it would be without groups. Where a group ends depends on the files around alone, as in
// content-defined chunking: a file more or fewer changes its own group and hardly another, and groups are the same
// whether files come in one night or in many.
const (
	// minGrouped is the number of small files from which a language has groups: 7 files on a side are 49 cells, which
	// cost less than a second.
	minGrouped = 8
	// rowBytes is less than the bytes of a sentence in most files: a group of so many bytes for each row of a shard is
	// one shard.
	rowBytes = 64
	// minTarget is the size that groups may have however little text there is: some 10,000 sentences.
	minTarget = 1 << 20
	// minGroups is how many groups there are at least, from that size on. More would make less of a language new
	// when a file is added, but more cells.
	minGroups = 8
)

// Group decides which inputs of languages are cut together.
func Group(languages []plan.Language, s plan.Settings) {
	for l := range languages {
		group(languages[l].Inputs, s)
	}
}

func group(inputs []plan.Input, s plan.Settings) {
	limit := int64(rowBytes * s.Corpus.ShardSize)
	small := func(in *plan.Input, target int64) bool { return in.Bytes < target && in.Vectors == nil && in.Bad == "" }
	files, bytes := 0, int64(0)
	for i := range inputs {
		if small(&inputs[i], limit) {
			files, bytes = files+1, bytes+inputs[i].Bytes
		}
	}
	if files < minGrouped {
		return
	}
	target := int64(minTarget)
	for target*2*minGroups <= bytes {
		target *= 2
	}
	target = min(target, limit)
	begin, sum := 0, int64(0)
	for i := range inputs {
		in := &inputs[i]
		if !small(in, target) || sum+in.Bytes > target {
			join(inputs[begin:i], s)
			begin, sum = i, 0
		}
		sum += in.Bytes
		if !small(in, target) || 2*sum >= target && ends(in, target) {
			join(inputs[begin:i+1], s)
			begin, sum = i+1, 0
		}
	}
	join(inputs[begin:], s)
}

// ends says whether a file may be the last of its group, by its content: of the files that fill a quarter of a group
// about one may.
func ends(in *plan.Input, target int64) bool {
	h := fnv.New32a()
	h.Write([]byte(in.SHA256))
	return float64(h.Sum32())/(1<<32) < 4*float64(in.Bytes)/float64(target)
}

// join has inputs that follow each other cut together.
func join(inputs []plan.Input, s plan.Settings) {
	if len(inputs) < 2 {
		return
	}
	specs := make([]spec, len(inputs))
	for i, in := range inputs {
		specs[i] = specOf(in, s)
	}
	key := Stage.Key(specs)
	for i := range inputs {
		inputs[i].Group, inputs[i].Part = key, i
	}
}

// together returns the first of inputs with those that are cut together with it. Those of a finished run are without
// files that were set aside.
func together(inputs []plan.Input) []plan.Input {
	n := 1
	for inputs[0].Group != "" && n < len(inputs) && inputs[n].Group == inputs[0].Group && inputs[n].Part > inputs[n-1].Part {
		n++
	}
	return inputs[:n]
}
