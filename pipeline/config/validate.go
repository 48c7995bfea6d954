package config

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/encode/embedding"
	"bitextmine/encode/gpu"
	"bitextmine/index/backend"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spelling"
	"bitextmine/mine"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
)

// defaultThresholds are the thresholds by margin where none is found in the text. 1.06 is LASER's published mining
// threshold.
var defaultThresholds = map[string]float64{string(mine.Ratio): setting.LASERThreshold}

// defaultProducts are the thresholds of two-stage mining, of the strong cosine times the margin.
// bench/results/encoders.md has the figures.
var defaultProducts = map[string]float64{string(mine.Ratio): 0.78}

// defaultFloors are the margins above which a pair goes to the strong encoder. bench/results/encoders.md has the
// figures.
var defaultFloors = map[string]float64{string(mine.Ratio): RatioFloor}

// RatioFloor is the default floor of the ratio margin.
const RatioFloor = 1.06

// The values of on_bad_file; an empty one means FailBadFile.
const (
	SkipBadFile = "skip"
	FailBadFile = "fail"
)

// minFoundK is the smallest k with which a threshold is found: the program's scorers use as many neighbours.
const minFoundK = 4

// Validate reports every setting that is wrong, together, and fills what is derived. Settings are validated once: the
// first caller, who needs them before the run does, hands them on, and later calls do nothing. Until the run only the
// encoder's name and the directories may be changed, as rounds of training do.
func (c *Config) Validate() error {
	if c.valid {
		return nil
	}
	return c.validate(true)
}

// Shown are the validated settings of a command that only shows them: they may be of many pairs or name no languages.
func (c *Config) Shown() (Config, error) {
	shown := *c
	shown.Many = setting.Many{}
	return shown, shown.validate(shown.Source != "" || shown.Target != "")
}

func (c *Config) validate(languages bool) error {
	wrong := append(setting.Problems(*c), c.Unreadable()...)
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if c.Langs != "" || c.Pivot != "" || c.LangPairs != "" {
		fail("langs, pivot and lang_pairs are of mine run and mine plan; name one pair with --src and --tgt")
	} else if languages {
		validateLanguages(&c.Languages, fail)
	}
	if len(c.LanguageText) > 0 {
		fail("text = %s is of mine run and mine plan; name the text of a side with --src-text and --tgt-text", strings.Join(c.LanguageText, " "))
	}
	validateOutput(c, fail)
	validateSample(c, fail)
	validateGiven(c, fail)
	validateSearch(c, fail)
	if _, err := mine.ParseMargin(c.Margin); err != nil {
		fail("%v", err)
	}
	if _, err := mine.ParseRetrieval(c.Retrieval); err != nil {
		fail("%v", err)
	}
	if math.IsNaN(c.Threshold) || math.IsInf(c.Threshold, 0) {
		fail("threshold = %v is no number that a margin can be set against", c.Threshold)
	}
	if c.OnBadFile != "" && c.OnBadFile != SkipBadFile && c.OnBadFile != FailBadFile {
		fail("on_bad_file is %q, choose %s or %s", c.OnBadFile, SkipBadFile, FailBadFile)
	}
	validateExclude(c, fail)
	validateSplit(c, fail)
	validateDocuments(c, fail)
	validateRefine(c, fail)
	validateScorer(c, fail)
	validateJudge(c, fail)
	validateSlurm(c, fail)
	if podsWithoutGPU(c) {
		fail("device = %s, but kubernetes_gpus is 0, so that no pod has a GPU; set it to the number of GPUs of a pod", c.Device)
	}
	if d := embedding.DType(c.DType); d != embedding.Float16 && d != embedding.Float32 {
		fail("dtype %q is not known; choose float16 or float32", c.DType)
	}
	options := c.CorpusOptions()
	for side, o := range options {
		if err := o.Validate(); err != nil && (side == 0 || o != options[0]) {
			fail("%v", err)
		}
	}
	if err := setting.Refusal(wrong); err != nil {
		return err
	}
	if c.Work == "" {
		c.Work = filepath.Join(c.Out, "work")
	}
	c.UseAllCores()
	c.valid = true
	return nil
}

func validateOutput(c *Config, fail func(format string, args ...any)) {
	switch {
	case c.Out == "":
		fail("--out names no directory")
	case store.Remote(c.Out):
		fail("--out names a bucket, but bitext is written to a local directory: name one, and the bucket as --work")
	}
	if err := store.CheckLocation(c.Work); err != nil {
		fail("%v", err)
	}
	_, source, _ := c.side(false)
	_, target, _ := c.side(true)
	if err := c.Outside(slices.Concat(source, target)); err != nil {
		fail("%v", err)
	}
	if c.Metrics != "" && filepath.Ext(c.Metrics) != ".prom" {
		fail("metrics = %s: node_exporter reads only files whose names end in .prom; name such a file", c.Metrics)
	}
}

