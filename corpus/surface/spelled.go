package surface

import (
	"slices"
	"strings"
)

// firstSpelled is the value of the first word in spelledOut. One is an article in many languages.
const firstSpelled = 2

// spelledOut lists the words of 2 to 20 and of 30, 40 and so on to 90. A number that is not one word, or whose word
// usually means something else, is "-".
var spelledOut = map[string]string{
	"de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig " +
		"dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
	"en": "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty " +
		"thirty forty fifty sixty seventy eighty ninety",
	"es": "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte " +
		"treinta cuarenta cincuenta sesenta setenta ochenta noventa",
	"fr": "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize - - - vingt " +
		"trente quarante cinquante soixante - - -",
	"it": "due tre quattro cinque - sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove venti " +
		"trenta quaranta cinquanta sessanta settanta ottanta novanta",
	"nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien twintig " +
		"dertig veertig vijftig zestig zeventig tachtig negentig",
	"pl": "dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście trzynaście czternaście piętnaście szesnaście siedemnaście " +
		"osiemnaście dziewiętnaście dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt",
	"pt": "dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove vinte " +
		"trinta quarenta cinquenta sessenta setenta oitenta noventa",
	"ru": "два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать пятнадцать шестнадцать семнадцать " +
		"восемнадцать девятнадцать двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто",
}

// spelledNumbers holds the values of spelledOut by language and by the words' hashes.
var spelledNumbers = func() map[string]map[uint32]int {
	all := map[string]map[uint32]int{}
	for language, words := range spelledOut {
		all[language] = map[uint32]int{}
		for i, word := range strings.Fields(words) {
			value := firstSpelled + i
			if value > 20 {
				value = (value - 18) * 10
			}
			if word != "-" {
				all[language][WordAt(word).Hash] = value
			}
		}
	}
	return all
}()

// maxAcronym is the number of letters of the longest words that are taken for acronyms.
const maxAcronym = 5

// Acronym hashes the letters of three to five capitals in the order of the alphabet, because other languages often have
// them in another order: NATO is OTAN, and BIP, the gross domestic product, PIB. ok is false for other words.
func Acronym(word string) (hash uint32, ok bool) {
	if len(word) < minName || len(word) > maxAcronym {
		return 0, false
	}
	letters := []byte(word)
	for _, letter := range letters {
		if letter < 'A' || letter > 'Z' {
			return 0, false
		}
	}
	slices.Sort(letters)
	hash = hashStart
	for _, letter := range letters {
		hash = mix(hash, rune(letter))
	}
	return hash, true
}
