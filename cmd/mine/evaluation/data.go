package evaluation

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/eval/dataset"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/progress"
)

// NewData makes mine data.
func NewData() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data",
		Short: "Download published test sets by name",
		Args:  flags.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDataList(), newDataGet())
	return cmd
}

func newDataList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the sets with their licences, and whether their content is pinned",
		Args:  flags.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return listData(cmd.OutOrStdout()) },
	}
}

func listData(out io.Writer) error {
	sets, err := dataset.Sets()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "name\tfiles\tMB\tdigests\tlicence\twhat")
	for _, s := range sets {
		pinned, size := "pinned", fmt.Sprintf("%.1f", float64(s.Size())/1e6)
		if n := s.Unpinned(); n > 0 {
			pinned, size = fmt.Sprintf("%d of %d not pinned", n, len(s.Files)), "?"
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\n", s.Name, len(s.Files), size, pinned, s.Licence, s.About)
	}
	return table.Flush()
}

// dataOptions are the flags of mine data get.
type dataOptions struct {
	dir, mirror string
	sums        []string
	trustFirst  bool
}

func newDataGet() *cobra.Command {
	var o dataOptions
	cmd := &cobra.Command{
		Use:   "get NAME...",
		Short: "Download sets from their publishers",
		Long: `Download sets from their publishers' addresses and verify them. Existing files stay, and an interrupted
transfer is resumed. If mine data list says that a file is not pinned, its publisher gives no digest: give one with
--sha256, or accept the first download with --trust-first. Its digest is then recorded in SHA256SUMS beside it and
checked from then on. mine eval finds the sets where this command puts them.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDataGet(cmd.Context(), o, args, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "",
		"directory in which each set gets a directory of its own (default: data in the cache directory)")
	f.StringVar(&o.mirror, "mirror", "", "address to download from instead of the publisher's")
	f.StringArrayVar(&o.sums, "sha256", nil, "FILE=DIGEST for a file that is not pinned")
	f.BoolVar(&o.trustFirst, "trust-first", false, "accept files that are not pinned and record their digests")
	return program.GoesOn(cmd)
}

func runDataGet(ctx context.Context, o dataOptions, names []string, out io.Writer) error {
	if len(names) == 0 {
		return badinput.Errorf("mine data get: name a set; `mine data list` lists them")
	}
	if u, err := url.Parse(o.mirror); o.mirror != "" && (err != nil || u.Host == "") {
		return badinput.Errorf("--mirror %q is not an address; give one such as https://host/directory", o.mirror)
	}
	sums := make(map[string]string)
	for _, s := range o.sums {
		file, sum, ok := strings.Cut(s, "=")
		if !ok || len(sum) != 64 {
			return badinput.Errorf("--sha256 %q is not FILE=DIGEST with a digest of 64 hexadecimal digits", s)
		}
		sums[file] = strings.ToLower(sum)
	}
	var sets []dataset.Set
	for _, name := range names {
		set, err := dataset.Find(name)
		if err != nil {
			return err
		}
		sets = append(sets, set)
	}
	if err := checkSums(sums, sets); err != nil {
		return err
	}
	base, err := o.base()
	if err != nil {
		return err
	}
	for _, set := range sets {
		dir := filepath.Join(base, set.Name)
		fmt.Fprintf(out, "%s: %s\n  licence  %s\n  from     %s\n  digests  %s\n  to       %s\n", set.Name, set.About,
			set.Licence, set.Homepage, set.Digests, dir)
		if err := getSet(ctx, set, dir, dataset.Options{Mirror: o.mirror, SHA256: sums,
			TrustFirst: o.trustFirst}); err != nil {
			return err
		}
		fmt.Fprintf(out, "  complete and verified: %d files\n", len(set.Files))
	}
	return nil
}

// checkSums refuses digests of files that no set has, or that have a digest in the catalogue.
func checkSums(sums map[string]string, sets []dataset.Set) error {
	wanted := map[string]bool{} // whether a file of that name is not pinned
	for _, set := range sets {
		for _, f := range set.Files {
			wanted[f.Path] = wanted[f.Path] || !f.Pinned()
		}
	}
	for _, file := range slices.Sorted(maps.Keys(sums)) {
		if unpinned, found := wanted[file]; !found {
			return badinput.Errorf("--sha256 %s: none of the sets has a file of that name; correct it, or leave it out", file)
		} else if !unpinned {
			return badinput.Errorf("--sha256 %s: the file is pinned, and its own digest is checked; leave it out", file)
		}
	}
	return nil
}

// getSet downloads a set and shows the progress in bytes.
func getSet(ctx context.Context, set dataset.Set, dir string, opts dataset.Options) error {
	meter := progress.New(os.Stderr).Start("get "+set.Name, set.Size(), progress.Bytes)
	defer meter.Done()
	var file string
	var before int64
	opts.Progress = func(name string, done, _ int64) {
		if name != file || done < before {
			file, before = name, 0
		}
		meter.Add(done - before)
		before = done
	}
	return dataset.Get(ctx, set, dir, opts)
}

func (o dataOptions) base() (string, error) {
	if o.dir != "" {
		return o.dir, nil
	}
	cache, err := cacheDir()
	return filepath.Join(cache, "data"), err
}

// dataDirectory is the directory with the texts of a downloaded set.
func dataDirectory(name string) (string, error) {
	set, err := dataset.Find(name)
	if err != nil {
		return "", err
	}
	base, err := dataOptions{}.base()
	dir := filepath.Join(base, set.Name, set.Root)
	if _, statErr := os.Stat(dir); err == nil && statErr != nil {
		return "", badinput.Errorf("the set %s was not downloaded: run `mine data get %s`, or name your "+
			"own copy with --dir", name, name)
	}
	return dir, err
}

// cacheDir is where downloaded data lies: MINE_CACHE, or mine in the user's cache directory.
func cacheDir() (string, error) {
	if dir := os.Getenv("MINE_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", badinput.Errorf("there is no cache directory for data sets (%w): name a directory in MINE_CACHE, or with --dir", err)
	}
	return filepath.Join(dir, "mine"), nil
}
