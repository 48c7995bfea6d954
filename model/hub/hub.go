// Package hub downloads published models from the Hugging Face hub, or a server with its protocol: the list of a
// repository's files with their digests (api/models), and the files of one commit (resolve), large files answer
// with a redirection to their storage.
//
// Only files that package importer reads are downloaded: no code, and no pickle.
package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"

	"bitextmine/internal/badinput"
	"bitextmine/internal/transfer"
)

// Client is a connection to a hub.
type Client struct {
	Endpoint string       // the hub's address
	Token    string       // an account's token, or empty
	HTTP     *http.Client // nil for transfer.NewClient
	Wait     time.Duration
	Attempts int
}

// FromEnvironment is the client that HF_ENDPOINT and HF_TOKEN describe.
func FromEnvironment() *Client {
	c := &Client{Endpoint: strings.TrimSuffix(os.Getenv("HF_ENDPOINT"), "/"), Token: os.Getenv("HF_TOKEN")}
	if c.Endpoint == "" {
		c.Endpoint = "https://huggingface.co"
	}
	return c
}

// Repository is the hub's description of a model's commit.
type Repository struct {
	Name    string // ORG/REPO
	Commit  string
	Licence string
	Files   []File
}

// File is a file of a repository.
type File struct {
	Path   string
	Size   int64
	SHA256 string // digest of large files, which git's LFS keeps
	Blob   string // git's name of others: a SHA-1
}

var validName = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)

// List reads the hub's description of a repository; revision is a commit, a branch or a tag, or empty for main.
func (c *Client) List(ctx context.Context, name, revision string) (*Repository, error) {
	if !validName.MatchString(name) {
		return nil, badinput.Errorf("%q is not the name of a repository, ORG/REPO, such as intfloat/multilingual-e5-small", name)
	}
	if revision == "" {
		revision = "main"
	}
	address := fmt.Sprintf("%s/api/models/%s/revision/%s?blobs=true", c.Endpoint, name, url.PathEscape(revision))
	var answer struct {
		SHA      string `json:"sha"`
		Siblings []struct {
			Name string `json:"rfilename"`
			Size int64  `json:"size"`
			Blob string `json:"blobId"`
			LFS  *struct {
				SHA256 string `json:"sha256"`
				Size   int64  `json:"size"`
			} `json:"lfs"`
		} `json:"siblings"`
		Card struct {
			Licence any `json:"license"`
		} `json:"cardData"`
		Tags []string `json:"tags"`
	}
	err := transfer.Retry(ctx, address, c.options(name, revision),
		func() error { return c.get(ctx, address, name, revision, &answer) })
	if err != nil {
		return nil, err
	}
	r := &Repository{Name: name, Commit: answer.SHA}
	if r.Commit == "" {
		return nil, badinput.Errorf("%s does not answer as the Hugging Face hub does: set HF_ENDPOINT to a server with its protocol", address)
	}
	if licence, ok := answer.Card.Licence.(string); ok {
		r.Licence = licence
	}
	for _, tag := range answer.Tags {
		if licence, ok := strings.CutPrefix(tag, "license:"); ok && r.Licence == "" {
			r.Licence = licence
		}
	}
	for _, s := range answer.Siblings {
		if strings.ContainsFunc(s.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return nil, badinput.Errorf("the hub names a file %q, which is no name: choose another model", s.Name)
		}
		file := File{Path: s.Name, Size: s.Size, Blob: s.Blob}
		if s.LFS != nil {
			file.SHA256, file.Size = s.LFS.SHA256, s.LFS.Size
		}
		r.Files = append(r.Files, file)
	}
	return r, nil
}

// options are the options of all requests.
func (c *Client) options(name, revision string) transfer.Options {
	client := c.HTTP
	if client == nil {
		client = transfer.NewClient()
	}
	own := *client
	own.CheckRedirect = c.redirected
	o := transfer.Options{Client: &own, Attempts: c.Attempts, Wait: c.Wait, Header: http.Header{"User-Agent": {"mine"}},
		Refused: func(r *http.Response) error { return c.refused(r, name, revision) }}
	if c.Token != "" {
		o.Header.Set("Authorization", "Bearer "+c.Token)
	}
	return o
}

