#!/usr/bin/env python3
"""Measures the suite's input pipeline and other frameworks' side by side and writes one table.

Every round runs each program once, one process at a time, pinned to the same core, in an order that
is reversed from round to round, so that a machine that slows down or speeds up favours none. A
ratio is computed within a round; the table shows the median over rounds [lowest..highest]. At the
end it says which of the project's goals for the input pipeline were reached, with the numbers.

The other frameworks are installed into a virtual environment, build/peers/venv, once. The result
files of all runs stay in build/peers/<data set>.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

from workloads import (FRAMEWORKS, STAGES, DataSet, Workload, augment_name, find_data_sets,
                       parse_name, usage_error)

EXAMPLE = """examples:
  tools/peers/compare_input.py
  tools/peers/compare_input.py --data_dir=photos --rounds=9 --out=results/input-photos.md

exit codes: 0 measured, whether the goals were reached or not; 1 a program failed; 2 bad usage or
something is missing"""

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PEERS = ROOT / "build" / "peers"
VENV = PEERS / "venv"

OURS = "ours"
STAGES_OF_OURS = ("affine_opencv",)  # rows that only our program has

# Children get the environment without what would change the libraries of one program only.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("OPENBLAS_", "BENCHMARK_"))}

Times = dict[str, float]  # row key -> milliseconds per image
Round = dict[str, Times]  # program -> its times


def say(message: str) -> None:
    print(f"compare_input: {message}", file=sys.stderr, flush=True)


# --- the environment of the other frameworks


def pip(*arguments: str) -> bool:
    command = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet",
               "--disable-pip-version-check", *arguments]
    return subprocess.run(command, stdout=sys.stderr, env=ENVIRONMENT).returncode == 0


def packages_in(requirements: Path) -> list[str]:
    return [line for line in requirements.read_text().splitlines()
            if line and not line.startswith("#")]


def make_environment() -> None:
    """Installs what is required, and each optional package that can be."""
    required, optional = HERE / "requirements.txt", HERE / "requirements-optional.txt"
    wanted = required.read_text() + optional.read_text()
    stamp = VENV / "installed.txt"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    say("installing the other frameworks into build/peers/venv")
    if subprocess.run([sys.executable, "-m", "venv", str(VENV)], stdout=sys.stderr).returncode:
        usage_error("python3 -m venv failed; on Debian: apt-get install python3-venv")
    if not pip("-r", str(required)):
        usage_error(f"pip could not install {' '.join(packages_in(required))}")
    if pip("-c", str(required), "-r", str(optional)):
        stamp.write_text(wanted)
        return
    for package in packages_in(optional):  # without a stamp they are tried again next time
        if not pip("-c", str(required), package):
            say(f"pip could not install {package}")


# --- running


class DifferentData(Exception):
    """A framework did not read the images that the suite read."""


class Failed(Exception):
    """A program ended with an exit code that is not 0."""

    def __init__(self, command: list[str], code: int) -> None:
        super().__init__(f"failed with {code}: {' '.join(command)}")
        self.code = code


def run_pinned(command: list[str], cores: set[int], log: Path) -> None:
    with log.open("w") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=ENVIRONMENT,
                              preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if done.returncode != 0:
        sys.stderr.write(log.read_text()[-2000:])
        raise Failed(command, done.returncode)


def clean(result: Path) -> None:
    """Takes out of a result file what identifies the machine, for those who publish it."""
    content = json.loads(result.read_text())
    content["context"].pop("host_name", None)
    content["context"]["executable"] = Path(content["context"]["executable"]).name
    result.write_text(json.dumps(content, indent=2) + "\n")


def row_key(name: str) -> str:
    """A name without the keys that do not tell rows of one table apart, and with `source`, which
    a family may leave out where it is always `files`."""
    subject, keys = parse_name(name)
    if not subject.startswith("Pipeline/"):
        return name
    return pipeline_key(subject.split("/")[1], keys["augment"], keys.get("source", "files"),
                        int(keys["workers"]))


def pipeline_key(workload: str, augment: str, source: str, workers: int) -> str:
    return f"Pipeline/{workload}/augment:{augment}/source:{source}/workers:{workers}"


def read_rows(result: Path) -> list[dict]:
    return json.loads(result.read_text())["benchmarks"]


def read_times(result: Path, clock: str) -> Times:
    """By wall clock or by CPU time, of which a row says how they relate."""
    return {row_key(row["name"]): 1e3 / row["items_per_second"]
            * (row["cpu_time"] / row["real_time"] if clock == "cpu" else 1)
            for row in read_rows(result)}


class Comparison:
    """All runs of one data set, and what they yielded."""

    def __init__(self, arguments: argparse.Namespace, data_sets: list[DataSet]) -> None:
        self.program = str(arguments.program.resolve())
        self.data = [f"--data_dir={arguments.data_dir.resolve()}"] if arguments.data_dir else []
        self.networks = ",".join(data.workload.name for data in data_sets)
        self.min_time = arguments.min_time
        self.clock = arguments.clock
        self.json_dir: Path = arguments.json_dir or PEERS / data_sets[0].name
        self.cores = sorted(os.sched_getaffinity(0))
        self.rounds: list[Round] = []
        self.contexts: dict[str, dict[str, object]] = {}
        self.wall_by_cpu: list[float] = []  # of each row that used one thread
        self.busy_cores: dict[str, list[float]] = {}  # by row key, of our rows on two cores
        self.remarks: list[str] = []
        self.json_dir.mkdir(parents=True, exist_ok=True)
        self.frameworks = [name for name in FRAMEWORKS if self.is_installed(name)]
        self.sources = ["files", "decoded"]

    def is_installed(self, framework: str) -> bool:
        """By what its first row needs; keras must be there."""
        log = self.json_dir / f"{framework}.log"
        row = "Augment/.*_to_tensor"
        command = [*self.peer_command(framework), f"--filter={row}", "--min_time=0"]
        try:
            run_pinned(command, {self.cores[-1]}, log)
        except Failed as error:
            if error.code != 2 or framework == "keras":
                raise
            self.remarks.append(f"{framework} is left out: it could not be installed or imported.")
            return False
        return True

    def peer_command(self, framework: str) -> list[str]:
        return [str(VENV / "bin" / "python"), str(HERE / "keras_input.py"),
                f"--framework={framework}", *self.data]

    def our_command(self, row_filter: str) -> list[str]:
        return [self.program, f"--benchmark_filter={row_filter}",
                f"--benchmark_min_time={self.min_time}", f"--networks={self.networks}",
                *self.data]

    def measure_one_core(self, program: str, number: int) -> Times:
        result = self.json_dir / f"round{number}-{program}.json"
        if program == OURS:
            command = [*self.our_command("Augment/|Pipeline/.*workers:0"), "--workers=0",
                       f"--benchmark_out={result.resolve()}"]
        else:
            command = [*self.peer_command(program), f"--min_time={self.min_time}",
                       f"--out={result.resolve()}"]
        times = self.measure(program, command, {self.cores[-1]}, result, self.clock)
        self.wall_by_cpu += [row["real_time"] / row["cpu_time"] for row in read_rows(result)]
        return times

    def measure_two_cores(self, workers: int, number: int) -> Times:
        name = f"{OURS}-workers{workers}"
        result = self.json_dir / f"round{number}-{name}.json"
        command = [*self.our_command(f"Pipeline/.*augment:full.*workers:{workers}"),
                   f"--workers={workers}", f"--benchmark_out={result.resolve()}"]
        if self.sources != ["files"]:
            command.append(f"--source={','.join(self.sources)}")
        # Of several threads the CPU time says nothing about speed.
        times = self.measure(name, command, set(self.cores[-2:]), result, "wall")
        for row in read_rows(result):
            busy = self.busy_cores.setdefault(row_key(row["name"]), [])
            busy.append(row["cpu_time"] / row["real_time"])
        return times

    def measure(self, name: str, command: list[str], cores: set[int], result: Path,
                clock: str) -> Times:
        say(result.stem)
        run_pinned(command, cores, result.with_suffix(".log"))
        clean(result)
        self.contexts.setdefault(name, json.loads(result.read_text())["context"])
        self.check_data(name)
        return read_times(result, clock)

    def check_data(self, name: str) -> None:
        """By name of the data set, number of training images and of classes."""
        if OURS not in self.contexts or name == OURS:
            return
        theirs = self.contexts[name]
        for key, value in self.contexts[OURS].items():
            if key.startswith("dataset_") and key in theirs:
                ours = re.sub(r" train and \d+ test images", " train images", str(value))
                if not name.startswith(OURS) and ours != theirs[key]:
                    raise DifferentData(f"{name} read {theirs[key]}, the suite {ours}")

    def run(self, rounds: int) -> None:
        programs = [OURS, *self.frameworks]
        for number in range(1, rounds + 1):
            order = programs if number % 2 else programs[::-1]
            self.rounds.append({program: self.measure_one_core(program, number)
                                for program in order})
        if len(self.cores) < 2:
            self.remarks.append("Workers were not measured: only one core may be used.")
            return
        for number in range(1, rounds + 1):
            for workers in ((1, 2) if number % 2 else (2, 1)):
                self.rounds[number - 1][OURS] |= self.measure_workers(workers, number)

    def measure_workers(self, workers: int, number: int) -> Times:
        try:
            return self.measure_two_cores(workers, number)
        except Failed as error:
            if error.code != 2 or self.sources == ["files"]:
                raise
        self.sources = ["files"]
        self.remarks.append("This build of the program has no --source: decoded images were not "
                            "measured.")
        return self.measure_two_cores(workers, number)


# --- the numbers


def per_round(rounds: list[Round], value: Callable[[Round], float]) -> list[float]:
    """`value` of each round in which all its rows were measured."""
    values = []
    for measured in rounds:
        try:
            values.append(value(measured))
        except KeyError:
            pass
    return values


def ratios(rounds: list[Round], above: tuple[str, str], below: tuple[str, str]) -> list[float]:
    """Time of row `above` (program, key) by time of row `below`, in each round."""
    return per_round(rounds, lambda r: r[above[0]][above[1]] / r[below[0]][below[1]])


def with_range(values: list[float]) -> str:
    return f"{median(values):.2f} [{min(values):.2f}..{max(values):.2f}]" if values else "–"


def milliseconds(values: list[float]) -> str:
    return f"{median(values):.4f}" if values else "–"


# --- the page


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    align = "---" if header[0] == "" else "--:"  # a table without header holds text
    lines = [header, ["---"] + [align] * (len(header) - 1), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]


def stage_rows(workload: Workload) -> list[tuple[str, str]]:
    """Label and key of each row of a workload's table."""
    rows = [(stage, augment_name(workload, stage)) for stage in STAGES]
    affine = STAGES.index("affine") + 1
    rows[affine:affine] = [(stage, augment_name(workload, stage)) for stage in STAGES_OF_OURS]
    return rows + [(f"loader, {augment}", pipeline_key(workload.name, augment, "files", 0))
                   for augment in workload.augments]


