package store_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/store/storetest"
)

// TestOnlyRefusalsArePermanent: a bucket that does not answer is worth a retry. The request ids contain "301", which
// the bucket library takes for a missing bucket.
func TestOnlyRefusalsArePermanent(t *testing.T) {
	for name, c := range map[string]struct {
		status    int // 0: nothing listens
		code      string
		permanent bool
	}{
		"overloaded":         {503, "SlowDown", false},
		"unavailable":        {503, "ServiceUnavailable", false},
		"failing":            {500, "InternalError", false},
		"throttled":          {429, "TooManyRequests", false},
		"slow request":       {408, "RequestTimeout", false},
		"connection refused": {0, "", false},
		"access denied":      {403, "AccessDenied", true},
		"wrong key":          {403, "SignatureDoesNotMatch", true},
		"no such bucket":     {404, "NoSuchBucket", true},
		"another region":     {301, "PermanentRedirect", true},
		"full":               {507, "XMinioStorageFull", true},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Amz-Request-Id", "17301A")
				w.WriteHeader(c.status)
				fmt.Fprintf(w, "<Error><Code>%s</Code><Message>said the server</Message><RequestId>17301A</RequestId></Error>", c.code)
			}))
			if c.status == 0 {
				server.Close()
			} else {
				defer server.Close()
			}
			t.Setenv("AWS_ACCESS_KEY_ID", "test")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
			store.BePatient(t, 0, 0)
			t.Setenv("AWS_MAX_ATTEMPTS", "1")
			t.Setenv("MINE_CACHE", t.TempDir())
			_, err := store.Open(t.Context(), "s3://corpus/work?region=us-east-1&use_path_style=true&endpoint="+server.URL, storetest.Quiet)
			if err == nil || badinput.Is(err) != c.permanent {
				t.Errorf("permanent %v, want %v: %v", badinput.Is(err), c.permanent, err)
			}
		})
	}
}

// TestEndpointIsNoURL: S3's client would only say that it did not get an answer.
func TestEndpointIsNoURL(t *testing.T) {
	t.Setenv("MINE_CACHE", t.TempDir())
	_, err := store.Open(t.Context(), "s3://corpus/work?region=us-east-1&endpoint=127.0.0.1:5056", storetest.Quiet)
	if !badinput.Is(err) || !strings.Contains(err.Error(), "write endpoint=http://127.0.0.1:5056") {
		t.Errorf("error %v", err)
	}
}

// TestCacheThatCannotBeMade: a service's user may have no home.
func TestCacheThatCannotBeMade(t *testing.T) {
	t.Setenv("MINE_CACHE", "/dev/null/cache")
	_, err := store.Open(t.Context(), "s3://corpus/work?region=us-east-1&endpoint=http://127.0.0.1:1", storetest.Quiet)
	if !badinput.Is(err) || !strings.Contains(err.Error(), "in MINE_CACHE") {
		t.Errorf("error %v", err)
	}
}

// TestRegionIsMissing: it is named, as S3's client only says that the region is no DNS name.
func TestRegionIsMissing(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("MINE_CACHE", t.TempDir())
	_, err := store.Open(t.Context(), "s3://corpus/work?use_path_style=true&endpoint=http://127.0.0.1:1", storetest.Quiet)
	if !badinput.Is(err) || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("error %v", err)
	}
}

// TestPasswordIsNotShown: errors repeat the location, but not the password of its endpoint.
func TestPasswordIsNotShown(t *testing.T) {
	t.Setenv("MINE_CACHE", t.TempDir())
	store.BePatient(t, 0, 0)
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	for _, location := range []string{"s3://corpus/work?region=us-east-1&endpoint=http://name:hunter2@127.0.0.1:1",
		"s3://corpus/work?nothing=1&endpoint=http://name:hunter2@127.0.0.1:1", "s4://name:hunter2@corpus/work", "s3://name:hunter2@corpus/%zz"} {
		_, err := store.Open(t.Context(), location, storetest.Quiet)
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "://...@") {
			t.Errorf("%s: %v", location, err)
		}
	}
}
