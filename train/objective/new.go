package objective

import (
	"fmt"
	"strings"

	"bitextmine/internal/badinput"
)

// New makes the objective of that name. Settings that cannot be used are badinput errors: a preset's, and a teacher of other vectors.
func New(s Settings) (Objective, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := s.complete(); err != nil {
		return nil, err
	}
	switch s.Name {
	case "contrastive":
		return contrastive{s}, nil
	case "imascl":
		return imascl{s}, nil
	case "mse-distill":
		return distill{s}, nil
	case "muse":
		return muse{s}, nil
	default: // Validate knows the names
		return newEMS(s), nil
	}
}

// complete checks what the trainer filled in.
func (s Settings) complete() error {
	var wrong complaints
	if s.NeedsTeacher() {
		wrong.unless(s.Vectors != nil, "it has no teacher")
		wrong.unless(len(s.Languages) > 0, "it has no languages")
	}
	if s.reconstructs() {
		wrong.unless(s.Vocabulary >= 1, "it has no vocabulary")
		wrong.unless(!s.LanguageToken || len(s.Languages) > 0, "it has no languages")
		wrong.unless(!s.SharedEmbedding || s.Table != "", "it has no name of the encoder's table")
		ids := s.Special
		if s.Reconstruction == UGT {
			ids = append([]int32{s.Mask}, ids...)
		}
		for _, id := range ids {
			wrong.unless(id >= 0 && int(id) < s.Vocabulary, "its special token %d is not in the vocabulary of %d", id, s.Vocabulary)
		}
	}
	if wrong != nil {
		return fmt.Errorf("objective %s is not complete: %s", s.Name, strings.Join(wrong, "; "))
	}
	if s.Name == "mse-distill" && s.Vectors.Dim() != s.Dim {
		return badinput.Errorf("objective.teacher %s has vectors of %d numbers and the encoder of %d: give the encoder %d, or take another teacher", s.Teacher, s.Vectors.Dim(), s.Dim, s.Vectors.Dim())
	}
	return nil
}
