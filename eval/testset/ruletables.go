package testset

// replacement turns one phrase, in lower case, into another.
type replacement struct{ from, to string }

var numberWords = []string{
	"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fifteen",
	"sixteen", "twenty", "thirty", "forty", "fifty", "sixty", "hundred", "thousand", "million", "billion",
}

// notNames are words that English always capitalises although they are not names.
var notNames = map[string]bool{"I": true, "I'm": true, "I've": true, "I'd": true, "I'll": true, "OK": true}

// negations: the longer phrase of a pair is first, so that it is matched before its part.
var negations = []replacement{
	{"is not", "is"}, {"are not", "are"}, {"was not", "was"}, {"were not", "were"}, {"has not", "has"},
	{"have not", "have"}, {"had not", "had"},
	{"will not", "will"}, {"would not", "would"}, {"should not", "should"}, {"could not", "could"},
	{"must not", "must"}, {"may not", "may"},
	{"cannot", "can"}, {"can't", "can"}, {"won't", "will"}, {"isn't", "is"}, {"aren't", "are"}, {"wasn't", "was"},
	{"weren't", "were"}, {"hasn't", "has"},
	{"haven't", "have"}, {"hadn't", "had"}, {"wouldn't", "would"}, {"shouldn't", "should"}, {"couldn't", "could"},
	{"is", "is not"}, {"are", "are not"}, {"was", "was not"}, {"were", "were not"}, {"will", "will not"},
	{"would", "would not"}, {"should", "should not"},
	{"could", "could not"}, {"can", "cannot"}, {"must", "must not"}, {"may", "may not"},
	{"has been", "has not been"}, {"have been", "have not been"}, {"had been", "had not been"},
}

// causality reverses the relation between two parts of a sentence, or the direction of a change.
var causality = []replacement{
	{"because of", "despite"}, {"due to", "despite"}, {"thanks to", "despite"}, {"as a result of", "in spite of"},
	{"despite", "because of"}, {"in spite of", "because of"},
	{"because", "although"}, {"although", "because"}, {"even though", "because"}, {"therefore", "nevertheless"},
	{"however", "therefore"},
	{"so that", "although"}, {"if", "unless"}, {"unless", "if"}, {"before", "after"}, {"after", "before"},
	{"until", "since"}, {"with", "without"}, {"without", "with"},
	{"caused", "prevented"}, {"causes", "prevents"}, {"causing", "preventing"}, {"led to", "prevented"},
	{"leads to", "prevents"}, {"prevented", "caused"}, {"prevents", "causes"},
	{"allowed", "forbade"}, {"allows", "forbids"}, {"allow", "forbid"}, {"helped", "hindered"}, {"helps", "hinders"},
	{"increased", "decreased"}, {"increases", "decreases"}, {"increasing", "decreasing"}, {"increase", "decrease"},
	{"decreased", "increased"}, {"decreases", "increases"}, {"decreasing", "increasing"}, {"decrease", "increase"},
	{"rose", "fell"}, {"fell", "rose"}, {"risen", "fallen"}, {"fallen", "risen"}, {"gained", "lost"}, {"lost", "won"},
	{"won", "lost"},
	{"more", "less"}, {"less", "more"}, {"most", "least"}, {"least", "most"}, {"higher", "lower"}, {"lower", "higher"},
	{"larger", "smaller"}, {"smaller", "larger"},
	{"better", "worse"}, {"worse", "better"}, {"best", "worst"}, {"worst", "best"}, {"first", "last"},
	{"last", "first"}, {"always", "never"}, {"never", "always"},
	{"all", "none of"}, {"many", "few"}, {"few", "many"}, {"accepted", "rejected"}, {"rejected", "accepted"},
	{"opened", "closed"}, {"closed", "opened"},
	{"started", "stopped"}, {"stopped", "started"}, {"began", "ended"}, {"ended", "began"}, {"approved", "rejected"},
	{"confirmed", "denied"}, {"denied", "confirmed"},
}
