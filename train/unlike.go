package train

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// unlike names the first settings in which a preset's file differs from this one, with both values; it is empty where
// that cannot be told.
func (c *Config) unlike(file string) string {
	var before, now map[string]any
	text, err := os.ReadFile(file)
	if err != nil || yaml.Unmarshal(text, &before) != nil {
		return ""
	}
	if text, err = yaml.Marshal(c); err != nil || yaml.Unmarshal(text, &now) != nil {
		return ""
	}
	for _, name := range changesNothing {
		delete(before, name)
		delete(now, name)
	}
	all := differences("", before, now)
	const most = 3
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("%d more", len(all)-most))
	}
	return " (" + strings.Join(all, "; ") + ")"
}

// differences lists the settings below one whose values differ.
func differences(at string, before, now any) (all []string) {
	a, ok := before.(map[string]any)
	b, also := now.(map[string]any)
	if !ok || !also {
		if reflect.DeepEqual(before, now) {
			return nil
		}
		return []string{fmt.Sprintf("%s was %v and is %v", strings.TrimPrefix(at, "."), before, now)}
	}
	both := maps.Clone(a)
	maps.Copy(both, b)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		all = append(all, differences(at+"."+key, a[key], b[key])...)
	}
	return all
}
