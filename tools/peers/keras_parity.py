#!/usr/bin/env python3
"""Compares the suite's batches with those of the real Keras code: labels, order and every pixel.

dump_batches writes what the C++ loader delivers; ImageDataGenerator.flow_from_directory delivers
what the experiments read. Both draw the order of the images and all parameters of all transforms
from numpy's generator, seeded with seed + number of batches so far, so one draw too many or too few
shows as other images. Compared are both workloads' augmentations and rescaling alone, two epochs
of more steps than one pass has, for each Keras profile that is installed.

What "the same pixel" means: scipy interpolates in double and rounds to float32 grey levels, Keras
then multiplies by float32(1/255), and so does the suite. Its sum of four products is formed in
another order than scipy's, so the double may differ in its last bit, and where a float32 boundary
lies between the two the grey levels differ by one float32 step (at most 1.5e-5 of a level).
Multiplying turns that step into one of the scaled value, or two where the scaled mantissa is near
2. So the limit is one float32 step of the grey level. Values that are zero but for rounding, such
as 1e-15, have steps of no meaning; below 1/255 of a level the step of that value is the limit.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workloads import SEED, SIDE, WORKLOADS, DataSet, Workload, find_data_sets, usage_error

EXAMPLE = """example:
  tools/peers/keras_parity.py --dump_batches=build/release/dataset/dump_batches

exit codes: 0 all agree, 1 something differs, 2 bad usage or a package is missing"""

ROOT = Path(__file__).resolve().parents[2]
EPOCHS = 2
STEPS_BEYOND = 3  # batches of the second pass in an epoch

PROFILES = {
    "kp112": "keras_preprocessing.image",
    "keras_head": "keras.src.legacy.preprocessing.image",
}


@dataclass
class Comparison:
    """Of one epoch. Differences are those of all values of all images."""

    images: int = 0
    labels_equal: bool = True
    counts_equal: bool = True
    values: int = 0
    differing: int = 0
    beyond_limit: int = 0
    grey_levels: float = 0.0  # largest difference, of 255
    ulps: int = 0  # largest difference in float32 steps, of values above the floor

    @property
    def agrees(self) -> bool:
        return self.labels_equal and self.counts_equal and self.beyond_limit == 0

    def __str__(self) -> str:
        labels = "equal" if self.labels_equal else "DIFFER"
        counts = "equal" if self.counts_equal else "DIFFER"
        return (f"{self.images} images, labels {labels}, batch counts {counts}, "
                f"{self.differing} of {self.values} values differ, "
                f"by at most {self.grey_levels:.2g} grey levels and {self.ulps} float steps, "
                f"{self.beyond_limit} beyond the limit")


def keras_epochs(image_module, data: DataSet, workload: Workload, augment: str, seed: int,
                 steps: int) -> Iterator[Iterator[tuple]]:
    """For each epoch its batches (images [N, side, side, 3], labels [N]), as a training loop gets
    them that calls reset() before each epoch."""
    generator = image_module.ImageDataGenerator(**workload.generator_arguments(augment))
    with contextlib.redirect_stdout(sys.stderr):
        iterator = generator.flow_from_directory(
            str(data.train), target_size=(SIDE, SIDE), batch_size=workload.batch, seed=seed,
            shuffle=True, class_mode="sparse")
    for epoch in range(EPOCHS):
        iterator.reset()
        if iterator.total_batches_seen != epoch * steps:
            raise RuntimeError("the iterator was used between epochs")
        yield (next(iterator) for _ in range(steps))


def dump(program: Path, data: DataSet, workload: Workload, augment: str, profile: str, seed: int,
         epoch: int, steps: int, prefix: Path) -> tuple:
    """The suite's epoch: images [N, 3, side, side], labels [N], images of each batch [steps]."""
    import numpy

    command = [str(program), f"--data_dir={data.train}", f"--side={SIDE}",
               f"--batch_size={workload.batch}", f"--epoch={epoch}", f"--steps={steps}",
               f"--seed={seed}", "--rng=keras", f"--keras_profile={profile}", f"--out={prefix}"]
    if augment == "full":
        command += [f"--rotation={workload.rotation}", f"--height_shift={workload.height_shift}",
                    f"--width_shift={workload.width_shift}", f"--shear={workload.shear}",
                    f"--zoom={workload.zoom}"]
        command += ["--horizontal_flip"] if workload.horizontal_flip else []
    done = subprocess.run(command, stdout=sys.stderr)
    if done.returncode != 0:
        print(f"failed with {done.returncode}: {' '.join(command)}", file=sys.stderr)
        raise SystemExit(1)
    return tuple(numpy.load(f"{prefix}.{part}.npy", mmap_mode="r")
                 for part in ("images", "labels", "counts"))


