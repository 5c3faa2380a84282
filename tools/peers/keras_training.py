#!/usr/bin/env python3
"""Writes model/keras_values.json: what the real Keras 2.7 computes when it trains.

model/keras_test.cc replays all of it with the suite's own module, losses and optimisers. The file
holds, with the versions that made it:

  optimizers         weights after each of some steps with fixed gradients, tiny ones among them
  initialisation     limits that Conv2D and Dense hand to the random generator, and their biases
  categorical,       loss and accuracy of single images from their logits: as fit reports them, and
  binary             from the probabilities alone, where Keras clips
  dropout            what becomes of ones in training and out of it
  trainings          small networks: initial weights, what fit reports after each epoch, the final
                     weights; one with dropout, of which only the validation can be replayed
  validation_steps   what fit reports when it is told to validate on fewer batches than there are,
                     on all, and on more

TensorFlow 2.7 needs Python 3.7 to 3.9. Where it is not installed for the Python that runs this
script, it is installed into a virtual environment, build/peers/training, once. On one machine the
file comes out the same to the byte each time; on another the last digits may differ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from workloads import usage_error

EXAMPLE = """example:
  tools/peers/keras_training.py --python=python3.9

exit codes: 0 written, 2 bad usage or a package is missing"""

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VENV = ROOT / "build" / "peers" / "training"
REQUIREMENTS = HERE / "requirements-training.txt"
OUT = ROOT / "model" / "keras_values.json"

HEIGHT, WIDTH, CHANNELS = 6, 8, 3  # not square: rows and columns must not be exchanged
FILTERS, KERNEL, POOL, UNITS, CLASSES = 4, 3, 2, 5, 3
TRAIN, VALIDATION, BATCH = 11, 6, 4  # the last batch of either is short
EPOCHS = 4

# Epsilon is 1e-7: from 1e-5 downwards its place decides.
GRADIENTS = (1.0, -0.3, 1e-3, -1e-5, 1e-6, -1e-7, 1e-8, 0.0)
FACTORS = (1.0, -0.5, 0.25, 2.0, 1.0, -1.0, 0.0, 0.7)  # of the gradients in each step

# Rows of logits with the right class. With the later ones the probability is 0 or 1 in float32.
CATEGORICAL = (
    ((0.0, 0.0, 0.0), 1), ((1.0, 2.0, 0.5), 1), ((1.0, 2.0, 0.5), 2), ((-3.0, 4.0, 4.0), 1),
    ((-3.0, 4.0, 4.0), 2), ((2.0, 2.0, 2.0), 0), ((10.0, 0.0, 0.0), 0), ((15.0, 0.0, -5.0), 1),
    ((20.0, 0.0, -5.0), 1), ((50.0, 0.0, 10.0), 1), ((50.0, 0.0, 10.0), 0),
    ((200.0, -100.0, 0.0), 1))
# Sigmoid of 1e-8 is 1/2 in float32.
BINARY = (
    (0.0, 0), (0.0, 1), (1e-8, 1), (-1e-8, 0), (1e-8, 0), (1e-6, 1), (-1e-6, 1), (0.7, 1),
    (-0.7, 1), (5.0, 0), (-5.0, 0), (20.0, 0), (-20.0, 1), (20.0, 1), (100.0, 0), (-100.0, 1))

# Of the published networks: kind, inputs, outputs, side of the kernel.
LAYERS = (("conv2d", 3, 32, 3), ("conv2d", 32, 64, 3), ("conv2d", 128, 128, 3),
          ("dense", 6272, 512, 0), ("dense", 512, 8, 0), ("dense", 512, 1, 0))


# --- the environment


def make_environment(python: str) -> None:
    wanted = REQUIREMENTS.read_text()
    stamp = VENV / "installed.txt"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print(f"keras_training: installing TensorFlow into {VENV.relative_to(ROOT)}", file=sys.stderr)
    try:
        made = subprocess.run([python, "-m", "venv", str(VENV)], stdout=sys.stderr)
    except OSError as error:
        usage_error(f"--python: {error}")
    if made.returncode:
        usage_error(f"{python} -m venv failed; on Debian: apt-get install python3-venv")
    install = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet",
               "--disable-pip-version-check", "-r", str(REQUIREMENTS)]
    if subprocess.run(install, stdout=sys.stderr).returncode:
        usage_error(f"pip could not install {REQUIREMENTS.name}; TensorFlow 2.7 needs Python 3.7 "
                    "to 3.9: name one with --python")
    stamp.write_text(wanted)


def installed() -> bool:
    try:
        import tensorflow  # noqa: F401
    except ImportError:
        return False
    return True


# --- what Keras computes. Imports are inside: --help must work without TensorFlow.


def random_state(key: int):
    import numpy

    return numpy.random.RandomState(key)  # its streams never change with numpy's version


def optimizers() -> list:
    import numpy
    import tensorflow as tf
    from tensorflow import keras

    result = []
    for name, optimizer, rate in (
            ("adam", keras.optimizers.Adam(), 1e-3),
            ("rmsprop", keras.optimizers.RMSprop(learning_rate=1e-4), 1e-4)):
        weights = tf.Variable(numpy.zeros(len(GRADIENTS), numpy.float32))
        after = []
        for factor in FACTORS:
            gradient = numpy.float32(factor) * numpy.array(GRADIENTS, numpy.float32)
            optimizer.apply_gradients([(tf.constant(gradient), weights)])
            after.append(weights.numpy())
        result.append({"optimizer": name, "learning_rate": rate, "gradients": GRADIENTS,
                       "factors": FACTORS, "weights": after})
    return result


def initialisation() -> list:
    """Of a layer as Keras makes it by default: limits are what its initializer asks for."""
    import numpy
    from tensorflow import keras

    result = []
    for kind, inputs, outputs, side in LAYERS:
        layer = (keras.layers.Conv2D(outputs, side) if kind == "conv2d"
                 else keras.layers.Dense(outputs))
        generator = layer.kernel_initializer._random_generator
        limits = []
        draw = generator.random_uniform

        def spy(shape, minval, maxval, dtype, draw=draw, limits=limits):
            limits.append((float(minval), float(maxval)))
            return draw(shape, minval, maxval, dtype)

        generator.random_uniform = spy
        layer.build((None, 9, 9, inputs) if kind == "conv2d" else (None, inputs))
        kernel, bias = (values.numpy() for values in layer.weights)
        (low, high), = limits
        if low != -high or numpy.abs(kernel).max() > high * (1 + 1e-6):
            raise RuntimeError(f"{kind}: not uniform between limits of one size")
        result.append({"kind": kind, "inputs": inputs, "outputs": outputs, "kernel": side,
                       "limit": high, "largest_bias": float(numpy.abs(bias).max())})
    return result


def output_model(units: int, activation: str, loss: str):
    """Its input is the logits: the kernel is the identity."""
    from tensorflow import keras

    model = keras.Sequential([keras.layers.Dense(units, activation=activation,
                                                 kernel_initializer="identity",
                                                 input_shape=(units,))])
    model.compile("sgd", loss, metrics=["accuracy"])
    return model


def crossentropies(loss: str, rows: list) -> list:
    """rows: logits and label. "loss" and "accuracy" are evaluate's, of that image alone; "clipped"
    is the same loss function of the probabilities without the model."""
    import numpy
    from tensorflow import keras

    binary = loss == "binary_crossentropy"
    model = output_model(len(rows[0][0]), "sigmoid" if binary else "softmax", loss)
    result = []
    for logits, label in rows:
        x = numpy.array([logits], numpy.float32)
        y = targets([label], binary)
        reported, accuracy = model.evaluate(x, y, verbose=0)
        probabilities = model.predict(x)
        clipped = keras.losses.get(loss)(y.reshape(1, -1), probabilities)
        # A model of its own: a step changes the weights.
        other = output_model(len(logits), "sigmoid" if binary else "softmax", loss)
        trained, _ = other.train_on_batch(x, y)
        result.append({"logits": logits, "label": label, "loss": reported, "training_loss": trained,
                       "clipped": float(clipped.numpy()[0]), "accuracy": int(accuracy)})
    return result


def dropout() -> dict:
    import numpy
    from tensorflow import keras

    layer = keras.layers.Dropout(0.2, seed=1)
    ones = numpy.ones((400, 256), numpy.float32)
    trained = layer(ones, training=True).numpy()
    values, counts = numpy.unique(trained, return_counts=True)
    return {"rate": 0.2, "of": ones.size, "training_values": values,
            "training_counts": counts.tolist(),
            "inference_values": numpy.unique(layer(ones, training=False).numpy())}


def targets(labels, binary: bool):
    """As ImageDataGenerator's class_mode "binary" or "categorical" makes them."""
    import numpy

    labels = numpy.asarray(labels)
    if binary:
        return labels.astype(numpy.float32)
    return numpy.eye(CLASSES, dtype=numpy.float32)[labels]


