package bitext

import (
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
		pairs = append(pairs, [][2]string{
			{"refine", r.Encoder}, {"refine_digest", r.Digest}, {"refine_floor", formatFloat(r.Floor)},
			{"refined", strconv.Itoa(r.Sentences)},
		}...)
	}
	return pairs
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
