#!/usr/bin/env python3
"""Measures the suite's input pipeline (families Augment and Pipeline) as another framework does it.

Same images, same stages, same names, one thread; the result is Google Benchmark's JSON, so that
any tool that reads the suite's files reads these. Each framework is used as its own users write it;
where it does not do the same work as the suite, a key note_<stage> of the context says so.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import itertools
import json
import os
import platform
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workloads import (FRAMEWORKS, SEED, SIDE, STAGES, STEPS, DataSet, Workload, augment_name,
                       find_data_sets, pipeline_name, spread, usage_error)

EXAMPLE = """example:
  tools/peers/keras_input.py --framework=keras --filter='cats_(affine|full)' --out=keras.json

exit codes: 0 all rows measured, 1 a stage gave wrong pixels, 2 bad usage or a package is missing"""

INSTALL = {
    "keras": "pip install -r tools/peers/requirements.txt",
    "torchvision": "pip install torch torchvision",
    "albumentations": "pip install albumentations torch",
}


# A framework's class has one method per stage, named as the stage, for one image; it imports its
# libraries when it is made. `draw` makes the second argument of `affine`, untimed, where the
# framework lets parameters be drawn apart. `batches` yields the number of images of each batch once
# the batch is in memory, for ever.


class Peer:
    """The whole chain from a file, `_chain`, for rescaling only and with augmentation."""

    def plain(self, path: str):
        return self._chain("plain", path)

    def full(self, path: str):
        return self._chain("full", path)


class TorchPeer(Peer):
    """Without a loader of its own: torch's DataLoader makes the batches."""

    def batches(self, data: DataSet, augment: str) -> Iterator[int]:
        return loader_batches(data, getattr(self, augment))


class Keras(Peer):
    """keras-preprocessing 1.1.2 with Pillow and SciPy, the code that Keras 2.7 ran."""

    layout = "HWC"
    notes = {
        "affine": "bilinear in double, replicated border: the same work as the suite's",
        "all": "arrays are HWC, as Keras's networks read them",
    }

    def __init__(self, workload: Workload) -> None:
        import numpy
        import PIL
        import scipy.ndimage
        from keras_preprocessing import __version__
        from keras_preprocessing.image import ImageDataGenerator, img_to_array, load_img
        from PIL import Image, features

        # keras-preprocessing reads ndimage.interpolation.affine_transform for each channel; since
        # SciPy 1.8 each of these reads issues a deprecation warning, some microseconds that are
        # none of Keras's.
        scipy.ndimage.interpolation = scipy.ndimage
        self.numpy, self.Image = numpy, Image
        self.img_to_array, self.load_img = img_to_array, load_img
        self.workload = workload
        self.generators = {augment: ImageDataGenerator(**workload.generator_arguments(augment))
                           for augment in ("plain", "full")}
        self.versions = {
            "keras_preprocessing": __version__,
            "numpy": numpy.__version__,
            "scipy": scipy.__version__,
            "Pillow": PIL.__version__,
            "Pillow_libjpeg_turbo": str(features.version("libjpeg_turbo")),
        }

    def decode(self, encoded: bytes):
        image = self.Image.open(io.BytesIO(encoded))
        if image.mode != "RGB":
            image = image.convert("RGB")
        image.load()
        return image

    def resize(self, image):
        if image.size != (SIDE, SIDE):
            image = image.resize((SIDE, SIDE), self.Image.NEAREST)
        return image

    def draw(self, index: int) -> dict[str, object]:
        shape = (SIDE, SIDE, 3)
        parameters = self.generators["full"].get_random_transform(shape, seed=SEED + index)
        return {**parameters, "flip_horizontal": False}

    def affine(self, image, parameters):
        return self._finish("full", self.img_to_array(image), parameters)

    def flip(self, image):
        return self._finish("full", self.img_to_array(image), {"flip_horizontal": True})

    def to_tensor(self, image):
        return self.generators["plain"].standardize(self.img_to_array(image))

    def batches(self, data: DataSet, augment: str) -> Iterator[int]:
        iterator = self.generators[augment].flow_from_directory(
            str(data.train), target_size=(SIDE, SIDE), batch_size=self.workload.batch, seed=SEED,
            class_mode="binary" if data.classes == 2 else "categorical")
        while True:
            images, _ = iterator.next()
            yield len(images)

    def _chain(self, augment: str, path: str):
        """What the iterator of flow_from_directory does for each image."""
        image = self.load_img(path, target_size=(SIDE, SIDE))
        array = self.img_to_array(image)
        parameters = self.generators[augment].get_random_transform(array.shape)
        return self._finish(augment, array, parameters)

    def _finish(self, augment: str, array, parameters):
        generator = self.generators[augment]
        return generator.standardize(generator.apply_transform(array, parameters))


