"""The accuracies of `ar.choose` are those of lm-eval's backend `hf` on the same checkpoint, from a task
file over the same questions.
"""

import json
import os
import subprocess
import sys

import pytest
from choices_test import (  # noqa: F401
    PROMPTS,
    answers,
    data,
    network,
    prompt_of,
)
from harness import ROOT

sys.path.insert(0, str(ROOT / "tests/serve"))
from clients import installed  # noqa: E402

TASK = """\
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{prompt}}}}"
doc_to_choice: "{{{{choices}}}}"
doc_to_target: right
metric_list: [{{metric: acc}}, {{metric: acc_norm}}]
"""


@pytest.fixture(scope="module")
def scored(answers, network, tmp_path_factory):  # noqa: F811
    """Task -> its results by lm-eval."""
    program = installed("lm-eval", "lm_eval") / "lm_eval"
    folder = tmp_path_factory.mktemp("tasks")
    for dataset in PROMPTS:
        lines = []
        for row in answers:
            if (row["name"], row["label"]) != (dataset, "sum"):
                continue
            (field,) = json.loads(row["fields"])
            prompt, choices = prompt_of(dataset, row["passage"], field)
            right = "ABCDEFGHIJ".index(field["references"][0])
            lines.append(json.dumps({"prompt": prompt, "choices": choices, "right": right}))
        file = folder / f"{dataset}.jsonl"
        file.write_text("\n".join(lines) + "\n")
        (folder / f"own_{dataset}.yaml").write_text(TASK.format(name=f"own_{dataset}", file=file))
    ran = subprocess.run(
        [
            program, "--model", "hf", "--tasks", ",".join(f"own_{name}" for name in PROMPTS),
            "--include_path", folder, "--model_args",
            f"pretrained={network},dtype=float32,prefix_token_id=0", "--device", "cpu",
            "--output_path", folder / "out",
        ],
        cwd=folder, capture_output=True, text=True,
        env={**os.environ, "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1"},
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    (results,) = (folder / "out").rglob("results_*.json")
    return json.loads(results.read_text())["results"]


@pytest.mark.parametrize("dataset", PROMPTS)
@pytest.mark.parametrize("arm, metric", [("sum", "acc,none"), ("mean", "acc_norm,none")])
def test_accuracies_are_those_of_lm_eval(answers, scored, dataset, arm, metric):  # noqa: F811
    right = [row["correct"] for row in answers if (row["name"], row["label"]) == (dataset, arm)]
    assert scored[f"own_{dataset}"][metric] == pytest.approx(sum(right) / len(right))