// validateExclude reads the translations whose sentences are left out for their digest.
func validateExclude(c *Config, fail func(format string, args ...any)) {
	if c.Exclude == "" {
		return
	}
	if c.HasVectors() {
		fail("exclude = %s leaves out lines, of which src_emb and tgt_emb have one vector each; leave one of them out", c.Exclude)
	}
	in, err := plan.DigestInput(input.File{Path: c.Exclude})
	if err != nil {
		fail("exclude: %v", err)
	}
	c.excluded = in.SHA256
}

// podsWithoutGPU says whether pods are to encode on GPUs that they are not given.
func podsWithoutGPU(c *Config) bool {
	device, err := gpu.Parse(c.Device)
	return err == nil && !device.OnCPU() && (c.Engine == "kubernetes" || c.Engine == "argo") && c.KubernetesGPUs == 0
}

// validateSlurm refuses options of sbatch for stages that do not exist, which no job would have.
func validateSlurm(c *Config, fail func(format string, args ...any)) {
	if len(c.SlurmOptions) == 0 {
		return
	}
	names := []string{engine.EveryStage}
	for _, d := range stage.All() {
		names = append(names, d.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.SlurmOptions)) {
		if !slices.Contains(names, name) {
			fail("slurm_options: no stage is called %q; %s", name, spelling.Asked(name, names, "name one of "+strings.Join(names, ", ")))
		}
	}
}

// validateSample refuses a run of the user's text against the sample in the program, which stands for a side that is
// not named.
func validateSample(c *Config, fail func(format string, args ...any)) {
	for _, target := range []bool{false, true} {
		language, patterns, flag := c.side(target)
		_, others, _ := c.side(!target)
		named := len(c.SourceText) > 0
		if target {
			named = len(c.TargetText) > 0
		}
		if !named && slices.ContainsFunc(patterns, isSample) && slices.ContainsFunc(others, func(p string) bool { return !isSample(p) }) {
			fail("no text is named for %s, where only the program's sample is left, which has nothing to do with %s; name the %s text with %s",
				language, strings.Join(others, " "), language, flag)
		}
	}
}

func isSample(pattern string) bool { return strings.HasPrefix(pattern, FixturesPrefix) }

// SampleAlone reports whether no text is named and the sample in the program stands for every side. Who compares with
// the sample's known pairs means it.
func SampleAlone(c *Config) bool {
	languages := slices.DeleteFunc(append(strings.Split(c.Langs, ","), c.Source, c.Target), func(l string) bool { return l == "" })
	for _, language := range languages {
		code, err := corpus.ParseLanguage(language)
		patterns := c.Corpora[code]
		if err != nil || len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return !isSample(p) }) {
			return false
		}
	}
	return len(languages) > 0 && len(c.SourceText)+len(c.TargetText)+len(c.LanguageText) == 0 && !isSample(c.Gold)
}

func validateSearch(c *Config, fail func(format string, args ...any)) {
	if len(c.Approximate()) > 0 && c.Search != backend.Auto {
		fail("search_approximate is what search = auto may choose, but search = %s", c.Search)
	}
	for _, name := range c.Approximate() {
		if backend.Exact(name) || name == backend.Auto {
			fail("search_approximate: %s is no approximate search; name one such as ivf:1024", name)
		}
	}
}

