package flags

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"gopkg.in/yaml.v3"

	"bitextmine/configs"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spelling"
	"bitextmine/internal/yamlbound"
	"bitextmine/pipeline"
	"bitextmine/pipeline/setting"
)

// envPrefix begins the environment variables that are settings.
const envPrefix = "MINE_"

// ByDefault is the origin of a value that nothing sets.
const ByDefault = "default"

// otherEnv are the variables under the prefix that are not settings.
var otherEnv = []string{"MINE_CACHE", "MINE_PJRT_CUDA", "MINE_TEST_", "MINE_BENCH_"}

// Layered is a setting's value and where it came from.
type Layered struct {
	Key    string
	Value  any
	Origin string
}

// mergeLayers puts presets over the defaults, the environment over those, and the flags of the bound settings over all.
// It returns the configuration and its values in the order of pipeline.Config. With an error both are those of the
// settings that are right.
func mergeLayers(presets []string, flags *pflag.FlagSet,
	bound []setting.Declared) (*pipeline.Config, []Layered, error) {
	v := viper.New()
	from, failure := mergePresets(v, presets)
	warnUnknownEnv()
	var values []Layered
	for _, s := range All {
		origin := ByDefault
		if preset, ok := from[s.Key]; ok {
			origin = preset
		}
		env := envPrefix + strings.ToUpper(s.Key)
		if value := os.Getenv(env); value != "" {
			origin = "environment " + env
			if err := checkValue(s, value); err != nil {
				failure = cmp.Or(failure, badinput.Errorf("environment: %s %w", env, err))
				continue
			}
		}
		if err := v.BindEnv(s.Key, env); err != nil {
			return nil, nil, err
		}
		if _, ok := find(bound, s.Key); ok && s.Flag != "" {
			flag := flags.Lookup(s.Flag)
			if flag.Changed {
				origin = "flag --" + flag.Name
			}
			if err := v.BindPFlag(s.Key, flag); err != nil {
				return nil, nil, err
			}
		}
		values = append(values, Layered{Key: s.Key, Origin: origin, Value: v.Get(s.Key)})
	}
	var cfg pipeline.Config
	if err := v.UnmarshalExact(&cfg, viper.DecodeHook(splitLists), asDeclared); err != nil {
		return &cfg, values, cmp.Or(failure, badinput.Errorf("settings: %s", oneLine(err)))
	}
	corpora, err := byLanguage(cfg.Corpora) // again, as merging has put the names in lower case
	if err != nil {
		failure = cmp.Or(failure, badinput.Errorf("settings: corpora: %w", err))
	}
	cfg.Corpora = corpora
	for i := range values { // no encoder made vectors of another program unless one is named
		if one := &values[i]; one.Key == "encoder" && one.Origin == ByDefault && cfg.HasVectors() {
			one.Value, cfg.Encoder = "", ""
		}
	}
	return &cfg, values, failure
}

// asDeclared finds settings by the tags of their declarations, in the groups of the configuration.
func asDeclared(c *mapstructure.DecoderConfig) { c.TagName, c.Squash = "setting", true }

// mergePresets puts presets over the defaults, and returns which of them a setting comes from. What is right of one
// that is wrong is merged, too.
func mergePresets(v *viper.Viper, presets []string) (from map[string]string, failure error) {
	from = map[string]string{}
	for i, name := range append([]string{"default"}, presets...) {
		values, err := readPreset(name)
		failure = cmp.Or(failure, err)
		if err := v.MergeConfigMap(values); err != nil {
			failure = cmp.Or(failure, badinput.Errorf("config %s: %w", name, err))
		}
		for key := range values {
			if i > 0 {
				from[key] = "config " + name
			}
		}
	}
	return from, failure
}

// OfRun reports whether a file has settings of a run and nothing else.
func OfRun(path string) bool {
	values, err := readPreset(path)
	return err == nil && len(values) > 0
}

// readPreset reads a preset of the program by name, or a YAML file by path. With an error it returns the settings that
// are right.
func readPreset(name string) (map[string]any, error) {
	data, err := fs.ReadFile(configs.Files, name+".yaml")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		data, err = readPresetFile(name)
	}
	if badinput.Is(err) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	if err != nil {
		return nil, badinput.Errorf("config %s is neither a preset (%s) nor a file that can be read: %w",
			name, presetNames(), err)
	}
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(strings.NewReader(string(data))); err != nil {
		return nil, notYAML(name, data, err)
	}
	values := v.AllSettings()
	if err := addEmpty(values, data); err != nil {
		return nil, notYAML(name, data, err)
	}
	if err := badinput.Problems(checkValues(values)).Err("config " + name + ": "); err != nil {
		return values, err
	}
	if corpora, ok := values["corpora"].(map[string]any); ok {
		if values["corpora"], err = byLanguage(corpora); err != nil {
			delete(values, "corpora")
			return values, badinput.Errorf("config %s: corpora: %w", name, err)
		}
	}
	return values, nil
}

// noColon matches the line of a setting without the colon and the blank behind its name.
var noColon = regexp.MustCompile(`^[A-Za-z_]+(\s+[^\s:]|:\S)`)

// notYAML is the error of a config that cannot be read. The decoder's is about a later line than one without a colon.
func notYAML(name string, data []byte, err error) error {
	number := 0
	for line := range strings.Lines(string(data)) {
		if number++; noColon.MatchString(line) {
			return badinput.Errorf("config %s is not YAML: line %d is %.60q; write NAME: VALUE", name, number, strings.TrimSpace(line))
		}
	}
	return badinput.Errorf("config %s is not YAML: %s", name, oneLine(err))
}

