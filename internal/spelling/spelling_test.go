package spelling

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"length_z", "length_ratio", "mojibake", "größe"}
	for misspelt, want := range map[string]string{"lengt_z": "length_z", "mojibak": "mojibake", "grösse": "größe", "length_ration": "length_ratio", "mojibake": "mojibake"} {
		if got := nearest(misspelt, names); got != want {
			t.Errorf("nearest to %q: %q, want %q", misspelt, got, want)
		}
	}
	if got := nearest("x", nil); got != "" {
		t.Errorf("nearest of none: %q", got)
	}
}

func TestClose(t *testing.T) {
	names := []string{"src", "run", "calibrate", "encoder", "emb-dim", "k", "dir", "task"}
	for misspelt, want := range map[string]string{
		"rnu": "run", "calib": "calibrate", "enocder": "encoder", "emb_dim": "emb-dim", "dri": "dir", "ncoder": "encoder",
		"walk": "", "bogus": "", "encoding-of": "", "x": "", "": "",
	} {
		if got := Close(misspelt, names); got != want {
			t.Errorf("close to %q: %q, want %q", misspelt, got, want)
		}
	}
	if got := Close("run", nil); got != "" {
		t.Errorf("close to none of no names: %q", got)
	}
}

func TestAsked(t *testing.T) {
	names := []string{"copy", "score"}
	if got := Asked("scor", names, "take another"); got != `is "score" meant?` {
		t.Errorf("a close name: %s", got)
	}
	if got := Asked("foo", names, "take another"); got != "take another" {
		t.Errorf("no close name: %s", got)
	}
}
