"""transformers as a peer. Usage: transformers_peer.py MODEL DTYPE THREADS"""
import sys
import time

import torch
import transformers

from protocol import serve


class FirstAndLast:
    """A streamer of `generate` that notes when tokens come: the prompt first, then one by one."""

    def __init__(self):
        self.times = []

    def put(self, _):
        self.times.append(time.perf_counter())

    def end(self):
        pass


class Transformers:
    def __init__(self, model, dtype, threads):
        transformers.logging.set_verbosity_error()
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        type_ = {"bf16": torch.bfloat16, "fp32": torch.float32}[dtype]
        self.model = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=type_).eval()
        self.hello = {"peer": "transformers", "version": f"{transformers.__version__}, torch {torch.__version__}", "threads": torch.get_num_threads()}

    def setup(self, prompt, continuation):
        self.prompt, self.continuation = torch.tensor([prompt]), torch.tensor([continuation])
        self.cache = self.model(self.prompt, use_cache=True, logits_to_keep=1).past_key_values

    def prefill(self):
        begin = time.perf_counter()
        self.model(self.prompt, use_cache=True, logits_to_keep=1)
        return time.perf_counter() - begin

    def forward(self, tokens):
        begin = time.perf_counter()
        logits = self.model(self.continuation[:, :tokens], past_key_values=self.cache, use_cache=True).logits
        seconds = time.perf_counter() - begin
        self.cache.crop(-tokens)
        return seconds, logits

    def step(self, tokens):
        return self.forward(tokens)[0]

    def choices(self, tokens):
        return self.forward(tokens)[1][0].argmax(-1).tolist()

    def decode(self, tokens):
        seen = FirstAndLast()
        self.model.generate(self.prompt, attention_mask=torch.ones_like(self.prompt), do_sample=False, min_new_tokens=tokens + 1,
                            max_new_tokens=tokens + 1, pad_token_id=0, streamer=seen)
        return seen.times[tokens + 1] - seen.times[1]


serve(lambda: Transformers(sys.argv[1], sys.argv[2], int(sys.argv[3])))
