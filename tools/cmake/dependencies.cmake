# Finds every library. Nothing is downloaded. Defines the INTERFACE targets cnn_torch and cnn_opencv,
# the imported targets of the others, and CNN_CXX_STANDARD.

find_package(Threads REQUIRED)

# --- LibTorch: CMAKE_PREFIX_PATH, else the active Python's torch, else the system ----------------------

# CUDA builds of LibTorch up to 2.8 link CUDA::nvToolsExt, which CUDA 12.9 and newer no longer have.
find_package(CUDAToolkit QUIET)
if(TARGET CUDA::cudart AND NOT TARGET CUDA::nvToolsExt)
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
if(NOT DEFINED TORCH_CUDA_ARCH_LIST AND NOT DEFINED ENV{TORCH_CUDA_ARCH_LIST})
  set(TORCH_CUDA_ARCH_LIST "8.0;9.0+PTX")  # no device code of our own: only silences the detection
endif()

if(NOT Torch_DIR)
  execute_process(
    COMMAND python3 -c "import torch; print(torch.utils.cmake_prefix_path)"
    OUTPUT_VARIABLE python_torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
# HINTS come after CMAKE_PREFIX_PATH and before the system. Debian's 1.13.1 calls itself 1.13.0.
find_package(Torch 1.13 QUIET HINTS ${python_torch})
if(NOT Torch_FOUND)
  message(FATAL_ERROR
    "LibTorch 1.13 or newer was not found. Three ways to get it:\n"
    "  1. Debian, Ubuntu:  apt-get install libtorch-dev\n"
    "  2. Python:          pip install torch, and configure with that Python active\n"
    "  3. archive:         unpack libtorch (cxx11 ABI) from pytorch.org and configure with\n"
    "                      -DCMAKE_PREFIX_PATH=/absolute/path/to/libtorch\n"
    "If it is there and still not found, configure with --debug-find-pkg=Torch to see why.")
endif()
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  message(FATAL_ERROR
    "The LibTorch in ${TORCH_INSTALL_PREFIX} uses the old C++ ABI, the system's OpenCV the new one.\n"
    "Take the cxx11-abi archive, or version 2.7 or newer.")
endif()

# The headers of LibTorch 2.14 and newer demand C++20; older ones take 17 and 20.
if(NOT CNN_CXX_STANDARD)
  set(CNN_CXX_STANDARD 17)
  if(Torch_VERSION VERSION_GREATER_EQUAL 2.14)
    set(CNN_CXX_STANDARD 20)
  endif()
endif()
message(STATUS "LibTorch ${Torch_VERSION} (${TORCH_INSTALL_PREFIX}), C++${CNN_CXX_STANDARD}")

add_library(cnn_torch INTERFACE)
target_link_libraries(cnn_torch INTERFACE ${TORCH_LIBRARIES})
target_include_directories(cnn_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
separate_arguments(torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(cnn_torch INTERFACE ${torch_flags})
# The Python package of LibTorch finds NVIDIA's packages beside it when it is loaded; tell the linker too,
# or it takes what the system has of the same name.
file(GLOB nvidia_folders ${TORCH_INSTALL_PREFIX}/../nvidia/*/lib)
foreach(folder ${nvidia_folders})
  target_link_options(cnn_torch INTERFACE -Wl,-rpath-link,${folder})
endforeach()
if(TARGET torch_cuda)
  target_compile_definitions(cnn_torch INTERFACE CNN_WITH_CUDA)
  target_link_libraries(cnn_torch INTERFACE CUDA::cudart)
endif()

# --- OpenCV: only core, imgproc, imgcodecs --------------------------------------------------------------

add_library(cnn_opencv INTERFACE)
find_package(OpenCV QUIET COMPONENTS core imgproc imgcodecs)
if(OpenCV_FOUND)
  target_link_libraries(cnn_opencv INTERFACE ${OpenCV_LIBS})
  target_include_directories(cnn_opencv SYSTEM INTERFACE ${OpenCV_INCLUDE_DIRS})
else()
  # Debian's packages of single modules come without a CMake configuration.
  find_path(CNN_OPENCV_INCLUDE opencv2/imgcodecs.hpp PATH_SUFFIXES opencv4)
  foreach(module core imgproc imgcodecs)
    find_library(CNN_OPENCV_${module} opencv_${module})
    if(NOT CNN_OPENCV_${module} OR NOT CNN_OPENCV_INCLUDE)
      message(FATAL_ERROR
        "OpenCV's module ${module} was not found: apt-get install libopencv-${module}-dev, or "
        "configure with -DOpenCV_DIR=/path/to/lib/cmake/opencv4")
    endif()
    target_link_libraries(cnn_opencv INTERFACE ${CNN_OPENCV_${module}})
  endforeach()
  target_include_directories(cnn_opencv SYSTEM INTERFACE ${CNN_OPENCV_INCLUDE})
endif()

# --- the rest -------------------------------------------------------------------------------------------

foreach(package_and_debian benchmark=libbenchmark-dev nlohmann_json=nlohmann-json3-dev
        CLI11=libcli11-dev JPEG=libjpeg-dev GTest=libgtest-dev)
  string(REPLACE "=" ";" pair ${package_and_debian})
  list(GET pair 0 package)
  list(GET pair 1 debian)
  if(package STREQUAL GTest AND NOT CNN_TESTS)
    continue()
  endif()
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found: apt-get install ${debian}")
  endif()
endforeach()
if(CNN_JEMALLOC)
  find_library(CNN_JEMALLOC_LIBRARY jemalloc)
  find_path(CNN_JEMALLOC_INCLUDE jemalloc/jemalloc.h)
  if(NOT CNN_JEMALLOC_LIBRARY OR NOT CNN_JEMALLOC_INCLUDE)
    message(FATAL_ERROR "jemalloc was not found: apt-get install libjemalloc-dev, or configure with "
                        "-DCNN_JEMALLOC=OFF (training on the CPU is then slower)")
  endif()
endif()
