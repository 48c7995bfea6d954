package flags

import (
	"slices"

	"github.com/spf13/pflag"

	"bitextmine/pipeline/setting"
)

// AllHelp is the flag that shows the help of every flag of a command with many.
const AllHelp = "help-all"

// Group is a section of the help of a command with many flags.
type Group string

// The groups of a run's settings.
const (
	TextIn    Group = "Text in"
	Documents Group = "Documents"
	Encoder   Group = "Encoder"
	Search    Group = "Search"
	Decision  Group = "Decision"
	Output    Group = "Output"
	Machine   Group = "Machine"
)

// Groups are the groups of a run's settings in the order of the help.
var Groups = []Group{TextIn, Documents, Encoder, Search, Decision, Output, Machine}

// The annotations that a flag carries to the help.
const (
	groupAnnotation = "mine_group"
	firstAnnotation = "mine_first"
)

// Add puts flags into the group. Only --help-all shows them.
func (g Group) Add(f *pflag.FlagSet, names ...string) { annotate(f, groupAnnotation, string(g), names) }

// AddFirst puts flags into the group that --help shows too.
func (g Group) AddFirst(f *pflag.FlagSet, names ...string) {
	g.Add(f, names...)
	annotate(f, firstAnnotation, "true", names)
}

func annotate(f *pflag.FlagSet, key, value string, names []string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, key, []string{value}); err != nil {
			panic(err) // the command has just registered the flag
		}
	}
}

// GroupOf returns the group of a flag, and whether --help shows it. A flag without a group is in "".
func GroupOf(f *pflag.Flag) (group Group, first bool) {
	if names := f.Annotations[groupAnnotation]; len(names) > 0 {
		group = Group(names[0])
	}
	return group, f.Annotations[firstAnnotation] != nil
}

// placements give the settings their groups by the structs that declare them, and name those that --help shows.
var placements = []struct {
	group    Group
	settings []setting.Declared
	first    []string
}{
	{TextIn, slices.Concat(setting.List[setting.Languages](), setting.List[setting.Input](), setting.List[setting.Many](),
		setting.List[setting.Text](), setting.List[setting.Dividing](), setting.List[setting.Sides]()),
		[]string{"src", "tgt", "src_text", "tgt_text", "langs", "text", "text_column"}},
	{Documents, setting.List[setting.Aligning](), nil},
	{Encoder, slices.Concat(setting.List[setting.Encoding](), setting.List[setting.Refining](),
		setting.List[setting.Given](),
		setting.List[setting.Vectors]()), []string{"encoder", "refine"}},
	{Search, setting.List[setting.Searching](), nil},
	{Decision, slices.Concat(setting.List[setting.Decision](), setting.List[setting.Judging](), setting.List[setting.Checks]()),
		[]string{"scorer", "threshold", "precision"}},
	{Output, slices.Concat(setting.List[setting.Output](), setting.List[setting.Nights]()), []string{"out", "overwrite"}},
	{Machine, slices.Concat(setting.List[setting.Resources](), setting.List[setting.Scheduling]()),
		[]string{"threads", "device"}},
}

// place puts the flag of a setting into its group.
func place(f *pflag.FlagSet, s setting.Declared) {
	for _, p := range placements {
		if _, ok := find(p.settings, s.Key); !ok {
			continue
		}
		if slices.Contains(p.first, s.Key) {
			p.group.AddFirst(f, s.Flag)
		} else {
			p.group.Add(f, s.Flag)
		}
	}
}
