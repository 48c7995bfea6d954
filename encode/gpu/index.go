package gpu

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
	"bitextmine/internal/transfer"
)

// IndexEnv is pip's environment variable for another index than PyPI.
const IndexEnv = "PIP_INDEX_URL"

const publicIndex = "https://pypi.org/simple"

// index is a Python package index with the simple API (PEP 503): a page for each package that links to its files.
type index struct {
	base *url.URL
	o    transfer.Options // options of all requests
}

// openIndex reads the address of the index; empty stands for IndexEnv, and then for PyPI.
func openIndex(address string, o transfer.Options) (*index, error) {
	from := "the index"
	if address == "" {
		address, from = os.Getenv(IndexEnv), IndexEnv
	}
	if address == "" {
		address = publicIndex
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, badinput.Errorf("%s is not an address such as %s", from, publicIndex) // it may hold a password
	}
	o.Header = http.Header{"User-Agent": {"mine"}}
	if user := base.User; user != nil { // not in the address, which messages show; Go sends it to no other host
		password, _ := user.Password()
		o.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
		base.User = nil
	}
	o.Refused = func(r *http.Response) error {
		switch r.StatusCode {
		case http.StatusNotFound, http.StatusGone, http.StatusForbidden, http.StatusUnauthorized:
			return badinput.Errorf(
				"%s answers %s: name an index that has it in %s, or put the libraries in place yourself (docs/gpu.md)",
				r.Request.URL.Redacted(), r.Status, IndexEnv)
		}
		return nil
	}
	return &index{base, o}, nil
}

// find returns the address of a wheel.
func (x *index) find(ctx context.Context, w Wheel) (string, error) {
	page := x.base.JoinPath(w.Package + "/")
	found := ""
	err := transfer.Retry(ctx, page.String(), x.o, func() (err error) {
		found, err = x.search(ctx, page, w.File)
		return err
	})
	if err == nil && found == "" {
		err = badinput.Errorf("%s does not list %s: name an index that has it in %s", page, w.File, IndexEnv)
	}
	return found, err
}

// search reads a package's page and returns the link to a file; empty: there is none.
func (x *index) search(ctx context.Context, page *url.URL, file string) (found string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page.String(), nil)
	if err != nil {
		return "", err
	}
	request.Header = x.o.Header.Clone()
	request.Header.Set("Accept", "application/vnd.pypi.simple.v1+html, text/html;q=0.5")
	response, err := x.o.Client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return "", x.o.Answer(response)
	}
	const largest = 64 << 20
	links := html.NewTokenizer(io.LimitReader(response.Body, largest))
	for {
		switch links.Next() {
		case html.ErrorToken:
			if err := links.Err(); !errors.Is(err, io.EOF) {
				return "", fmt.Errorf("broken off: %w", err)
			}
			return "", nil
		case html.StartTagToken:
			for _, a := range links.Token().Attr {
				link, err := url.Parse(a.Val)
				if a.Key != "href" || err != nil || path.Base(link.Path) != file {
					continue
				}
				link = response.Request.URL.ResolveReference(link)
				link.Fragment = "" // drops the index's own digest; the list's digest counts
				return link.String(), nil
			}
		}
	}
}

// download brings a wheel to a file and verifies it. What an earlier call left is continued.
func (x *index) download(ctx context.Context, w Wheel, file string, progress func(done int64)) error {
	address, err := x.find(ctx, w)
	if err != nil {
		return err
	}
	o := x.o
	if link, err := url.Parse(address); err == nil && link.Host != x.base.Host {
		o.Header = o.Header.Clone()
		o.Header.Del("Authorization")
	}
	o.Size, o.Resume, o.Progress = w.Size, true, progress
	return transfer.Into(ctx, address, file, o, func(part string) error { return verify(w, part, address) })
}

//go:embed wheels.txt
var pinned string

// Wheel is one file of the index.
type Wheel struct {
	Package, File string
	SHA256        string
	Size          int64
}

// WheelSet lists the wheels of one installation: zip archives, in which the libraries of ONNX Runtime's GPU providers
// are published; wheels.txt pins each by its SHA-256. Only shared libraries are unpacked, into a directory of the
// user's cache, which is created atomically. No Python is needed.
type WheelSet struct {
	Name   string // cuda12 or cuda13
	Wheels []Wheel
}

// WheelSets are the pinned sets, in the order of the list.
func WheelSets() []WheelSet { return parse(pinned) }

// NamedWheels returns the set of a name.
func NamedWheels(name string) (WheelSet, error) {
	var names []string
	for _, s := range WheelSets() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return WheelSet{}, badinput.Errorf("%q is no set of GPU libraries: choose %s", name, strings.Join(names, " or "))
}

// parse reads a list, which is in the program.
func parse(list string) []WheelSet {
	var all []WheelSet
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if len(words) != 5 {
			panic(fmt.Sprintf("wheels.txt: %q has %d words instead of 5", line, len(words)))
		}
		size, err := strconv.ParseInt(words[4], 10, 64)
		if err != nil {
			panic(fmt.Sprintf("wheels.txt: %v", err))
		}
		if len(all) == 0 || all[len(all)-1].Name != words[0] {
			all = append(all, WheelSet{Name: words[0]})
		}
		s := &all[len(all)-1]
		s.Wheels = append(s.Wheels, Wheel{Package: words[1], File: words[2], SHA256: words[3], Size: size})
	}
	return all
}

// CUDA is the major version of CUDA that the set is for.
func (s WheelSet) CUDA() int {
	n, err := strconv.Atoi(strings.TrimPrefix(s.Name, "cuda"))
	if err != nil {
		panic(fmt.Sprintf("wheels.txt: %v", err))
	}
	return n
}

// Bytes is the size of all wheels.
func (s WheelSet) Bytes() (n int64) {
	for _, w := range s.Wheels {
		n += w.Size
	}
	return n
}

// Directory is the name of the set's directory. It has a digest of the list, so that another release of the program
// with other wheels does not take the old ones for its own.
func (s WheelSet) Directory() string {
	sum := sha256.New()
	for _, w := range s.Wheels {
		fmt.Fprintln(sum, w.SHA256)
	}
	return s.Name + "-" + hex.EncodeToString(sum.Sum(nil))[:8]
}

// Parent is the directory with what `mine gpu setup` installs.
func Parent() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", badinput.Errorf("there is no cache directory for GPU libraries: %w: set XDG_CACHE_HOME", err)
	}
	return filepath.Join(cache, "mine", "gpu"), nil
}

// Installed returns ONNX Runtime's library of the newest installed set that a driver supports; empty: there is none.
func Installed(driver cuda.Driver) string {
	parent, err := Parent()
	if err != nil {
		return ""
	}
	for _, s := range WheelSets() {
		if driver.CUDA < 1000*s.CUDA() {
			continue
		}
		found, err := filepath.Glob(filepath.Join(parent, s.Directory(), "libonnxruntime.so*"))
		if err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// Suited returns the newest set that a driver supports.
func Suited(driver cuda.Driver) (WheelSet, error) {
	for _, s := range WheelSets() {
		if driver.CUDA >= 1000*s.CUDA() {
			return s, nil
		}
	}
	return WheelSet{}, badinput.Errorf(
		"the NVIDIA driver supports CUDA %s at most, for which there is no ONNX Runtime that this program can use: install driver 525 or newer",
		driver.Version())
}

// Set returns the set of a major version of CUDA.
func Set(cuda int) (WheelSet, error) { return NamedWheels(fmt.Sprintf("cuda%d", cuda)) }
