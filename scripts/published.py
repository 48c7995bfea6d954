"""A static encoder as it is published, as input for scripts/kills and scripts/memory."""
import json, struct


def write_published(folder, words, dim=256):
    """Writes a static encoder of words as Model2Vec publishes it: a tokenizer and a table of float32."""
    folder.mkdir()
    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", *words])}
    tokenizer = {"model": {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]", "continuing_subword_prefix": "##"},
                 "normalizer": {"type": "BertNormalizer", "lowercase": True, "clean_text": True, "handle_chinese_chars": True}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "config.json").write_text('{"model_type": "model2vec"}')
    count = len(vocabulary) * dim
    head = json.dumps({"embeddings": {"dtype": "F32", "shape": [len(vocabulary), dim], "data_offsets": [0, 4 * count]}}).encode()
    rows = struct.pack(f"<{count}f", *((i * 2654435761 % 65536) / 65536 - 0.5 for i in range(count)))
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + rows)
