// Command packages makes the wheel and the OCI image of a tree of installed files, as scripts/packages lays it out. The
// same tree gives the same bytes: entries are sorted, and all have the time of SOURCE_DATE_EPOCH.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// release is the content of a package.
type release struct {
	tree    string // folder of the installed files, from /
	out     string
	version string
	arch    string // architecture in Debian's and Go's naming: amd64, arm64
	glibc   string // the oldest version that has all symbols
	time    time.Time
}

func main() {
	var r release
	flag.StringVar(&r.tree, "tree", "", "folder of the installed files, from /")
	flag.StringVar(&r.out, "out", "", "folder of the packages")
	flag.StringVar(&r.version, "version", "", "version of the program")
	flag.StringVar(&r.arch, "arch", "", "architecture: amd64 or arm64")
	flag.StringVar(&r.glibc, "glibc", "", "oldest C library that the program runs with, such as 2.36")
	flag.Parse()
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		err = errors.New("SOURCE_DATE_EPOCH must be the packages' date in seconds since 1970")
	}
	r.time = time.Unix(seconds, 0).UTC()
	if err == nil {
		err = r.wheel("deploy/packages/bitextmine")
	}
	if err == nil {
		err = r.image(runtimeFiles)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

// entry is a file, folder or link of a package.
type entry struct {
	name string // path with slashes, without a leading slash
	mode fs.FileMode
	link string // target of a symbolic link
	data []byte // content of a file
}

// entries reads a folder, sorted by name.
func entries(root string) (all []entry, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		e := entry{name: filepath.ToSlash(name), mode: info.Mode()}
		switch {
		case info.Mode().IsRegular():
			e.data, err = os.ReadFile(path)
		case info.Mode()&fs.ModeSymlink != 0:
			e.link, err = os.Readlink(path)
		case !info.IsDir():
			err = fmt.Errorf("%s is neither a file nor a folder nor a link", path)
		}
		all = append(all, e)
		return err
	})
	return all, err
}
