"""The JSON schemas of Job and Answers say what the program takes and gives."""

import copy
import json

import pytest

from harness import ROOT

jsonschema = pytest.importorskip("jsonschema")

JOB = {
    "id": "j",
    "instruction": "Extract the attributes.",
    "shots": [{"context": "Old Acme boot", "field": "Brand", "answer": "Acme"}],
    "contexts": [
        {
            "id": name,
            "category": "Shoes",
            "text": f"Nike {name}",
            "fields": [{"name": "Brand"}, {"name": "Color", "question": "", "choices": []}],
        }
        for name in ("a", "b")
    ],
    "limits": {"max_new_tokens": 8, "per_field": 4},
    "sampling": {"temperature": 0, "top_k": 0, "top_p": 1},
    "seed": 3,
}
GOOD = {"whole": JOB, "least": {"contexts": [{"text": "t", "fields": [{"name": "n"}]}]}}
# Where a value makes the Job wrong.
WRONG = [
    (("sead",), 1),
    (("conversation",), "yes"),
    (("contexts",), []),
    (("contexts", 0, "txt"), ""),
    (("contexts", 0, "fields"), []),
    (("contexts", 0, "fields", 0, "nam"), ""),
    (("limits", "per_field"), 0),
    (("limits", "k"), 1),
    (("sampling", "temperature"), -1),
    (("sampling", "top_p"), 0),
    (("seed",), "x"),
    (("id",), 3),
    (("shots", 0, "answer"), None),
    (("contexts", 0, "text"), 7),
]
# The flags of a decoder.
DECODERS = {"ar": ["--max-new-tokens", 8], "hpd": ["--decoder", "hpd", "--set", "hpd.k_max=4"]}

of_good = pytest.mark.parametrize("job", GOOD.values(), ids=GOOD)
of_wrong = pytest.mark.parametrize(
    "path, value", WRONG, ids=["/".join(map(str, path)) for path, _ in WRONG]
)
every_decoder = pytest.mark.parametrize("decoder", DECODERS)


def schema(file):
    return jsonschema.Draft202012Validator(json.loads((ROOT / file).read_text()))


def changed(path, value):
    job = copy.deepcopy(JOB)
    place = job
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return job


@pytest.fixture(scope="module")
def generate(pardec):
    """Calls `generate` on a Job."""
    model = pardec.synthesise("model", num_hidden_layers=1)

    def call(decoder, job):
        (pardec.folder / "job.json").write_text(json.dumps(job))
        words = [*DECODERS[decoder], "--job", "job.json", "--format", "json"]
        return pardec("generate", "--model", model, *words)

    return call


@of_good
def test_the_schema_takes_a_good_job(job):
    assert schema("src/prompt/job.schema.json").is_valid(job)


@of_wrong
def test_the_schema_refuses_a_wrong_job(path, value):
    assert not schema("src/prompt/job.schema.json").is_valid(changed(path, value))


@of_good
@every_decoder
def test_answers_to_a_good_job_fit_their_schema(generate, decoder, job):
    ran = generate(decoder, job)
    assert ran.returncode == 0, ran.stderr
    errors = schema("decoders/answers.schema.json").iter_errors(json.loads(ran.stdout))
    assert [error.message for error in errors] == []


@of_wrong
@every_decoder
def test_a_wrong_job_is_refused_in_one_line(generate, decoder, path, value):
    ran = generate(decoder, changed(path, value))
    assert ran.returncode == 2, ran.stderr
    assert not ran.stdout
    assert ran.stderr.count("\n") == 1
