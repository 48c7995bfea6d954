package shard

import (
	"hash/fnv"

	"bitextmine/pipeline/plan"
)

// Small files of a language are cut together, because every pair of shards is a cell, which costs milliseconds however
// few sentences it has. Groups are runs of files in the order of their paths, so that the first occurrence of a
// sentence is what it would be without groups. Where a group ends depends on the files around alone, as in
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

// together returns the first of inputs with those that are cut together with it.
func together(inputs []plan.Input) []plan.Input {
	n := 1
	for inputs[0].Group != "" && n < len(inputs) && inputs[n].Group == inputs[0].Group && inputs[n].Part == n {
		n++
	}
	return inputs[:n]
}
