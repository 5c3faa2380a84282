#!/usr/bin/env python3
"""Reads what cnn_compare exports with other people's readers, or with their grammar written out.

The unit tests of the exports know how they are written; this knows only what a reader accepts, and
shares no code with them. Every format is made of every file on the command line and of a hostile
file that is written here: names with quotes, commas, pipes, backticks, control bytes and invalid
UTF-8, NaN and infinities, errors, skips, repetitions, aggregates, fits, tiny and huge numbers,
counters that are named like tags.

That an export parses is not enough. The rules for pooling are written down here once more, in
Python, and the names and finite real times of all benchmarks must come back, in the order of the
file. And a reader that accepts everything proves nothing: first of all each one has to refuse a
text that is wrong.

json, csv and XML are read by Python's library, OpenMetrics by prometheus_client where it is
installed. InfluxDB's line protocol, Go's benchmark format and GitHub's tables have grammars below.
"""

from __future__ import annotations

import argparse
import csv
import html
import io
import json
import math
import re
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import unquote_to_bytes

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

EXAMPLE = """examples:
  tools/export_readers.py build/release/tools/cnn_compare results/baselines/*.json
  /usr/bin/python3 tools/export_readers.py ./cnn_compare   (Debian's python3-prometheus-client)

exit codes: 0 all exports were read; 1 one was refused, or a reader accepts what is wrong; 2 bad usage"""

PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1}


class Refused(Exception):
    """What is wrong with an export."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Refused(what)


# --- What a file says


@dataclass
class Benchmark:
    name: str  # bytes that are no UTF-8 as surrogates
    rows: list[dict] = field(default_factory=list)
    state: str = "measured"
    seconds: float | None = None  # the real time, pooled; None where there is none, or it is not finite

    def finish(self) -> None:
        measured = [row for row in self.rows if state_of(row) == "measured"]
        if any(state_of(row) == "error" for row in self.rows):
            self.state = "error"
        elif not measured:
            self.state = "skipped"
        values = []
        if self.state == "measured":
            values = [row for row in measured if row.get("run_type") != "aggregate"]
            if not self.from_aggregates:
                values = [seconds_of(row) for row in values]
            else:
                by_kind = {row["aggregate_name"]: seconds_of(row) for row in measured}
                values = [by_kind.get("median", by_kind.get("mean"))]
        if values and all(value is not None and math.isfinite(value) for value in values):
            self.seconds = median(values)

    @property
    def from_aggregates(self) -> bool:
        return all(row.get("run_type") == "aggregate" for row in self.rows)


@dataclass
class Source:
    """A result file, read by Python's json."""
    path: Path
    rows: list[dict]
    benchmarks: list[Benchmark]
    has_date: bool = False


def state_of(row: dict) -> str:
    if row.get("error_occurred"):
        return "error"
    return "skipped" if row.get("skipped") else "measured"


def seconds_of(row: dict) -> float | None:
    if "real_time" not in row:
        return None
    share = row.get("aggregate_unit") == "percentage"
    return row["real_time"] / (1 if share else PER_SECOND[row["time_unit"]])


def first_of_each(pairs: list[tuple]) -> dict:
    """A counter that is named like a field comes after it."""
    row: dict = {}
    for key, value in pairs:
        row.setdefault(key, value)
    return row


def is_fit(row: dict) -> bool:
    return row.get("aggregate_name") in ("BigO", "RMS")


def read_source(path: Path) -> Source:
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    file = json.loads(text, strict=False, object_pairs_hook=first_of_each)
    rows = file["benchmarks"]
    benchmarks: dict[tuple, Benchmark] = {}
    for row in rows:
        if is_fit(row) or row.get("aggregate_unit") == "percentage":
            continue
        key = (row["run_name"], row.get("family_index"), row.get("per_family_instance_index"))
        benchmarks.setdefault(key, Benchmark(row["run_name"])).rows.append(row)
    for benchmark in benchmarks.values():
        benchmark.finish()
    return Source(path, rows, list(benchmarks.values()), "date" in file["context"])