class Torchvision(TorchPeer):
    """torchvision's transforms v2 on tensors, and torch's DataLoader."""

    layout = "CHW"
    notes = {
        "decode": "its own libjpeg-turbo; planes are strided views of interleaved pixels",
        "resize": "nearest, but rounds some coordinates to another pixel than Pillow",
        "affine": "black border instead of a replicated one, one zoom factor for both axes, whole "
                  "pixels of shift; on floats, which is faster here than on 8 bits and does not "
                  "round",
        "flip": "planes may stay strided until the DataLoader stacks the batch",
        "to_tensor": "planes may stay strided until the DataLoader stacks the batch",
    }

    def __init__(self, workload: Workload) -> None:
        import torch
        import torchvision
        from torchvision.transforms import v2

        torch.set_num_threads(1)
        torch.manual_seed(SEED)
        self.torch, self.io, self.functional = torch, torchvision.io, v2.functional
        self.nearest = v2.InterpolationMode.NEAREST
        self.workload = workload
        shifts = (workload.width_shift, workload.height_shift)
        self.random_affine = v2.RandomAffine(
            degrees=workload.rotation, translate=shifts if any(shifts) else None,
            scale=(1 - workload.zoom, 1 + workload.zoom), shear=workload.shear,
            interpolation=v2.InterpolationMode.BILINEAR)
        self.float = v2.ToDtype(torch.float32, scale=True)
        resize = v2.Resize((SIDE, SIDE), interpolation=self.nearest)
        self.chains = {
            "plain": v2.Compose([resize, self.float]),
            "full": v2.Compose([resize, self.float, self.random_affine,
                                v2.RandomHorizontalFlip()]),
        }
        self.versions = {"torch": torch.__version__, "torchvision": torchvision.__version__}

    def decode(self, encoded):
        return self.io.decode_image(encoded, mode=self.io.ImageReadMode.RGB)

    def encoded(self, content: bytes):
        return self.torch.frombuffer(bytearray(content), dtype=self.torch.uint8)

    def resize(self, image):
        return self.functional.resize(image, [SIDE, SIDE], interpolation=self.nearest)

    def draw(self, index: int) -> dict[str, object]:
        image = self.torch.empty((3, SIDE, SIDE), dtype=self.torch.uint8)
        return self.random_affine.make_params([image])

    def affine(self, image, parameters):
        return self.random_affine.transform(self.to_tensor(image), parameters)

    def flip(self, image):
        return self.to_tensor(self.functional.horizontal_flip(image))

    def to_tensor(self, image):
        return self.functional.to_dtype(image, self.torch.float32, scale=True)

    def _chain(self, augment: str, path: str):
        return self.chains[augment](self.decode(self.io.read_file(path)))


