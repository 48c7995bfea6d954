package store_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bitextmine/pipeline/store"
)

// contendedS3 keeps what is put. Of conditional writes it refuses the first as S3 does while another is under way, and
// the second as S3 does when that one has succeeded; what it wrote is found only at the third look.
type contendedS3 struct {
	sync.Mutex
	objects     map[string][]byte
	conditional int // writes
	hidden      int // looks at the record that found nothing
}

func (s *contendedS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	refuse := func(status int, code string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
	}
	body, err := io.ReadAll(r.Body)
	object, found := s.objects[r.URL.Path]
	switch record := strings.HasSuffix(r.URL.Path, "/task.json"); {
	case err != nil:
		refuse(http.StatusInternalServerError, "InternalError")
	case r.Method == http.MethodPut && r.Header.Get("If-None-Match") != "":
		s.conditional++
		s.objects[r.URL.Path] = body
		if s.conditional == 1 {
			refuse(http.StatusConflict, "ConditionalRequestConflict")
		} else {
			refuse(http.StatusPreconditionFailed, "PreconditionFailed")
		}
	case r.Method == http.MethodPut:
		s.objects[r.URL.Path] = body
	case record && found && s.hidden < 2:
		s.hidden++
		refuse(http.StatusNotFound, "NoSuchKey")
	case r.URL.Query().Has("list-type"):
		fmt.Fprint(w, "<ListBucketResult></ListBucketResult>")
	case found:
		_, _ = w.Write(object)
	default:
		refuse(http.StatusNotFound, "NoSuchKey")
	}
}

// TestContendedWrite: a writer of S3 that loses to another one waits for what that one wrote.
func TestContendedWrite(t *testing.T) {
	fake := &contendedS3{objects: map[string][]byte{}}
	server := httptest.NewServer(fake)
	defer server.Close()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "secret", "MINE_CACHE": t.TempDir(),
		"AWS_REQUEST_CHECKSUM_CALCULATION": "when_required", // else what is put is cut into pieces
	} {
		t.Setenv(name, value)
	}
	s := open(t, "s3://corpus/work?region=us-east-1&use_path_style=true&endpoint="+server.URL)
	out, err := s.Do(t.Context(), store.Task{Stage: "encode", Key: "0123456789abcdef"}, func(dir string) (any, error) {
		return "made", os.WriteFile(filepath.Join(dir, "vectors"), []byte("some"), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(out.Path("vectors")); err != nil || string(data) != "some" {
		t.Errorf("vectors %q, error %v", data, err)
	}
	if fake.conditional != 2 || fake.hidden != 2 {
		t.Errorf("%d conditional writes, %d looks without the record", fake.conditional, fake.hidden)
	}
}
