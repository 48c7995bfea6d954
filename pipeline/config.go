package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/engine"
)

// Config is the settings of a run. Its defaults and the reason for each stand in configs/default.yaml.
type Config struct {
	Source string `mapstructure:"src"` // language codes
	Target string `mapstructure:"tgt"`

	SourceText []string            `mapstructure:"src_text"` // files, directories, globs
	TargetText []string            `mapstructure:"tgt_text"`
	Corpora    map[string][]string `mapstructure:"corpora"` // by language, where SourceText or TargetText is empty
	Gold       string              `mapstructure:"gold"`    // known pairs to compare the bitext with; may be empty

	Out       string `mapstructure:"out"`
	Work      string `mapstructure:"work"` // empty: Out/work
	Overwrite bool   `mapstructure:"overwrite"`

	Format       string `mapstructure:"format"`
	TextColumn   string `mapstructure:"text_column"`
	DocColumn    string `mapstructure:"doc_column"`
	URLColumn    string `mapstructure:"url_column"`
	OnBadLine    string `mapstructure:"on_bad_line"`
	MaxLineBytes int    `mapstructure:"max_line_bytes"`
	ShardSize    int    `mapstructure:"shard_size"`

	Encoder     string `mapstructure:"encoder"` // built-in name or path of a model.yaml
	DType       string `mapstructure:"dtype"`
	ONNXRuntime string `mapstructure:"onnxruntime"` // path of the library; empty: looked for

	Search            string  `mapstructure:"search"`
	SearchApproximate string  `mapstructure:"search_approximate"` // what auto may choose besides exact searches, with spaces between
	SearchRecall      float64 `mapstructure:"search_recall"`      // a measured recall below it is warned about
	NProbe            int     `mapstructure:"nprobe"`             // of an approximate index; 0: FAISS's default
	EfSearch          int     `mapstructure:"ef_search"`

	K         int     `mapstructure:"k"`
	Margin    string  `mapstructure:"margin"`
	Retrieval string  `mapstructure:"retrieval"`
	Threshold float64 `mapstructure:"threshold"`
	KeepBelow bool    `mapstructure:"keep_below"`

	Scorer    string  `mapstructure:"scorer"`    // default, none, or a scorer's file; empty: none
	Precision float64 `mapstructure:"precision"` // of the kept pairs, by the scorer's probabilities; 0: the threshold decides
	Features  bool    `mapstructure:"features"`  // also write the scorer's features

	Threads   int    `mapstructure:"threads"`    // 0: every core
	MaxMemory string `mapstructure:"max_memory"` // of anonymous memory, "4GiB"; empty: no bound
	maxMemory int64

	Engine              string              `mapstructure:"engine"`        // local, slurm, kubernetes
	DryRun              io.Writer           `mapstructure:"-"`             // gets an engine's scripts instead of a run
	SlurmOptions        map[string][]string `mapstructure:"slurm_options"` // of sbatch, by stage and under "all"
	KubernetesImage     string              `mapstructure:"kubernetes_image"`
	KubernetesNamespace string              `mapstructure:"kubernetes_namespace"`
	KubernetesClaim     string              `mapstructure:"kubernetes_claim"` // a PersistentVolumeClaim
	KubernetesMount     string              `mapstructure:"kubernetes_mount"` // where it is in every pod
	KubernetesGPUs      int                 `mapstructure:"kubernetes_gpus"`  // of an encoding pod

	Keep       int    `mapstructure:"keep"`        // nights whose bitext stays
	SweepCells bool   `mapstructure:"sweep_cells"` // after each night
	Metrics    string `mapstructure:"metrics"`     // text file for node_exporter; empty: none
}

// MaxK is the largest number of neighbours that may be asked for.
const MaxK = 64

