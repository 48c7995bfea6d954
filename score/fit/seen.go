package fit

import (
	"path/filepath"
	"strings"

	"bitextmine/encode/model"
)

// SeenSource returns the training source of the encoder that a file's name contains, or "" if there is none.
func SeenSource(model *model.Model, path string) string {
	name := strings.ToLower(filepath.Base(path))
	for _, source := range model.TrainedOn {
		if strings.Contains(name, strings.ToLower(source)) {
			return source
		}
	}
	return ""
}
