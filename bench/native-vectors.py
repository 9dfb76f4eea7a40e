"""Texts become vectors by the native ONNX runtime, for bench/same-vectors.ts: JSON strings in, JSON lists out, one a line.

Takes the folder of a model that pools by the mean. Needs: pip install onnxruntime tokenizers numpy
"""
import json
import pathlib
import sys

import numpy
import onnxruntime
import tokenizers

folder = pathlib.Path(sys.argv[1])
tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.no_padding()
tokenizer.enable_truncation(json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"])
session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
names = [each.name for each in session.get_inputs()]

for line in sys.stdin:
    encoded = tokenizer.encode(json.loads(line))
    values = {"input_ids": encoded.ids, "attention_mask": encoded.attention_mask, "token_type_ids": encoded.type_ids}
    tokens = session.run(None, {name: numpy.array([values[name]], dtype=numpy.int64) for name in names})[0][0]
    vector = tokens.mean(axis=0)
    print(json.dumps((vector / numpy.linalg.norm(vector)).tolist()))
