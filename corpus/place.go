package corpus

// Place is where a sentence stands in a record that was divided.
type Place struct {
	Paragraph, Position uint32 // numbers of the paragraph and of the sentence in the record, from 0
	Start, End          uint32 // the sentence in bytes of the record's text
}