def make_data() -> dict:
    """Of the first TRAIN images training is made, of the others validation."""
    random = random_state(1)
    count = TRAIN + VALIDATION
    return {"height": HEIGHT, "width": WIDTH, "channels": CHANNELS, "train": TRAIN, "batch": BATCH,
            "images": random.randint(0, 256, (count, HEIGHT * WIDTH * CHANNELS)).tolist(),
            "categorical_labels": random.randint(0, CLASSES, count).tolist(),
            "binary_labels": random.randint(0, 2, count).tolist()}


def batches(data: dict, first: int, end: int, binary: bool):
    """A Sequence over the images [first, end), in order."""
    import numpy
    from tensorflow import keras

    images = (numpy.array(data["images"], numpy.float32) * numpy.float32(1 / 255)).reshape(
        -1, HEIGHT, WIDTH, CHANNELS)
    labels = targets(data["binary_labels" if binary else "categorical_labels"], binary)

    class Batches(keras.utils.Sequence):
        def __len__(self):
            return -(-(end - first) // BATCH)

        def __getitem__(self, index):
            at = slice(first + index * BATCH, min(first + (index + 1) * BATCH, end))
            return images[at], labels[at]

    return Batches()


def make_model(binary: bool, optimizer, with_dropout: bool):
    """With weights from numpy: Keras's own would change with TensorFlow's generator. Their limits
    are Glorot's, or fit would be another experiment."""
    import numpy
    from tensorflow import keras

    layers = keras.layers
    model = keras.Sequential([
        layers.Conv2D(FILTERS, KERNEL, activation="relu", input_shape=(HEIGHT, WIDTH, CHANNELS)),
        layers.MaxPooling2D(POOL),
        layers.Flatten(),
        layers.Dense(UNITS, activation="relu"),
        *([layers.Dropout(0.2, seed=2)] if with_dropout else []),
        layers.Dense(1, activation="sigmoid") if binary
        else layers.Dense(CLASSES, activation="softmax"),
    ])
    random = random_state(5)  # of which no unit is dead
    initial = []
    for weights in model.get_weights():
        shape = weights.shape
        if len(shape) == 1:  # not zero: a bias that is passed over must show
            initial.append(random.uniform(0, 0.1, shape).astype(numpy.float32))
            continue
        limit = (6 / ((shape[-1] + shape[-2]) * numpy.prod(shape[:-2]))) ** 0.5
        initial.append(random.uniform(-limit, limit, shape).astype(numpy.float32))
    model.set_weights(initial)
    model.compile(optimizer, "binary_crossentropy" if binary else "categorical_crossentropy",
                  metrics=["accuracy"])
    return model


def weights_of(model) -> list:
    """Flat, each in Keras's own order: kernels [row, column, input, output], [input, output]."""
    return [weights.ravel() for weights in model.get_weights()]


def trainings(data: dict) -> list:
    from tensorflow import keras

    result = []
    # The rates are larger than the experiments', so that few epochs change the figures.
    for name, binary, optimizer, rate, with_dropout in (
            ("adam_categorical", False, keras.optimizers.Adam, 0.01, False),
            ("rmsprop_binary", True, keras.optimizers.RMSprop, 0.005, False),
            ("dropout", False, keras.optimizers.Adam, 0.01, True)):
        keras.utils.set_random_seed(3)
        model = make_model(binary, optimizer(learning_rate=rate), with_dropout)
        initial = weights_of(model)
        history = model.fit(batches(data, 0, TRAIN, binary), epochs=EPOCHS, shuffle=False,
                            validation_data=batches(data, TRAIN, TRAIN + VALIDATION, binary),
                            verbose=0).history
        result.append({"name": name, "binary": binary, "dropout": with_dropout,
                       "optimizer": optimizer.__name__.lower(), "learning_rate": rate,
                       "initial_weights": initial, **history, "final_weights": weights_of(model)})
    return result


def validation_steps(data: dict) -> list:
    """The same training as "adam_categorical"."""
    from tensorflow import keras

    result = []
    for steps in (1, 2, 5):
        model = make_model(False, keras.optimizers.Adam(learning_rate=0.01), False)
        history = model.fit(batches(data, 0, TRAIN, False), epochs=EPOCHS, shuffle=False,
                            validation_data=batches(data, TRAIN, TRAIN + VALIDATION, False),
                            validation_steps=steps, verbose=0).history
        result.append({"validation_steps": steps, **history})
    return result


def make_values() -> dict:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    import numpy
    import keras as keras_package
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")  # it warns of too many validation_steps, which are meant
    # One thread: sums are formed in one order.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.random.set_seed(4)
    data = make_data()
    return {
        "made_with": {
            "script": "tools/peers/keras_training.py",
            "command": "tools/peers/keras_training.py --python=python3.9",
            "python": platform.python_version(),
            "tensorflow": tf.__version__,
            "keras": keras_package.__version__,
            "numpy": numpy.__version__,
        },
        "optimizers": optimizers(),
        "initialisation": initialisation(),
        "categorical": crossentropies("categorical_crossentropy", CATEGORICAL),
        "binary": crossentropies("binary_crossentropy",
                                 [((logit,), label) for logit, label in BINARY]),
        "dropout": dropout(),
        "data": data,
        "trainings": trainings(data),
        "validation_steps": validation_steps(data),
    }


# --- the file


def to_json(value, indent: str = "") -> str:
    """Numbers of float32 with the 9 digits that restore them; what is short on one line."""
    if isinstance(value, dict):
        rows = [f"{indent}  {json.dumps(key)}: {to_json(each, indent + '  ')}"
                for key, each in value.items()]
        short = "{" + ", ".join(row.strip() for row in rows) + "}"
        if "\n" not in short and len(short) <= 150:
            return short
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, (str, bool, int)):
        return json.dumps(value)
    if not hasattr(value, "__len__"):
        return json.dumps(float(f"{float(value):.9g}"))
    texts = [to_json(each, indent + "  ") for each in value]
    if any(text[0] in "[{" for text in texts):
        return f"[\n{indent}  " + f",\n{indent}  ".join(texts) + f"\n{indent}]"
    return "[" + ",".join(texts) + "]"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM",
                        help="that makes the virtual environment (default: the one that runs this)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE",
                        help="default: model/keras_values.json in the repository")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    inside = Path(sys.prefix).resolve() == VENV.resolve()
    if not inside and not installed():
        make_environment(arguments.python)
        return subprocess.run([str(VENV / "bin" / "python"), str(Path(__file__).resolve()),
                               f"--out={arguments.out.resolve()}"]).returncode
    arguments.out.write_text(to_json(make_values()) + "\n")
    print(f"keras_training: wrote {arguments.out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
