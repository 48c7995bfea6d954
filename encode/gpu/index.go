package gpu

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"

	"golang.org/x/net/html"

	"bitextmine/internal/badinput"
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
	if err := transfer.Fetch(ctx, address, file, o); err != nil {
		return err
	}
	return verify(w, file, address)
}
