package objective

import (
	"fmt"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// Label is what the softmax of IMASCL is fitted to.
type Label string

// Priority is the teacher's similarities in the language of a pair that comes first in Anchors; Average is the mean over both languages.
const (
	Priority Label = "priority"
	Average  Label = "average"
)

// Reconstruction is what EMS predicts from a sentence vector.
type Reconstruction string

// XTR is the distribution of the other side's tokens; UGT that and a masked token of the own side.
const (
	NoReconstruction Reconstruction = "none"
	XTR              Reconstruction = "xtr"
	UGT              Reconstruction = "ugt"
)

// Settings are the objective section of a training preset. Each objective reads some of them; the others must be left out. The last ones are no
// settings of a preset: the trainer fills in what it knows.
type Settings struct {
	Name        string  `yaml:"name"`
	Temperature float64 `yaml:"temperature"` // T: what cosines are divided by
	Margin      float64 `yaml:"margin"`      // what a pair's own cosine is lowered by in training (additive-margin softmax; LaBSE has 0.3)
	OneWay      bool    `yaml:"one_way"`     // sources look for targets, and not the other way about

	Contrastive     bool           `yaml:"contrastive"`      // ems: the contrastive terms
	MLP             bool           `yaml:"mlp"`              // ems: two layers between vectors and their cosines
	MLPDim          int            `yaml:"mlp_dim"`          // ems: numbers that the second layer leaves
	Reconstruction  Reconstruction `yaml:"reconstruction"`   // ems: xtr, ugt or none
	LanguageToken   bool           `yaml:"language_token"`   // ems: reconstruction knows the language to be predicted
	LanguageDim     int            `yaml:"language_dim"`     // ems: numbers of a language's vector
	SharedEmbedding bool           `yaml:"shared_embedding"` // ems: reconstruction's output table is the encoder's table of words
	Label           Label          `yaml:"label"`            // imascl: priority or average
	Anchors         []string       `yaml:"anchors"`          // imascl, mse-distill: languages, the one whose teacher vectors are trusted most first; those left out come last
	TCM             bool           `yaml:"tcm"`              // imascl: train the monolingual spaces too
	CrossWeight     float64        `yaml:"cross_weight"`     // imascl with tcm: λ, the weight of the terms across languages
	Teacher         string         `yaml:"teacher"`          // imascl, mse-distill: an encoder's name, manifest or directory; muse: the one that hard negatives are found by, in place of that in training as it starts
	Negatives       int            `yaml:"negatives"`        // muse: hard negatives of a pair

	Dim        int      `yaml:"-"` // numbers of the encoder's vectors
	Vocabulary int      `yaml:"-"` // rows of its table of words
	Languages  []string `yaml:"-"` // what data.Side.Languages counts: data.Set.Languages
	Special    []int32  `yaml:"-"` // ids that are no words: beginning, end, language tokens
	Mask       int32    `yaml:"-"` // id that stands for a masked token: only ugt
	Table      string   `yaml:"-"` // name of the encoder's table of words: only where NeedsTable
	Vectors    Teacher  `yaml:"-"` // the opened teacher: only where NeedsTeacher
	Seed       uint64   `yaml:"-"` // which tokens are masked: only ugt
}

// Names are the objectives, as New knows them.
func Names() []string {
	return []string{"contrastive", "ems", "imascl", "labse-joint", "labse-mlp", "labse-vanilla", "mse-distill", "muse"}
}

// Defaults are an objective's settings before a preset changes any: its paper's. Of an unknown name they are nothing, which Validate reports.
func Defaults(name string) Settings {
	s := Settings{Name: name}
	switch name {
	case "contrastive":
		s.Temperature = 0.05 // what sentence encoders are most often trained with; no paper's of ours
	case "ems", "labse-joint", "labse-mlp", "labse-vanilla":
		s.Temperature, s.Contrastive, s.MLP, s.MLPDim = 0.1, true, true, 128
		s.Reconstruction, s.LanguageToken, s.LanguageDim = XTR, true, 128
		if name != "ems" {
			s.Margin = 0.3
		}
		if name == "labse-mlp" || name == "labse-vanilla" {
			s.Reconstruction, s.LanguageToken, s.LanguageDim = NoReconstruction, false, 0
		}
		if name == "labse-vanilla" {
			s.MLP, s.MLPDim = false, 0
		}
	case "imascl":
		s.Temperature, s.Label, s.Anchors = 0.1, Priority, []string{"en", "ru", "ja", "fr", "ko"}
	case "mse-distill":
		s.Anchors = []string{"en", "ru", "ja", "fr", "ko"}
	case "muse":
		s.Temperature, s.Negatives = 0.1, 3
	}
	return s
}

// UnmarshalYAML starts from the Defaults of the name, which is s's own where none is written.
func (s *Settings) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Settings
	named := plain{Name: s.Name}
	if err := unmarshal(&named); err != nil {
		return err
	}
	*s = Defaults(named.Name)
	return unmarshal((*plain)(s))
}

// NeedsTeacher says whether Vectors must be there, and with it the batches' texts (data.Options.Texts). A teacher may be named by others too.
func (s Settings) NeedsTeacher() bool { return s.Name == "imascl" || s.Name == "mse-distill" }