class Albumentations(TorchPeer):
    """albumentations on OpenCV's arrays, and torch's DataLoader."""

    layout = "CHW"
    notes = {
        "decode": "the libjpeg-turbo of the OpenCV wheel",
        "resize": "OpenCV's INTER_NEAREST: rounds some coordinates to another pixel than Pillow",
        "affine": "cv::warpAffine on 8 bits: coordinates rounded to 1/32 pixel, grey levels "
                  "rounded; draws its parameters inside the stage",
    }

    def __init__(self, workload: Workload) -> None:
        # Else the import asks a server for a newer version.
        os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
        import albumentations
        import cv2
        import numpy
        import torch  # its DataLoader

        cv2.setNumThreads(1)
        torch.set_num_threads(1)
        self.cv2, self.numpy = cv2, numpy
        self.workload = workload
        # OpenCV 4.11 learned to decode to RGB, which saves a pass.
        self.reads_rgb = hasattr(cv2, "IMREAD_COLOR_RGB")
        color = cv2.IMREAD_COLOR_RGB if self.reads_rgb else cv2.IMREAD_COLOR
        self.flags = color | cv2.IMREAD_IGNORE_ORIENTATION
        self.resizer = albumentations.Resize(SIDE, SIDE, interpolation=cv2.INTER_NEAREST)
        self.flipper = albumentations.HorizontalFlip(p=1)
        self.float = albumentations.ToFloat(max_value=255)
        random_affine = self._random_affine(albumentations)
        self.affine_chain = albumentations.Compose([random_affine, self.float])
        self.chains = {
            "plain": albumentations.Compose([self.resizer, self.float]),
            "full": albumentations.Compose([self.resizer, random_affine,
                                            albumentations.HorizontalFlip(p=0.5), self.float]),
        }
        self.versions = {
            "albumentations": albumentations.__version__,
            "cv2": cv2.__version__,
            "numpy": numpy.__version__,
            "torch": torch.__version__,
        }
        jpeg = re.search(r"JPEG:.*?\(ver ([^)]*)\)", cv2.getBuildInformation())
        if jpeg:
            self.versions["cv2_libjpeg_turbo"] = jpeg[1]

    def _random_affine(self, albumentations):
        """Zoom drawn for each axis and a shear that moves rows, as in Keras."""
        workload = self.workload
        zoom = (1 - workload.zoom, 1 + workload.zoom)
        border = self.cv2.BORDER_REPLICATE
        # The name was `mode` before 2.0.
        old = albumentations.__version__.startswith(("0.", "1."))
        return albumentations.Affine(
            rotate=(-workload.rotation, workload.rotation),
            shear={"x": (0, 0), "y": (-workload.shear, workload.shear)},
            scale={"x": zoom, "y": zoom},
            translate_percent={"x": (-workload.width_shift, workload.width_shift),
                               "y": (-workload.height_shift, workload.height_shift)},
            interpolation=self.cv2.INTER_LINEAR, p=1,
            **({"mode": border} if old else {"border_mode": border}))

    def decode(self, encoded):
        image = self.cv2.imdecode(encoded, self.flags)
        return image if self.reads_rgb else self.cv2.cvtColor(image, self.cv2.COLOR_BGR2RGB)

    def encoded(self, content: bytes):
        return self.numpy.frombuffer(content, self.numpy.uint8)

    def resize(self, image):
        return self.resizer(image=image)["image"]

    def affine(self, image):
        return self._planar(self.affine_chain(image=image)["image"])

    def flip(self, image):
        return self.to_tensor(self.flipper(image=image)["image"])

    def to_tensor(self, image):
        return self._planar(self.float(image=image)["image"])

    def _chain(self, augment: str, path: str):
        image = self.decode(self.numpy.fromfile(path, self.numpy.uint8))
        return self._planar(self.chains[augment](image=image)["image"])

    def _planar(self, image):
        return self.numpy.ascontiguousarray(image.transpose(2, 0, 1))


PEERS = dict(zip(FRAMEWORKS, (Keras, Torchvision, Albumentations), strict=True))


class Files:
    """A data set as torch's DataLoader wants it."""

    def __init__(self, data: DataSet, load: Callable[[str], object]) -> None:
        self.images, self.load = data.images, load

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[object, int]:
        path, label = self.images[index]
        return self.load(str(path)), label


