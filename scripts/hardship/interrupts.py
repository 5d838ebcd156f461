"""SIGINT, SIGTERM and SIGKILL at random moments, from a fixed seed.

Interrupted, `segment` leaves everything as it was or finishes; `batch` keeps what is done, and run again, as often as it takes, ends
with the results of an undisturbed run. Killed, no file is half there under its own name either, and the next batch sweeps up.
"""

import random
import signal
import subprocess
import time
from collections import Counter

from hardship.desk import Desk, Wrong, check_sealed, check_words, leftovers

INTERRUPTED = 130
# Done, and no photo left to do: killed when all of them were done, a batch still has its report to write.
FINISHED = (0, 3)
SEGMENT = ["segment", "in/0.png", "-o", "out", "--emit", "all", "--color", "never"]
BATCH = ["batch", "in", "-o", "out", "--color", "never"]


class Interrupts:
    def __init__(self, program, seed: int):
        self.random = random.Random(seed)
        self.desk = Desk(program, 120, 90, photos=4)
        self.tally = Counter()

    def expect(self, arguments: list[str], out: str) -> float:
        """An undisturbed run into another folder; its seconds."""
        arguments = [out if word == "out" else word for word in arguments]
        began = time.monotonic()
        run = self.desk.run(arguments)
        if run.returncode != 0:
            raise Wrong(f"{' '.join(arguments)}: {run.stderr}")
        return time.monotonic() - began

    def disturbed(self, arguments: list[str], sign: signal.Signals, seconds: float) -> subprocess.CompletedProcess:
        """A run that gets the signal at a random moment of about the time it takes."""
        command = self.desk.command(arguments)
        # Most moments are of the work, some of the start and of the end, when files are put in place.
        moment = seconds * self.random.choice([self.random.uniform(0, 1.1), self.random.gauss(0.95, 0.07)])
        with subprocess.Popen(command, cwd=self.desk.folder, stderr=subprocess.PIPE, text=True) as process:
            time.sleep(max(0.0, moment))
            process.send_signal(sign)
            _, said = process.communicate(timeout=600)
        run = subprocess.CompletedProcess(command, process.returncode, "", said)
        check_words(run)
        self.desk.check_inputs()
        # Before its first line the program does not listen yet, and the system ends it.
        if run.returncode not in [*FINISHED, INTERRUPTED, -sign]:
            raise Wrong(f"{sign.name}: exit code {run.returncode}: {said}")
        self.tally[arguments[0], sign.name, "finished" if run.returncode in FINISHED else "interrupted"] += 1
        return run

    def segment(self, sign: signal.Signals, runs: int) -> None:
        self.expect([*SEGMENT, "--beta", "1"], "old")
        seconds = min(self.expect(SEGMENT, "new") for _ in range(3))
        new = self.desk.results("new")
        while self.tally["segment", sign.name, "interrupted"] < runs:
            before = self.random.choice([None, "old"])
            old = self.desk.results(before) if before else {}
            self.desk.put(before)
            run = self.disturbed(SEGMENT, sign, seconds)
            found = self.desk.results()
            if sign == signal.SIGKILL:
                found = {name: found[name] for name in found if name not in leftovers(found)}
                check_sealed(found, old, new)
            elif found != (new if run.returncode == 0 else old):
                raise Wrong(f"{sign.name}, exit code {run.returncode}: {sorted(found)}")

    def batch(self, sign: signal.Signals, runs: int) -> None:
        seconds = min(self.expect([*BATCH, "--force"], "all") for _ in range(2))
        expected = self.desk.results("all")
        while self.tally["batch", sign.name, "interrupted"] < runs:
            self.desk.put(None)
            finished = False
            while not finished:
                run = self.disturbed(BATCH, sign, seconds)
                found = self.desk.results()
                if sign != signal.SIGKILL and leftovers(found):
                    raise Wrong(f"left behind: {leftovers(found)}")
                photos = {name: found[name] for name in found if name[0].isdigit() and name not in leftovers(found)}
                check_sealed(photos, {}, expected)
                finished = run.returncode in FINISHED
            if self.desk.results() != expected:
                raise Wrong("a resumed batch is not an undisturbed one")
            self.tally["batch", sign.name, "resumed to the end"] += 1


def main(program, runs: int, seed: int) -> None:
    """So many interrupted runs by each signal, half of them of `segment` and half of `batch`."""
    interrupts = Interrupts(program, seed)
    print(f"seed {seed}\n\n| command | signal | interrupted | finished before it came | batches resumed to the end |")
    print("| --- | --- | --- | --- | --- |")
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for command in ("segment", "batch"):
            getattr(interrupts, command)(sign, runs // 2)
            count = [interrupts.tally[command, sign.name, what] for what in ("interrupted", "finished", "resumed to the end")]
            print(f"| {command} | {sign.name} | {count[0]} | {count[1]} | {count[2] if command == 'batch' else '–'} |", flush=True)
