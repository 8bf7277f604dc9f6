"""scripts/bench-busy measures each build, beside each number of busy loops, and leaves no busy loop behind.

Usage: busy_test.py PARDEC_PEER
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "busy.json"
        command = [sys.executable, ROOT / "scripts" / "bench-busy", "--program", f"one={sys.argv[1]}", "--program", f"other={sys.argv[1]}",
                   "--model", f"quickstart={ROOT}/experiments/quickstart/model", "--dtype", "bf16", "--threads", "1,2", "--busy", "0,1", "--rounds", "2",
                   "--seconds", "0.01", "--rows", "4", "-o", output]
        ran = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        samples = json.loads(output.read_text())
        kinds = {(s["program"], s["threads"], s["busy"], s["quantity"]) for s in samples}
        assert len(kinds) == 16 and len(samples) == 32 and all(s["rate"] > 0 for s in samples), kinds
        assert ran.stdout.count("quickstart, bf16") == 4 and "2 threads, other" in ran.stdout and "one busy loop" in ran.stdout, ran.stdout
        own = subprocess.run(["ps", "-o", "args=", "--ppid", "1"], capture_output=True, text=True).stdout
        assert "while True: pass" not in own, own
    print("1 passed, 0 failed")


main()