def valid(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def visible(text: str) -> str:
    """Control characters as their pictures."""
    def picture(character: str) -> str:
        code = ord(character)
        if code < 0x20:
            return chr(0x2400 + code)
        return "\u2421" if code == 0x7F else "\ufffd" if 0x80 <= code < 0xA0 else character
    return "".join(map(picture, valid(text)))


def check_times(found: list[tuple[str, float]], wanted: list[tuple[str, float]], name=visible,
                scale: float = 1, longest: int | None = None) -> None:
    """The same names and values in the same order; a name may have a number to be unique."""
    require(len(found) == len(wanted), f"{len(found)} real times, the file has {len(wanted)}")
    for (shown, value), (raw, seconds) in zip(found, wanted):
        start = name(raw) or "(no name)"
        start = start.encode()[:longest].decode(errors="ignore") if longest else start
        rest = shown[len(start):]
        require(shown.startswith(start) and re.fullmatch(r"( #\d+)?", rest) is not None or
                longest is not None and shown.startswith(start),
                f"the name {start!r} is {shown!r}")
        require(math.isclose(value, seconds * scale, rel_tol=1e-12),
                f"{shown!r} has the real time {value!r}, not {seconds * scale!r}")


def times_of(source: Source) -> list[tuple[str, float]]:
    return [(benchmark.name, benchmark.seconds) for benchmark in source.benchmarks
            if benchmark.seconds is not None]


# --- JSON


def refuse_constant(constant: str) -> None:
    raise Refused(f"{constant} is no JSON")


def refuse_twice(pairs: list[tuple]) -> dict:
    keys = [key for key, _ in pairs]
    require(len(keys) == len(set(keys)), f"a key twice in {keys}")
    return dict(pairs)


def strict_json(text: str):
    def number(digits: str) -> float:
        require(math.isfinite(float(digits)), f"{digits} is beyond a double")
        return float(digits)
    return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=refuse_twice,
                      parse_float=number)


def check_records(records: list[dict], source: Source) -> None:
    for record in records:
        require(record.get("schema_version") == 1, "schema_version is not 1")
        require(record["value"] is not None or record["metric"] is None or
                record["nonfinite"] in ("NaN", "Infinity", "-Infinity"), "a null without its reason")
    check_times([(record["benchmark"], record["value"]) for record in records
                 if record["metric"] == "real_time" and record["value"] is not None],
                times_of(source), valid)
    of_state = {state: sum(b.state == state for b in source.benchmarks)
                for state in ("error", "skipped")}
    for state, count in of_state.items():
        require(sum(record["state"] == state for record in records) == count,
                f"not {count} benchmarks with the state {state}")


def read_ndjson(text: str, source: Source) -> None:
    require(text == "" or text.endswith("\n"), "the last line has no end")
    check_records([strict_json(line) for line in text.split("\n")[:-1]], source)


def read_json(text: str, source: Source) -> None:
    check_records(strict_json(text), source)


def read_bmf(text: str, source: Source) -> None:
    found = []
    for name, measures in strict_json(text).items():
        require(len(name.encode()) <= 1024, "a name above 1024 bytes")
        for slug, measure in measures.items():
            require(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", slug) is not None and len(slug) <= 64,
                    f"{slug!r} is no slug")
            require(set(measure) in ({"value"}, {"value", "lower_value", "upper_value"}),
                    f"keys {sorted(measure)}")
            require(all(type(value) in (int, float) for value in measure.values()), "not a number")
        if "latency" in measures:
            found.append((name, measures["latency"]["value"]))
    wanted = [(name, seconds) for name, seconds in times_of(source) if math.isfinite(seconds * 1e9)]
    check_times(found, wanted, valid, 1e9, longest=1012)


