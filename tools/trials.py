#!/usr/bin/env python3
"""Trials of the gate: how often does cnn_compare cry wolf, and how often does it find a slowdown?

Draws suites of cnn_benchmarks cases (Layer, Model, Augment), measures each by four kinds of
processes that take turns - base; the same again; 5 % and 10 % slower by --handicap - and judges the
same files by cnn_compare and by google/benchmark's compare.py. The truth is known: a verdict
"slower" is a false alarm in the second kind and a find in the other two.

Rounds go base, same, +5 %, +10 % and back again, so that each kind stands before the base in every
other round. The first rounds of a suite are the trial with fewer processes a side.

`measure` leaves the result files in a folder and goes on where it was interrupted; `judge` reads
them and writes a report. Half an hour to an hour and a half on two cores: keep them quiet. `scale`
measures cnn_compare itself: time and memory for up to 100,000 rows a side, and beside compare.py's
for 4,000.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from math import comb, log
from pathlib import Path
from statistics import mean, median, stdev

EXAMPLE = """examples:
  tools/trials.py measure
  tools/trials.py judge --compare_py=/usr/share/benchmark/compare.py
  tools/trials.py measure --suites=3 --rounds=5 --dir=build/trials-quick
  tools/trials.py scale --compare_py=/usr/share/benchmark/compare.py >> results/trials.md

exit codes: 0 done, whatever the verdicts; 1 a program failed; 2 bad usage or something is missing"""

ROOT = Path(__file__).resolve().parents[1]

# Kind of process -> --handicap; in the order of the first round.
KINDS = {"base": None, "same": None, "slower_5": "0.05", "slower_10": "0.1"}
TITLES = {"same": "the same", "slower_5": "5 % slower", "slower_10": "10 % slower"}

PROGRAM_FLAGS = ("--devices=cpu", "--threads=1", "--batches=4", "--benchmark_repetitions=3",
                 "--benchmark_min_time=0.02", "--benchmark_enable_random_interleaving=true")
# Below, reading the clock twice would be more than the handicap; above, a suite is not short.
SHORTEST_MS, LONGEST_MS = 0.01, 150

# Children get the environment without what would change the libraries.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("OPENBLAS_", "BENCHMARK_"))}


def say(message: str) -> None:
    print(f"trials: {message}", file=sys.stderr, flush=True)


def give_up(code: int, message: str) -> None:
    say(message)
    sys.exit(code)


# --- measuring


def run_suite_program(program: str, cases: list[str], out: Path, flags: tuple[str, ...]) -> None:
    """One process over `cases`; the file appears whole or not at all."""
    pattern = "^(" + "|".join(map(re.escape, cases)) + ")(/handicap|$)"
    unfinished = out.with_suffix(".unfinished")
    done = subprocess.run([program, *PROGRAM_FLAGS, *flags, f"--benchmark_filter={pattern}",
                           f"--benchmark_out={unfinished}", "--benchmark_out_format=json"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=ENVIRONMENT, check=False)
    if done.returncode != 0:
        unfinished.unlink(missing_ok=True)
        give_up(1, f"{program} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    unfinished.rename(out)


def eligible_cases(program: str, folder: Path) -> list[str]:
    """All cases of Layer, Model and Augment that are neither too short nor too long."""
    listed = subprocess.run([program, *PROGRAM_FLAGS[:3], "--benchmark_list_tests",
                             "--benchmark_filter=^(Layer|Model|Augment)/"],
                            stdout=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False)
    if listed.returncode != 0:
        give_up(1, f"{program} does not list its cases")
    probe = folder / "probe.json"
    if not probe.exists():
        run_suite_program(program, listed.stdout.split(), probe, ("--benchmark_repetitions=1",))
    to_ms = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}
    rows = json.loads(probe.read_text())["benchmarks"]
    return [row["name"] for row in rows
            if SHORTEST_MS <= row["real_time"] * to_ms[row["time_unit"]] <= LONGEST_MS]


def measure(options: argparse.Namespace) -> None:
    folder = options.dir
    folder.mkdir(parents=True, exist_ok=True)
    cases = eligible_cases(options.program, folder)
    if len(cases) < options.cases:
        give_up(2, f"only {len(cases)} cases to draw from")
    (folder / "flags.txt").write_text(" ".join(PROGRAM_FLAGS) + "\n")
    for suite in range(1, options.suites + 1):
        drawn = sorted(random.Random(suite).sample(cases, options.cases))
        home = folder / f"suite-{suite:02}"
        home.mkdir(exist_ok=True)
        (home / "cases.txt").write_text("\n".join(drawn) + "\n")
        for number in range(1, options.rounds + 1):
            say(f"suite {suite} of {options.suites}, round {number} of {options.rounds}")
            for kind in KINDS if number % 2 else reversed(KINDS):
                out = home / f"{kind}-{number:02}.json"
                handicap = KINDS[kind]
                flags = (f"--handicap={handicap}",) if handicap else ()
                if not out.exists():
                    run_suite_program(options.program, drawn, out, flags)


# --- judging


@dataclass
class Tally:
    """Of one tool, one kind and one number of processes a side."""
    suites: int = 0
    alarms: int = 0  # suites with one case or more called slower
    cases: int = 0
    slower: int = 0  # cases whose time is called slower
    faster: int = 0

    def add(self, slower: set[str], faster: set[str], cases: int) -> None:
        self.suites += 1
        self.alarms += bool(slower)
        self.cases += cases
        self.slower += len(slower)
        self.faster += len(faster)


def by_cnn_compare(compare: str, base: list[Path], new: list[Path],
                   flags: list[str]) -> tuple[set[str], set[str]]:
    """The cases that fail and those whose time is called faster."""
    done = subprocess.run([compare, *map(str, base), "--", *map(str, new), "--format=json", "--all",
                           *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode not in (0, 1):
        give_up(1, f"{compare} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    rows = json.loads(done.stdout)["rows"]
    failing = [row for row in rows if row["fails"]]
    if bool(failing) != (done.returncode == 1):
        give_up(1, f"{compare}: exit code {done.returncode}, but {len(failing)} failing rows")
    others = {row["metric"] for row in failing if row["role"] != "time"}
    if others:
        say(f"{base[0].parent.name}: not only times fail, but also {', '.join(sorted(others))}")
    faster = {row["benchmark"] for row in rows
              if row["role"] == "time" and row["verdict"] == "better"}
    return {row["benchmark"] for row in failing}, faster


def merged(files: list[Path], out: Path) -> Path:
    """What compare.py can read: one file a side, each process's rows as further repetitions."""
    first = json.loads(files[0].read_text())
    first["benchmarks"] = []
    for file in files:
        for row in json.loads(file.read_text())["benchmarks"]:
            if row["run_type"] != "iteration":
                continue
            for key in ("name", "run_name"):
                row[key] = re.sub(r"/handicap:[0-9.]+", "", row[key])
            first["benchmarks"].append(row)
    out.write_text(json.dumps(first))
    return out


