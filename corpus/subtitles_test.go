package corpus

import (
	"errors"
	"strings"
	"testing"
)

const subtitles = "1\n00:00:01,000 --> 00:00:02,000\nÉin Satz\nin zwei Zeilen.\n\n2\n00:00:03,000 --> 00:00:04,000\n<i></i>\n\n" +
	"3\n00:00:06,000 --> 00:00:05,000\nZurück.\n\n4\n00:00:07,000 --> 00:00:08,000\nÉin Satz\nin zwei Zeilen.\n"

// TestSubtitles: the records of subtitles are the texts of their cues, whatever the file's name, encoding and
// compression, and every one is counted. A name alone makes no subtitles.
func TestSubtitles(t *testing.T) {
	vtt := strings.ReplaceAll("WEBVTT\n\n"+subtitles, ",000", ".000")
	latin1 := DefaultOptions()
	latin1.Encoding = "iso-8859-1"
	named := DefaultOptions()
	named.Format = FormatSRT
	text := DefaultOptions()
	text.Format = FormatText
	const found = "3 1 Éin Satz in zwei Zeilen.|16 4 Éin Satz in zwei Zeilen."
	for name, c := range map[string]struct {
		file, data string
		opts       Options
		want       string
	}{
		"SRT":              {"a.srt", subtitles, DefaultOptions(), found},
		"of another name":  {"a.txt", subtitles, DefaultOptions(), found},
		"named":            {"a", subtitles, named, found},
		"with a BOM":       {"a.srt", "\xef\xbb\xbf" + strings.ReplaceAll(subtitles, "\n", "\r\n"), DefaultOptions(), found},
		"Latin-1":          {"a.srt", strings.ReplaceAll(strings.ReplaceAll(subtitles, "É", "\xc9"), "ü", "\xfc"), latin1, found},
		"gzip":             {"a.srt.gz", string(packers["gz"](t, []byte(subtitles))), DefaultOptions(), found},
		"zstd":             {"a", string(packers["zst"](t, []byte(subtitles))), DefaultOptions(), found},
		"WebVTT":           {"a.vtt", vtt, DefaultOptions(), "5 1 Éin Satz in zwei Zeilen.|18 4 Éin Satz in zwei Zeilen."},
		"text of the name": {"a.srt", "Eins.\n", DefaultOptions(), "1  Eins."},
		"text before cues": {"a.srt", "Von Ann.\n\n1\n00:00:01,000 --> 00:00:02,000\nEins.\n", DefaultOptions(), "5 1 Eins."},
		"WebVTT by a name": {"a.srt", "WEBVTT\n\n00:01.000 --> 00:02.000\nR&amp;B.\n", DefaultOptions(), "4  R&B."},
		"text of WebVTT":   {"a.vtt", "WEBVTT\nis a format.\n", DefaultOptions(), "1  WEBVTT|2  is a format."},
		"read as text":     {"a.srt", "1\n00:00:01,000 --> 00:00:02,000\n", text, "1  1|2  00:00:01,000 --> 00:00:02,000"},
	} {
		texts, counts, err := reads(t, c.file, []byte(c.data), c.opts)
		if got := strings.Join(texts, "|"); err != nil || got != c.want {
			t.Errorf("%s: %q, want %q, error %v", name, got, c.want, err)
		}
		if strings.HasSuffix(c.want, "Zeilen.") && (counts.Lines != 4 || counts.Kept != 2 || counts.Skipped[ReasonEmpty] != 1 || counts.Skipped[ReasonMalformed] != 1) {
			t.Errorf("%s: counts %+v", name, counts)
		}
	}
	if texts, _, err := reads(t, "a.vtt", []byte("WEBVTT\n\nNOTE none\n"), DefaultOptions()); !errors.Is(err, ErrEmpty) {
		t.Errorf("without a cue: %q, error %v", texts, err)
	}
	if Formats("a.srt", FormatAuto) == "" || Formats("a.vtt.gz", FormatAuto) == "" {
		t.Error("subtitles that were cut as text are not cut again")
	}
}
