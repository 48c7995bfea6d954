package objective

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/internal/badinput"
)

// Section is the objective section of a training preset: one YAML mapping with the name of an objective and its
// settings.
type Section struct {
	Name     string
	Settings Settings // settings of the Descriptor with that name; nil if there is none
	foreign  []string // keys of other objectives
}

// Default is the section of a preset that only names the objective.
func Default(name string) Section {
	s := Section{Name: name}
	if d, ok := descriptors[name]; ok {
		s.Settings = d.Settings()
	}
	return s
}

// With returns the section with some settings changed, by their keys in a preset.
func (s Section) With(settings map[string]any) (Section, error) {
	fields := map[string]any{}
	text, err := yaml.Marshal(s)
	if err == nil {
		err = yaml.Unmarshal(text, &fields)
	}
	if err != nil {
		return s, err
	}
	for key, value := range settings {
		fields[key] = value
	}
	if text, err = yaml.Marshal(fields); err != nil {
		return s, err
	}
	out := Section{}
	return out, yaml.Unmarshal(text, &out)
}

// UnmarshalYAML starts from the defaults of the named objective; if no name is written, from those of s's own. A key
// that no objective has is an error; one that only another objective has is reported by Validate.
func (s *Section) UnmarshalYAML(node *yaml.Node) error {
	var fields map[string]yaml.Node
	if err := node.Decode(&fields); err != nil {
		return err
	}
	name := s.Name
	if written, ok := fields["name"]; ok {
		if err := written.Decode(&name); err != nil {
			return err
		}
		delete(fields, "name")
	}
	*s = Default(name)
	if s.Settings == nil {
		return nil // Validate reports the name
	}
	own := &yaml.Node{Kind: yaml.MappingNode, Line: node.Line, Column: node.Column}
	for key, value := range fields {
		switch {
		case slices.Contains(keysOf(s.Settings), key):
			own.Content = append(own.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key, Line: value.Line}, &value)
		case !knownKey(key):
			return fmt.Errorf("line %d: field %s not found in the objective %s", value.Line, key, name)
		default:
			s.foreign = append(s.foreign, key)
		}
	}
	slices.Sort(s.foreign)
	return own.Decode(s.Settings)
}

// MarshalYAML writes the name and the settings as one mapping.
func (s Section) MarshalYAML() (any, error) {
	var fields yaml.Node
	if err := fields.Encode(s.Settings); err != nil {
		return nil, err
	}
	name := []*yaml.Node{{Kind: yaml.ScalarNode, Value: "name"}, {Kind: yaml.ScalarNode, Value: s.Name}}
	return &yaml.Node{Kind: yaml.MappingNode, Content: append(name, fields.Content...)}, nil
}

// Needs are the objective's requirements of a training. They are empty if no objective has the name.
func (s Section) Needs() Needs {
	if s.Settings == nil {
		return Needs{}
	}
	return s.Settings.Needs()
}

// Validate reports all problems in one badinput error.
func (s Section) Validate() error {
	if s.Settings == nil {
		return badinput.Errorf("objective.name is %q: take one of %s", s.Name, strings.Join(Names(), ", "))
	}
	var wrong badinput.Problems
	for _, key := range s.foreign {
		wrong.Unless(false, "objective.%s is not a setting of %s: remove it", key, s.Name)
	}
	s.Settings.Validate(wrong.Unless)
	return wrong.Err("")
}

// knownKey reports whether any objective has a setting of that name.
func knownKey(key string) bool {
	for _, d := range descriptors {
		if slices.Contains(keysOf(d.Settings()), key) {
			return true
		}
	}
	return false
}

// keysOf are the keys of settings in a preset.
func keysOf(s Settings) []string { return keys(reflect.TypeOf(s).Elem()) }

func keys(of reflect.Type) (all []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			all = append(all, keys(field.Type)...)
		case name != "" && name != "-":
			all = append(all, name)
		}
	}
	return all
}

// Words tells which tokens are words.
type Words []bool // [vocabulary]: false for special tokens

// Words are all tokens of the vocabulary that are not special.
func (t Training) Words() Words {
	words := make(Words, t.Vocabulary)
	for id := range words {
		words[id] = true
	}
	for _, id := range t.Special {
		words[id] = false
	}
	return words
}

// Has reports whether a token is a word. A token that is not in the vocabulary is none.
func (w Words) Has(id int32) bool { return id >= 0 && int(id) < len(w) && w[id] }

// Places are the places of a sentence's words, in order.
func (w Words) Places(sentence []int32) (places []int) {
	for p, id := range sentence {
		if w.Has(id) {
			places = append(places, p)
		}
	}
	return places
}

// grains is into how many parts RoundUp divides.
const grains = 16

// RoundUp is the number of rows, at least 1, of an input that has count rows in use and could have most: count, rounded
// up to a sixteenth of most. A graph is compiled for each number of rows.
func RoundUp(count, most int) int {
	grain := max(1, most/grains)
	return (max(1, count) + grain - 1) / grain * grain
}
