package objective_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/train/objective"
	"bitextmine/train/objective/contrastive"
	"bitextmine/train/objective/ems"
	_ "bitextmine/train/objective/judge"
	"bitextmine/train/objective/objectivetest"
)

// decode reads strictly, as presets are read.
func decode(t *testing.T, text string) (objective.Section, error) {
	t.Helper()
	var s objective.Section
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	return s, d.Decode(&s)
}

func TestDefaultsOfEachNameAreValid(t *testing.T) {
	want := []string{"bitranslation", "contrastive", "ems", "imascl", "judge", "labse-joint", "labse-mlp", "labse-vanilla", "mexma", "mexma-contrastive", "mse-distill", "muse", "vmsst", "vmsst-contrastive", "wacse"}
	if !slices.Equal(objective.Names(), want) {
		t.Errorf("Names are %v, want %v", objective.Names(), want)
	}
	for _, name := range objective.Names() {
		s := objective.Default(name)
		if taught[name] {
			s = with(t, s, map[string]any{"teacher": fixtures.Encoder})
		}
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDefaultsArePinned: a preset that only names an objective trains with these settings, the papers'.
func TestDefaultsArePinned(t *testing.T) {
	const reconstruction = "reconstruction: xtr\nlanguage_token: true\nlanguage_dim: 128\nshared_embedding: false\n"
	const without = "reconstruction: none\nlanguage_token: false\nlanguage_dim: 0\nshared_embedding: false\n"
	const anchors = "anchors:\n    - en\n    - ru\n    - ja\n    - fr\n    - ko\nteacher: \"\"\n"
	const decoder = "language_encoders: 1\nlanguage_layers: 6\ndecoder_layers: 1\nencoder_language: true\ndecoder_language: true\n" +
		"factored: false\nheads: 16\nffn: 4096\n"
	want := map[string]string{
		"contrastive":       "temperature: 0.05\nmargin: 0\none_way: false\n",
		"muse":              "temperature: 0.1\nmargin: 0\none_way: false\nteacher: \"\"\nnegatives: 3\n",
		"ems":               "temperature: 0.1\nmargin: 0\ncontrastive: true\nmlp: true\nmlp_dim: 128\n" + reconstruction,
		"labse-joint":       "temperature: 0.1\nmargin: 0.3\ncontrastive: true\nmlp: true\nmlp_dim: 128\n" + reconstruction,
		"labse-mlp":         "temperature: 0.1\nmargin: 0.3\ncontrastive: true\nmlp: true\nmlp_dim: 128\n" + without,
		"labse-vanilla":     "temperature: 0.1\nmargin: 0.3\ncontrastive: true\nmlp: false\nmlp_dim: 0\n" + without,
		"imascl":            anchors + "temperature: 0.1\nlabel: priority\ntcm: false\ncross_weight: 0\n",
		"judge":             "misses: 4\nneighbours: 1\nteacher: \"\"\n",
		"mse-distill":       anchors,
		"vmsst":             "translate: true\ncontrastive: false\nelbo_weight: 0.1\nkl: true\nkl_anneal: 1000000\n" + decoder,
		"bitranslation":     "translate: true\ncontrastive: false\nelbo_weight: 0\nkl: false\nkl_anneal: 0\n" + decoder,
		"vmsst-contrastive": "translate: false\ncontrastive: true\nelbo_weight: 0.0005\nkl: true\nkl_anneal: 1000000\n" + decoder,
		"mexma": "masking: 0.4\nreplacement: mask\nsymmetric: true\ntoken_gradients: true\nalignment: clean\ntemperature: 0\n" +
			"align_weight: 1\nunmask_weight: 0.5\nkoleo_weight: 0.005\nhead_layers: 6\nhead_heads: 8\nhead_ffn: 3072\n",
		"mexma-contrastive": "masking: 0.4\nreplacement: mask\nsymmetric: true\ntoken_gradients: true\nalignment: contrastive\ntemperature: 0.05\n" +
			"align_weight: 1\nunmask_weight: 0.5\nkoleo_weight: 0\nhead_layers: 6\nhead_heads: 8\nhead_ffn: 3072\n",
		"wacse": "temperature: 1\nword_temperature: 1\ntr_weight: 0.8\nawp_weight: 0.1\nwtr_weight: 0.1\nmasking: 0.15\n",
	}
	for _, name := range objective.Names() {
		text, err := yaml.Marshal(objective.Default(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(text); got != "name: "+name+"\n"+want[name] {
			t.Errorf("the defaults of %s are\n%s\nwant\n%s", name, got, want[name])
		}
	}
}

// taught are the objectives that a teacher must be named for.
var taught = map[string]bool{"imascl": true, "mse-distill": true}

func with(t *testing.T, s objective.Section, settings map[string]any) objective.Section {
	t.Helper()
	changed, err := s.With(settings)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestPresetChangesDefaults(t *testing.T) {
	got, err := decode(t, "name: ems\ntemperature: 0.2\nmlp: false\nreconstruction: none\n")
	if err != nil {
		t.Fatal(err)
	}
	want := ems.Settings{Ranking: contrastive.Ranking{Temperature: 0.2}, Contrastive: true, MLPDim: 128, Reconstruction: "none", LanguageToken: true, LanguageDim: 128}
	if *got.Settings.(*ems.Settings) != want {
		t.Errorf("got %+v, want %+v", got.Settings, want)
	}
	if with(t, got, map[string]any{"mlp": true}); got.Settings.(*ems.Settings).MLP {
		t.Error("With changed the section that it was asked of")
	}
	for _, unknown := range []string{"name: ems\ntemprature: 1\n", "name: ems\ntemprature: 0\n", "name: muse\nanchors: {en: 1}\ntemperature: hot\n"} {
		if _, err := decode(t, unknown); err == nil {
			t.Errorf("%q was taken", unknown)
		}
	}
}

// TestPresetSurvivesItsText: what is marshalled is the same section again.
func TestPresetSurvivesItsText(t *testing.T) {
	for _, name := range objective.Names() {
		text, err := yaml.Marshal(objective.Default(name))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decode(t, string(text)); err != nil || !reflect.DeepEqual(again, objective.Default(name)) {
			t.Errorf("%s became\n%s\n%+v, %v", name, text, again, err)
		}
	}
}

// TestDocumentedPresets reads every preset of docs/objectives.md.
func TestDocumentedPresets(t *testing.T) {
	page, err := os.ReadFile("../../docs/objectives.md")
	if err != nil {
		t.Fatal(err)
	}
	presets := regexp.MustCompile("(?m)^    (name: .*)$").FindAllStringSubmatch(string(page), -1)
	if len(presets) < 18 {
		t.Errorf("the page has %d presets", len(presets))
	}
	for _, preset := range presets {
		s, err := decode(t, "{"+preset[1]+"}")
		if err == nil {
			err = s.Validate()
		}
		if err != nil {
			t.Errorf("%s: %v", preset[1], err)
		}
	}
}

func TestNameMayComeFromTheDefaults(t *testing.T) {
	s := objective.Default("contrastive")
	if err := yaml.Unmarshal([]byte("margin: 0.3"), &s); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s, with(t, objective.Default("contrastive"), map[string]any{"margin": 0.3})) {
		t.Errorf("got %+v", s.Settings)
	}
}

func TestValidateReportsEverything(t *testing.T) {
	for _, c := range []struct {
		yaml string
		want []string // each in the error
	}{
		{"name: ems2", []string{`"ems2"`, "contrastive, ems, imascl"}},
		{"name: contrastive\nsimilarity: euclid", []string{`similarity is "euclid"`}},
		{"temperature: 1", []string{`objective.name is ""`}},
		{"name: contrastive\ntemperature: 0\nmargin: 2\nnegatives: 3\nteacher: x", []string{"temperature is 0", "margin is 2", "negatives is not a setting", "teacher is not a setting"}},
		{"name: ems\ncontrastive: false\nreconstruction: none", []string{"neither"}},
		{"name: ems\nreconstruction: bow\nmlp_dim: 0\nlanguage_dim: -1\none_way: true", []string{`"bow"`, "mlp_dim is 0", "one_way is not a setting of ems"}},
		{"name: ems\nlanguage_dim: 0", []string{"language_dim is 0"}},
		{"name: labse-mlp\nshared_embedding: true", []string{"shared_embedding is only for"}},
		{"name: imascl\nlabel: hard\ntcm: true\nanchors: [en, en, '!']", []string{`label is "hard"`, "cross_weight is 0", "teacher is empty", "en twice", "anchors[2]"}},
		{"name: imascl\nteacher: x\ncross_weight: 0.1", []string{"cross_weight is only for tcm"}},
		{"name: mse-distill\nteacher: x\ntemperature: 1\ntcm: true", []string{"temperature is not a setting", "tcm is not a setting"}},
		{"name: muse\nnegatives: 64", []string{"negatives is 64"}},
	} {
		s, err := decode(t, c.yaml)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Validate()
		if !badinput.Is(err) {
			t.Errorf("%q: error %v, want badinput", c.yaml, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %q does not say %q", c.yaml, err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %q is more than a line", c.yaml, err)
		}
	}
}

// TestBoundsAreAllowed: the ends of each range, which messages name.
func TestBoundsAreAllowed(t *testing.T) {
	for text, ok := range map[string]bool{
		"{name: contrastive, temperature: 100}": true, "{name: contrastive, temperature: 100.5}": false,
		"{name: contrastive, margin: 0}": true, "{name: contrastive, margin: 2}": false, "{name: contrastive, similarity: dot}": true,
		"{name: muse, negatives: 1}": true, "{name: muse, negatives: 63}": true, "{name: muse, negatives: 0}": false, "{name: muse, negatives: 64}": false,
		"{name: imascl, teacher: x, temperature: 100}": true, "{name: imascl, teacher: x, temperature: 100.5}": false, "{name: imascl, teacher: x, temperature: 0}": false,
		"{name: imascl, teacher: x, teacher_temperature: 100}": true, "{name: imascl, teacher: x, teacher_temperature: 100.5}": false,
		"{name: imascl, teacher: x, teacher_temperature: -1}":       false,
		"{name: mexma, head_layers: 1, head_heads: 1, head_ffn: 1}": true, "{name: mexma, head_layers: 0}": false, "{name: mexma, head_layers: 100}": true,
		"{name: mexma, context: translation}": true, "{name: mexma, context: none}": true, "{name: mexma, context: mask}": false,
		"{name: mexma, head_layers: 101}": false, "{name: mexma, head_heads: 0}": false, "{name: mexma, head_ffn: 0}": false,
		"{name: vmsst, language_encoders: 0, language_layers: 1, decoder_layers: 1, heads: 1, ffn: 1, kl_anneal: 0}": true,
		"{name: vmsst, language_encoders: 16, language_layers: 100, decoder_layers: 100}":                            true,
		"{name: vmsst, language_encoders: -1}":                                                                       false, "{name: vmsst, language_encoders: 17}": false, "{name: vmsst, kl_anneal: -1}": false,
		"{name: vmsst, language_layers: 0}": false, "{name: vmsst, language_layers: 101}": false, "{name: vmsst, decoder_layers: 0}": false,
		"{name: vmsst, decoder_layers: 101}": false, "{name: vmsst, heads: 0}": false, "{name: vmsst, ffn: 0}": false, "{name: vmsst, elbo_weight: -1}": false,
		"{name: wacse, word_temperature: 100, masking: 1}": true, "{name: wacse, word_temperature: 100.5}": false, "{name: wacse, word_temperature: 0}": false,
		"{name: wacse, masking: 0}": false, "{name: wacse, masking: 1.5}": false, "{name: wacse, tr_weight: 0, awp_weight: 0, wtr_weight: 0}": false,
		"{name: wacse, tr_weight: 0}": true, "{name: wacse, awp_weight: 0}": true, "{name: wacse, wtr_weight: 0}": true, "{name: wacse, tr_weight: -1}": false,
		"{name: ems, mlp_dim: 0}": false, "{name: ems, language_dim: 0}": false, "{name: ems, language_token: false, language_dim: 0}": true,
		"{name: ems, mlp_dim: 1, language_dim: 1}": true, "{name: ems, contrastive: false, mlp_dim: 0}": true,
	} {
		s, err := decode(t, text)
		if err == nil {
			err = s.Validate()
		}
		if (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestBuildWantsATrainingThatIsComplete(t *testing.T) {
	all := objectivetest.Read[golden](t)
	for _, c := range []struct {
		name, want string
		settings   map[string]any
		change     func(*objective.Training)
	}{
		{"ems", "a vocabulary of 0", nil, func(training *objective.Training) { training.Vocabulary = 0 }},
		{"contrastive", "0 languages", nil, func(training *objective.Training) { training.Languages = nil }},
		{"imascl", "no teacher", map[string]any{"teacher": "x"}, func(training *objective.Training) { training.Teacher = nil }},
		{"ems", "special token 11", nil, func(training *objective.Training) { training.Special = []int32{11} }},
		{"ems", "special token 11", map[string]any{"reconstruction": "ugt"}, func(training *objective.Training) { training.Mask = 11 }},
		{"ems", "the encoder's table", map[string]any{"shared_embedding": true}, func(training *objective.Training) { training.Table = "" }},
		{"mse-distill", "objective.teacher x has vectors of 6 numbers and the encoder has vectors of 7", map[string]any{"teacher": "x"},
			func(training *objective.Training) { training.Dim = 7 }},
	} {
		training := all.training()
		c.change(&training)
		if _, err := with(t, objective.Default(c.name), c.settings).Build(training); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
