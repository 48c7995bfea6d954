package weights

import (
	"fmt"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
)

// Match reports every tensor that is missing, of another shape or not wanted, in one error of class badinput.
func Match(specs []Spec, tensors []*Tensor) error {
	byName := map[string]*Tensor{}
	for _, t := range tensors {
		byName[t.Name] = t
	}
	var wrong []string
	for _, s := range specs {
		t := byName[s.Name]
		delete(byName, s.Name)
		switch {
		case t == nil:
			wrong = append(wrong, s.Name+" is missing")
		case !slices.Equal(t.Shape, s.Shape):
			wrong = append(wrong, fmt.Sprintf("%s has the shape %v instead of %v", s.Name, t.Shape, s.Shape))
		}
	}
	for _, t := range tensors {
		if byName[t.Name] == t {
			wrong = append(wrong, t.Name+" has no place in the model")
		}
	}
	if wrong != nil {
		return badinput.Errorf("the weights do not fit the model: %s", list(wrong))
	}
	return nil
}

// Arrange gives the tensors in the order of specs, with their NoDecay, if Match finds nothing wrong.
func Arrange(specs []Spec, tensors []*Tensor) ([]*Tensor, error) {
	if err := Match(specs, tensors); err != nil {
		return nil, err
	}
	byName := map[string]*Tensor{}
	for _, t := range tensors {
		byName[t.Name] = t
	}
	out := make([]*Tensor, len(specs))
	for i, s := range specs {
		out[i] = byName[s.Name]
		out[i].NoDecay = s.NoDecay
	}
	return out, nil
}

// list joins sentences, of many the first few.
func list(wrong []string) string {
	const most = 5
	if len(wrong) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(wrong[:most], "; "), len(wrong)-most)
	}
	return strings.Join(wrong, "; ")
}
