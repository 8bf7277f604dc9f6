"""The JSON schemas that the program makes of its tables of settings; experiments/experiment.schema.json is the first of them."""
import subprocess


def written(program, of="experiment"):
    return subprocess.run([program, "list", f"{of}-schema"], capture_output=True, text=True, check=True).stdout