def compare_pixels(ours, keras, result: Comparison) -> None:
    """Both [N, 3, side, side], float32, scaled to [0, 1]."""
    import numpy

    result.values += ours.size
    different = ours != keras
    count = int(numpy.count_nonzero(different))
    if count == 0:
        return
    result.differing += count
    a, b = ours[different], keras[different]
    levels = numpy.abs(a.astype(numpy.float64) - b) * 255
    larger = numpy.maximum(numpy.abs(a), numpy.abs(b))
    floor = numpy.float32(1 / 255)
    limit = numpy.spacing(numpy.maximum(larger * numpy.float32(255), floor))
    # NaN compares false, so what is not within is beyond. 1.5: both scaled values were rounded once
    # more, by at most a half step together.
    result.beyond_limit += int(numpy.count_nonzero(~(levels <= 1.5 * limit)))
    result.grey_levels = max(result.grey_levels, float(levels.max()))
    counted = larger * 255 >= floor
    if counted.any():
        steps = numpy.abs(a.view(numpy.int32).astype(numpy.int64) - b.view(numpy.int32))
        result.ulps = max(result.ulps, int(steps[counted].max()))


def compare_epoch(ours: tuple, keras_batches: Iterator[tuple]) -> Comparison:
    import numpy

    images, labels, counts = ours
    result = Comparison()
    keras_counts = []
    for keras_images, keras_labels in keras_batches:
        first, count = result.images, len(keras_images)
        result.images += count
        keras_counts.append(count)
        if len(images) < result.images:
            result.labels_equal = False
            continue
        result.labels_equal &= numpy.array_equal(labels[first:result.images],
                                                 keras_labels.astype(numpy.int64))
        compare_pixels(numpy.asarray(images[first:result.images]),
                       numpy.ascontiguousarray(keras_images.transpose(0, 3, 1, 2)), result)
    result.counts_equal = counts.tolist() == keras_counts and len(images) == result.images
    return result


def load_profiles(wanted: list[str] | None) -> dict[str, object]:
    """The Keras code of each profile. Without --keras_profile only kp112 must be there."""
    modules = {}
    for profile in wanted or PROFILES:
        try:
            modules[profile] = importlib.import_module(PROFILES[profile])
        except ImportError as error:
            install = "-r tools/peers/requirements.txt" if profile == "kp112" else "keras torch"
            message = f"{profile}: {error}; install it: pip install {install}"
            if wanted or profile == "kp112":
                usage_error(message)
            print(f"{profile}: skipped, not installed ({error})")
    return modules


def describe_versions() -> str:
    """Of the packages that decide Keras's pixels, where they are installed."""
    versions = []
    for package in ("keras-preprocessing", "keras", "numpy", "scipy", "Pillow"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append(f"{package} {importlib.metadata.version(package)}")
    return ", ".join(versions)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump_batches", type=Path, metavar="PROGRAM",
                        default=ROOT / "build" / "release" / "dataset" / "dump_batches",
                        help="default: that of build/release in the repository")
    parser.add_argument("--data_dir", type=Path, metavar="DIR",
                        help="reads DIR/train/<class>/<images> with both workloads' augmentations "
                             "(default: the suite's synthetic data sets)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--keras_profile", choices=list(PROFILES), action="append",
                        help="default: kp112, and keras_head where Keras 3 is installed "
                             "(with KERAS_BACKEND=torch in the environment torch is enough)")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    if not arguments.dump_batches.is_file():
        usage_error(f"--dump_batches: there is no program '{arguments.dump_batches}'; build it: "
                    "cmake --build build/release --target dump_batches")
    program = arguments.dump_batches.resolve()
    agree = True
    data_sets = find_data_sets(arguments.data_dir)
    # One data set serves both workloads; the synthetic sets are each its own.
    pairs = ([(data_sets[0], workload) for workload in WORKLOADS.values()]
             if arguments.data_dir else [(data, data.workload) for data in data_sets])
    modules = load_profiles(arguments.keras_profile)
    print(f"{describe_versions()}; data: {data_sets[0].name}, "
          f"{sum(len(data.images) for data in data_sets)} images")
    for profile, module in modules.items():
        for data, workload in pairs:
            steps = -(-len(data.images) // workload.batch) + STEPS_BEYOND
            for augment in ("plain", "full"):
                epochs = keras_epochs(module, data, workload, augment, arguments.seed, steps)
                for epoch, batches in enumerate(epochs):
                    with tempfile.TemporaryDirectory() as folder:
                        ours = dump(program, data, workload, augment, profile, arguments.seed,
                                    epoch, steps, Path(folder, "epoch"))
                        result = compare_epoch(ours, batches)
                    agree &= result.agrees
                    print(f"{profile} {workload.name} {augment} epoch {epoch}: {result}",
                          flush=True)
    print("all agree" if agree else "NOT all agree")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
