"""A checkpoint's own chat template: the ids that a network is fed are those of transformers' `apply_chat_template`.

Usage: chat_template_test.py PROGRAM
"""
import json
import shutil
import sys

from harness import ROOT, Checks, query, scratch
import reference  # noqa: F401: transformers, offline and quiet
from transformers import PreTrainedTokenizerFast

TEMPLATE = ("{{ bos_token }}{% for m in messages %}<{{ m.role }}>\n{{ m.content | trim }}</{{ m.role }}>\n{% endfor %}"
            "{% if add_generation_prompt %}<assistant>{% if think is defined and not think %} {% endif %}{% endif %}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as program:
        model = program.folder / "model"
        shutil.copytree(ROOT / "experiments" / "quickstart" / "model", model)
        tokenizer = json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))
        special = [t["content"] for t in tokenizer["added_tokens"] if t["special"]]
        config = {"chat_template": TEMPLATE, "bos_token": {"content": special[0]}, "eos_token": special[-1]}
        (model / "tokenizer_config.json").write_text(json.dumps(config))
        theirs = PreTrainedTokenizerFast(tokenizer_file=str(model / "tokenizer.json"), bos_token=special[0], eos_token=special[-1],
                                         chat_template=TEMPLATE)

        def fed(*flags):
            program.good("generate", "--model", model, "--max-new-tokens", 2, "--trace", "t.jsonl", *flags)
            trace = json.loads((program.folder / "t.jsonl").read_text().splitlines()[0])
            return [token for token, step in zip(trace["tokens"], trace["step"]) if step == 0]

        cases = [(words, {}) for words in ("Hello", "  spaces around \n", "naïve café\n\nü")] + [("Hello", {"think": False}), ("Hello", {"think": True})]
        for words, settings in cases:
            expected = theirs.apply_chat_template([{"role": "user", "content": words}], add_generation_prompt=True, tokenize=True,
                                                  return_dict=False, **settings)
            flags = [part for key, value in settings.items() for part in ("--chat-set", f"{key}={json.dumps(value)}")]
            check(fed("--prompt", words, *flags) == expected, f"{words!r} {settings}: ids of apply_chat_template")
        check(fed("--prompt", "Hello", "--chat-template", "plain") != fed("--prompt", "Hello"), "a built-in template is used where it is named")

        # A run keeps which template it used, and refuses to go on under another.
        run = ("run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 2, "--max-new-tokens", 4, "--db", "r.sqlite")
        program.good(*run)
        config_of = json.loads(query(program.folder / "r.sqlite", "SELECT config FROM run")[0]["config"])
        check(config_of["chat_template"] == "checkpoint" and len(config_of["chat_template_hash"]) == 64, f"the run keeps it: {config_of}")
        (model / "tokenizer_config.json").write_text(json.dumps({**config, "chat_template": TEMPLATE + "!"}))
        again = program(*run, "--resume")
        check(again.returncode == 2 and "chat_template_hash" in again.stderr, f"--resume under another template: {again.stderr}")

        (model / "chat_template.jinja").write_text("a\n{% include 'b' %}")
        bad = program("generate", "--model", model, "--prompt", "x")
        check(bad.returncode == 2 and "chat_template.jinja, line 2: {% include %} is not supported" in bad.stderr, bad.stderr)
        check(program("generate", "--model", model, "--prompt-tokens", "1,2", "--max-new-tokens", 1).returncode == 0, "ids alone need no template")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