def stage_table(comparison: Comparison, workload: Workload) -> list[str]:
    header = ["ms per image", "suite"]
    for framework in comparison.frameworks:
        header += [framework, "/ suite"]
    rows = []
    for label, key in stage_rows(workload):
        cells = [label, milliseconds(per_round(comparison.rounds, lambda r: r[OURS][key]))]
        for framework in comparison.frameworks:
            cells.append(milliseconds(per_round(comparison.rounds, lambda r: r[framework][key])))
            cells.append(with_range(ratios(comparison.rounds, (framework, key), (OURS, key))))
        if any(cell != "–" for cell in cells[1:]):
            rows.append(cells)
    return table(header, rows)


def worker_table(comparison: Comparison, workloads: list[Workload]) -> list[str]:
    rows = []
    for workload in workloads:
        for source in comparison.sources:
            one, two = (pipeline_key(workload.name, "full", source, n) for n in (1, 2))
            times = [per_round(comparison.rounds, lambda r: r[OURS][key]) for key in (one, two)]
            speed = ratios(comparison.rounds, (OURS, one), (OURS, two))
            rows.append([f"{workload.name}, {source}", *map(milliseconds, times),
                         with_range(speed), *(with_range(comparison.busy_cores.get(key, []))
                                              for key in (one, two))])
    return table(["ms per image", "one worker", "two workers", "one / two", "cores busy with one",
                  "with two"], rows)


