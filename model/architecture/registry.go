package architecture

// registered are the architectures that a graph can be built of.
var registered = []*Architecture{
	{Name: "BERT", Types: []string{"bert"}, read: readBERT},
	{Name: "RoBERTa and XLM-RoBERTa", Types: []string{"roberta", "xlm-roberta", "camembert"}, read: readRoBERTa},
	{Name: "MPNet", Types: []string{"mpnet"}, read: readMPNet},
	{Name: "DistilBERT", Types: []string{"distilbert"}, read: readDistilBERT},
	{Name: "ModernBERT", Types: []string{"modernbert"}, read: readModernBERT},
	{Name: "GTE (NewModel)", Types: []string{"new", "gte"}, Code: true, read: readGTE},
	{Name: "Gemma 3 (text)", Types: []string{"gemma3_text"}, read: readGemma},
	{Name: "Qwen3", Types: []string{"qwen3"}, read: readQwen3},
	{Name: "Qwen2", Types: []string{"qwen2"}, read: readQwen2},
	{Name: "Llama and Mistral", Types: []string{"llama", "mistral"}, read: readLlama},
	{Name: "the encoder of T5 and mT5", Types: []string{"t5", "mt5", "umt5"}, read: readT5},
	{Name: "the encoder of M2M-100 and NLLB", Types: []string{"m2m_100"}, read: readM2M},
}
