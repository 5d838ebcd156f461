"""Every call to the system that could fail, failing in turn: strace makes the n-th of its kind return an error, for every n there is.

Whatever fails, the exit code is 0 with every result complete, or 1 with a line that says why; no file is half there, a report
stands only beside the files it belongs to, nothing temporary is left, no input is touched, and the same command, undisturbed,
then does everything. A call that was merely interrupted (EINTR) is made again, but for the opening of a folder, which the C library does not
repeat and no local file system interrupts: that may fail like any other call.
"""

import re
import shutil
from collections import Counter
from dataclasses import dataclass

from hardship.desk import Desk, Wrong, check_sealed, check_words, leftovers

RENAME = "rename,renameat,renameat2"
ERRORS = {
    "openat": ["EACCES", "EIO", "ENOSPC", "EMFILE", "EINTR"],
    "read": ["EIO", "EINTR"],
    "write": ["ENOSPC", "EIO", "EINTR"],
    "fsync": ["ENOSPC", "EIO"],
    RENAME: ["EACCES", "EIO", "ENOSPC"],
    "mkdir": ["EACCES", "EIO", "ENOSPC"],
    "unlink": ["EACCES", "EIO"],
    "statx": ["EACCES", "EIO"],
    "getdents64": ["EIO"],
    "getcwd": ["ENOENT"],
    "clone3": ["EAGAIN"],
}


@dataclass
class Command:
    """What is run, and what stood in `out/` before: the results of the command with other options, or nothing."""

    arguments: list[str]
    earlier: list[str] | None = None


COMMANDS = [
    Command(["segment", "in/0.png", "-o", "out", "--emit", "all"], ["--beta", "1"]),
    Command(["segment", "in/0.png", "-o", "out"]),
    Command(["superpixels", "in/0.png", "-o", "out"], ["--layer", "5,5,5", "--layer", "9,9,9"]),
    Command(["batch", "in", "-o", "out"], ["--beta", "1"]),
    Command(["batch", "in", "-o", "out", "--jobs", "2"]),
    Command(["evaluate", "in/list.csv", "-o", "out", "--methods", "unary,defaults"]),
]


class Calls:
    def __init__(self, program):
        self.desk = Desk(program, 24, 18, photos=2)
        self.log = self.desk.folder / "trace"
        self.tally = Counter()

    def try_all(self, command: Command) -> None:
        self.run_sound([*command.arguments, *(command.earlier or [])], "old")
        self.run_sound(command.arguments, "new")
        self.old = self.desk.results("old") if command.earlier else {}
        self.new = self.desk.results("new")
        for call, errors in ERRORS.items():
            for error in errors:
                n = 1
                while self.try_one(command, call, error, n):
                    n += 1

    def run_sound(self, arguments: list[str], out: str) -> None:
        shutil.rmtree(self.desk.folder / out, ignore_errors=True)
        run = self.desk.run([out if word == "out" else word for word in arguments])
        if run.returncode != 0:
            raise Wrong(f"{' '.join(arguments)}: {run.stderr}")

    def try_one(self, command: Command, call: str, error: str, n: int) -> bool:
        """Whether there was an n-th call to fail."""
        self.desk.put("old" if command.earlier else None)
        strace = ["strace", "-f", "-qq", "-y", "--seccomp-bpf", "-o", str(self.log), "-e", f"trace={call}"]
        strace += ["-e", f"inject={call}:error={error}:when={n}"]
        run = self.desk.run([*command.arguments, "--threads", "1"], before=tuple(strace))
        injected = [line for line in self.log.read_text(errors="replace").splitlines() if "(INJECTED)" in line]
        if not injected:
            return False
        if run.returncode == 127 or re.search(r"\.so[.\d]*[>\"]", injected[0]):
            return True  # the loader failed before the program began
        try:
            self.judge(command, call, error, run, injected)
        except Wrong as wrong:
            raise Wrong(f"{' '.join(command.arguments)}: {wrong}\n" + "\n".join(injected) + f"\n{run.stderr}") from wrong
        self.tally[command.arguments[0], call.split(",")[0], error] += 1
        return True

    def judge(self, command: Command, call: str, error: str, run, injected: list[str]) -> None:
        check_words(run)
        self.desk.check_inputs()
        results = self.desk.results()
        found = {name: results[name] for name in results if not name.startswith("cache/")}
        if leftovers(found) and call != "unlink":
            raise Wrong(f"left behind: {leftovers(found)}")
        whole = {name: self.new[name] for name in self.new if not name.startswith("cache/")}
        if run.returncode == 0:
            if found != whole:
                raise Wrong(f"success without all results: {sorted(found)}")
            if error != "EINTR" and any(call in (RENAME, "fsync", "write") and "/out/" in line for line in injected):
                raise Wrong("a failure to write went unnoticed")
        elif run.returncode == 1 and (error != "EINTR" or all("O_DIRECTORY" in line for line in injected)):
            said = run.stderr.strip().splitlines()
            is_heard = not any("write(2<" in line for line in injected)
            if is_heard and not any("error: " in line or "failed" in line for line in said):
                raise Wrong("no reason is given")
            if command.arguments[0] in ("segment", "superpixels"):
                if is_heard and len(said) != 1:
                    raise Wrong("not one line")
                check_sealed({name: found[name] for name in found if name not in leftovers(found)}, self.old, self.new)
        else:
            raise Wrong(f"exit code {run.returncode}")
        again = self.desk.run(command.arguments)
        results = self.desk.results()
        if again.returncode not in (0, 3) or {name for name in whole if results.get(name) != whole[name]}:
            raise Wrong(f"the same command again: exit code {again.returncode}: {again.stderr}")


def write_list(desk: Desk) -> None:
    """The photos for `evaluate`: the strokes' own labels serve as truth, background where there is none."""
    from scenes import png

    lines = ["image,scribbles,truth"]
    for i in range(2):
        truth = bytes(255 if 6 < x < 18 and 4 < y < 14 else 0 for y in range(18) for x in range(24))
        png.write(desk.folder / "in" / f"{i}.truth.png", 24, 18, 1, truth)
        lines.append(f"{i}.png,{i}.scribbles.png,{i}.truth.png")
    (desk.folder / "in" / "list.csv").write_text("\n".join(lines) + "\n")
    desk.settle()


def main(program) -> None:
    print("| command | calls made to fail | open | read | write | rename | others |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    calls = Calls(program)
    write_list(calls.desk)
    for command in COMMANDS:
        before = calls.tally.copy()
        calls.try_all(command)
        count = Counter()
        for (_, call, _), n in (calls.tally - before).items():
            count[call if call in ("openat", "read", "write", "rename") else "others"] += n
        row = [count[kind] for kind in ("openat", "read", "write", "rename", "others")]
        name = " ".join(command.arguments)
        print(f"| `{name}` | {sum(row)} | " + " | ".join(map(str, row)) + " |", flush=True)