// addEmpty adds the keys of a config that have no value, or an empty map, which viper leaves out: they may be misspelt.
// It also puts back what viper would change.
func addEmpty(values map[string]any, data []byte) error {
	var all map[string]any
	if err := yaml.Unmarshal(data, &all); err != nil {
		return err
	}
	for key, value := range all {
		key = strings.ToLower(key)
		_, there := values[key]
		if _, known := find(All, key); !there && (value != nil || !known) {
			values[key] = value
		}
		if _, mapping := value.(map[string]any); mapping && key == podKey {
			values[key] = asText(value)
		}
	}
	return nil
}

// podKey is the setting whose value may be a mapping that is kept as text, as its keys are not in lower case.
const podKey = "kubernetes_pod"

// asText is a value as YAML: JSON, where that can be.
func asText(value any) string {
	data, err := json.Marshal(value)
	if err != nil { // a key that is no text
		if data, err = yaml.Marshal(value); err != nil {
			return fmt.Sprint(value)
		}
	}
	return string(data)
}

// readPresetFile reads a preset that is a file of the user's.
func readPresetFile(path string) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return yamlbound.Read(f, "config "+path)
}

// byLanguage names corpora by the canonical codes of their languages, which a run uses: viper puts keys in lower case,
// and a config may say deu or zho_Hant. It is called before merging, so that deu replaces de.
func byLanguage[T any](corpora map[string]T) (map[string]T, error) {
	named, keys := map[string]T{}, map[string]string{}
	for key, value := range corpora {
		language, err := corpus.ParseLanguage(key)
		if err != nil {
			return nil, err
		}
		if other, twice := keys[language]; twice {
			return nil, fmt.Errorf("%s and %s are the same language; list its files once", min(key, other), max(key, other))
		}
		named[language], keys[language] = value, key
	}
	return named, nil
}

// checkValues lists the settings that are not known and those whose value does not fit, and takes them out.
func checkValues(values map[string]any) (wrong []string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		s, ok := find(All, key)
		if !ok {
			wrong = append(wrong, unknownSetting(key))
		} else if err := checkValue(s, values[key]); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s %v", key, err))
		} else {
			continue
		}
		delete(values, key)
	}
	return wrong
}

// unknownSetting says that there is no setting of a key, and which was probably meant.
func unknownSetting(key string) string {
	keys := make([]string, len(All))
	for i, s := range All {
		keys[i] = s.Key
	}
	if meant := spelling.Close(key, keys); meant != "" {
		return fmt.Sprintf("setting %q is not known (is %s meant?)", key, meant)
	}
	return fmt.Sprintf("setting %q is not known, `mine config` lists the settings", key)
}

// checkValue returns an error if a value of a config or of the environment does not fit a setting. Without it a
// fraction would be rounded down and a list of the wrong shape ignored.
func checkValue(s setting.Declared, value any) error {
	text := fmt.Sprint(value)
	_, isText := value.(string)
	wrong := func(wanted string) error {
		shown, err := json.Marshal(value)
		if err != nil {
			shown = []byte(text)
		}
		return fmt.Errorf("is %s but must be %s", shown, wanted)
	}
	switch s.Type.Kind() {
	case reflect.Int:
		if _, err := strconv.Atoi(text); err != nil {
			return wrong("a whole number")
		}
	case reflect.Float64:
		if n, err := strconv.ParseFloat(text, 64); err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return wrong("a number")
		}
	case reflect.Bool:
		if _, ok := value.(bool); !ok {
			if _, err := strconv.ParseBool(text); err != nil || !isText {
				return wrong("true or false")
			}
		}
	case reflect.String:
		if !isScalar(value) {
			return wrong("a text")
		}
	case reflect.Slice:
		if !isText && !isTexts(value) {
			return wrong("a list of texts")
		}
	case reflect.Map:
		lists, ok := value.(map[string]any)
		for _, list := range lists {
			_, one := list.(string)
			ok = ok && (one || isTexts(list))
		}
		if !ok {
			return wrong("lists of texts by name")
		}
	}
	return nil
}

func isScalar(value any) bool {
	switch value.(type) {
	case string, int, float64:
		return true
	}
	return false
}

func isTexts(value any) bool {
	list, ok := value.([]any)
	return ok && !slices.ContainsFunc(list, func(member any) bool { return !isScalar(member) })
}

// warnUnknownEnv warns of variables with the prefix that are not settings, such as misspelt ones.
func warnUnknownEnv() {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		key, ok := strings.CutPrefix(name, envPrefix)
		if _, known := find(All, strings.ToLower(key)); !ok || known ||
			slices.ContainsFunc(otherEnv, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		slog.Warn("the environment variable is no setting; `mine config` lists the settings", "name", name)
	}
}

// splitLists reads a list from one environment variable, separated as in PATH.
func splitLists(from, to reflect.Type, value any) (any, error) {
	if from.Kind() == reflect.String && to == reflect.TypeFor[[]string]() {
		return filepath.SplitList(value.(string)), nil
	}
	return value, nil
}

func presetNames() string {
	entries, err := configs.Files.ReadDir(".")
	if err != nil {
		panic(err) // embedded
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	return strings.Join(names, ", ")
}

// All are the settings of a run in the order of pipeline.Config.
var All = setting.List[pipeline.Config]()

// find returns the setting of a key.
func find(settings []setting.Declared, key string) (setting.Declared, bool) {
	i := slices.IndexFunc(settings, func(s setting.Declared) bool { return s.Key == key })
	if i < 0 {
		return setting.Declared{}, false
	}
	return settings[i], true
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
