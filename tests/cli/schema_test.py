"""The JSON schemas of Job and Answers say what the program takes and gives.

Usage: schema_test.py PROGRAM
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOB = {
    "id": "j", "instruction": "Extract the attributes.",
    "shots": [{"context": "Old Acme boot", "field": "Brand", "answer": "Acme"}],
    "contexts": [{"id": c, "category": "Shoes", "text": f"Nike {c}", "fields": [{"name": "Brand"}, {"name": "Color", "question": "", "choices": []}]}
                 for c in ("a", "b")],
    "limits": {"max_new_tokens": 8, "per_field": 4}, "sampling": {"temperature": 0, "top_k": 0, "top_p": 1}, "seed": 3,
}


def variants():
    """(what, Job, whether both the schema and the program take it)"""
    yield "whole", JOB, True
    yield "least", {"contexts": [{"text": "t", "fields": [{"name": "n"}]}]}, True
    for path, value in [(("sead",), 1), (("conversation",), "yes"), (("contexts",), []), (("contexts", 0, "txt"), ""), (("contexts", 0, "fields"), []),
                        (("contexts", 0, "fields", 0, "nam"), ""), (("limits", "per_field"), 0), (("limits", "k"), 1),
                        (("sampling", "temperature"), -1), (("sampling", "top_p"), 0), (("seed",), "x"), (("id",), 3),
                        (("shots", 0, "answer"), None), (("contexts", 0, "text"), 7)]:
        job = copy.deepcopy(JOB)
        place = job
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        yield "/".join(map(str, path)), job, False


def main():
    program = sys.argv[1]
    job_schema = jsonschema.Draft202012Validator(json.loads((ROOT / "src/prompt/job.schema.json").read_text()))
    answers_schema = jsonschema.Draft202012Validator(json.loads((ROOT / "decoders/answers.schema.json").read_text()))
    passed = failed = 0

    def check(good, what):
        nonlocal passed, failed
        passed, failed = passed + good, failed + (not good)
        if not good:
            print("FAILED:", what)

    with tempfile.TemporaryDirectory() as folder:
        config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": 64, "intermediate_size": 128,
                  "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 4096}
        (pathlib.Path(folder) / "config.json").write_text(json.dumps(config))
        subprocess.run([program, "model", "synth", f"{folder}/model", "--config", f"{folder}/config.json"], check=True, capture_output=True)
        for what, job, good in variants():
            check(job_schema.is_valid(job) == good, f"schema on {what}")
            (pathlib.Path(folder) / "job.json").write_text(json.dumps(job))
            for decoder in ("ar", "hpd"):
                ran = subprocess.run([program, "generate", "--threads", "1", "--model", f"{folder}/model", "--decoder", decoder, "--job", f"{folder}/job.json",
                                      "--set", "hpd.k_max=4", "--format", "json"] if decoder == "hpd" else
                                     [program, "generate", "--threads", "1", "--model", f"{folder}/model", "--job", f"{folder}/job.json", "--max-new-tokens", "8",
                                      "--format", "json"], capture_output=True, text=True)
                check((ran.returncode == 0) == good, f"{decoder} on {what}: exit {ran.returncode}, {ran.stderr.strip()}")
                if good and ran.returncode == 0:
                    errors = [e.message for e in answers_schema.iter_errors(json.loads(ran.stdout))]
                    check(not errors, f"{decoder}'s answers on {what}: {errors}")
                if not good:
                    check(ran.returncode == 2 and not ran.stdout and ran.stderr.count("\n") == 1, f"{decoder} refuses {what} in one line: {ran.stderr}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
