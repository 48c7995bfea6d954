package setting

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"bitextmine/configs"
)

// Declared is one setting with what its declaration and configs/default.yaml say of it.
type Declared struct {
	Key     string // in YAML
	Flag    string // without its dashes; empty: it has none
	Type    reflect.Type
	Default any    // as YAML gives it
	Doc     string // the comment above its default: its help
}

// List returns the settings that a group declares, or a struct that embeds groups, in the order of its fields.
func List[T any]() []Declared {
	var all []Declared
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		tag, ok := field.Tag.Lookup("setting")
		key, option, _ := strings.Cut(tag, ",")
		if !ok || key == "-" {
			continue
		}
		d := defaults()[key]
		d.Key, d.Type = key, field.Type
		if option == "flag" {
			d.Flag = strings.ReplaceAll(key, "_", "-")
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