// redirected lets the token go to no other host.
func (c *Client) redirected(request *http.Request, earlier []*http.Request) error {
	const most = 10
	if len(earlier) >= most {
		return errors.New("the hub redirects again and again")
	}
	if request.URL.Host != earlier[0].URL.Host {
		request.Header.Del("Authorization")
	}
	return nil
}

// get decodes an answer of the API.
func (c *Client) get(ctx context.Context, address, name, revision string, into any) (err error) {
	const longest = 2 * time.Minute // enough to list files
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	o := c.options(name, revision)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return badinput.Errorf("HF_ENDPOINT is %q, which is not an address: %w", c.Endpoint, err)
	}
	request.Header = o.Header
	response, err := o.Client.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return o.Answer(response)
	}
	const largest = 64 << 20
	raw, err := io.ReadAll(io.LimitReader(response.Body, largest))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return badinput.Errorf("%s does not answer as the Hugging Face hub does: %w: set HF_ENDPOINT to a server with its protocol", address, err)
	}
	return nil
}

// refused is the error for answers that no repetition changes.
func (c *Client) refused(r *http.Response, name, revision string) error {
	code := r.Header.Get("X-Error-Code")
	page := c.Endpoint + "/" + name
	switch {
	case code == "GatedRepo", r.StatusCode == http.StatusForbidden:
		return badinput.Errorf("%s gives its files only to people who accepted its terms: accept them on %s, and put a token of your account into HF_TOKEN", name, page)
	case code == "RevisionNotFound":
		return badinput.Errorf("%s has no revision %s: look at %s/tree/main", name, revision, page)
	case r.StatusCode == http.StatusUnauthorized && c.Token != "":
		return badinput.Errorf("%s is not open to the token in HF_TOKEN, or does not exist: look at %s and make a token that may read it", name, page)
	case r.StatusCode == http.StatusUnauthorized:
		return badinput.Errorf("%s does not exist or is not public: correct the name, or put a token of your account into HF_TOKEN", name)
	case r.StatusCode == http.StatusNotFound, r.StatusCode == http.StatusGone:
		return badinput.Errorf("%s answers %s: correct the name or the revision", r.Request.URL, r.Status)
	}
	return nil
}

// Download puts a file of the repository's commit into a directory, unless it is there already. What an earlier call
// left is continued. The file is verified: large ones by their SHA-256, others by git's digest.
func (c *Client) Download(ctx context.Context, r *Repository, f File, dir string, progress func(done int64)) error {
	if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
		return badinput.Errorf("%s has the file %q, which would be outside its directory: it is hostile", r.Name,
			f.Path)
	}
	final := filepath.Join(dir, filepath.FromSlash(f.Path))
	switch same, err := verify(final, f); {
	case err == nil && same:
		if progress != nil {
			progress(f.Size)
		}
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	address := fmt.Sprintf("%s/%s/resolve/%s/%s", c.Endpoint, r.Name, r.Commit, escaped(f.Path))
	o := c.options(r.Name, r.Commit)
	o.Size, o.Resume, o.Progress = f.Size, true, progress
	return transfer.Into(ctx, address, final, o, func(part string) error {
		same, err := verify(part, f)
		if err == nil && !same {
			err = badinput.Errorf("%s of %s does not have the digest that the hub lists for it, so it was deleted: the transfer was damaged or tampered with; run the same command again", f.Path, r.Name)
		}
		return err
	})
}

// escaped is a path in an address.
func escaped(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// verify compares a file with its digest.
func verify(path string, f File) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // it is only read
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	var h hash.Hash
	want := f.SHA256
	switch {
	case f.SHA256 != "":
		h = sha256.New()
	case f.Blob != "":
		h, want = sha1.New(), f.Blob
		fmt.Fprintf(h, "blob %d\x00", info.Size())
	default:
		return info.Size() == f.Size, nil
	}
	if _, err := io.Copy(h, file); err != nil {
		return false, err
	}
	return hex.EncodeToString(h.Sum(nil)) == want, nil
}
