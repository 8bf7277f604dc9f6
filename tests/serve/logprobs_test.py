"""Scores of tokens are those of transformers, in the shapes that lm-eval and OpenAI's package read.

Usage: logprobs_test.py PROGRAM
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import ROOT, Checks, scratch
from reference import torch, transformers
from server import serving

QUICKSTART = ROOT / "experiments" / "quickstart"
PROMPTS = [[1, 3, 14, 15, 92, 65, 35, 89], [715, 235, 3050], [5] * 200, [1, *range(40, 170)]]


def wanted(model, ids):
    """Log-probabilities at each place but the first: [place][id]."""
    with torch.no_grad():
        return torch.log_softmax(model(torch.tensor([ids])).logits[0, :-1].double(), -1)


def close(ours, theirs):
    return abs(ours - float(theirs)) < 2e-4


def echoed(check, model, server):
    """As lm-eval's local-completions asks and reads: scores of the prompt's tokens, and of one more."""
    status, reply = server.post("/v1/completions", {"model": "model", "prompt": PROMPTS, "temperature": 0, "max_tokens": 1, "logprobs": 1, "seed": 1234, "echo": True, "stop": [], "return_token_ids": True})
    check(status == 200 and [c["index"] for c in reply["choices"]] == list(range(len(PROMPTS))), f"{status} {str(reply)[:300]}")
    for ids, choice in zip(PROMPTS, reply["choices"]):
        ids = ids + choice["token_ids"]
        logs, truth = choice["logprobs"], wanted(model, ids)
        check(len(ids) == len(logs["tokens"]) == len(logs["token_logprobs"]) == len(logs["top_logprobs"]) == len(logs["text_offset"]), f"{len(ids)} tokens: {str(logs)[:300]}")
        check(logs["token_logprobs"][0] is None and logs["top_logprobs"][0] is None, "the first token has no score")
        check(all(close(log, truth[i][ids[i + 1]]) for i, log in enumerate(logs["token_logprobs"][1:])), f"scores: {logs['token_logprobs'][:9]}, transformers {[float(truth[i][t]) for i, t in enumerate(ids[1:9])]}")
        greedy = [log == max(top.values()) for log, top in zip(logs["token_logprobs"][1:], logs["top_logprobs"][1:])]
        check(greedy == [int(truth[i].argmax()) == ids[i + 1] for i in range(len(ids) - 1)] and greedy[-1], "the likeliest id is told, bit for bit where it was chosen")
        check(all(close(max(top.values()), truth[i].max()) for i, top in enumerate(logs["top_logprobs"][1:])), "scores of the likeliest ids")
        check(all(name in top for name, top in zip(logs["tokens"][1:], logs["top_logprobs"][1:])), "a token stands among its alternatives")
    text = "Blue é shoes"
    plain = server.post("/v1/completions", {"prompt": text, "temperature": 0, "max_tokens": 4, "logprobs": 2})[1]["choices"][0]
    full = server.post("/v1/completions", {"prompt": text, "temperature": 0, "max_tokens": 4, "logprobs": 2, "echo": True})[1]["choices"][0]
    check(full["text"] == text + plain["text"] and full["logprobs"]["token_logprobs"][-4:] == plain["logprobs"]["token_logprobs"], f"echo: {full}, without {plain}")
    check([full["text"][a:b] for a, b in zip(full["logprobs"]["text_offset"][-4:], [*full["logprobs"]["text_offset"][-3:], None])] == plain["logprobs"]["tokens"], f"offsets: {full['logprobs']}")
    check(all(len(top) in (2, 3) for top in plain["logprobs"]["top_logprobs"]), "two alternatives")
    none = server.post("/v1/completions", {"prompt": text, "max_tokens": 0, "logprobs": 0, "echo": True})[1]
    check(none["choices"][0]["text"] == text and none["usage"]["completion_tokens"] == 0 and none["choices"][0]["logprobs"]["tokens"] == full["logprobs"]["tokens"][:-4]
          and all(close(a, b) for a, b in zip(none["choices"][0]["logprobs"]["token_logprobs"][1:], full["logprobs"]["token_logprobs"][1:])),
          f"no token at all: {none}")
    events = server.stream("/v1/completions", {"prompt": text, "temperature": 0, "max_tokens": 4, "logprobs": 2, "echo": True})
    check("".join(c["text"] for e in events if e for c in e["choices"]) == full["text"] and events[-2]["choices"][0]["logprobs"] == full["logprobs"], "streamed")


def chats(check, model, server):
    """Scores of an answer, for each decoder that writes in reading order."""
    message = [{"role": "user", "content": "Blue shoes for men"}]
    prompt = server.post("/tokenize", {"messages": message})[1]["tokens"]
    told = []
    for decoder in ("ar", "prompt-lookup"):
        body = {"model": f"model:{decoder}", "messages": message, "temperature": 0, "max_tokens": 12, "logprobs": True, "top_logprobs": 3, "return_token_ids": True}
        choice = server.post("/v1/chat/completions", body)[1]["choices"][0]
        content, ids = choice["logprobs"]["content"], choice["token_ids"]
        truth = wanted(model, prompt + ids)[len(prompt) - 1:]
        check(len(content) == len(ids) == 12 and all(close(c["logprob"], truth[i][ids[i]]) for i, c in enumerate(content)), f"{decoder}: {content[:2]}")
        check(all(c["top_logprobs"][0]["token"] == c["token"] and c["top_logprobs"][0]["logprob"] == c["logprob"] for c in content), f"{decoder}: a greedy token is the likeliest")
        check(all(close(t["logprob"], truth[i].topk(3).values[k]) for i, c in enumerate(content) for k, t in enumerate(c["top_logprobs"])), f"{decoder}: three alternatives")
        check(bytes(b for c in content for b in c["bytes"]).decode() == choice["message"]["content"], f"{decoder}: bytes")
        told.append(choice["logprobs"])
    check(told[0] == told[1], "one answer has one score, whoever wrote it")
    for body in ({"model": "model:skeleton-of-thought", "logprobs": True}, {"logprobs": 3}, {"logprobs": True, "top_logprobs": 21}, {"top_logprobs": 3}, {"echo": True}):
        status, reply = server.post("/v1/chat/completions", {"messages": message, **body})
        check(status == 400 and reply["error"]["param"] in body, f"{body}: {status} {reply}")
    for body in ({"logprobs": 21}, {"max_tokens": 0}, {"logprobs": -1}, {"echo": 1}):
        status, reply = server.post("/v1/completions", {"prompt": "Blue", **body})
        check(status == 400 and reply["error"]["param"] in body, f"{body}: {status} {reply}")


def main():
    check = Checks()
    model = transformers.AutoModelForCausalLM.from_pretrained(QUICKSTART / "model", dtype=torch.float32)
    with scratch(sys.argv[1]) as pardec, serving(pardec, "--model", QUICKSTART / "model", "--decoder", "ar,prompt-lookup,skeleton-of-thought") as server:
        echoed(check, model, server)
        chats(check, model, server)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