// Validate reports every setting that is wrong, together, and fills what is derived.
func (c *Config) Validate() error {
	var wrong []string
	var err error
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	c.validateLanguages(fail)
	if c.Out == "" {
		fail("--out names no directory")
	}
	if c.K < 1 || c.K > MaxK {
		fail("k = %d must be from 1 to %d", c.K, MaxK)
	}
	c.validateSearch(fail)
	if _, err := mine.ParseMargin(c.Margin); err != nil {
		fail("%v", err)
	}
	if _, err := mine.ParseRetrieval(c.Retrieval); err != nil {
		fail("%v", err)
	}
	if math.IsNaN(c.Threshold) || math.IsInf(c.Threshold, 0) {
		fail("threshold = %v is no number that a margin can be set against", c.Threshold)
	}
	c.validateScorer(fail)
	if c.Threads < 0 {
		fail("threads = %d must not be negative", c.Threads)
	}
	if c.maxMemory, err = parseBytes(c.MaxMemory); err != nil {
		fail("max_memory = %q: %v", c.MaxMemory, err)
	}
	if c.Keep < 1 {
		fail("keep = %d must be at least 1, the last night's bitext", c.Keep)
	}
	if d := embedding.DType(c.DType); d != embedding.Float16 && d != embedding.Float32 {
		fail("dtype %q is not known; choose float16 or float32", c.DType)
	}
	if err = c.CorpusOptions().Validate(); err != nil {
		fail("%v", err)
	}
	if len(wrong) > 0 {
		return badinput.Errorf("settings: %s", strings.Join(wrong, "; "))
	}
	if c.Threads == 0 {
		c.Threads = runtime.NumCPU()
	}
	if c.Work == "" {
		c.Work = filepath.Join(c.Out, "work")
	}
	return nil
}

// approximate lists the approximate searches that auto may choose.
func (c *Config) approximate() []string { return strings.Fields(c.SearchApproximate) }

func (c *Config) validateSearch(fail func(format string, args ...any)) {
	if c.SearchRecall < 0 || c.SearchRecall > 1 || math.IsNaN(c.SearchRecall) {
		fail("search_recall = %v must be from 0 to 1", c.SearchRecall)
	}
	if c.NProbe < 0 || c.EfSearch < 0 {
		fail("nprobe = %d and ef_search = %d must not be negative", c.NProbe, c.EfSearch)
	}
	if len(c.approximate()) > 0 && c.Search != backend.Auto {
		fail("search_approximate is what search = auto may choose, but search = %s", c.Search)
	}
	for _, name := range c.approximate() {
		if backend.Exact(name) || name == backend.Auto {
			fail("search_approximate: %s is no approximate search; name one such as faiss:IVF1024,Flat", name)
		}
	}
}

// validateLanguages checks both languages and gives their codes one form.
func (c *Config) validateLanguages(fail func(format string, args ...any)) {
	for _, side := range []struct {
		flag     string
		language *string
	}{{"src", &c.Source}, {"tgt", &c.Target}} {
		if *side.language == "" {
			fail("--%s names no language", side.flag)
			continue
		}
		canonical, err := corpus.ParseLanguage(*side.language)
		if err != nil {
			fail("--%s: %v", side.flag, err)
			continue
		}
		*side.language = canonical
	}
	if c.Source != "" && c.Source == c.Target {
		fail("--src and --tgt are both %s", c.Source)
	}
}

// side returns the language and the patterns of one side.
func (c *Config) side(target bool) (language string, patterns []string, flag string) {
	language, patterns, flag = c.Source, c.SourceText, "--src-text"
	if target {
		language, patterns, flag = c.Target, c.TargetText, "--tgt-text"
	}
	if len(patterns) == 0 {
		patterns = c.Corpora[language]
	}
	return language, patterns, flag
}