def by_compare_py(compare_py: str, base: Path, new: Path) -> tuple[set[str], set[str]]:
    """Cases whose real or CPU time differs by its U test (p < 0.05), by the median's direction."""
    dump = base.with_name("compare_py.json")
    done = subprocess.run([sys.executable, compare_py, "-d", str(dump), "benchmarks", str(base),
                           str(new)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        give_up(1, f"{compare_py} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    slower, faster = set(), set()
    for row in json.loads(dump.read_text()):
        for kind, p in (("real_time", "time_pvalue"), ("cpu_time", "cpu_pvalue")):
            if row.get("utest", {}).get(p, 1) >= 0.05:
                continue
            old = median(m[kind] for m in row["measurements"])
            now = median(m[f"{kind}_other"] for m in row["measurements"])
            (slower if now > old else faster).add(row["name"])
    return slower, faster


def swapped(base: list[Path], same: list[Path], source: random.Random):
    """The two sides of an A/A trial with the labels of each round drawn anew."""
    rounds = [pair if source.random() < 0.5 else pair[::-1] for pair in zip(base, same)]
    return [pair[0] for pair in rounds], [pair[1] for pair in rounds]


def upper_bound(hits: int, trials: int) -> float:
    """95 % one-sided upper limit of a share (Clopper and Pearson, 1934), by bisection."""
    if hits == trials:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        at_most = sum(comb(trials, k) * p**k * (1 - p)**(trials - k) for k in range(hits + 1))
        low, high = (p, high) if at_most > 0.05 else (low, p)
    return high


def percent(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)"


@dataclass
class Report:
    tallies: dict[tuple[str, int, str], Tally] = field(default_factory=dict)

    def tally(self, tool: str, processes: int, kind: str) -> Tally:
        return self.tallies.setdefault((tool, processes, kind), Tally())


def complete_suites(folder: Path, rounds: int) -> list[Path]:
    return [home for home in sorted(folder.glob("suite-*"))
            if all((home / f"{kind}-{number:02}.json").exists()
                   for kind in KINDS for number in range(1, rounds + 1))]


def judge(options: argparse.Namespace) -> None:
    suites = complete_suites(options.dir, options.rounds)
    if not suites:
        give_up(2, f"{options.dir} holds no complete suite of {options.rounds} rounds: measure first")
    report = Report()
    for home in suites:
        say(f"judging {home.name}")
        cases = len((home / "cases.txt").read_text().split())
        files = {kind: [home / f"{kind}-{number:02}.json" for number in range(1, options.rounds + 1)]
                 for kind in KINDS}
        for processes in sorted({min(5, options.rounds), options.rounds}):
            base = files["base"][:processes]
            for kind in TITLES:
                new = files[kind][:processes]
                report.tally("cnn_compare", processes, kind).add(
                    *by_cnn_compare(options.compare, base, new, options.flags), cases)
                if options.compare_py:
                    report.tally("compare.py", processes, kind).add(
                        *by_compare_py(options.compare_py, merged(base, home / "merged_base.json"),
                                       merged(new, home / "merged_new.json")), cases)
            source = random.Random(f"{home.name} {processes}")
            for _ in range(options.swaps):
                sides = swapped(base, files["same"][:processes], source)
                report.tally("swapped", processes, "same").add(
                    *by_cnn_compare(options.compare, *sides, options.flags), cases)
    text = describe(report, suites, options)
    if options.out:
        options.out.write_text(text)
        say(f"written to {options.out}")
    else:
        print(text, end="")


def noise(suites: list[Path], rounds: int) -> tuple[float, float]:
    """How far processes of the base differ, as the median over cases of the standard deviation of
    the logarithm of each process's fastest repetition; and the same of the geometric means of whole
    processes: what of it all cases of a process share."""
    of_cases, of_processes = [], []
    for home in suites:
        fastest: dict[str, list[float]] = {}
        for number in range(1, rounds + 1):
            times: dict[str, float] = {}
            for row in json.loads((home / f"base-{number:02}.json").read_text())["benchmarks"]:
                if row["run_type"] == "iteration":
                    time_ = row["real_time"]
                    times[row["name"]] = min(times.get(row["name"], time_), time_)
            for name, value in times.items():
                fastest.setdefault(name, []).append(log(value))
        of_cases += [stdev(values) for values in fastest.values()]
        of_processes.append(stdev(mean(process) for process in zip(*fastest.values())))
    return median(of_cases), median(of_processes)


def describe(report: Report, suites: list[Path], options: argparse.Namespace) -> str:
    context = json.loads((suites[0] / "base-01.json").read_text())["context"]
    flags = (options.dir / "flags.txt").read_text().strip()
    cases = len((suites[0] / "cases.txt").read_text().split())
    lines = [
        "# Trials of the gate", "",
        "Made by `tools/trials.py measure` and `tools/trials.py judge`. The truth is known: \"the same\" is",
        "the same program again, the others are slowed down by `--handicap`.", "",
        f"- machine: {context['device_cpu']}; {context['blas']}; allocator {context['allocator']}",
        f"- program: commit {context['git_commit']}, flags `{flags}`",
        f"- {len(suites)} suites of {cases} cases each, drawn from Layer, Model and Augment",
        f"- judged by `{' '.join(['cnn_compare', *options.flags])}`", "",
        "| tool | processes a side | new side | suites with an alarm | cases called slower | cases called faster |",
        "|---|--:|---|--:|--:|--:|"]
    for (tool, processes, kind), tally in sorted(report.tallies.items(),
                                                 key=lambda item: (item[0][1], item[0][0])):
        if tool == "swapped":
            continue
        lines.append(f"| {tool} | {processes} | {TITLES[kind]} | {percent(tally.alarms, tally.suites)} | "
                     f"{percent(tally.slower, tally.cases)} | {percent(tally.faster, tally.cases)} |")
    lines.append("")
    for (tool, processes, _), tally in report.tallies.items():
        if tool == "swapped":
            lines.append(
                f"With {processes} a side and the labels \"base\" and \"the same\" of each round drawn anew, "
                f"{options.swaps} times a suite: {percent(tally.alarms, tally.suites)} with an alarm, "
                f"{percent(tally.slower, tally.cases)} of the cases. These trials share their processes: "
                "they tell the share more finely, not for more days or machines.")
        elif tool == "cnn_compare" and report.tally(tool, processes, "same") is tally:
            lines.append(
                f"With {processes} a side {tally.alarms} false alarms in {tally.suites} suites: with 95 % "
                f"confidence the true share is at most {100 * upper_bound(tally.alarms, tally.suites):.0f} %; "
                "more could be said of more suites only.")
    of_cases, of_processes = noise(suites, options.rounds)
    lines += ["", f"Noise: the fastest repetition of a case differs from process to process by {100 * of_cases:.1f} % "
              f"(standard deviation, median over cases), the mean over a process's cases by "
              f"{100 * of_processes:.1f} %: it is mostly the machine that is faster or slower for seconds on end. "
              "Longer processes, more repetitions or a quieter machine find smaller changes."]
    return "\n".join(lines) + "\n"


# --- scale


def write_rows(path: Path, rows: int, seed: int) -> None:
    source = random.Random(seed)
    context = {"date": "2026-01-01T00:00:00+00:00", "host_name": "made", "num_cpus": 2,
               "library_build_type": "release"}
    # Row by row: the memory of a child counts from what its parent had.
    with path.open("w") as out:
        out.write(f'{{"context": {json.dumps(context)},\n"benchmarks": [')
        for i in range(rows // 4):
            for repetition in range(4):
                name = f"Layer/network{i % 40}/conv{i}/device:cpu/pass:forward/batch:{2**(i % 8)}"
                milliseconds = (1 + i % 100) * source.uniform(1, 1.05)
                row = {"name": name, "family_index": i, "per_family_instance_index": 0,
                       "run_name": name, "run_type": "iteration", "repetitions": 4,
                       "repetition_index": repetition, "threads": 1, "iterations": 100,
                       "real_time": milliseconds, "cpu_time": milliseconds, "time_unit": "ms",
                       "items_per_second": 32e3 / milliseconds, "page_faults_per_step": 0.25}
                out.write(("," if i or repetition else "") + "\n" + json.dumps(row, indent=1))
        out.write("\n]}\n")


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds and the largest resident memory in MB of a program that judges."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1, 4):
        give_up(1, f"{command[0]} ended with {child.returncode}")
    return time.monotonic() - begin, usage.ru_maxrss * 1024 / 1e6


def scale(options: argparse.Namespace) -> None:
    options.dir.mkdir(parents=True, exist_ok=True)
    files = {rows: [options.dir / f"scale-{rows}-{side}.json" for side in ("base", "new")]
             for rows in (4_000, 50_000, 100_000)}
    for rows, pair in files.items():
        for seed, path in enumerate(pair):
            write_rows(path, rows, seed)
    commands = {f"cnn_compare, {rows} rows a side": [options.compare, *map(str, pair)]
                for rows, pair in files.items()}
    commands["cnn_compare --help"] = [options.compare, "--help"]
    if options.compare_py:
        commands["compare.py, 4000 rows a side"] = [sys.executable, options.compare_py, "benchmarks",
                                                   *map(str, files[4_000])]
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for number in range(5):
        say(f"round {number + 1} of 5")
        for name in commands if number % 2 else reversed(commands):
            runs[name].append(timed(commands[name]))
    print("\n## Time and memory of cnn_compare\n\nMade by `tools/trials.py scale`: five runs each, in turn.\n")
    print("| program | files, MB | seconds, median [lowest..highest] | memory, MB |")
    print("|---|--:|--:|--:|")
    for name, results in runs.items():
        seconds = sorted(result[0] for result in results)
        read = sum(Path(word).stat().st_size for word in commands[name] if word.endswith(".json"))
        print(f"| {name} | {read / 1e6:.1f} | {seconds[2]:.3f} [{seconds[0]:.3f}..{seconds[-1]:.3f}] | "
              f"{max(result[1] for result in results):.0f} |")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--dir", type=Path, default=ROOT / "build" / "trials", help="of the result files")
    common.add_argument("--rounds", type=int, default=10, help="processes of each kind; default: 10")
    measuring = commands.add_parser("measure", parents=[common], help="run the processes")
    measuring.add_argument("--program", default=str(ROOT / "build/release/benchmarks/cnn_benchmarks"))
    measuring.add_argument("--cases", type=int, default=12, help="of a suite; default: 12")
    measuring.add_argument("--suites", type=int, default=20, help="default: 20")
    scaling = commands.add_parser("scale", help="measure cnn_compare itself")
    scaling.add_argument("--dir", type=Path, default=ROOT / "build" / "trials")
    scaling.add_argument("--compare", default=str(ROOT / "build/release/tools/cnn_compare"))
    scaling.add_argument("--compare_py", help="google/benchmark's compare.py (needs SciPy)")
    judging = commands.add_parser("judge", parents=[common], help="count the verdicts")
    judging.add_argument("--compare", default=str(ROOT / "build/release/tools/cnn_compare"))
    judging.add_argument("--compare_py", help="google/benchmark's compare.py (needs SciPy)")
    judging.add_argument("--flags", action="append", default=[], help="for cnn_compare; may be repeated")
    judging.add_argument("--swaps", type=int, default=100, help="redrawn A/A trials a suite; default: 100")
    judging.add_argument("--out", type=Path, help="Markdown; default: stdout")
    return parser.parse_args()


def main() -> None:
    options = parse()
    {"measure": measure, "judge": judge, "scale": scale}[options.command](options)


if __name__ == "__main__":
    main()