def loader_batches(data: DataSet, load: Callable[[str], object]) -> Iterator[int]:
    from torch.utils.data import DataLoader

    loader = DataLoader(Files(data, load), batch_size=data.workload.batch, shuffle=True,
                        num_workers=0)
    while True:
        for _, labels in loader:
            yield len(labels)


@dataclass
class Step:
    """What is timed: `run` returns the number of images it saw."""

    name: str
    run: Callable[[], int]
    images_per_iteration: int | None  # None where it is not the same each time


class WrongPixels(Exception):
    pass


def check_image(value, resized: bool) -> None:
    """8-bit RGB, interleaved or planar, at the network's size if `resized`."""
    import numpy

    array = numpy.asarray(value)
    size = tuple(n for n in array.shape if n != 3) if array.ndim == 3 else ()
    if array.dtype != numpy.uint8 or array.ndim != 3 or 3 not in array.shape or array.max() == 0:
        raise WrongPixels(f"not an 8-bit RGB image: {array.shape}, {array.dtype}")
    if resized and size != (SIDE, SIDE):
        raise WrongPixels(f"size after resizing: {array.shape}")


def check_floats(value, layout: str) -> None:
    """Floats in [0, 1] at the network's size, not all black."""
    import numpy

    array = numpy.asarray(value)
    shape = (SIDE, SIDE, 3) if layout == "HWC" else (3, SIDE, SIDE)
    if array.shape != shape or array.dtype != numpy.float32:
        raise WrongPixels(f"wanted {shape} float32, got {array.shape} {array.dtype}")
    # Rounding may take white and black one step beyond.
    if not (array.min() >= -1e-6 and array.max() <= 1 + 1e-6 and array.sum() > 0):
        raise WrongPixels(f"values from {array.min()} to {array.max()}")


def check_mirrored(peer, image) -> None:
    import numpy

    columns = 1 if peer.layout == "HWC" else 2
    straight = numpy.flip(numpy.asarray(peer.to_tensor(image)), columns)
    if not numpy.array_equal(numpy.asarray(peer.flip(image)), straight):
        raise WrongPixels("flip is not the mirrored image")


def stage_arguments(peer, paths: list[Path]) -> dict[str, list[tuple]]:
    """The arguments of each stage's method, one tuple per image."""
    encoded = [path.read_bytes() for path in paths]
    if hasattr(peer, "encoded"):  # the framework's own type for bytes in memory
        encoded = [peer.encoded(content) for content in encoded]
    decoded = []
    for path, content in zip(paths, encoded, strict=True):
        try:
            decoded.append(peer.decode(content))
        except Exception as error:
            raise WrongPixels(f"'{path}' cannot be decoded ({error}); ./cnn_benchmarks "
                              "--verify_data names all bad files") from error
    resized = [peer.resize(image) for image in decoded]
    alone = [(image,) for image in resized]
    with_draws = [(image, peer.draw(i)) for i, image in enumerate(resized)] \
        if hasattr(peer, "draw") else alone
    files = [(str(path),) for path in paths]
    return {"decode": [(content,) for content in encoded], "resize": [(i,) for i in decoded],
            "affine": with_draws, "flip": alone, "to_tensor": alone, "plain": files, "full": files}


def augment_steps(peer, data: DataSet, wanted: Callable[[str], bool]) -> Iterator[Step]:
    names = {stage: augment_name(data.workload, stage) for stage in STAGES}
    if not any(map(wanted, names.values())):
        return
    arguments = stage_arguments(peer, spread(data.images))
    for stage, name in names.items():
        if not wanted(name):
            continue
        work, items = getattr(peer, stage), arguments[stage]
        for item in items:
            if stage in ("decode", "resize"):
                check_image(work(*item), resized=stage == "resize")
            else:
                check_floats(work(*item), peer.layout)
            if stage == "flip":
                check_mirrored(peer, *item)

        def run(work=work, items=items) -> int:
            for item in items:
                work(*item)
            return len(items)

        yield Step(name, run, len(items))