def read_gha(text: str) -> list[dict]:
    entries = strict_json(text)
    require(isinstance(entries, list), "no array")
    names = [entry["name"] for entry in entries]
    require(len(names) == len(set(names)), "a name twice")
    for entry in entries:
        require(set(entry) - {"range"} == {"name", "unit", "value", "extra"}, f"keys {sorted(entry)}")
        require(all(isinstance(entry[key], str) for key in ("name", "unit", "extra")), "no text")
        require(type(entry["value"]) in (int, float), "the value is no number")
        require(re.fullmatch(r"(± \S.+)?", entry.get("range", "")) is not None, "the range")
    return entries


def read_gha_smaller(text: str, source: Source) -> None:
    entries = read_gha(text)
    for benchmark in source.benchmarks:
        if benchmark.seconds is None:
            continue
        scale = PER_SECOND[benchmark.rows[0]["time_unit"]]
        name = valid(benchmark.name)
        require(not math.isfinite(benchmark.seconds * scale) or
                any(entry["name"].startswith(name) and
                    math.isclose(entry["value"], benchmark.seconds * scale, rel_tol=1e-12)
                    for entry in entries), f"{name!r} has lost its real time")


def read_gha_bigger(text: str, _: Source) -> None:
    read_gha(text)


# --- CSV, JUnit, OpenMetrics


def read_csv(text: str, source: Source) -> None:
    require(text.count("\r\n") == text.count("\n") == text.count("\r"), "a line end that is no CRLF")
    header, *records = csv.reader(io.StringIO(text, newline=""), strict=True)
    require(len(header) == len(set(header)), "two columns of one name")
    require(all(len(record) == len(header) for record in records), "a row is shorter or longer")
    require(len(records) == len(source.rows), f"{len(records)} rows of {len(source.rows)}")
    for record, row in zip((dict(zip(header, record)) for record in records), source.rows):
        require(record["name"] == visible(row["name"]), f"{row['name']!r} is {record['name']!r}")
        require(record["state"] == state_of(row), f"{row['name']!r} is {record['state']}")
        seconds = seconds_of(row) if state_of(row) == "measured" and not is_fit(row) else None
        text_of = record.get("real_time", "")
        if seconds is None or (math.isnan(seconds) and text_of == "NaN"):
            require(seconds is not None or text_of == "", f"{row['name']!r} has the time {text_of}")
            continue
        require(math.isclose(float(text_of), seconds, rel_tol=1e-12) and "nan" not in text_of.lower(),
                f"{row['name']!r} has the real time {text_of}, not {seconds!r}")


def read_junit(text: str, source: Source) -> None:
    root = ElementTree.fromstring(text.encode())
    require(root.tag == "testsuites" and len(root) == 1, "not one suite of a file")
    suite = root[0]
    cases = suite.findall("testcase")
    counts = {"tests": len(cases), "failures": len(suite.findall("testcase/failure")),
              "errors": len(suite.findall("testcase/error")),
              "skipped": len(suite.findall("testcase/skipped"))}
    for key, count in counts.items():
        require(suite.get(key) == str(count), f"{key} says {suite.get(key)}, there are {count}")
        require(key == "skipped" or root.get(key) == str(count), f"{key} of all: {root.get(key)}")
    states = [benchmark.state for benchmark in source.benchmarks]
    require([counts["tests"], counts["failures"], counts["skipped"]] ==
            [len(states), states.count("error"), states.count("skipped")], f"counts {counts}")
    for case in cases:
        require(re.fullmatch(r"-?\d+\.\d+", case.get("time")) is not None, "no xs:decimal")
    found = [(case.get("name"), float(case.get("time"))) for case in cases]
    wanted = [(benchmark.name, benchmark.seconds or 0.0) for benchmark in source.benchmarks]
    check_times(found, wanted, lambda name: re.sub("[\ufffe\uffff]", "\ufffd", visible(name)))