// NeedsTable says whether Table must be there: its tensor is then one of the step's heads, beside those of Heads.
func (s Settings) NeedsTable() bool { return s.Reconstruction != "" && s.SharedEmbedding }

// ems says whether it is EMS or one of its variants.
func (s Settings) ems() bool { return s.Name == "ems" || strings.HasPrefix(s.Name, "labse-") }

func (s Settings) reconstructs() bool { return s.Reconstruction == XTR || s.Reconstruction == UGT }

// complaints gathers problems, each of which says what to do.
type complaints []string

func (c *complaints) unless(ok bool, format string, args ...any) {
	if !ok {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}

// Validate reports every problem of a preset together, as one badinput error. What the trainer fills in is New's to check.
func (s Settings) Validate() error {
	if !slices.Contains(Names(), s.Name) {
		return badinput.Errorf("objective.name is %q: take one of %s", s.Name, strings.Join(Names(), ", "))
	}
	var wrong complaints
	s.unused(&wrong)
	cosines := s.Name != "mse-distill" && (!s.ems() || s.Contrastive)
	wrong.unless(!cosines || s.Temperature > 0 && s.Temperature <= 100, "objective.temperature is %v but must be above 0 and at most 100", s.Temperature)
	wrong.unless(s.Margin >= 0 && s.Margin < 2, "objective.margin is %v but must be from 0 to less than 2, as far apart as cosines are", s.Margin)
	if s.ems() {
		s.validateEMS(&wrong)
	}
	if s.Name == "imascl" {
		wrong.unless(s.Label == Priority || s.Label == Average, "objective.label is %q but must be priority or average", s.Label)
		wrong.unless(!s.TCM || s.CrossWeight > 0, "objective.cross_weight is %v but with tcm it must be above 0: the paper has 0.1", s.CrossWeight)
		wrong.unless(s.TCM || s.CrossWeight == 0, "objective.cross_weight is for tcm: leave it out or set tcm")
	}
	if s.NeedsTeacher() {
		wrong.unless(s.Teacher != "", "objective.teacher is empty: name an encoder or its manifest")
		for i, code := range s.Anchors {
			_, err := corpus.ParseLanguage(code)
			wrong.unless(err == nil, "objective.anchors[%d]: %v", i, err)
			wrong.unless(!slices.Contains(s.Anchors[:i], code), "objective.anchors names %s twice", code)
		}
	}
	wrong.unless(s.Name != "muse" || s.Negatives >= 1 && s.Negatives <= 63, "objective.negatives is %d but must be from 1 to 63", s.Negatives)
	if wrong != nil {
		return badinput.Errorf("%s", strings.Join(wrong, "; "))
	}
	return nil
}

func (s Settings) validateEMS(wrong *complaints) {
	known := []Reconstruction{NoReconstruction, XTR, UGT}
	wrong.unless(slices.Contains(known, s.Reconstruction), "objective.reconstruction is %q but must be xtr, ugt or none", s.Reconstruction)
	wrong.unless(s.Contrastive || s.reconstructs(), "objective %s has neither contrastive nor reconstruction: take one at least", s.Name)
	wrong.unless(!s.Contrastive || !s.MLP || s.MLPDim >= 1, "objective.mlp_dim is %d but must be at least 1", s.MLPDim)
	wrong.unless(!s.LanguageToken || !s.reconstructs() || s.LanguageDim >= 1, "objective.language_dim is %d but must be at least 1", s.LanguageDim)
	wrong.unless(!s.SharedEmbedding || s.reconstructs(), "objective.shared_embedding is for a reconstruction: leave it out")
	wrong.unless(!s.OneWay, "objective.one_way is not for %s, whose terms go both ways: leave it out", s.Name)
}

// unused complains of settings that the objective does not read.
func (s Settings) unused(wrong *complaints) {
	ems, contrastive, teacher := s.ems(), s.Name == "contrastive", s.NeedsTeacher()
	for _, f := range []struct {
		name      string
		set, used bool
	}{
		{"temperature", s.Temperature != 0, s.Name != "mse-distill"},
		{"margin", s.Margin != 0, ems || contrastive || s.Name == "muse"},
		{"one_way", s.OneWay, ems || contrastive || s.Name == "muse"},
		{"contrastive", s.Contrastive, ems},
		{"mlp", s.MLP, ems},
		{"mlp_dim", s.MLPDim != 0, ems},
		{"reconstruction", s.Reconstruction != "", ems},
		{"language_token", s.LanguageToken, ems},
		{"language_dim", s.LanguageDim != 0, ems},
		{"shared_embedding", s.SharedEmbedding, ems},
		{"label", s.Label != "", s.Name == "imascl"},
		{"anchors", len(s.Anchors) > 0, teacher},
		{"tcm", s.TCM, s.Name == "imascl"},
		{"cross_weight", s.CrossWeight != 0, s.Name == "imascl"},
		{"teacher", s.Teacher != "", teacher || s.Name == "muse"},
		{"negatives", s.Negatives != 0, s.Name == "muse"},
	} {
		wrong.unless(!f.set || f.used, "objective.%s means nothing to %s: leave it out", f.name, s.Name)
	}
}
