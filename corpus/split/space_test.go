package split

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestSpaces(t *testing.T) {
	var got [][2]int
	for from, to := range Spaces(" a \u00a0b\tc ") {
		got = append(got, [2]int{from, to})
	}
	if want := [][2]int{{2, 5}, {6, 7}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for range Spaces("  ") {
		t.Error("white space has a space")
	}
}

func TestParse(t *testing.T) {
	if _, err := ParseSpaces(make([]byte, buckets-1)); err == nil {
		t.Error("too few weights")
	}
	m, err := ParseSpaces(Thai().Bytes())
	if err != nil || m.weights != Thai().weights {
		t.Errorf("the bytes of a model are not the model: %v", err)
	}
}

// TestThai: | stands at the spaces that end a sentence.
func TestThai(t *testing.T) {
	for _, text := range []string{
		"นายกรัฐมนตรีเดินทางไปจังหวัดเชียงใหม่เมื่อวันที่ 5 มกราคม 2566 เพื่อเปิดโรงพยาบาลแห่งใหม่|ทั้งนี้ รัฐบาลจะสร้างโรงเรียนเพิ่มขึ้นอีก 20 แห่งทั่วประเทศ",
		"บริษัท Google (ประเทศไทย) เปิดสำนักงานใหม่ในกรุงเทพฯ อย่างเป็นทางการแล้ว|นอกจากนี้ บริษัทยังมีแผนจ้างพนักงานเพิ่มขึ้นอีกเป็นจำนวนมากในปีหน้า",
	} {
		whole := strings.ReplaceAll(text, "|", " ")
		at := 0
		for from, to := range Spaces(whole) {
			ends := Thai().Ends(whole, from, to)
			if want := text[from] == '|'; ends != want {
				t.Errorf("space %d, before %.30s: ends %t, want %t", at, whole[to:], ends, want)
			}
			at++
		}
	}
}

// TestFit: sentences of a made language end with x and begin with any letter but n; numbers have spaces around them.
func TestFit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte("bcdfghjk"[random.IntN(8)])
		}
		return strings.Map(func(r rune) rune { return r - 'a' + 'ก' }, b.String())
	}
	sentence := func() string {
		return fmt.Sprintf("%s %d %s นน %sขข", word(20+random.IntN(30)), random.IntN(100), word(10+random.IntN(30)), word(20+random.IntN(30)))
	}
	var documents [][]string
	for range 300 {
		var paragraphs []string
		for range 4 {
			paragraphs = append(paragraphs, strings.TrimSpace(strings.Repeat(sentence()+" ", 1)+sentence()+" "+sentence()))
		}
		documents = append(documents, paragraphs)
	}
	rounds := 0
	m := fitSpaces(documents, func(_, _, ends int) {
		if rounds++; ends < 900 {
			t.Errorf("%d ends", ends)
		}
	})
	if rounds != 4 {
		t.Errorf("%d rounds", rounds)
	}
	text := sentence() + " " + sentence() + " " + sentence()
	for from, to := range Spaces(text) {
		if ends, want := m.Ends(text, from, to), strings.HasSuffix(text[:from], "ขข"); ends != want {
			t.Errorf("before %q: ends %t, want %t", text[to:], ends, want)
		}
	}
	if again := fitSpaces(documents, func(_, _, _ int) {}); !bytes.Equal(again.Bytes(), m.Bytes()) {
		t.Error("a second fit has other weights")
	}
}
