package bitext

import (
	"fmt"

	"bitextmine/corpus"
)

// Sentence is one side of a pair and its origin.
type Sentence struct {
	Text  string
	Lang  string
	Key   [16]byte // sentence key
	Shard string
	Row   uint32 // row number in the shard
	Doc   string // the input's own name for the sentence or its document; may be empty
	URL   string // may be empty
	Line  uint64 // line of the input file, from 1
	// Place is where the sentence stands in a record that was divided; nil: the record is the sentence.
	Place *corpus.Place

	Identified string  // language that the text was identified as; empty: none was
	Share      float32 // share of the letters in that language, 0 to 1
}

// Row is a pair.
type Row struct {
	Source, Target         Sentence
	Score                  float32   // the margin
	Prob                   *float32  // probability that the pair is a translation; nil without a scorer
	Features               []float32 // values in the order of Metadata.Features; nil unless the run writes features
	RefineCosine           *float32  // strong encoder's cosine; nil if that encoder did not compare the pair
	Cosine                 float32
	SourceMean, TargetMean float32    // mean cosines of the neighbourhoods
	SourceRank, TargetRank uint8      // rank of the partner in each side's list, 255 if it is not in the list
	Alignment              *Alignment // alignment of the sentences' documents; nil unless the run aligned documents
	Keep                   bool
	Reasons                []string // why the row was rejected; empty if it was kept
}

// The values of Alignment.FoundBy.
const (
	Global = "global" // mined among all sentences
	Local  = "local"  // found by aligning documents
	Both   = "both"
)

// Alignment says how a pair was found, in a run that aligned documents beside mining all sentences.
type Alignment struct {
	FoundBy   string
	Sentences [2]uint32 // source and target sentence counts: a side may be a span of several
	Bead      *Bead     // nil: global mining alone found the pair
}

// Bead describes a pair that document alignment found.
type Bead struct {
	Score    float32   // 1 for equal vectors, 0 for random sentences
	DocScore float32   // score of the pair of documents; 0 if the user gave the pair
	First    [2]uint32 // number of the first sentence among those of its document, from 0
}

// Aligned says which alignment of documents found the pair; it is empty if none did.
func (r *Row) Aligned() string {
	a := r.Alignment
	if a == nil || a.Bead == nil {
		return ""
	}
	return fmt.Sprintf(
		"found by aligning document %q with %q, whose score is %.3f: %d source and %d target sentences, bead score %.3f (found_by %s)",
		r.Source.Doc, r.Target.Doc, a.Bead.DocScore, a.Sentences[0], a.Sentences[1], a.Bead.Score, a.FoundBy)
}

// Spans reports whether a side is a span of several sentences, which global mining has never compared.
func (r *Row) Spans() bool {
	return r.Alignment != nil && r.Alignment.Bead != nil && r.Alignment.Sentences != [2]uint32{1, 1}
}

// Documents are the documents of a run that aligned them.
type Documents struct {
	Pairs int // document pairs
	// pairs of sentences: found by both, by aligning alone, and by global mining though beads contradict them
	Both, Local, Replaced int
}

// Metadata describes the run that wrote the file. It holds nothing that differs between two runs with the same inputs
// and settings: no time, no host, no path of the output.
type Metadata struct {
	RunID         string // digest of inputs and settings
	ConfigDigest  string // digest of the settings that change output
	Encoder       string // name
	EncoderDigest string
	Search        string   // backend
	Recall        *float64 // measured recall of the backend against exact search; nil if the backend is exact
	Margin        string
	Retrieval     string
	K             int
	Threshold     float64
	Scorer        string     // digest of the scorer's file; empty if pairs were chosen by margin
	Features      []string   // names of the feature columns
	Refine        *Refine    // two-stage mining; nil: one encoder
	Judge         *Judge     // of pairs in doubt; nil: there was none
	Documents     *Documents // nil: the run did not align documents
	Places        bool       // there are columns of the sentences' places in records that were divided
	SourceIn      int        // number of sentences before deduplication
	TargetIn      int
	SourceUnique  int
	TargetUnique  int
	Candidates    int
	Kept          int
	Version       string // program version
}

// Judge describes the judge of pairs in doubt.
type Judge struct {
	Model  string // name
	Digest string
	Doubt  float64 // the probability from which, and up to 1 less which, a pair was in doubt
	Pairs  int     // number of pairs that it judged
}

// Refine describes two-stage mining: its strong encoder, and what that was given.
type Refine struct {
	Encoder   string // name
	Digest    string
	Floor     float64 // the margin of a pair that it was given
	Sentences int     // number of sentences given to the encoder
}
