package setting

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"bitextmine/configs"
	"bitextmine/internal/badinput"
)

// Declared is one setting with what its declaration and configs/default.yaml say of it.
type Declared struct {
	Key     string // its name in YAML
	Flag    string // its name less the dashes; empty: it has none
	Type    reflect.Type
	Default any    // its value as YAML gives it
	Doc     string // the comment above its default: its help
	Once    bool   // its flag may be given once
}

// List returns the settings that a group declares, or a struct that embeds groups, in the order of its fields.
func List[T any]() []Declared {
	var all []Declared
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		tag, ok := field.Tag.Lookup("setting")
		key, options, _ := strings.Cut(tag, ",")
		if !ok || key == "-" {
			continue
		}
		d := defaults()[key]
		d.Key, d.Type = key, field.Type
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "flag":
				d.Flag = strings.ReplaceAll(key, "_", "-")
			case "once":
				d.Once = true
			}
		}
		all = append(all, d)
	}
	return all
}

// defaults reads configs/default.yaml: by key, the default and the comment above it.
var defaults = sync.OnceValue(func() map[string]Declared {
	data, err := configs.Files.ReadFile("default.yaml")
	var file yaml.Node
	if err == nil {
		err = yaml.Unmarshal(data, &file)
	}
	if err != nil {
		panic(fmt.Sprintf("configs/default.yaml: %v", err)) // it is in the program
	}
	all := map[string]Declared{}
	pairs := file.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		d := Declared{Doc: comment(pairs[i].HeadComment)}
		if err := pairs[i+1].Decode(&d.Default); err != nil {
			panic(fmt.Sprintf("configs/default.yaml: %s: %v", pairs[i].Value, err))
		}
		all[pairs[i].Value] = d
	}
	return all
})

// comment is the text of a comment's last paragraph on one line: those before it are about several settings.
func comment(head string) string {
	paragraphs := strings.Split(strings.TrimSpace(head), "\n\n")
	var words []string
	for line := range strings.Lines(paragraphs[len(paragraphs)-1]) {
		words = append(words, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#")))
	}
	return strings.Join(words, " ")
}

// Problems lists the numbers of a group, or of a struct that embeds groups, that are outside the bounds of their tags.
func Problems(group any) []string {
	var problems []string
	values := reflect.ValueOf(group)
	for _, field := range reflect.VisibleFields(values.Type()) {
		low, hasLow := bound(field, "min")
		high, hasHigh := bound(field, "max")
		if !hasLow && !hasHigh {
			continue
		}
		key, _, _ := strings.Cut(field.Tag.Get("setting"), ",")
		value := values.FieldByIndex(field.Index)
		number := value.Convert(reflect.TypeFor[float64]()).Float()
		inside := (!hasLow || number >= low) && (!hasHigh || number <= high) // a NaN is not
		switch {
		case inside:
		case hasLow && hasHigh:
			problems = append(problems, fmt.Sprintf("%s = %v must be from %v to %v", key, value, low, high))
		case hasLow:
			problems = append(problems, fmt.Sprintf("%s = %v must be at least %v", key, value, low))
		default:
			problems = append(problems, fmt.Sprintf("%s = %v must be at most %v", key, value, high))
		}
	}
	return problems
}

// Refusal is the error of settings with problems, and nil without any.
func Refusal(problems []string) error {
	return badinput.Problems(problems).Err("settings: ")
}

// bound is the number that a tag gives.
func bound(field reflect.StructField, tag string) (number float64, ok bool) {
	text, ok := field.Tag.Lookup(tag)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("setting %s: the tag %s is no number: %q", field.Name, tag, text))
	}
	return number, true
}

// units are the suffixes that ParseBytes accepts: powers of 1000 and of 1024.
var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"B", 1},
}

// ParseBytes reads a number of bytes such as 1500000, 512MiB, 1.5 GiB or 4GB; empty is 0.
func ParseBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	number, scale := text, 1.0
	for _, unit := range units {
		if rest, ok := strings.CutSuffix(text, unit.name); ok {
			number, scale = rest, unit.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n*scale >= 1 && n*scale <= 1<<60) { // a NaN is neither
		return 0, errors.New("give bytes, or a number with kB, MB, GB, TB, KiB, MiB, GiB or TiB, such as 4GiB")
	}
	return int64(n * scale), nil
}
