package objective

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// plain are settings without problems and needs.
type plain struct {
	Objective `yaml:"-"`
	Size      int `yaml:"size"`
	Internal  int
}

func (*plain) Validate(Check)                      {}
func (*plain) Needs() Needs                        { return Needs{} }
func (p *plain) Build(Training) (Objective, error) { return p, nil }

func newPlain() Settings { return &plain{Size: 1} }

// TestRegisterRefuses a name that is taken, and descriptors that are not complete.
func TestRegisterRefuses(t *testing.T) {
	want := append(Names(), "plain")
	slices.Sort(want)
	Register(Descriptor{"plain", newPlain})
	defer delete(descriptors, "plain")
	for what, d := range map[string]Descriptor{"twice": {"plain", newPlain}, "without a name": {"", newPlain}, "without settings": {"other", nil}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a descriptor %s was registered", what)
				}
			}()
			Register(d)
		}()
	}
	if got := Names(); !slices.Equal(got, want) {
		t.Errorf("the objectives %v are registered, want %v", got, want)
	}
}

// TestBuildWantsSizes: each of a training's sizes may be 1 and not 0.
func TestBuildWantsSizes(t *testing.T) {
	section := Section{Name: "plain", Settings: newPlain()}
	for want, training := range map[string]Training{
		"":                   {Dim: 1, Width: 1, Vocabulary: 1, Languages: []string{"en"}},
		"vectors have 0":     {Dim: 0, Width: 1, Vocabulary: 1, Languages: []string{"en"}},
		"those of tokens 0":  {Dim: 1, Width: 0, Vocabulary: 1, Languages: []string{"en"}},
		"a vocabulary of 0 ": {Dim: 1, Width: 1, Vocabulary: 0, Languages: []string{"en"}},
		"and 0 languages":    {Dim: 1, Width: 1, Vocabulary: 1},
	} {
		_, err := section.Build(training)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v, want %q", training, err, want)
		}
	}
}

// TestKeys: fields without a key, and those that presets do not have, are no settings.
func TestKeys(t *testing.T) {
	if got := keys(reflect.TypeFor[plain]()); !slices.Equal(got, []string{"size"}) {
		t.Errorf("the keys are %v", got)
	}
}