def goals(rounds: list[Round], workload: Workload) -> list[tuple[str, float, list[float]]]:
    """What a goal says, the ratio it asks for, and the ratios reached."""
    stage = lambda name: (OURS, augment_name(workload, name))  # noqa: E731
    loader = lambda source, workers: (  # noqa: E731
        OURS, pipeline_key(workload.name, "full", source, workers))
    keras_loader = ("keras", pipeline_key(workload.name, "full", "files", 0))

    def share_of_parts(measured: Round) -> float:
        ours = {name: measured[OURS][augment_name(workload, name)]
                for name in ("decode", "resize", "affine", "full")}
        return (ours["decode"] + ours["resize"] + ours["affine"]) / ours["full"]

    return [
        ("(decode + resize + affine) / whole chain, which also reads the file", 0.85,
         per_round(rounds, share_of_parts)),
        ("whole chain, Keras / suite", 3,
         ratios(rounds, ("keras", stage("full")[1]), stage("full"))),
        ("loader in the calling thread, Keras / suite", 3,
         ratios(rounds, keras_loader, loader("files", 0))),
        ("Keras's loader / the suite's with decoded images in memory and one worker", 10,
         ratios(rounds, keras_loader, loader("decoded", 1))),
        ("one worker / two, files", 1.8, ratios(rounds, loader("files", 1), loader("files", 2))),
        ("one worker / two, decoded images", 1.8,
         ratios(rounds, loader("decoded", 1), loader("decoded", 2))),
        ("cv::warpAffine on 8 bits / the suite's sampler", 1,
         ratios(rounds, stage("affine_opencv"), stage("affine"))),
    ]


