package web

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"bitextmine/bitext/concordance"
	"bitextmine/web/pairs"
)

const key = "0123456789abcdef0123456789ABCDEF:00000000000000000000000000000001"

func TestReadDecision(t *testing.T) {
	for name, c := range map[string]struct {
		sent string
		fail string
	}{
		"accept":             {`{"key":"` + key + `","decision":"accept"}`, ""},
		"withdraw":           {`{"key":"` + key + `","decision":"withdraw"}`, ""},
		"unknown decision":   {`{"key":"` + key + `","decision":"Accept"}`, "decision is"},
		"no decision":        {`{"key":"` + key + `"}`, "decision is"},
		"unknown field":      {`{"key":"` + key + `","decision":"accept","row":1}`, "unknown field"},
		"two objects":        {`{"key":"` + key + `","decision":"accept"}{}`, "nothing after"},
		"half a key":         {`{"key":"0123456789abcdef0123456789abcdef","decision":"accept"}`, "key is"},
		"a key that is none": {`{"key":"../../etc/passwd:x","decision":"accept"}`, "key is"},
		"a name":             {`{"key":"` + key + `","decision":"accept","by":" Anna  B. "}`, ""},
		"an edit":            {`{"key":"` + key + `","decision":"accept","texts":["Das  Haus","the house"]}`, ""},
		"an edit rejected":   {`{"key":"` + key + `","decision":"reject","texts":["a","b"]}`, "texts are both"},
		"half an edit":       {`{"key":"` + key + `","decision":"accept","texts":["a"," "]}`, "not empty"},
		"a Cyrillic name":    {`{"key":"` + key + `","decision":"accept","by":"` + strings.Repeat("я", 60) + `"}`, ""},
		"a long name":        {`{"key":"` + key + `","decision":"accept","by":"` + strings.Repeat("a", 241) + `"}`, "name of at most"},
		"no JSON":            {"key=1", "object of JSON"},
		"nothing":            {"", "object of JSON"},
	} {
		d, err := readDecision(strings.NewReader(c.sent))
		switch {
		case c.fail == "" && err != nil, c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)):
			t.Errorf("%s: %v", name, err)
		case err == nil && (d.Label.Source != "0123456789abcdef0123456789abcdef" || d.Label.Accepted == (name == "withdraw") || d.Label.Edited() != (name == "an edit") || (d.Label.By == "Anna B.") != (name == "a name") || d.Withdrawn != (name == "withdraw")):
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestSearch(t *testing.T) {
	languages := [2]string{"de", "ar"}
	for query, want := range map[string]string{
		"q=Haus&in=ar&mode=phrase&from=50": "",
		"q=Haus&in=en":                     "in is de, ar",
		"q=Haus&mode=magic":                "mode is",
		"q=Haus&from=-1":                   "from is a place",
		"q=Haus&from=1e3":                  "from is a place",
		"q=%ff":                            "not UTF-8",
		"q=" + strings.Repeat("a", 1025):   "more than 1024",
		"q=" + strings.Repeat("語", 1025):   "has 1025 characters",
	} {
		form, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		q, searched, err := search(form, languages)
		if want == "" {
			if err != nil || !searched || q.Sides != [2]bool{false, true} || q.Mode != concordance.Phrase || q.Skip != 50 {
				t.Errorf("%s: %+v %v", query, q, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", query, err)
		}
	}
	if _, _, err := search(url.Values{"q": {strings.Repeat("語", 1024)}}, languages); err != nil {
		t.Errorf("a query of 1,024 characters: %v", err)
	}
	if q, searched, err := search(url.Values{"q": {"  "}}, languages); searched || err != nil || q.Sides != [2]bool{true, true} {
		t.Errorf("an empty query: %+v %v %v", q, searched, err)
	}
}

func TestFields(t *testing.T) {
	for query, want := range map[string]string{
		"": "", "from=50": "", "q=a&from=": "", "form=50": `takes no "form": its fields are q, from`, "q=a&q=b": "q is given 2 times",
		"q=%zz": "cannot be read", "q=a;from=1": "cannot be read",
	} {
		if err := checkFields(query, "q", "from"); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
	if err := checkFields("utm_source=a"); err == nil {
		t.Error("a page without fields takes one")
	}
}

func FuzzDecision(f *testing.F) {
	f.Add([]byte(`{"key":"` + key + `","decision":"reject"}`))
	f.Add([]byte(`{"key":null,"decision":["accept"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := readDecision(bytes.NewReader(data))
		if err != nil {
			return
		}
		if _, err := pairs.Keys(d.Label.Source, d.Label.Target); err != nil || strings.ToLower(d.Label.Source) != d.Label.Source {
			t.Errorf("%q was taken as %+v", data, d)
		}
	})
}

func FuzzQuery(f *testing.F) {
	f.Add("q=Haus&mode=words&in=de&from=10&show=taken&order=near&at=3&step=undecided&min=0.5&max=NaN")
	f.Add("q=%00%ff&from=99999999999999999999&order=../..")
	f.Fuzz(func(t *testing.T, query string) {
		form, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		if q, searched, err := search(form, [2]string{"de", "en"}); err == nil {
			if !utf8.ValidString(q.Text) || utf8.RuneCountInString(q.Text) > maxQuery || q.Skip < 0 || q.Sides == [2]bool{} || searched != (strings.TrimSpace(q.Text) != "") {
				t.Errorf("%q was taken as %+v", query, q)
			}
		}
		if sel, err := selection(form, pairs.ByRow); err == nil && (len(sel.Show) > maxReason || !utf8.ValidString(sel.Show) || !utf8.ValidString(sel.Text) || sel.Min != sel.Min) {
			t.Errorf("%q was taken as a list of %+v", query, sel)
		}
		if at, err := place(form, "at"); err == nil && at < 0 {
			t.Errorf("%q was taken as place %d", query, at)
		}
		_, _ = step(form)
	})
}