def read_openmetrics(text: str, source: Source) -> None:
    if text_string_to_metric_families is None:
        return
    found = []
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == "benchmark_real_time_seconds" and math.isfinite(sample.value):
                found.append((sample.labels["benchmark"], sample.value))
    check_times(found, times_of(source))


# --- The line protocol of InfluxDB

INFLUX_KEY = r"(?:\\[,= ]|[^\\,= \n])+"
INFLUX_FLOAT = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
INFLUX_STRING = r'"(?:\\["\\]|[^"\\\n])*"'
INFLUX_FIELD = re.compile(f"({INFLUX_KEY})=(?:(-?\\d+i)|({INFLUX_FLOAT})|(true|false)|({INFLUX_STRING}))")
INFLUX_TAG = re.compile(f",({INFLUX_KEY})=({INFLUX_KEY})")
INFLUX_TIME = re.compile(r"(?: (-?\d+))?")


def read_influx(text: str, source: Source) -> None:
    require(text == "" or text.endswith("\n"), "the last line has no end")
    points, types, all_tags, all_fields, found = set(), {}, set(), set(), []
    for line in text.split("\n")[:-1]:
        require(not any(unicodedata.category(c) == "Cc" for c in line), "a control character")
        require(line.startswith("benchmark,"), f"no measurement: {line[:60]!r}")
        at = len("benchmark")
        tags: dict[str, str] = {}
        while match := INFLUX_TAG.match(line, at):
            require(match[1] not in tags, f"the tag {match[1]} twice")
            tags[match[1]] = match[2]
            at = match.end()
        require(line[at:at + 1] == " ", f"neither tag nor field: {line[at:at + 60]!r}")
        fields: dict[str, str] = {}
        while match := INFLUX_FIELD.match(line, at + 1):
            key, kind = match[1], match.lastindex
            require(key not in fields, f"the field {key} twice")
            require(key != "time" and key[0] != "_", f"a field called {key}")
            require(types.setdefault(key, kind) == kind, f"the field {key} has two types")
            require(kind != 3 or math.isfinite(float(match[3])), f"{match[3]} is beyond a double")
            fields[key] = match[kind]
            at = match.end()
            if line[at:at + 1] != ",":
                break
        time = INFLUX_TIME.fullmatch(line, at)
        require(bool(fields) and time is not None, f"neither field nor time: {line[at:at + 60]!r}")
        point = (tuple(sorted(tags.items())), time[1])
        require(point not in points, "one series and time twice")
        points.add(point)
        all_tags |= set(tags)
        all_fields |= set(fields)
        if "real_time_seconds" in fields:
            name = re.sub(r"\\([,= ])", r"\1", tags["benchmark"])
            found.append((name, float(fields["real_time_seconds"])))
    require(not all_tags & all_fields, f"tags and fields: {sorted(all_tags & all_fields)}")
    check_times(found, times_of(source), lambda name: visible(name).replace("\\", "\uff3c"))


# --- Go's benchmark format

GO_CONFIG = re.compile(r"[a-z][^\sA-Z:]*:( [^\n]*)?")
GO_UNIT = re.compile(r"Unit \S+( [a-z]+=\S+)+")
GO_RESULT = re.compile(r"Benchmark([A-Z]\S*)-1 ([1-9]\d*)((?: -?[\d.]+(?:e[+-]?\d+)? \S+)+)")
GO_NOTE = re.compile(r"#.*|--- (FAIL|SKIP): Benchmark[A-Z]\S*: .*")


def name_of_go(text: str) -> bytes:
    text = text[2:] if text.startswith("X_") else text
    return b"/".join(unquote_to_bytes(part.replace("=", ":", 1)) for part in text.split("/"))


