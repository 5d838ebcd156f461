#!/usr/bin/env python3
"""Memory of `lfield paint` over many strokes and photos: a line per phase, and the largest resident size.

    python3 scripts/paint_load.py [--strokes 500] [--photos 30]

Copies the samples of data/ into a scratch folder, goes through them as the page would, and draws on the first ones. Needs Linux (/proc) and
the program: LFIELD=path/to/lfield, else target/release/lfield.
"""

import argparse
import http.client
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Page:
    """What a page says to the program."""

    def __init__(self, program, folder):
        command = [program, "paint", "photos", "-o", "out", "--no-open", "--port", "0"]
        self.process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        port, token = re.search(r":(\d+)/#(\w+)", self.process.stderr.readline()).groups()
        self.connection = http.client.HTTPConnection("127.0.0.1", int(port))
        self.headers = {"x-lfield-token": token}

    def ask(self, verb, path, body=None):
        self.connection.request(verb, path, None if body is None else json.dumps(body), self.headers)
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status == 200, (path, answer.status, content)
        return content

    def wait(self, is_wanted):
        after = 0
        while True:
            news = json.loads(self.ask("GET", f"/api/news?after={after}"))
            if is_wanted(news):
                return news
            after = news["sequence"]

    def memory(self):
        """Resident megabytes, now and at most."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return [int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024 for name in ("VmRSS", "VmHWM")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strokes", type=int, default=500)
    parser.add_argument("--photos", type=int, default=30)
    arguments = parser.parse_args()
    program = os.environ.get("LFIELD", str(ROOT / "target/release/lfield"))
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        photos = Path(folder) / "photos"
        photos.mkdir()
        samples = ["beetle", "lamp", "poppy", "tree"]
        for n in range(arguments.photos):
            shutil.copy(ROOT / f"data/{samples[n % 4]}.png", photos / f"{n:03}.png")
        page = Page(program, folder)

        def tell(phase):
            now, most = page.memory()
            print(f"| {phase} | {now:.0f} MB | {most:.0f} MB |", flush=True)

        print("| after | resident | most so far |\n| --- | --- | --- |")
        size = page.wait(lambda news: news["size"])["size"]
        tell("start")
        for n in range(arguments.strokes):
            points = [[chance.uniform(0, size[0]), chance.uniform(0, size[1])] for _ in range(8)]
            tool = ["object", "background", "eraser"][n % 3]
            page.ask("POST", "/api/photos/0/strokes", {"tool": tool, "size": 6, "points": points})
            if (n + 1) % (arguments.strokes // 5) == 0:
                page.wait(lambda news: news["state"] == "proved" and news["generation"] == n + 1)
                tell(f"{n + 1} strokes")
        for n in range(arguments.photos):
            page.ask("POST", f"/api/photos/{n}/open", {})
            width, height = page.wait(lambda news: news["photo"] == n and news["size"])["size"]
            for tool, x in (("object", 0.5), ("background", 0.1)):
                points = [[x * width, 0.3 * height], [x * width, 0.6 * height]]
                page.ask("POST", f"/api/photos/{n}/strokes", {"tool": tool, "size": 6, "points": points})
            page.wait(lambda news: news["photo"] == n and news["state"] == "proved")
            if (n + 1) % max(1, arguments.photos // 5) == 0:
                tell(f"{n + 1} photos")
        page.process.terminate()
        page.process.wait()


if __name__ == "__main__":
    main()
