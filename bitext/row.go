package bitext

// Sentence is one side of a pair and where it came from.
type Sentence struct {
	Text  string
	Lang  string
	Key   [16]byte // sentence key
	Shard string
	Row   uint32 // in the shard
	Doc   string // the input's own name for the sentence or its document; may be empty
	URL   string // may be empty
	Line  uint64 // in the input file, from 1
}

// Row is a pair.
type Row struct {
	Source, Target         Sentence
	Score                  float32   // the margin
	Prob                   *float32  // that it is a translation; nil without a scorer
	Features               []float32 // by the names in Metadata.Features; nil unless they were asked for
	Cosine                 float32
	SourceMean, TargetMean float32 // means of the neighbourhoods' cosines
	SourceRank, TargetRank uint8   // the partner's place in each side's list, 255 = not in it
	Keep                   bool
	Reasons                []string // why not kept; empty when kept
}

// Metadata is what the file says of the run that wrote it. It holds nothing that changes from one run to the next of the
// same inputs and settings: no time, no host, no path of the output.
type Metadata struct {
	RunID         string // digest of inputs and settings
	ConfigDigest  string // digest of the settings that change output
	Encoder       string // name
	EncoderDigest string
	Search        string   // backend
	Recall        *float64 // of the backend against exact search, measured; nil where the backend is exact
	Margin        string
	Retrieval     string
	K             int
	Threshold     float64
	Scorer        string   // digest of the scorer's file; empty: the margin decided
	Features      []string // names of the feature columns
	SourceIn      int      // sentences before deduplication
	TargetIn      int
	SourceUnique  int
	TargetUnique  int
	Candidates    int
	Kept          int
	Version       string // of the program
}
