package objective

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

// decode reads strictly, as presets are read.
func decode(t *testing.T, text string) (Settings, error) {
	t.Helper()
	var s Settings
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	return s, d.Decode(&s)
}

func TestDefaultsOfEachNameAreValid(t *testing.T) {
	for _, name := range Names() {
		s, err := decode(t, "name: "+name)
		if err != nil {
			t.Fatal(err)
		}
		if s.NeedsTeacher() {
			s.Teacher = fixtures.Encoder
		}
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !slices.IsSorted(Names()) {
		t.Errorf("Names are %v, not in order", Names())
	}
}

func TestPresetChangesDefaults(t *testing.T) {
	s, err := decode(t, "name: ems\ntemperature: 0.2\nmlp: false\nreconstruction: none\n")
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults("ems")
	want.Temperature, want.MLP, want.Reconstruction = 0.2, false, NoReconstruction
	if s.Temperature != 0.2 || s.MLP || s.Reconstruction != NoReconstruction || !s.Contrastive || s.MLPDim != 128 {
		t.Errorf("got %+v, want %+v", s, want)
	}
	if _, err := decode(t, "name: ems\ntemprature: 1\n"); err == nil {
		t.Error("an unknown field was taken")
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
	s := Defaults("contrastive")
	if err := yaml.Unmarshal([]byte("margin: 0.3"), &s); err != nil {
		t.Fatal(err)
	}
	if s.Name != "contrastive" || s.Temperature != 0.05 || s.Margin != 0.3 {
		t.Errorf("got %+v", s)
	}
}

func TestValidateReportsEverything(t *testing.T) {
	for _, c := range []struct {
		yaml string
		want []string // each in the error
	}{
		{"name: ems2", []string{`"ems2"`, "contrastive, ems, imascl"}},
		{"temperature: 1", []string{`objective.name is ""`}},
		{"name: contrastive\ntemperature: 0\nmargin: 2\nnegatives: 3\nteacher: x", []string{"temperature is 0", "margin is 2", "negatives means nothing", "teacher means nothing"}},
		{"name: ems\ncontrastive: false\nreconstruction: none", []string{"neither"}},
		{"name: ems\nreconstruction: bow\nmlp_dim: 0\nlanguage_dim: -1\none_way: true", []string{`"bow"`, "mlp_dim is 0", "one_way is not"}},
		{"name: ems\nlanguage_dim: 0", []string{"language_dim is 0"}},
		{"name: labse-mlp\nshared_embedding: true", []string{"shared_embedding is for"}},
		{"name: imascl\nlabel: hard\ntcm: true\nanchors: [en, en, '!']", []string{`label is "hard"`, "cross_weight is 0", "teacher is empty", "en twice", "anchors[2]"}},
		{"name: imascl\nteacher: x\ncross_weight: 0.1", []string{"cross_weight is for tcm"}},
		{"name: mse-distill\nteacher: x\ntemperature: 1\ntcm: true", []string{"temperature means nothing", "tcm means nothing"}},
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

func TestNewWantsWhatTheTrainerKnows(t *testing.T) {
	for name, want := range map[string]string{"ems": "no vocabulary", "imascl": "no teacher", "mse-distill": "no languages"} {
		s := Defaults(name)
		if s.NeedsTeacher() {
			s.Teacher = "x"
		}
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	all := readGolden(t)
	s := Defaults("mse-distill")
	s.Teacher, s.Languages, s.Vectors, s.Dim = "x", all.Languages, goldenTeacher{all}, all.Dim+1
	if _, err := New(s); !badinput.Is(err) {
		t.Errorf("a teacher of other vectors: error %v, want badinput", err)
	}
	s = Defaults("ems")
	s.Vocabulary, s.Languages, s.SharedEmbedding, s.Special = 5, all.Languages, true, []int32{5}
	_, err := New(s)
	for _, part := range []string{"token 5", "the encoder's table"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}
}
