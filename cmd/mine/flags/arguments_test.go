package flags

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"bitextmine/internal/badinput"
)

func TestGatherLists(t *testing.T) {
	root := &cobra.Command{Use: "mine"}
	run, align := &cobra.Command{Use: "run", Run: func(*cobra.Command, []string) {}}, &cobra.Command{Use: "align", Run: func(*cobra.Command, []string) {}}
	for _, name := range listFlags {
		run.Flags().StringSlice(name[2:], nil, "")
		align.Flags().String(name[2:], "", "")
	}
	root.AddCommand(run, align)
	for _, c := range []struct{ name, in, want string }{
		{"one word", "run --src-text a --k 4", "run --src-text a --k 4"},
		{"a shell's glob", "run --src-text a b c --tgt-text d e --k 4",
			"run --src-text a --src-text b --src-text c --tgt-text d --tgt-text e --k 4"},
		{"repeated", "run --src-text a --src-text b", "run --src-text a --src-text b"},
		{"with =", "run --src-text=a b", "run --src-text=a b"},
		{"no word", "run --src-text", "run --src-text"},
		{"then a flag", "run --src-text --k 4", "run --src-text --k 4"},
		{"other flags keep their word", "run --out o x", "run --out o x"},
		{"a flag of one word", "align --src-text a b --tgt-text c d", "align --src-text a b --tgt-text c d"},
		{"no such command", "runn --src-text a b", "runn --src-text a b"},
		{"nothing after --", "run --src-text a -- b", "run --src-text a -- b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := GatherLists(root, strings.Fields(c.in)); !slices.Equal(got, strings.Fields(c.want)) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestLanguageFile(t *testing.T) {
	if language, path, err := LanguageFile("deu=a=b"); err != nil || language != "de" || path != "a=b" {
		t.Errorf("got %q, %q, %v", language, path, err)
	}
	for value, says := range map[string]string{"de": "is not LANGUAGE=FILE", "de=": "is not LANGUAGE=FILE",
		"zz=a": `--text zz=a: language "zz": not a known code`} {
		if _, _, err := LanguageFile(value); !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want bad input with %q", value, err, says)
		}
	}
}

func TestLanguages(t *testing.T) {
	for _, c := range []struct{ source, target, want, says string }{
		{"deu", "eng_Latn", "de en", ""},
		{"", "en", "", "mine x: name both languages"},
		{"de", "", "", "mine x: name both languages"},
		{"de", "nolanguage", "", "nolanguage"},
		{"de", "deu_Latn", "", "both de"},
	} {
		got, err := TwoLanguages("mine x", c.source, c.target)
		if c.says != "" {
			if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q and %q: got %v, want bad input with %q", c.source, c.target, err, c.says)
			}
			continue
		}
		if err != nil || strings.Join(got[:], " ") != c.want {
			t.Errorf("%q and %q: got %v, %v, want %s", c.source, c.target, got, err, c.want)
		}
	}
	if got, err := Languages("", "fra"); err != nil || got != [2]string{"", "fr"} {
		t.Errorf("without a source language: got %q, %v", got, err)
	}
}
