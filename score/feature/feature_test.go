package feature

import "testing"

func TestFeaturesAreDescribed(t *testing.T) {
	seen, vectors := map[string]bool{}, 0
	for i, f := range All {
		if f.Name == "" || seen[f.Name] || f.Low >= f.High || f.Version < 1 || f.Meaning == "" || f.of == nil || f.Sign < -1 || f.Sign > 1 {
			t.Errorf("feature %q is not described, or named twice", f.Name)
		}
		if Index(f.Name) != i {
			t.Errorf("%s has index %d, not %d", f.Name, Index(f.Name), i)
		}
		if f.Kind == Vectors {
			vectors++
		}
		seen[f.Name] = true
	}
	if vectors != OfVectors {
		t.Errorf("%d features of vectors, of which the first %d are in front", vectors, OfVectors)
	}
	if Index("none such") != -1 {
		t.Error("a feature that there is not has an index")
	}
}