def read_gobench(text: str, source: Source) -> None:
    require(text == "" or text.endswith("\n"), "the last line has no end")
    found, described = [], {}
    for line in text.split("\n")[:-1]:
        require(not any(unicodedata.category(c) == "Cc" for c in line), "a control character")
        if line.startswith("Unit "):
            require(GO_UNIT.fullmatch(line) is not None, f"no unit: {line!r}")
            unit, about = line.split(" ")[1:3]
            require(described.setdefault(unit, about) == about, f"the unit {unit} is two things")
        elif match := GO_RESULT.fullmatch(line):
            words = match[3].split(" ")[1:]
            require(words == match[3].split(), "a space that is none")
            values = dict(zip(words[1::2], map(float, words[::2])))
            require(len(values) == len(words) // 2, f"a unit twice: {line[:200]!r}")
            require(not {"ns/op", "MB/s"} & set(values), "a unit that benchstat changes")
            require(all(map(math.isfinite, values.values())), "a value that is not finite")
            if "sec/op" in values:
                found.append((name_of_go(match[1]).decode("utf-8", "surrogateescape"),
                              values["sec/op"]))
        else:
            require(GO_NOTE.fullmatch(line) is not None or GO_CONFIG.fullmatch(line) is not None,
                    f"neither result nor comment: {line[:80]!r}")
    wanted = [(row["run_name"], seconds_of(row)) for row in source.rows
              if row.get("run_type") != "aggregate" and state_of(row) == "measured"]
    wanted = [(name, value) for name, value in wanted if value is not None and math.isfinite(value)]
    wanted += [(benchmark.name, benchmark.seconds) for benchmark in source.benchmarks
               if benchmark.from_aggregates and benchmark.seconds is not None]
    found = [(name or "(no name)", value) for name, value in found]
    check_times(found, wanted, lambda name: name)


# --- Tables of GitHub-flavoured Markdown


def cells_of(line: str) -> list[str]:
    require(line.startswith("|") and line.endswith("|"), f"no row of a table: {line[:60]!r}")
    return [cell.strip(" ") for cell in re.split(r"(?<!\\)\|", line[1:-1])]


def name_in(cell: str) -> str:
    if cell.startswith("`"):
        require(re.fullmatch("`[^`]+`", cell) is not None, f"no code span: {cell!r}")
        return cell[1:-1]
    require(re.search(r"[|`\\*_\[\]~@#!$<>]", re.sub(r"&#\d+;", "", cell)) is None,
            f"markup in {cell!r}")
    return html.unescape(cell)


def read_markdown(text: str, source: Source) -> None:
    require(len(text.encode()) <= 65000, "longer than a comment may be")
    require(not any(unicodedata.category(c) == "Cc" for c in text if c != "\n"), "a control character")
    table = [line for line in text.split("\n") if line.startswith("|")]
    require("\n\n" + "\n".join(table) + "\n" in text, "the table is not one block after an empty line")
    header, delimiter, *rows = map(cells_of, table)
    require(all(re.fullmatch(":?-+:?", cell) for cell in delimiter), "no delimiter row")
    require(all(len(row) == len(header) == len(delimiter) for row in rows), "not the header's cells")
    more = re.search(r"^… and (\d+) more", text, re.MULTILINE)
    require(len(rows) + int(more[1] if more else 0) == len(source.benchmarks), f"{len(rows)} rows")
    failed_first = sorted(source.benchmarks, key=lambda benchmark: benchmark.state != "error")
    for row, benchmark in zip(rows, failed_first):
        name = visible(benchmark.name) or "(no name)"
        shown = name_in(row[0])
        start = name.encode()[:400].decode(errors="ignore").strip(" ")
        require(re.fullmatch(r"…?( #\d+)?…?", shown[len(start):]) is not None and
                shown.startswith(start), f"the name {name!r} is {shown!r}")
        require(("**failed**" in row[-1]) == (benchmark.state == "error"), f"the note of {name!r}")
        if benchmark.seconds is None:
            continue
        number, unit = row[1].split(" ")
        require(math.isclose(float(number) / PER_SECOND[unit], benchmark.seconds, rel_tol=1e-3),
                f"{name!r} has the time {row[1]}, not {benchmark.seconds!r} s")


READERS = {"ndjson": read_ndjson, "json": read_json, "csv": read_csv, "bmf": read_bmf,
           "gha-smaller": read_gha_smaller, "gha-bigger": read_gha_bigger, "influx": read_influx,
           "openmetrics": read_openmetrics, "gobench": read_gobench, "junit": read_junit,
           "markdown": read_markdown}

# Flags that change a format.
VARIANTS = [(name, []) for name in READERS] + [("openmetrics", ["--openmetrics-timestamps"])]

# What each reader must refuse of a file with the one benchmark "A" of 1 s.
RECORD = '{"schema_version":1,"benchmark":"A","state":"measured","metric":"real_time",%s}'
WRONG = {
    "ndjson": [RECORD % '"value":NaN' + "\n", RECORD % '"value":2' + "\n", RECORD % '"value":1'],
    "json": ["[" + RECORD % '"value":1,"value":1' + "]", "[]"],
    "csv": ['"name","state","real_time"\r\n"A","measured"\r\n',
            '"name","state","real_time"\n"A","measured",1\n',
            '"name","state","real_time"\r\n"A","measured",NaN\r\n',
            '"name","name","state","real_time"\r\n"A","A","measured",1\r\n'],
    "bmf": ['{"A":{"latency":{"value":"1e9"}}}', '{"A":{"latency":{"value":1}}}'],
    "gha-smaller": ['[{"name":"A","unit":"s","value":Infinity,"extra":""}]', "[]"],
    "gha-bigger": ['[{"name":"A","unit":"s","value":null,"extra":""}]'],
    "influx": ["benchmark,benchmark=A real_time_seconds=NaN\n", "benchmark,benchmark= real_time_seconds=1\n",
               "benchmark,benchmark=A real_time_seconds=1,real_time_seconds=1\n",
               "benchmark,benchmark=A,b=c d real_time_seconds=1\n",
               "benchmark,benchmark=A,b=c real_time_seconds=1,b=2\n"],
    "openmetrics": ["# TYPE benchmark_real_time_seconds gauge\n"
                    'benchmark_real_time_seconds{benchmark="A"} 1\n', "# EOF\n"],
    "gobench": ["BenchmarkA-1 1 NaN sec/op\n", "Benchmarka-1 1 1 sec/op\n", "BenchmarkA-1 0 1 sec/op\n",
                "BenchmarkA-1 1 1 sec/op 1 sec/op\n"],
    "junit": ['<testsuites tests="1" failures="0" errors="0"><testsuite tests="1" failures="0" '
              f'errors="0" skipped="0"><testcase name="A" time="{time}"/>{more}</testsuite></testsuites>'
              for time, more in (("1e0", ""), ("2.0", ""), ("1.0", "<testcase/>"), ("1.0", "&#27;"))],
    "markdown": ["x\n\n| a | b |\n|---|---|\n| `A` | 1 s | |\n", "x\n| a | b |\n|---|---|\n| `A` | 1 s |\n",
                 "x\n\n| a | b |\n|---|---|\n| *A* | 1 s |\n"],
}


def check_readers() -> list[str]:
    """Of each reader that accepts what is wrong, a line."""
    row = {"name": "A", "run_name": "A", "real_time": 1, "time_unit": "s"}
    benchmark = Benchmark("A", [row])
    benchmark.finish()
    source = Source(Path("A"), [row], [benchmark])
    problems = []
    for name, texts in WRONG.items():
        if name == "openmetrics" and text_string_to_metric_families is None:
            continue
        for text in texts:
            try:
                READERS[name](text, source)
            except Exception:  # each reader has its own
                continue
            problems.append(f"the reader of {name} accepts {text!r}")
    return problems


# --- The hostile file

HOSTILE_NAMES = [
    "BM_x<float, 3>/8/device:cpu", "quote\"s and 'apostrophes'/a:b", "a<b>&c]]>\ufffe/x",
    "line\nfeed\rand\ttab/key:va\nlue", "\x1b[31mred\x1b[0m/8", "bad\udcff\udcc3(utf\udced\udca0\udc80/b:\udcfe",
    "bad\udcfe\udcc3(utf\udced\udca0\udc80/b:\udcfe", "a=b,c=d e=f/device:x=y,z w",
    "pipe|pipe\\|`code` ``more``", "back\\slash\\", "=1+1", "+1", "-1", "@sum", " edge spaces ", "# EOF",
    "__proto__/le:1/host:h/time:3/benchmark:x/le:2", "\x9b31m C1, \u2003 wide \u2028 line \x85 next", "name-3",
    "percent%20 100%", "//empty///parts:/", "\U0001f600 [link](http://x) @user #1 *bold*", "nul\0byte", "",
    "X_1", "x" * 3000 + "1", "x" * 3000 + "2", "Unit", "Unit A a=b", "RAW\x01\x1b\x7f"]

HOSTILE_COUNTERS = {
    "name ": 7, "a b": 1, "a_b": 2, "=cmd|' /C calc'!A0": 3, "\x1b\udcff\n": 4, "": 5, "back\\": 6,
    'quo"ted': 6, "run_info": 1, "time": 1, "_field": 2, "family": 3, "host": 4, "benchmark": 5, "metric": 1,
    "n": 2, "value": 3, "ns/op": 6, "MB/s": 1, "device": 7, "forward_ms": 2.5, "forward_seconds": 1,
    "peak_memory_mb": 300, "items_per_second": math.inf, "loss": -math.inf, "accuracy": 1e300,
    "tiny": 5e-324, "zero": -0.0, "nan": math.nan, "1digit": 1, "latency": 2, "throughput": 3}


def iteration(name: str, real_time: float, unit: str = "us", **more) -> dict:
    return {"name": name, "family_index": 0, "per_family_instance_index": 0, "run_name": name,
            "run_type": "iteration", "repetitions": 1, "repetition_index": 0, "threads": 1,
            "iterations": 10, "real_time": real_time, "cpu_time": 2 * real_time, "time_unit": unit, **more}


def aggregate(run_name: str, kind: str, real_time: float, **more) -> dict:
    row = iteration(run_name, real_time, run_type="aggregate", aggregate_name=kind,
                    aggregate_unit="percentage" if kind == "cv" else "time", **more)
    return {**row, "name": f"{run_name}_{kind}", "iterations": 5}


def hostile_rows() -> list[dict]:
    rows = [iteration(name, 100 + i / 7) for i, name in enumerate(HOSTILE_NAMES)]
    rows.append(iteration("Counters", 1e-9, "ns", **HOSTILE_COUNTERS))
    rows += [iteration("Wild", math.nan), iteration("Wilder", math.inf), iteration("Zero", 0),
             iteration("Tiny", 5e-324, "s"), iteration("Small", 1e-300, "s"), iteration("Huge", 1e300, "s")]
    rows += [iteration("Failed/device:cuda", 0, error_occurred=True,
                       error_message='no "GPU" <here>,\n\x1b[0m= | `x` \udcff'),
             iteration("Skipped", 0, skipped=True, skip_message="not, today: a|b")]
    for i, real_time in enumerate((3, 1, 2, 10)):
        rows.append(iteration("Repeated", real_time, repetition_index=i, repetitions=4, label='l="1", |'))
    rows += [aggregate("Repeated", kind, value) for kind, value in
             (("mean", 4), ("median", 2.5), ("stddev", 4.08), ("cv", 1.02))]
    rows += [iteration("Diverged", real_time, repetition_index=i, repetitions=2)
             for i, real_time in enumerate((1, math.nan))]
    rows += [iteration("HalfFailed", 5, repetitions=2),
             iteration("HalfFailed", 0, repetition_index=1, repetitions=2, error_occurred=True, error_message="")]
    rows += [aggregate("Only", kind, value) for kind, value in (("mean", 7), ("median", 6), ("stddev", 0.5))]
    rows += [aggregate("OnlyMean a:b", "mean", 8)]
    rows += [iteration("Twice", 11), iteration("Twice", 12, family_index=1)]
    fit = {"family_index": 9, "per_family_instance_index": 0, "run_name": "Sort", "run_type": "aggregate",
           "repetitions": 1, "threads": 1}
    rows += [{"name": "Sort_BigO", **fit, "aggregate_name": "BigO", "aggregate_unit": "time",
              "cpu_coefficient": 2.5, "real_coefficient": 2.6, "big_o": "N^2", "time_unit": "ns"},
             {"name": "Sort_RMS", **fit, "aggregate_name": "RMS", "aggregate_unit": "percentage", "rms": 0.05}]
    return rows


def write_hostile(path: Path) -> None:
    context = {"date": "2026-12-01T18:36:31+00:00", "host_name": "vm|,= \"x\"\\", "num_cpus": 2,
               "executable": "./build dir/b=x,y", "library_build_type": "release",
               "git_commit": "abc\x1b\udcff", "device_cpu": "Intel(R), `2` | cores\nUnit x"}
    text = json.dumps({"context": context, "benchmarks": hostile_rows()}, ensure_ascii=False, indent=1)
    # Google Benchmark up to 1.8 writes some control bytes as they are.
    text = text.replace("RAW\\u0001\\u001b", "RAW\x01\x1b")
    # A counter may bear the name of a field, which a dict cannot.
    text = text.replace('"name ": 7', '"real_time": 123,\n   "name": 7')
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


# --- All formats of all files


def export(program: str, name: str, flags: list[str], path: Path) -> str:
    done = subprocess.run([program, "export", f"--format={name}", *flags, str(path)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    require(done.returncode == 0, f"cnn_compare ended with {done.returncode}: "
            f"{done.stderr.decode(errors='replace')[-500:].strip()}")
    return done.stdout.decode()  # strictly


def unread_formats(program: str) -> list[str]:
    """Formats that cnn_compare has and this has not, or the other way round."""
    done = subprocess.run([program, "export", "--format=none", "none.json"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    known = done.stderr.strip().rpartition("one of ")[2]
    known = set(re.findall("[a-z][a-z-]*", known.replace("\n", " ")))
    return sorted(known ^ set(READERS))


def check(program: str, source: Source) -> list[str]:
    problems = []
    for name, flags in VARIANTS:
        if flags and not source.has_date:
            continue  # no timestamps
        try:
            READERS[name](export(program, name, flags, source.path), source)
        except Exception as error:  # each reader has its own
            what = str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}"
            problems.append(f"{' '.join([name, *flags])}, {source.path}: {what}")
    return problems


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="cnn_compare")
    parser.add_argument("files", nargs="*", type=Path, help="result files, besides the hostile one")
    options = parser.parse_args()
    for path in (Path(options.program), *options.files):
        if not path.is_file():
            parser.error(f"{path}: there is no such file")
    return options


def main() -> None:
    options = parse()
    problems = check_readers()
    unread = unread_formats(options.program)
    if unread:
        problems.append(f"formats that are only here or only there: {', '.join(unread)}")
    if text_string_to_metric_families is None:
        print("export_readers: there is no prometheus_client, so nothing has read OpenMetrics")
    with tempfile.TemporaryDirectory() as folder:
        hostile = Path(folder) / "hostile.json"
        write_hostile(hostile)
        sources = [read_source(path) for path in (*options.files, hostile)]
        for source in sources:
            problems += check(options.program, source)
    for problem in problems:
        print(f"export_readers: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"export_readers: {len(READERS) - (text_string_to_metric_families is None)} formats of "
          f"{len(sources)} files were read, "
          f"{sum(len(source.benchmarks) for source in sources)} benchmarks")


if __name__ == "__main__":
    main()
