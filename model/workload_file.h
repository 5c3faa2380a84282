// Workloads as JSON: the layer table with loss, optimiser, input size and augmentation, in Keras's
// words. The published ones can be written so, a user's own are read so. One object, or an array of
// them:
//
//   {"name": "tiny",
//    "input": [3, 32, 32],
//    "layers": [{"name": "conv1", "kind": "Conv2D", "filters": 8, "kernel_size": 3},
//               {"name": "relu1", "kind": "ReLU"},
//               {"name": "pool1", "kind": "MaxPooling2D", "pool_size": 2},
//               {"name": "flatten", "kind": "Flatten"},
//               {"name": "dropout1", "kind": "Dropout", "rate": 0.2},
//               {"name": "dense1", "kind": "Dense", "units": 2}],
//    "loss": "categorical_crossentropy",    // or "binary_crossentropy", of one output
//    "optimizer": {"kind": "Adam",          // or "RMSprop"
//                  "learning_rate": 0.001}, // optional, Keras's default
//    "batch": 32, "steps": 100,             // all from here on optional, with these defaults
//    "validation_steps": 10, "epochs": 5,
//    "augmentation": {...},                 // none; the ranges of dataset/augment.h, Keras's units
//    "plain_epochs": 30}                    // with an augmentation: as many epochs also without it
#pragma once

#include <string>
#include <vector>

#include "model/workloads.h"

namespace cnn {

/// The workloads of a file, complete and checked: what they are made into can run. Throws
/// std::runtime_error "FILE: POSITION: reason and way out": where the JSON is none its line and
/// column, else the line and what stands there, "line 8, layers[3] 'dense1' (Dense)". A layer that
/// cannot take its input is named together with the layer that gives it. A published network's name
/// is taken only for that network.
std::vector<Workload> ReadWorkloads(const std::string& path);

/// The same from text; `source` stands for the file's name in errors.
std::vector<Workload> ParseWorkloads(const std::string& text, const std::string& source);

/// What ReadWorkloads takes, all values written out, a layer a line: an object for one workload, an
/// array for several. The geometry (KerasProfile) is a setting of the run, not of the workload.
std::string WorkloadsJson(const std::vector<Workload>& workloads);

/// One workload on one line: says whether two are the same.
std::string WorkloadLine(const Workload& workload);

}  // namespace cnn
