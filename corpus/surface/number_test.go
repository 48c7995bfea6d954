package surface

import "testing"

// TestUnpairedNumbers: numbers that only one of two sentences has, however each language writes them.
func TestUnpairedNumbers(t *testing.T) {
	for _, c := range []struct {
		name, languages, a, b string
		onlyA, onlyB          int
	}{
		{"another number", "deen", "Es hat 72 Zimmer und kostet 940 Euro.", "It has 72 rooms and costs 1,040 euros.", 1, 1},
		{"one is left out", "deen", "Es hat 72 Zimmer und kostet 940 Euro.", "It has 72 rooms.", 1, 0},
		{"separators", "deen", "1.000 und 3,5", "1,000 and 3.5", 0, 0},
		{"spelled out", "deen", "zwölf Männer und 3 Kinder", "12 men and three children", 0, 0},
		{"spelled out differently", "deen", "zwölf Männer", "six men", 1, 1},
		{"tens and a unit", "fren", "vingt-deux ans, 27 pays", "22 years, twenty-seven countries", 0, 0},
		{"tens before another word", "enen", "twenty to thirty people", "20 to 30 people", 0, 0},
		{"a word of another language", "deen", "six Euro", "6 euros", 0, 1},
		{"millions", "deen", "3 Mio. Menschen", "3,000,000 people", 0, 0},
		{"millions of a word", "deen", "zwei Millionen Menschen", "2,000,000 people", 0, 0},
		{"ten thousands", "zhen", "300万人", "3 million people", 0, 0},
		{"without a word of magnitude", "deen", "30 Menschen", "3 people", 1, 1},
		{"a date", "deen", "am 26.09.2012", "on 26 September 2012", 1, 0},
		{"a clock of 24 hours", "deen", "um 14:30 Uhr", "at 2:30 pm", 0, 0},
		{"digits of other scripts", "aren", "٢٥ كتابا", "25 books", 0, 0},
		{"times and thousands of full width", "zhen", "１０：１５，有１６，７００人和12，345只", "at 10:15 there were 16,700 people and 12,345", 0, 0},
		{"a comma between clauses", "zhen", "在2018，300人", "in 2018, 300 people", 0, 0},
		{"a fraction of full width", "jaen", "３．７５％", "3.75%", 0, 0},
		{"separators of Arabic", "aren", "١٦٬٧٠٠ و ١٦،٧٠٠ و ٣٫٧٥٪", "16,700 and 16,700 and 3.75%", 0, 0},
		{"a date of other digits", "aren", "١٢/٠٥/٢٠٢٠", "12/05/2020", 0, 0},
		{"parts of a Japanese number", "jaen", "3億5000万円と１万２３４５人と1億2,650万", "350 million yen, 12,345 people and 126.5 million", 0, 0},
		{"parts of a Chinese number", "zhen", "14亿1200万人，1億2千萬", "1.412 billion people, 120 million", 0, 0},
		{"parts of a Korean number", "koen", "1만 2300명과 12조 5000억 원", "12,300 people and 12.5 trillion won", 0, 0},
		{"another last part", "jaen", "1万2345円", "12,346 yen", 1, 1},
		{"too large a number", "zhen", "99999999兆1亿", "99999999 trillion", 1, 0},
		{"parts out of order", "zhen", "1万2亿", "12", 2, 1},
		{"a year behind a number", "koen", "3만 2019년", "30,000 in 2019", 0, 0},
		{"an area and another number", "zhen", "3万平方米，2000人", "30,000 square metres, 2,000 people", 0, 0},
		{"a half", "deen", "1½ km und 2½ kg", "1.5 km and 2.5 kg", 0, 0},
		{"decades", "deen", "in den 70er Jahren", "in the 1970s", 0, 0},
		{"another decade", "deen", "in den 80er Jahren", "in the 1970s", 1, 1},
		{"an empty fraction", "deen", "2% und 5,00 Euro", "2.0% and 5 euros", 0, 0},
		{"thousands are no fraction", "deen", "2.000 Menschen", "2 people", 1, 1},
		{"a year is not its end", "deen", "75 Jahre", "in 1975", 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := UnpairedDecades(UnpairedNumbers(Of(c.languages[:2], c.a).Numbers, Of(c.languages[2:], c.b).Numbers))
			if len(a) != c.onlyA || len(b) != c.onlyB {
				t.Errorf("%d and %d numbers are unpaired, want %d and %d", len(a), len(b), c.onlyA, c.onlyB)
			}
		})
	}
}

// TestWithoutMonths: a month is a number in some languages and a name in others.
func TestWithoutMonths(t *testing.T) {
	for text, want := range map[string]int{"7月26日": 1, "11月": 0, "13月": 1, "7个月": 1, "2020年9月5日": 2, "7 Tage": 1, "7월 26일": 1} {
		if got := len(WithoutMonths(Of("zh", text).Numbers)); got != want {
			t.Errorf("%q has %d numbers that are no months, want %d", text, got, want)
		}
	}
}

func TestNumerals(t *testing.T) {
	for text, want := range map[string]int32{"三十岁": 2, "一个人": 0, "Ludwig XIV. und Wilhelm II": 2, "Ich bin da": 0, "7 Tage": 0} {
		if got := Of("zh", text).Numerals; got != want {
			t.Errorf("%q has %d numerals, want %d", text, got, want)
		}
	}
}
