// Package bitext defines the table of mined pairs and reads and writes it as Parquet.
//
// A row is a pair of sentences with its score, the origin of both sentences and further columns. Rows of the bitext
// itself have keep = true. Other rows exist only if the run was asked for all candidates; their reasons say why they
// were rejected. The file is deterministic: the same rows and metadata give the same bytes.
package bitext

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"bitextmine/corpus"
)

var (
	dictionary = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	keyType    = &arrow.FixedSizeBinaryType{ByteWidth: 16}
)

// featurePrefix is the prefix of a column that holds a feature of the scorer.
const featurePrefix = "feature_"

// placeColumns are the columns of a sentence's place in a record that was divided, less their side.
var placeColumns = [...]struct {
	name string
	of   func(*corpus.Place) *uint32
}{
	{"_paragraph", func(p *corpus.Place) *uint32 { return &p.Paragraph }},
	{"_position", func(p *corpus.Place) *uint32 { return &p.Position }},
	{"_start", func(p *corpus.Place) *uint32 { return &p.Start }},
	{"_end", func(p *corpus.Place) *uint32 { return &p.End }},
}

// alignmentColumns are the columns of an Alignment. Those of its bead are null where there is none.
var alignmentColumns = [...]struct {
	name string
	of   arrow.DataType
}{
	{"found_by", arrow.BinaryTypes.String},
	{"n_src", arrow.PrimitiveTypes.Uint32}, {"n_tgt", arrow.PrimitiveTypes.Uint32},
	{"bead_score", arrow.PrimitiveTypes.Float32}, {"doc_score", arrow.PrimitiveTypes.Float32},
	{"src_first", arrow.PrimitiveTypes.Uint32}, {"tgt_first", arrow.PrimitiveTypes.Uint32},
}

// refineColumn is the column of the strong encoder's cosine.
const refineColumn = "refine_cosine"

// Schema returns the columns of a bitext file, in order. prob is null without a scorer. The columns of language
// identification are null for a text without an identified language. The run's metadata determines further columns.
func Schema(of Metadata) *arrow.Schema {
	side := func(name string) []arrow.Field {
		return []arrow.Field{
			{Name: name + "_key", Type: keyType},
			{Name: name + "_shard", Type: dictionary},
			{Name: name + "_row", Type: arrow.PrimitiveTypes.Uint32},
			{Name: name + "_doc", Type: arrow.BinaryTypes.String},
			{Name: name + "_url", Type: arrow.BinaryTypes.String},
			{Name: name + "_line", Type: arrow.PrimitiveTypes.Uint64},
		}
	}
	fields := []arrow.Field{
		{Name: "src_text", Type: arrow.BinaryTypes.String},
		{Name: "tgt_text", Type: arrow.BinaryTypes.String},
		{Name: "src_lang", Type: dictionary},
		{Name: "tgt_lang", Type: dictionary},
		{Name: "score", Type: arrow.PrimitiveTypes.Float32},
		{Name: "prob", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "cosine", Type: arrow.PrimitiveTypes.Float32},
		{Name: "src_mean", Type: arrow.PrimitiveTypes.Float32},
		{Name: "tgt_mean", Type: arrow.PrimitiveTypes.Float32},
		{Name: "src_rank", Type: arrow.PrimitiveTypes.Uint8},
		{Name: "tgt_rank", Type: arrow.PrimitiveTypes.Uint8},
	}
	fields = append(fields, side("src")...)
	fields = append(fields, side("tgt")...)
	fields = append(fields,
		// Not of a dictionary type, because arrow's Parquet writer fails on one with some nulls.
		arrow.Field{Name: "lid_src", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "lid_src_p", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		arrow.Field{Name: "lid_tgt", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "lid_tgt_p", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		arrow.Field{Name: "keep", Type: arrow.FixedWidthTypes.Boolean},
		// Not a list of a dictionary type, because arrow's Parquet writer cannot write one. Parquet encodes it as a
		// dictionary anyway.
		arrow.Field{Name: "reasons", Type: arrow.ListOf(arrow.BinaryTypes.String)},
	)
	if of.Refine != nil {
		fields = append(fields, arrow.Field{Name: refineColumn, Type: arrow.PrimitiveTypes.Float32, Nullable: true})
	}
	if of.Places {
		for _, side := range [...]string{"src", "tgt"} {
			for _, c := range placeColumns {
				fields = append(fields, arrow.Field{Name: side + c.name, Type: arrow.PrimitiveTypes.Uint32,
					Nullable: true})
			}
		}
	}
	if of.Documents != nil {
		for _, c := range alignmentColumns {
			fields = append(fields, arrow.Field{Name: c.name, Type: c.of, Nullable: true})
		}
	}
	for _, name := range of.Features {
		fields = append(fields, arrow.Field{Name: featurePrefix + name, Type: arrow.PrimitiveTypes.Float32})
	}
	return arrow.NewSchema(fields, nil)
}

// metadataPrefix is the prefix of all our entries in the file's key-value metadata.
const metadataPrefix = "mine."

func (m Metadata) pairs() [][2]string {
	recall := "exact"
	if m.Recall != nil {
		recall = formatFloat(*m.Recall)
	}
	pairs := [][2]string{
		{"run_id", m.RunID},
		{"config_digest", m.ConfigDigest},
		{"encoder", m.Encoder},
		{"encoder_digest", m.EncoderDigest},
		{"search", m.Search},
		{"search_recall", recall},
		{"margin", m.Margin},
		{"retrieval", m.Retrieval},
		{"k", strconv.Itoa(m.K)},
		{"threshold", formatFloat(m.Threshold)},
		{"scorer", m.Scorer},
		{"src_in", strconv.Itoa(m.SourceIn)},
		{"tgt_in", strconv.Itoa(m.TargetIn)},
		{"src_unique", strconv.Itoa(m.SourceUnique)},
		{"tgt_unique", strconv.Itoa(m.TargetUnique)},
		{"candidates", strconv.Itoa(m.Candidates)},
		{"kept", strconv.Itoa(m.Kept)},
		{"version", m.Version},
	}
	if d := m.Documents; d != nil {
		pairs = append(pairs, [][2]string{
			{"document_pairs", strconv.Itoa(d.Pairs)}, {"found_by_both", strconv.Itoa(d.Both)},
			{"found_locally", strconv.Itoa(d.Local)},
			{"replaced", strconv.Itoa(d.Replaced)},
		}...)
	}
	if j := m.Judge; j != nil {
		pairs = append(pairs, [][2]string{
			{"judge", j.Model}, {"judge_digest", j.Digest}, {"judge_doubt", formatFloat(j.Doubt)},
			{"judged", strconv.Itoa(j.Pairs)},
		}...)
	}
	if r := m.Refine; r != nil {
		least := [2]string{"refine_floor", formatFloat(r.Floor)}
		if r.Doubt > 0 {
			least = [2]string{"refine_doubt", formatFloat(r.Doubt)}
		}
		pairs = append(pairs, [][2]string{
			{"refine", r.Encoder}, {"refine_digest", r.Digest}, least, {"refined", strconv.Itoa(r.Sentences)},
		}...)
	}
	return pairs
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

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

// Compared reports whether global mining looked at the pair, so that it has a score and means.
func (r *Row) Compared() bool {
	return r.Alignment == nil || r.Alignment.FoundBy != Local || r.SourceMean != 0 || r.TargetMean != 0
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
	Judge         *Judge     // decided pairs in doubt; nil: there was none
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
	Doubt     float64 // the least probability of a pair that it was given; 0: the floor says which
	Sentences int     // number of sentences given to the encoder
}
