package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// vocab is small enough to work out every case by hand. A piece's id is its index.
var vocab = strings.Fields(`[PAD] [UNK] [CLS] [SEP] un ##aff ##able ##a un affable , . ! ' $ 我 爱 ##爱 cafe café ##s na ##ive naive ##ı ü ##ber 1 ##9 ##84 a ##b ##bc ##c # カ ##タ İ`)

func load(t testing.TB, options WordPieceOptions) *HuggingFace {
	t.Helper()
	v, err := NewWordPiece([]byte(strings.Join(vocab, "\n")+"\n"), options)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		name, text string
		strip      bool
		want       string // pieces
	}{
		{"longest first, again and again", "unaffable", false, "un ##aff ##able"},
		{"greedy, not best: ##b hides ##bc only if shorter", "abc", false, "a ##bc"},
		{"greedy fails late, so the word is unknown", "abcd", false, "[UNK]"},
		{"a word that is one piece", "naive", false, "naive"},
		{"no piece begins it", "xun", false, "[UNK]"},
		{"words and punctuation", "un, a!", false, "un , a !"},
		{"punctuation within a word", "a'a", false, "a ' a"},
		{"ASCII symbols are punctuation", "$1", false, "$ 1"},
		{"each hash is its own word, so ## pieces are not found in text", "##s", false, "# # [UNK]"},
		{"digits", "1984", false, "1 ##9 ##84"},
		{"Chinese characters stand alone", "我爱", false, "我 爱"},
		{"kana do not", "カタ", false, "カ ##タ"},
		{"white space of all kinds", " \ta\u00a0a\u3000a\r\na ", false, "a a a a"},
		{"control and format characters vanish", "u\u200dn\x00\ufffd\u0007", false, "un"},
		{"accents kept", "café", false, "café"},
		{"accents stripped", "cafés naïve über", true, "cafe ##s naive [UNK]"},
		{"decomposed accents stripped", "cafe\u0301", true, "cafe"},
		{"nothing", "", false, ""},
		{"only dropped characters", "\u200b\u200e", false, ""},
		{"100 letters are tried", strings.Repeat("a", 100), false, "a" + strings.Repeat(" ##a", 99)},
		{"101 letters are unknown", strings.Repeat("a", 101), false, "[UNK]"},
		{"an unknown word does not spoil the rest", "a zzz a", false, "a [UNK] a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := load(t, WordPieceOptions{StripAccents: c.strip})
			var got []string
			err := v.Encode([]string{c.text}, 1000, func(_ int, ids []int32) {
				for _, id := range ids {
					got = append(got, vocab[id])
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q gives %v, want %s", c.text, got, c.want)
			}
		})
	}
}

func TestEncodeCuts(t *testing.T) {
	v := load(t, WordPieceOptions{})
	err := v.Encode([]string{"a a unaffable", "a"}, 3, func(i int, ids []int32) {
		if want := []int{3, 1}[i]; len(ids) != want {
			t.Errorf("text %d has %d ids, want %d", i, len(ids), want)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Encode([]string{"a"}, 0, func(int, []int32) {}); err == nil {
		t.Error("room for no ids was accepted")
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct{ name, vocab, says string }{
		{"no unknown piece", "a\nb\n", "[UNK]"},
		{"empty", "", "[UNK]"},
		{"not text", "[UNK]\n\xff\xfe\n", "line 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := NewWordPiece([]byte(c.vocab), WordPieceOptions{}); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestIDs(t *testing.T) {
	v := load(t, WordPieceOptions{})
	if id, ok := v.ID("[CLS]"); !ok || id != 2 {
		t.Errorf("[CLS] is %d, %v", id, ok)
	}
	if _, ok := v.ID("nowhere"); ok {
		t.Error("a piece that is not there has an id")
	}
	if v.Unknown() != 1 || v.Size() != len(vocab) {
		t.Errorf("unknown %d, size %d", v.Unknown(), v.Size())
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range []string{"unaffable café, 我爱 1984!", "\xff\xfe", "a\u0301\u0302", strings.Repeat("a", 300), "İ"} {
		f.Add(text)
	}
	v := load(f, WordPieceOptions{StripAccents: true})
	f.Fuzz(func(t *testing.T, text string) {
		calls := 0
		var first []int32
		keep := func(_ int, ids []int32) { calls, first = calls+1, slices.Clone(ids) }
		if err := v.Encode([]string{text}, 64, keep); err != nil {
			t.Fatal(err)
		}
		for _, id := range first {
			if id < 0 || int(id) >= v.Size() {
				t.Fatalf("id %d of %d", id, v.Size())
			}
		}
		if calls != 1 || len(first) > 64 || len(first) > utf8.RuneCountInString(text)*4 {
			t.Fatalf("%d calls, %d ids of %d letters", calls, len(first), utf8.RuneCountInString(text))
		}
		// White space around a text changes nothing.
		if err := v.Encode([]string{" " + text + "\n"}, 64, func(_ int, ids []int32) {
			if !slices.Equal(ids, first) {
				t.Fatalf("%q gives %v, with white space around it %v", text, first, ids)
			}
		}); err != nil {
			t.Fatal(err)
		}
	})
}
