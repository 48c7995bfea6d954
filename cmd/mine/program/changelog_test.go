package program

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestVersionIsTheNewestRelease compares Version with the newest release in the changelog.
func TestVersionIsTheNewestRelease(t *testing.T) {
	text, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	released := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$`).FindSubmatch(text)
	if released == nil {
		t.Fatal("CHANGELOG.md has no heading of a release, as ## 1.2.3 - 2026-11-22")
	}
	if newest := string(released[1]); newest != Version {
		t.Errorf("the program is %s, the newest release in CHANGELOG.md %s", Version, newest)
	}
}

// TestImagesAreOfThisVersion: what shows how to run the image names the one that make packages makes.
func TestImagesAreOfThisVersion(t *testing.T) {
	for _, path := range []string{"../../../deploy/cronjob.yaml", "../../../docs/packages.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if image := "mine:" + Version; !strings.Contains(string(text), " "+image) {
			t.Errorf("%s does not name the image %s", path, image)
		}
	}
}
