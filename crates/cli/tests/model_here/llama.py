"""llama.cpp's server on the weights of all-MiniLM-L6-v2, for the tests of models behind HTTP.

    llama.py FOLDER FILE     FOLDER has model.safetensors and vocab.txt; FILE is written once, as GGUF

Prints the address of the server on one line and serves until its standard input ends.
"""

import os
import sys

import gguf
import numpy
import xllamacpp
from safetensors.numpy import load_file

LAYERS = 6
HEADS = 12
HIDDEN = 384
INNER = 1536
POSITIONS = 512

# What the parts of the model are called here and there.
OUTSIDE = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm": "token_embd_norm",
}
INSIDE = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}


def names():
    """Pairs of a tensor's name here and there."""
    pairs = dict(OUTSIDE)
    for layer in range(LAYERS):
        for here, there in INSIDE.items():
            pairs[f"encoder.layer.{layer}.{here}"] = f"blk.{layer}.{there}"
    for here, there in pairs.items():
        if here.endswith(".weight"):
            yield here, there
        else:
            yield f"{here}.weight", f"{there}.weight"
            yield f"{here}.bias", f"{there}.bias"


def piece(token):
    """llama.cpp marks the start of a word, where WordPiece marks what goes on with one."""
    if token.startswith("[") and token.endswith("]") and len(token) > 2:
        return token
    return token[2:] if token.startswith("##") else "\u2581" + token


def write_vocabulary(writer, path):
    with open(path, encoding="utf-8") as lines:
        tokens = lines.read().split("\n")
    tokens = tokens[:-1] if tokens[-1] == "" else tokens
    special = {"[UNK]": gguf.TokenType.UNKNOWN} | dict.fromkeys(
        ["[PAD]", "[CLS]", "[SEP]", "[MASK]"], gguf.TokenType.CONTROL
    )
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([piece(token) for token in tokens])
    writer.add_token_types([special.get(token, gguf.TokenType.NORMAL) for token in tokens])
    writer.add_token_type_count(2)
    writer.add_pad_token_id(tokens.index("[PAD]"))
    writer.add_unk_token_id(tokens.index("[UNK]"))
    writer.add_bos_token_id(tokens.index("[CLS]"))
    writer.add_eos_token_id(tokens.index("[SEP]"))
    writer.add_sep_token_id(tokens.index("[SEP]"))
    writer.add_mask_token_id(tokens.index("[MASK]"))


def write(folder, path):
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_context_length(POSITIONS)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    write_vocabulary(writer, os.path.join(folder, "vocab.txt"))
    tensors = load_file(os.path.join(folder, "model.safetensors"))
    for here, there in names():
        writer.add_tensor(there, tensors[here].astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path):
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.n_parallel = 1
    params.n_ctx = params.n_batch = params.n_ubatch = POSITIONS
    # Threads that wait for each other turn slow where the machine is busy with other tests.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # The threads of the server do not end by themselves.
    os._exit(0)


def main():
    folder, path = sys.argv[1:]
    if not os.path.exists(path):
        # Two tests may write at once: whoever is ready puts its own into place.
        aside = f"{path}.{os.getpid()}"
        write(folder, aside)
        os.replace(aside, path)
    serve(path)


main()
