package annotate

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var placeholder = regexp.MustCompile(`\[(?:EMAIL|PHONE|IBAN|CARD|IP)_\d\]`)

// TestMaskIsPrecise: of what is masked in the cases at least 95% is personal data, and of that 95% is found.
func TestMaskIsPrecise(t *testing.T) {
	data, err := os.ReadFile("../../fixtures/filter/personal.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var masked, wanted, right int
	for line := range strings.Lines(string(data)) {
		text, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		got, kinds := Mask([2]string{text, ""})
		here, there := len(placeholder.FindAllString(got[0], -1)), len(placeholder.FindAllString(want, -1))
		masked, wanted = masked+here, wanted+there
		if got[0] == want {
			right += here
		} else {
			t.Logf("%q is masked as %q, want %q", text, got[0], want)
			right += max(0, min(here, there)-1)
		}
		if (len(kinds[0]) > 0) != (got[0] != text) || kinds[1] != nil || got[1] != "" {
			t.Errorf("%q has the kinds %q", text, kinds)
		}
	}
	t.Logf("%d masked, %d of them right, %d wanted", masked, right, wanted)
	if masked < 70 || float64(right) < 0.95*float64(masked) || float64(right) < 0.95*float64(wanted) {
		t.Errorf("%d of %d masked are right, %d are wanted", right, masked, wanted)
	}
}

// TestMaskBothSidesAlike: a value has one placeholder, however it is spelled, and a number that one side calls a
// telephone is one on the other.
func TestMaskBothSidesAlike(t *testing.T) {
	for _, c := range []struct{ source, target, maskedSource, maskedTarget string }{
		{"An b@x.de und A@x.de.", "To a@x.de and b@x.de.", "An [EMAIL_1] und [EMAIL_2].", "To [EMAIL_2] and [EMAIL_1]."},
		{"Tel. 030 1234567", "Just dial 030 1234567", "Tel. [PHONE_1]", "Just dial [PHONE_1]"},
		{"Tel. 030 1234567", "Dial +49 30 1234567 now", "Tel. [PHONE_1]", "Dial [PHONE_1] now"},
		{"Wählen Sie 030-1234567.", "Dial +49 30 1234567.", "Wählen Sie [PHONE_1].", "Dial [PHONE_1]."},
		{"Konto DE89370400440532013000", "Account DE89 3704 0044 0532 0130 00", "Konto [IBAN_1]", "Account [IBAN_1]"},
		{"nichts", "mail a@x.de, ip 203.0.113.77", "nichts", "mail [EMAIL_1], ip [IP_1]"},
		{"Tel. 030 1234567, 1234567 Euro", "Tel. 030 1234568", "Tel. [PHONE_1], [PHONE_1] Euro", "Tel. [PHONE_2]"},
		{"Tel.: 030 1234567 / 0171 2345678", "030 1234567 / 0171 2345678", "Tel.: [PHONE_1] / [PHONE_2]", "[PHONE_1] / [PHONE_2]"},
		{"Telefon: 030 1234567 - 0171 2345678, rufen Sie an!", "Call 030 1234567 or 0171 2345678.", "Telefon: [PHONE_1] - [PHONE_2], rufen Sie an!", "Call [PHONE_1] or [PHONE_2]."},
		{"Tél. : 01 23 45 67 89 / 06 12 34 56 78", "Call 01 23 45 67 89 - 06 12 34 56 78.", "Tél. : [PHONE_1] / [PHONE_2]", "Call [PHONE_1] - [PHONE_2]."},
		{"Telefon 089 1234567 und 0171 2345678 am 01.02.2023", "089 1234567/0171 2345678/+49 30 7654321", "Telefon [PHONE_1] und [PHONE_2] am 01.02.2023", "[PHONE_1]/[PHONE_2]/[PHONE_3]"},
		{"هاتف: ٠١٢٣٤٥٦٧٨٩", "Phone: 0123456789", "هاتف: [PHONE_1]", "Phone: [PHONE_1]"},
		{"電話：０３－１２３４－５６７８まで", "Call 03-1234-5678.", "電話：[PHONE_1]まで", "Call [PHONE_1]."},
		{"連絡先はｍａｘ＠ｅｘａｍｐｌｅ．ｃｏｍ：受付９時", "Write to max@example.com!", "連絡先は[EMAIL_1]：受付９時", "Write to [EMAIL_1]!"},
		{"max＠example.com、１２．５％", "max@example.com, 12.5%", "[EMAIL_1]、１２．５％", "[EMAIL_1], 12.5%"},
		{"電話－03-1234-5678。１２時", "03-1234-5678", "電話－[PHONE_1]。１２時", "[PHONE_1]"},
	} {
		got, _ := Mask([2]string{c.source, c.target})
		if c.maskedSource = strings.Replace(c.maskedSource, ", [PHONE_1] Euro", ", 1234567 Euro", 1); got != [2]string{c.maskedSource, c.maskedTarget} {
			t.Errorf("%q, %q: %q", c.source, c.target, got)
		}
	}
	if _, kinds := Mask([2]string{"a@x.de, b@x.de, 203.0.113.77", "a@x.de"}); !slices.Equal(kinds[0], []string{"EMAIL", "IP"}) || !slices.Equal(kinds[1], []string{"EMAIL"}) {
		t.Errorf("kinds %q", kinds)
	}
}

// TestMaskFinds: what stands close to a number or an address does not hide it.
func TestMaskFinds(t *testing.T) {
	for text, want := range map[string]string{
		"Tel.030/1234567":                            "Tel.[PHONE_1]",
		"Tel.+49 30 1234567":                         "Tel.[PHONE_1]",
		"Fax(030)1234567":                            "Fax[PHONE_1]",
		"Phone #555-123-4567":                        "Phone #[PHONE_1]",
		"Tel. 030 1234567,030 7654321":               "Tel. [PHONE_1],[PHONE_2]",
		"(+49) 30 1234567":                           "[PHONE_1]",
		"Rufen Sie an (+49 30 1234567).":             "Rufen Sie an ([PHONE_1]).",
		"Звоните, тел. 8 (495) 123-45-67":            "Звоните, тел. [PHONE_1]",
		"тел.8(495)1234567":                          "тел.[PHONE_1]",
		"отель 1234567":                              "отель 1234567",
		"Звоните 8 (495) 123-45-67 до шести":         "Звоните [PHONE_1] до шести",
		"8-800-555-35-35, (495) 123-45-67":           "[PHONE_1], [PHONE_2]",
		"8 (81369) 2-16-35, 8 сентября 100-45-67":    "[PHONE_1], 8 сентября 100-45-67",
		"de89 3704 0044 0532 0130 00 und":            "[IBAN_1] und",
		"\xffGb29nwbk60161331926819.":                "\xff[IBAN_1].",
		"Artikel no90 dies ist alle, 1234567890":     "Artikel no90 dies ist alle, 1234567890",
		"+33\u202f1\u202f23\u202f45\u202f67\u202f89": "[PHONE_1]",
		"Tel.: 030\u20111234567 – heute":             "Tel.: [PHONE_1] – heute",
		"DE89\u20093704 0044 0532 0130 00":           "[IBAN_1]",
		"info@firma.de/sales@firma.de/":              "[EMAIL_1]/[EMAIL_2]/",
		"git@github.com:a/b user@host.com/path":      "git@github.com:a/b user@host.com/path",
		"phone1234567 v.1234567 S. 1,030":            "phone1234567 v.1234567 S. 1,030",
	} {
		if got, _ := Mask([2]string{text, ""}); got[0] != want {
			t.Errorf("%q became %q, want %q", text, got[0], want)
		}
	}
}

// TestMaskLeaves: dates are no telephone numbers.
func TestMaskLeaves(t *testing.T) {
	for _, text := range []string{"am 02-03-2024", "On 01-12-2020 and 09-11-1999.", "Tel. 02-03-2024"} {
		if got, _ := Mask([2]string{text, ""}); got[0] != text {
			t.Errorf("%q became %q", text, got[0])
		}
	}
}

// FuzzMask: what is masked keeps the text around it, and masking it again changes nothing.
func FuzzMask(f *testing.F) {
	f.Add("Tel. +49 30 1234567, a@x.de", "DE89 3704 0044 0532 0130 00 (030) 12345")
	f.Add("電話：０３－１２３４－５６７８\xff", "max＠example.com \xe3٠١٢٣٤٥٦٧٨٩")
	f.Add("fe80::1:2 \xff(0", "4111111111111111 GB29")
	f.Fuzz(func(t *testing.T, source, target string) {
		texts := [2]string{source, target}
		masked, _ := Mask(texts)
		for side, text := range texts {
			rest := text
			for _, piece := range placeholder.Split(masked[side], -1) {
				at := strings.Index(rest, piece)
				if at < 0 {
					t.Fatalf("%q became %q", text, masked[side])
				}
				rest = rest[at+len(piece):]
			}
		}
	})
}

func BenchmarkMask(b *testing.B) {
	texts := [2]string{"Die Kommission hat am 24.12.2023 mit 1 234 567 Stimmen beschlossen.", "On 24 December 2023 the Commission decided with 1,234,567 votes."}
	for b.Loop() {
		Mask(texts)
	}
}