def pipeline_steps(peer, data: DataSet, wanted: Callable[[str], bool]) -> Iterator[Step]:
    for augment in data.workload.augments:
        name = pipeline_name(data.workload, augment)
        if not wanted(name):
            continue
        batches = peer.batches(data, augment)
        if next(batches) != min(data.workload.batch, len(data.images)):
            raise WrongPixels(f"{name}: the first batch is not full")
        yield Step(name, lambda batches=batches: sum(itertools.islice(batches, STEPS)), None)


def measure(step: Step, min_time: float) -> dict[str, object]:
    """A row of Google Benchmark's JSON, found as Google Benchmark does: more iterations each time
    until they last `min_time` seconds, of which the last try counts."""
    iterations = 1
    while True:
        wall, cpu = time.perf_counter(), time.process_time()
        images = sum(step.run() for _ in range(iterations))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        if wall >= min_time:
            break
        factor = 1.4 * min_time / max(wall, 1e-9) if wall >= 0.1 * min_time else 10
        iterations = max(iterations + 1, int(iterations * min(10, factor)))
    row: dict[str, object] = {
        "name": step.name,
        "run_name": step.name,
        "run_type": "iteration",
        "repetitions": 1,
        "repetition_index": 0,
        "threads": 1,
        "iterations": iterations,
        "real_time": wall / iterations * 1e3,
        "cpu_time": cpu / iterations * 1e3,
        "time_unit": "ms",
        "items_per_second": images / wall,
    }
    if step.images_per_iteration is not None:
        row["images_per_iteration"] = step.images_per_iteration
    return row


def make_peer(framework: str, workload: Workload):
    try:
        return PEERS[framework](workload)
    except ImportError as error:
        usage_error(f"{framework} cannot be used ({error}); install it: {INSTALL[framework]}")


def context(framework: str, peer, data_sets: list[DataSet]) -> dict[str, object]:
    values: dict[str, object] = {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "host_name": socket.gethostname(),
        "executable": "tools/peers/keras_input.py",
        "num_cpus": os.cpu_count(),
        "framework": framework,
        "python": platform.python_version(),
        **peer.versions,
    }
    for data in data_sets:
        values[f"dataset_{data.workload.name}"] = (
            f"{data.name}, {len(data.images)} train images, {data.classes} classes")
    values |= {f"note_{stage}": note for stage, note in peer.notes.items()}
    return values


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--framework", choices=FRAMEWORKS, required=True)
    parser.add_argument("--data_dir", type=Path, metavar="DIR",
                        help="reads DIR/train/<class>/<images>: two classes are dogs_vs_cats, "
                             "otherwise eight_kinds (default: the suite's synthetic data sets)")
    parser.add_argument("--filter", type=re.compile, default=re.compile(""), metavar="REGEX",
                        help="rows whose name it matches (default: all)")
    parser.add_argument("--min_time", type=float, default=0.5, metavar="SECONDS",
                        help="that each row is measured for at least (default: 0.5)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    data_sets = find_data_sets(arguments.data_dir)
    wanted = lambda name: arguments.filter.search(name) is not None  # noqa: E731
    rows = []
    # Keras says on stdout how many images it found; stdout is for the result.
    with contextlib.redirect_stdout(sys.stderr):
        for data in data_sets:
            peer = make_peer(arguments.framework, data.workload)
            steps = [*augment_steps(peer, data, wanted), *pipeline_steps(peer, data, wanted)]
            for step in steps * 2:  # else the first chain of a process can be half as fast
                step.run()
            for step in steps:
                rows.append(measure(step, arguments.min_time))
                print(f"{step.name:70} {1e3 / rows[-1]['items_per_second']:8.4f} ms/image",
                      file=sys.stderr)
    if not rows:
        usage_error(f"--filter: no row matches '{arguments.filter.pattern}'")
    text = json.dumps({"context": context(arguments.framework, peer, data_sets),
                       "benchmarks": rows}, indent=2) + "\n"
    if arguments.out:
        arguments.out.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except WrongPixels as error:
        print(f"keras_input.py: {error}", file=sys.stderr)
        sys.exit(1)
