package flags

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/textfile"
	"bitextmine/pipeline/record"
)

// Outputs are the values of flags that name what a command writes, so that it is refused before the work if it cannot
// be written.
type Outputs string

// The kinds of outputs.
const (
	Replaced Outputs = "replaced" // a file, which must be none of those that are read
	Text     Outputs = "text"     // the same, compressed as its ending says
	Updated  Outputs = "updated"  // a file that may be read, too
	Folder   Outputs = "folder"
	Filled   Outputs = "filled" // a folder that files are written into, where others stay
)

const outputAnnotation = "mine_output"

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// Mark says that the values of flags are outputs of the kind.
func (o Outputs) Mark(f *pflag.FlagSet, names ...string) {
	annotate(f, outputAnnotation, string(o), names)
}

// OutputOf returns the kind of a flag's outputs; "": it names none.
func OutputOf(f *pflag.Flag) Outputs {
	if kinds := f.Annotations[outputAnnotation]; len(kinds) > 0 {
		return Outputs(kinds[0])
	}
	return ""
}

// CheckOutputs refuses outputs that cannot be written, and files to be replaced that another flag or an argument names:
// by name, by a pattern, or as a run's bitext. What is in a folder of text only the command finds.
func CheckOutputs(cmd *cobra.Command, args []string) (err error) {
	outputs := map[string]string{} // flags by the files that they name
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		path, kind := f.Value.String(), OutputOf(f)
		if err != nil || path == "" || kind == "" {
			return
		}
		file := absolute(path)
		if other, taken := outputs[file]; taken && kind != Folder && kind != Filled {
			if err = RefuseSame(other, file, f.Name, path); err != nil {
				return
			}
		}
		outputs[file] = f.Name
		switch kind {
		case Folder:
			err = atomicfile.WritableDir(path)
		case Filled:
			err = atomicfile.WritableWithin(path)
		case Updated:
			err = cmp.Or(atomicfile.Writable(path), record.RefuseOwn(path))
		case Replaced:
			err = cmp.Or(textfile.RefuseCompression(path), replaceable(cmd, args, path))
		case Text:
			if _, err = textfile.Compression(path); err == nil {
				err = replaceable(cmd, args, path)
			}
		}
		if err != nil {
			err = badinput.Errorf("--%s: %w", f.Name, err)
		}
	})
	return err
}

// RefuseSame refuses two flags that name the same file to write. Both may be a device, such as /dev/stdout.
func RefuseSame(one, file, other, path string) error {
	if file == "" || absolute(file) != absolute(path) || strings.HasPrefix(path, "/dev/") {
		return nil
	}
	return badinput.Errorf("--%s and --%s name the same file %s: give each its own", one, other, path)
}

func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

func replaceable(cmd *cobra.Command, args []string, path string) error {
	if err := atomicfile.Writable(path); err != nil {
		return err
	}
	if err := record.RefuseOwn(path); err != nil {
		return err
	}
	return atomicfile.RefuseInput(path, named(cmd, args)...)
}

// named are the files that arguments and flags name, other than outputs.
func named(cmd *cobra.Command, args []string) (files []string) {
	values := slices.Clone(args)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = append(values, list.GetSlice()...)
		} else if OutputOf(f) == "" {
			values = append(values, f.Value.String())
		}
	})
	for _, value := range values {
		value = placeholder.ReplaceAllString(value, "*") // such as labse.{pair}.npy
		_, file, _ := strings.Cut(value, "=")            // such as de=news.de
		for _, name := range []string{value, file} {
			matches, _ := filepath.Glob(name) // a bad pattern matches nothing
			files = append(append(files, name), matches...)
		}
		if info, err := os.Stat(value); err == nil && info.IsDir() {
			if bitext, err := record.BitextAt(value); err == nil {
				files = append(files, bitext)
			}
		}
	}
	return files
}
