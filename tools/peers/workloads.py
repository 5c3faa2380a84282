"""What the scripts of this folder share: the suite's two workloads, its names and its data sets.

Standard library only, so that compare_input.py can run before anything is installed.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

SIDE = 150  # pixels, of the networks' square input
STEPS = 10  # batches of one iteration of Pipeline
SEED = 42
MAX_IMAGES = 64  # of one iteration of Augment
SYNTHETIC = "synthetic-v1"  # the suite's present set: dataset/synthetic.cc

STAGES = ("decode", "resize", "affine", "flip", "to_tensor", "plain", "full")
FRAMEWORKS = ("keras", "torchvision", "albumentations")

# As Keras has them: without the dot.
IMAGE_ENDINGS = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")


@dataclass(frozen=True)
class Workload:
    """One published experiment's input; ranges as ImageDataGenerator's arguments."""

    name: str
    batch: int
    rotation: float  # degrees
    shear: float  # degrees
    zoom: float  # factors from [1 - zoom, 1 + zoom]
    height_shift: float = 0.0  # fraction of the height
    width_shift: float = 0.0  # fraction of the width
    horizontal_flip: bool = True
    augments: tuple[str, ...] = ("full",)  # variants of its Pipeline rows

    def generator_arguments(self, augment: str) -> dict[str, object]:
        """Arguments of Keras's ImageDataGenerator for "plain" (rescale only) or "full"."""
        if augment == "plain":
            return {"rescale": 1 / 255}
        return {
            "rescale": 1 / 255,
            "rotation_range": self.rotation,
            "height_shift_range": self.height_shift,
            "width_shift_range": self.width_shift,
            "shear_range": self.shear,
            "zoom_range": self.zoom,
            "horizontal_flip": self.horizontal_flip,
        }


# As in model/workloads.cc.
WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("eight_kinds", batch=32, rotation=20, shear=0.2, zoom=0.2),
        Workload("dogs_vs_cats", batch=20, rotation=40, shear=0.2, zoom=0.2,
                 height_shift=0.2, width_shift=0.2, augments=("plain", "full")),
    )
}


@dataclass(frozen=True)
class DataSet:
    """The training split that a workload reads."""

    workload: Workload
    name: str
    train: Path
    classes: int
    images: tuple[tuple[Path, int], ...]  # path and label, in Keras's order


def augment_name(workload: Workload, stage: str) -> str:
    return f"Augment/{workload.name}_{stage}"


def pipeline_name(workload: Workload, augment: str) -> str:
    """The row that loads images in the calling thread."""
    return (f"Pipeline/{workload.name}/augment:{augment}/batch:{workload.batch}"
            f"/workers:0/steps:{STEPS}")


def parse_name(name: str) -> tuple[str, dict[str, str]]:
    """'Family/subject/key:value/...' to 'Family/subject' and its keys."""
    parts = name.split("/")
    keys = dict(part.split(":", 1) for part in parts[2:])
    return "/".join(parts[:2]), keys


def list_images(train: Path) -> tuple[int, tuple[tuple[Path, int], ...]]:
    """Number of classes, and images with labels in Keras's order: by code point, which is the byte
    order of UTF-8. Hidden names are left out, as the suite does."""
    classes = sorted(entry.name for entry in train.iterdir()
                     if entry.is_dir() and not entry.name.startswith("."))
    images: list[tuple[Path, int]] = []
    for label, class_name in enumerate(classes):
        for folder, _, files in sorted(os.walk(train / class_name)):
            if any(part.startswith(".") for part in Path(folder).relative_to(train).parts):
                continue
            images += [(Path(folder, file), label) for file in sorted(files)
                       if file.lower().endswith(IMAGE_ENDINGS) and not file.startswith(".")]
    return len(classes), tuple(images)


def spread(images: tuple[tuple[Path, int], ...]) -> list[Path]:
    """The images of one iteration of Augment, taken from all classes."""
    count = min(MAX_IMAGES, len(images))
    return [images[i * len(images) // count][0] for i in range(count)]


def find_data_sets(data_dir: Path | None) -> list[DataSet]:
    """The user's data set, or the suite's two synthetic ones. Ends the program with 2 if there is
    none."""
    if data_dir is not None:
        name = data_dir.resolve().name
        found = [_scan(data_dir / "train", name)]
        chosen = "dogs_vs_cats" if found[0][0] == 2 else "eight_kinds"
        return [DataSet(WORKLOADS[chosen], name, data_dir / "train", *found[0])]
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():  # the XDG specification has relative paths ignored
        cache = Path.home() / ".cache"
    root = cache / "cnn_benchmarks" / SYNTHETIC
    return [DataSet(workload, root.name, root / workload.name / "train",
                    *_scan(root / workload.name / "train", root.name))
            for workload in WORKLOADS.values()]


def _scan(train: Path, name: str) -> tuple[int, tuple[tuple[Path, int], ...]]:
    if not train.is_dir():
        if name == SYNTHETIC:
            usage_error("the synthetic data set is not there yet; the suite writes it: "
                        "./cnn_benchmarks --benchmark_filter=Augment")
        usage_error(f"--data_dir: there is no folder '{train}'; a data set is "
                    "DIR/train/<class>/<images>")
    classes, images = list_images(train)
    if not images:
        usage_error(f"--data_dir: no image in the {classes} class folders of '{train}'")
    return classes, images


def usage_error(message: str) -> NoReturn:
    """Bad usage or something missing: exit code 2."""
    print(f"{Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    raise SystemExit(2)