def verdict(reached: list[float], wanted: float) -> str:
    """A goal that some rounds reach and some do not is neither."""
    if not reached:
        return "not measured"
    if min(reached) >= wanted:
        return "reached"
    return "at the limit" if max(reached) >= wanted else "not reached"


def goal_table(rounds: list[Round], workload: Workload) -> list[str]:
    rows = []
    for text, wanted, reached in goals(rounds, workload):
        rows.append([text, f"{wanted:g}", with_range(reached), verdict(reached, wanted)])
    return table(["ratio of times", "at least", "measured", "goal"], rows)


def notes(comparison: Comparison) -> list[str]:
    lines = []
    for framework in comparison.frameworks:
        for key, note in comparison.contexts[framework].items():
            if key.startswith("note_"):
                stage = key.removeprefix("note_").replace("all", "all stages")
                lines.append(f"- {framework}, {stage}: {note}")
    return lines + [""]


def public_argument(argument: str) -> str:
    """A path without where this machine keeps it: relative to the repository, or its last part."""
    name, equals, value = argument.rpartition("=")
    if "/" not in value:
        return argument
    path = Path(value).resolve()
    inside = path.is_relative_to(ROOT)
    return f"{name}{equals}{path.relative_to(ROOT) if inside else path.name}"


def setup(comparison: Comparison, rounds: int) -> list[str]:
    ours = comparison.contexts[OURS]
    rows = [["CPU", str(ours["device_cpu"])],
            ["suite", f"commit {ours['git_commit']}"
             + (" with changes" if ours["git_dirty"] == "true" else "")],
            ["its libraries", f"{ours['libjpeg']}, OpenCV {ours['opencv']}, {ours['compiler']}, "
             f"{ours['cxx_flags']}"]]
    for framework in comparison.frameworks:
        context = comparison.contexts[framework]
        first = list(context).index("python")
        versions = [(name, value) for name, value in list(context.items())[first:]
                    if not name.startswith(("note_", "dataset_"))]
        rows.append([framework, ", ".join(f"{name} {value}" for name, value in versions)])
    rows += [[key.replace("dataset_", "data of "), str(value)] for key, value in ours.items()
             if key.startswith("dataset_")]
    command = " ".join(["tools/peers/compare_input.py", *map(public_argument, sys.argv[1:])])
    rows += [["rounds", f"{rounds}, each row at least {comparison.min_time:g} s in each"],
             ["wall clock / CPU time",
              f"{with_range(comparison.wall_by_cpu)} of the rows on one core; far above 1 means "
              "that other programs were running"],
             ["command", f"`{command}`"]]
    return table(["", ""], rows)


