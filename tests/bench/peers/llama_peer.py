"""llama.cpp as a peer, through llama-cpp-python's binding of its C functions. Usage: llama_peer.py GGUF THREADS"""
import sys
import time

import llama_cpp
import numpy as np

from protocol import serve

BATCH = 512


class LlamaCpp:
    def __init__(self, file, threads):
        self.llama = llama_cpp.Llama(file, n_ctx=2048, n_threads=threads, n_threads_batch=threads, n_batch=BATCH, n_ubatch=BATCH, verbose=False)
        self.context = self.llama.ctx
        self.memory = llama_cpp.llama_get_memory(self.context)
        self.vocabulary = self.llama.n_vocab()
        self.batch = llama_cpp.llama_batch_init(BATCH, 0, 1)
        self.hello = {"peer": "llama.cpp", "version": f"llama-cpp-python {llama_cpp.__version__}", "threads": threads}

    def forget(self, first):
        llama_cpp.llama_memory_seq_rm(self.memory, 0, first, -1)

    def feed(self, tokens, first, asked):
        """Tokens at positions `first`, ... with the logits of the last `asked`, at most BATCH at a time."""
        for begin in range(0, len(tokens), BATCH):
            part = tokens[begin:begin + BATCH]
            self.batch.n_tokens = len(part)
            for i, token in enumerate(part):
                self.batch.token[i], self.batch.pos[i], self.batch.n_seq_id[i], self.batch.seq_id[i][0] = token, first + begin + i, 1, 0
                self.batch.logits[i] = begin + i >= len(tokens) - asked
            if llama_cpp.llama_decode(self.context, self.batch) != 0:
                raise RuntimeError("llama_decode failed")
        llama_cpp.llama_synchronize(self.context)

    def best(self, row):
        return int(np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(self.context, row), (self.vocabulary,)).argmax())

    def setup(self, prompt, continuation):
        self.prompt, self.continuation = prompt, continuation
        self.prefill()

    def prefill(self):
        self.forget(0)
        begin = time.perf_counter()
        self.feed(self.prompt, 0, 1)
        return time.perf_counter() - begin

    def step(self, tokens):
        begin = time.perf_counter()
        self.feed(self.continuation[:tokens], len(self.prompt), tokens)
        seconds = time.perf_counter() - begin
        self.forget(len(self.prompt))
        return seconds

    def choices(self, tokens):
        self.step(tokens)
        return [self.best(row) for row in range(tokens)]

    def decode(self, tokens):
        """Greedy, so that a pass waits for the choice of the one before."""
        self.prefill()
        token = self.best(-1)
        begin = time.perf_counter()
        for i in range(tokens):
            self.feed([token], len(self.prompt) + i, 1)
            token = self.best(-1)
        seconds = time.perf_counter() - begin
        self.forget(len(self.prompt))
        return seconds


serve(lambda: LlamaCpp(sys.argv[1], int(sys.argv[2])))
