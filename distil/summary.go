package distil

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"bitextmine/distil/fit"
	"bitextmine/internal/atomicfile"
)

// Summary is the record of a distillation.
type Summary struct {
	Model     string   `json:"-"`        // directory of the encoder
	Warnings  []string `json:"warnings"` // sentences
	Tensor    string   `json:"tensor"`   // the teacher's tensor; "": its pooled output
	Sentences int      `json:"sentences"`
	LeftOut   int      `json:"left_out,omitempty"` // sentences with a piece that the student lacks
	Invented  int      `json:"invented"`
	Tokens    int      `json:"tokens"`
	Rows      int      `json:"rows"` // the table's rows: pieces and special tokens
	Fitted
	// The share of the features' squares that is left by the descent, by fewer columns, and by fewer bits.
	Descent       fit.Unexplained `json:"descent"`
	Losses        [2]float64      `json:"losses"` // means of the first and the last tenth of the descent's steps
	RankLeft      float64         `json:"rank_held_out"`
	BitsLeft      float64         `json:"bits_held_out"`
	Cosine        float64         `json:"cosine_held_out"` // mean, of student's and teacher's sentence vectors
	Text          []Source        `json:"text"`
	TeacherDigest string          `json:"teacher_digest"`
	Second        *Second         `json:"second,omitempty"`
	Bytes         int             `json:"bytes"` // size of the graph and the tokenizer
}

// Print writes the summary for a person.
func (s *Summary) Print(w io.Writer) error {
	var b strings.Builder
	for _, t := range s.Text {
		fmt.Fprintf(&b, "read       %s %s: %d sentences\n", t.Language, t.File, t.Sentences)
	}
	for _, warning := range s.Warnings {
		fmt.Fprintf(&b, "warning    %s\n", warning)
	}
	fmt.Fprintf(&b, "fitted     %d sentences of %d tokens, drawn from the text and %d invented sentences; %d rows\n",
		s.Sentences, s.Tokens, s.Invented, s.Rows)
	descent := ""
	if s.Losses[0] > 0 {
		fmt.Fprintf(&b, "descent    loss %.4f at first, %.4f at last\n", s.Losses[0], s.Losses[1])
		descent = fmt.Sprintf("by the descent %.4f %.4f, ", s.Descent.Fitted, s.Descent.HeldOut)
	}
	fmt.Fprintf(&b, "left       of the features' squares, fitted and held out: by pieces alone %.4f %.4f, by the table %.4f %.4f, "+
		"%swith its columns %.4f, with its bits %.4f\n",
		s.Prior.Fitted, s.Prior.HeldOut, s.Fit.Fitted, s.Fit.HeldOut, descent, s.RankLeft, s.BitsLeft)
	fmt.Fprintf(&b, "cosine     %.4f to the teacher's vectors of held-out sentences\n", s.Cosine)
	fmt.Fprintf(&b, "encoder    %s, %.1f MB\n", s.Model, float64(s.Bytes)/1e6)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeRecord writes the settings and the summary into a student's directory, for programs and for people.
func writeRecord(dir string, o Options, t *source, r *result) error {
	if r.Second != nil {
		o.Beside = r.Second.Encoder // its place is of this machine
	}
	record := struct {
		Settings Options `json:"settings"`
		Summary  Summary `json:"summary"`
	}{o, r.Summary}
	return errors.Join(atomicfile.WriteJSON(filepath.Join(dir, recordFile), record),
		atomicfile.WriteBytes(filepath.Join(dir, "README.md"), card(o, t, r)))
}

// card is the student's model card.
func card(o Options, t *source, r *result) []byte {
	const unknown = "not stated"
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\nA static student of %s, made by `mine distill`, for %s: a table of %d subword vectors of %d columns, %d bits a number, whose sum, divided by tokens^%g,\n"+
		"stands for the teacher's tensor %q; the teacher's head makes the sentence vector of it. %.1f MB.\n\n", o.studentName(t.model), t.model.Name,
		strings.Join(o.Languages, ", "), r.Rows, cmp.Or(o.Rank, wideOf(o, t)), o.Bits, r.Power, r.Tensor,
		float64(r.Bytes)/1e6)
	fmt.Fprintf(&b, "Licence: %s. Teacher: digest %s, licence %s.\n\n", cmp.Or(o.Licence, t.model.Licence, unknown),
		r.TeacherDigest, cmp.Or(t.model.Licence, unknown))
	fmt.Fprintf(&b, "%d sentences, %d tokens, were fitted, invented ones for seldom pieces among them (%d before any were drawn):\n\n"+
		"| language | file | sentences | sha256 |\n| --- | --- | --- | --- |\n", r.Sentences, r.Tokens, r.Invented)
	for _, t := range r.Text {
		fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", t.Language, t.File, t.Sentences, t.SHA256)
	}
	if o.Epochs > 0 {
		fmt.Fprintf(&b, "\nThe table and the head were then trained for %g passes over the text and %d pairs of bitext by gradient descent: the loss went from %.4f to %.4f.\n",
			o.Epochs, len(r.pieces.text.Pairs), r.Losses[0], r.Losses[1])
	}
	fmt.Fprintf(&b, "\nOf the features' squares, on held-out sentences, %.4f are left by the linear map of pieces alone, %.4f by the table (ridge %g), %.4f with its columns and %.4f with its bits.\n"+
		"Mean cosine to the teacher's vectors of held-out sentences: %.4f.\n", r.Prior.HeldOut, r.Fit.HeldOut, r.Ridge, r.RankLeft, r.BitsLeft, r.Cosine)
	if s := r.Second; s != nil {
		fmt.Fprintf(&b, "\nBeside it stands %s (digest %s, licence %s): %d of the columns, on the same pieces, stand for its sums, on the axes that hold %.4f of its vectors' squares.\n"+
			"Of the sums' squares, on held-out sentences, %.4f are left by the linear map of pieces alone and %.4f by the table (ridge %g); mean cosine to its vectors there: %.4f.\n"+
			"It has %g of the square of a vector's length. Vectors are on %d axes, which hold %.4f of both.\n",
			s.Encoder, s.Digest, cmp.Or(s.Licence, unknown), s.Columns, s.Kept, s.Fitted.Prior.HeldOut,
			s.Fitted.Fit.HeldOut, s.Fitted.Ridge, s.Cosine, s.Share, r.table.head.Dim, s.Turned)
	}
	return b.Bytes()
}