// CorpusOptions says how the input is read and cut.
func (c *Config) CorpusOptions() corpus.Options {
	return corpus.Options{
		Format:     corpus.Format(c.Format),
		TextColumn: c.TextColumn, DocColumn: c.DocColumn, URLColumn: c.URLColumn,
		OnBadLine: corpus.OnBadLine(c.OnBadLine), MaxLineBytes: c.MaxLineBytes, ShardSize: c.ShardSize,
	}
}

// settings lists what changes the bitext besides the text and the encoder: two runs may share an output directory only if
// these are equal.
type settings struct {
	Source       string  `json:"src"`
	Target       string  `json:"tgt"`
	Format       string  `json:"format"`
	TextColumn   string  `json:"text_column"`
	DocColumn    string  `json:"doc_column"`
	URLColumn    string  `json:"url_column"`
	OnBadLine    string  `json:"on_bad_line"`
	MaxLineBytes int     `json:"max_line_bytes"`
	ShardSize    int     `json:"shard_size"`
	Encoder      string  `json:"encoder"` // digest
	DType        string  `json:"dtype"`
	Search       string  `json:"search"`
	Approximate  string  `json:"search_approximate,omitempty"`
	NProbe       int     `json:"nprobe,omitempty"`
	EfSearch     int     `json:"ef_search,omitempty"`
	K            int     `json:"k"`
	Margin       string  `json:"margin"`
	Retrieval    string  `json:"retrieval"`
	Threshold    float64 `json:"threshold"`
	KeepBelow    bool    `json:"keep_below"`
	Scorer       string  `json:"scorer,omitempty"` // digest
	Precision    float64 `json:"precision,omitempty"`
	Features     bool    `json:"features,omitempty"`
}

func (c *Config) settings(encoderDigest, scorerDigest string) settings {
	search := c.Search
	if search == backend.Auto && len(c.approximate()) == 0 {
		search = exact.Name // whatever it takes, the results are these
	}
	return settings{
		c.Source, c.Target, c.Format, c.TextColumn, c.DocColumn, c.URLColumn, c.OnBadLine,
		c.MaxLineBytes, c.ShardSize, encoderDigest, c.DType,
		search, strings.Join(c.approximate(), " "), c.NProbe, c.EfSearch, c.K, c.Margin, c.Retrieval, c.Threshold, c.KeepBelow,
		scorerDigest, c.Precision, c.Features,
	}
}

// engine returns the engine of a run and whether it is another process's.
func (c *Config) engine() (engine.Engine, bool, error) {
	switch c.Engine {
	case "", "local":
		if c.DryRun != nil {
			return nil, false, badinput.Errorf("engine local has no scripts to print; choose slurm or kubernetes with --engine")
		}
		return engine.Local{Cores: c.Threads, MaxMemory: c.maxMemory}, false, nil
	case "slurm":
		program, err := os.Executable()
		return engine.Slurm{Binary: program, Cores: c.Threads, MaxMemory: c.maxMemory, Options: c.SlurmOptions, DryRun: c.DryRun}, true, err
	case "kubernetes":
		return engine.Kubernetes{
			Image: c.KubernetesImage, Namespace: c.KubernetesNamespace, Claim: c.KubernetesClaim, Mount: c.KubernetesMount,
			GPUs: c.KubernetesGPUs, Cores: c.Threads, MaxMemory: c.maxMemory, DryRun: c.DryRun,
		}, true, nil
	}
	return nil, false, badinput.Errorf("engine %q is not known; choose local, slurm or kubernetes", c.Engine)
}

// parseBytes reads a number of bytes such as 1500000, 512MiB or 1.5GiB; empty is 0.
func parseBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	number, scale := text, 1.0
	for i, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if rest, ok := strings.CutSuffix(text, unit); ok {
			number, scale = rest, float64(int64(1)<<(10*(i+1)))
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || n <= 0 || n*scale > 1<<60 {
		return 0, errors.New("give bytes, or a number with KiB, MiB, GiB or TiB")
	}
	return int64(n * scale), nil
}

func digestOf(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // our own plain structs
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}
