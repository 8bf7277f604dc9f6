"""Takes a picture of the top of a report (`pardec report`), as a browser shows it (Debian package chromium).

Usage: screenshot.py REPORT.html FILE.png
"""
import pathlib
import shutil
import subprocess
import sys

WIDTH, HEIGHT = 1000, 810


def main():
    browser = shutil.which("chromium")
    if browser is None:
        sys.exit("chromium is missing (Debian package chromium)")
    report, file = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={file}", report.as_uri()],
                   check=True, capture_output=True, timeout=120)
    print(f"{file}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
