package corpus_test

import (
	"fmt"
	"log"
	"testing/fstest"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
)

// The sentences of a JSONL file, of which one line has no text.
func ExampleSentences() {
	files := fstest.MapFS{"news.jsonl": {Data: []byte(`{"id": "a", "body": "Der Zug  hat Verspätung. "}
{"id": "b", "body": ""}
{"id": "c", "body": "Es regnet."}
`)}}
	opts := corpus.DefaultOptions()
	opts.TextColumn, opts.DocColumn = "body", "id"
	for sentence, err := range corpus.Sentences(input.File{FS: files, Path: "news.jsonl"}, opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s, line %d: %q\n", sentence.Doc, sentence.Line, sentence.Normal)
	}
	// Output:
	// a, line 1: "Der Zug hat Verspätung."
	// c, line 3: "Es regnet."
}

// Texts that normalise to the same text are one sentence and have one key.
func ExampleNormalise() {
	spaced := corpus.Normalise("  Es\u00a0regnet.\t")
	plain := corpus.Normalise("Es regnet.")
	fmt.Printf("%q %v\n", spaced, corpus.KeyOf(spaced) == corpus.KeyOf(plain))
	// Output: "Es regnet." true
}

// All usual codes of a language have one name here.
func ExampleParseLanguage() {
	for _, code := range []string{"deu_Latn", "de-AT", "zho_Hant"} {
		name, err := corpus.ParseLanguage(code)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(name)
	}
	// Output:
	// de
	// de
	// zh-Hant
}
