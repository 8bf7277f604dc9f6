"""A small task for inspect-ai."""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


@task
def brands():
    samples = [
        Sample(input="Blue shoes for men", target="Brand"),
        Sample(input="Orm Mug, 300 ml", target="no such word"),
    ]
    return Task(dataset=samples, solver=generate(), scorer=includes())
