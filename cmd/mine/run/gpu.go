package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/encode/gpu"

	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
	"bitextmine/pipeline/progress"
)

// NewGPU makes mine gpu.
func NewGPU() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gpu",
		Short: "Fetch what encoding on NVIDIA GPUs needs",
		Args:  flags.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGPUSetup())
	return cmd
}

func newGPUSetup() *cobra.Command {
	version, index := 0, ""
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Fetch ONNX Runtime for GPUs and the CUDA libraries that it needs",
		Long: `Fetch ONNX Runtime for GPUs and the CUDA libraries that it needs (1.2 to 2 GB) into the user's cache, where
--device cuda finds them. They are wheels of the Python package index, each verified by a digest that is in the
program; no Python is needed. A transfer that was interrupted is resumed. PIP_INDEX_URL names another index,
HTTPS_PROXY the proxy. mine doctor --device cuda then says whether anything else is missing.`,
		Example: `  mine gpu setup
  mine gpu setup --cuda 12    # on a machine without a GPU, for one whose driver is of before 580`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runtime.GOARCH != "amd64" {
				return badinput.Errorf("there is no ONNX Runtime for GPUs on %s to fetch: build one, and name its "+
					"libonnxruntime.so in MINE_ONNXRUNTIME", runtime.GOARCH)
			}
			return runGPUSetup(cmd.Context(), version, index, cmd.OutOrStdout())
		},
	}
	cmd.Flags().IntVar(&version, "cuda", 0, "major version of CUDA: 12 or 13 (default: the newest that the driver supports)")
	cmd.Flags().StringVar(&index, "index", "",
		"Python package index with the simple API (default: PIP_INDEX_URL, or PyPI)")
	return cmd
}

// chosenSet is the set of a version of CUDA, or the one that suits the driver.
func chosenSet(version int) (gpu.WheelSet, error) {
	if version != 0 {
		return gpu.Set(version)
	}
	driver, err := cuda.OpenDriver()
	if err != nil && driver.CUDA == 0 {
		return gpu.WheelSet{}, badinput.Errorf("%w; or name the CUDA of another machine with --cuda", err)
	}
	return gpu.Suited(driver)
}

func runGPUSetup(ctx context.Context, version int, index string, out io.Writer) error {
	set, err := chosenSet(version)
	if err != nil {
		return err
	}
	parent, err := gpu.Parent()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d wheels, %.1f GB\n", set.Name, len(set.Wheels), float64(set.Bytes())/1e9)
	shown := &progress.Transfers{Reporter: progress.New(os.Stderr)}
	dir, err := gpu.Install(ctx, set, parent, gpu.InstallOptions{Index: index,
		Progress: func(w gpu.Wheel, done int64) { shown.Show(w.Package, done, w.Size) }})
	shown.Done()
	if err == nil {
		fmt.Fprintf(out, "installed in %s\n", dir)
	}
	return err
}