def page(comparison: Comparison, data_sets: list[DataSet], rounds: int) -> str:
    lines = [f"# Input pipeline and other frameworks: {data_sets[0].name}", ""]
    lines += setup(comparison, rounds)
    lines += ["One process at a time. Medians over rounds; a ratio is that of two times of one "
              "round, [lowest..highest]: above 1 the suite is faster.", ""]
    lines += [f"{remark}\n" for remark in comparison.remarks]
    clock = "CPU time" if comparison.clock == "cpu" else "wall clock"
    lines += [f"## Stages, one thread on one core, {clock}", ""]
    for data in data_sets:
        lines += [f"### {data.workload.name}", ""] + stage_table(comparison, data.workload)
    lines += ["`plain` and `full` are the whole chain from the file, without and with "
              "augmentation; `loader` is the same in batches of the whole training split. Where a "
              "framework does not do the same work:", ""]
    lines += notes(comparison)
    workloads = [data.workload for data in data_sets]
    if len(comparison.cores) > 1:
        lines += ["## The suite's workers, two cores, wall clock", ""]
        lines += worker_table(comparison, workloads)
        lines += ["Cores that are busy less than there are workers were used by other programs, "
                  "or had to wait.", ""]
    lines += ["## Goals", ""]
    for workload in workloads:
        lines += [f"### {workload.name}", ""] + goal_table(comparison.rounds, workload)
    return "\n".join(lines).rstrip("\n") + "\n"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data_dir", type=Path, metavar="DIR",
                        help="reads DIR/train/<class>/<images> (default: the suite's synthetic "
                             "data sets)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="default: 5")
    parser.add_argument("--min_time", type=float, default=0.3, metavar="SECONDS",
                        help="of each row in each round (default: 0.3)")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="of the rows on one core; on a machine that does other things CPU "
                             "time is the steadier one (default: wall)")
    parser.add_argument("--program", type=Path, default=ROOT / "cnn_benchmarks", metavar="PROGRAM",
                        help="default: cnn_benchmarks in the repository")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")
    parser.add_argument("--json_dir", type=Path, metavar="DIR",
                        help="for the result files (default: build/peers/<data set>)")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds: at least 1")
    if arguments.min_time <= 0:
        parser.error("--min_time: more than 0")
    if arguments.out and not os.access(arguments.out.resolve().parent, os.W_OK):
        parser.error(f"--out: the folder of '{arguments.out}' cannot be written to")
    if not arguments.program.is_file():
        parser.error(f"--program: there is no '{arguments.program}'; tools/run.sh builds it")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    data_sets = find_data_sets(arguments.data_dir)
    make_environment()
    try:
        comparison = Comparison(arguments, data_sets)
        comparison.run(arguments.rounds)
    except Failed as error:
        say(str(error))
        return 2 if error.code == 2 else 1
    except DifferentData as error:
        say(str(error))
        return 1
    text = page(comparison, data_sets, arguments.rounds)
    if arguments.out:
        arguments.out.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
