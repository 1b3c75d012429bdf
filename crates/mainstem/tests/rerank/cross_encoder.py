"""Writes the logits that transformers gives for a tiny cross-encoder, for our forward pass to be compared with.

    pip install torch transformers
    python cross_encoder.py > cross_encoder.json

The weights mean nothing: both sides make them by the same formula, so no file of weights is kept. The vocabulary and the texts are ours.
"""

import json
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] a the fork pin king rook move ##s attack ##ing two piece at once can ##not "
    "castle un ##able what is how do i , . ? ! ( ) 1 2 ##3 cafe 東 京"
).split()
CONFIG = {
    "model_type": "bert",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "vocab_size": 48,
    "max_position_embeddings": 32,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-7,
    "hidden_act": "gelu",
}
PAIRS = [
    ["what is a fork?", "a fork attacks two pieces at once."],
    ["what is a fork?", "a pin: the piece cannot move"],
    ["how do i castle", "Castling moves the king (and a rook)!"],
    ["KING", "Café 東京 123"],
    ["fork", "."],
    ["a fork", "the king, the rook, a piece, the fork, " * 12],
    ["the king, the rook, a piece " * 9, "what is the king?"],
    ["two pieces at once " * 9, "the rook can move " * 9],
]


def numbers(name: str, count: int) -> list[float]:
    """The elements of a tensor: a linear congruential generator that starts from the FNV-1a hash of the name."""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    out = []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append((state >> 41) / 2**22 - 1.0)
    norm = "LayerNorm.weight" in name
    return [1.0 + x / 4 if norm else x / 4 for x in out]


def logits(labels: int) -> list[list[float]]:
    model = BertForSequenceClassification(BertConfig(**CONFIG, num_labels=labels)).eval()
    weights = {n: torch.tensor(numbers(n, t.numel())).reshape(t.shape) for n, t in model.named_parameters()}
    model.load_state_dict(weights, strict=False)
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = Path(folder, "vocab.txt")
        vocabulary.write_text("".join(f"{token}\n" for token in VOCABULARY))
        tokenizer = BertTokenizer(str(vocabulary))
        rows = []
        for query, text in PAIRS:
            tokens = tokenizer(query, text, truncation="longest_first", max_length=32, return_tensors="pt")
            with torch.no_grad():
                row = model(**tokens).logits[0].double().tolist()
            rows.append({
                "query": query,
                "text": text,
                "ids": tokens["input_ids"][0].tolist(),
                "second": tokens["token_type_ids"][0].tolist().count(0),
                "logits": row,
            })
    return rows


def main() -> None:
    made = {"torch": torch.__version__, "transformers": transformers.__version__}
    out = {"made_with": made, "config": CONFIG, "vocabulary": VOCABULARY, "one": logits(1), "two": logits(2)}
    json.dump(out, sys.stdout, ensure_ascii=False, indent=1)
    print()


main()
