"""How the oracles ask a small program that only calls ours: one JSON object a line in, one JSON value a line out."""
import json
import subprocess


def ask(program, calls):
    """The answers to `calls`, in order."""
    lines = "".join(json.dumps(call) + "\n" for call in calls)
    done = subprocess.run([program], input=lines, encoding="utf-8", check=True, stdout=subprocess.PIPE)
    answers = [json.loads(line) for line in done.stdout.split("\n")[:-1]]  # a value may hold other line ends
    assert len(answers) == len(calls), f"{len(calls)} calls, {len(answers)} answers"
    return answers