// validateLanguages checks both languages and gives their codes one form.
func validateLanguages(l *setting.Languages, fail func(format string, args ...any)) {
	for _, side := range []struct {
		flag     string
		language *string
	}{{"src", &l.Source}, {"tgt", &l.Target}} {
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
	if l.Source != "" && l.Source == l.Target {
		fail("--src and --tgt are both %s, as regions are not told apart: name two languages, or two scripts of one (zh, zh-Hant); "+
			"paraphrases of one language are found by mine neighbours p.npy p.npy", l.Source)
	}
}

// maxDoubt is above the probabilities from which pairs are in doubt.
const maxDoubt = 0.5

const wrongRefineDoubt = "refine_doubt = %g must be above 0 and below 0.5: pairs from that probability go to the strong encoder"

// validateRefine checks the settings of two-stage mining.
func validateRefine(c *Config, fail func(format string, args ...any)) {
	if !(c.RefineDoubt < maxDoubt) { // a NaN is not
		fail(wrongRefineDoubt, c.RefineDoubt)
	}
	switch {
	case c.Refine == "":
		if c.RefineFloor != setting.AutoThreshold && c.RefineFloor != 0 {
			fail("refine_floor = %g is of two-stage mining; name the strong encoder with --refine", c.RefineFloor)
		}
		c.RefineFloor, c.RefineDoubt = 0, 0 // have no meaning then, and are in no key
	case math.IsNaN(c.RefineFloor) || math.IsInf(c.RefineFloor, 0):
		fail("refine_floor = %v is no number that a margin can be set against", c.RefineFloor)
	}
}

// Promising settles which of two settings says what goes to the strong encoder of two-stage mining: refine_doubt where
// the run learns what that adds to a scorer, else refine_floor.
func (c *Config) Promising(learns bool) error {
	floor, ok := defaultFloors[c.Margin]
	switch given := c.RefineFloor != setting.AutoThreshold; {
	case c.Refine == "":
	case learns && given && c.RefineFloor != 0: // not settled before
		return badinput.Errorf("refine_floor = %g is of --scorer none, and of a scorer that mine fit-scorer fitted with --refine; "+
			"here refine_doubt says which pairs go to the strong encoder", c.RefineFloor)
	case learns && !(c.RefineDoubt > 0 && c.RefineDoubt < maxDoubt):
		return badinput.Errorf(wrongRefineDoubt, c.RefineDoubt)
	case learns:
		c.RefineFloor = 0
	case !given && !ok:
		return badinput.Errorf("margin %s has no default floor; give --refine-floor", c.Margin)
	default:
		c.RefineDoubt = 0
		if !given {
			c.RefineFloor = floor
		}
		if c.K == 1 && mine.Margin(c.Margin) == mine.Ratio && c.RefineFloor >= 1 {
			return badinput.Errorf("refine_floor = %g sends no pair to the strong encoder: with k = 1 no ratio margin is above 1; "+
				"give a larger --k or a floor below 1", c.RefineFloor)
		}
	}
	return nil
}

// validateJudge checks the settings of the judge.
func validateJudge(c *Config, fail func(format string, args ...any)) {
	if !(c.JudgeDoubt < maxDoubt) { // a NaN is not
		fail("judge_doubt = %g must be below 0.5: pairs from that probability to 1 less it are judged", c.JudgeDoubt)
	}
	switch {
	case c.Judge == "":
		c.JudgeDoubt = 0 // has no meaning then, and is in no key
	case !c.Scored():
		fail("judge = %s merges its logits with a scorer's probabilities, but no scorer decides; leave --scorer out, or "+
			"name a scorer of both encoders", c.Judge)
	}
}

// validateScorer checks the settings of the scorer and resolves the threshold.
func validateScorer(c *Config, fail func(format string, args ...any)) {
	if c.Precision != 0 && !(c.Precision > 0 && c.Precision < 1) { // a NaN is neither
		fail("precision = %g must be between 0 and 1, or 0 for none", c.Precision)
	}
	if _, ok := setting.Cuts[c.Cut]; c.Cut != "" && !ok {
		fail("cut is %q, choose f0.5, f1 or f2", c.Cut)
	}
	if !c.Scored() {
		if c.Precision != 0 || c.Cut != "" || c.Features {
			fail("precision, cut and features need a scorer; name one with --scorer")
		}
		finds := c.Refine == "" && c.K >= minFoundK // else nobody tells the margin's threshold
		if UnnamedEncoder(c) {                      // the distribution of the margins does
			finds = c.Refine == "" && mine.Margin(c.Margin) == mine.Ratio
		}
		if c.Threshold == setting.AutoThreshold && !finds {
			thresholds := defaultThresholds
			if c.Refine != "" {
				thresholds = defaultProducts
			}
			threshold, ok := thresholds[c.Margin]
			if !ok {
				fail("margin %s has no default threshold; give --threshold", c.Margin)
			}
			c.Threshold = threshold
		}
		if c.K == 1 && mine.Margin(c.Margin) == mine.Ratio && c.Refine == "" && c.Threshold >= 1 {
			fail("threshold = %g keeps no pair: with k = 1 no ratio margin is above 1; give a larger --k or a threshold below 1", c.Threshold)
		}
		return
	}
	if _, err := mine.ParseRetrieval(c.Retrieval); err == nil && c.Retrieval != "" && mine.Retrieval(c.Retrieval) != mine.Max {
		fail("retrieval %s chooses by margin; with a scorer it is max, or give --scorer none", c.Retrieval)
	}
	switch {
	case c.Threshold == setting.AutoThreshold && c.Precision == 0:
		c.Threshold = 0
		if c.Cut == "" {
			c.Cut = setting.DefaultCut
		}
	case c.Threshold == setting.AutoThreshold:
		c.Threshold = 0
	case c.Threshold < 0 || c.Threshold > 1:
		fail("threshold = %g is no probability; with a scorer it is one, from 0 to 1; to cut by margin give --scorer none", c.Threshold)
	case c.Precision != 0 && c.Threshold != 0:
		fail("threshold and precision both cut by probability; give one")
	case c.Cut != "" && (c.Precision != 0 || c.Threshold != 0):
		fail("cut = %s finds the probability that threshold and precision set; give one of the three", c.Cut)
	}
}
