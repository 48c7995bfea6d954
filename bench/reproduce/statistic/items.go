package statistic

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"bitextmine/eval/report"
)

// Items are the data of a figure, as report.Row has them, and how results keep them.
type Items report.Items

// Figure is the accuracy, Spearman's rho or F1, in percent.
func (x Items) Figure() float64 { return x.of(nil) }

// of is the figure of drawn items, or of all if draw is nil.
func (x Items) of(draw []int) float64 { return report.Items(x).Figure(draw) }

// MarshalJSON writes each list as base64 of compressed 16-bit numbers of halves: answers, ranks and counts are
// multiples of ½.
func (x Items) MarshalJSON() ([]byte, error) {
	texts := make([]string, len(x))
	for i, list := range x {
		numbers := make([]uint16, len(list))
		for j, v := range list {
			if numbers[j] = uint16(2 * v); 2*v != float64(numbers[j]) {
				return nil, fmt.Errorf("the item %v is not a multiple of ½ below 32768", v)
			}
		}
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.BestCompression)
		if err == nil {
			err = binary.Write(w, binary.LittleEndian, numbers)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			return nil, err
		}
		texts[i] = base64.StdEncoding.EncodeToString(packed.Bytes())
	}
	return json.Marshal(texts)
}

// maxItems bounds the items of a file: no test set has as many sentences.
const maxItems = 1 << 20

// UnmarshalJSON reads what MarshalJSON writes.
func (x *Items) UnmarshalJSON(raw []byte) error {
	var texts []string
	if err := json.Unmarshal(raw, &texts); err != nil {
		return err
	}
	if len(texts) == 0 || len(texts) > 3 {
		return fmt.Errorf("items have %d lists: 1 to 3 are valid", len(texts))
	}
	*x = nil
	for _, text := range texts {
		packed, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return fmt.Errorf("items are not base64: %w", err)
		}
		plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), 2*maxItems))
		switch {
		case err != nil:
			return fmt.Errorf("items are damaged: %w", err)
		case len(plain) == 0 || len(plain)%2 != 0 || len(plain) == 2*maxItems || *x != nil && len(plain) != 2*len((*x)[0]):
			return fmt.Errorf("a list of items has %d bytes: two for each, as many as the other lists, and at most %d items are valid", len(plain), maxItems)
		}
		list := make([]float64, len(plain)/2)
		for i := range list {
			list[i] = float64(binary.LittleEndian.Uint16(plain[2*i:])) / 2
		}
		*x = append(*x, list)
	}
	return nil
}
